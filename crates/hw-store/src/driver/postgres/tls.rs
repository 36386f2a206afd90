//! TLS to the server, as far as the URL's `sslmode` wants it.

use std::error::Error as StdError;

use tokio_postgres::config::SslMode;
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::error::DriverError;

/// What speaks TLS; none when nobody wants it, or when it is merely preferred and cannot be had.
pub(super) fn of(mode: SslMode) -> Result<Option<MakeRustlsConnect>, DriverError> {
    if mode == SslMode::Disable {
        return Ok(None);
    }
    match connector() {
        Err(error) if mode == SslMode::Prefer => {
            tracing::warn!(error = &*error, "PostgreSQL is spoken to without TLS");
            Ok(None)
        }
        made => made.map(Some),
    }
}

fn connector() -> Result<MakeRustlsConnect, DriverError> {
    // an error means that the program has chosen its provider already
    drop(rustls::crypto::ring::default_provider().install_default());
    let (tls, unreadable) = MakeRustlsConnect::with_native_certs()
        .map_err(|errors| format!("no certificate authorities on this machine: {errors:?}"))?;
    for error in unreadable {
        tracing::warn!(%error, "a certificate authority of this machine cannot be used");
    }
    Ok(tls)
}

/// Whether a connection failed because the two sides could not agree on TLS.
pub(super) fn is_to_blame(error: &(dyn StdError + 'static)) -> bool {
    let inside = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
    let blamed = inside.is_some_and(<dyn StdError + Send + Sync>::is::<rustls::Error>);
    blamed || error.is::<rustls::Error>() || error.source().is_some_and(is_to_blame)
}
