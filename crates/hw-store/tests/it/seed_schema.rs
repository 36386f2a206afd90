//! Compares both databases with the tables that seed 004 lists under "Tables".

use std::collections::{BTreeMap, BTreeSet};

use hw_store::{DatabaseLocation, SCHEMA_GUID, StoreWriter};

use crate::fixture::{open_store, query_raw};

both![
    seed_tables_columns_and_indexes_exist,
    seed_search_table_exists_where_there_is_fts5,
    seed_names_and_urls_are_unique_beside_the_id_keys,
    schema_version_has_one_row,
];

struct SeedTable {
    name: &'static str,
    columns: &'static [&'static str],
    indexes: &'static [&'static [&'static str]],
}

/// The seed's tables. The columns of its primary keys are only unique here: a rename must not create a second
/// repository.
const SEED: [SeedTable; 4] = [
    SeedTable {
        name: "discussions",
        columns: &["url", "title", "body", "created_at", "updated_at", "repository", "author"],
        indexes: &[
            &["repository"],
            &["author"],
            &["created_at"],
            &["updated_at"],
            &["repository", "created_at"],
        ],
    },
    SeedTable {
        name: "issues",
        columns: &[
            "url",
            "title",
            "body",
            "created_at",
            "updated_at",
            "closed_at",
            "repository",
            "author",
        ],
        indexes: &[
            &["repository"],
            &["author"],
            &["created_at"],
            &["updated_at"],
            &["closed_at"],
            &["repository", "created_at"],
        ],
    },
    SeedTable {
        name: "pull_requests",
        columns: &[
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
        indexes: &[
            &["repository"],
            &["author"],
            &["created_at"],
            &["updated_at"],
            &["merged_at"],
            &["closed_at"],
            &["repository", "created_at"],
        ],
    },
    SeedTable {
        name: "repositories",
        columns: &["name", "has_discussions_enabled", "has_issues_enabled", "updated_at"],
        indexes: &[&["updated_at"]],
    },
];

/// The columns of the seed's FTS5 table.
const SEED_INDEXED: [&str; 6] = ["type", "title", "body", "url", "repository", "author"];
const SEED_UNINDEXED: [&str; 3] = ["created_at", "state", "boost"];

fn seed_tables_columns_and_indexes_exist(location: &DatabaseLocation) {
    drop(open_store(location));
    for SeedTable { name, columns, indexes } in SEED {
        let (stored_columns, stored_indexes) =
            (table_columns(location, name), table_indexes(location, name));
        for column in columns {
            assert!(stored_columns.contains(*column), "{name} has no {column}");
        }
        for index in indexes {
            let is_stored = stored_indexes.contains_key(&index.join(", "));
            assert!(is_stored, "{name} has no index on {index:?}");
        }
    }
}

fn seed_search_table_exists_where_there_is_fts5(location: &DatabaseLocation) {
    drop(open_store(location));
    let search = table_columns(location, "search");
    let DatabaseLocation::File(_) = location else {
        // PostgreSQL stores the words of all fields as one weighted vector
        let expected = name_set(&["rowid", "words", "facets", "created_at", "state", "boost"]);
        return assert_eq!(search, expected);
    };
    let text = query_raw(location, "select sql from sqlite_master where name = 'search'")
        .concat()
        .concat();
    assert!(text.contains("using fts5"), "{text}");
    for column in SEED_INDEXED.into_iter().chain(SEED_UNINDEXED) {
        assert!(search.contains(column), "no {column}");
        let is_unindexed = text.contains(&format!("{column} unindexed"));
        assert_eq!(is_unindexed, SEED_UNINDEXED.contains(&column), "{column}");
    }
}

fn seed_names_and_urls_are_unique_beside_the_id_keys(location: &DatabaseLocation) {
    drop(open_store(location));
    for SeedTable { name, .. } in SEED {
        let indexes = table_indexes(location, name);
        assert_eq!(indexes.get("host, id"), Some(&true), "the key of {name}");
        assert_eq!(indexes.get("host, url"), Some(&true), "the URLs of {name}");
        let by_repository = indexes.contains_key("host, repository_id, id");
        assert!(by_repository || name == "repositories", "{name} of one repository");
    }
    assert_eq!(table_indexes(location, "repositories").get("host, owner, name"), Some(&true));
}

fn schema_version_has_one_row(location: &DatabaseLocation) {
    for _ in 0..2 {
        drop(StoreWriter::open(location).unwrap());
        assert_eq!(
            table_columns(location, "schema_version"),
            name_set(&["guid", "number", "search_index"])
        );
        let columns = "guid, cast(number as text), cast(search_index as text)";
        let versions = query_raw(location, &format!("select {columns} from schema_version"));
        assert_eq!(versions, [[SCHEMA_GUID, "18", "1"]]);
    }
}

fn name_set(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn table_columns(location: &DatabaseLocation, table: &str) -> BTreeSet<String> {
    let sql = match location {
        DatabaseLocation::Postgres { schema, .. } => format!(
            "select column_name::text from information_schema.columns
              where table_schema = '{schema}' and table_name = '{table}'"
        ),
        DatabaseLocation::Memory | DatabaseLocation::File(_) => {
            format!("select name from pragma_table_info('{table}')")
        }
    };
    query_raw(location, &sql).into_iter().flatten().collect()
}

/// Returns the columns of a table's indexes, with true for a unique index.
fn table_indexes(location: &DatabaseLocation, table: &str) -> BTreeMap<String, bool> {
    let sql = match location {
        DatabaseLocation::Postgres { schema, .. } => format!(
            "select string_agg(a.attname, ', ' order by k.place),
                    case when i.indisunique then '1' else '0' end
               from pg_index i
              cross join lateral unnest(i.indkey) with ordinality as k (number, place)
               join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.number
              where i.indrelid = '{schema}.{table}'::regclass
              group by i.indexrelid, i.indisunique"
        ),
        DatabaseLocation::Memory | DatabaseLocation::File(_) => format!(
            "select (select group_concat(name, ', ')
                       from (select name from pragma_index_info(l.name) order by seqno)),
                    cast(l.\"unique\" as text)
               from pragma_index_list('{table}') as l"
        ),
    };
    query_raw(location, &sql)
        .into_iter()
        .map(|row| {
            let [columns, unique] = <[String; 2]>::try_from(row).unwrap();
            (columns, unique == "1")
        })
        .collect()
}
