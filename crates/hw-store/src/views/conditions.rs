//! Builds the `where` clause of a list from its filter.

use hw_rules::date_range::DateRange;
use hw_rules::safe_text::sanitize_for_storage;
use hw_rules::source_time::SourceInstant;

use super::cursor::{CommentCursor, ThreadCursor};
use super::pending_chores::{HiddenTexts, PendingChores};
use super::repository_match::{HostIds, RepositoryMatch};
use crate::sql::{Dialect, SqlParam};

/// Collects conditions, and their parameters in the same order.
pub(crate) struct ConditionBuilder<'a> {
    dialect: Dialect,
    conditions: Vec<String>,
    pub(crate) params: Vec<SqlParam<'a>>,
}

impl<'a> ConditionBuilder<'a> {
    pub(crate) fn new(dialect: Dialect) -> Self {
        Self { dialect, conditions: Vec::new(), params: Vec::new() }
    }

    /// Adds a parameter and returns its placeholder (`$1`, `$2`, …).
    pub(crate) fn bind_param(&mut self, value: SqlParam<'a>) -> String {
        self.params.push(value);
        format!("${}", self.params.len())
    }

    pub(crate) fn add_equals(&mut self, column: &str, value: Option<impl Into<SqlParam<'a>>>) {
        let Some(value) = value else { return };
        let param = self.bind_param(value.into());
        self.conditions.push(format!("{column} = {param}"));
    }

    pub(crate) fn add_repositories(&mut self, repositories: Option<&'a RepositoryMatch>) {
        let Some(RepositoryMatch { names, ids }) = repositories else { return };
        if !names.is_empty() {
            self.add_any_of("repository", names);
        }
        if let Some(ids) = ids {
            let condition = self.host_condition(ids);
            self.conditions.push(condition);
        }
    }

    /// Leaves out the texts of removed repositories.
    pub(crate) fn add_visible(&mut self, pending: &'a PendingChores) {
        match pending.hidden_texts() {
            HiddenTexts::None => {}
            HiddenTexts::OfRepositories(ids) => {
                let condition = self.host_condition(ids);
                self.conditions.push(format!("not {condition}"));
            }
            HiddenTexts::All => self.conditions.push("1 = 0".to_owned()),
        }
    }

    /// Selects repositories by host and id: on another host, the same id belongs to another repository.
    fn host_condition(&mut self, ids: &'a HostIds) -> String {
        let mut hosts = Vec::new();
        for (host, ids) in ids {
            let (host, ids) = (self.bind_param(host.into()), self.bind_param(SqlParam::Ints(ids)));
            hosts.push(format!(
                "(host = {host} and {})",
                self.among_condition("repository_id", &ids)
            ));
        }
        if hosts.is_empty() { "1 = 0".to_owned() } else { format!("({})", hosts.join(" or ")) }
    }

    /// Selects any of these authors, whose logins are in lower case.
    pub(crate) fn add_authors(&mut self, logins: &'a [String]) {
        if !logins.is_empty() {
            self.add_any_of("lower(author)", logins);
        }
    }

    pub(super) fn add_condition(&mut self, condition: String) {
        self.conditions.push(condition);
    }

    /// Selects rows whose column has any of these values.
    pub(super) fn add_any_of(&mut self, column: &str, names: &'a [String]) {
        let condition = if let [name] = names {
            let param = self.bind_param(name.into());
            format!("{column} = {param}")
        } else {
            let param = self.bind_param(SqlParam::OwnedTexts(names));
            self.among_condition(column, &param)
        };
        self.conditions.push(condition);
    }

    /// Compares a column with a list in one parameter, so that the statement is the same for any number of values.
    fn among_condition(&self, column: &str, param: &str) -> String {
        match self.dialect {
            Dialect::Sqlite => format!("{column} in (select value from json_each({param}))"),
            Dialect::Postgres => format!("{column} = any({param})"),
        }
    }

    pub(crate) fn add_range(&mut self, column: &str, bounds: &'a TimeBounds) {
        for (bound, operator) in [(&bounds.from, ">="), (&bounds.to, "<=")] {
            let Some(bound) = bound else { continue };
            let param = self.bind_param(bound.into());
            self.conditions.push(format!("{column} {operator} {param}"));
        }
    }

    pub(crate) fn add_after(&mut self, after: Option<&'a ThreadCursor>) {
        let Some(after) = after else { return };
        let (created_at, id) =
            (self.bind_param((&after.created_at).into()), self.bind_param(after.id.into()));
        // without a cast, PostgreSQL infers the parameter's type from the wrong column
        let id = if self.dialect == Dialect::Postgres { format!("{id}::bigint") } else { id };
        self.conditions.push(format!("(created_at, id) > ({created_at}, {id})"));
    }

    pub(crate) fn add_after_comment(&mut self, after: Option<&'a CommentCursor>) {
        let Some(CommentCursor { created_at, kind, id }) = after else { return };
        let created_at = self.bind_param(created_at.into());
        let kind = self.bind_param(kind.name().into());
        let id = self.bind_param((*id).into());
        self.conditions.push(match self.dialect {
            Dialect::Sqlite => format!("(created_at, kind, id) > ({created_at}, {kind}, {id})"),
            Dialect::Postgres => format!(
                "(created_at, kind collate \"C\", id) > ({created_at}, {kind}::text, {id}::bigint)"
            ),
        });
    }

    /// Joins all conditions; empty if there are none.
    pub(crate) fn where_clause(&self) -> String {
        if self.conditions.is_empty() {
            return String::new();
        }
        format!("where {}", self.conditions.join(" and "))
    }

    /// Joins all conditions and one more.
    pub(super) fn where_clause_and(&self, condition: &str) -> String {
        if self.conditions.is_empty() {
            return format!("where {condition}");
        }
        format!("{} and {condition}", self.where_clause())
    }
}

/// The bounds of a date range as texts. A source's times are whole seconds in UTC, so they compare as texts.
pub(crate) struct TimeBounds {
    from: Option<String>,
    to: Option<String>,
}

impl TimeBounds {
    pub(crate) fn from_range(range: DateRange) -> Self {
        let from = range.from.map(|from| floor_to_second(from.plus_ms(999)).to_string());
        Self { from, to: range.to.map(|to| floor_to_second(to).to_string()) }
    }
}

fn floor_to_second(instant: SourceInstant) -> SourceInstant {
    SourceInstant(instant.0.div_euclid(1_000) * 1_000)
}

/// Converts logins to the form they are compared in: lower case, and without the `@` of a mention.
pub(crate) fn normalize_logins(logins: &[String]) -> Vec<String> {
    logins
        .iter()
        .map(|login| {
            let login = login.trim();
            sanitize_for_storage(login.strip_prefix('@').unwrap_or(login)).to_ascii_lowercase()
        })
        .collect()
}

pub(crate) fn limit_or_max(limit: Option<u64>) -> i64 {
    limit.map_or(i64::MAX, |limit| limit.try_into().unwrap_or(i64::MAX))
}
