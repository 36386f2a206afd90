//! Tests the server with short timeouts and misbehaving peers.

use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::time::Duration;

use axum::response::Sse;
use axum::response::sse::Event;
use axum::routing::{get, post};
use futures_util::{StreamExt as _, stream};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::task::JoinHandle;
use tokio::time::{interval, timeout};

use super::*;

/// Long enough for a busy machine.
const DEADLINE: Duration = Duration::from_secs(20);
const SHORT_TIMEOUT: Duration = Duration::from_millis(200);
/// More than a socket buffers at once.
const BIG_ANSWER_BYTES: usize = 64 * 1024 * 1024;

#[tokio::test]
async fn server_closes_a_peer_that_sends_nothing() {
    let server =
        TestServer::start(ServerLimits { header: SHORT_TIMEOUT, ..lenient_limits() }).await;
    assert_eq!(server.connect().await.read_rest().await, "");
}

#[tokio::test]
async fn server_closes_a_peer_that_sends_a_header_byte_by_byte() {
    let server =
        TestServer::start(ServerLimits { header: SHORT_TIMEOUT, ..lenient_limits() }).await;
    let mut peer = server.connect().await;
    peer.send("GET / HTTP/1.1\r\nhost: x\r\nx-slow: ").await;
    let (mut reader, mut writer) = peer.0.into_split();
    let dripping = tokio::spawn(async move {
        let mut ticks = interval(SHORT_TIMEOUT / 10);
        while writer.write_all(b"x").await.is_ok() {
            ticks.tick().await;
        }
    });
    let mut rest = Vec::new();
    // the server closes with bytes unread, which may also be a reset
    timeout(DEADLINE, reader.read_to_end(&mut rest)).await.expect("the connection closes").ok();
    assert_eq!(rest, b"");
    timeout(DEADLINE, dripping).await.expect("the connection closes").unwrap();
}

#[tokio::test]
async fn server_closes_a_connection_that_stays_idle_after_an_answer() {
    let server =
        TestServer::start(ServerLimits { header: SHORT_TIMEOUT, ..lenient_limits() }).await;
    let mut peer = server.connect().await;
    peer.send("GET / HTTP/1.1\r\nhost: x\r\n\r\n").await;
    let answer = peer.read_rest().await;
    assert!(answer.starts_with("HTTP/1.1 200") && answer.ends_with("ok"), "{answer}");
}

#[tokio::test]
async fn server_closes_a_peer_whose_body_does_not_end() {
    let server = TestServer::start(ServerLimits { body: SHORT_TIMEOUT, ..lenient_limits() }).await;
    let mut peer = server.connect().await;
    peer.send("POST /echo HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\nhalf").await;
    let answer = peer.read_rest().await;
    assert!(answer.starts_with("HTTP/1.1 400"), "{answer}");
}

#[tokio::test]
async fn server_refuses_a_body_that_is_too_long() {
    let server = TestServer::start(ServerLimits { body_bytes: 3, ..lenient_limits() }).await;
    let mut peer = server.connect().await;
    peer.send("POST /echo HTTP/1.1\r\nhost: x\r\ncontent-length: 4\r\n\r\nlong").await;
    let answer = peer.read_until("HTTP/1.1 413").await;
    assert!(answer.is_some(), "no 413 arrived");
}

#[tokio::test]
async fn server_closes_a_peer_that_stops_reading() {
    let server = TestServer::start(ServerLimits { write: SHORT_TIMEOUT, ..lenient_limits() }).await;
    let mut peer = server.connect().await;
    peer.send("GET /big HTTP/1.1\r\nhost: x\r\n\r\n").await;
    wait_until(|| server.dropped.load(SeqCst) == 1).await;
    let answer = peer.read_rest_bytes().await;
    assert!(answer < BIG_ANSWER_BYTES, "the answer was cut off, not sent: {answer}");
}

#[tokio::test]
async fn server_leaves_a_stream_open_as_long_as_the_peer_reads() {
    let short = ServerLimits {
        header: SHORT_TIMEOUT,
        body: SHORT_TIMEOUT,
        write: SHORT_TIMEOUT,
        ..lenient_limits()
    };
    let server = TestServer::start(short).await;
    let mut peer = server.connect().await;
    peer.send("GET /events HTTP/1.1\r\nhost: x\r\n\r\n").await;
    // events arrive at the interval of the timeouts
    for number in 0..5 {
        let event = peer.read_until(&format!("data: {number}\n")).await;
        assert!(event.is_some(), "event {number} did not arrive");
    }
}

#[tokio::test]
async fn server_at_its_limit_closes_the_oldest_waiting_connection() {
    let server = TestServer::start(ServerLimits { max_connections: 2, ..lenient_limits() }).await;
    let mut busy = server.connect().await;
    busy.send("GET /events HTTP/1.1\r\nhost: x\r\n\r\n").await;
    assert!(busy.read_until("data: 0\n").await.is_some());
    let mut idle = server.connect().await;
    let mut partial = server.connect().await;
    assert_eq!(idle.read_rest().await, "", "the idle one is closed for the next");
    partial.send("GET / HTTP/1.1\r\nhost: x\r\n").await;
    let answer = server.request_path("/").await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert_eq!(partial.read_rest().await, "", "half a request counts as waiting");
    assert!(busy.read_until("data: 1\n").await.is_some(), "the busy one stays open");
}

#[tokio::test]
async fn server_answers_503_only_when_every_connection_is_busy() {
    let server = TestServer::start(ServerLimits { max_connections: 2, ..lenient_limits() }).await;
    let mut streams = [server.connect().await, server.connect().await];
    for stream in &mut streams {
        stream.send("GET /events HTTP/1.1\r\nhost: x\r\n\r\n").await;
        assert!(stream.read_until("data: 0\n").await.is_some());
    }
    let answer = server.request_path("/").await;
    assert!(answer.starts_with("HTTP/1.1 503"), "{answer}");
    assert!(answer.contains("retry-after: 1\r\n") && answer.contains("is busy"), "{answer}");
    drop(streams);
    wait_until_async(async || server.request_path("/").await.starts_with("HTTP/1.1 200")).await;
}

#[tokio::test]
async fn server_never_closes_an_answer_that_is_still_being_read() {
    let server = TestServer::start(ServerLimits { max_connections: 1, ..lenient_limits() }).await;
    let mut reader = server.connect().await;
    reader.send("GET /whole HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").await;
    assert!(reader.read_until("HTTP/1.1 200").await.is_some());
    let answer = server.request_path("/").await;
    assert!(answer.starts_with("HTTP/1.1 503"), "{answer}");
    assert!(reader.read_rest_bytes().await >= BIG_ANSWER_BYTES - 100_000, "the rest arrives");
}

#[tokio::test]
async fn shutdown_does_not_wait_for_a_peer_that_stops_reading() {
    let limits = ServerLimits { shutdown: SHORT_TIMEOUT, ..lenient_limits() };
    let mut server = TestServer::start(limits).await;
    let mut peer = server.connect().await;
    peer.send("GET /big HTTP/1.1\r\nhost: x\r\n\r\n").await;
    assert!(peer.read_until("HTTP/1.1 200").await.is_some());
    server.stop().await;
}

#[tokio::test]
async fn shutdown_finishes_the_answer_under_way() {
    let mut server = TestServer::start(lenient_limits()).await;
    let mut peer = server.connect().await;
    peer.send("GET /slow HTTP/1.1\r\nhost: x\r\n\r\n").await;
    wait_until(|| server.is_slow_requested.load(SeqCst)).await;
    server.stop().await;
    let answer = peer.read_rest().await;
    assert!(answer.ends_with("at last"), "{answer}");
}

/// Returns timeouts that no test reaches.
fn lenient_limits() -> ServerLimits {
    let long = Duration::from_secs(600);
    ServerLimits {
        header: long,
        body: long,
        write: long,
        shutdown: long,
        ..ServerLimits::default()
    }
}

struct TestServer {
    address: std::net::SocketAddr,
    stop: CancellationToken,
    task: JoinHandle<()>,
    /// The number of big answers that hyper dropped.
    dropped: Arc<AtomicUsize>,
    is_slow_requested: Arc<AtomicBool>,
}

impl Drop for TestServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl TestServer {
    async fn start(limits: ServerLimits) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let stop = CancellationToken::new();
        let (dropped, is_slow_requested) = (Arc::default(), Arc::default());
        let router = test_router(&dropped, &is_slow_requested);
        let stopped = stop.clone();
        let task = tokio::spawn(async move { serve(listener, router, limits, &stopped).await });
        Self { address, stop, task, dropped, is_slow_requested }
    }

    async fn connect(&self) -> TestPeer {
        TestPeer(TcpStream::connect(self.address).await.unwrap())
    }

    async fn request_path(&self, path: &str) -> String {
        let mut peer = self.connect().await;
        peer.send(&format!("GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")).await;
        peer.read_rest().await
    }

    async fn stop(&mut self) {
        self.stop.cancel();
        timeout(DEADLINE, &mut self.task).await.expect("the server stops").unwrap();
    }
}

fn test_router(dropped: &Arc<AtomicUsize>, is_slow_requested: &Arc<AtomicBool>) -> Router {
    let (dropped, is_slow_requested) = (Arc::clone(dropped), Arc::clone(is_slow_requested));
    Router::new()
        .route("/", get(async || "ok"))
        .route("/echo", post(async |body: String| body))
        .route("/big", get(move || std::future::ready(big_answer(&dropped))))
        // hyper accepts all of it long before the peer does
        .route("/whole", get(async || vec![b'x'; BIG_ANSWER_BYTES]))
        .route(
            "/slow",
            get(move || {
                is_slow_requested.store(true, SeqCst);
                async {
                    timeout(SHORT_TIMEOUT, std::future::pending::<()>()).await.ok();
                    "at last"
                }
            }),
        )
        .route("/events", get(async || Sse::new(event_stream())))
}

/// Returns a streamed body that counts when it is dropped.
fn big_answer(dropped: &Arc<AtomicUsize>) -> Body {
    let counted = CountedDrop(Arc::clone(dropped));
    Body::from_stream(stream::iter(0..BIG_ANSWER_BYTES / 65_536).map(move |_| {
        let _captured = &counted;
        Ok::<_, Infallible>(vec![b'x'; 65_536])
    }))
}

/// Emits a numbered event every [`SHORT_TIMEOUT`].
fn event_stream() -> impl futures_util::Stream<Item = Result<Event, Infallible>> {
    stream::unfold((0, interval(SHORT_TIMEOUT)), |(number, mut ticks)| async move {
        ticks.tick().await;
        Some((Ok(Event::default().data(number.to_string())), (number + 1, ticks)))
    })
}

struct CountedDrop(Arc<AtomicUsize>);

impl Drop for CountedDrop {
    fn drop(&mut self) {
        self.0.fetch_add(1, SeqCst);
    }
}

struct TestPeer(TcpStream);

impl TestPeer {
    async fn send(&mut self, text: &str) {
        self.0.write_all(text.as_bytes()).await.unwrap();
    }

    /// Reads until the connection closes.
    async fn read_rest(&mut self) -> String {
        let mut rest = Vec::new();
        timeout(DEADLINE, self.0.read_to_end(&mut rest)).await.expect("the connection closes").ok();
        String::from_utf8(rest).unwrap()
    }

    /// Reads until the connection closes or is reset, and returns the number of bytes.
    async fn read_rest_bytes(&mut self) -> usize {
        let (mut count, mut part) = (0, vec![0; 65_536]);
        while let Ok(read @ 1..) =
            timeout(DEADLINE, self.0.read(&mut part)).await.expect("the connection closes")
        {
            count += read;
        }
        count
    }

    /// Reads until this text has arrived; returns `None` if the connection closes first.
    async fn read_until(&mut self, expected: &str) -> Option<()> {
        let mut text = String::new();
        while !text.contains(expected) {
            let mut part = [0; 1];
            let read = timeout(DEADLINE, self.0.read(&mut part)).await.expect("a byte arrives");
            text.push(char::from(*part.get(..read.ok()?)?.first()?));
        }
        Some(())
    }
}

async fn wait_until(condition: impl Fn() -> bool) {
    wait_until_async(async || condition()).await;
}

async fn wait_until_async(condition: impl AsyncFn() -> bool) {
    let mut ticks = interval(SHORT_TIMEOUT / 10);
    let polling = async {
        while !condition().await {
            ticks.tick().await;
        }
    };
    timeout(DEADLINE, polling).await.expect("the condition becomes true");
}
