//! TLS: whom highwater trusts, and how soon it gives up on a host that it cannot trust.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::house::{TOKEN, failed, program};

#[test]
fn tls_with_an_unknown_authority_ends_a_pull_soon_and_names_ssl_cert_file() {
    let (address, home) = (serve_tls(), tempfile::tempdir().unwrap());
    let url = format!("https://{address}");
    let mut pull = program(&["pull", "-o", "acme", "--api-url", &url, "-m"]);
    let began = std::time::Instant::now();
    let output = pull.arg(home.path()).env("GITHUB_TOKEN", TOKEN).output().unwrap();
    let (code, told) = failed(&output);
    assert_eq!(code, Some(1));
    assert!(told.contains(&format!("because cannot set up TLS with {address}: ")), "{told}");
    assert!(told.contains("SSL_CERT_FILE names a PEM file"), "{told}");
    assert!(began.elapsed().as_secs() < 10, "{:?}", began.elapsed());
    assert_eq!(std::fs::read_dir(home.path().join("db")).unwrap().count(), 0, "nothing is left");
}

#[test]
fn tls_trusts_the_authority_that_ssl_cert_file_names() {
    let (address, home) = (serve_tls(), tempfile::tempdir().unwrap());
    let url = format!("https://{address}");
    let mut doctor = program(&["doctor", "github", "--api-url", &url, "-m"]);
    doctor.arg(home.path()).env("GITHUB_TOKEN", TOKEN);
    let output = doctor.env("SSL_CERT_FILE", fixture("authority.pem")).output().unwrap();
    let told = String::from_utf8(output.stdout).unwrap();
    assert!(told.contains(&format!("ok    rest           – {url} answers")), "{told}");
}

/// Serves TLS on loopback until the test ends: each request is refused with 401.
fn serve_tls() -> SocketAddr {
    let certificate = CertificateDer::from_pem_file(fixture("server.pem")).unwrap();
    let key = PrivateKeyDer::from_pem_file(fixture("server.key")).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider);
    let config = config.with_safe_default_protocol_versions().unwrap().with_no_client_auth();
    let config = Arc::new(config.with_single_cert(vec![certificate], key).unwrap());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let session = ServerConnection::new(Arc::clone(&config)).unwrap();
            std::thread::spawn(move || refuse(StreamOwned::new(session, stream)));
        }
    });
    address
}

/// Answers one request; a client that does not trust us ends before it.
fn refuse(mut stream: StreamOwned<ServerConnection, TcpStream>) {
    const REFUSED: &str = "HTTP/1.1 401 Unauthorized\r\ndate: Thu, 01 Jan 2026 00:00:00 GMT\r\n\
                           content-length: 29\r\nconnection: close\r\n\r\n{\"message\":\"Bad credentials\"}";
    let mut line = String::new();
    let mut reader = BufReader::new(&mut stream);
    while reader.read_line(&mut line).is_ok_and(|length| length > 2) {
        line.clear();
    }
    stream.write_all(REFUSED.as_bytes()).ok();
    stream.conn.send_close_notify();
    stream.flush().ok();
}

fn fixture(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fake/tls").join(name)
}
