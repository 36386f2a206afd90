//! Writes the connections of each type, filtered and ordered as requested.

use std::collections::BTreeMap;

use serde_json::Value;

use super::super::execution::{GraphqlObject, QueryExecution};
use super::super::pagination::{
    ConnectionItem, ConnectionPage, ListCursor, ListSpec, LoopedRange, PageRange, paginate_items,
    paginate_sorted,
};
use super::super::plan::{PlanField, VariableMap};
use crate::github::PaginationLoop;
use crate::github::request_log::ServedPage;
use crate::timestamps;
use crate::world::{
    CommentKind, SimComment, SimOwner, SimRepository, SimThread, ThreadKind, ThreadOrder,
};

/// The field that a list is ordered by, and the direction.
struct ListOrder {
    field: String,
    is_descending: bool,
}

impl ListOrder {
    fn oldest_first() -> Self {
        Self { field: "CREATED_AT".to_owned(), is_descending: false }
    }

    fn newest_change_first() -> Self {
        Self { field: "UPDATED_AT".to_owned(), is_descending: true }
    }

    /// Applies the `orderBy` argument of a field, if there is one.
    fn with_argument(mut self, field: &PlanField, variables: &VariableMap) -> Self {
        let Some(order) = field.argument_value("orderBy", variables) else { return self };
        if let Some(field) = order.get("field").and_then(Value::as_str) {
            self.field = field.to_owned();
        }
        if let Some(direction) = order.get("direction").and_then(Value::as_str) {
            self.is_descending = direction == "DESC";
        }
        self
    }

    fn list_spec<'l>(&'l self, type_name: &'l str) -> ListSpec<'l> {
        ListSpec { type_name, order_field: &self.field, is_descending: self.is_descending }
    }
}

fn unordered_list(type_name: &str) -> ListSpec<'_> {
    ListSpec { type_name, order_field: "", is_descending: false }
}

impl<'a> QueryExecution<'a> {
    pub(super) fn write_repositories(&mut self, owner: &SimOwner, field: &PlanField) {
        let variables = self.variables();
        let order = ListOrder::oldest_first().with_argument(field, variables);
        let [archived, fork, issues, locked] =
            ["isArchived", "isFork", "hasIssuesEnabled", "isLocked"]
                .map(|name| field.argument_value(name, variables)?.as_bool());
        let private = field.text_argument("privacy", variables).as_deref() == Some("PRIVATE");
        let listed = self.view.listed_repositories(owner).filter(|repository| {
            archived.is_none_or(|archived| repository.is_archived == archived)
                && fork.is_none_or(|fork| repository.is_fork == fork)
                && issues.is_none_or(|issues| repository.has_issues == issues)
                && locked != Some(true)
                && !private
        });
        let items = listed.map(|repository| ConnectionItem {
            cursor: repository_cursor(repository, &order.field),
            object: GraphqlObject::Repository(repository),
        });
        self.write_connection(field, &order.list_spec("RepositoryConnection"), items.collect());
    }

    pub(super) fn write_threads(
        &mut self,
        repository: &'a SimRepository,
        kind: ThreadKind,
        field: &PlanField,
    ) {
        let default_order = match kind {
            ThreadKind::Discussion => ListOrder::newest_change_first(),
            ThreadKind::Issue | ThreadKind::PullRequest => ListOrder::oldest_first(),
        };
        let order = default_order.with_argument(field, self.variables());
        let list = order.list_spec(connection_type(kind));
        if self.view.is_list_forbidden(repository, kind) {
            return self.write_forbidden(field);
        }
        let Some(range) = self.open_page_range(field, &list) else { return };
        let page = self.page_or_loop(repository, kind, field, &list, range);
        self.pages.push(ServedPage {
            repository_id: repository.id,
            kind,
            order: order.field.clone(),
            first: field
                .argument_value("first", self.variables())
                .and_then(|first| first.as_u64())
                .unwrap_or(0),
            after: field.text_argument("after", self.variables()),
            ids: page.items.iter().map(|item| item.cursor.id).collect(),
        });
        self.write_page(field, &page);
    }

    /// Returns the page, or a wrong one if the listing is set to loop. Probes, which request one row, never loop.
    fn page_or_loop<'l>(
        &self,
        repository: &'a SimRepository,
        kind: ThreadKind,
        field: &PlanField,
        list: &'l ListSpec<'l>,
        range: PageRange,
    ) -> ConnectionPage<'a, 'l> {
        let pagination_loop = self.view.pagination_loop().filter(|_| range.first != Some(1));
        let top = PageRange { after: None, ..range.clone() };
        let LoopedRange { range, end_override } = range.apply_loop(pagination_loop);
        let mut page = self.thread_page(repository, kind, field, list, range);
        if pagination_loop == Some(PaginationLoop::Wrapping) && page.items.is_empty() {
            page = self.thread_page(repository, kind, field, list, top);
        }
        let has_next = page.has_next || pagination_loop.is_some() && page.total > 0;
        ConnectionPage { has_next, end_override, ..page }
    }

    /// Cuts the page out of the stored order if lists are up to date and nothing is filtered; otherwise collects it.
    fn thread_page<'l>(
        &self,
        repository: &'a SimRepository,
        kind: ThreadKind,
        field: &PlanField,
        list: &'l ListSpec<'l>,
        range: PageRange,
    ) -> ConnectionPage<'a, 'l> {
        let (view, filter) = (self.view, ListFilter::from_field(field, self.variables()));
        let by = match list.order_field {
            "UPDATED_AT" => Some(ThreadOrder::Updated),
            "CREATED_AT" => Some(ThreadOrder::Created),
            _ => None,
        };
        let by = by.filter(|_| filter.accepts_all());
        if let Some(order) = by.and_then(|by| view.ordered_threads(repository, kind, by)) {
            return paginate_sorted(order, list, &range, |at| {
                view.current_thread(at.index).map(GraphqlObject::Thread)
            });
        }
        let listed = view
            .listed_threads(repository, kind)
            .filter(|thread| filter.accepts_thread(thread, view));
        let items = listed.map(|thread| ConnectionItem {
            cursor: self.thread_cursor(thread, list.order_field),
            object: GraphqlObject::Thread(thread),
        });
        paginate_items(items.collect(), list, range)
    }

    pub(super) fn write_comments(
        &mut self,
        thread: &'a SimThread,
        kind: CommentKind,
        field: &PlanField,
    ) {
        let order = ListOrder::oldest_first().with_argument(field, self.variables());
        let items = self.view.listed_comments(thread.index, kind).map(|comment| {
            comment_item(comment, if order.field == "UPDATED_AT" { comment.updated_ms } else { 0 })
        });
        let name = format!("{}Connection", kind.type_name());
        self.write_connection(field, &order.list_spec(&name), items.collect());
    }

    pub(super) fn write_children(&mut self, parent: &'a SimComment, field: &PlanField) {
        let items = self.view.listed_children(parent.index).map(|comment| comment_item(comment, 0));
        let name = match parent.kind {
            CommentKind::Review => "PullRequestReviewCommentConnection",
            CommentKind::Conversation
            | CommentKind::ReviewComment
            | CommentKind::Discussion
            | CommentKind::Reply => "DiscussionCommentConnection",
        };
        self.write_connection(field, &unordered_list(name), items.collect());
    }

    /// Writes the comments on lines of a pull request, those on one line together.
    pub(super) fn write_review_threads(&mut self, thread: &'a SimThread, field: &PlanField) {
        let mut threads = BTreeMap::new();
        for comment in self.view.listed_comments(thread.index, CommentKind::ReviewComment) {
            threads.entry(comment.root_index()).or_insert(comment);
        }
        let items = threads.into_values().map(|first| ConnectionItem {
            cursor: ListCursor::from_number(0, self.view.review_thread_id(first)),
            object: GraphqlObject::ReviewThread(first),
        });
        let list = unordered_list("PullRequestReviewThreadConnection");
        self.write_connection(field, &list, items.collect());
    }

    pub(super) fn write_review_thread_comments(
        &mut self,
        first: &'a SimComment,
        field: &PlanField,
    ) {
        let root = first.root_index();
        let listed = self.view.listed_comments(first.thread, CommentKind::ReviewComment);
        let items = listed
            .filter(|comment| comment.root_index() == root)
            .map(|comment| comment_item(comment, 0));
        let list = unordered_list("PullRequestReviewCommentConnection");
        self.write_connection(field, &list, items.collect());
    }

    pub(super) fn write_labels(&mut self, thread: &'a SimThread, field: &PlanField) {
        let items = thread.labels.iter().zip(1..).map(|(label, position)| ConnectionItem {
            cursor: ListCursor { number: 0, text: label.to_string(), id: position },
            object: GraphqlObject::Label(label),
        });
        self.write_connection(field, &unordered_list("LabelConnection"), items.collect());
    }

    pub(super) fn write_closing_issues(&mut self, thread: &'a SimThread, field: &PlanField) {
        let items = self.view.closing_issues(thread).map(|issue| ConnectionItem {
            cursor: ListCursor::from_number(issue.number, issue.id),
            object: GraphqlObject::Thread(issue),
        });
        self.write_connection(field, &unordered_list("IssueConnection"), items.collect());
    }

    /// Writes the pull requests that would close an issue, without the closed ones unless the field includes them.
    pub(super) fn write_closing_pull_requests(&mut self, issue: &'a SimThread, field: &PlanField) {
        let includes_closed = field.argument_value("includeClosedPrs", self.variables());
        let includes_closed = includes_closed.and_then(|flag| flag.as_bool()).unwrap_or(false);
        let closing = self.view.closing_pull_requests(issue);
        let items =
            closing.filter(|pull| includes_closed || pull.is_open).map(|pull| ConnectionItem {
                cursor: ListCursor::from_number(pull.number, pull.id),
                object: GraphqlObject::Thread(pull),
            });
        let items = items.collect();
        self.write_connection(field, &unordered_list("PullRequestConnection"), items);
    }

    /// Returns the position of a thread; GitHub orders by whole seconds, then by id.
    fn thread_cursor(&self, thread: &SimThread, by: &str) -> ListCursor {
        let number = match by {
            "UPDATED_AT" => ThreadOrder::Updated.sort_second(thread),
            "COMMENTS" => {
                let comments = self.view.listed_comments(thread.index, CommentKind::Conversation);
                i64::try_from(comments.count()).unwrap_or(0)
            }
            _ => ThreadOrder::Created.sort_second(thread),
        };
        ListCursor::from_number(number, thread.id)
    }
}

/// The filters in the arguments of a list.
struct ListFilter {
    states: Vec<String>,
    labels: Vec<String>,
    since_ms: Option<i64>,
    created_by: Option<String>,
}

impl ListFilter {
    fn from_field(field: &PlanField, variables: &VariableMap) -> Self {
        let filter = field.argument_value("filterBy", variables).unwrap_or(Value::Null);
        // both the filter and the field itself may name values
        let [states, labels] = ["states", "labels"].map(|name| {
            let mut values = string_values(filter.get(name));
            values.extend(string_values(field.argument_value(name, variables).as_ref()));
            values
        });
        Self {
            states,
            labels,
            since_ms: filter
                .get("since")
                .and_then(Value::as_str)
                .and_then(timestamps::parse_rfc3339),
            created_by: filter.get("createdBy").and_then(Value::as_str).map(str::to_owned),
        }
    }

    fn accepts_all(&self) -> bool {
        let Self { states, labels, since_ms, created_by } = self;
        states.is_empty() && labels.is_empty() && since_ms.is_none() && created_by.is_none()
    }

    /// Checks a thread; `since` means at or after, in whole seconds.
    fn accepts_thread(&self, thread: &SimThread, view: crate::world::ReplicaView<'_>) -> bool {
        let updated_ms = timestamps::floor_to_second(thread.updated_ms);
        let author = thread.author.map(|index| &*view.user(index).login);
        (self.states.is_empty() || self.states.iter().any(|state| state == thread.state()))
            && (self.labels.is_empty()
                || thread
                    .labels
                    .iter()
                    .any(|label| self.labels.iter().any(|name| **name == **label)))
            && self.since_ms.is_none_or(|since_ms| updated_ms >= since_ms)
            && self.created_by.as_deref().is_none_or(|login| author == Some(login))
    }
}

fn string_values(value: Option<&Value>) -> Vec<String> {
    let items = value.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    items.iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

fn repository_cursor(repository: &SimRepository, by: &str) -> ListCursor {
    match by {
        "NAME" => ListCursor { number: 0, text: repository.name.to_lowercase(), id: repository.id },
        "UPDATED_AT" => ListCursor::from_number(
            timestamps::floor_to_second(repository.updated_ms),
            repository.id,
        ),
        "PUSHED_AT" => ListCursor::from_number(
            timestamps::floor_to_second(repository.pushed_ms),
            repository.id,
        ),
        "STARGAZERS" => ListCursor::from_number(0, repository.id),
        _ => ListCursor::from_number(
            timestamps::floor_to_second(repository.created_ms),
            repository.id,
        ),
    }
}

fn comment_item(comment: &SimComment, number_ms: i64) -> ConnectionItem<'_> {
    ConnectionItem {
        cursor: ListCursor::from_number(timestamps::floor_to_second(number_ms), comment.id),
        object: GraphqlObject::Comment(comment),
    }
}

fn connection_type(kind: ThreadKind) -> &'static str {
    match kind {
        ThreadKind::Issue => "IssueConnection",
        ThreadKind::PullRequest => "PullRequestConnection",
        ThreadKind::Discussion => "DiscussionConnection",
    }
}
