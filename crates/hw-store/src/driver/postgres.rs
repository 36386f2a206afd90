//! PostgreSQL: a schema per workspace.
//!
//! Sockets live on a runtime of our own with one thread; the caller's thread only drives the client's
//! side, which needs no runtime. So the store can be called from anywhere.
//!
//! A write transaction holds the workspace's advisory lock: one writer at a time, as in SQLite, so that a
//! comparison with what is held is true until it commits, also for rows that are not there yet.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError, mpsc};
use std::time::Duration;

use futures_executor::block_on;
use tokio::runtime::Runtime;
use tokio_postgres::config::SslMode;
use tokio_postgres::{Client, Config, NoTls, Statement};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::{Driver, Session};
use crate::error::DriverError;

mod session;
mod values;

use session::Loan;

const IDLE_CLIENTS: usize = 4;
const CONNECT: Duration = Duration::from_secs(10);

pub(crate) struct Postgres {
    config: Config,
    schema: String,
    runtime: Option<Runtime>,
    idle: Mutex<Vec<Connected>>,
}

/// A client and the statements it has prepared.
struct Connected {
    client: Client,
    statements: HashMap<&'static str, Statement>,
}

impl Postgres {
    /// Connects, and makes the schema when it is missing.
    pub(crate) fn create(url: &str, schema: &str) -> Result<Self, DriverError> {
        let driver = Self::new(url, schema)?;
        let connected = driver.take()?;
        let lock = lock_key(schema);
        let schema = quoted(schema);
        block_on(connected.client.batch_execute(&format!(
            "begin; select pg_advisory_xact_lock({lock}); create schema if not exists {schema}; commit"
        )))?;
        driver.give_back(connected);
        Ok(driver)
    }

    /// Connects to a schema that is there; none when it is not.
    pub(crate) fn existing(url: &str, schema: &str) -> Result<Option<Self>, DriverError> {
        let driver = Self::new(url, schema)?;
        let connected = driver.take()?;
        let found = block_on(
            connected.client.query("select 1 from pg_namespace where nspname = $1", &[&schema]),
        )?;
        driver.give_back(connected);
        Ok((!found.is_empty()).then_some(driver))
    }

    fn new(url: &str, schema: &str) -> Result<Self, DriverError> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("postgres")
            .enable_all()
            .build()?;
        let mut config: Config = url.parse()?;
        if config.get_application_name().is_none() {
            config.application_name("highwater");
        }
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT);
        }
        let schema = schema.to_owned();
        Ok(Self { config, schema, runtime: Some(runtime), idle: Mutex::default() })
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
        let wants_tls = self.config.get_ssl_mode() == SslMode::Require;
        let client = if wants_tls { self.dial(tls()?)? } else { self.dial(NoTls)? };
        block_on(client.batch_execute(&format!(
            "set search_path to {}; set lock_timeout = '10s';
             set idle_in_transaction_session_timeout = '60s'",
            quoted(&self.schema)
        )))?;
        Ok(Connected { client, statements: HashMap::new() })
    }

    /// Connects on our runtime, and leaves the connection there.
    fn dial<T>(&self, tls: T) -> Result<Client, DriverError>
    where
        T: tokio_postgres::tls::MakeTlsConnect<tokio_postgres::Socket> + Send + 'static,
        T::TlsConnect: Send,
        T::Stream: Send,
        <T::TlsConnect as tokio_postgres::tls::TlsConnect<tokio_postgres::Socket>>::Future: Send,
    {
        let runtime = self.runtime.as_ref().expect("the runtime stays until the driver is dropped");
        let (answer, answered) = mpsc::channel();
        let config = self.config.clone();
        runtime.spawn(async move {
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
        Ok(answered.recv()??)
    }
}

/// Dropping a runtime waits for it, which an async caller's thread must not do.
impl Drop for Postgres {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

fn tls() -> Result<MakeRustlsConnect, DriverError> {
    // an error means that the program has chosen its provider already
    drop(rustls::crypto::ring::default_provider().install_default());
    let (tls, unreadable) = MakeRustlsConnect::with_native_certs()
        .map_err(|errors| format!("no certificate authorities on this machine: {errors:?}"))?;
    for error in unreadable {
        tracing::warn!(%error, "a certificate authority of this machine cannot be used");
    }
    Ok(tls)
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
        Ok(Box::new(Loan::of(self)?))
    }

    fn reader(&self) -> Result<Box<dyn Session + '_>, DriverError> {
        self.writer()
    }
}
