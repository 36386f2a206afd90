//! The arguments of `highwater mcp`.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use clap::Args;
use hw_mcp::Toolset;

use super::WorkspaceFlags;
use crate::config::did_you_mean;
use crate::listen_address::parse_host_name;

/// Serves the workspace to language models over the Model Context Protocol.
///
/// Works offline. By default it uses stdin and stdout, as local clients expect,
/// and exits when stdin closes. With --http it serves streamable HTTP at /mcp
/// instead, until Ctrl-C. Listening beyond this machine requires a token that
/// clients must send: set HIGHWATER_MCP_TOKEN, in the environment or in .env.
///
/// Examples:
///   highwater mcp -o acme
///   highwater mcp -o acme --toolsets threads,events
///   highwater mcp -o acme --http 8765
///   highwater mcp -o acme --http 0.0.0.0:8765 --allow-host mcp.example.com
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct McpArgs {
    /// Serve streamable HTTP on this local port or ADDRESS:PORT; port 0 picks a free one.
    #[arg(long, value_name = "ADDRESS", value_parser = parse_listen_address)]
    pub(crate) http: Option<SocketAddr>,

    /// Host name that clients use, if it is not the listen address; with or without a port.
    #[arg(long, value_name = "NAME", value_delimiter = ',', value_parser = parse_host_name, requires = "http")]
    pub(crate) allow_host: Vec<String>,

    /// Enable additional tools: threads (get_thread), bluesky (list_posts, trending_links),
    /// events (read_events, ack_events).
    #[arg(long, value_name = "NAME", value_delimiter = ',', value_parser = parse_toolset)]
    pub(crate) toolsets: Vec<Toolset>,

    #[command(flatten)]
    pub(crate) workspace: WorkspaceFlags,
}

/// Parses an address to listen on; a bare port means this machine only.
fn parse_listen_address(text: &str) -> Result<SocketAddr, String> {
    let address = match text.strip_prefix("localhost:") {
        Some(port) => parse_local_port(port),
        None => parse_local_port(text).or_else(|| text.parse().ok()),
    };
    address.ok_or_else(|| "expected a port or ADDRESS:PORT (8765, 192.0.2.1:8765)".to_owned())
}

fn parse_local_port(text: &str) -> Option<SocketAddr> {
    let port = text.parse().ok()?;
    Some(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port))
}

fn parse_toolset(text: &str) -> Result<Toolset, String> {
    Toolset::from_name(text).ok_or_else(|| {
        let names = Toolset::ALL.map(Toolset::name);
        let nearest = did_you_mean(text, names.into_iter());
        format!("available toolsets: {}{nearest}", names.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listen_address_with_only_a_port_is_local() {
        for text in ["8765", "localhost:8765", "127.0.0.1:8765"] {
            assert_eq!(parse_listen_address(text).unwrap().to_string(), "127.0.0.1:8765");
        }
        assert_eq!(parse_listen_address("[::1]:0").unwrap().to_string(), "[::1]:0");
        for text in ["", "x", "65536", "127.0.0.1", "example.com:80", "-1"] {
            assert!(parse_listen_address(text).is_err(), "{text}");
        }
    }
}
