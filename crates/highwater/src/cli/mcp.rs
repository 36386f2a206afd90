//! The arguments of `highwater mcp`.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use clap::Args;
use hw_mcp::Toolset;

use super::WorkspaceArgs;
use crate::config::or_nearest;
use crate::listening::host;

/// Serves the mirror to language models, over the Model Context Protocol.
///
/// Never asks GitHub. Speaks over stdin and stdout, as clients on this machine
/// start it; it ends when stdin does. With --http it serves streamable HTTP at
/// /mcp instead, until Ctrl-C. Beyond this machine callers must know a token:
/// HIGHWATER_MCP_TOKEN, or the same in .env.
///
/// Examples:
///   highwater mcp -o acme
///   highwater mcp -o acme --toolsets threads
///   highwater mcp -o acme --http 8765
///   highwater mcp -o acme --http 0.0.0.0:8765 --allow-host mcp.example.com
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Mcp {
    /// Serve streamable HTTP here: a port of this machine, or an address with a port; port 0 takes a free one.
    #[arg(long, value_name = "ADDRESS", value_parser = address)]
    pub(crate) http: Option<SocketAddr>,

    /// A name by which it is called, with or without a port, besides the address itself.
    #[arg(long, value_name = "NAME", value_delimiter = ',', value_parser = host, requires = "http")]
    pub(crate) allow_host: Vec<String>,

    /// Offer more tools: threads (get_thread).
    #[arg(long, value_name = "NAME", value_delimiter = ',', value_parser = toolset)]
    pub(crate) toolsets: Vec<Toolset>,

    #[command(flatten)]
    pub(crate) workspace: WorkspaceArgs,
}

/// A port alone is one of this machine.
fn address(text: &str) -> Result<SocketAddr, String> {
    let here = IpAddr::V4(Ipv4Addr::LOCALHOST);
    let of_port = |port: &str| port.parse().ok().map(|port| SocketAddr::new(here, port));
    let found = match text.strip_prefix("localhost:") {
        Some(port) => of_port(port),
        None => of_port(text).or_else(|| text.parse().ok()),
    };
    found.ok_or_else(|| "neither a port nor an address with one (8765, 192.0.2.1:8765)".to_owned())
}

fn toolset(text: &str) -> Result<Toolset, String> {
    let names = || Toolset::ALL.into_iter().map(Toolset::name);
    Toolset::named(text).ok_or_else(|| {
        let nearest = or_nearest(text, names());
        format!("there are these toolsets: {}{nearest}", names().collect::<Vec<_>>().join(", "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_alone_is_one_of_this_machine() {
        for text in ["8765", "localhost:8765", "127.0.0.1:8765"] {
            assert_eq!(address(text).unwrap().to_string(), "127.0.0.1:8765");
        }
        assert_eq!(address("[::1]:0").unwrap().to_string(), "[::1]:0");
        for text in ["", "x", "65536", "127.0.0.1", "example.com:80", "-1"] {
            assert!(address(text).is_err(), "{text}");
        }
    }
}
