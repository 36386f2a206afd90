//! `highwater show`

mod post;

use hw_rules::item::Repository;
use hw_rules::lane::Surface;
use hw_rules::thread_address::ThreadAddress;
use hw_store::{StoreReader, ThreadView};

use super::read_command;
use crate::cli::ShowArgs;
use crate::columns::{RowWithOwner, comment_columns, thread_columns};
use crate::config::AppSettings;
use crate::markdown;
use crate::report::ErrorHint;
use crate::row_writer::{object_json, row_json};
use crate::show_target::ShowTarget;
use crate::terminal::{StdoutWriter, print_result};

pub(crate) fn run(args: &ShowArgs, settings: &AppSettings) -> anyhow::Result<()> {
    read_command::with_reader(settings, |store| match &args.target {
        ShowTarget::Thread(thread) => show_thread(thread, args, store),
        ShowTarget::Post(post) => post::show_post(post, args, store),
    })
}

fn show_thread(
    address: &ThreadAddress,
    args: &ShowArgs,
    store: &StoreReader,
) -> anyhow::Result<()> {
    if let urls @ [_, _, ..] = store.thread_urls(address)?.as_slice() {
        let error = anyhow::anyhow!("{address} matches several threads: {}", urls.join(", "));
        let hint = "include the owner, as in owner/repo#12, or pass the URL";
        return Err(error.context(ErrorHint(hint.to_owned())));
    }
    let Some(view) = store.find_thread(address)? else {
        return Err(not_found_error(store, address)?);
    };
    if args.json {
        let mut out = StdoutWriter::new();
        out.write_json(&thread_json(&view))?;
        out.finish()?;
    } else {
        print_result(markdown::thread_page(&view).trim_end())?;
    }
    warn_if_incomplete(store, &view)?;
    read_command::check_none_skipped(view.skipped)
}

/// Returns the thread as JSON; `docs/json.md` is the contract.
fn thread_json(view: &ThreadView) -> String {
    let columns = thread_columns(view.row.thread.kind());
    let thread = RowWithOwner { owner: view.owner.clone(), row: view.row.clone() };
    let fields = columns.iter().map(|column| (column.name, (column.value)(&thread).to_string()));
    let comment_columns = comment_columns();
    let comments = view.comments.iter().map(|row| {
        let comment = RowWithOwner { owner: view.owner.clone(), row: row.clone() };
        row_json(&comment_columns, &comment)
    });
    let comments = format!("[{}]", comments.collect::<Vec<_>>().join(","));
    object_json(fields.chain([("comments", comments)]))
}

/// Warns of what may be missing from the thread's own list, and from its comments.
fn warn_if_incomplete(store: &StoreReader, view: &ThreadView) -> anyhow::Result<()> {
    let repository = Some(view.row.repository.as_str());
    let own = Surface::Threads(view.row.thread.kind());
    read_command::warn_incomplete_threads(store, &[own], repository)
}

/// Explains why the thread is not found, as far as the workspace can tell, and suggests what to do.
fn not_found_error(store: &StoreReader, address: &ThreadAddress) -> anyhow::Result<anyhow::Error> {
    let ThreadAddress { owner, repository, number, host } = address;
    let stored = read_command::read_repositories(store)?.rows;
    let has_repository = stored.iter().any(|hosted| is_repository_of(address, &hosted.repository));
    let owner = owner.as_ref().map(|owner| format!("{owner}/")).unwrap_or_default();
    let (message, hint) = if has_repository {
        // warns why it may be missing: a list that was not read, a pull that failed
        read_command::warn_incomplete(
            &store.completeness(&Surface::THREADS, Some(&format!("{owner}{repository}")))?,
        );
        (
            format!("{owner}{repository}#{number} is not in this workspace"),
            "it may have been deleted, be older than your pull window (`highwater pull --window-days 0` reads everything), \
             be newer than the last pull, or be of a kind that you do not pull",
        )
    } else {
        let host = host.as_ref().map(|host| format!(" at {host}")).unwrap_or_default();
        (
            format!("this workspace has no repository named {owner}{repository}{host}"),
            "`highwater list repos` lists the repositories here; -o or --workspace selects another workspace",
        )
    };
    Ok(anyhow::anyhow!(message).context(ErrorHint(hint.to_owned())))
}

fn is_repository_of(address: &ThreadAddress, repository: &Repository) -> bool {
    let owner = address.owner.as_ref();
    owner.is_none_or(|owner| repository.owner.eq_ignore_ascii_case(owner))
        && repository.name.eq_ignore_ascii_case(&address.repository)
        && address.is_at_host_of(&repository.url)
}
