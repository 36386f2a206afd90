//! Collects the arguments that are also settings.

use super::{
    Cli, CliCommand, ConfigCommand, DoctorArgs, PullArgs, UiArgs, WorkspaceFlags,
    WorkspaceRootFlags,
};
use crate::config::{self, FlagSettings};

impl Cli {
    /// Returns the settings given as flags, whichever command is run.
    pub(crate) fn flag_settings(&self) -> FlagSettings {
        let mut flags = FlagSettings::default();
        flags.set(&config::LOG_FORMAT, self.log_format.as_ref());
        match &self.command {
            CliCommand::Pull(args) => set_pull_flags(&mut flags, args),
            CliCommand::Service(args) => set_workspace_flags(&mut flags, &args.workspace),
            CliCommand::List(args) => {
                set_workspace_flags(&mut flags, args.command.workspace_flags());
            }
            CliCommand::Search(args) => set_workspace_flags(&mut flags, &args.workspace),
            CliCommand::Show(args) => set_workspace_flags(&mut flags, &args.workspace),
            CliCommand::Removed(args) => {
                set_workspace_flags(&mut flags, args.command.workspace_flags());
            }
            CliCommand::Export(args) => set_workspace_flags(&mut flags, &args.workspace),
            CliCommand::Mcp(args) => set_workspace_flags(&mut flags, &args.workspace),
            CliCommand::Ui(args) => set_ui_flags(&mut flags, args),
            CliCommand::Doctor(args) => set_doctor_flags(&mut flags, args),
            CliCommand::Backup(args) => set_workspace_flags(&mut flags, &args.workspace),
            CliCommand::Bluesky(args) => {
                set_workspace_flags(&mut flags, args.command.workspace_flags());
                flags.set(&config::BLUESKY_URL, args.command.url());
            }
            CliCommand::Watch(args) => {
                set_workspace_flags(&mut flags, args.command.workspace_flags());
            }
            CliCommand::Events(args) => {
                set_workspace_flags(&mut flags, args.command.workspace_flags());
            }
            CliCommand::Sources(args) => set_workspace_flags(&mut flags, args.workspace_flags()),
            CliCommand::Workspaces(args) => set_root_flags(&mut flags, args.root_flags()),
            CliCommand::Completions(_) | CliCommand::Man(_) => {}
            CliCommand::Demo(args) => flags.home = args.home.clone(),
            CliCommand::Init(args) => {
                flags.home = args.home.clone();
                flags.set(&config::ORGANIZATION, args.organization.as_ref());
            }
            CliCommand::Config(args) => {
                let ConfigCommand::Show(args) = &args.command;
                set_workspace_flags(&mut flags, &args.workspace);
            }
        }
        flags
    }
}

fn set_pull_flags(flags: &mut FlagSettings, args: &PullArgs) {
    set_workspace_flags(flags, &args.workspace);
    flags.set(&config::TOKEN, args.token.as_ref());
    flags.set(&config::ITEMS, join_list(&args.items));
    flags.set(&config::EXCLUDED_REPOSITORIES, join_list(&args.excluded_repositories));
    flags.set(&config::WINDOW_DAYS, args.window_days);
    flags.set(&config::PACE, args.pace.as_ref());
    flags.set(&config::RESERVE, args.reserve);
    flags.set(&config::API_URL, args.api_url.as_ref());
    flags.set(&config::GRAPHQL_URL, args.graphql_url.as_ref());
}

fn set_ui_flags(flags: &mut FlagSettings, args: &UiArgs) {
    set_workspace_flags(flags, &args.workspace);
    flags.set(&config::UI_PORT, args.port);
}

fn set_doctor_flags(flags: &mut FlagSettings, args: &DoctorArgs) {
    set_workspace_flags(flags, &args.workspace);
    flags.set(&config::TOKEN, args.token.as_ref());
    flags.set(&config::API_URL, args.api_url.as_ref());
    flags.set(&config::GRAPHQL_URL, args.graphql_url.as_ref());
}

fn set_workspace_flags(flags: &mut FlagSettings, args: &WorkspaceFlags) {
    flags.home = args.home.clone();
    flags.set(&config::WORKSPACE, args.workspace.as_ref());
    flags.set(&config::ORGANIZATION, args.organization.as_ref());
    flags.set(&config::DATABASE, args.database.as_ref());
}

fn set_root_flags(flags: &mut FlagSettings, args: &WorkspaceRootFlags) {
    flags.home = args.home.clone();
    flags.set(&config::DATABASE, args.database.as_ref());
}

/// Joins the values of a list flag; returns `None` if the flag is absent.
fn join_list(texts: &[String]) -> Option<String> {
    (!texts.is_empty()).then(|| texts.join(","))
}
