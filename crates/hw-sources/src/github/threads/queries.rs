//! Builds the queries for the threads of a repository.

use hw_rules::item::ThreadKind;
use hw_rules::walk::PageCursor;
use serde_json::{Map, Value, json};

use super::first_pages::FirstPageTarget;
use crate::github::graphql::GraphqlQuery;
use crate::github::thread_schema::{self, ThreadSchema};

const NEWEST_FIRST: &str = "UPDATED_AT, direction: DESC";
const OLDEST_FIRST: &str = "CREATED_AT, direction: ASC";

/// Builds the query for one page, newest change first.
pub fn page_query(
    kind: ThreadKind,
    node_id: &str,
    first: u32,
    after: Option<&PageCursor>,
) -> GraphqlQuery {
    let listing = thread_schema::for_kind(kind);
    let name = format!("{}Page", listing.type_name);
    listing_document(listing, &name, NEWEST_FIRST, &listing.mirrored_fields())
        .into_query(node_id, first, after)
}

/// Builds the query for one page of ids and times, newest change first: for a row too large to be served completely.
pub fn id_only_query(
    kind: ThreadKind,
    node_id: &str,
    first: u32,
    after: Option<&PageCursor>,
) -> GraphqlQuery {
    let listing = thread_schema::for_kind(kind);
    let name = format!("{}IdOnly", listing.type_name);
    listing_document(listing, &name, NEWEST_FIRST, &id_and_time_fields(listing))
        .into_query(node_id, first, after)
}

/// Builds the query for one page of the inventory: ids and times in the order of creation, which never changes.
pub fn inventory_query(
    kind: ThreadKind,
    node_id: &str,
    first: u32,
    after: Option<&PageCursor>,
) -> GraphqlQuery {
    let listing = thread_schema::for_kind(kind);
    let name = format!("{}Inventory", listing.type_name);
    listing_document(listing, &name, OLDEST_FIRST, &id_and_time_fields(listing))
        .into_query(node_id, first, after)
}

fn id_and_time_fields(listing: &ThreadSchema) -> String {
    format!("id {} updatedAt", listing.id_field)
}

/// The document of a listing, without its variables.
struct ListingDocument(String);

fn listing_document(
    listing: &ThreadSchema,
    name: &str,
    order: &str,
    fields: &str,
) -> ListingDocument {
    let repository = listing.repository_fields();
    let connection = connection_fields(listing, "first: $first, after: $after", order, fields);
    ListingDocument(format!(
        "query {name}($id: ID!, $first: Int!, $after: String) {{
  node(id: $id) {{ ... on Repository {{
    {repository}
    {connection}
  }} }}
  rateLimit {{ cost }}
}}"
    ))
}

fn connection_fields(listing: &ThreadSchema, page: &str, order: &str, fields: &str) -> String {
    let connection = listing.connection;
    format!(
        "{connection}({page}, orderBy: {{ field: {order} }}) {{
      totalCount
      pageInfo {{ hasNextPage endCursor }}
      edges {{ cursor node {{ {fields} }} }}
    }}"
    )
}

impl ListingDocument {
    fn into_query(self, node_id: &str, first: u32, after: Option<&PageCursor>) -> GraphqlQuery {
        let after = after.map(|cursor| &cursor.0);
        let variables = json!({ "id": node_id, "first": first, "after": after });
        GraphqlQuery { document: self.0, variables }
    }
}

/// Builds one query for the first pages of at least one listing, newest change first.
///
/// A fragment for each kind of row keeps the document short, however many pages there are.
pub fn first_pages_query(pages: &[FirstPageTarget]) -> GraphqlQuery {
    let mut declarations = Vec::new();
    let mut fields = String::new();
    let mut variables = Map::new();
    for (n, page) in pages.iter().enumerate() {
        let listing = thread_schema::for_kind(page.kind);
        let repository = listing.repository_fields();
        let size = format!("first: $n{n}");
        let row = format!("...{}Row", listing.type_name);
        let connection = connection_fields(listing, &size, NEWEST_FIRST, &row);
        declarations.push(format!("$i{n}: ID!, $n{n}: Int!"));
        fields += &format!(
            "  p{n}: node(id: $i{n}) {{ ... on Repository {{
    {repository}
    {connection}
  }} }}\n"
        );
        variables.insert(format!("i{n}"), json!(page.node_id));
        variables.insert(format!("n{n}"), json!(page.row_count));
    }
    let (declarations, rows) = (declarations.join(", "), row_fragments(pages));
    let document =
        format!("query FirstPages({declarations}) {{\n{fields}  rateLimit {{ cost }}\n}}{rows}");
    GraphqlQuery { document, variables: Value::Object(variables) }
}

/// Returns one fragment for each kind of row that occurs: GitHub rejects an unused one.
fn row_fragments(pages: &[FirstPageTarget]) -> String {
    let mut fragments = String::new();
    for kind in ThreadKind::ALL {
        if pages.iter().any(|page| page.kind == kind) {
            let listing = thread_schema::for_kind(kind);
            let (kind, fields) = (listing.type_name, listing.mirrored_fields());
            fragments += &format!("\nfragment {kind}Row on {kind} {{ {fields} }}");
        }
    }
    fragments
}
