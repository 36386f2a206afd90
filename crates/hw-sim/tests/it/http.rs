//! The real client against the simulated service on a loopback socket: what arrives, and what breaks.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use hw_sim::server::{Wait, serve};
use hw_sim::{Fault, GitHub, WorldSpec};
use hw_sources::http::Http;
use hw_sources::transport::{Broken, Method, Request, Response, Secretive, Transport};
use hw_sync::clock::{Clock, MachineClock};
use tokio::net::{TcpListener, TcpStream};

/// Long enough for anything on a loopback socket.
const PATIENCE_MS: i64 = 5000;
/// Short, because a test waits for all of it.
const SILENCE_MS: i64 = 1500;

#[tokio::test]
async fn a_whole_answer_arrives_with_its_status_headers_and_body() {
    let house = House::open().await;
    let answer = house.get("/user").await.unwrap();
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("x-ratelimit-resource"), Some("core"));
    let body: serde_json::Value = serde_json::from_slice(&answer.body).unwrap();
    assert_eq!(body["login"], house.look(|github| github.world().viewer().to_owned()));
}

#[tokio::test]
async fn a_posted_query_is_answered() {
    let house = House::open().await;
    let answer = house.ask("{ viewer { login } }").await.unwrap();
    let body: serde_json::Value = serde_json::from_slice(&answer.body).unwrap();
    assert_eq!(body["data"]["viewer"]["login"], "anchor");
}

#[tokio::test]
async fn an_answer_that_breaks_off_is_no_answer() {
    for fault in [Fault::Truncated, Fault::Reset] {
        let house = House::open().await;
        house.look(|github| github.arm(fault, 1));
        let broken = house.ask("{ viewer { login } }").await;
        assert!(matches!(broken, Err(Broken { .. })), "{fault:?}: {broken:?}");
        assert_eq!(house.look(|github| github.fired().get(&fault).copied()), Some(1));
        assert_eq!(house.requests(), 1, "{fault:?}: the client asked again by itself");
        assert_eq!(house.ask("{ viewer { login } }").await.unwrap().status, 200, "{fault:?}");
    }
}

#[tokio::test]
async fn a_connection_that_served_before_may_break_and_nothing_is_sent_twice() {
    for fault in [Fault::Truncated, Fault::Reset] {
        let house = House::open().await;
        house.get("/user").await.unwrap();
        house.look(|github| github.arm(fault, 1));
        let broken = house.get("/user").await;
        assert!(matches!(broken, Err(Broken { .. })), "{fault:?}: {broken:?}");
        assert_eq!(house.requests(), 2, "{fault:?}: the client asked again by itself");
    }
}

#[tokio::test]
async fn a_service_that_stalls_never_answers() {
    let house = House::open().await;
    house.look(|github| github.arm(Fault::Stall, 1));
    tokio::select! {
        answer = house.http.send(get(house.address, "/user")) => {
            panic!("a stalled service answered: {answer:?}")
        }
        () = passed(SILENCE_MS) => {}
    }
    assert_eq!(house.look(|github| github.fired().get(&Fault::Stall).copied()), Some(1));
    assert_eq!(house.get("/user").await.unwrap().status, 200);
}

#[tokio::test]
async fn a_redirect_is_shown_and_not_followed() {
    let house = House::open().await;
    house.look(|github| {
        let now = WorldSpec::small().start_ms;
        let id = *github.world().truth().repositories.keys().next().unwrap();
        github.world_mut().rename_repository(id, "engine", now);
    });
    let answer = house.get("/repos/acme/pump").await.unwrap();
    assert_eq!(answer.status, 301);
    assert!(answer.header("location").unwrap().contains("/repositories/"));
    assert_eq!(house.requests(), 1);
}

#[tokio::test]
async fn one_connection_serves_several_requests() {
    let house = House::open().await;
    for _ in 0..5 {
        assert_eq!(house.get("/user").await.unwrap().status, 200);
        assert_eq!(house.ask("{ viewer { login } }").await.unwrap().status, 200);
    }
    assert_eq!((house.requests(), house.connections()), (10, 1));
}

#[tokio::test]
async fn a_renewed_client_starts_with_a_new_connection() {
    let house = House::open().await;
    house.get("/user").await.unwrap();
    house.http.renew();
    house.get("/user").await.unwrap();
    assert_eq!((house.requests(), house.connections()), (2, 2));
}

/// The simulated service behind a door that counts who comes in, and the real client.
struct House {
    github: Arc<Mutex<GitHub>>,
    address: SocketAddr,
    connections: Arc<AtomicUsize>,
    http: Arc<Http>,
}

impl House {
    async fn open() -> Self {
        let spec = WorldSpec::small();
        let github = Arc::new(Mutex::new(GitHub::new(&spec, 1)));
        let inside = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let to = inside.local_addr().unwrap();
        let wait = |_| -> Wait { Box::pin(std::future::ready(())) };
        tokio::spawn(serve(Arc::clone(&github), move || spec.start_ms, wait, inside));
        let door = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = door.local_addr().unwrap();
        let connections = Arc::new(AtomicUsize::new(0));
        tokio::spawn(count(door, to, Arc::clone(&connections)));
        Self { github, address, connections, http: Http::new().unwrap() }
    }

    async fn get(&self, path: &str) -> Result<Response, Broken> {
        self.send(get(self.address, path)).await
    }

    async fn ask(&self, query: &str) -> Result<Response, Broken> {
        let body = serde_json::json!({ "query": query }).to_string().into_bytes();
        let request = get(self.address, "/graphql");
        self.send(Request { method: Method::Post, body: Some(body), ..request }).await
    }

    async fn send(&self, request: Request) -> Result<Response, Broken> {
        tokio::select! {
            answer = self.http.send(request) => answer,
            () = passed(PATIENCE_MS) => panic!("nothing came back"),
        }
    }

    fn look<T>(&self, look: impl FnOnce(&mut GitHub) -> T) -> T {
        look(&mut self.github.lock().unwrap())
    }

    fn requests(&self) -> u64 {
        self.look(|github| github.requests().total)
    }

    fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

fn get(address: SocketAddr, path: &str) -> Request {
    Request {
        method: Method::Get,
        url: format!("http://{address}{path}"),
        headers: vec![
            ("authorization", Secretive::Secret("Bearer t0ken".into())),
            ("user-agent", Secretive::Plain("highwater-test".into())),
        ],
        body: None,
    }
}

/// Leads everybody inside, one connection for one connection; a reset stays a reset.
async fn count(door: TcpListener, to: SocketAddr, connections: Arc<AtomicUsize>) {
    while let Ok((mut outside, _)) = door.accept().await {
        connections.fetch_add(1, Ordering::SeqCst);
        tokio::spawn(async move {
            let mut inside = TcpStream::connect(to).await.unwrap();
            if tokio::io::copy_bidirectional(&mut outside, &mut inside).await.is_err() {
                outside.set_zero_linger().unwrap();
            }
        });
    }
}

/// A deadline of the process, not of the simulated world.
async fn passed(ms: i64) {
    let clock = MachineClock;
    clock.sleep_until(clock.now_ms() + ms).await;
}
