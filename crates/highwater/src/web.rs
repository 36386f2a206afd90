//! The web face at work: a port of this machine, and the pages behind it.

use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use anyhow::Context as _;
use hw_store::Workspace;
use hw_sync::clock::{Clock as _, MachineClock};
use hw_web::{Hosts, Site, Tick};
use tokio::net::TcpListener;

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
            let hint = hint(&error);
            anyhow::Error::new(error)
                .context(format!("cannot listen at {address}"))
                .context(Hint(hint.to_owned()))
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

    /// Answers until somebody stops it.
    pub(crate) async fn serve(
        self,
        workspace: Workspace,
        allowed_hosts: &[String],
        stop: impl Future<Output = ()> + Send + 'static,
    ) -> anyhow::Result<()> {
        // replaced by the one of the server itself
        let (_, closing) = hw_web::closing();
        let site = Site {
            workspace,
            hosts: Hosts::of(self.address, allowed_hosts),
            now_ms: Arc::new(|| MachineClock.now_ms()),
            ticker: Arc::new(|| -> Tick {
                let until = MachineClock.now_ms() + TICK_MS;
                Box::pin(async move { MachineClock.sleep_until(until).await })
            }),
            closing,
        };
        hw_web::serve(self.listener, site, stop).await.context("the web server failed")
    }
}

fn hint(error: &std::io::Error) -> &'static str {
    let hints = [
        (
            ErrorKind::AddrInUse,
            "another program has that port: choose one with --port, or any that is free with --port 0",
        ),
        (ErrorKind::AddrNotAvailable, "--listen takes an address of this machine"),
        (
            ErrorKind::PermissionDenied,
            "ports below 1024 are often kept for the system: choose another one with --port",
        ),
    ];
    let hint = hints.iter().find(|(kind, _)| *kind == error.kind()).map(|(_, hint)| *hint);
    hint.unwrap_or("choose another port with --port, or another address with --listen")
}
