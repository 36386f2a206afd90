//! `highwater mcp`

use hw_mcp::{Door, Listener, NotServed, Server, over_stdio};

use crate::cli::Mcp;
use crate::config::Settings;
use crate::http_server::{self, ServerLimits};
use crate::report::{Hint, Interrupted};
use crate::terminal::{tell, warn};
use crate::{interrupt, listening, workspace};

pub(crate) fn run(args: Mcp, settings: &Settings) -> anyhow::Result<()> {
    let door = args.http.map(|address| Door {
        address,
        hosts: args.allow_host,
        token: settings.mcp_token.clone(),
    });
    let find = workspace::finder(settings)?;
    let store = find().and_then(|workspace| workspace.store().map_err(|error| error.to_string()));
    let server = Server::new(find, &args.toolsets, env!("CARGO_PKG_VERSION"));
    // why there is no workspace is told at the start; it may come later
    let no_workspace = store.err();
    match door {
        None => serve_stdio(server, no_workspace.as_deref()),
        Some(door) => interrupt::serve(async |stopped| {
            let listener = Listener::open(door).await.map_err(hinted)?;
            tell(&format!("listening on {}", listener.url()));
            no_workspace.iter().for_each(|why| warn(why));
            let (listener, router) = listener.into_parts(server);
            let limits = ServerLimits::for_this_process();
            http_server::serve(listener, router, limits, stopped).await;
            Ok(())
        }),
    }
}

fn serve_stdio(server: Server, no_workspace: Option<&str>) -> anyhow::Result<()> {
    no_workspace.iter().for_each(|why| warn(why));
    let served = async { Ok(over_stdio(server).await?) };
    match interrupt::run(&interrupt::Stop::default(), served) {
        // to be stopped is how a server ends
        Err(error) if error.is::<Interrupted>() => Ok(()),
        other => other,
    }
}

fn hinted(error: NotServed) -> anyhow::Error {
    let hint = match &error {
        NotServed::NeedsToken(_) => {
            "set HIGHWATER_MCP_TOKEN, or put it into .env in the home directory; --http PORT serves this machine alone".to_owned()
        }
        NotServed::NeedsHost(_) => {
            "name it with --allow-host, as callers will: mcp.example.com".to_owned()
        }
        NotServed::Listen { source, .. } => listening::hint(source, "--http", "--http"),
    };
    anyhow::Error::new(error).context(Hint(hint))
}
