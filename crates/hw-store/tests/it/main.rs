//! One store story, told to both databases.

#![expect(clippy::unwrap_used, reason = "a story that goes wrong ends there")]

/// Tells each story to SQLite and to PostgreSQL.
macro_rules! both {
    ($($story:ident),* $(,)?) => {
        mod sqlite {
            $(#[test]
            fn $story() {
                super::$story(&crate::world::File::new().place);
            })*
        }
        mod postgres {
            $(#[test]
            fn $story() {
                super::$story(&crate::world::Schema::new().place);
            })*
        }
    };
}

mod comments;
mod connections;
mod damage;
mod engine;
mod hosts;
mod ingest;
mod kinds;
mod lanes;
mod leases;
mod locks;
mod names;
mod places;
mod principals;
mod proxy;
mod quarantine;
mod removals;
mod removed_items;
mod schema;
mod search;
mod seed;
mod sweep;
mod together;
mod world;
