//! The arguments of `highwater ui`.

use std::net::IpAddr;

use clap::Args;

use super::WorkspaceArgs;
use crate::listening::host;

/// Shows a workspace in a browser: search, threads, health. Never asks GitHub.
///
/// It can be started before anything was pulled, and shows a pull's work while it
/// goes on. Only this machine can reach it, unless --listen says otherwise.
///
/// Examples:
///   highwater ui -o acme                 http://127.0.0.1:8080/
///   highwater ui -p 9000
///   highwater ui --listen 192.0.2.7 --allow-host box.example
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Ui {
    /// The port; 0 takes any that is free [default: $UI_PORT, else 8080].
    #[arg(short = 'p', long, value_name = "PORT")]
    pub(crate) port: Option<u16>,

    /// The address to listen at. Whoever can reach it can read the workspace: there is no password.
    /// One that stands for every address of this machine (0.0.0.0, ::) needs --allow-host.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    pub(crate) listen: IpAddr,

    /// Another name under which it may be asked, beside the address and this machine's own names: that of
    /// a proxy, say. Can be given more than once.
    #[arg(long = "allow-host", value_name = "NAME", value_delimiter = ',', value_parser = host)]
    pub(crate) allowed_hosts: Vec<String>,

    #[command(flatten)]
    pub(crate) workspace: WorkspaceArgs,
}
