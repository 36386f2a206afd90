//! Builds the statements that list and count posts from their filter.

use hw_rules::date_range::DateRange;

use super::conditions::{ConditionBuilder, limit_or_max};
use super::post_list::{
    POST_COLUMNS, POST_TABLES, PostCursor, PostFilter, RepostSelection, find_dids,
};
use crate::error::StoreError;
use crate::sql::{Dialect, SqlParam};
use crate::transaction::Transaction;

/// The most accounts whose posts are merged, because each of them makes the statement longer.
const MAX_MERGED_ACCOUNTS: usize = 100;

/// A statement and its parameters.
pub(super) struct PostQuery<'a> {
    pub(super) text: String,
    pub(super) params: Vec<SqlParam<'a>>,
}

/// Returns the accounts that a filter names, each once, by their DIDs; `None` if it names none, and so selects all.
pub(super) fn find_sharers(
    tx: &mut Transaction<'_>,
    filter: &PostFilter,
) -> Result<Option<Vec<String>>, StoreError> {
    if filter.accounts.is_empty() {
        return Ok(None);
    }
    let mut dids = find_dids(tx, &filter.accounts)?;
    dids.sort_unstable();
    dids.dedup();
    Ok(Some(dids))
}

/// Builds the statement that lists posts, newest first.
///
/// The posts of each account are in order in an index. SQLite merges selects that are in order as their rows are read, and
/// would sort all posts of several accounts that one select names. PostgreSQL would sort the merged ones, and plans one
/// select by its statistics.
pub(super) fn list_query<'a>(
    tx: &Transaction<'_>,
    filter: &'a PostFilter,
    sharers: Option<&'a [String]>,
) -> PostQuery<'a> {
    let mut conditions = build_conditions(tx, filter);
    let selects = match (sharers, tx.dialect()) {
        (None, _) => select_posts(&conditions.where_clause()),
        (Some(dids), Dialect::Sqlite) if (1..=MAX_MERGED_ACCOUNTS).contains(&dids.len()) => {
            let selects = dids.iter().map(|did| {
                let did = conditions.bind_param(did.into());
                select_posts(&conditions.where_clause_and(&format!("sharer = {did}")))
            });
            selects.collect::<Vec<_>>().join(" union all ")
        }
        (Some(dids), Dialect::Sqlite) => {
            // the sign keeps SQLite from sorting all posts of so many accounts: the newest ones are soon found by their time
            conditions.add_any_of("+sharer", dids);
            select_posts(&conditions.where_clause())
        }
        (Some(dids), Dialect::Postgres) => {
            conditions.add_any_of("sharer", dids);
            select_posts(&conditions.where_clause())
        }
    };
    let limit = conditions.bind_param(limit_or_max(filter.limit).into());
    let text = format!("{selects} order by sort_ms desc, host desc, id desc limit {limit}");
    PostQuery { text, params: conditions.params }
}

/// Builds the statement that counts posts, whatever the filter's limit.
pub(super) fn count_query<'a>(
    tx: &Transaction<'_>,
    filter: &'a PostFilter,
    sharers: Option<&'a [String]>,
) -> PostQuery<'a> {
    let mut conditions = build_conditions(tx, filter);
    if let Some(dids) = sharers {
        conditions.add_any_of("sharer", dids);
    }
    let text = format!("select count(*) as matching from posts {}", conditions.where_clause());
    PostQuery { text, params: conditions.params }
}

fn select_posts(conditions: &str) -> String {
    format!("select {POST_COLUMNS} from {POST_TABLES} {conditions}")
}

/// Collects the conditions of a filter, except for its accounts.
fn build_conditions<'a>(tx: &Transaction<'_>, filter: &'a PostFilter) -> ConditionBuilder<'a> {
    let mut conditions = ConditionBuilder::new(tx.dialect());
    let DateRange { from, to } = filter.created;
    // of two upper bounds, SQLite may look up the weaker one
    let to = to.filter(|to| filter.after.as_ref().is_none_or(|after| to.0 < after.sort_ms));
    for (bound, operator) in [(from, ">="), (to, "<=")] {
        if let Some(bound) = bound {
            let param = conditions.bind_param(bound.0.into());
            conditions.add_condition(format!("sort_ms {operator} {param}"));
        }
    }
    if filter.reposts == RepostSelection::Excluded {
        conditions.add_condition("repost_of is null".to_owned());
    }
    if filter.replies.excludes() {
        conditions.add_condition("reply_parent is null".to_owned());
    }
    if let Some(PostCursor { sort_ms, host, id }) = &filter.after {
        let position = [(*sort_ms).into(), host.into(), (*id).into()];
        let [sort_ms, host, id] = position.map(|value| conditions.bind_param(value));
        conditions
            .add_condition(format!("(sort_ms, posts.host, posts.id) < ({sort_ms}, {host}, {id})"));
    }
    conditions
}

#[cfg(test)]
mod tests {
    use hw_rules::source_time::SourceInstant;

    use super::*;
    use crate::sql::Sql;
    use crate::{DatabaseLocation, StoreReader, StoreWriter};

    #[test]
    fn post_list_of_accounts_merges_an_index_in_order() {
        for names in [&["did:plc:alice"][..], &["did:plc:alice", "did:plc:bob", "did:plc:alice"]] {
            let accounts = names.iter().map(|name| (*name).to_owned()).collect();
            let plan = list_plan(&PostFilter { accounts, ..PostFilter::default() });
            assert!(plan.contains("posts_sharer (sharer=?)"), "{plan}");
            assert!(!plan.contains("B-TREE"), "{plan}");
        }
    }

    #[test]
    fn post_list_of_many_accounts_uses_the_index_of_times_in_order() {
        let accounts = (0..=MAX_MERGED_ACCOUNTS).map(|number| format!("did:plc:{number}"));
        let plan = list_plan(&PostFilter { accounts: accounts.collect(), ..PostFilter::default() });
        let is_sorted = plan.contains("FOR ORDER BY");
        assert!(plan.contains("posts USING INDEX posts_sort_ms") && !is_sorted, "{plan}");
    }

    #[test]
    fn post_list_of_all_accounts_uses_an_index_in_order() {
        let plan = list_plan(&PostFilter::default());
        assert!(plan.contains("posts_sort_ms") && !plan.contains("B-TREE"), "{plan}");
    }

    #[test]
    fn later_page_of_posts_starts_at_its_position_in_an_index() {
        let after = PostCursor { sort_ms: 20, host: "bsky.app".to_owned(), id: 1 };
        for accounts in [vec![], vec!["did:plc:alice".to_owned()]] {
            let created = DateRange { from: Some(SourceInstant(10)), to: Some(SourceInstant(30)) };
            let after = Some(after.clone());
            let plan = list_plan(&PostFilter { accounts, created, after, ..PostFilter::default() });
            assert!(plan.contains("(sort_ms,host,id)<(?,?,?)"), "{plan}");
        }
    }

    #[test]
    fn posts_of_an_account_are_counted_in_an_index() {
        let accounts = vec!["did:plc:alice".to_owned()];
        let filter = PostFilter { accounts, ..PostFilter::default() };
        let plan = explain(&filter, count_query);
        assert!(plan.contains("COVERING INDEX posts_sharer (sharer=?)"), "{plan}");
    }

    fn list_plan(filter: &PostFilter) -> String {
        explain(filter, list_query)
    }

    fn explain(
        filter: &PostFilter,
        build: impl for<'a> Fn(&Transaction<'_>, &'a PostFilter, Option<&'a [String]>) -> PostQuery<'a>,
    ) -> String {
        let store = StoreWriter::open(&DatabaseLocation::Memory).unwrap();
        let reader: &StoreReader = &store;
        let steps = reader.read("plan", |tx| {
            let sharers = find_sharers(tx, filter)?;
            let PostQuery { text, params } = build(tx, filter, sharers.as_deref());
            let text = format!("explain query plan {text}");
            tx.query(Sql::portable(&text), &params, |mut row| row.text("detail"))
        });
        steps.unwrap().join("; ")
    }
}
