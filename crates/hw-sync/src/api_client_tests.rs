//! A second source beside GitHub: one endpoint, headers of its own, and a policy of its own.

use std::collections::VecDeque;
use std::sync::atomic::AtomicI64;

use http::{HeaderMap, Method};
use hw_rules::backoff::RetryDelays;
use hw_rules::version::ObservedAt;
use hw_sources::error::{LimitWait, RateLimit, RateLimitKind};
use hw_sources::query::ApiEndpoint;
use hw_sources::transport::{ResponseFuture, TransportError};
use hw_store::DatabaseLocation;

use super::*;
use crate::clock::SleepFuture;

const START_MS: i64 = 1_767_225_600_000;
const DOUBLING: RetryPolicy = RetryPolicy {
    delays: RetryDelays::Doubling { first_ms: 1_000, retries: 3 },
    max_tries: 4,
    max_active_ms: 60_000,
};

#[test]
fn client_retries_another_source_after_the_delays_of_its_policy() {
    let fixture = JournalFixture::new(vec![
        status(503),
        Err(TransportError::new("reset")),
        status(503),
        status(200),
    ]);
    let page = fixture.fetch().unwrap_or_else(|_| panic!("the fourth attempt succeeds"));
    assert_eq!(page, JournalPage { rows: 100, observed_at: ObservedAt::new(START_MS, 4) });
    assert_eq!(fixture.sent_after_ms(), [0, 1_000, 3_000, 7_000]);
}

#[test]
fn client_obeys_the_limits_of_another_source() {
    let fixture = JournalFixture::new(vec![status(429), status(200)]);
    assert!(fixture.fetch().is_ok());
    assert_eq!(fixture.sent_after_ms(), [0, 9_000], "as long as the source requests");
}

#[test]
fn client_pings_another_source_to_tell_a_dead_connection_from_a_failing_request() {
    for (ping, is_dead) in [(status(200), false), (Err(TransportError::new("reset")), true)] {
        let mut answers = vec![Err(TransportError::new("reset")); 4];
        answers.push(ping);
        let fixture = JournalFixture::new(answers);
        let Err(FetchError::Source(error)) = fixture.fetch() else { panic!("it never succeeds") };
        assert_eq!(error.is_network_error(), is_dead, "{error}");
        assert_eq!(fixture.transport.sent_paths().last().unwrap(), "/health");
    }
}

/// A journal, one page of which has as many rows as are requested.
struct JournalEndpoint;

struct JournalResponse {
    rows: u32,
    meta: ResponseMeta,
}

struct JournalPageQuery;

struct JournalHealthQuery;

#[derive(Debug, PartialEq, Eq)]
struct JournalPage {
    rows: u32,
    observed_at: ObservedAt,
}

struct JournalSource(JournalEndpoint);

impl AsRef<JournalEndpoint> for JournalSource {
    fn as_ref(&self) -> &JournalEndpoint {
        &self.0
    }
}

impl Source for JournalSource {
    type Ping = JournalHealthQuery;
    const PING: JournalHealthQuery = JournalHealthQuery;

    fn budgets_request(&self) -> Option<HttpRequest> {
        None
    }

    fn read_budgets(&self, _response: &HttpResponse) -> Result<Vec<ApiBudget>, SourceError> {
        Ok(Vec::new())
    }
}

impl ApiEndpoint for JournalEndpoint {
    type Request = String;
    type Response = JournalResponse;
    const API: ApiKind = ApiKind::Rest;

    fn encode_request(&self, path: &String) -> HttpRequest {
        let url = format!("http://journal.example{path}");
        HttpRequest { method: Method::GET, url, headers: HeaderMap::new(), body: None }
    }

    fn decode_response(response: &HttpResponse) -> Result<JournalResponse, SourceError> {
        match response.status {
            200 => Ok(JournalResponse {
                rows: u32::try_from(response.body.len()).unwrap(),
                meta: ResponseMeta::from_date(SourceInstant(read_ms(response, "journal-time"))),
            }),
            429 => Err(SourceError::RateLimited(RateLimit {
                kind: RateLimitKind::Secondary,
                wait: LimitWait::RetryAfter(read_ms(response, "journal-wait")),
                date: Some(SourceInstant(read_ms(response, "journal-time"))),
            })),
            status => Err(SourceError::Server(format!("status {status}"))),
        }
    }

    fn meta_mut(response: &mut JournalResponse) -> &mut ResponseMeta {
        &mut response.meta
    }
}

impl Query for JournalPageQuery {
    type Endpoint = JournalEndpoint;
    type Page = JournalPage;

    fn request(&self, _size: u32) -> String {
        "/page".to_owned()
    }

    fn parse(&self, response: &JournalResponse, _size: u32) -> Result<JournalPage, SourceError> {
        Ok(JournalPage { rows: response.rows, observed_at: response.meta.observed_at })
    }
}

impl Query for JournalHealthQuery {
    type Endpoint = JournalEndpoint;
    type Page = ();

    fn request(&self, _size: u32) -> String {
        "/health".to_owned()
    }

    fn parse(&self, _response: &JournalResponse, _size: u32) -> Result<(), SourceError> {
        Ok(())
    }
}

fn read_ms(response: &HttpResponse, name: &str) -> i64 {
    response.header(name).and_then(|value| value.parse().ok()).unwrap_or(0)
}

type TransportAnswer = Result<HttpResponse, TransportError>;

fn status(status: u16) -> TransportAnswer {
    let headers = [("journal-time", START_MS), ("journal-wait", 9_000)];
    let headers = headers.map(|(name, value)| (name.parse().unwrap(), value.into()));
    Ok(HttpResponse { status, headers: HeaderMap::from_iter(headers), body: vec![b' '; 100] })
}

/// A client of the journal whose transport answers as it is told.
struct JournalFixture {
    client: ApiClient<JournalSource>,
    transport: Arc<ScriptedTransport>,
}

impl JournalFixture {
    fn new(answers: Vec<TransportAnswer>) -> Self {
        let clock = Arc::new(JumpingClock(AtomicI64::new(START_MS)));
        let transport = Arc::new(ScriptedTransport {
            answers: Mutex::new(answers.into()),
            sent: Mutex::default(),
            clock: clock.clone(),
        });
        let config = ClientConfig {
            work_threads: WorkThreads::Inline,
            source: JournalSource(JournalEndpoint),
            retry_policy: DOUBLING,
            transport: transport.clone(),
            clock,
            machine: "here".to_owned(),
            crash_points: CrashPoints::default(),
            progress: ProgressSink::default(),
            pace: RequestPace::Adaptive,
            reserve_percent: 0,
            largest_page: 100,
            seed: 1,
        };
        let store = StoreWriter::open(&DatabaseLocation::Memory).unwrap();
        Self { client: ApiClient::new(config, store, "journal.example"), transport }
    }

    fn fetch(&self) -> Result<JournalPage, FetchError> {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let mut size = 100;
        runtime.block_on(self.client.fetch(&JournalPageQuery, RequestOptions::PAGE, &mut size))
    }

    /// Returns when each request was sent, since the start.
    fn sent_after_ms(&self) -> Vec<i64> {
        lock_unpoisoned(&self.transport.sent).iter().map(|sent| sent.at_ms - START_MS).collect()
    }
}

struct SentRequest {
    url: String,
    at_ms: i64,
}

/// Answers requests with a list of answers, in their order.
struct ScriptedTransport {
    answers: Mutex<VecDeque<TransportAnswer>>,
    sent: Mutex<Vec<SentRequest>>,
    clock: Arc<JumpingClock>,
}

impl ScriptedTransport {
    fn sent_paths(&self) -> Vec<String> {
        let sent = lock_unpoisoned(&self.sent);
        sent.iter().map(|sent| sent.url.replace("http://journal.example", "")).collect()
    }
}

impl Transport for ScriptedTransport {
    fn send(&self, request: HttpRequest) -> ResponseFuture<'_> {
        let at_ms = self.clock.now_ms();
        lock_unpoisoned(&self.sent).push(SentRequest { url: request.url, at_ms });
        let answer = lock_unpoisoned(&self.answers).pop_front();
        Box::pin(async { answer.expect("no more requests than answers") })
    }

    fn reset_connections(&self) {}
}

/// A clock on which waiting takes no time: it jumps.
struct JumpingClock(AtomicI64);

impl Clock for JumpingClock {
    fn now_ms(&self) -> i64 {
        self.0.load(Ordering::Relaxed)
    }

    fn monotonic_ms(&self) -> i64 {
        self.now_ms()
    }

    fn sleep_until(&self, until_ms: i64) -> SleepFuture<'_> {
        Box::pin(async move {
            self.0.fetch_max(until_ms, Ordering::Relaxed);
        })
    }
}
