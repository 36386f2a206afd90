//! The real transport: HTTPS by reqwest.

use std::borrow::Cow;
use std::sync::{Arc, Once, RwLock};
use std::time::Duration;

use http::{HeaderMap, HeaderValue};

use crate::transport::{
    ExchangeStage, HttpRequest, HttpResponse, MAX_BODY_BYTES, ResponseFuture, Transport,
    TransportError,
};

/// Connections to the configured hosts.
pub struct HttpTransport {
    client: RwLock<reqwest::Client>,
    proxy: Option<HttpProxy>,
}

/// A proxy that all requests pass through.
#[derive(Clone)]
pub struct HttpProxy {
    proxy: reqwest::Proxy,
    /// Its address for messages, without credentials.
    display_url: String,
}

impl HttpProxy {
    /// Parses the URL of a proxy, which may carry credentials; `display_url` is the same URL without them.
    pub fn new(url: &str, display_url: String) -> Result<Self, TransportError> {
        let proxy = reqwest::Proxy::all(url).map_err(|error| to_transport_error(&error))?;
        Ok(Self { proxy, display_url })
    }
}

/// The status with which a proxy requests credentials; no other server sends it.
const PROXY_AUTH_REQUIRED: u16 = 407;

impl HttpTransport {
    pub fn new() -> Result<Arc<Self>, TransportError> {
        Self::with_proxy(None)
    }

    /// Creates a transport whose connections pass through a proxy, if one is given.
    pub fn with_proxy(proxy: Option<HttpProxy>) -> Result<Arc<Self>, TransportError> {
        let client = RwLock::new(build_client(proxy.as_ref())?);
        Ok(Arc::new(Self { client, proxy }))
    }

    fn current_client(&self) -> reqwest::Client {
        self.client.read().unwrap_or_else(std::sync::PoisonError::into_inner).clone()
    }
}

/// Builds a client that follows no redirects and uses no proxy except the configured one, so a request reaches the
/// configured host and nothing else, whatever the environment says. Through a proxy, HTTPS is a tunnel: the proxy sees
/// only the host name.
///
/// The system's certificates are trusted; on Linux `SSL_CERT_FILE` and `SSL_CERT_DIR` select others.
fn build_client(proxy: Option<&HttpProxy>) -> Result<reqwest::Client, TransportError> {
    static PROVIDER: Once = Once::new();
    PROVIDER.call_once(|| {
        // a provider that is already installed serves as well
        rustls::crypto::ring::default_provider().install_default().ok();
    });
    let client = reqwest::Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .no_proxy()
        .connect_timeout(Duration::from_secs(10));
    let client = match proxy {
        Some(HttpProxy { proxy, .. }) => client.proxy(proxy.clone()),
        None => client,
    };
    client.build().map_err(|error| to_transport_error(&error))
}

impl Transport for HttpTransport {
    fn send(&self, request: HttpRequest) -> ResponseFuture<'_> {
        let client = self.current_client();
        Box::pin(async move {
            let response = send_with_client(&client, request).await;
            match &self.proxy {
                Some(proxy) => add_proxy_to_error(proxy, response),
                None => response,
            }
        })
    }

    fn reset_connections(&self) {
        if let Ok(fresh) = build_client(self.proxy.as_ref()) {
            *self.client.write().unwrap_or_else(std::sync::PoisonError::into_inner) = fresh;
        }
    }
}

/// Names the proxy in an error, which may be the proxy's own.
fn add_proxy_to_error(
    proxy: &HttpProxy,
    response: Result<HttpResponse, TransportError>,
) -> Result<HttpResponse, TransportError> {
    let error = match response {
        Ok(HttpResponse { status: PROXY_AUTH_REQUIRED, .. }) => {
            TransportError::new(format!("credentials not accepted (status {PROXY_AUTH_REQUIRED})"))
        }
        Err(error) => error,
        Ok(response) => return Ok(response),
    };
    Err(error.through_proxy(&proxy.display_url))
}

async fn send_with_client(
    client: &reqwest::Client,
    request: HttpRequest,
) -> Result<HttpResponse, TransportError> {
    let mut builder = client.request(request.method, &request.url).headers(request.headers);
    if let Some(body) = request.body {
        builder = builder.body(body);
    }
    let mut response = builder.send().await.map_err(|error| to_transport_error(&error))?;
    let status = response.status().as_u16();
    let mut headers = std::mem::take(response.headers_mut());
    replace_invalid_text(&mut headers);
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| to_transport_error(&error))? {
        body.extend_from_slice(&chunk);
        if body.len() > MAX_BODY_BYTES {
            break;
        }
    }
    Ok(HttpResponse { status, headers, body })
}

/// Replaces the bytes of values that are not UTF-8, so that the rest of such a value can be read.
fn replace_invalid_text(headers: &mut HeaderMap) {
    for value in headers.values_mut() {
        if let Cow::Owned(text) = String::from_utf8_lossy(value.as_bytes()) {
            *value = HeaderValue::try_from(text)
                .expect("parts of a header's value and U+FFFD are valid in a header");
        }
    }
}

/// The only sign of a server that closes the connection instead of starting TLS.
const TLS_BROKEN_OFF: &str = "tls handshake eof";

fn to_transport_error(error: &reqwest::Error) -> TransportError {
    let reason = root_cause(error);
    let stage = match error {
        error if !error.is_connect() || error.is_timeout() => ExchangeStage::Exchange,
        error if is_tls_error(error) || reason == TLS_BROKEN_OFF => ExchangeStage::Tls,
        _ => ExchangeStage::Connect,
    };
    let reason = if reason == TLS_BROKEN_OFF {
        "the server closed the connection; it may not use TLS".to_owned()
    } else {
        reason
    };
    TransportError { stage, ..TransportError::new(reason) }
}

/// Returns true if TLS failed. An I/O error wraps the TLS error without naming it as its source.
fn is_tls_error(error: &(dyn std::error::Error + 'static)) -> bool {
    let wrapped = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
    error.is::<rustls::Error>()
        || wrapped.is_some_and(|wrapped| is_tls_error(wrapped))
        || error.source().is_some_and(is_tls_error)
}

/// Returns the innermost cause: the outer ones only name the layer. The URL is left out.
fn root_cause(error: &reqwest::Error) -> String {
    let mut reason = "the request failed".to_owned();
    let mut cause = std::error::Error::source(error);
    while let Some(inner) = cause {
        reason = inner.to_string();
        cause = inner.source();
    }
    reason.split(" (os error").next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use http::header::LOCATION;

    use super::*;

    #[test]
    fn transport_replaces_header_bytes_that_are_not_text() {
        let values: [&[u8]; 2] = [b"caf\xe9", "café".as_bytes()];
        for (value, expected) in values.into_iter().zip(["caf\u{fffd}", "café"]) {
            let value = HeaderValue::from_bytes(value).unwrap();
            let mut headers = HeaderMap::from_iter([(LOCATION, value)]);
            replace_invalid_text(&mut headers);
            let response = HttpResponse { status: 302, headers, body: vec![] };
            assert_eq!(response.header("location"), Some(expected));
        }
    }
}
