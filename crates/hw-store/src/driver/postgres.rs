//! The PostgreSQL driver: one schema per workspace.
//!
//! Sockets live on the driver's own runtime with one thread. The caller's thread only drives the client's side, which
//! needs no runtime, so the store can be called from anywhere.
//!
//! A write transaction takes the workspace's advisory lock. There is one writer at a time, as in SQLite, so a
//! comparison with stored rows stays true until it commits, even for rows that do not exist yet.

use std::error::Error as _;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::Duration;

use futures_executor::block_on;
use tokio::runtime::Runtime;
use tokio_postgres::config::SslMode;
use tokio_postgres::{Client, Config, NoTls};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::semaphore::TimedSemaphore;
use super::{
    DatabaseDriver, DatabaseSession, DatabaseTimeouts, MAX_READER_WAIT, MAX_READERS, error_mapping,
};
use crate::error::{DriverError, StoreError};

mod exchange;
mod message;
mod sent_queries;
mod session;
mod statement_cache;
mod tls;
mod values;

use session::PostgresSession;
use statement_cache::StatementCache;

/// Writers that stay connected. One writes at a time; the next one may connect before it is done.
const MAX_IDLE_WRITERS: usize = 2;

/// What a connection is used for. A connection prepares every statement that it runs, so those that write stay apart from
/// those that read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ClientUse {
    Reading,
    Writing,
}

impl ClientUse {
    fn max_idle(self) -> usize {
        match self {
            Self::Reading => MAX_READERS,
            Self::Writing => MAX_IDLE_WRITERS,
        }
    }
}

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// The time after which a silently lost connection is noticed, whether the client is sending or receiving.
const SILENCE_TIMEOUT: Duration = Duration::from_secs(30);

pub(crate) struct PostgresDriver {
    config: Config,
    schema: String,
    timeouts: DatabaseTimeouts,
    runtime: Option<Runtime>,
    idle_readers: Mutex<Vec<PooledClient>>,
    idle_writers: Mutex<Vec<PooledClient>>,
    reader_permits: TimedSemaphore,
    tls: Option<MakeRustlsConnect>,
    /// TLS is preferred, and an attempt to use it has failed.
    tls_failed: AtomicBool,
    /// This driver created the schema.
    is_new: bool,
    /// How often a session has waited for the server.
    round_trips: AtomicU64,
}

/// A client with its prepared statements.
struct PooledClient {
    client: Arc<Client>,
    statements: StatementCache,
}

impl PostgresDriver {
    /// Connects, and creates the schema if it is missing.
    pub(crate) fn open_or_create(
        url: &str,
        schema: &str,
        timeouts: DatabaseTimeouts,
    ) -> Result<Self, DriverError> {
        let mut driver = Self::new(url, schema, timeouts)?;
        let pooled = driver.checkout_client(ClientUse::Writing)?;
        // processes that spell the name in different case create one schema
        let lock = advisory_lock_key(&schema.to_lowercase());
        driver.run_script(&pooled, &format!("begin; select pg_advisory_xact_lock({lock})"))?;
        // `create schema if not exists` needs the permission to create one even where the schema exists
        match driver.find_schema(&pooled)? {
            Some(found) => driver.schema = found,
            None => {
                driver
                    .run_script(&pooled, &format!("create schema {}", quote_identifier(schema)))?;
                driver.is_new = true;
            }
        }
        driver.run_script(&pooled, "commit")?;
        driver.pool_if_current(pooled, ClientUse::Writing, schema);
        Ok(driver)
    }

    /// Returns true if this driver created the schema.
    pub(crate) fn is_new(&self) -> bool {
        self.is_new
    }

    /// Connects to an existing schema. Returns none if there is no such schema.
    pub(crate) fn open_existing(
        url: &str,
        schema: &str,
        timeouts: DatabaseTimeouts,
    ) -> Result<Option<Self>, DriverError> {
        let mut driver = Self::new(url, schema, timeouts)?;
        let pooled = driver.checkout_client(ClientUse::Reading)?;
        let Some(found) = driver.find_schema(&pooled)? else { return Ok(None) };
        driver.schema = found;
        driver.pool_if_current(pooled, ClientUse::Reading, schema);
        Ok(Some(driver))
    }

    /// Pools a connection that was opened for this spelling of the schema's name. A connection opened for another
    /// spelling has the wrong search path.
    fn pool_if_current(&self, pooled: PooledClient, client_use: ClientUse, schema: &str) {
        if self.schema == schema {
            self.return_client(pooled, client_use);
        }
    }

    fn idle_clients(&self, client_use: ClientUse) -> MutexGuard<'_, Vec<PooledClient>> {
        let idle = match client_use {
            ClientUse::Reading => &self.idle_readers,
            ClientUse::Writing => &self.idle_writers,
        };
        idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn new(url: &str, schema: &str, timeouts: DatabaseTimeouts) -> Result<Self, DriverError> {
        let config = with_default_timeouts(url.parse()?);
        let tls = tls::connector_for(config.get_ssl_mode())?;
        // built last: dropping it on an early return would block an async caller
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("postgres")
            .enable_all()
            .build()?;
        Ok(Self {
            tls,
            tls_failed: AtomicBool::new(false),
            is_new: false,
            round_trips: AtomicU64::new(0),
            config,
            schema: schema.to_owned(),
            timeouts,
            runtime: Some(runtime),
            idle_readers: Mutex::default(),
            idle_writers: Mutex::default(),
            reader_permits: TimedSemaphore::new(MAX_READERS, MAX_READER_WAIT),
        })
    }

    /// Returns an idle client that is still connected, or a new one.
    fn checkout_client(&self, client_use: ClientUse) -> Result<PooledClient, DriverError> {
        loop {
            let idle = self.idle_clients(client_use).pop();
            match idle {
                Some(pooled) if pooled.client.is_closed() => {}
                Some(pooled) => return Ok(pooled),
                None => return self.connect(),
            }
        }
    }

    fn return_client(&self, pooled: PooledClient, client_use: ClientUse) {
        let mut idle = self.idle_clients(client_use);
        if !pooled.client.is_closed() && idle.len() < client_use.max_idle() {
            idle.push(pooled);
        }
    }

    fn connect(&self) -> Result<PooledClient, DriverError> {
        let client = match &self.tls {
            Some(tls) if !self.tls_failed.load(Ordering::Relaxed) => self.dial_tls(tls)?,
            _ => self.dial(NoTls)?,
        };
        let pooled =
            PooledClient { client: Arc::new(client), statements: StatementCache::default() };
        let (schema, limits) = (quote_identifier(&self.schema), self.timeouts.session_script());
        self.run_script(&pooled, &format!("set search_path to {schema}; {limits}"))?;
        Ok(pooled)
    }

    /// Runs a short script outside a session.
    fn run_script(&self, pooled: &PooledClient, script: &str) -> Result<(), DriverError> {
        let deadline = Some(self.timeouts.begin_deadline());
        Ok(self.wait_for(deadline, pooled.client.batch_execute(script))??)
    }

    /// Returns the schema's name as it was spelled when it was created: a login names the same workspace in any case.
    fn find_schema(&self, pooled: &PooledClient) -> Result<Option<String>, DriverError> {
        const FIND_SCHEMA: &str =
            "select nspname::text from pg_namespace where lower(nspname) = lower($1::text)
                             order by (nspname = $1::text) desc, nspname limit 1";
        let deadline = Some(self.timeouts.begin_deadline());
        let found =
            self.wait_for(deadline, pooled.client.query(FIND_SCHEMA, &[&self.schema]))??;
        Ok(found.first().map(|row| row.try_get(0)).transpose()?)
    }

    /// Waits for an answer, until the deadline if there is one.
    ///
    /// A server can keep a connection open and never answer (a stopped process, a proxy that lost its backend). Its
    /// machine still acknowledges every packet, so no TCP timeout fires.
    fn wait_for<F: Future>(
        &self,
        deadline: Option<Duration>,
        answer: F,
    ) -> Result<F::Output, ResponseTimeout> {
        let Some(deadline) = deadline else { return Ok(block_on(answer)) };
        let _timers = self.runtime().enter();
        block_on(tokio::time::timeout(deadline, answer)).map_err(|_| ResponseTimeout)
    }

    fn runtime(&self) -> &Runtime {
        self.runtime.as_ref().expect("the runtime stays until the driver is dropped")
    }

    /// Connects with TLS if the server offers it. Where TLS is preferred but not required, falls back to a connection
    /// without TLS if the server's certificate is not trusted.
    fn dial_tls(&self, tls: &MakeRustlsConnect) -> Result<Client, DriverError> {
        let required = self.config.get_ssl_mode() != SslMode::Prefer;
        match self.dial(tls.clone()) {
            Err(error) if !required && tls::is_tls_error(&*error) => {
                tracing::warn!(error = &*error, "connecting to PostgreSQL without TLS");
                self.tls_failed.store(true, Ordering::Relaxed);
                self.dial(NoTls)
            }
            done => done,
        }
    }

    /// Connects on the driver's runtime, where the connection then stays.
    fn dial<T>(&self, tls: T) -> Result<Client, DriverError>
    where
        T: tokio_postgres::tls::MakeTlsConnect<tokio_postgres::Socket> + Send + 'static,
        T::TlsConnect: Send,
        T::Stream: Send,
        <T::TlsConnect as tokio_postgres::tls::TlsConnect<tokio_postgres::Socket>>::Future: Send,
    {
        let (sender, receiver) = mpsc::channel();
        let config = self.config.clone();
        let dialing = self.runtime().spawn(async move {
            match config.connect(tls).await {
                Ok((client, connection)) => {
                    if sender.send(Ok(client)).is_ok()
                        && let Err(error) = connection.await
                    {
                        tracing::warn!(%error, "a connection to PostgreSQL ended");
                    }
                }
                // sending fails only after the caller has timed out
                Err(error) => sender.send(Err(error)).unwrap_or_default(),
            }
        });
        let client = receiver.recv_timeout(self.dial_timeout()).map_err(|_| {
            dialing.abort();
            ResponseTimeout
        })?;
        Ok(client?)
    }

    /// Returns the time limit for connecting: the timeout of each host, and once more for the handshake.
    fn dial_timeout(&self) -> Duration {
        let hosts = u32::try_from(self.config.get_hosts().len()).unwrap_or(u32::MAX);
        let each = self.config.get_connect_timeout().copied().unwrap_or(CONNECT_TIMEOUT);
        each.saturating_mul(hosts.saturating_add(1))
    }
}

/// Returns the names of the schemas in a database that are workspaces.
pub fn list_schemas(url: &str) -> Result<Vec<String>, StoreError> {
    query_workspace_schemas(url).map_err(|error| error_mapping::map_error("workspaces", &*error))
}

fn query_workspace_schemas(url: &str) -> Result<Vec<String>, DriverError> {
    const WORKSPACES: &str = "select schemaname::text from pg_tables
         where tablename in ('migrations', 'schema_version', 'lanes')
         group by schemaname having count(*) = 3 order by schemaname";
    let driver = PostgresDriver::new(url, "public", DatabaseTimeouts::default())?;
    let pooled = driver.checkout_client(ClientUse::Reading)?;
    let deadline = Some(driver.timeouts.begin_deadline());
    let found = driver.wait_for(deadline, pooled.client.query(WORKSPACES, &[]))??;
    Ok(found.iter().map(|row| row.try_get(0)).collect::<Result<_, _>>()?)
}

/// Checks a connection string. The error never quotes the string, which may contain a password.
pub fn check_postgres_url(text: &str) -> Result<(), String> {
    let config = text.parse::<Config>().map_err(|error| {
        let reason = error.source().map(ToString::to_string).unwrap_or_default();
        format!("invalid PostgreSQL connection string: {reason}")
    })?;
    if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
        return Err("invalid PostgreSQL connection string: it names no host (use postgres://USER@HOST/DATABASE)"
            .to_owned());
    }
    Ok(())
}

/// The server missed its deadline.
#[derive(Debug, thiserror::Error)]
#[error("timed out waiting for the server")]
pub(super) struct ResponseTimeout;

/// Shuts the runtime down in the background: dropping it would block, which an async caller's thread must not do.
impl Drop for PostgresDriver {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// Sets the application name, and limits every wait that the URL leaves unlimited.
fn with_default_timeouts(mut config: Config) -> Config {
    const SYSTEM_IDLE: Duration = Duration::from_secs(2 * 60 * 60);
    if config.get_application_name().is_none() {
        config.application_name("highwater");
    }
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(CONNECT_TIMEOUT);
    }
    if config.get_tcp_user_timeout().is_none() {
        config.tcp_user_timeout(SILENCE_TIMEOUT);
    }
    if config.get_keepalives_idle() == SYSTEM_IDLE {
        config.keepalives_idle(SILENCE_TIMEOUT / 2);
    }
    if config.get_keepalives_interval().is_none() {
        config.keepalives_interval(SILENCE_TIMEOUT / 6);
    }
    if config.get_keepalives_retries().is_none() {
        config.keepalives_retries(3);
    }
    config
}

fn quote_identifier(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Returns the key of a workspace's write lock.
fn advisory_lock_key(schema: &str) -> i64 {
    let digest = hw_rules::version::ContentDigest::from_fields(["highwater write lock", schema]).0;
    digest.iter().take(8).fold(0, |key, byte| (key << 8) | i64::from(*byte))
}

impl DatabaseDriver for PostgresDriver {
    fn write_session(&self) -> Result<Box<dyn DatabaseSession + '_>, DriverError> {
        Ok(Box::new(PostgresSession::checkout(self, None)?))
    }

    fn read_session(&self) -> Result<Box<dyn DatabaseSession + '_>, DriverError> {
        Ok(Box::new(PostgresSession::checkout(self, Some(self.reader_permits.acquire()?))?))
    }

    fn round_trips(&self) -> u64 {
        self.round_trips.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn postgres_waits_are_limited_unless_the_url_sets_them() {
        let defaults = with_default_timeouts("postgres://host/db".parse().unwrap());
        assert_eq!(defaults.get_connect_timeout(), Some(&CONNECT_TIMEOUT));
        assert_eq!(defaults.get_tcp_user_timeout(), Some(&SILENCE_TIMEOUT));
        let lost = defaults.get_keepalives_idle() + defaults.get_keepalives_interval().unwrap() * 3;
        assert!(defaults.get_keepalives() && lost <= SILENCE_TIMEOUT);
        let url = "postgres://host/db?connect_timeout=3&tcp_user_timeout=4&keepalives_idle=5";
        let configured = with_default_timeouts(url.parse().unwrap());
        assert_eq!(configured.get_connect_timeout(), Some(&Duration::from_secs(3)));
        assert_eq!(configured.get_tcp_user_timeout(), Some(&Duration::from_secs(4)));
        assert_eq!(configured.get_keepalives_idle(), Duration::from_secs(5));
    }
}
