//! TLS connections to the server, as the URL's `sslmode` requests them.

use std::error::Error as StdError;

use tokio_postgres::config::SslMode;
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::error::DriverError;

/// Returns a TLS connector. Returns none if TLS is disabled, or if it is only preferred and unavailable.
pub(super) fn connector_for(mode: SslMode) -> Result<Option<MakeRustlsConnect>, DriverError> {
    if mode == SslMode::Disable {
        return Ok(None);
    }
    match native_connector() {
        Err(error) if mode == SslMode::Prefer => {
            tracing::warn!(error = &*error, "connecting to PostgreSQL without TLS");
            Ok(None)
        }
        connector => connector.map(Some),
    }
}

fn native_connector() -> Result<MakeRustlsConnect, DriverError> {
    // an error means that the program has already installed a provider
    drop(rustls::crypto::ring::default_provider().install_default());
    let (tls, unreadable) = MakeRustlsConnect::with_native_certs()
        .map_err(|errors| format!("this machine has no certificate authorities: {errors:?}"))?;
    for error in unreadable {
        tracing::warn!(%error, "skipping an unusable certificate authority of this machine");
    }
    Ok(tls)
}

/// Returns true if a connection failed because of TLS.
pub(super) fn is_tls_error(error: &(dyn StdError + 'static)) -> bool {
    let inner = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
    inner.is_some_and(<dyn StdError + Send + Sync>::is::<rustls::Error>)
        || error.is::<rustls::Error>()
        || error.source().is_some_and(is_tls_error)
}
