//! The protocol over streamable HTTP, at `/mcp`.
//!
//! A page in a browser must not reach it: the names in `Host` and `Origin` are looked at. Beyond this machine
//! whoever asks needs a token. No session is kept, so nothing grows with the number of callers.

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

use crate::Server;

/// Where it is served.
const PATH: &str = "/mcp";

/// Where to listen, by which names it is called, and what a caller must know.
pub struct Door {
    pub address: SocketAddr,
    /// Names, with or without a port, besides the address itself.
    pub hosts: Vec<String>,
    pub token: Option<SecretString>,
}

/// Why nothing is served.
#[derive(Debug, thiserror::Error)]
pub enum NotServed {
    #[error(
        "{0} can be reached from other machines, and there is no token that they would have to know"
    )]
    NeedsToken(SocketAddr),
    #[error(
        "{0} stands for every address of this machine, so it does not tell by which name it is called"
    )]
    NeedsHost(SocketAddr),
    #[error("cannot listen on {address}")]
    Listen { address: SocketAddr, source: io::Error },
}

/// A door that is open; nobody has come in yet.
pub struct Listener {
    listener: TcpListener,
    address: SocketAddr,
    hosts: Vec<String>,
    token: Option<SecretString>,
}

impl Listener {
    pub async fn open(door: Door) -> Result<Self, NotServed> {
        let Door { address, hosts, token } = door;
        if !address.ip().is_loopback() && token.is_none() {
            return Err(NotServed::NeedsToken(address));
        }
        if address.ip().is_unspecified() && hosts.is_empty() {
            return Err(NotServed::NeedsHost(address));
        }
        let failed = |source| NotServed::Listen { address, source };
        let listener = TcpListener::bind(address).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        Ok(Self { listener, address, hosts, token })
    }

    pub fn url(&self) -> String {
        format!("http://{}{PATH}", self.address)
    }

    /// The socket, and what answers to the requests that come in there.
    pub fn into_parts(self, server: Server) -> (TcpListener, Router) {
        let hosts = hosts(self.address, &self.hosts);
        let config = StreamableHttpServerConfig::default()
            .with_legacy_session_mode(false)
            .with_json_response(true)
            .with_allowed_origins(hosts.iter().flat_map(|host| origins(host)))
            .with_allowed_hosts(with_bare(&hosts))
            .enforce_origin_validation();
        let service = StreamableHttpService::new(
            move || Ok(server.clone()),
            Arc::new(NeverSessionManager::default()),
            config,
        );
        let router = Router::new()
            .route_service(PATH, service)
            .layer(from_fn_with_state(Arc::new(self.token), admit));
        (self.listener, router)
    }
}

/// Lets a request in that knows the token, if there is one.
async fn admit(
    State(token): State<Arc<Option<SecretString>>>,
    request: Request,
    next: Next,
) -> Response {
    match token.as_ref() {
        Some(token) if !knows(request.headers(), token) => {
            let challenge = [(header::WWW_AUTHENTICATE, "Bearer realm=\"highwater\"")];
            (StatusCode::UNAUTHORIZED, challenge, "a bearer token is required\n").into_response()
        }
        Some(_) | None => next.run(request).await,
    }
}

/// Whether the header carries the token. How long it takes says nothing about how much of it was right.
fn knows(headers: &HeaderMap, token: &SecretString) -> bool {
    let given = headers.get(header::AUTHORIZATION).map_or(&b""[..], |value| value.as_bytes());
    let (scheme, given) = given.split_at(given.len().min("Bearer ".len()));
    let is_bearer = scheme.eq_ignore_ascii_case(b"Bearer ");
    is_bearer && bool::from(given.ct_eq(token.expose_secret().as_bytes()))
}

/// The names by which it may be called, as they stand in `Host`.
fn hosts(address: SocketAddr, named: &[String]) -> Vec<String> {
    let port = address.port();
    let own = (!address.ip().is_unspecified()).then(|| address.to_string());
    let here = ["localhost".to_owned(), "127.0.0.1".to_owned(), "[::1]".to_owned()];
    let here = here.iter().map(|name| format!("{name}:{port}"));
    let here = here.filter(|_| is_here(address.ip()));
    own.into_iter().chain(here).chain(named.iter().cloned()).collect()
}

/// The same names, and those with the usual port without it: callers leave it out.
fn with_bare(hosts: &[String]) -> Vec<String> {
    let bare = hosts.iter().filter_map(|host| host.strip_suffix(":80")).map(str::to_owned);
    hosts.iter().cloned().chain(bare).collect()
}

/// Whether this machine reaches it by its names for itself.
fn is_here(address: IpAddr) -> bool {
    address.is_loopback() || address.is_unspecified()
}

/// The origins that belong to a name; a name without a port stands for any.
fn origins(host: &str) -> [String; 2] {
    let has_port = host.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    let port = if has_port { "" } else { ":*" };
    ["http", "https"].map(|scheme| format!("{scheme}://{host}{port}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn on_loopback_it_is_called_by_this_machines_names_with_its_port() {
        let hosts = hosts("127.0.0.1:8765".parse().unwrap(), &[]);
        assert_eq!(hosts, ["127.0.0.1:8765", "localhost:8765", "127.0.0.1:8765", "[::1]:8765"]);
        assert_eq!(origins("localhost:8765"), ["http://localhost:8765", "https://localhost:8765"]);
        assert_eq!(
            origins("mcp.example.com"),
            ["http://mcp.example.com:*", "https://mcp.example.com:*"]
        );
    }

    #[test]
    fn elsewhere_it_is_called_by_its_address_and_the_names_that_were_given() {
        let named = ["mcp.example.com".to_owned()];
        assert_eq!(
            hosts("192.0.2.1:80".parse().unwrap(), &named),
            ["192.0.2.1:80", "mcp.example.com"]
        );
        let anywhere = hosts("0.0.0.0:80".parse().unwrap(), &named);
        assert_eq!(anywhere, ["localhost:80", "127.0.0.1:80", "[::1]:80", "mcp.example.com"]);
    }

    #[test]
    fn the_usual_port_needs_no_saying() {
        let hosts = hosts("[::1]:80".parse().unwrap(), &["mcp.example.com:8080".to_owned()]);
        let allowed = with_bare(&hosts);
        for name in ["[::1]", "localhost", "127.0.0.1", "localhost:80", "mcp.example.com:8080"] {
            assert!(allowed.iter().any(|it| it == name), "{name}: {allowed:?}");
        }
        assert!(!allowed.iter().any(|it| it == "mcp.example.com"), "{allowed:?}");
    }

    #[test]
    fn only_the_whole_token_is_the_token() {
        let token = SecretString::from("s3cret".to_owned());
        let knows = |text: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::AUTHORIZATION, text.parse().unwrap());
            knows(&headers, &token)
        };
        assert!(knows("Bearer s3cret") && knows("bearer s3cret"));
        for wrong in
            ["", "Bearer", "Bearer ", "Bearer s3cre", "Bearer s3cret2", "Basic s3cret", "s3cret"]
        {
            assert!(!knows(wrong), "{wrong}");
        }
        assert!(!super::knows(&HeaderMap::new(), &token));
    }
}
