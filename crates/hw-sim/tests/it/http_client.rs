//! The real HTTP client against the simulated service on a loopback socket.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use http::header::{AUTHORIZATION, USER_AGENT};
use http::{HeaderMap, HeaderValue, Method};
use hw_sim::server::{WaitFuture, serve};
use hw_sim::{ApiFault, SimulatedGitHub, WorldSpec};
use hw_sources::http_transport::HttpTransport;
use hw_sources::transport::{HttpRequest, HttpResponse, Transport, TransportError};
use hw_sync::clock::{Clock, MachineClock};
use tokio::net::{TcpListener, TcpStream};

/// Long enough for any answer over a loopback socket.
const DEADLINE_MS: i64 = 5000;
/// Short, because a test waits for the whole time.
const SILENCE_MS: i64 = 1500;

#[tokio::test]
async fn http_client_receives_status_headers_and_body() {
    let fixture = HttpFixture::start().await;
    let answer = fixture.send_get("/user").await.unwrap();
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("x-ratelimit-resource"), Some("core"));
    let body: serde_json::Value = serde_json::from_slice(&answer.body).unwrap();
    assert_eq!(body["login"], fixture.with_github(|github| github.world().viewer().to_owned()));
}

#[tokio::test]
async fn http_client_posts_a_query() {
    let fixture = HttpFixture::start().await;
    let answer = fixture.send_query("{ viewer { login } }").await.unwrap();
    let body: serde_json::Value = serde_json::from_slice(&answer.body).unwrap();
    assert_eq!(body["data"]["viewer"]["login"], "anchor");
}

#[tokio::test]
async fn http_client_reports_a_truncated_answer_as_an_error() {
    for fault in [ApiFault::Truncated, ApiFault::Reset] {
        let fixture = HttpFixture::start().await;
        fixture.with_github(|github| github.arm_fault(fault, 1));
        let broken = fixture.send_query("{ viewer { login } }").await;
        assert!(matches!(broken, Err(TransportError { .. })), "{fault:?}: {broken:?}");
        assert_eq!(
            fixture.with_github(|github| github.fired_faults().get(&fault).copied()),
            Some(1)
        );
        assert_eq!(fixture.request_count(), 1, "{fault:?}: the client retried on its own");
        assert_eq!(
            fixture.send_query("{ viewer { login } }").await.unwrap().status,
            200,
            "{fault:?}"
        );
    }
}

#[tokio::test]
async fn http_client_does_not_resend_on_a_broken_reused_connection() {
    for fault in [ApiFault::Truncated, ApiFault::Reset] {
        let fixture = HttpFixture::start().await;
        fixture.send_get("/user").await.unwrap();
        fixture.with_github(|github| github.arm_fault(fault, 1));
        let broken = fixture.send_get("/user").await;
        assert!(matches!(broken, Err(TransportError { .. })), "{fault:?}: {broken:?}");
        assert_eq!(fixture.request_count(), 2, "{fault:?}: the client retried on its own");
    }
}

#[tokio::test]
async fn http_client_gets_no_answer_from_a_stalled_service() {
    let fixture = HttpFixture::start().await;
    fixture.with_github(|github| github.arm_fault(ApiFault::Stall, 1));
    tokio::select! {
        answer = fixture.http.send(get_request(fixture.address, "/user")) => {
            panic!("a stalled service answered: {answer:?}")
        }
        () = wait_ms(SILENCE_MS) => {}
    }
    assert_eq!(
        fixture.with_github(|github| github.fired_faults().get(&ApiFault::Stall).copied()),
        Some(1)
    );
    assert_eq!(fixture.send_get("/user").await.unwrap().status, 200);
}

#[tokio::test]
async fn http_client_returns_redirects_without_following_them() {
    let fixture = HttpFixture::start().await;
    fixture.with_github(|github| {
        let now = WorldSpec::small().start_ms;
        let id = *github.world().truth().repositories.keys().next().unwrap();
        github.world_mut().rename_repository(id, "engine", now);
    });
    let answer = fixture.send_get("/repos/acme/pump").await.unwrap();
    assert_eq!(answer.status, 301);
    assert!(answer.header("location").unwrap().contains("/repositories/"));
    assert_eq!(fixture.request_count(), 1);
}

#[tokio::test]
async fn http_client_reuses_its_connection() {
    let fixture = HttpFixture::start().await;
    for _ in 0..5 {
        assert_eq!(fixture.send_get("/user").await.unwrap().status, 200);
        assert_eq!(fixture.send_query("{ viewer { login } }").await.unwrap().status, 200);
    }
    assert_eq!((fixture.request_count(), fixture.connection_count()), (10, 1));
}

#[tokio::test]
async fn http_client_opens_a_new_connection_after_a_reset() {
    let fixture = HttpFixture::start().await;
    fixture.send_get("/user").await.unwrap();
    fixture.http.reset_connections();
    fixture.send_get("/user").await.unwrap();
    assert_eq!((fixture.request_count(), fixture.connection_count()), (2, 2));
}

/// The simulated service behind a proxy that counts connections, and the real client.
struct HttpFixture {
    github: Arc<Mutex<SimulatedGitHub>>,
    address: SocketAddr,
    connections: Arc<AtomicUsize>,
    http: Arc<HttpTransport>,
}

impl HttpFixture {
    async fn start() -> Self {
        let spec = WorldSpec::small();
        let github = Arc::new(Mutex::new(SimulatedGitHub::new(&spec, 1)));
        let service = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let target = service.local_addr().unwrap();
        let wait = |_| -> WaitFuture { Box::pin(std::future::ready(())) };
        tokio::spawn(serve(Arc::clone(&github), move || spec.start_ms, wait, service));
        let proxy = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = proxy.local_addr().unwrap();
        let connections = Arc::new(AtomicUsize::new(0));
        tokio::spawn(forward_and_count(proxy, target, Arc::clone(&connections)));
        Self { github, address, connections, http: HttpTransport::new().unwrap() }
    }

    async fn send_get(&self, path: &str) -> Result<HttpResponse, TransportError> {
        self.send_request(get_request(self.address, path)).await
    }

    async fn send_query(&self, query: &str) -> Result<HttpResponse, TransportError> {
        let body = serde_json::json!({ "query": query }).to_string().into_bytes();
        let request = get_request(self.address, "/graphql");
        self.send_request(HttpRequest { method: Method::POST, body: Some(body), ..request }).await
    }

    async fn send_request(&self, request: HttpRequest) -> Result<HttpResponse, TransportError> {
        tokio::select! {
            answer = self.http.send(request) => answer,
            () = wait_ms(DEADLINE_MS) => panic!("no answer within the deadline"),
        }
    }

    fn with_github<T>(&self, action: impl FnOnce(&mut SimulatedGitHub) -> T) -> T {
        action(&mut self.github.lock().unwrap())
    }

    fn request_count(&self) -> u64 {
        self.with_github(|github| github.request_log().total)
    }

    fn connection_count(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

fn get_request(address: SocketAddr, path: &str) -> HttpRequest {
    let headers = HeaderMap::from_iter([
        (AUTHORIZATION, HeaderValue::from_static("Bearer t0ken")),
        (USER_AGENT, HeaderValue::from_static("highwater-test")),
    ]);
    HttpRequest { method: Method::GET, url: format!("http://{address}{path}"), headers, body: None }
}

/// Forwards each connection over one of its own and counts it; a reset stays a reset.
async fn forward_and_count(proxy: TcpListener, target: SocketAddr, connections: Arc<AtomicUsize>) {
    while let Ok((mut client, _)) = proxy.accept().await {
        connections.fetch_add(1, Ordering::SeqCst);
        tokio::spawn(async move {
            let mut service = TcpStream::connect(target).await.unwrap();
            if tokio::io::copy_bidirectional(&mut client, &mut service).await.is_err() {
                client.set_zero_linger().unwrap();
            }
        });
    }
}

/// Waits on the machine's clock, not on the simulated world's.
async fn wait_ms(ms: i64) {
    let clock = MachineClock;
    clock.sleep_until(clock.now_ms() + ms).await;
}
