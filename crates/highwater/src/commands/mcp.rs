//! `highwater mcp`

use hw_mcp::{Door, Listener, NotServed, Server, over_stdio};
use hw_store::{Place, Workspace};

use crate::cli::Mcp;
use crate::config::Settings;
use crate::report::{Hint, Interrupted};
use crate::terminal::tell;
use crate::{interrupt, workspace};

pub(crate) fn run(args: Mcp, settings: &Settings) -> anyhow::Result<()> {
    let door = args.http.map(|address| Door {
        address,
        hosts: args.allow_host,
        token: settings.mcp_token.clone(),
    });
    let server = Server::new(finder(settings)?, &args.toolsets, env!("CARGO_PKG_VERSION"));
    match interrupt::run(&interrupt::Stop::default(), serve(server, door)) {
        // to be stopped is how a server ends
        Err(error) if error.is::<Interrupted>() => Ok(()),
        other => other,
    }
}

/// Who has named no workspace gets the only one that is there, be it made after the start.
fn finder(
    settings: &Settings,
) -> anyhow::Result<impl Fn() -> Result<Workspace, String> + Send + Sync + use<>> {
    let first = workspace::place(settings)?;
    let unnamed = workspace::is_unnamed(settings).then(|| settings.home.clone()).flatten();
    Ok(move || {
        let found: Option<anyhow::Result<Place>> = unnamed.as_deref().map(workspace::only);
        match found {
            Some(found) => found.map(Workspace::at).map_err(|error| format!("{error:#}")),
            None => Ok(Workspace::at(first.clone())),
        }
    })
}

async fn serve(server: Server, door: Option<Door>) -> anyhow::Result<()> {
    let Some(door) = door else { return Ok(over_stdio(server).await?) };
    let listener = Listener::open(door).await.map_err(hinted)?;
    tell(&format!("listening on {}", listener.url()));
    Ok(listener.serve(server).await?)
}

fn hinted(error: NotServed) -> anyhow::Error {
    let hint = match &error {
        NotServed::NeedsToken(_) => {
            "set HIGHWATER_MCP_TOKEN, or put it into .env in the home directory; --http PORT serves this machine alone"
        }
        NotServed::NeedsHost(_) => "name it with --allow-host, as callers will: mcp.example.com",
        NotServed::Listen { .. } => "is the port taken? --http 0 takes a free one",
        NotServed::Serve(_) => "run it again",
    };
    anyhow::Error::new(error).context(Hint(hint.to_owned()))
}
