//! Serves the web pages on a port of this machine.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use anyhow::Context as _;
use hw_store::WorkspaceHandle;
use hw_sync::clock::{Clock as _, MachineClock};
use hw_web::{AllowedHosts, SiteOptions, TickFuture};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::config;
use crate::http_server::{self, ServerLimits};
use crate::listen_address::listen_hint;
use crate::report::ErrorHint;

/// The interval of the check for changes, while a page is open.
const TICK_INTERVAL_MS: i64 = 200;

/// The default port of `ui` and `demo`.
pub(crate) const DEFAULT_PORT: u16 = 8080;

pub(crate) struct WebServer {
    listener: TcpListener,
    address: SocketAddr,
}

impl WebServer {
    /// Binds the address.
    pub(crate) async fn bind(address: SocketAddr) -> anyhow::Result<Self> {
        let listener = TcpListener::bind(address).await.map_err(|error| {
            let hint = listen_hint(&error, "--port", "--listen");
            anyhow::Error::new(error)
                .context(format!("cannot listen on {address}"))
                .context(ErrorHint(hint))
        })?;
        let address = listener.local_addr().context("cannot determine the port")?;
        Ok(Self { listener, address })
    }

    /// Binds the default port of this machine, or any free one if it is in use.
    pub(crate) async fn bind_any_port() -> anyhow::Result<Self> {
        match Self::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, DEFAULT_PORT))).await {
            Ok(server) => Ok(server),
            Err(_) => Self::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).await,
        }
    }

    /// Returns the URL to open in a browser.
    pub(crate) fn url(&self) -> String {
        let address = self.address.ip();
        let host =
            if address.is_unspecified() { "127.0.0.1".parse().unwrap_or(address) } else { address };
        format!("http://{}/", SocketAddr::new(host, self.address.port()))
    }

    /// Serves until `stop`; then ends the event streams and finishes the answers under way.
    pub(crate) async fn serve(
        self,
        workspace: WorkspaceHandle,
        allowed_hosts: &[String],
        stop: CancellationToken,
    ) {
        let site = SiteOptions {
            workspace,
            hosts: AllowedHosts::new(self.address, allowed_hosts),
            machine: config::machine_name(),
            now_ms: Arc::new(|| MachineClock.now_ms()),
            ticker: Arc::new(|| -> TickFuture {
                let until = MachineClock.now_ms() + TICK_INTERVAL_MS;
                Box::pin(async move { MachineClock.sleep_until(until).await })
            }),
            shutdown: stop.clone(),
        };
        let limits = ServerLimits::for_this_process();
        http_server::serve(self.listener, hw_web::build_router(site), limits, &stop).await;
    }
}
