//! The arguments that are settings.

use super::{Cli, Command, Doctor, Pull, Setting, Ui, WorkspaceArgs, WorkspacesReach};
use crate::config::{self, Flags};

impl Cli {
    /// What was said, for whichever command.
    pub(crate) fn flags(&self) -> Flags {
        let mut flags = Flags::default();
        flags.set(&config::LOG_FORMAT, self.log_format.as_ref());
        match &self.command {
            Command::Pull(args) => pull(&mut flags, args),
            Command::List(args) => workspace(&mut flags, args.what.workspace()),
            Command::Search(args) => workspace(&mut flags, &args.workspace),
            Command::Show(args) => workspace(&mut flags, &args.workspace),
            Command::Removed(args) => workspace(&mut flags, args.what.workspace()),
            Command::Export(args) => workspace(&mut flags, &args.workspace),
            Command::Mcp(args) => workspace(&mut flags, &args.workspace),
            Command::Ui(args) => ui(&mut flags, args),
            Command::Doctor(args) => doctor(&mut flags, args),
            Command::Backup(args) => workspace(&mut flags, &args.workspace),
            Command::Workspaces(args) => workspaces(&mut flags, args.reach()),
            Command::Completions(_) | Command::Man(_) => {}
            Command::Demo(args) => flags.home = args.home.clone(),
            Command::Init(args) => {
                flags.home = args.home.clone();
                flags.set(&config::ORGANIZATION, args.organization.as_ref());
            }
            Command::Config(args) => {
                let Setting::Show(args) = &args.what;
                workspace(&mut flags, &args.workspace);
            }
        }
        flags
    }
}

fn pull(flags: &mut Flags, args: &Pull) {
    workspace(flags, &args.workspace);
    flags.set(&config::TOKEN, args.token.as_ref());
    flags.set(&config::ITEMS, joined(&args.items));
    flags.set(&config::EXCLUDED_REPOSITORIES, joined(&args.excluded_repositories));
    flags.set(&config::WINDOW_DAYS, args.window_days);
    flags.set(&config::PACE, args.pace.as_ref());
    flags.set(&config::RESERVE, args.reserve);
    flags.set(&config::API_URL, args.api_url.as_ref());
    flags.set(&config::GRAPHQL_URL, args.graphql_url.as_ref());
}

fn ui(flags: &mut Flags, args: &Ui) {
    workspace(flags, &args.workspace);
    flags.set(&config::UI_PORT, args.port);
}

fn doctor(flags: &mut Flags, args: &Doctor) {
    workspace(flags, &args.workspace);
    flags.set(&config::TOKEN, args.token.as_ref());
    flags.set(&config::API_URL, args.api_url.as_ref());
    flags.set(&config::GRAPHQL_URL, args.graphql_url.as_ref());
}

fn workspace(flags: &mut Flags, args: &WorkspaceArgs) {
    flags.home = args.home.clone();
    flags.set(&config::WORKSPACE, args.workspace.as_ref());
    flags.set(&config::ORGANIZATION, args.organization.as_ref());
    flags.set(&config::DATABASE, args.database.as_ref());
}

fn workspaces(flags: &mut Flags, reach: &WorkspacesReach) {
    flags.home = reach.home.clone();
    flags.set(&config::DATABASE, reach.database.as_ref());
}

/// None when the flag was not given: an empty list is one, too.
fn joined(texts: &[String]) -> Option<String> {
    (!texts.is_empty()).then(|| texts.join(","))
}
