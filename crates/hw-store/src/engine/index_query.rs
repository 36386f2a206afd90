//! Translates a query into the full-text syntax and SQL of each database.

use std::ops::RangeInclusive;

use hw_rules::query::{Query, QueryFilters, QueryTerm, TermUnion};

use crate::search::facets::FacetFilter;
use crate::search::{rowid_range, tokens};
use crate::sql::{Dialect, SqlParam};
use crate::views::repository_match::HostIds;

/// The strictness with which texts match a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum QueryTier {
    /// Words match, and so do the literal forms (`foo-bar`).
    Literal,
    /// Words match.
    Words,
}

/// A query of the search index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct IndexQuery {
    /// The full-text expression that matches are ranked by; `None` if the query has no words.
    words: Option<String>,
    facets: Option<String>,
    rowid_range: RangeInclusive<i64>,
    created_ms: Option<RangeInclusive<i64>>,
    /// The repositories to search, if a name alone is ambiguous.
    repositories: Option<HostIds>,
    dialect: Dialect,
    /// True if each row of the index is joined with its row in `search_documents`.
    joins_documents: bool,
}

impl IndexQuery {
    pub(super) fn new(
        query: &Query,
        tier: QueryTier,
        facets: &FacetFilter,
        dialect: Dialect,
    ) -> Self {
        let QueryFilters { created, updated, .. } = &query.filters;
        let created_ms = (!created.is_unbounded()).then(|| {
            let from = created.from.map_or(i64::MIN, |instant| instant.0);
            from..=created.to.map_or(i64::MAX, |instant| instant.0)
        });
        Self {
            words: words_expression(query, tier, dialect),
            facets: facets_expression(facets, dialect),
            rowid_range: rowid_range(*updated),
            created_ms,
            repositories: None,
            dialect,
            joins_documents: true,
        }
    }

    /// Queries a single term in the rows from `first_row` on.
    pub(super) fn for_term(term: &QueryTerm, first_row: i64, dialect: Dialect) -> Self {
        let mut query = Query::default();
        query.terms.push(term.clone());
        let all = Self::new(&query, QueryTier::Words, &FacetFilter::new(), dialect);
        Self { rowid_range: first_row..=i64::MAX, joins_documents: false, ..all }
    }

    pub(super) fn with_repositories(mut self, ids: Option<HostIds>) -> Self {
        self.repositories = ids;
        self
    }

    /// Narrows the query to the rows before `rowid`, which were updated earlier.
    pub(super) fn older_than(&self, rowid: i64) -> Self {
        let rowid_range = *self.rowid_range.start()..=rowid.saturating_sub(1);
        Self { rowid_range, ..self.clone() }
    }

    pub(super) fn has_words(&self) -> bool {
        self.words.is_some()
    }

    /// Builds the part of a statement that follows `select …`.
    pub(super) fn matching_sql(&self) -> MatchingSql<'_> {
        let mut values = BoundValues::default();
        let mut conditions = self.index_conditions(&mut values);
        let rowids = values.bind_range(&self.rowid_range);
        conditions.push(format!("{} {rowids}", self.rowid_column()));
        if let Some(created_ms) = &self.created_ms {
            conditions.push(format!("documents.created_ms {}", values.bind_range(created_ms)));
        }
        if let Some(repositories) = &self.repositories {
            conditions.push(self.repository_condition(repositories, &mut values));
        }
        let text = format!("{} where {}", self.table_clause(), conditions.join(" and "));
        MatchingSql { text, values }
    }

    fn repository_condition<'a>(
        &self,
        repositories: &'a HostIds,
        values: &mut BoundValues<'a>,
    ) -> String {
        let mut hosts = vec!["1 = 0".to_owned()];
        for (host, ids) in repositories {
            let host = values.bind(BoundValue::Text(host.clone()));
            let ids = values.bind(BoundValue::Ints(ids));
            let is_listed = match self.dialect {
                Dialect::Sqlite => format!("in (select value from json_each({ids}))"),
                Dialect::Postgres => format!("= any({ids})"),
            };
            hosts.push(format!("documents.host = {host} and documents.repository_id {is_listed}"));
        }
        format!("({})", hosts.join(" or "))
    }

    /// Puts the full-text index first and looks up each of its rows: the opposite join order is far too slow.
    fn table_clause(&self) -> &'static str {
        if self.words.is_none() && self.facets.is_none() {
            return "from search_documents as documents";
        }
        match self.dialect {
            _ if !self.joins_documents => "from search",
            Dialect::Sqlite => {
                "from search cross join search_documents as documents on documents.rowid = search.rowid"
            }
            Dialect::Postgres => {
                "from search join search_documents as documents on documents.rowid = search.rowid"
            }
        }
    }

    pub(super) fn rowid_column(&self) -> &'static str {
        if self.words.is_none() && self.facets.is_none() {
            "documents.rowid"
        } else {
            "search.rowid"
        }
    }

    fn index_conditions(&self, values: &mut BoundValues<'_>) -> Vec<String> {
        let both = [self.words.as_deref(), self.facets.as_deref()];
        let parts: Vec<&str> = both.into_iter().flatten().collect();
        if parts.is_empty() {
            return Vec::new();
        }
        match self.dialect {
            Dialect::Sqlite => {
                let expression = parts.join(and_operator(self.dialect));
                vec![format!("search match {}", values.bind(BoundValue::Text(expression)))]
            }
            Dialect::Postgres => {
                let mut conditions = Vec::new();
                for (column, part) in ["words", "facets"].into_iter().zip(both) {
                    let Some(part) = part else { continue };
                    let part = values.bind(BoundValue::Text(part.to_owned()));
                    conditions.push(format!("search.{column} @@ cast({part}::text as tsquery)"));
                }
                conditions
            }
        }
    }
}

/// The `from` and `where` clauses that select the matching rows, with their values.
pub(super) struct MatchingSql<'a> {
    pub(super) text: String,
    pub(super) values: BoundValues<'a>,
}

/// The values of a statement's placeholders, in their order.
#[derive(Default)]
pub(super) struct BoundValues<'a>(Vec<BoundValue<'a>>);

impl<'a> BoundValues<'a> {
    /// Adds a value and returns its placeholder.
    pub(super) fn bind(&mut self, value: BoundValue<'a>) -> String {
        self.0.push(value);
        format!("${}", self.0.len())
    }

    fn bind_range(&mut self, range: &RangeInclusive<i64>) -> String {
        let first = self.bind(BoundValue::Int(*range.start()));
        let last = self.bind(BoundValue::Int(*range.end()));
        format!("between {first} and {last}")
    }

    pub(super) fn to_params(&self) -> Vec<SqlParam<'_>> {
        self.0.iter().map(BoundValue::as_param).collect()
    }
}

/// One value of a statement.
pub(super) enum BoundValue<'a> {
    Text(String),
    Int(i64),
    Ints(&'a [i64]),
}

impl BoundValue<'_> {
    fn as_param(&self) -> SqlParam<'_> {
        match self {
            Self::Text(text) => text.into(),
            Self::Int(value) => SqlParam::Int(*value),
            Self::Ints(values) => SqlParam::Ints(values),
        }
    }
}

fn words_expression(query: &Query, tier: QueryTier, dialect: Dialect) -> Option<String> {
    let terms = query.terms.iter().map(|term| phrase_expression(term, dialect));
    let unions = query.unions.iter().map(|union| union_expression(union, dialect));
    let terms = terms.chain(unions);
    let literals = query.literals.iter().filter(|_| tier == QueryTier::Literal);
    let literals = literals.chain(&query.symbols).map(|token| quote_token(token, dialect));
    let all: Vec<String> = terms.chain(literals).collect();
    if all.is_empty() {
        return None;
    }
    Some(all.join(and_operator(dialect)))
}

/// Requires one alternative, with all its terms.
fn union_expression(union: &TermUnion, dialect: Dialect) -> String {
    let alternatives: Vec<String> =
        union.iter().map(|terms| all_terms_expression(terms, dialect)).collect();
    format!("({})", alternatives.join(or_operator(dialect)))
}

fn all_terms_expression(terms: &[QueryTerm], dialect: Dialect) -> String {
    let terms: Vec<String> = terms.iter().map(|term| phrase_expression(term, dialect)).collect();
    format!("({})", terms.join(and_operator(dialect)))
}

fn facets_expression(filter: &FacetFilter, dialect: Dialect) -> Option<String> {
    if filter.is_empty() {
        return None;
    }
    let groups: Vec<String> =
        filter.iter().map(|facets| any_facet_expression(facets, dialect)).collect();
    Some(groups.join(and_operator(dialect)))
}

fn any_facet_expression(facets: &[String], dialect: Dialect) -> String {
    let facets: Vec<String> = facets
        .iter()
        .map(|facet| quote_token(&tokens::truncate_token(facet.clone()), dialect))
        .collect();
    format!("({})", facets.join(or_operator(dialect)))
}

fn and_operator(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Sqlite => " AND ",
        Dialect::Postgres => " & ",
    }
}

fn or_operator(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Sqlite => " OR ",
        Dialect::Postgres => " | ",
    }
}

fn quote_token(token: &str, dialect: Dialect) -> String {
    match dialect {
        Dialect::Sqlite => format!("\"{token}\""),
        Dialect::Postgres => format!("'{token}'"),
    }
}

/// Requires the tokens of a term side by side. Tokens contain no quotation marks, so none are escaped.
fn phrase_expression(term: &QueryTerm, dialect: Dialect) -> String {
    let tokens: Vec<String> = term.tokens.iter().cloned().map(tokens::truncate_token).collect();
    match dialect {
        Dialect::Sqlite => {
            format!("\"{}\"{}", tokens.join(" "), if term.is_prefix { " *" } else { "" })
        }
        Dialect::Postgres => adjacent_expression(&tokens, term.is_prefix),
    }
}

/// Requires adjacent tokens in PostgreSQL. In a row that lost word positions, it is enough that all tokens occur.
fn adjacent_expression(tokens: &[String], is_prefix: bool) -> String {
    let mut quoted: Vec<_> = tokens.iter().map(|token| format!("'{token}'")).collect();
    if let Some(last) = quoted.last_mut().filter(|_| is_prefix) {
        last.push_str(":*");
    }
    if let [single] = quoted.as_slice() {
        return single.clone();
    }
    let (adjacent, anywhere) = (quoted.join(" <-> "), quoted.join(" & "));
    format!("(({adjacent}) | ({anywhere} & '{}'))", tokens::lost_positions_token())
}
