//! The arguments of `highwater pull`.

use clap::Args;
use hw_rules::lane::Choice;

use super::WorkspaceArgs;
use crate::names::{self, Named};

/// Reads an organisation from GitHub into a workspace.
///
/// The first pull reads everything within the window, the next ones read what
/// changed. It can be stopped at any point: what was read is kept, and the next
/// pull goes on from there. The summary goes to stdout. Progress goes to stderr: a
/// console on a terminal of at least 64 columns and 18 rows (19 with comments),
/// and else plain lines with the time in UTC. NO_COLOR is respected.
///
/// Examples:
///   highwater pull -o acme                            everything of acme
///   highwater pull -o acme -i issues,pull-requests    no discussions
///   highwater pull -o acme -i comments                threads and their comments
///   highwater pull -o acme --repo pump --repo valve   two of its repositories
///   highwater pull -o acme --reconcile                also finds what is gone
///   highwater pull -o acme --repair                   reads damaged items again
///   highwater pull -o acme --json                     one JSON object at the end
///
/// The token comes from $GITHUB_TOKEN, else from .env in the home directory, else
/// from `gh auth token`, and must be allowed to read the organisation's
/// repositories. Each default below can be set in highwater.toml, too.
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Pull {
    #[command(flatten)]
    pub(crate) workspace: WorkspaceArgs,

    /// The token [default: $GITHUB_TOKEN, where others on this machine cannot see it].
    #[arg(short = 't', long, value_name = "TOKEN")]
    pub(crate) token: Option<String>,

    /// What to pull, comma separated [default: $HIGHWATER_ITEMS, else all but comments].
    #[arg(short = 'i', long, value_name = "ITEMS", value_delimiter = ',',
          value_parser = Choice::ALL.map(Choice::name))]
    pub(crate) items: Vec<String>,

    /// Forget the chosen items first, and read them anew.
    #[arg(short = 'f', long)]
    pub(crate) force: bool,

    /// Repositories whose items are not pulled, comma separated [default: $EXCLUDED_REPOSITORIES].
    #[arg(short = 'e', long, value_name = "NAMES", value_parser = any_names)]
    pub(crate) excluded_repositories: Vec<String>,

    /// Only this repository; several with commas, or by naming it again.
    #[arg(long, value_name = "NAME", value_parser = Names::some)]
    pub(crate) repo: Vec<Names>,

    /// How many days back issues, pull requests and their comments are read; 0 reads all
    /// [default: $HIGHWATER_WINDOW_DAYS, else 400].
    #[arg(long, value_name = "DAYS")]
    pub(crate) window_days: Option<u32>,

    /// Also compare all ids with GitHub's, and remove what is gone.
    #[arg(long)]
    pub(crate) reconcile: bool,

    /// Verify every stored text first, and read again what is damaged.
    #[arg(long)]
    pub(crate) repair: bool,

    /// Remove what is gone even if it is a lot at once.
    #[arg(long)]
    pub(crate) allow_mass_removal: bool,

    /// How fast to ask: `conservative` waits a second and more before each request
    /// [default: $HIGHWATER_PACE, else adaptive].
    #[arg(long, value_name = "PACE", value_parser = ["adaptive", "conservative"])]
    pub(crate) pace: Option<String>,

    /// How much of the hour's budget is left for your other tools, in percent
    /// [default: $HIGHWATER_RESERVE, else 10].
    #[arg(long, value_name = "PERCENT", value_parser = clap::value_parser!(i64).range(0..=90))]
    pub(crate) reserve: Option<i64>,

    /// GitHub's REST API [default: $GITHUB_API_URL, else https://api.github.com].
    #[arg(long, value_name = "URL")]
    pub(crate) api_url: Option<String>,

    /// GitHub's GraphQL API [default: $GITHUB_GRAPHQL_URL, else the one beside the REST API].
    #[arg(long, value_name = "URL")]
    pub(crate) graphql_url: Option<String>,

    /// Print one JSON object instead of progress and summary.
    #[arg(long)]
    pub(crate) json: bool,

    /// Plain lines instead of the console, also on a terminal.
    #[arg(long)]
    pub(crate) no_tui: bool,
}

/// Repositories as one argument names them.
#[derive(Clone)]
pub(crate) struct Names(pub(crate) Vec<Named>);

impl Names {
    fn some(text: &str) -> Result<Self, String> {
        names::repositories(text).map(Self)
    }
}

/// Repositories that are looked at, and stay text.
fn any_names(text: &str) -> Result<String, String> {
    names::any_repositories(text).map(|_| text.to_owned())
}
