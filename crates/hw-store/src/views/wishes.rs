//! What a list is asked for, as the conditions of a statement.

use hw_rules::clean::storable;
use hw_rules::dates::Span;
use hw_rules::time::Mark;

use super::after::{After, AfterComment};
use super::meant::{HostIds, Meant};
use crate::sql::{Dialect, Param};

/// Conditions and what goes into them, in one order.
pub(crate) struct Wishes<'a> {
    dialect: Dialect,
    conditions: Vec<String>,
    pub(crate) params: Vec<Param<'a>>,
}

impl<'a> Wishes<'a> {
    pub(crate) fn new(dialect: Dialect) -> Self {
        Self { dialect, conditions: Vec::new(), params: Vec::new() }
    }

    /// A place for a value.
    pub(crate) fn place(&mut self, value: Param<'a>) -> String {
        self.params.push(value);
        format!("${}", self.params.len())
    }

    pub(crate) fn equals(&mut self, column: &str, value: Option<impl Into<Param<'a>>>) {
        let Some(value) = value else { return };
        let place = self.place(value.into());
        self.conditions.push(format!("{column} = {place}"));
    }

    /// Those of the repositories that are meant.
    pub(crate) fn repository(&mut self, meant: Option<&'a Meant>) {
        let Some(Meant { names, ids }) = meant else { return };
        if !names.is_empty() {
            self.any_of("repository", names);
        }
        if let Some(ids) = ids {
            let condition = self.any_host(ids);
            self.conditions.push(condition);
        }
    }

    /// Repositories by host and id: an id alone may belong to another repository on another host.
    fn any_host(&mut self, ids: &'a HostIds) -> String {
        let mut hosts = Vec::new();
        for (host, ids) in ids {
            let (host, ids) = (self.place(host.into()), self.place(Param::Ints(ids)));
            hosts.push(format!("(host = {host} and {})", self.is_among("repository_id", &ids)));
        }
        if hosts.is_empty() { "1 = 0".to_owned() } else { format!("({})", hosts.join(" or ")) }
    }

    /// Any of these names, which are in lower case.
    pub(crate) fn author(&mut self, names: &'a [String]) {
        if !names.is_empty() {
            self.any_of("lower(author)", names);
        }
    }

    fn any_of(&mut self, column: &str, names: &'a [String]) {
        let condition = if let [name] = names {
            let place = self.place(name.into());
            format!("{column} = {place}")
        } else {
            let places = self.place(Param::Names(names));
            self.is_among(column, &places)
        };
        self.conditions.push(condition);
    }

    /// However many they are, the statement stays the same.
    fn is_among(&self, column: &str, place: &str) -> String {
        match self.dialect {
            Dialect::Sqlite => format!("{column} in (select value from json_each({place}))"),
            Dialect::Postgres => format!("{column} = any({place})"),
        }
    }

    pub(crate) fn within(&mut self, column: &str, bounds: &'a Bounds) {
        for (bound, sign) in [(&bounds.from, ">="), (&bounds.to, "<=")] {
            let Some(bound) = bound else { continue };
            let place = self.place(bound.into());
            self.conditions.push(format!("{column} {sign} {place}"));
        }
    }

    pub(crate) fn after(&mut self, after: Option<&'a After>) {
        let Some(after) = after else { return };
        let (created_at, id) =
            (self.place((&after.created_at).into()), self.place(after.id.into()));
        // PostgreSQL would take the number for whatever the column beside it is
        let id = if self.dialect == Dialect::Postgres { format!("{id}::bigint") } else { id };
        self.conditions.push(format!("(created_at, id) > ({created_at}, {id})"));
    }

    pub(crate) fn after_comment(&mut self, after: Option<&'a AfterComment>) {
        let Some(AfterComment { created_at, kind, id }) = after else { return };
        let created_at = self.place(created_at.into());
        let kind = self.place(kind.name().into());
        let id = self.place((*id).into());
        self.conditions.push(match self.dialect {
            Dialect::Sqlite => format!("(created_at, kind, id) > ({created_at}, {kind}, {id})"),
            Dialect::Postgres => format!(
                "(created_at, kind collate \"C\", id) > ({created_at}, {kind}::text, {id}::bigint)"
            ),
        });
    }

    /// All of them, or nothing.
    pub(crate) fn text(&self) -> String {
        if self.conditions.is_empty() {
            return String::new();
        }
        format!("where {}", self.conditions.join(" and "))
    }
}

/// A span as texts. A source's times are whole seconds in UTC, so their texts have their order.
pub(crate) struct Bounds {
    from: Option<String>,
    to: Option<String>,
}

impl Bounds {
    pub(crate) fn of(span: Span) -> Self {
        let second = |mark: Mark| Mark(mark.0.div_euclid(1_000) * 1_000);
        let from = span.from.map(|from| second(from.plus(999)).to_string());
        Self { from, to: span.to.map(|to| second(to).to_string()) }
    }
}

/// Logins as they are compared; people also write them as they mention each other.
pub(crate) fn lower(names: &[String]) -> Vec<String> {
    let plain = |name: &str| storable(name.strip_prefix('@').unwrap_or(name)).to_ascii_lowercase();
    names.iter().map(|name| plain(name.trim())).collect()
}

pub(crate) fn limited(limit: Option<u64>) -> i64 {
    limit.map_or(i64::MAX, |limit| limit.try_into().unwrap_or(i64::MAX))
}
