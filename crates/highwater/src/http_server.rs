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
use tokio_util::sync::CancellationToken;

use bodies::{AnswerBody, RequestBody};
use connection_io::ConnectionIo;
use connection_table::{AdmissionOutcome, ConnectionGuard, ConnectionTable, ConnectionTracker};
pub(crate) use limits::ServerLimits;
use log_throttle::LogThrottle;

/// The pause after a failed accept. An error such as "too many open files" would otherwise return at once, repeatedly.
const ACCEPT_PAUSE_MS: i64 = 50;
/// The number of connections that get a 503 at the same time. Any more are closed without an answer.
const MAX_REFUSALS: usize = 32;
/// The number of replaced connections that have not closed their sockets yet.
const MAX_CLOSING: usize = 16;
/// The longest header. hyper refuses a URL beyond 64 kB.
const HEADER_BYTES: usize = 128 * 1024;

/// Serves the router until `stop`; then finishes the answers under way, within the time that the limits allow.
pub(crate) async fn serve(
    listener: TcpListener,
    router: Router,
    limits: ServerLimits,
    stop: &CancellationToken,
) {
    let mut server = HttpServer::new(router, limits);
    loop {
        tokio::select! {
            () = stop.cancelled() => break,
            accepted = listener.accept(), if server.can_accept() => match accepted {
                Ok((stream, _)) => server.accept_connection(stream),
                Err(error) => server.recover_from_error(&error).await,
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
    /// Dropping it closes all connections.
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

    /// Returns true if almost all replaced connections have closed their sockets. Without this limit, a flood could open
    /// sockets faster than the old ones are closed.
    fn can_accept(&self) -> bool {
        self.connections.len() < self.limits.max_connections + MAX_REFUSALS + MAX_CLOSING
    }

    fn accept_connection(&mut self, stream: TcpStream) {
        // server-sent events are small and should arrive at once
        stream.set_nodelay(true).ok();
        match ConnectionTable::admit_connection(&self.table) {
            AdmissionOutcome::Admitted(guard) => self.start_connection(stream, guard),
            AdmissionOutcome::Replaced(guard) => {
                if self.cap_log.is_due(MachineClock.now_ms()) {
                    let max_connections = self.limits.max_connections;
                    tracing::warn!(
                        max_connections,
                        "too many connections: closing the oldest ones without a complete request"
                    );
                }
                self.start_connection(stream, guard);
            }
            AdmissionOutcome::AllBusy => self.refuse_connection(stream),
        }
    }

    fn start_connection(&mut self, stream: TcpStream, guard: ConnectionGuard) {
        let tracker = guard.tracker();
        let io = ConnectionIo::new(stream, self.limits.write, Arc::clone(&tracker));
        let (router, limits) = (self.router.clone(), self.limits);
        let service = service_fn(move |request| {
            answer_request(router.clone(), request, limits, Arc::clone(&tracker))
        });
        let connection = self.http_builder().serve_connection(io, service);
        let connection = self.graceful.watch(connection);
        self.connections.spawn(async move {
            tokio::select! {
                ended = connection => if let Err(error) = ended {
                    tracing::debug!(%error, "a connection ended early");
                },
                () = guard.wait_replaced() => {}
            }
        });
    }

    fn http_builder(&self) -> http1::Builder {
        let mut builder = http1::Builder::new();
        builder.timer(TokioTimer::new()).header_read_timeout(self.limits.header);
        builder.max_buf_size(HEADER_BYTES);
        builder
    }

    /// Answers the peer's request with 503, if the peer sends one soon.
    fn refuse_connection(&mut self, stream: TcpStream) {
        if self.busy_log.is_due(MachineClock.now_ms()) {
            tracing::warn!("all connections are busy: answering 503");
        }
        let Ok(permit) = Arc::clone(&self.refusals).try_acquire_owned() else { return };
        let service = service_fn(|_| async { Ok::<_, Infallible>(busy_answer()) });
        let refusal =
            self.http_builder().keep_alive(false).serve_connection(TokioIo::new(stream), service);
        let refusal = tokio::time::timeout(self.limits.refusal, refusal);
        self.connections.spawn(async move {
            refusal.await.ok();
            drop(permit);
        });
    }

    /// Closes a waiting connection after a failed accept, and pauses: with too many open files, the next accept would
    /// fail as well.
    async fn recover_from_error(&mut self, error: &io::Error) {
        if self.accept_log.is_due(MachineClock.now_ms()) {
            tracing::warn!(%error, "cannot accept a connection");
        }
        self.table.close_oldest_waiting();
        MachineClock.sleep_until(MachineClock.now_ms() + ACCEPT_PAUSE_MS).await;
    }
}

async fn answer_request(
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
