//! Pages of a moving list, written out.

use super::execute::Run;
use super::pages::{Cursor, List, Listed, Page, Stretch, paginate};
use super::plan::PlanField;
use super::problems::{Problem, Step};
use crate::faults::Fault;

impl<'a> Run<'a> {
    /// Writes one page of a list, in the order the field asks for.
    pub(super) fn connection(
        &mut self,
        field: &PlanField,
        list: &List<'_>,
        items: Vec<Listed<'a>>,
    ) {
        if let Some(stretch) = self.opened(field, list) {
            self.write_page(field, &paginate(items, list, stretch));
        }
    }

    /// The stretch asked for; `None` when there is no answer, and null was written instead.
    pub(super) fn opened(&mut self, field: &PlanField, list: &List<'_>) -> Option<Stretch> {
        let problem = if self.sabotage.strikes(Fault::PartialError) {
            went_wrong()
        } else {
            match self.stretch(field, list) {
                Ok(stretch) => return Some(stretch),
                Err(cursor) => {
                    let message = format!("`{cursor}` does not appear to be a valid cursor.");
                    Problem::new("INVALID_CURSOR_ARGUMENTS", message)
                }
            }
        };
        self.problems.push(problem.at(&self.path, field.location));
        self.out.null();
        self.rising = field.is_required;
        None
    }

    pub(super) fn write_page(&mut self, field: &PlanField, page: &Page<'a, '_>) {
        let type_name = page.list.type_name;
        self.out.open_object();
        for kid in field.kids_for(type_name) {
            if !kid.is_shown(self.variables()) {
                continue;
            }
            self.path.push(Step::Key(kid.key.clone()));
            self.out.key(&kid.key);
            match &*kid.name {
                "__typename" => self.out.string(type_name),
                "totalCount" => self.out.int(i64::try_from(page.total).unwrap_or(i64::MAX)),
                "totalDiskUsage" => self.out.int(0),
                "pageInfo" => self.page_info(kid, page),
                "nodes" => self.nodes_of(kid, page),
                "edges" => self.edges_of(kid, page),
                other => unreachable!("the schema has no {type_name}.{other}"),
            }
            self.path.pop();
        }
        self.out.close_object();
    }

    /// The stretch asked for, or the cursor that is none.
    fn stretch(&self, field: &PlanField, list: &List<'_>) -> Result<Stretch, String> {
        let variables = self.variables();
        let number = |name| {
            let value = field.argument(name, variables)?.as_i64()?;
            usize::try_from(value).ok()
        };
        let cursor = |name| {
            let given = field.text(name, variables);
            given.map(|text| Cursor::parse(&text, list).ok_or(text)).transpose()
        };
        Ok(Stretch {
            first: number("first"),
            last: number("last"),
            after: cursor("after")?,
            before: cursor("before")?,
        })
    }

    fn page_info(&mut self, field: &PlanField, page: &Page<'a, '_>) {
        self.out.open_object();
        for kid in field.kids_for("PageInfo") {
            if !kid.is_shown(self.variables()) {
                continue;
            }
            self.out.key(&kid.key);
            match &*kid.name {
                "hasNextPage" => self.out.boolean(page.has_next),
                "hasPreviousPage" => self.out.boolean(page.has_previous),
                "startCursor" => self.cursor(page.items.first(), page.list),
                "endCursor" => match &page.false_end {
                    Some(end) => self.out.string(&end.encode(page.list)),
                    None => self.cursor(page.items.last(), page.list),
                },
                _ => self.out.string("PageInfo"),
            }
        }
        self.out.close_object();
    }

    fn cursor(&mut self, item: Option<&Listed<'a>>, list: &List<'_>) {
        self.out.maybe(item, |out, item| out.string(&item.place.encode(list)));
    }

    fn nodes_of(&mut self, field: &PlanField, page: &Page<'a, '_>) {
        self.out.open_array();
        for (position, item) in page.items.iter().enumerate() {
            self.path.push(Step::Index(position));
            self.listed(field, item.object);
            self.path.pop();
        }
        self.out.close_array();
    }

    fn edges_of(&mut self, field: &PlanField, page: &Page<'a, '_>) {
        let edge = page.list.type_name.replace("Connection", "Edge");
        self.out.open_array();
        for (position, item) in page.items.iter().enumerate() {
            self.path.push(Step::Index(position));
            self.out.open_object();
            for kid in field.kids_for(&edge) {
                if !kid.is_shown(self.variables()) {
                    continue;
                }
                self.path.push(Step::Key(kid.key.clone()));
                self.out.key(&kid.key);
                match &*kid.name {
                    "cursor" => self.out.string(&item.place.encode(page.list)),
                    "node" => self.listed(kid, item.object),
                    _ => self.out.string(&edge),
                }
                self.path.pop();
            }
            self.out.close_object();
            self.path.pop();
        }
        self.out.close_array();
    }
}

/// GitHub's words for a part of an answer that failed.
pub(super) fn went_wrong() -> Problem {
    let message = "Something went wrong while executing your query. Please include \
                   `SIM0:PARTIAL` when reporting this issue.";
    Problem { kind: None, ..Problem::new("", message.to_owned()) }
}
