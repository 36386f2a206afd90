//! A simulated service on a socket, for programs that need HTTP.
//!
//! The caller passes in the clock and the way to wait.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::bluesky::SimulatedAppView;
use crate::github::{DelayedResponse, SimulatedGitHub, WireOutcome};

const MAX_HEAD_BYTES: usize = 64 * 1024;
const MAX_BODY_BYTES: usize = 8 * 1024 * 1024;

/// A wait on the caller's clock.
pub type WaitFuture = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A service that answers requests at times that the caller passes in.
pub trait SimulatedService: Send {
    /// Answers a full HTTP/1.1 request that arrives at `now_ms`.
    fn respond(&mut self, request: &[u8], now_ms: i64) -> DelayedResponse;
}

impl SimulatedService for SimulatedGitHub {
    fn respond(&mut self, request: &[u8], now_ms: i64) -> DelayedResponse {
        self.handle_request(request, now_ms)
    }
}

impl SimulatedService for SimulatedAppView {
    fn respond(&mut self, request: &[u8], now_ms: i64) -> DelayedResponse {
        Self::respond(self, request, now_ms)
    }
}

/// Serves all connections until its future is dropped. `now` returns the time in milliseconds, `wait` waits for a
/// number of milliseconds.
///
/// # Errors
///
/// Fails if the listener cannot accept connections.
pub async fn serve<S: SimulatedService + 'static>(
    service: Arc<Mutex<S>>,
    now: impl Fn() -> i64 + Send + Sync + 'static,
    wait: impl Fn(u64) -> WaitFuture + Send + Sync + 'static,
    listener: TcpListener,
) -> io::Result<()> {
    let server = Arc::new(SimulatorServer { service, now, wait });
    let mut connections = tokio::task::JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                let (stream, _) = accepted?;
                let server = Arc::clone(&server);
                connections.spawn(async move { server.serve_connection(stream).await });
            }
            // how a connection ended does not matter to the others
            Some(_) = connections.join_next() => {}
        }
    }
}

struct SimulatorServer<S, N, W> {
    service: Arc<Mutex<S>>,
    now: N,
    wait: W,
}

/// The state of a connection after a response: an open one can carry another request.
#[derive(PartialEq, Eq)]
enum StreamState {
    Open,
    Closed,
}

impl<S: SimulatedService, N: Fn() -> i64, W: Fn(u64) -> WaitFuture> SimulatorServer<S, N, W> {
    /// Serves one connection, request after request.
    async fn serve_connection(&self, mut stream: TcpStream) -> io::Result<()> {
        stream.set_nodelay(true)?;
        let mut buffer = Vec::new();
        while let Some(request) = read_request(&mut stream, &mut buffer).await? {
            let response = self.answer_request(&request);
            (self.wait)(response.latency_ms).await;
            if deliver_outcome(&mut stream, response.outcome).await? == StreamState::Closed {
                break;
            }
        }
        Ok(())
    }

    fn answer_request(&self, request: &[u8]) -> DelayedResponse {
        let mut service = self.service.lock().unwrap_or_else(PoisonError::into_inner);
        service.respond(request, (self.now)())
    }
}

async fn deliver_outcome(stream: &mut TcpStream, outcome: WireOutcome) -> io::Result<StreamState> {
    match outcome {
        WireOutcome::Response(bytes) => {
            stream.write_all(&bytes).await?;
            return Ok(StreamState::Open);
        }
        WireOutcome::Truncated(bytes) => {
            stream.write_all(&bytes).await?;
            stream.shutdown().await?;
        }
        // closing without lingering makes the kernel send a reset
        WireOutcome::Reset => stream.set_zero_linger()?,
        WireOutcome::Stall => drain_until_closed(stream).await,
    }
    Ok(StreamState::Closed)
}

async fn drain_until_closed(stream: &mut TcpStream) {
    let mut ignored = [0; 1024];
    while matches!(stream.read(&mut ignored).await, Ok(1..)) {}
}

/// Reads the next complete request of a connection; returns `None` once the client has closed it.
async fn read_request(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> io::Result<Option<Vec<u8>>> {
    let mut chunk = [0; 16 * 1024];
    loop {
        if let Some(length) = request_length(buffer)?
            && buffer.len() >= length
        {
            let rest = buffer.split_off(length);
            return Ok(Some(std::mem::replace(buffer, rest)));
        }
        let count = stream.read(&mut chunk).await?;
        if count == 0 {
            return Ok(None);
        }
        buffer.extend_from_slice(&chunk[..count]);
    }
}

/// Returns the length of the request at the start of these bytes, once its head is complete.
fn request_length(bytes: &[u8]) -> io::Result<Option<usize>> {
    let mut headers = [httparse::EMPTY_HEADER; 64];
    let mut request = httparse::Request::new(&mut headers);
    match request.parse(bytes) {
        Ok(httparse::Status::Complete(head)) => {
            let body = content_length(request.headers).ok_or_else(|| invalid_data("no length"))?;
            if body > MAX_BODY_BYTES {
                Err(invalid_data("body too large"))
            } else {
                Ok(Some(head + body))
            }
        }
        Ok(httparse::Status::Partial) if bytes.len() <= MAX_HEAD_BYTES => Ok(None),
        Ok(httparse::Status::Partial) => Err(invalid_data("head too large")),
        Err(error) => Err(invalid_data(&error.to_string())),
    }
}

fn invalid_data(reason: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, reason.to_owned())
}

/// Returns zero if there is no length, and `None` if it is not a number.
fn content_length(headers: &[httparse::Header<'_>]) -> Option<usize> {
    let header = headers.iter().find(|header| header.name.eq_ignore_ascii_case("content-length"));
    let Some(header) = header else { return Some(0) };
    std::str::from_utf8(header.value).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bluesky::{AppViewFault, BlueskySpec, XrpcEndpoint};
    use crate::{ApiFault, WorldSpec};

    const USER: &[u8] =
        b"GET /user HTTP/1.1\r\nHost: localhost\r\nUser-Agent: t\r\nAuthorization: Bearer t\r\n\r\n";

    #[tokio::test]
    async fn server_serves_many_requests_on_one_connection() {
        let (mut stream, _github) = connect_client(None).await;
        for _ in 0..3 {
            stream.write_all(USER).await.unwrap();
            let response = read_some(&mut stream).await;
            assert!(
                response.starts_with("HTTP/1.1 200 OK") && response.contains("anchor"),
                "{response}"
            );
        }
    }

    #[tokio::test]
    async fn server_truncates_a_response_before_its_length() {
        let (mut stream, _github) = connect_client(Some(ApiFault::Truncated)).await;
        stream.write_all(USER).await.unwrap();
        let mut response = String::new();
        stream.read_to_string(&mut response).await.unwrap();
        assert!(response.starts_with("HTTP/1.1 200 OK") && !response.ends_with('}'), "{response}");
    }

    #[tokio::test]
    async fn server_resets_a_connection() {
        let (mut stream, _github) = connect_client(Some(ApiFault::Reset)).await;
        stream.write_all(USER).await.unwrap();
        let error = stream.read(&mut [0; 16]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::ConnectionReset);
    }

    #[tokio::test]
    async fn server_serves_an_app_view() {
        let mut app_view = SimulatedAppView::new(&BlueskySpec::small(), 1);
        app_view.script_fault(XrpcEndpoint::Profile, 2, AppViewFault::Truncated);
        let did = app_view.world().dids().remove(0);
        let mut stream = connect_to(Arc::new(Mutex::new(app_view))).await;
        let request = format!(
            "GET /xrpc/app.bsky.actor.getProfile?actor={did} HTTP/1.1\r\nHost: localhost\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).await.unwrap();
        let response = read_some(&mut stream).await;
        assert!(response.starts_with("HTTP/1.1 200 OK") && response.contains(&did), "{response}");
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut truncated = String::new();
        stream.read_to_string(&mut truncated).await.unwrap();
        assert!(!truncated.ends_with('}'), "{truncated}");
    }

    async fn connect_client(fault: Option<ApiFault>) -> (TcpStream, Arc<Mutex<SimulatedGitHub>>) {
        let mut github = SimulatedGitHub::new(&WorldSpec::small(), 1);
        if let Some(fault) = fault {
            github.arm_fault(fault, 1);
        }
        let github = Arc::new(Mutex::new(github));
        (connect_to(Arc::clone(&github)).await, github)
    }

    async fn connect_to<S: SimulatedService + 'static>(service: Arc<Mutex<S>>) -> TcpStream {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(serve(service, || 0, wait_not_at_all, listener));
        TcpStream::connect(address).await.unwrap()
    }

    fn wait_not_at_all(_ms: u64) -> WaitFuture {
        Box::pin(std::future::ready(()))
    }

    async fn read_some(stream: &mut TcpStream) -> String {
        let mut chunk = vec![0; 8192];
        let count = stream.read(&mut chunk).await.unwrap();
        String::from_utf8(chunk[..count].to_vec()).unwrap()
    }
}
