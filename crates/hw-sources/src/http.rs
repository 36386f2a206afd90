//! The real transport: HTTPS by reqwest.

use std::sync::{Arc, Once, RwLock};
use std::time::Duration;

use crate::transport::{Broken, Method, Request, Response, Sending, Transport};

/// Connections to the configured hosts.
pub struct Http {
    client: RwLock<reqwest::Client>,
}

/// The largest answer that is read: GitHub's own pages stay far below.
const LARGEST_BODY: usize = 64 << 20;

impl Http {
    pub fn new() -> Result<Arc<Self>, Broken> {
        Ok(Arc::new(Self { client: RwLock::new(client()?) }))
    }

    fn current(&self) -> reqwest::Client {
        self.client.read().unwrap_or_else(std::sync::PoisonError::into_inner).clone()
    }
}

/// A client without redirects and without proxies: what is sent to the configured host goes nowhere else,
/// whatever the environment says.
fn client() -> Result<reqwest::Client, Broken> {
    static PROVIDER: Once = Once::new();
    PROVIDER.call_once(|| {
        // a provider that somebody else installed before serves as well
        rustls::crypto::ring::default_provider().install_default().ok();
    });
    reqwest::Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .no_proxy()
        .connect_timeout(Duration::from_secs(10))
        .build()
        .map_err(|error| Broken(reason(&error)))
}

impl Transport for Http {
    fn send(&self, request: Request) -> Sending<'_> {
        let client = self.current();
        Box::pin(async move { exchange(&client, request).await })
    }

    fn renew(&self) {
        if let Ok(fresh) = client() {
            *self.client.write().unwrap_or_else(std::sync::PoisonError::into_inner) = fresh;
        }
    }
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
    let mut answer = sending.send().await.map_err(|error| Broken(reason(&error)))?;
    let status = answer.status().as_u16();
    let headers = answer.headers().iter().map(|(name, value)| {
        (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned())
    });
    let headers = headers.collect();
    let mut body = Vec::new();
    while let Some(chunk) = answer.chunk().await.map_err(|error| Broken(reason(&error)))? {
        body.extend_from_slice(&chunk);
        if LARGEST_BODY < body.len() {
            return Err(Broken(format!("the answer is larger than {LARGEST_BODY} bytes")));
        }
    }
    Ok(Response { status, headers, body })
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
