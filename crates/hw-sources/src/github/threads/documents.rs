//! What is asked about the threads of a repository.

use hw_rules::lane::Surface;
use hw_rules::walk::Cursor;
use serde_json::{Map, Value, json};

use super::first_pages::FirstPage;
use crate::github::graphql::Query;
use crate::github::listing::{self, Listing};

const NEWEST_FIRST: &str = "UPDATED_AT, direction: DESC";
const OLDEST_FIRST: &str = "CREATED_AT, direction: ASC";

/// One page, newest change first.
pub fn page_query(surface: Surface, node_id: &str, first: u32, after: Option<&Cursor>) -> Query {
    let listing = listing::of(surface);
    let name = format!("{}Page", listing.type_name);
    in_order(listing, &name, NEWEST_FIRST, &listing.fields()).of(node_id, first, after)
}

/// One page, newest change first, of nothing but ids and times: for a row too heavy to be served whole.
pub fn light_query(surface: Surface, node_id: &str, first: u32, after: Option<&Cursor>) -> Query {
    let listing = listing::of(surface);
    let name = format!("{}Light", listing.type_name);
    in_order(listing, &name, NEWEST_FIRST, &id_and_time(listing)).of(node_id, first, after)
}

/// One page of the roll: every row's id and time of change, in the order of creation, which is fixed.
pub fn roll_query(surface: Surface, node_id: &str, first: u32, after: Option<&Cursor>) -> Query {
    let listing = listing::of(surface);
    let name = format!("{}Roll", listing.type_name);
    in_order(listing, &name, OLDEST_FIRST, &id_and_time(listing)).of(node_id, first, after)
}

fn id_and_time(listing: &Listing) -> String {
    format!("id {} updatedAt", listing.id)
}

/// The document of a listing, still without its variables.
struct Document(String);

fn in_order(listing: &Listing, name: &str, order: &str, fields: &str) -> Document {
    let owner = listing.owner_fields();
    let connection = connection(listing, "first: $first, after: $after", order, fields);
    Document(format!(
        "query {name}($id: ID!, $first: Int!, $after: String) {{
  node(id: $id) {{ ... on Repository {{
    {owner}
    {connection}
  }} }}
  rateLimit {{ cost }}
}}"
    ))
}

fn connection(listing: &Listing, page: &str, order: &str, fields: &str) -> String {
    let connection = listing.connection;
    format!(
        "{connection}({page}, orderBy: {{ field: {order} }}) {{
      totalCount
      pageInfo {{ hasNextPage endCursor }}
      edges {{ cursor node {{ {fields} }} }}
    }}"
    )
}

impl Document {
    fn of(self, node_id: &str, first: u32, after: Option<&Cursor>) -> Query {
        let after = after.map(|cursor| &cursor.0);
        let variables = json!({ "id": node_id, "first": first, "after": after });
        Query { document: self.0, variables }
    }
}

/// The first pages of some listings, newest change first, in one request: at least one.
///
/// What is asked of a row is written down once for each kind, however many pages there are.
pub fn first_pages_query(pages: &[FirstPage]) -> Query {
    let mut declared = Vec::new();
    let mut asked = String::new();
    let mut variables = Map::new();
    for (n, page) in pages.iter().enumerate() {
        let listing = listing::of(page.surface);
        let owner = listing.owner_fields();
        let size = format!("first: $n{n}");
        let row = format!("...{}Row", listing.type_name);
        let connection = connection(listing, &size, NEWEST_FIRST, &row);
        declared.push(format!("$i{n}: ID!, $n{n}: Int!"));
        asked += &format!(
            "  p{n}: node(id: $i{n}) {{ ... on Repository {{
    {owner}
    {connection}
  }} }}\n"
        );
        variables.insert(format!("i{n}"), json!(page.node_id));
        variables.insert(format!("n{n}"), json!(page.rows));
    }
    let (declared, rows) = (declared.join(", "), rows_of(pages));
    let document =
        format!("query FirstPages({declared}) {{\n{asked}  rateLimit {{ cost }}\n}}{rows}");
    Query { document, variables: Value::Object(variables) }
}

/// One fragment for each kind of row that occurs: one that nobody uses would be refused.
fn rows_of(pages: &[FirstPage]) -> String {
    let occurs = |surface: &Surface| pages.iter().any(|page| page.surface == *surface);
    let fragment = |surface| {
        let listing = listing::of(surface);
        let (kind, fields) = (listing.type_name, listing.fields());
        format!("\nfragment {kind}Row on {kind} {{ {fields} }}")
    };
    Surface::THREADS.into_iter().filter(occurs).map(fragment).collect()
}
