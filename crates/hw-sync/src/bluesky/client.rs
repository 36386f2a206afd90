//! A client of Bluesky: it opens a session where one is needed, and renews it when it has expired.

use hw_rules::bluesky::account_ref::AccountRef;
use hw_sources::bluesky::session::{CreateSessionQuery, RefreshSessionQuery, Session};
use hw_sources::bluesky::source::BlueskySource;
use hw_sources::bluesky::xrpc::XrpcEndpoint;
use hw_sources::error::SourceError;
use hw_sources::query::Query;
use secrecy::SecretString;
use tokio::sync::Mutex;

use crate::SyncError;
use crate::api_client::{ApiClient, FetchError};
use crate::retry_policy::RequestOptions;

/// The account to log in with.
#[derive(Debug, Clone)]
pub struct Credentials {
    pub account: AccountRef,
    pub app_password: SecretString,
}

pub struct BlueskyClient {
    api: ApiClient<BlueskySource>,
    source: BlueskySource,
    credentials: Option<Credentials>,
    session: Mutex<SessionState>,
}

#[derive(Default)]
struct SessionState {
    session: Option<Session>,
    /// How many sessions there were. Of several requests that find one expired, the first renews it.
    number: u64,
}

impl BlueskyClient {
    /// Creates a client. `source` is the one that `api` speaks to: they share the session.
    pub fn new(
        api: ApiClient<BlueskySource>,
        source: BlueskySource,
        credentials: Option<Credentials>,
    ) -> Self {
        Self { api, source, credentials, session: Mutex::default() }
    }

    /// Returns the client of the API, which knows what the requests cost.
    pub fn api(&self) -> &ApiClient<BlueskySource> {
        &self.api
    }

    pub(crate) fn has_credentials(&self) -> bool {
        self.credentials.is_some()
    }

    /// Sends a query, logged in if there are credentials. An expired session is renewed once.
    pub(crate) async fn fetch<Q>(&self, query: &Q, size: u32) -> Result<Q::Page, FetchError>
    where
        Q: Query<Endpoint = XrpcEndpoint>,
    {
        let Some(credentials) = &self.credentials else {
            return self.fetch_once(query, size).await.map_err(explain_login);
        };
        let number = self.open_session(credentials).await?;
        match self.fetch_once(query, size).await {
            Err(FetchError::Source(SourceError::SessionExpired(_))) => {
                self.renew_session(credentials, number).await?;
                self.fetch_once(query, size).await
            }
            result => result,
        }
    }

    async fn fetch_once<Q>(&self, query: &Q, mut size: u32) -> Result<Q::Page, FetchError>
    where
        Q: Query<Endpoint = XrpcEndpoint>,
    {
        self.api.fetch(query, RequestOptions::FEED, &mut size).await
    }

    /// Logs in unless that was done before. Returns the number of the session.
    async fn open_session(&self, credentials: &Credentials) -> Result<u64, FetchError> {
        let mut state = self.session.lock().await;
        if state.session.is_none() {
            let session = self.log_in(credentials).await?;
            self.use_session(&mut state, session);
        }
        Ok(state.number)
    }

    async fn renew_session(
        &self,
        credentials: &Credentials,
        expired: u64,
    ) -> Result<(), FetchError> {
        let mut state = self.session.lock().await;
        if state.number > expired {
            return Ok(());
        }
        let renewed = match &state.session {
            Some(session) => {
                let query = RefreshSessionQuery { session };
                self.api.fetch(&query, RequestOptions::FEED, &mut 1).await
            }
            None => self.log_in(credentials).await,
        };
        let session = match renewed {
            // the refresh token has expired, too, or was used up by another process
            Err(FetchError::Source(
                SourceError::SessionExpired(_)
                | SourceError::TokenRejected(_)
                | SourceError::InvalidRequest(_),
            )) => self.log_in(credentials).await?,
            renewed => renewed?,
        };
        self.use_session(&mut state, session);
        Ok(())
    }

    async fn log_in(&self, credentials: &Credentials) -> Result<Session, FetchError> {
        let Credentials { account, app_password } = credentials;
        let query = CreateSessionQuery { account, app_password };
        let session = self.api.fetch(&query, RequestOptions::FEED, &mut 1).await;
        session.map_err(|error| refuse_login(error, account))
    }

    fn use_session(&self, state: &mut SessionState, session: Session) {
        self.source.use_session(&session);
        state.session = Some(session);
        state.number += 1;
    }
}

/// Says how to log in at a server that requires it.
fn explain_login(error: FetchError) -> FetchError {
    if let FetchError::Source(SourceError::TokenRejected(reason)) = error {
        let advice = "set BLUESKY_HANDLE and BLUESKY_APP_PASSWORD";
        return FetchError::Source(SourceError::TokenRejected(format!("{reason}; {advice}")));
    }
    error
}

/// Makes every refusal of a login end the poll: no request would succeed without it.
fn refuse_login(error: FetchError, account: &AccountRef) -> FetchError {
    let reason = match &error {
        FetchError::Source(SourceError::TokenRejected(reason)) => reason.clone(),
        FetchError::Source(
            refusal @ (SourceError::SessionExpired(_)
            | SourceError::AccountUnavailable(_)
            | SourceError::InvalidRequest(_)
            | SourceError::Hidden(_)),
        ) => refusal.to_string(),
        FetchError::Source(_) | FetchError::Sync(_) => return error,
    };
    let reason = format!("cannot log in as {account}: {reason}");
    FetchError::Source(SourceError::TokenRejected(reason))
}

/// Returns the error of a request that was not about a single account.
pub(crate) fn into_sync_error(error: FetchError, subject: &str) -> SyncError {
    match error {
        FetchError::Source(error) => SyncError::Source { lane: subject.to_owned(), error },
        FetchError::Sync(error) => error,
    }
}
