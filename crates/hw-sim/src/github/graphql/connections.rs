//! Writes pages of connections.

use super::execution::QueryExecution;
use super::pagination::{
    ConnectionItem, ConnectionPage, ListCursor, ListSpec, PageRange, paginate_items,
};
use super::plan::PlanField;
use super::problems::{GraphqlProblem, PathStep};
use crate::faults::ApiFault;

impl<'a> QueryExecution<'a> {
    /// Writes one page of a list, in the order requested by the field.
    pub(super) fn write_connection(
        &mut self,
        field: &PlanField,
        list: &ListSpec<'_>,
        items: Vec<ConnectionItem<'a>>,
    ) {
        if let Some(range) = self.open_page_range(field, list) {
            self.write_page(field, &paginate_items(items, list, range));
        }
    }

    /// Returns the requested range; writes null and returns `None` if the connection cannot be read.
    pub(super) fn open_page_range(
        &mut self,
        field: &PlanField,
        list: &ListSpec<'_>,
    ) -> Option<PageRange> {
        let problem = if self.inline_fault.strikes_here(ApiFault::PartialError) {
            partial_failure_problem()
        } else {
            match self.parse_page_range(field, list) {
                Ok(range) => return Some(range),
                Err(cursor) => {
                    let message = format!("`{cursor}` does not appear to be a valid cursor.");
                    GraphqlProblem::new("INVALID_CURSOR_ARGUMENTS", message)
                }
            }
        };
        self.problems.push(problem.at_path(&self.path, field.location));
        self.out.write_null();
        self.propagates_null = field.is_required;
        None
    }

    pub(super) fn write_page(&mut self, field: &PlanField, page: &ConnectionPage<'a, '_>) {
        let type_name = page.list.type_name;
        self.out.open_object();
        for selection in field.selections_for(type_name) {
            if !selection.is_included(self.variables()) {
                continue;
            }
            self.path.push(PathStep::Key(selection.key.clone()));
            self.out.write_key(&selection.key);
            match &*selection.name {
                "totalCount" => self.out.write_int(i64::try_from(page.total).unwrap_or(i64::MAX)),
                "totalDiskUsage" => self.out.write_int(0),
                "pageInfo" => self.write_page_info(selection, page),
                "nodes" => self.write_page_nodes(selection, page),
                "edges" => self.write_page_edges(selection, page),
                _ => self.out.write_string(type_name),
            }
            self.path.pop();
        }
        self.out.close_object();
    }

    /// Parses the requested range; fails with the first invalid cursor.
    fn parse_page_range(
        &self,
        field: &PlanField,
        list: &ListSpec<'_>,
    ) -> Result<PageRange, String> {
        Ok(PageRange {
            first: self.size_argument(field, "first"),
            last: self.size_argument(field, "last"),
            after: self.cursor_argument(field, "after", list)?,
            before: self.cursor_argument(field, "before", list)?,
        })
    }

    fn size_argument(&self, field: &PlanField, name: &str) -> Option<usize> {
        let value = field.argument_value(name, self.variables())?.as_i64()?;
        usize::try_from(value).ok()
    }

    fn cursor_argument(
        &self,
        field: &PlanField,
        name: &str,
        list: &ListSpec<'_>,
    ) -> Result<Option<ListCursor>, String> {
        let cursor = field.text_argument(name, self.variables());
        cursor.map(|text| ListCursor::parse(&text, list).ok_or(text)).transpose()
    }

    fn write_page_info(&mut self, field: &PlanField, page: &ConnectionPage<'a, '_>) {
        self.out.open_object();
        for selection in field.selections_for("PageInfo") {
            if !selection.is_included(self.variables()) {
                continue;
            }
            self.out.write_key(&selection.key);
            match &*selection.name {
                "hasNextPage" => self.out.write_bool(page.has_next),
                "hasPreviousPage" => self.out.write_bool(page.has_previous),
                "startCursor" => self.write_cursor(page.items.first(), page.list),
                "endCursor" => match &page.end_override {
                    Some(end) => self.out.write_string(&end.encode(page.list)),
                    None => self.write_cursor(page.items.last(), page.list),
                },
                _ => self.out.write_string("PageInfo"),
            }
        }
        self.out.close_object();
    }

    fn write_cursor(&mut self, item: Option<&ConnectionItem<'a>>, list: &ListSpec<'_>) {
        self.out.write_optional(item, |out, item| out.write_string(&item.cursor.encode(list)));
    }

    fn write_page_nodes(&mut self, field: &PlanField, page: &ConnectionPage<'a, '_>) {
        self.out.open_array();
        for (position, item) in page.items.iter().enumerate() {
            self.path.push(PathStep::Index(position));
            self.write_list_item(field, item.object);
            self.path.pop();
        }
        self.out.close_array();
    }

    fn write_page_edges(&mut self, field: &PlanField, page: &ConnectionPage<'a, '_>) {
        let edge_type = page.list.type_name.replace("Connection", "Edge");
        self.out.open_array();
        for (position, item) in page.items.iter().enumerate() {
            self.path.push(PathStep::Index(position));
            self.out.open_object();
            for selection in field.selections_for(&edge_type) {
                if !selection.is_included(self.variables()) {
                    continue;
                }
                self.path.push(PathStep::Key(selection.key.clone()));
                self.out.write_key(&selection.key);
                match &*selection.name {
                    "cursor" => self.out.write_string(&item.cursor.encode(page.list)),
                    "node" => self.write_list_item(selection, item.object),
                    _ => self.out.write_string(&edge_type),
                }
                self.path.pop();
            }
            self.out.close_object();
            self.path.pop();
        }
        self.out.close_array();
    }
}

/// Returns GitHub's error for a part of a response that failed.
pub(super) fn partial_failure_problem() -> GraphqlProblem {
    let message = "Something went wrong while executing your query. Please include \
                   `SIM0:PARTIAL` when reporting this issue.";
    GraphqlProblem::without_kind(message.to_owned())
}
