//! The real transport: HTTPS by reqwest.

use std::sync::{Arc, Once, RwLock};
use std::time::Duration;

use crate::transport::{
    Broken, BrokenStage, LARGEST_BODY, Method, Request, Response, Sending, Transport,
};

/// Connections to the configured hosts.
pub struct Http {
    client: RwLock<reqwest::Client>,
    proxy: Option<Proxy>,
}

/// A proxy that all requests pass through.
#[derive(Clone)]
pub struct Proxy {
    proxy: reqwest::Proxy,
    /// Its address for messages, without credentials.
    shown: String,
}

impl Proxy {
    /// Reads the address of a proxy, which may carry credentials; `shown` is the same without them.
    pub fn new(url: &str, shown: String) -> Result<Self, Broken> {
        let proxy = reqwest::Proxy::all(url).map_err(|error| broken(&error))?;
        Ok(Self { proxy, shown })
    }
}

/// The status with which a proxy asks for credentials; no other server sends it.
const PROXY_AUTHENTICATION: u16 = 407;

impl Http {
    pub fn new() -> Result<Arc<Self>, Broken> {
        Self::through(None)
    }

    /// Connections that pass through a proxy, if there is one.
    pub fn through(proxy: Option<Proxy>) -> Result<Arc<Self>, Broken> {
        let client = RwLock::new(client(proxy.as_ref())?);
        Ok(Arc::new(Self { client, proxy }))
    }

    fn current(&self) -> reqwest::Client {
        self.client.read().unwrap_or_else(std::sync::PoisonError::into_inner).clone()
    }
}

/// A client without redirects, and without a proxy but the configured one: what is sent to the configured host goes
/// nowhere else, whatever the environment says. Through a proxy, HTTPS is a tunnel, and the proxy sees the host alone.
///
/// Certificates are trusted as the system trusts them; on Linux `SSL_CERT_FILE` and `SSL_CERT_DIR` name others.
fn client(proxy: Option<&Proxy>) -> Result<reqwest::Client, Broken> {
    static PROVIDER: Once = Once::new();
    PROVIDER.call_once(|| {
        // a provider that somebody else installed before serves as well
        rustls::crypto::ring::default_provider().install_default().ok();
    });
    let client = reqwest::Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .no_proxy()
        .connect_timeout(Duration::from_secs(10));
    let client = match proxy {
        Some(Proxy { proxy, .. }) => client.proxy(proxy.clone()),
        None => client,
    };
    client.build().map_err(|error| broken(&error))
}

impl Transport for Http {
    fn send(&self, request: Request) -> Sending<'_> {
        let client = self.current();
        Box::pin(async move {
            let answer = exchange(&client, request).await;
            match &self.proxy {
                Some(proxy) => answered_through(proxy, answer),
                None => answer,
            }
        })
    }

    fn renew(&self) {
        if let Ok(fresh) = client(self.proxy.as_ref()) {
            *self.client.write().unwrap_or_else(std::sync::PoisonError::into_inner) = fresh;
        }
    }
}

/// Names the proxy in a failure, which may be its own.
fn answered_through(proxy: &Proxy, answer: Result<Response, Broken>) -> Result<Response, Broken> {
    let broken = match answer {
        Ok(Response { status: PROXY_AUTHENTICATION, .. }) => Broken::new(format!(
            "status {PROXY_AUTHENTICATION}: it does not accept the credentials"
        )),
        Err(broken) => broken,
        Ok(answer) => return Ok(answer),
    };
    let reason = format!("{}, through the proxy {}", broken.reason, proxy.shown);
    Err(broken.with_reason(reason))
}

async fn exchange(client: &reqwest::Client, request: Request) -> Result<Response, Broken> {
    let mut sending = match request.method {
        Method::Get => client.get(&request.url),
        Method::Post => client.post(&request.url),
    };
    for (name, value) in &request.headers {
        sending = sending.header(*name, value.expose());
    }
    if let Some(body) = request.body {
        sending = sending.body(body);
    }
    let mut answer = sending.send().await.map_err(|error| broken(&error))?;
    let status = answer.status().as_u16();
    let headers = answer.headers().iter().map(|(name, value)| {
        (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned())
    });
    let headers = headers.collect();
    let mut body = Vec::new();
    while let Some(chunk) = answer.chunk().await.map_err(|error| broken(&error))? {
        body.extend_from_slice(&chunk);
        if body.len() > LARGEST_BODY {
            break;
        }
    }
    Ok(Response { status, headers, body })
}

fn broken(error: &reqwest::Error) -> Broken {
    let stage = match error {
        error if !error.is_connect() || error.is_timeout() => BrokenStage::Exchange,
        error if is_tls(error) => BrokenStage::Tls,
        _ => BrokenStage::Connect,
    };
    Broken { reason: reason(error), stage }
}

/// Whether TLS failed. An I/O error holds the error of TLS, and does not name it as its source.
fn is_tls(error: &(dyn std::error::Error + 'static)) -> bool {
    let held = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
    error.is::<rustls::Error>()
        || held.is_some_and(|held| is_tls(held))
        || error.source().is_some_and(is_tls)
}

/// The innermost cause: what stands before it only says in which layer it was met. The URL is left out.
fn reason(error: &reqwest::Error) -> String {
    let mut reason = "the request failed".to_owned();
    let mut cause = std::error::Error::source(error);
    while let Some(inner) = cause {
        reason = inner.to_string();
        cause = inner.source();
    }
    reason.split(" (os error").next().unwrap_or_default().to_owned()
}
