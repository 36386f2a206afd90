//! `highwater show`

use hw_rules::address::ThreadAddress;
use hw_rules::item::Repository;
use hw_rules::lane::Surface;
use hw_store::{Store, ThreadView};

use super::reading;
use crate::cli::ShowThread;
use crate::columns::{WithOwner, of_comments, of_threads};
use crate::config::Settings;
use crate::markdown;
use crate::report::Hint;
use crate::sheet::{object, object_of};
use crate::terminal::{Page, say};

pub(crate) fn run(args: &ShowThread, settings: &Settings) -> anyhow::Result<()> {
    reading::answer(settings, |store| show(args, store))
}

fn show(args: &ShowThread, store: &Store) -> anyhow::Result<()> {
    if let urls @ [_, _, ..] = store.thread_urls(&args.thread)?.as_slice() {
        let error = anyhow::anyhow!("{} names several threads: {}", args.thread, urls.join(", "));
        return Err(
            error.context(Hint("name the owner too, as owner/repo#12, or use its URL".into()))
        );
    }
    let Some(view) = store.thread(&args.thread)? else {
        return Err(not_held(store, &args.thread)?);
    };
    if args.json {
        let mut page = Page::new();
        page.object(&json(&view))?;
        page.end()?;
    } else {
        say(markdown::page(&view).trim_end())?;
    }
    warn(store, &view)?;
    reading::whole(view.skipped)
}

/// The thread for programs; `docs/json.md` is its contract.
fn json(view: &ThreadView) -> String {
    let columns = of_threads(view.row.thread.kind());
    let thread = WithOwner { owner: view.owner.clone(), text: view.row.clone() };
    let fields = columns.iter().map(|(name, value)| (*name, value(&thread).to_string()));
    let of_comments = of_comments();
    let comments = view.comments.iter().map(|row| {
        let comment = WithOwner { owner: view.owner.clone(), text: row.clone() };
        object(&of_comments, &comment)
    });
    let comments = format!("[{}]", comments.collect::<Vec<_>>().join(","));
    object_of(fields.chain([("comments", comments)]))
}

/// What may be missing: of the thread's own list, and of what is said in such threads.
fn warn(store: &Store, view: &ThreadView) -> anyhow::Result<()> {
    let repository = Some(view.row.repository.as_str());
    let kind = view.row.thread.kind();
    let own = Surface::THREADS.into_iter().find(|surface| surface.kind() == kind);
    reading::warn_of_talks(store, own.as_slice(), repository)
}

/// Why there is nothing to show, as far as can be told, and what to do about it.
fn not_held(store: &Store, wanted: &ThreadAddress) -> anyhow::Result<anyhow::Error> {
    let ThreadAddress { owner, repository, number, .. } = wanted;
    let is_it = |it: &Repository| {
        let is_owner = owner.as_ref().is_none_or(|owner| it.owner.eq_ignore_ascii_case(owner));
        is_owner && it.name.eq_ignore_ascii_case(repository) && wanted.is_at_host_of(&it.url)
    };
    let is_there = reading::repositories(store)?.rows.iter().any(|(_, it)| is_it(it));
    let owner = owner.as_ref().map(|owner| format!("{owner}/")).unwrap_or_default();
    let at = wanted.host.as_ref().map(|host| format!(" at {host}")).unwrap_or_default();
    let (what, hint) = if is_there {
        // why it may be missing: a list that was not read, a pull that failed
        reading::warn_of(&store.behind(&Surface::THREADS, Some(&format!("{owner}{repository}")))?);
        (
            format!("{owner}{repository}#{number} is not in this workspace"),
            "it may be older than the window of your pulls (`highwater pull --window-days 0` reads all), \
             newer than the last one, of a kind that is not pulled, or gone",
        )
    } else {
        (
            format!("no repository named {owner}{repository}{at} is in this workspace"),
            "`highwater list repos` shows which are; -o or --workspace name another workspace",
        )
    };
    Ok(anyhow::anyhow!(what).context(Hint(hint.to_owned())))
}
