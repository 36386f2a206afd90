//! The server that Bluesky is read from, and a client of it.

use std::sync::Arc;

use hw_rules::pace::RequestPace;
use hw_sources::bluesky::feed::MAX_FEED_ROWS;
use hw_sources::bluesky::source::{BlueskySource, PUBLIC_URL};
use hw_sources::http_transport::HttpTransport;
use hw_store::{DatabaseLocation, StoreWriter};
use hw_sync::api_client::{ApiClient, ClientConfig};
use hw_sync::bluesky::client::{BlueskyClient, Credentials};
use hw_sync::clock::MachineClock;
use hw_sync::crash_points::CrashPoints;
use hw_sync::progress::ProgressSink;
use hw_sync::work_threads::WorkThreads;
use hw_sync::{RetryPolicy, SyncError};
use tokio_util::sync::CancellationToken;

use crate::api_endpoints;
use crate::config::{self, AppSettings};
use crate::hints;
use crate::interrupt::StoppableTransport;
use crate::report::ErrorHint;

/// The server that accounts of the public network log in to.
const LOGIN_URL: &str = "https://bsky.social";
/// The name under which posts of the public network are stored, whichever of its servers they were read from.
const PUBLIC_HOST: &str = "bsky.app";

/// A server, and how it is used.
pub(crate) struct BlueskyServer {
    url: String,
    /// Its name, with the port.
    authority: String,
    credentials: Option<Credentials>,
}

impl BlueskyServer {
    pub(crate) fn from_settings(settings: &AppSettings) -> anyhow::Result<Self> {
        let account = settings.bluesky_account.clone();
        let credentials = match (account, settings.bluesky_app_password.clone()) {
            (Some(account), Some(app_password)) => Some(Credentials { account, app_password }),
            (None, None) => None,
            (Some(_), None) => return Err(half_login("BLUESKY_HANDLE", "BLUESKY_APP_PASSWORD")),
            (None, Some(_)) => return Err(half_login("BLUESKY_APP_PASSWORD", "BLUESKY_HANDLE")),
        };
        let default_url = if credentials.is_some() { LOGIN_URL } else { PUBLIC_URL };
        let url = settings.bluesky_url.as_deref().unwrap_or(default_url);
        let url = api_endpoints::parse_api_url(url).map_err(anyhow::Error::msg)?;
        let authority = url.split_once("://").map_or(url, |(_, rest)| rest);
        let authority = authority.split('/').next().unwrap_or(authority).to_ascii_lowercase();
        Ok(Self { url: url.to_owned(), authority, credentials })
    }

    /// Returns the host under which its accounts and posts are stored.
    pub(crate) fn content_host(&self) -> &str {
        let is_public = self.authority == "bsky.social"
            || [".bsky.app", ".bsky.network"].iter().any(|suffix| self.authority.ends_with(suffix));
        if is_public { PUBLIC_HOST } else { &self.authority }
    }

    pub(crate) fn open_client(
        &self,
        settings: &AppSettings,
        store: &StoreWriter,
        progress: ProgressSink,
        stop: &CancellationToken,
    ) -> anyhow::Result<BlueskyClient> {
        let source = BlueskySource::new(&self.url);
        let config = ClientConfig {
            source: source.clone(),
            retry_policy: RetryPolicy::bluesky(&settings.polling),
            transport: Arc::new(StoppableTransport {
                transport: HttpTransport::with_proxy(settings.parse_proxy())?,
                stop: stop.clone(),
            }),
            clock: Arc::new(MachineClock),
            machine: config::machine_name(),
            crash_points: CrashPoints::default(),
            progress,
            pace: RequestPace::Adaptive,
            reserve_percent: settings.reserve_percent,
            largest_page: MAX_FEED_ROWS,
            seed: fastrand::u64(..),
            work_threads: WorkThreads::Background,
        };
        let api = ApiClient::new(config, store.clone(), &self.authority);
        Ok(BlueskyClient::new(api, source, self.credentials.clone()))
    }
}

fn half_login(given: &str, missing: &str) -> anyhow::Error {
    let hint = format!("set {missing}, too, or neither of them: public posts need no account");
    anyhow::anyhow!("{given} is set, and {missing} is not").context(ErrorHint(hint))
}

/// Describes a command that failed.
pub(super) fn sync_error(
    error: SyncError,
    failed: &'static str,
    location: &DatabaseLocation,
) -> anyhow::Error {
    let hint = match &error {
        SyncError::Source { error, .. } => hints::bluesky_hint(error),
        SyncError::Store(error) => hints::database_hint(error),
        SyncError::Busy { .. }
        | SyncError::RejectedPage { .. }
        | SyncError::SweepStopped { .. }
        | SyncError::Unconfirmed { .. }
        | SyncError::RunBrake { .. }
        | SyncError::IncompleteRead { .. }
        | SyncError::Yielded
        | SyncError::ServiceRunning { .. }
        | SyncError::Crashed(_) => hints::RETRY_HINT,
    };
    let reason = hints::bluesky_reason(&error);
    let cause = if let SyncError::Store(error) = error {
        anyhow::Error::new(error).context(format!("cannot use {}", location.display_name()))
    } else {
        anyhow::anyhow!(reason)
    };
    cause.context(failed).context(ErrorHint(hint.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_of_the_public_network_share_a_host() {
        for (authority, host) in [
            ("public.api.bsky.app", "bsky.app"),
            ("api.bsky.app", "bsky.app"),
            ("bsky.social", "bsky.app"),
            ("morel.us-east.host.bsky.network", "bsky.app"),
            ("pds.example:8443", "pds.example:8443"),
            ("notbsky.app", "notbsky.app"),
        ] {
            let authority = authority.to_owned();
            let server = BlueskyServer { url: String::new(), authority, credentials: None };
            assert_eq!(server.content_host(), host);
        }
    }
}
