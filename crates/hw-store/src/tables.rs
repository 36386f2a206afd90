//! One table for each kind of objects, and statements that read the same but for its name.

use hw_rules::item::Kind;

use crate::sql::Sql;

/// One statement for each kind, about the table its objects are in.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OfKind {
    pub(crate) repositories: Sql<'static>,
    pub(crate) discussions: Sql<'static>,
    pub(crate) issues: Sql<'static>,
    pub(crate) pull_requests: Sql<'static>,
    pub(crate) issue_comments: Sql<'static>,
    pub(crate) review_comments: Sql<'static>,
    pub(crate) reviews: Sql<'static>,
    pub(crate) discussion_comments: Sql<'static>,
}

impl OfKind {
    pub(crate) fn of(self, kind: Kind) -> Sql<'static> {
        match kind {
            Kind::Repository => self.repositories,
            Kind::Discussion => self.discussions,
            Kind::Issue => self.issues,
            Kind::PullRequest => self.pull_requests,
            Kind::IssueComment => self.issue_comments,
            Kind::ReviewComment => self.review_comments,
            Kind::Review => self.reviews,
            Kind::DiscussionComment => self.discussion_comments,
        }
    }
}

/// A statement for each kind: what stands before the table's name, and what stands after it; once for
/// both dialects, or for SQLite and for PostgreSQL.
///
/// Columns that only some kinds have make no sense to the other tables: there the statement is spelled and
/// never run.
macro_rules! of_kind {
    ($before:literal, $after:literal) => {
        $crate::tables::of_kind!($before, $after, $after)
    };
    ($before:literal, $sqlite:literal, $postgres:literal) => {
        $crate::tables::OfKind {
            repositories: $crate::tables::about!("repositories", $before, $sqlite, $postgres),
            discussions: $crate::tables::about!("discussions", $before, $sqlite, $postgres),
            issues: $crate::tables::about!("issues", $before, $sqlite, $postgres),
            pull_requests: $crate::tables::about!("pull_requests", $before, $sqlite, $postgres),
            issue_comments: $crate::tables::about!("issue_comments", $before, $sqlite, $postgres),
            review_comments: $crate::tables::about!("review_comments", $before, $sqlite, $postgres),
            reviews: $crate::tables::about!("reviews", $before, $sqlite, $postgres),
            discussion_comments: $crate::tables::about!(
                "discussion_comments",
                $before,
                $sqlite,
                $postgres
            ),
        }
    };
}
macro_rules! about {
    ($table:literal, $before:literal, $sqlite:literal, $postgres:literal) => {
        $crate::sql::Sql::each(
            concat!($before, " ", $table, " ", $sqlite),
            concat!($before, " ", $table, " ", $postgres),
        )
    };
}
pub(crate) use {about, of_kind};
