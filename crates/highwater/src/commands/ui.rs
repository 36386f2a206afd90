//! `highwater ui`

use std::net::SocketAddr;

use hw_store::Workspace;

use crate::cli::Ui;
use crate::config::Settings;
use crate::terminal::{tell, warn};
use crate::web::Face;
use crate::{interrupt, workspace};

pub(crate) fn run(args: &Ui, settings: &Settings) -> anyhow::Result<()> {
    let workspace = Workspace::at(workspace::place(settings)?);
    let address = SocketAddr::new(args.listen, settings.ui_port);
    interrupt::serve(async |stopped| {
        let face = Face::open(address).await?;
        if !args.listen.is_loopback() {
            warn(
                "EVERYBODY who can reach this address can read the workspace: there is no password",
            );
        }
        if let Err(hw_store::Error::NoDatabase(place)) = workspace.store() {
            tell(&format!(
                "nothing was pulled yet: there is no database at {place}; when a pull makes it, the \
                 page follows (-o names the organisation, as for `highwater pull`)"
            ));
        }
        tell(&format!("highwater ui: {}", face.url()));
        face.serve(workspace, &args.allowed_hosts, stopped).await
    })
}
