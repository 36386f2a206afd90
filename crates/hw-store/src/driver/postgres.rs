//! PostgreSQL: a schema per workspace.
//!
//! Sockets live on a runtime of our own with one thread; the caller's thread only drives the client's
//! side, which needs no runtime. So the store can be called from anywhere.
//!
//! A write transaction holds the workspace's advisory lock: one writer at a time, as in SQLite, so that a
//! comparison with what is held is true until it commits, also for rows that are not there yet.

use std::collections::HashMap;
use std::error::Error as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError, mpsc};
use std::time::Duration;

use futures_executor::block_on;
use tokio::runtime::Runtime;
use tokio_postgres::config::SslMode;
use tokio_postgres::{Client, Config, NoTls, Statement};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::permits::Permits;
use super::{DatabaseTimeouts, Driver, PATIENCE, READERS, Session, sorting};
use crate::error::{DriverError, Error};

mod session;
mod tls;
mod values;

use session::Loan;

const IDLE_CLIENTS: usize = 4;
const CONNECT: Duration = Duration::from_secs(10);
/// A connection that was lost without a word is noticed after this time, whether we speak or listen.
const SILENCE: Duration = Duration::from_secs(30);

pub(crate) struct Postgres {
    config: Config,
    schema: String,
    timeouts: DatabaseTimeouts,
    runtime: Option<Runtime>,
    idle: Mutex<Vec<Connected>>,
    reading: Permits,
    tls: Option<MakeRustlsConnect>,
    /// Whether TLS was preferred, tried and in vain.
    tls_failed: AtomicBool,
    /// Whether the schema was made by this driver.
    is_new: bool,
}

/// A client and the statements it has prepared.
struct Connected {
    client: Client,
    statements: HashMap<String, Statement>,
}

impl Postgres {
    /// Connects, and makes the schema when it is missing.
    pub(crate) fn create(
        url: &str,
        schema: &str,
        timeouts: DatabaseTimeouts,
    ) -> Result<Self, DriverError> {
        let mut driver = Self::new(url, schema, timeouts)?;
        let connected = driver.take()?;
        // two processes that name it in another case make one schema
        let lock = lock_key(&schema.to_lowercase());
        driver.run(&connected, &format!("begin; select pg_advisory_xact_lock({lock})"))?;
        // even `if not exists` asks for a right that nobody needs when it does
        match driver.find_schema(&connected)? {
            Some(found) => driver.schema = found,
            None => {
                driver.run(&connected, &format!("create schema {}", quoted(schema)))?;
                driver.is_new = true;
            }
        }
        driver.run(&connected, "commit")?;
        driver.keep_if_current(connected, schema);
        Ok(driver)
    }

    /// Whether the schema was made by this driver.
    pub(crate) fn is_new(&self) -> bool {
        self.is_new
    }

    /// Connects to a schema that is there; none when it is not.
    pub(crate) fn existing(
        url: &str,
        schema: &str,
        timeouts: DatabaseTimeouts,
    ) -> Result<Option<Self>, DriverError> {
        let mut driver = Self::new(url, schema, timeouts)?;
        let connected = driver.take()?;
        let Some(found) = driver.find_schema(&connected)? else { return Ok(None) };
        driver.schema = found;
        driver.keep_if_current(connected, schema);
        Ok(Some(driver))
    }

    /// Keeps a connection that was made for this schema; one that was made for another case of its name has the
    /// wrong search path.
    fn keep_if_current(&self, connected: Connected, schema: &str) {
        if self.schema == schema {
            self.give_back(connected);
        }
    }

    fn new(url: &str, schema: &str, timeouts: DatabaseTimeouts) -> Result<Self, DriverError> {
        let config = with_limits(url.parse()?);
        let tls = tls::of(config.get_ssl_mode())?;
        // last, because an async caller must not drop it on its way out
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("postgres")
            .enable_all()
            .build()?;
        Ok(Self {
            tls,
            tls_failed: AtomicBool::new(false),
            is_new: false,
            config,
            schema: schema.to_owned(),
            timeouts,
            runtime: Some(runtime),
            idle: Mutex::default(),
            reading: Permits::new(READERS, PATIENCE),
        })
    }

    /// An idle client that still lives, or a new one.
    fn take(&self) -> Result<Connected, DriverError> {
        loop {
            let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
            match idle {
                Some(connected) if connected.client.is_closed() => {}
                Some(connected) => return Ok(connected),
                None => return self.connect(),
            }
        }
    }

    fn give_back(&self, connected: Connected) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if !connected.client.is_closed() && idle.len() < IDLE_CLIENTS {
            idle.push(connected);
        }
    }

    fn connect(&self) -> Result<Connected, DriverError> {
        let client = match &self.tls {
            Some(tls) if !self.tls_failed.load(Ordering::Relaxed) => self.dial_with(tls)?,
            _ => self.dial(NoTls)?,
        };
        let connected = Connected { client, statements: HashMap::new() };
        let (schema, limits) = (quoted(&self.schema), self.timeouts.session_script());
        self.run(&connected, &format!("set search_path to {schema}; {limits}"))?;
        Ok(connected)
    }

    /// Runs a short script outside of a session.
    fn run(&self, connected: &Connected, script: &str) -> Result<(), DriverError> {
        let deadline = Some(self.timeouts.begin_deadline());
        Ok(self.wait(deadline, connected.client.batch_execute(script))??)
    }

    /// Returns the schema's name as it was written when it was made: a login names the same workspace in any case.
    fn find_schema(&self, connected: &Connected) -> Result<Option<String>, DriverError> {
        const FOUND: &str =
            "select nspname::text from pg_namespace where lower(nspname) = lower($1::text)
                             order by (nspname = $1::text) desc, nspname limit 1";
        let deadline = Some(self.timeouts.begin_deadline());
        let found = self.wait(deadline, connected.client.query(FOUND, &[&self.schema]))??;
        Ok(found.first().map(|row| row.try_get(0)).transpose()?)
    }

    /// Waits for an answer, until the deadline if there is one.
    ///
    /// A server can keep a connection open and never answer (a stopped process, a proxy that lost its other side);
    /// its machine still acknowledges every packet, so no limit of TCP notices.
    fn wait<F: Future>(&self, deadline: Option<Duration>, answer: F) -> Result<F::Output, Silent> {
        let Some(deadline) = deadline else { return Ok(block_on(answer)) };
        let _timers = self.runtime().enter();
        block_on(tokio::time::timeout(deadline, answer)).map_err(|_| Silent)
    }

    fn runtime(&self) -> &Runtime {
        self.runtime.as_ref().expect("the runtime stays until the driver is dropped")
    }

    /// Connects with TLS when the server offers it. Where TLS is preferred and not required, a server
    /// whose certificate nobody vouches for is spoken to without.
    fn dial_with(&self, tls: &MakeRustlsConnect) -> Result<Client, DriverError> {
        let required = self.config.get_ssl_mode() != SslMode::Prefer;
        match self.dial(tls.clone()) {
            Err(error) if !required && tls::is_to_blame(&*error) => {
                tracing::warn!(error = &*error, "PostgreSQL is spoken to without TLS");
                self.tls_failed.store(true, Ordering::Relaxed);
                self.dial(NoTls)
            }
            done => done,
        }
    }

    /// Connects on our runtime, and leaves the connection there.
    fn dial<T>(&self, tls: T) -> Result<Client, DriverError>
    where
        T: tokio_postgres::tls::MakeTlsConnect<tokio_postgres::Socket> + Send + 'static,
        T::TlsConnect: Send,
        T::Stream: Send,
        <T::TlsConnect as tokio_postgres::tls::TlsConnect<tokio_postgres::Socket>>::Future: Send,
    {
        let (answer, answered) = mpsc::channel();
        let config = self.config.clone();
        let dialing = self.runtime().spawn(async move {
            match config.connect(tls).await {
                Ok((client, connection)) => {
                    if answer.send(Ok(client)).is_ok()
                        && let Err(error) = connection.await
                    {
                        tracing::warn!(%error, "a connection to PostgreSQL ended");
                    }
                }
                // nobody waits any more when this fails, so nobody needs to know
                Err(error) => answer.send(Err(error)).unwrap_or_default(),
            }
        });
        let client = answered.recv_timeout(self.dial_time()).map_err(|_| {
            dialing.abort();
            Silent
        })?;
        Ok(client?)
    }

    /// How long connecting may take: each host has its time, and as much again is for the greeting.
    fn dial_time(&self) -> Duration {
        let hosts = u32::try_from(self.config.get_hosts().len()).unwrap_or(u32::MAX);
        let each = self.config.get_connect_timeout().copied().unwrap_or(CONNECT);
        each.saturating_mul(hosts.saturating_add(1))
    }
}

/// Returns the schemas of a database that are workspaces, by name.
pub fn list_schemas(url: &str) -> Result<Vec<String>, Error> {
    list_workspace_schemas(url).map_err(|error| sorting::sorted("workspaces", &*error))
}

fn list_workspace_schemas(url: &str) -> Result<Vec<String>, DriverError> {
    const WORKSPACES: &str = "select schemaname::text from pg_tables
         where tablename in ('migrations', 'schema_version', 'lanes')
         group by schemaname having count(*) = 3 order by schemaname";
    let driver = Postgres::new(url, "public", DatabaseTimeouts::default())?;
    let connected = driver.take()?;
    let deadline = Some(driver.timeouts.begin_deadline());
    let found = driver.wait(deadline, connected.client.query(WORKSPACES, &[]))??;
    Ok(found.iter().map(|row| row.try_get(0)).collect::<Result<_, _>>()?)
}

/// Returns what is wrong with a connection string, if anything is; never what stands in it.
pub fn check_postgres(text: &str) -> Result<(), String> {
    let config = text.parse::<Config>().map_err(|error| {
        let reason = error.source().map(ToString::to_string).unwrap_or_default();
        format!("not a PostgreSQL connection string that highwater understands: {reason}")
    })?;
    if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
        return Err("the PostgreSQL connection string names no host".to_owned());
    }
    Ok(())
}

/// The server took longer than it may.
#[derive(Debug, thiserror::Error)]
#[error("timed out waiting for the server")]
pub(super) struct Silent;

/// Dropping a runtime waits for it, which an async caller's thread must not do.
impl Drop for Postgres {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// Names us, and bounds every wait that the URL leaves unbounded.
fn with_limits(mut config: Config) -> Config {
    const SYSTEM_IDLE: Duration = Duration::from_secs(2 * 60 * 60);
    if config.get_application_name().is_none() {
        config.application_name("highwater");
    }
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(CONNECT);
    }
    if config.get_tcp_user_timeout().is_none() {
        config.tcp_user_timeout(SILENCE);
    }
    if config.get_keepalives_idle() == SYSTEM_IDLE {
        config.keepalives_idle(SILENCE / 2);
    }
    if config.get_keepalives_interval().is_none() {
        config.keepalives_interval(SILENCE / 6);
    }
    if config.get_keepalives_retries().is_none() {
        config.keepalives_retries(3);
    }
    config
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// The number of a workspace's write lock.
fn lock_key(schema: &str) -> i64 {
    let digest = hw_rules::version::Digest::of(["highwater write lock", schema]).0;
    digest.iter().take(8).fold(0, |key, byte| (key << 8) | i64::from(*byte))
}

impl Driver for Postgres {
    fn writer(&self) -> Result<Box<dyn Session + '_>, DriverError> {
        Ok(Box::new(Loan::of(self, None)?))
    }

    fn reader(&self) -> Result<Box<dyn Session + '_>, DriverError> {
        Ok(Box::new(Loan::of(self, Some(self.reading.take()?))?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_wait_is_bounded_unless_the_url_says_otherwise() {
        let ours = with_limits("postgres://host/db".parse().unwrap());
        assert_eq!(ours.get_connect_timeout(), Some(&CONNECT));
        assert_eq!(ours.get_tcp_user_timeout(), Some(&SILENCE));
        let lost = ours.get_keepalives_idle() + ours.get_keepalives_interval().unwrap() * 3;
        assert!(ours.get_keepalives() && lost <= SILENCE);
        let url = "postgres://host/db?connect_timeout=3&tcp_user_timeout=4&keepalives_idle=5";
        let theirs = with_limits(url.parse().unwrap());
        assert_eq!(theirs.get_connect_timeout(), Some(&Duration::from_secs(3)));
        assert_eq!(theirs.get_tcp_user_timeout(), Some(&Duration::from_secs(4)));
        assert_eq!(theirs.get_keepalives_idle(), Duration::from_secs(5));
    }
}
