//! Serves HTTP for `ui`, `demo` and `mcp --http`: accepts connections, caps and times them, and stops in good order.
//!
//! The router decides what to answer; this module knows nothing of pages or tools. A peer that sends nothing, sends
//! slowly or stops reading holds a connection for a bounded time, and never the last one.

mod bodies;
mod connection_io;
mod connection_table;
mod limits;
mod log_throttle;
mod open_files;

#[cfg(test)]
mod tests;

use std::convert::Infallible;
use std::io;
use std::pin::pin;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderValue, Request, Response, StatusCode, header};
use hw_sync::clock::{Clock as _, MachineClock};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use bodies::{AnswerBody, RequestBody};
use connection_io::ConnectionIo;
use connection_table::{Admission, ConnectionGuard, ConnectionTable, ConnectionTracker};
pub(crate) use limits::ServerLimits;
use log_throttle::LogThrottle;

/// How long to wait after a failed accept: an error such as "too many open files" would return at once, again and again.
const ACCEPT_PAUSE_MS: i64 = 50;
/// Connections that are being told that the server is busy. Any more are closed without a word.
const MAX_REFUSALS: usize = 32;
/// Connections that made room for others, and have not closed their sockets yet.
const MAX_CLOSING: usize = 16;
/// The longest header. hyper refuses an address beyond 64 kB.
const HEADER_BYTES: usize = 128 * 1024;

/// Serves the router until `stop`; then finishes the answers under way, within the time that the limits allow.
pub(crate) async fn serve(
    listener: TcpListener,
    router: Router,
    limits: ServerLimits,
    stop: impl Future<Output = ()>,
) {
    let mut server = HttpServer::new(router, limits);
    let mut stop = pin!(stop);
    loop {
        tokio::select! {
            () = &mut stop => break,
            accepted = listener.accept(), if server.has_room() => match accepted {
                Ok((stream, _)) => server.admit(stream),
                Err(error) => server.recover(&error).await,
            },
            Some(_) = server.connections.join_next() => {}
        }
    }
    drop(listener);
    let finished = server.graceful.shutdown();
    if tokio::time::timeout(limits.shutdown, finished).await.is_err() {
        tracing::debug!("stopped while a peer was still reading an answer");
    }
}

struct HttpServer {
    router: Router,
    limits: ServerLimits,
    table: Arc<ConnectionTable>,
    refusals: Arc<Semaphore>,
    graceful: GracefulShutdown,
    /// Dropping it closes all of them.
    connections: JoinSet<()>,
    cap_log: LogThrottle,
    busy_log: LogThrottle,
    accept_log: LogThrottle,
}

impl HttpServer {
    fn new(router: Router, limits: ServerLimits) -> Self {
        Self {
            router,
            limits,
            table: Arc::new(ConnectionTable::new(limits.max_connections)),
            refusals: Arc::new(Semaphore::new(MAX_REFUSALS)),
            graceful: GracefulShutdown::new(),
            connections: JoinSet::new(),
            cap_log: LogThrottle::default(),
            busy_log: LogThrottle::default(),
            accept_log: LogThrottle::default(),
        }
    }

    /// Whether the connections that made room have closed their sockets, but for a few: a flood could open sockets
    /// faster than the closing ones let go of theirs.
    fn has_room(&self) -> bool {
        self.connections.len() < self.limits.max_connections + MAX_REFUSALS + MAX_CLOSING
    }

    fn admit(&mut self, stream: TcpStream) {
        // an event is small, and worth sending at once
        stream.set_nodelay(true).ok();
        match ConnectionTable::admit(&self.table) {
            Admission::Admitted(guard) => self.start(stream, guard),
            Admission::Replaced(guard) => {
                if self.cap_log.is_due(MachineClock.now_ms()) {
                    let max_connections = self.limits.max_connections;
                    tracing::warn!(
                        max_connections,
                        "too many connections: closing the oldest ones without a complete request"
                    );
                }
                self.start(stream, guard);
            }
            Admission::AllBusy => self.refuse(stream),
        }
    }

    fn start(&mut self, stream: TcpStream, guard: ConnectionGuard) {
        let tracker = guard.tracker();
        let io = ConnectionIo::new(stream, self.limits.write, Arc::clone(&tracker));
        let (router, limits) = (self.router.clone(), self.limits);
        let service = service_fn(move |request| {
            answer(router.clone(), request, limits, Arc::clone(&tracker))
        });
        let connection = self.builder().serve_connection(io, service);
        let connection = self.graceful.watch(connection);
        self.connections.spawn(async move {
            tokio::select! {
                ended = connection => if let Err(error) = ended {
                    tracing::debug!(%error, "a connection ended early");
                },
                () = guard.replaced() => {}
            }
        });
    }

    fn builder(&self) -> http1::Builder {
        let mut builder = http1::Builder::new();
        builder.timer(TokioTimer::new()).header_read_timeout(self.limits.header);
        builder.max_buf_size(HEADER_BYTES);
        builder
    }

    /// Answers 503 to whatever the peer requests, if it does so soon.
    fn refuse(&mut self, stream: TcpStream) {
        if self.busy_log.is_due(MachineClock.now_ms()) {
            tracing::warn!("all connections are busy: answering 503");
        }
        let Ok(permit) = Arc::clone(&self.refusals).try_acquire_owned() else { return };
        let service = service_fn(|_| async { Ok::<_, Infallible>(busy_answer()) });
        let refusal =
            self.builder().keep_alive(false).serve_connection(TokioIo::new(stream), service);
        let refusal = tokio::time::timeout(self.limits.refusal, refusal);
        self.connections.spawn(async move {
            refusal.await.ok();
            drop(permit);
        });
    }

    /// Makes room after a failed accept, and waits a moment: with too many open files, the next one fails as well.
    async fn recover(&mut self, error: &io::Error) {
        if self.accept_log.is_due(MachineClock.now_ms()) {
            tracing::warn!(%error, "cannot accept a connection");
        }
        self.table.close_oldest_waiting();
        MachineClock.sleep_until(MachineClock.now_ms() + ACCEPT_PAUSE_MS).await;
    }
}

async fn answer(
    router: Router,
    request: Request<Incoming>,
    limits: ServerLimits,
    tracker: Arc<ConnectionTracker>,
) -> Result<Response<AnswerBody>, Infallible> {
    let request = request.map(|body| {
        let tracker = Arc::clone(&tracker);
        Body::new(RequestBody::new(body, limits, tracker))
    });
    let answer = TowerToHyperService::new(router).call(request).await?;
    Ok(answer.map(|body| AnswerBody::new(body, tracker)))
}

fn busy_answer() -> Response<Body> {
    let text = "highwater is busy: all of its connections are in use. Try again in a moment.\n";
    let mut answer = Response::new(Body::from(text));
    *answer.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
    answer.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
    answer
}
