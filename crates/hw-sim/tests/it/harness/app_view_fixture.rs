//! A simulated AppView on the virtual clock.

use std::sync::{Arc, Mutex};

use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderValue, Method};
use hw_sim::bluesky::{BlueskySpec, SimulatedAppView};
use hw_sources::transport::{HttpRequest, HttpResponse, Transport, TransportError};

use super::{SimTransport, VirtualClock};

/// The base of the AppView's URLs, of a name that never exists.
pub(crate) const APP_VIEW_URL: &str = "https://api.bsky.example";

/// A simulated AppView, and the clock it shares with its readers.
pub(crate) struct AppViewFixture {
    pub(crate) app_view: Arc<Mutex<SimulatedAppView>>,
    pub(crate) clock: Arc<VirtualClock>,
}

impl AppViewFixture {
    /// Creates a world from a seed.
    pub(crate) fn new(spec: &BlueskySpec, seed: u64) -> Self {
        Self {
            app_view: Arc::new(Mutex::new(SimulatedAppView::new(spec, seed))),
            clock: Arc::new(VirtualClock::starting_at(spec.start_ms)),
        }
    }

    /// Returns a transport that asks the AppView, with its latency and faults.
    pub(crate) fn transport(&self) -> SimTransport {
        SimTransport::to_service(self.app_view.clone(), &self.clock)
    }

    /// Calls a method with its parameters.
    pub(crate) async fn get(&self, target: &str) -> Result<HttpResponse, TransportError> {
        self.transport().send(xrpc_request(Method::GET, target, None, None)).await
    }

    /// Calls a method with a token.
    pub(crate) async fn get_as(
        &self,
        target: &str,
        token: &str,
    ) -> Result<HttpResponse, TransportError> {
        self.transport().send(xrpc_request(Method::GET, target, Some(token), None)).await
    }

    /// Calls a procedure.
    pub(crate) async fn post(
        &self,
        method: &str,
        token: Option<&str>,
        body: &serde_json::Value,
    ) -> Result<HttpResponse, TransportError> {
        let body = body.to_string().into_bytes();
        self.transport().send(xrpc_request(Method::POST, method, token, Some(body))).await
    }

    /// Reads or changes the world at the current time.
    pub(crate) fn with_app_view<T>(&self, action: impl FnOnce(&mut SimulatedAppView) -> T) -> T {
        let mut app_view = self.app_view.lock().unwrap();
        app_view.advance_to(self.clock.virtual_now_ms());
        action(&mut app_view)
    }
}

fn xrpc_request(
    method: Method,
    target: &str,
    token: Option<&str>,
    body: Option<Vec<u8>>,
) -> HttpRequest {
    let authorization = token
        .map(|token| (AUTHORIZATION, HeaderValue::try_from(format!("Bearer {token}")).unwrap()));
    let headers: HeaderMap = authorization.into_iter().collect();
    HttpRequest { method, url: format!("{APP_VIEW_URL}/xrpc/{target}"), headers, body }
}
