//! The arguments of `highwater ui`.

use std::net::IpAddr;

use clap::Args;

use super::WorkspaceFlags;
use crate::config::parse_port;
use crate::listen_address::{parse_host_name, parse_ip_address};

/// Serves a workspace to your browser: search, threads, health. Works offline.
///
/// You can start it before the first pull; pages show new data while a pull runs.
/// Only this machine can reach it unless you pass --listen.
///
/// Examples:
///   highwater ui -o acme                 http://127.0.0.1:8080/
///   highwater ui -p 9000
///   highwater ui --listen 192.0.2.7 --allow-host box.example
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct UiArgs {
    /// Port; 0 picks a free one [default: $UI_PORT, else 8080].
    #[arg(short = 'p', long, value_name = "PORT", value_parser = parse_port, allow_negative_numbers = true)]
    pub(crate) port: Option<u16>,

    /// Address to listen on. There is no password: anyone who can reach it can read the workspace.
    /// 0.0.0.0 and :: (all interfaces) require --allow-host.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1", value_parser = parse_ip_address)]
    pub(crate) listen: IpAddr,

    /// Additional host name to accept, such as that of a reverse proxy; the listen address and localhost
    /// are always accepted. Can be repeated.
    #[arg(long = "allow-host", value_name = "NAME", value_delimiter = ',', value_parser = parse_host_name)]
    pub(crate) allowed_hosts: Vec<String>,

    #[command(flatten)]
    pub(crate) workspace: WorkspaceFlags,
}
