//! One table for each kind of objects, and statements that read the same but for its name.

use hw_rules::item::Kind;

use crate::sql::Sql;

/// One statement for each kind, about the table its objects are in.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OfKind {
    pub(crate) repositories: Sql,
    pub(crate) discussions: Sql,
    pub(crate) issues: Sql,
    pub(crate) pull_requests: Sql,
}

impl OfKind {
    pub(crate) fn of(self, kind: Kind) -> Sql {
        match kind {
            Kind::Repository => self.repositories,
            Kind::Discussion => self.discussions,
            Kind::Issue => self.issues,
            Kind::PullRequest => self.pull_requests,
        }
    }
}

/// A statement for each kind: what stands before the table's name, and what stands after it; once for
/// both dialects, or for SQLite and for PostgreSQL.
///
/// Columns that only threads have make no sense to the table of repositories: there the statement is
/// spelled and never run.
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
