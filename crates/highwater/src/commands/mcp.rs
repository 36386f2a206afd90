//! `highwater mcp`

use std::sync::Arc;

use hw_mcp::{HttpListener, HttpOptions, ListenError, McpServer, serve_over_stdio};
use hw_store::{StoreError, WorkspaceHandle};
use hw_sync::clock::{Clock as _, MachineClock};
use tokio_util::sync::CancellationToken;

use crate::cli::McpArgs;
use crate::config::{self, AppSettings};
use crate::http_server::{self, ServerLimits};
use crate::report::{ErrorHint, InterruptedError};
use crate::terminal::{print_status, print_warning};
use crate::{interrupt, listen_address, workspace};

pub(crate) fn run(args: McpArgs, settings: &AppSettings) -> anyhow::Result<()> {
    let http = args.http.map(|address| HttpOptions {
        address,
        hosts: args.allow_host,
        token: settings.mcp_token.clone(),
    });
    let find = workspace::workspace_finder(settings)?;
    let store = find()
        .and_then(|workspace| workspace.open_store().map_err(|error| describe_open_error(&error)));
    let server = McpServer::new(
        WorkspaceHandle::new(find),
        &args.toolsets,
        env!("CARGO_PKG_VERSION"),
        Arc::new(|| MachineClock.now_ms()),
        Arc::new(config::new_lease_token),
    );
    // a missing workspace is only a warning: a pull may create it later
    let warning = store.err();
    match http {
        None => serve_stdio(server, warning.as_deref()),
        Some(http) => interrupt::run_until_stopped(async |stop| {
            let listener = HttpListener::bind(http).await.map_err(listen_error)?;
            print_status(&format!("listening on {}", listener.url()));
            warning.iter().for_each(|warning| print_warning(warning));
            let (listener, router) = listener.into_parts(server);
            let limits = ServerLimits::for_this_process();
            http_server::serve(listener, router, limits, &stop).await;
            Ok(())
        }),
    }
}

/// Returns the warning about a workspace that cannot be opened now.
fn describe_open_error(error: &StoreError) -> String {
    if matches!(error, StoreError::NoDatabase(_)) {
        return format!("{error} yet; calls return an error until the first `highwater pull`");
    }
    error.to_string()
}

fn serve_stdio(server: McpServer, warning: Option<&str>) -> anyhow::Result<()> {
    warning.iter().for_each(|warning| print_warning(warning));
    let served = async { Ok(serve_over_stdio(server).await?) };
    match interrupt::run(&CancellationToken::new(), served) {
        // a server always ends by being stopped
        Err(error) if error.is::<InterruptedError>() => Ok(()),
        other => other,
    }
}

fn listen_error(error: ListenError) -> anyhow::Error {
    let hint = match &error {
        ListenError::NeedsToken(_) => {
            "set HIGHWATER_MCP_TOKEN, in the environment or in .env in the home directory; --http PORT serves only this machine".to_owned()
        }
        ListenError::NeedsHost(_) => {
            "pass the host name that clients use: --allow-host mcp.example.com".to_owned()
        }
        ListenError::Listen { source, .. } => listen_address::listen_hint(source, "--http", "--http"),
    };
    anyhow::Error::new(error).context(ErrorHint(hint))
}
