//! `highwater ui`

use std::net::SocketAddr;
use std::sync::Arc;

use crate::cli::Ui;
use crate::config::Settings;
use crate::report::Hint;
use crate::terminal::{tell, warn};
use crate::web::Face;
use crate::{interrupt, workspace};

pub(crate) fn run(args: &Ui, settings: &Settings) -> anyhow::Result<()> {
    let find = workspace::finder(settings)?;
    let address = SocketAddr::new(args.listen, settings.ui_port);
    check_names(args, address)?;
    interrupt::serve(async |stopped| {
        let face = Face::open(address).await?;
        if !args.listen.is_loopback() {
            warn(
                "EVERYBODY who can reach this address can read the workspace: there is no password",
            );
        }
        if let Ok(Err(hw_store::Error::NoDatabase(place))) = find().map(|it| it.store()) {
            tell(&format!(
                "nothing was pulled yet: there is no database at {place}; when a pull makes it, the \
                 page follows (-o names the organisation, as for `highwater pull`)"
            ));
        }
        tell(&format!("highwater ui: {}", face.url()));
        face.serve(Arc::new(find), &args.allowed_hosts, stopped).await;
        Ok(())
    })
}

/// Whoever comes from another machine asks under a name, and only names that are known are answered.
fn check_names(args: &Ui, address: SocketAddr) -> anyhow::Result<()> {
    if !args.listen.is_unspecified() || !args.allowed_hosts.is_empty() {
        return Ok(());
    }
    let hint = "name it with --allow-host, as browsers will: box.example";
    Err(anyhow::anyhow!(
        "{address} stands for every address of this machine, so it does not tell by which name it is called"
    )
    .context(Hint(hint.to_owned())))
}
