//! The transport to a simulated service: request bytes in, response bytes out, no socket.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use http::{HeaderName, HeaderValue};
use hw_sim::WireOutcome;
use hw_sim::server::SimulatedService;
use hw_sources::transport::{HttpRequest, HttpResponse, ResponseFuture, Transport, TransportError};

use super::{SimFixture, VirtualClock};

pub(crate) struct SimTransport {
    service: Arc<Mutex<dyn SimulatedService>>,
    clock: Arc<VirtualClock>,
    undelivered: Arc<AtomicU64>,
    reconnects: Arc<AtomicU64>,
    skew_ms: i64,
}

impl SimTransport {
    pub(crate) fn new(fixture: &SimFixture) -> Self {
        Self {
            undelivered: Arc::clone(&fixture.undelivered),
            reconnects: Arc::clone(&fixture.reconnects),
            skew_ms: fixture.skew_ms,
            ..Self::to_service(fixture.github.clone(), &fixture.clock)
        }
    }

    /// Creates a transport to any service, whose clock agrees with the machine's.
    pub(crate) fn to_service(
        service: Arc<Mutex<dyn SimulatedService>>,
        clock: &Arc<VirtualClock>,
    ) -> Self {
        Self {
            service,
            clock: Arc::clone(clock),
            undelivered: Arc::default(),
            reconnects: Arc::default(),
            skew_ms: 0,
        }
    }
}

impl Transport for SimTransport {
    fn send(&self, request: HttpRequest) -> ResponseFuture<'_> {
        Box::pin(async move {
            let bytes = request_bytes(&request);
            let now_ms = self.clock.virtual_now_ms() + self.skew_ms;
            let answer = self.service.lock().unwrap().respond(&bytes, now_ms);
            self.undelivered.fetch_add(1, Ordering::SeqCst);
            self.clock.advance_by(answer.latency_ms).await;
            self.undelivered.fetch_sub(1, Ordering::SeqCst);
            match answer.outcome {
                WireOutcome::Response(bytes) => parse_response(&bytes),
                WireOutcome::Truncated(_) => Err(TransportError::new("the body ended early")),
                WireOutcome::Reset => Err(TransportError::new("connection reset")),
                WireOutcome::Stall => std::future::pending().await,
            }
        })
    }

    fn reset_connections(&self) {
        self.reconnects.fetch_add(1, Ordering::SeqCst);
    }
}

fn request_bytes(request: &HttpRequest) -> Vec<u8> {
    let mut parts = request.url.splitn(4, '/').skip(2);
    let (host, path) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let method = request.method.as_str();
    let mut head = format!("{method} /{path} HTTP/1.1\r\nhost: {host}\r\n");
    for (name, value) in &request.headers {
        head.push_str(&format!("{name}: {}\r\n", value.to_str().unwrap()));
    }
    let body = request.body.clone().unwrap_or_default();
    head.push_str(&format!("content-length: {}\r\n\r\n", body.len()));
    [head.into_bytes(), body].concat()
}

fn parse_response(bytes: &[u8]) -> Result<HttpResponse, TransportError> {
    let mut headers = [httparse::EMPTY_HEADER; 64];
    let mut parsed = httparse::Response::new(&mut headers);
    let head = match parsed.parse(bytes) {
        Ok(httparse::Status::Complete(head)) => head,
        other => return Err(TransportError::new(format!("not HTTP: {other:?}"))),
    };
    let headers = parsed.headers.iter().map(|header| {
        let name: HeaderName = header.name.parse().unwrap();
        (name, HeaderValue::from_bytes(header.value).unwrap())
    });
    Ok(HttpResponse {
        status: parsed.code.unwrap_or_default(),
        headers: headers.collect(),
        body: bytes[head..].to_vec(),
    })
}
