//! `highwater ui`

use std::net::SocketAddr;

use hw_store::{StoreError, WorkspaceHandle};

use crate::cli::UiArgs;
use crate::config::AppSettings;
use crate::report::ErrorHint;
use crate::terminal::{print_status, print_warning};
use crate::web_server::WebServer;
use crate::{interrupt, workspace};

pub(crate) fn run(args: &UiArgs, settings: &AppSettings) -> anyhow::Result<()> {
    let find = workspace::workspace_finder(settings)?;
    let address = SocketAddr::new(args.listen, settings.ui_port);
    check_allowed_hosts(args, address)?;
    interrupt::run_until_stopped(async |stop| {
        let server = WebServer::bind(address).await?;
        if !args.listen.is_loopback() {
            print_warning(
                "anyone who can reach this address can read the workspace; there is no password",
            );
        }
        if let Ok(Err(StoreError::NoDatabase(path))) =
            find().map(|workspace| workspace.open_store())
        {
            print_status(&format!(
                "nothing pulled yet: there is no database at {path}; pages fill in after the first `highwater pull` \
                 (use the same -o for both)"
            ));
        }
        print_status(&format!("highwater ui: {}", server.url()));
        server.serve(WorkspaceHandle::new(find), &args.allowed_hosts, stop).await;
        Ok(())
    })
}

/// Requires a host name when listening on all interfaces: the server only answers requests for names that it knows.
fn check_allowed_hosts(args: &UiArgs, address: SocketAddr) -> anyhow::Result<()> {
    if !args.listen.is_unspecified() || !args.allowed_hosts.is_empty() {
        return Ok(());
    }
    let hint = "pass the host name that browsers use: --allow-host box.example";
    let message = format!("listening on all interfaces ({address}) requires --allow-host");
    Err(anyhow::anyhow!(message).context(ErrorHint(hint.to_owned())))
}
