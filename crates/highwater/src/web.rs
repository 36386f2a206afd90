//! The web face at work: a port of this machine, and the pages behind it.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use anyhow::Context as _;
use hw_sync::clock::{Clock as _, MachineClock};
use hw_web::{Find, Hosts, Site, Tick};
use tokio::net::TcpListener;

use crate::http_server::{self, ServerLimits};
use crate::listening::hint;
use crate::report::Hint;

/// How often it is asked whether anything changed, while somebody looks.
const TICK_MS: i64 = 200;

/// The port of `ui` and `demo` when nobody names one.
pub(crate) const PORT: u16 = 8080;

pub(crate) struct Face {
    listener: TcpListener,
    address: SocketAddr,
}

impl Face {
    /// Takes a port.
    pub(crate) async fn open(address: SocketAddr) -> anyhow::Result<Self> {
        let listener = TcpListener::bind(address).await.map_err(|error| {
            let hint = hint(&error, "--port", "--listen");
            anyhow::Error::new(error)
                .context(format!("cannot listen at {address}"))
                .context(Hint(hint))
        })?;
        let address = listener.local_addr().context("cannot tell the port")?;
        Ok(Self { listener, address })
    }

    /// Takes the usual port of this machine, or any when somebody else has it.
    pub(crate) async fn open_somewhere() -> anyhow::Result<Self> {
        let at = |port| SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port);
        match Self::open(at(PORT)).await {
            Ok(face) => Ok(face),
            Err(_) => Self::open(at(0)).await,
        }
    }

    /// Where a browser finds it.
    pub(crate) fn url(&self) -> String {
        let address = self.address.ip();
        let host =
            if address.is_unspecified() { "127.0.0.1".parse().unwrap_or(address) } else { address };
        format!("http://{}/", SocketAddr::new(host, self.address.port()))
    }

    /// Answers until `stop`; then streams of events end, and answers under way are finished.
    pub(crate) async fn serve(
        self,
        find: Find,
        allowed_hosts: &[String],
        stop: impl Future<Output = ()>,
    ) {
        let (close, closing) = hw_web::closing();
        let site = Site {
            find,
            hosts: Hosts::of(self.address, allowed_hosts),
            now_ms: Arc::new(|| MachineClock.now_ms()),
            ticker: Arc::new(|| -> Tick {
                let until = MachineClock.now_ms() + TICK_MS;
                Box::pin(async move { MachineClock.sleep_until(until).await })
            }),
            closing,
        };
        let stop = async move {
            stop.await;
            drop(close);
        };
        let limits = ServerLimits::for_this_process();
        http_server::serve(self.listener, hw_web::router(site), limits, stop).await;
    }
}
