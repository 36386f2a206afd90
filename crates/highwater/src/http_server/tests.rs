//! A server with short time-outs, and peers that misbehave.

use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::time::Duration;

use axum::response::Sse;
use axum::response::sse::Event;
use axum::routing::{get, post};
use futures_util::{StreamExt as _, stream};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::{interval, timeout};

use super::*;

/// Long enough for a machine that has other things to do.
const DEADLINE: Duration = Duration::from_secs(20);
const SHORT: Duration = Duration::from_millis(200);
/// So much that no socket takes all of it at once.
const BIG: usize = 64 * 1024 * 1024;

#[tokio::test]
async fn server_closes_a_peer_that_sends_nothing() {
    let server = TestServer::start(ServerLimits { header: SHORT, ..lenient() }).await;
    assert_eq!(server.connect().await.read_rest().await, "");
}

#[tokio::test]
async fn server_closes_a_peer_that_sends_a_header_byte_by_byte() {
    let server = TestServer::start(ServerLimits { header: SHORT, ..lenient() }).await;
    let mut peer = server.connect().await;
    peer.send("GET / HTTP/1.1\r\nhost: x\r\nx-slow: ").await;
    let (mut reader, mut writer) = peer.0.into_split();
    let dripping = tokio::spawn(async move {
        let mut ticks = interval(SHORT / 10);
        while writer.write_all(b"x").await.is_ok() {
            ticks.tick().await;
        }
    });
    let mut rest = Vec::new();
    // closed with bytes unread, so it may also be a reset
    timeout(DEADLINE, reader.read_to_end(&mut rest)).await.expect("it is closed").ok();
    assert_eq!(rest, b"");
    timeout(DEADLINE, dripping).await.expect("it is closed").unwrap();
}

#[tokio::test]
async fn server_closes_a_connection_that_stays_idle_after_an_answer() {
    let server = TestServer::start(ServerLimits { header: SHORT, ..lenient() }).await;
    let mut peer = server.connect().await;
    peer.send("GET / HTTP/1.1\r\nhost: x\r\n\r\n").await;
    let answer = peer.read_rest().await;
    assert!(answer.starts_with("HTTP/1.1 200") && answer.ends_with("well"), "{answer}");
}

#[tokio::test]
async fn server_closes_a_peer_whose_body_does_not_end() {
    let server = TestServer::start(ServerLimits { body: SHORT, ..lenient() }).await;
    let mut peer = server.connect().await;
    peer.send("POST /echo HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\nhalf").await;
    let answer = peer.read_rest().await;
    assert!(answer.starts_with("HTTP/1.1 400"), "{answer}");
}

#[tokio::test]
async fn server_refuses_a_body_that_is_too_long() {
    let server = TestServer::start(ServerLimits { body_bytes: 3, ..lenient() }).await;
    let mut peer = server.connect().await;
    peer.send("POST /echo HTTP/1.1\r\nhost: x\r\ncontent-length: 4\r\n\r\nlong").await;
    let answer = peer.read_until("HTTP/1.1 413").await;
    assert!(answer.is_some(), "no 413 came");
}

#[tokio::test]
async fn server_closes_a_peer_that_stops_reading() {
    let server = TestServer::start(ServerLimits { write: SHORT, ..lenient() }).await;
    let mut peer = server.connect().await;
    peer.send("GET /big HTTP/1.1\r\nhost: x\r\n\r\n").await;
    wait_until(|| server.dropped.load(SeqCst) == 1).await;
    let answer = peer.read_rest_bytes().await;
    assert!(answer < BIG, "the answer was cut off, not sent: {answer}");
}

#[tokio::test]
async fn server_leaves_a_stream_open_as_long_as_the_peer_reads() {
    let short = ServerLimits { header: SHORT, body: SHORT, write: SHORT, ..lenient() };
    let server = TestServer::start(short).await;
    let mut peer = server.connect().await;
    peer.send("GET /events HTTP/1.1\r\nhost: x\r\n\r\n").await;
    // one event in each of the time-outs' lengths
    for number in 0..5 {
        let event = peer.read_until(&format!("data: {number}\n")).await;
        assert!(event.is_some(), "event {number} did not come");
    }
}

#[tokio::test]
async fn server_makes_room_by_closing_the_oldest_waiting_connection() {
    let server = TestServer::start(ServerLimits { max_connections: 2, ..lenient() }).await;
    let mut busy = server.connect().await;
    busy.send("GET /events HTTP/1.1\r\nhost: x\r\n\r\n").await;
    assert!(busy.read_until("data: 0\n").await.is_some());
    let mut idle = server.connect().await;
    let mut partial = server.connect().await;
    assert_eq!(idle.read_rest().await, "", "the idle one is closed for the next");
    partial.send("GET / HTTP/1.1\r\nhost: x\r\n").await;
    let answer = server.ask("/").await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert_eq!(partial.read_rest().await, "", "half a request is none");
    assert!(busy.read_until("data: 1\n").await.is_some(), "the busy one goes on");
}

#[tokio::test]
async fn server_answers_503_only_when_every_connection_is_busy() {
    let server = TestServer::start(ServerLimits { max_connections: 2, ..lenient() }).await;
    let mut streams = [server.connect().await, server.connect().await];
    for stream in &mut streams {
        stream.send("GET /events HTTP/1.1\r\nhost: x\r\n\r\n").await;
        assert!(stream.read_until("data: 0\n").await.is_some());
    }
    let answer = server.ask("/").await;
    assert!(answer.starts_with("HTTP/1.1 503"), "{answer}");
    assert!(answer.contains("retry-after: 1\r\n") && answer.contains("is busy"), "{answer}");
    drop(streams);
    wait_until_async(async || server.ask("/").await.starts_with("HTTP/1.1 200")).await;
}

#[tokio::test]
async fn server_never_closes_an_answer_that_is_still_being_read() {
    let server = TestServer::start(ServerLimits { max_connections: 1, ..lenient() }).await;
    let mut reader = server.connect().await;
    reader.send("GET /whole HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").await;
    assert!(reader.read_until("HTTP/1.1 200").await.is_some());
    let answer = server.ask("/").await;
    assert!(answer.starts_with("HTTP/1.1 503"), "{answer}");
    assert!(reader.read_rest_bytes().await >= BIG - 100_000, "the rest comes");
}

#[tokio::test]
async fn shutdown_does_not_wait_for_a_peer_that_stops_reading() {
    let limits = ServerLimits { shutdown: SHORT, ..lenient() };
    let mut server = TestServer::start(limits).await;
    let mut peer = server.connect().await;
    peer.send("GET /big HTTP/1.1\r\nhost: x\r\n\r\n").await;
    assert!(peer.read_until("HTTP/1.1 200").await.is_some());
    server.stop().await;
}

#[tokio::test]
async fn shutdown_finishes_the_answer_under_way() {
    let mut server = TestServer::start(lenient()).await;
    let mut peer = server.connect().await;
    peer.send("GET /slow HTTP/1.1\r\nhost: x\r\n\r\n").await;
    wait_until(|| server.is_slow_asked.load(SeqCst)).await;
    server.stop().await;
    let answer = peer.read_rest().await;
    assert!(answer.ends_with("at last"), "{answer}");
}

/// Time-outs that no test reaches.
fn lenient() -> ServerLimits {
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
    stop: Option<oneshot::Sender<()>>,
    task: JoinHandle<()>,
    /// Big answers that hyper let go of.
    dropped: Arc<AtomicUsize>,
    is_slow_asked: Arc<AtomicBool>,
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
        let (stop, stopped) = oneshot::channel();
        let (dropped, is_slow_asked) = (Arc::default(), Arc::default());
        let router = router(&dropped, &is_slow_asked);
        let task = tokio::spawn(serve(listener, router, limits, async {
            stopped.await.ok();
        }));
        Self { address, stop: Some(stop), task, dropped, is_slow_asked }
    }

    async fn connect(&self) -> Peer {
        Peer(TcpStream::connect(self.address).await.unwrap())
    }

    async fn ask(&self, path: &str) -> String {
        let mut peer = self.connect().await;
        peer.send(&format!("GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")).await;
        peer.read_rest().await
    }

    async fn stop(&mut self) {
        self.stop.take().unwrap().send(()).unwrap();
        timeout(DEADLINE, &mut self.task).await.expect("it ends").unwrap();
    }
}

fn router(dropped: &Arc<AtomicUsize>, is_slow_asked: &Arc<AtomicBool>) -> Router {
    let (dropped, is_slow_asked) = (Arc::clone(dropped), Arc::clone(is_slow_asked));
    let big = move || {
        let counted = CountedDrop(Arc::clone(&dropped));
        let parts = stream::iter(0..BIG / 65_536).map(move |_| {
            let _kept = &counted;
            Ok::<_, Infallible>(vec![b'x'; 65_536])
        });
        std::future::ready(Body::from_stream(parts))
    };
    let slow = move || {
        is_slow_asked.store(true, SeqCst);
        async {
            timeout(SHORT, std::future::pending::<()>()).await.ok();
            "at last"
        }
    };
    Router::new()
        .route("/", get(async || "well"))
        .route("/echo", post(async |body: String| body))
        .route("/big", get(big))
        // hyper has taken all of it long before the peer has
        .route("/whole", get(async || vec![b'x'; BIG]))
        .route("/slow", get(slow))
        .route("/events", get(async || Sse::new(events())))
}

/// An event every [`SHORT`], numbered.
fn events() -> impl futures_util::Stream<Item = Result<Event, Infallible>> {
    stream::unfold((0, interval(SHORT)), |(number, mut ticks)| async move {
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

struct Peer(TcpStream);

impl Peer {
    async fn send(&mut self, text: &str) {
        self.0.write_all(text.as_bytes()).await.unwrap();
    }

    /// All that comes before the end.
    async fn read_rest(&mut self) -> String {
        let mut rest = Vec::new();
        timeout(DEADLINE, self.0.read_to_end(&mut rest)).await.expect("it ends").ok();
        String::from_utf8(rest).unwrap()
    }

    /// How many bytes come before the end, however it comes.
    async fn read_rest_bytes(&mut self) -> usize {
        let (mut count, mut part) = (0, vec![0; 65_536]);
        while let Ok(read @ 1..) = timeout(DEADLINE, self.0.read(&mut part)).await.expect("it ends")
        {
            count += read;
        }
        count
    }

    /// Reads until this text has come; none when the end came first.
    async fn read_until(&mut self, expected: &str) -> Option<()> {
        let mut text = String::new();
        while !text.contains(expected) {
            let mut part = [0; 1];
            let read = timeout(DEADLINE, self.0.read(&mut part)).await.expect("something comes");
            text.push(char::from(*part.get(..read.ok()?)?.first()?));
        }
        Some(())
    }
}

async fn wait_until(is_true: impl Fn() -> bool) {
    wait_until_async(async || is_true()).await;
}

async fn wait_until_async(is_true: impl AsyncFn() -> bool) {
    let mut ticks = interval(SHORT / 10);
    let waited = async {
        while !is_true().await {
            ticks.tick().await;
        }
    };
    timeout(DEADLINE, waited).await.expect("it comes true");
}
