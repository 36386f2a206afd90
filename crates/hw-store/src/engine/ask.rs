//! A query as the databases take it.

use hw_rules::query::{Filters, Query, Term, Union};

use crate::search::facets::Wanted;
use crate::search::{rows_within, words};
use crate::sql::{Dialect, Param};
use crate::views::meant::HostIds;

/// What the index is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Ask {
    /// What is ranked by; none when any text will do.
    words: Option<String>,
    facets: Option<String>,
    rows: (i64, i64),
    created: Option<(i64, i64)>,
    /// Only these repositories, where a name alone does not tell.
    repositories: Option<HostIds>,
    dialect: Dialect,
    /// Whether each row is looked up beside the index.
    needs_places: bool,
}

impl Ask {
    /// `literally`: only what has the literal forms, too.
    pub(super) fn new(query: &Query, literally: bool, wanted: &Wanted, dialect: Dialect) -> Self {
        let Filters { created, updated, .. } = &query.filters;
        let created = (!created.is_open()).then(|| {
            (created.from.map_or(i64::MIN, |it| it.0), created.to.map_or(i64::MAX, |it| it.0))
        });
        Self {
            words: all_words(query, literally, dialect),
            facets: all_facets(wanted, dialect),
            rows: rows_within(*updated),
            created,
            repositories: None,
            dialect,
            needs_places: true,
        }
    }

    /// One term alone, in the rows from one on.
    pub(super) fn for_term(term: &Term, first_row: i64, dialect: Dialect) -> Self {
        let mut query = Query::default();
        query.terms.push(term.clone());
        let all = Self::new(&query, false, &Wanted::new(), dialect);
        Self { rows: (first_row, i64::MAX), needs_places: false, ..all }
    }

    pub(super) fn in_repositories(mut self, ids: Option<HostIds>) -> Self {
        self.repositories = ids;
        self
    }

    /// The same, but only what was updated before that of a row.
    pub(super) fn older_than(&self, rowid: i64) -> Self {
        Self { rows: (self.rows.0, rowid.saturating_sub(1)), ..self.clone() }
    }

    pub(super) fn has_words(&self) -> bool {
        self.words.is_some()
    }

    /// The rows that match, as the part of a statement behind `select …`, with what goes into it.
    pub(super) fn matching(&self) -> (String, Vec<Given<'_>>) {
        let mut given = Vec::new();
        let mut place = |value| {
            given.push(value);
            format!("${}", given.len())
        };
        let mut conditions = self.index_conditions(&mut place);
        let (first, last) = (place(Given::Int(self.rows.0)), place(Given::Int(self.rows.1)));
        let from = self.index();
        conditions.push(format!("{} between {first} and {last}", self.rowid()));
        if let Some((from, to)) = self.created {
            let (from, to) = (place(Given::Int(from)), place(Given::Int(to)));
            conditions.push(format!("places.created_ms between {from} and {to}"));
        }
        if let Some(repositories) = &self.repositories {
            let mut hosts = vec!["1 = 0".to_owned()];
            for (host, ids) in repositories {
                let (host, ids) = (place(Given::Text(host.clone())), place(Given::Ints(ids)));
                let is_listed = match self.dialect {
                    Dialect::Sqlite => format!("in (select value from json_each({ids}))"),
                    Dialect::Postgres => format!("= any({ids})"),
                };
                hosts.push(format!("places.host = {host} and places.repository_id {is_listed}"));
            }
            conditions.push(format!("({})", hosts.join(" or ")));
        }
        (format!("{from} where {}", conditions.join(" and ")), given)
    }

    /// The full-text index goes first and each of its rows is looked up: the other way round would take all day.
    fn index(&self) -> &'static str {
        if self.words.is_none() && self.facets.is_none() {
            return "from search_places as places";
        }
        match self.dialect {
            _ if !self.needs_places => "from search",
            Dialect::Sqlite => {
                "from search cross join search_places as places on places.rowid = search.rowid"
            }
            Dialect::Postgres => {
                "from search join search_places as places on places.rowid = search.rowid"
            }
        }
    }

    pub(super) fn rowid(&self) -> &'static str {
        if self.words.is_none() && self.facets.is_none() { "places.rowid" } else { "search.rowid" }
    }

    fn index_conditions<'a>(&'a self, place: &mut impl FnMut(Given<'a>) -> String) -> Vec<String> {
        let both = [self.words.as_deref(), self.facets.as_deref()];
        let parts: Vec<&str> = both.into_iter().flatten().collect();
        if parts.is_empty() {
            return Vec::new();
        }
        match self.dialect {
            Dialect::Sqlite => {
                let all = place(Given::Text(parts.join(and(self.dialect))));
                vec![format!("search match {all}")]
            }
            Dialect::Postgres => {
                let mut conditions = Vec::new();
                for (column, part) in ["words", "facets"].into_iter().zip(both) {
                    let Some(part) = part else { continue };
                    let part = place(Given::Text(part.to_owned()));
                    conditions.push(format!("search.{column} @@ cast({part}::text as tsquery)"));
                }
                conditions
            }
        }
    }
}

/// A value on its way into a statement.
pub(super) enum Given<'a> {
    Text(String),
    Int(i64),
    Ints(&'a [i64]),
}

impl Given<'_> {
    pub(super) fn param(&self) -> Param<'_> {
        match self {
            Self::Text(text) => text.into(),
            Self::Int(value) => Param::Int(*value),
            Self::Ints(values) => Param::Ints(values),
        }
    }
}

fn all_words(query: &Query, literally: bool, dialect: Dialect) -> Option<String> {
    let terms = query.terms.iter().map(|term| phrase(term, dialect));
    let unions = query.unions.iter().map(|union| any_of(union, dialect));
    let terms = terms.chain(unions);
    let literals = query.literals.iter().filter(|_| literally);
    let literals = literals.chain(&query.symbols).map(|token| quoted(token, dialect));
    let all: Vec<String> = terms.chain(literals).collect();
    if all.is_empty() {
        return None;
    }
    Some(all.join(and(dialect)))
}

/// One alternative, and of that all terms.
fn any_of(union: &Union, dialect: Dialect) -> String {
    let all = |terms: &Vec<Term>| {
        let terms: Vec<String> = terms.iter().map(|term| phrase(term, dialect)).collect();
        format!("({})", terms.join(and(dialect)))
    };
    let alternatives: Vec<String> = union.iter().map(all).collect();
    format!("({})", alternatives.join(or(dialect)))
}

fn all_facets(wanted: &Wanted, dialect: Dialect) -> Option<String> {
    let any = |facets: &Vec<String>| {
        let facets: Vec<_> =
            facets.iter().map(|facet| quoted(&words::cut(facet.clone()), dialect)).collect();
        format!("({})", facets.join(or(dialect)))
    };
    if wanted.is_empty() {
        return None;
    }
    Some(wanted.iter().map(any).collect::<Vec<_>>().join(and(dialect)))
}

fn and(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Sqlite => " AND ",
        Dialect::Postgres => " & ",
    }
}

fn or(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Sqlite => " OR ",
        Dialect::Postgres => " | ",
    }
}

fn quoted(token: &str, dialect: Dialect) -> String {
    match dialect {
        Dialect::Sqlite => format!("\"{token}\""),
        Dialect::Postgres => format!("'{token}'"),
    }
}

/// Tokens side by side. They have no quotation marks in them.
fn phrase(term: &Term, dialect: Dialect) -> String {
    let tokens: Vec<String> = term.tokens.iter().cloned().map(words::cut).collect();
    match dialect {
        Dialect::Sqlite => {
            format!("\"{}\"{}", tokens.join(" "), if term.is_prefix { " *" } else { "" })
        }
        Dialect::Postgres => side_by_side(&tokens, term.is_prefix),
    }
}

/// The same in PostgreSQL; where it has forgotten the places of words, the words alone must do.
fn side_by_side(tokens: &[String], is_prefix: bool) -> String {
    let mut quoted: Vec<_> = tokens.iter().map(|token| format!("'{token}'")).collect();
    if let Some(last) = quoted.last_mut().filter(|_| is_prefix) {
        last.push_str(":*");
    }
    if let [alone] = quoted.as_slice() {
        return alone.clone();
    }
    let (beside, anywhere) = (quoted.join(" <-> "), quoted.join(" & "));
    format!("(({beside}) | ({anywhere} & '{}'))", words::placeless())
}
