//! `highwater show` of a post.

use hw_rules::bluesky::account_ref::AccountRef;
use hw_rules::bluesky::record_uri::{RecordUri, record_id};
use hw_rules::item::ObjectKind;
use hw_store::{PostRow, RemovedItem, RemovedQuery, StoreReader};

use super::read_command;
use crate::cli::ShowArgs;
use crate::columns::post_columns;
use crate::post_text::post_page::{PostContext, PostView};
use crate::report::ErrorHint;
use crate::row_writer::{object_json, row_json};
use crate::show_target::PostTarget;
use crate::terminal::{StdoutWriter, print_result};

pub(super) fn show_post(
    target: &PostTarget,
    args: &ShowArgs,
    store: &StoreReader,
) -> anyhow::Result<()> {
    let uri = find_uri(target, store)?;
    let Some(view) = find_post(&uri, store)? else { return Err(not_found_error(&uri, store)?) };
    if args.json {
        let mut out = StdoutWriter::new();
        out.write_json(&post_json(&view))?;
        out.finish()?;
    } else {
        print_result(view.to_page().trim_end())?;
    }
    warn_if_incomplete(view.row.sharer_name(), store)
}

/// Returns the post's URI. A handle means the account that has it now.
fn find_uri(target: &PostTarget, store: &StoreReader) -> anyhow::Result<RecordUri> {
    let post = match target {
        PostTarget::Record(uri) => return Ok(uri.clone()),
        PostTarget::Named(post) => post,
    };
    let account = match &post.account {
        AccountRef::Did(did) => return Ok(post.with_did(did.clone())),
        AccountRef::Handle(handle) => handle,
    };
    match store.dids_of(&[account.to_string()])?.into_iter().next() {
        Some(did) => Ok(post.with_did(did)),
        None => {
            let error = anyhow::anyhow!("this workspace knows no account named {account}");
            Err(error.context(ErrorHint(format!(
                "`highwater bluesky add {account}` follows it; then `highwater bluesky poll` reads its posts"
            ))))
        }
    }
}

/// Finds a post. One that is stored only because an account reposted it has the text of the repost.
fn find_post(uri: &RecordUri, store: &StoreReader) -> anyhow::Result<Option<PostView>> {
    let found = store.post_by_uri(uri)?;
    let subject = found.as_ref().map_or(uri, |row| row.post.text_uri()).clone();
    let reposts = store.reposts_of(&subject)?.rows;
    let Some(row) = found.or_else(|| reposts.first().cloned()) else { return Ok(None) };
    let parent = row.post.reply.as_ref().map(|reply| &reply.parent);
    let context = PostContext {
        parent: find_stored(parent, store)?,
        quoted: find_stored(row.post.quote.as_ref(), store)?,
    };
    Ok(Some(PostView { row, reposts, context }))
}

fn find_stored(uri: Option<&RecordUri>, store: &StoreReader) -> anyhow::Result<Option<PostRow>> {
    Ok(uri.map(|uri| store.post_by_uri(uri)).transpose()?.flatten())
}

/// Returns the post as JSON; `docs/json.md` is the contract.
fn post_json(view: &PostView) -> String {
    let columns = post_columns();
    let fields = columns.iter().map(|column| (column.name, (column.value)(&view.row).to_string()));
    let reposts = view.reposts.iter().map(|row| row_json(&columns, row));
    let reposts = format!("[{}]", reposts.collect::<Vec<_>>().join(","));
    object_json(fields.chain([("reposts", reposts)]))
}

fn warn_if_incomplete(account: &str, store: &StoreReader) -> anyhow::Result<()> {
    read_command::warn_incomplete(&store.post_completeness(&[account.to_owned()])?);
    Ok(())
}

/// Explains why the post is not found, as far as the workspace can tell, and suggests what to do.
fn not_found_error(uri: &RecordUri, store: &StoreReader) -> anyhow::Result<anyhow::Error> {
    let removed = store.find_removed_items(&RemovedQuery::Id(record_id(uri)))?;
    let removed = removed.into_iter().find(|item| item.key.kind == ObjectKind::Post);
    if let Some(RemovedItem { key, removed_at, .. }) = &removed {
        let error = anyhow::anyhow!("{uri} was deleted; this was confirmed at {removed_at}");
        let hint = format!("`highwater removed restore {}` brings its text back", key.id);
        return Ok(error.context(ErrorHint(hint)));
    }
    let account = store.accounts()?.into_iter().find(|account| account.feed.did == *uri.did());
    if let Some(account) = &account {
        warn_if_incomplete(account.name(), store)?;
    }
    let hint = match account {
        Some(account) => format!(
            "this workspace follows {}: the post may be deleted, older than its first poll reads, or newer than the \
             last poll (`highwater bluesky poll`)",
            account.name()
        ),
        None => format!(
            "`highwater bluesky add {}` follows its account; then `highwater bluesky poll` reads its posts",
            uri.did()
        ),
    };
    Ok(anyhow::anyhow!("{uri} is not in this workspace").context(ErrorHint(hint)))
}
