//! The tables of the seed (004, "Tables"), as it lists them, and what both databases have.

use std::collections::{BTreeMap, BTreeSet};

use hw_store::{Place, SCHEMA_GUID, Store};

use crate::world::{open, rows};

both![
    every_table_column_and_index_of_the_seed_is_there,
    the_search_table_is_the_seeds_where_there_is_fts5,
    names_and_urls_are_unique_though_ids_are_the_keys,
    a_database_has_one_version,
];

type Table = (&'static str, &'static [&'static str], &'static [&'static [&'static str]]);

/// Table, columns and indexes. What the seed has for a primary key is unique here: a rename must not make
/// a second repository.
const SEED: [Table; 4] = [
    (
        "discussions",
        &["url", "title", "body", "created_at", "updated_at", "repository", "author"],
        &[
            &["repository"],
            &["author"],
            &["created_at"],
            &["updated_at"],
            &["repository", "created_at"],
        ],
    ),
    (
        "issues",
        &["url", "title", "body", "created_at", "updated_at", "closed_at", "repository", "author"],
        &[
            &["repository"],
            &["author"],
            &["created_at"],
            &["updated_at"],
            &["closed_at"],
            &["repository", "created_at"],
        ],
    ),
    (
        "pull_requests",
        &[
            "url",
            "title",
            "body",
            "created_at",
            "updated_at",
            "merged_at",
            "closed_at",
            "repository",
            "author",
        ],
        &[
            &["repository"],
            &["author"],
            &["created_at"],
            &["updated_at"],
            &["merged_at"],
            &["closed_at"],
            &["repository", "created_at"],
        ],
    ),
    (
        "repositories",
        &["name", "has_discussions_enabled", "has_issues_enabled", "updated_at"],
        &[&["updated_at"]],
    ),
];

/// The columns of the seed's FTS5 table: those that are indexed, and those that are not.
const SEED_SEARCH: ([&str; 6], [&str; 3]) =
    (["type", "title", "body", "url", "repository", "author"], ["created_at", "state", "boost"]);

fn every_table_column_and_index_of_the_seed_is_there(place: &Place) {
    drop(open(place));
    for (table, seed_columns, seed_indexes) in SEED {
        let (columns, indexes) = (columns(place, table), indexes(place, table));
        for column in seed_columns {
            assert!(columns.contains(*column), "{table} has no {column}");
        }
        for index in seed_indexes {
            assert!(indexes.contains_key(&index.join(", ")), "{table} has no index on {index:?}");
        }
    }
}

fn the_search_table_is_the_seeds_where_there_is_fts5(place: &Place) {
    drop(open(place));
    let search = columns(place, "search");
    let Place::File(_) = place else {
        // its words are one vector there, each with the weight of where it stood
        let ours = names(&["rowid", "words", "facets", "created_at", "state", "boost"]);
        return assert_eq!(search, ours);
    };
    let (indexed, unindexed) = SEED_SEARCH;
    let text = rows(place, "select sql from sqlite_master where name = 'search'").concat().concat();
    assert!(text.contains("using fts5"), "{text}");
    let is_unindexed = |column: &str| text.contains(&format!("{column} unindexed"));
    assert!(indexed.iter().all(|column| search.contains(*column) && !is_unindexed(column)));
    assert!(unindexed.iter().all(|column| search.contains(*column) && is_unindexed(column)));
}

fn names_and_urls_are_unique_though_ids_are_the_keys(place: &Place) {
    drop(open(place));
    for (table, ..) in SEED {
        let indexes = indexes(place, table);
        assert_eq!(indexes.get("host, id"), Some(&true), "the key of {table}");
        assert_eq!(indexes.get("host, url"), Some(&true), "{table} have URLs of their own");
        let by_repository = indexes.contains_key("host, repository_id, id");
        assert!(by_repository || table == "repositories", "{table} of one repository");
    }
    assert_eq!(indexes(place, "repositories").get("host, owner, name"), Some(&true));
}

fn a_database_has_one_version(place: &Place) {
    for _ in 0..2 {
        drop(Store::open(place).unwrap());
        assert_eq!(columns(place, "schema_version"), names(&["guid", "number"]));
        let versions = rows(place, "select guid, cast(number as text) from schema_version");
        assert_eq!(versions, [[SCHEMA_GUID, "6"]]);
    }
}

fn names(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn columns(place: &Place, table: &str) -> BTreeSet<String> {
    let sql = match place {
        Place::Postgres { schema, .. } => format!(
            "select column_name::text from information_schema.columns
              where table_schema = '{schema}' and table_name = '{table}'"
        ),
        Place::Memory | Place::File(_) => format!("select name from pragma_table_info('{table}')"),
    };
    rows(place, &sql).into_iter().flatten().collect()
}

/// The indexes of a table by their columns, and whether each is unique.
fn indexes(place: &Place, table: &str) -> BTreeMap<String, bool> {
    let sql = match place {
        Place::Postgres { schema, .. } => format!(
            "select string_agg(a.attname, ', ' order by k.place),
                    case when i.indisunique then '1' else '0' end
               from pg_index i
              cross join lateral unnest(i.indkey) with ordinality as k (number, place)
               join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.number
              where i.indrelid = '{schema}.{table}'::regclass
              group by i.indexrelid, i.indisunique"
        ),
        Place::Memory | Place::File(_) => format!(
            "select (select group_concat(name, ', ')
                       from (select name from pragma_index_info(l.name) order by seqno)),
                    cast(l.\"unique\" as text)
               from pragma_index_list('{table}') as l"
        ),
    };
    let read = |row: Vec<String>| {
        let [columns, unique] = <[String; 2]>::try_from(row).unwrap();
        (columns, unique == "1")
    };
    rows(place, &sql).into_iter().map(read).collect()
}
