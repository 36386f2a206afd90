//! The arguments of `highwater pull`.

use clap::Args;
use hw_rules::followed_source::FollowedSource;
use hw_rules::lane::PullItem;

use super::WorkspaceFlags;
use crate::config::{PACE_NAMES, parse_days, parse_percent};
use crate::github_names::{self, RepositorySelector};

/// Downloads organizations, users and repositories from GitHub into a workspace.
///
/// Pulls everything that the workspace follows: the organization or user given with
/// -o, and every source that an earlier pull added. Naming a new source adds it.
/// `highwater sources` lists them, and `highwater sources remove` removes one.
///
/// The first pull reads everything within the window; later pulls read only what
/// changed. You can stop it at any time: everything read so far is saved, and the
/// next pull continues from there. The summary goes to stdout, progress to stderr:
/// a full-screen console on terminals with at least 64 columns and 18 rows (19
/// with comments), otherwise plain lines with UTC times. NO_COLOR is respected.
///
/// Examples:
///   highwater pull -o acme                            everything but comments
///   highwater pull -o acme -i issues,pull-requests    no discussions
///   highwater pull -o acme -i comments                threads and their comments
///   highwater pull -o acme rust-lang/cargo ferris     another repository, a user
///   highwater pull -o acme --repo pump --repo valve   two of its repositories
///   highwater pull -o acme --reconcile                also detects deletions
///   highwater pull -o acme --repair                   re-downloads damaged items
///   highwater pull -o acme --json                     one JSON object at the end
///
/// The token comes from $GITHUB_TOKEN, else from .env in the home directory, else
/// from `gh auth token`. It must have read access to the repositories. The defaults
/// below can also be set in highwater.toml.
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct PullArgs {
    /// Organizations, users, or single repositories as OWNER/REPOSITORY, to follow in this workspace.
    #[arg(value_name = "SOURCE", value_parser = github_names::parse_source)]
    pub(crate) sources: Vec<FollowedSource>,

    #[command(flatten)]
    pub(crate) workspace: WorkspaceFlags,

    /// Token; prefer $GITHUB_TOKEN, which other users on this machine cannot see.
    #[arg(short = 't', long, value_name = "TOKEN")]
    pub(crate) token: Option<String>,

    /// Items to pull, comma-separated [default: $HIGHWATER_ITEMS, else all but comments].
    #[arg(short = 'i', long, value_name = "ITEMS", value_delimiter = ',',
          value_parser = PullItem::ALL.map(PullItem::name))]
    pub(crate) items: Vec<String>,

    /// Delete the chosen items locally and download them again.
    #[arg(short = 'f', long)]
    pub(crate) force: bool,

    /// Repositories whose items are skipped, comma-separated [default: $EXCLUDED_REPOSITORIES].
    #[arg(short = 'e', long, value_name = "NAMES", value_parser = check_repository_list)]
    pub(crate) excluded_repositories: Vec<String>,

    /// Pull only this repository; separate several with commas or repeat the flag.
    #[arg(long, value_name = "NAME", value_parser = SelectorList::parse)]
    pub(crate) repo: Vec<SelectorList>,

    /// Days of history to read for issues, pull requests and their comments; 0 means all
    /// [default: $HIGHWATER_WINDOW_DAYS, else 400].
    #[arg(long, value_name = "DAYS", value_parser = parse_days, allow_negative_numbers = true)]
    pub(crate) window_days: Option<u32>,

    /// Also compare all ids with GitHub's, and remove items that no longer exist there.
    #[arg(long)]
    pub(crate) reconcile: bool,

    /// Verify the text of every stored item first, and download damaged items again.
    #[arg(long)]
    pub(crate) repair: bool,

    /// Allow removing an unusually large number of items at once.
    #[arg(long)]
    pub(crate) allow_mass_removal: bool,

    /// Request pace: `conservative` waits at least a second before each request
    /// [default: $HIGHWATER_PACE, else adaptive].
    #[arg(long, value_name = "PACE", value_parser = PACE_NAMES)]
    pub(crate) pace: Option<String>,

    /// Share of the hourly rate limit to leave for other tools, in percent
    /// [default: $HIGHWATER_RESERVE, else 10].
    #[arg(long, value_name = "PERCENT", value_parser = parse_percent, allow_negative_numbers = true)]
    pub(crate) reserve: Option<i64>,

    /// GitHub's REST API [default: $GITHUB_API_URL, else https://api.github.com].
    #[arg(long, value_name = "URL")]
    pub(crate) api_url: Option<String>,

    /// GitHub's GraphQL API [default: $GITHUB_GRAPHQL_URL, else derived from the REST API].
    #[arg(long, value_name = "URL")]
    pub(crate) graphql_url: Option<String>,

    /// Print one JSON object instead of progress and summary.
    #[arg(long)]
    pub(crate) json: bool,

    /// Print plain lines instead of the full-screen console.
    #[arg(long)]
    pub(crate) no_tui: bool,
}

/// The repositories given in one argument.
#[derive(Clone)]
pub(crate) struct SelectorList(pub(crate) Vec<RepositorySelector>);

impl SelectorList {
    fn parse(text: &str) -> Result<Self, String> {
        github_names::parse_repositories(text).map(Self)
    }
}

/// Checks a list of repositories and returns its text unchanged, because it is also a setting.
fn check_repository_list(text: &str) -> Result<String, String> {
    github_names::parse_optional_repositories(text).map(|_| text.to_owned())
}
