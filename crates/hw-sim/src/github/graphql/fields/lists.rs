//! The lists: what is in each, and by what it is ordered.

use serde_json::Value;

use super::super::execute::{Object, Run};
use super::super::pages::{Cursor, List, Listed, Page, Stretch, cut, paginate};
use super::super::plan::{PlanField, Variables};
use crate::github::Circle;
use crate::github::log::ServedPage;
use crate::times;
use crate::world::{Comment, CommentKind, OrderBy, Repository, Thread, ThreadKind};

/// The field a list is ordered by, and whether from the top.
struct Order {
    field: String,
    descending: bool,
}

impl Order {
    fn of(field: &PlanField, variables: &Variables, usual: (&str, bool)) -> Self {
        let given = field.argument("orderBy", variables);
        let part = |name: &str| given.as_ref()?.get(name)?.as_str().map(str::to_owned);
        Self {
            field: part("field").unwrap_or_else(|| usual.0.to_owned()),
            descending: part("direction").map_or(usual.1, |direction| direction == "DESC"),
        }
    }

    fn list<'l>(&'l self, type_name: &'l str) -> List<'l> {
        List { type_name, by: &self.field, descending: self.descending }
    }
}

fn unordered(type_name: &str) -> List<'_> {
    List { type_name, by: "", descending: false }
}

impl<'a> Run<'a> {
    pub(super) fn repositories(&mut self, field: &PlanField) {
        let variables = self.variables();
        let order = Order::of(field, variables, ("CREATED_AT", false));
        let wants = |name: &str| field.argument(name, variables).and_then(|it| it.as_bool());
        let (archived, fork) = (wants("isArchived"), wants("isFork"));
        let (issues, locked) = (wants("hasIssuesEnabled"), wants("isLocked"));
        let private = field.text("privacy", variables).is_some_and(|it| it == "PRIVATE");
        let listed = self.view.listed_repositories().filter(|it| {
            archived.is_none_or(|wanted| it.is_archived == wanted)
                && fork.is_none_or(|wanted| it.is_fork == wanted)
                && issues.is_none_or(|wanted| it.has_issues == wanted)
                && locked != Some(true)
                && !private
        });
        let items = listed.map(|it| Listed {
            place: place_of_repository(it, &order.field),
            object: Object::Repository(it),
        });
        self.connection(field, &order.list("RepositoryConnection"), items.collect());
    }

    pub(super) fn threads(&mut self, it: &'a Repository, kind: ThreadKind, field: &PlanField) {
        let usual = if kind == ThreadKind::Discussion {
            ("UPDATED_AT", true)
        } else {
            ("CREATED_AT", false)
        };
        let order = Order::of(field, self.variables(), usual);
        let list = order.list(connection_of(kind));
        if self.view.is_forbidden(it, kind) {
            return self.forbidden(field);
        }
        let Some(stretch) = self.opened(field, &list) else { return };
        let page = self.turning_page(it, kind, field, &list, stretch);
        self.pages.push(ServedPage {
            repository_id: it.id,
            kind,
            order: order.field.clone(),
            first: field
                .argument("first", self.variables())
                .and_then(|it| it.as_u64())
                .unwrap_or(0),
            after: field.text("after", self.variables()),
            ids: page.items.iter().map(|item| item.place.id).collect(),
        });
        self.write_page(field, &page);
    }

    /// The page, unless the listing leads nowhere. A probe is not turned.
    fn turning_page<'l>(
        &self,
        it: &'a Repository,
        kind: ThreadKind,
        field: &PlanField,
        list: &'l List<'l>,
        stretch: Stretch,
    ) -> Page<'a, 'l> {
        let circle = self.view.circle().filter(|_| stretch.first != Some(1));
        let top = Stretch { after: None, ..stretch.clone() };
        let (stretch, false_end) = stretch.turned(circle);
        let mut page = self.page_of_threads(it, kind, field, list, stretch);
        if circle == Some(Circle::Wrapping) && page.items.is_empty() {
            page = self.page_of_threads(it, kind, field, list, top);
        }
        let has_next = page.has_next || circle.is_some() && page.total > 0;
        Page { has_next, false_end, ..page }
    }

    /// Cut out of the order that is kept, where lists are not late and nothing is filtered.
    fn page_of_threads<'l>(
        &self,
        it: &'a Repository,
        kind: ThreadKind,
        field: &PlanField,
        list: &'l List<'l>,
        stretch: Stretch,
    ) -> Page<'a, 'l> {
        let (view, filter) = (self.view, Filter::of(field, self.variables()));
        let by = match list.by {
            "UPDATED_AT" => Some(OrderBy::Updated),
            "CREATED_AT" => Some(OrderBy::Created),
            _ => None,
        };
        let by = by.filter(|_| filter.keeps_all());
        if let Some(order) = by.and_then(|by| view.ordered_threads(it, kind, by)) {
            return cut(order, list, &stretch, |at| view.thread_now(at.index).map(Object::Thread));
        }
        let listed = view.listed_threads(it, kind).filter(|thread| filter.keeps(thread, view));
        let items = listed.map(|thread| Listed {
            place: self.place_of_thread(thread, list.by),
            object: Object::Thread(thread),
        });
        paginate(items.collect(), list, stretch)
    }

    pub(super) fn comments(&mut self, it: &'a Thread, kind: CommentKind, field: &PlanField) {
        let order = Order::of(field, self.variables(), ("CREATED_AT", false));
        let items = self.view.listed_comments(it.index, kind).map(|comment| {
            listed_comment(
                comment,
                if order.field == "UPDATED_AT" { comment.updated_ms } else { 0 },
            )
        });
        let name = format!("{}Connection", kind.type_name());
        self.connection(field, &order.list(&name), items.collect());
    }

    pub(super) fn children(&mut self, it: &'a Comment, field: &PlanField) {
        let items = self.view.listed_children(it.index).map(|comment| listed_comment(comment, 0));
        let name = match it.kind {
            CommentKind::Review => "PullRequestReviewCommentConnection",
            CommentKind::Conversation
            | CommentKind::ReviewComment
            | CommentKind::Discussion
            | CommentKind::Reply => "DiscussionCommentConnection",
        };
        self.connection(field, &unordered(name), items.collect());
    }

    pub(super) fn labels(&mut self, it: &'a Thread, field: &PlanField) {
        let items = it.labels.iter().zip(1..).map(|(label, position)| Listed {
            place: Cursor { number: 0, text: label.to_string(), id: position },
            object: Object::Label(label),
        });
        self.connection(field, &unordered("LabelConnection"), items.collect());
    }

    pub(super) fn closing_issues(&mut self, it: &'a Thread, field: &PlanField) {
        let items = self.view.closing_issues(it).map(|issue| Listed {
            place: Cursor::by_number(issue.number, issue.id),
            object: Object::Thread(issue),
        });
        self.connection(field, &unordered("IssueConnection"), items.collect());
    }

    /// GitHub's order knows whole seconds, then the id.
    fn place_of_thread(&self, it: &Thread, by: &str) -> Cursor {
        let number = match by {
            "UPDATED_AT" => OrderBy::Updated.second(it),
            "COMMENTS" => {
                let comments = self.view.listed_comments(it.index, CommentKind::Conversation);
                i64::try_from(comments.count()).unwrap_or(0)
            }
            _ => OrderBy::Created.second(it),
        };
        Cursor::by_number(number, it.id)
    }
}

/// What an argument list says about states, labels and times.
struct Filter {
    states: Vec<String>,
    labels: Vec<String>,
    since_ms: Option<i64>,
    created_by: Option<String>,
}

impl Filter {
    fn of(field: &PlanField, variables: &Variables) -> Self {
        let filter = field.argument("filterBy", variables).unwrap_or(Value::Null);
        let both = |name: &str| {
            let mut found = strings(filter.get(name));
            found.extend(strings(field.argument(name, variables).as_ref()));
            found
        };
        Self {
            states: both("states"),
            labels: both("labels"),
            since_ms: filter.get("since").and_then(Value::as_str).and_then(times::parse),
            created_by: filter.get("createdBy").and_then(Value::as_str).map(str::to_owned),
        }
    }

    fn keeps_all(&self) -> bool {
        let Self { states, labels, since_ms, created_by } = self;
        states.is_empty() && labels.is_empty() && since_ms.is_none() && created_by.is_none()
    }

    /// `since` means at or after, in whole seconds.
    fn keeps(&self, it: &Thread, view: crate::world::View<'_>) -> bool {
        let labelled = |label: &String| it.labels.iter().any(|held| **held == **label);
        let by = |login: &String| it.author.is_some_and(|at| *view.user(at).login == **login);
        (self.states.is_empty() || self.states.iter().any(|state| state == it.state()))
            && (self.labels.is_empty() || self.labels.iter().any(labelled))
            && self.since_ms.is_none_or(|since| since <= times::whole_second(it.updated_ms))
            && self.created_by.as_ref().is_none_or(by)
    }
}

fn strings(value: Option<&Value>) -> Vec<String> {
    let items = value.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    items.iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

fn place_of_repository(it: &Repository, by: &str) -> Cursor {
    match by {
        "NAME" => Cursor { number: 0, text: it.name.to_lowercase(), id: it.id },
        "UPDATED_AT" => Cursor::by_number(times::whole_second(it.updated_ms), it.id),
        "PUSHED_AT" => Cursor::by_number(times::whole_second(it.pushed_ms), it.id),
        "STARGAZERS" => Cursor::by_number(0, it.id),
        _ => Cursor::by_number(times::whole_second(it.created_ms), it.id),
    }
}

fn listed_comment(it: &Comment, number_ms: i64) -> Listed<'_> {
    Listed {
        place: Cursor::by_number(times::whole_second(number_ms), it.id),
        object: Object::Comment(it),
    }
}

fn connection_of(kind: ThreadKind) -> &'static str {
    match kind {
        ThreadKind::Issue => "IssueConnection",
        ThreadKind::PullRequest => "PullRequestConnection",
        ThreadKind::Discussion => "DiscussionConnection",
    }
}
