//! Serves the protocol over streamable HTTP, at `/mcp`.
//!
//! Pages in a browser must not reach it, so `Host` and `Origin` are checked. Callers on other machines need a token.
//! There are no sessions, so memory does not grow with the number of callers.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse as _, Response};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use secrecy::{ExposeSecret as _, SecretString};
use subtle::ConstantTimeEq as _;
use tokio::net::TcpListener;

use crate::McpServer;

/// The path of the endpoint.
const MCP_PATH: &str = "/mcp";

/// Options for the HTTP server.
pub struct HttpOptions {
    pub address: SocketAddr,
    /// Additional host names, with or without a port.
    pub hosts: Vec<String>,
    /// The token that clients must send.
    pub token: Option<SecretString>,
}

/// The server could not start.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    #[error("{0} is reachable from other machines, but no token is set to protect it")]
    NeedsToken(SocketAddr),
    #[error("listening on all interfaces ({0}) requires --allow-host")]
    NeedsHost(SocketAddr),
    #[error("cannot listen on {address}")]
    Listen { address: SocketAddr, source: io::Error },
}

/// A listening socket that does not accept connections yet.
pub struct HttpListener {
    listener: TcpListener,
    address: SocketAddr,
    hosts: Vec<String>,
    token: Option<SecretString>,
}

impl HttpListener {
    pub async fn bind(options: HttpOptions) -> Result<Self, ListenError> {
        let HttpOptions { address, hosts, token } = options;
        if !address.ip().is_loopback() && token.is_none() {
            return Err(ListenError::NeedsToken(address));
        }
        if address.ip().is_unspecified() && hosts.is_empty() {
            return Err(ListenError::NeedsHost(address));
        }
        match listen(address).await {
            Ok((listener, address)) => Ok(Self { listener, address, hosts, token }),
            Err(source) => Err(ListenError::Listen { address, source }),
        }
    }

    pub fn url(&self) -> String {
        format!("http://{}{MCP_PATH}", self.address)
    }

    /// Returns the socket, and the router that answers its requests.
    pub fn into_parts(self, server: McpServer) -> (TcpListener, Router) {
        let hosts = allowed_hosts(self.address, &self.hosts);
        let config = StreamableHttpServerConfig::default()
            .with_legacy_session_mode(false)
            .with_json_response(true)
            .with_allowed_origins(hosts.iter().flat_map(|host| allowed_origins(host)))
            .with_allowed_hosts(with_portless(&hosts))
            .enforce_origin_validation();
        let service = StreamableHttpService::new(
            move || Ok(server.clone()),
            Arc::new(NeverSessionManager::default()),
            config,
        );
        let router = Router::new()
            .route_service(MCP_PATH, service)
            .layer(from_fn_with_state(Arc::new(self.token), require_token));
        (self.listener, router)
    }
}

/// Binds a socket, and returns it with its actual address.
async fn listen(address: SocketAddr) -> io::Result<(TcpListener, SocketAddr)> {
    let listener = TcpListener::bind(address).await?;
    let address = listener.local_addr()?;
    Ok((listener, address))
}

/// Rejects requests without the token, if one is set.
async fn require_token(
    State(token): State<Arc<Option<SecretString>>>,
    request: Request,
    next: Next,
) -> Response {
    match token.as_ref() {
        Some(token) if !has_valid_token(request.headers(), token) => {
            let challenge = [(header::WWW_AUTHENTICATE, "Bearer realm=\"highwater\"")];
            (StatusCode::UNAUTHORIZED, challenge, "a bearer token is required\n").into_response()
        }
        Some(_) | None => next.run(request).await,
    }
}

/// Checks the token in constant time, so that the duration does not reveal how much of it is right.
fn has_valid_token(headers: &HeaderMap, token: &SecretString) -> bool {
    let value = headers.get(header::AUTHORIZATION).map_or(&b""[..], |value| value.as_bytes());
    let (scheme, credentials) = value.split_at(value.len().min("Bearer ".len()));
    let is_bearer = scheme.eq_ignore_ascii_case(b"Bearer ");
    is_bearer && bool::from(credentials.ct_eq(token.expose_secret().as_bytes()))
}

/// Returns the allowed values of `Host`.
fn allowed_hosts(address: SocketAddr, added: &[String]) -> Vec<String> {
    let port = address.port();
    let own = (!address.ip().is_unspecified()).then(|| address.to_string());
    let loopback = ["localhost", "127.0.0.1", "[::1]"]
        .into_iter()
        .filter(|_| is_local_address(address.ip()))
        .map(|name| format!("{name}:{port}"));
    own.into_iter().chain(loopback).chain(added.iter().cloned()).collect()
}

/// Adds the names with port 80 without the port, because clients omit it.
fn with_portless(hosts: &[String]) -> Vec<String> {
    let portless = hosts.iter().filter_map(|host| host.strip_suffix(":80")).map(str::to_owned);
    hosts.iter().cloned().chain(portless).collect()
}

/// Checks whether this machine reaches the address by its loopback names.
fn is_local_address(address: IpAddr) -> bool {
    address.is_loopback() || address.is_unspecified()
}

/// Returns the allowed origins of a host; a host without a port allows any port.
fn allowed_origins(host: &str) -> [String; 2] {
    let has_port = host.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    let port = if has_port { "" } else { ":*" };
    ["http", "https"].map(|scheme| format!("{scheme}://{host}{port}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn allowed_hosts_on_loopback_are_the_loopback_names() {
        let hosts = allowed_hosts("127.0.0.1:8765".parse().unwrap(), &[]);
        assert_eq!(hosts, ["127.0.0.1:8765", "localhost:8765", "127.0.0.1:8765", "[::1]:8765"]);
        assert_eq!(
            allowed_origins("localhost:8765"),
            ["http://localhost:8765", "https://localhost:8765"]
        );
        assert_eq!(
            allowed_origins("mcp.example.com"),
            ["http://mcp.example.com:*", "https://mcp.example.com:*"]
        );
    }

    #[test]
    fn allowed_hosts_elsewhere_are_the_address_and_the_added_names() {
        let added = ["mcp.example.com".to_owned()];
        assert_eq!(
            allowed_hosts("192.0.2.1:80".parse().unwrap(), &added),
            ["192.0.2.1:80", "mcp.example.com"]
        );
        let anywhere = allowed_hosts("0.0.0.0:80".parse().unwrap(), &added);
        assert_eq!(anywhere, ["localhost:80", "127.0.0.1:80", "[::1]:80", "mcp.example.com"]);
    }

    #[test]
    fn allowed_hosts_may_omit_port_80() {
        let hosts =
            allowed_hosts("[::1]:80".parse().unwrap(), &["mcp.example.com:8080".to_owned()]);
        let allowed = with_portless(&hosts);
        for name in ["[::1]", "localhost", "127.0.0.1", "localhost:80", "mcp.example.com:8080"] {
            assert!(allowed.contains(&name.to_owned()), "{name}: {allowed:?}");
        }
        assert!(!allowed.contains(&"mcp.example.com".to_owned()), "{allowed:?}");
    }

    #[test]
    fn token_must_match_as_a_whole() {
        let token = SecretString::from("s3cret".to_owned());
        for right in ["Bearer s3cret", "bearer s3cret"] {
            assert!(has_valid_token(&authorization(right), &token), "{right}");
        }
        for wrong in
            ["", "Bearer", "Bearer ", "Bearer s3cre", "Bearer s3cret2", "Basic s3cret", "s3cret"]
        {
            assert!(!has_valid_token(&authorization(wrong), &token), "{wrong}");
        }
        assert!(!has_valid_token(&HeaderMap::new(), &token));
    }

    fn authorization(value: &str) -> HeaderMap {
        HeaderMap::from_iter([(header::AUTHORIZATION, value.parse().unwrap())])
    }
}
