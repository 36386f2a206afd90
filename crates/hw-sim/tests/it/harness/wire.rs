//! The simulated transport: request bytes in, response bytes out, no socket.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use hw_sim::{GitHub, Outcome};
use hw_sources::transport::{Broken, Request, Response, Sending, Transport};

use super::{Scene, VirtualClock};

pub(crate) struct Wire {
    github: Arc<Mutex<GitHub>>,
    clock: Arc<VirtualClock>,
    undelivered: Arc<AtomicU64>,
    renewed: Arc<AtomicU64>,
    skew_ms: i64,
}

impl Wire {
    pub(crate) fn of(scene: &Scene) -> Self {
        Self {
            github: Arc::clone(&scene.github),
            clock: Arc::clone(&scene.clock),
            undelivered: Arc::clone(&scene.undelivered),
            renewed: Arc::clone(&scene.renewed),
            skew_ms: scene.skew_ms,
        }
    }
}

impl Transport for Wire {
    fn send(&self, request: Request) -> Sending<'_> {
        Box::pin(async move {
            let bytes = bytes_of(&request);
            let now_ms = self.clock.now() + self.skew_ms;
            let answer = self.github.lock().unwrap().handle(&bytes, now_ms);
            self.undelivered.fetch_add(1, Ordering::SeqCst);
            self.clock.pass(answer.latency_ms).await;
            self.undelivered.fetch_sub(1, Ordering::SeqCst);
            match answer.outcome {
                Outcome::Response(bytes) => response(&bytes),
                Outcome::Truncated(_) => Err(Broken::new("the body ended early")),
                Outcome::Reset => Err(Broken::new("connection reset")),
                Outcome::Stall => std::future::pending().await,
            }
        })
    }

    fn renew(&self) {
        self.renewed.fetch_add(1, Ordering::SeqCst);
    }
}

fn bytes_of(request: &Request) -> Vec<u8> {
    let path = request.url.splitn(4, '/').nth(3).unwrap_or_default();
    let mut head =
        format!("{} /{path} HTTP/1.1\r\nhost: api.github.com\r\n", request.method.name());
    for (name, value) in &request.headers {
        head.push_str(&format!("{name}: {}\r\n", value.expose()));
    }
    let body = request.body.clone().unwrap_or_default();
    head.push_str(&format!("content-length: {}\r\n\r\n", body.len()));
    [head.into_bytes(), body].concat()
}

fn response(bytes: &[u8]) -> Result<Response, Broken> {
    let mut headers = [httparse::EMPTY_HEADER; 64];
    let mut parsed = httparse::Response::new(&mut headers);
    let head = match parsed.parse(bytes) {
        Ok(httparse::Status::Complete(head)) => head,
        other => return Err(Broken::new(format!("not HTTP: {other:?}"))),
    };
    let header = |h: &httparse::Header<'_>| {
        (h.name.to_lowercase(), String::from_utf8_lossy(h.value).into_owned())
    };
    Ok(Response {
        status: parsed.code.unwrap_or_default(),
        headers: parsed.headers.iter().map(header).collect(),
        body: bytes[head..].to_vec(),
    })
}
