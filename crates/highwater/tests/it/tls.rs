//! TLS: which authorities highwater trusts, and how soon it gives up on an untrusted host.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::fixture::{GitHubFixture, TOKEN, failure_output, program_command};

#[test]
fn tls_with_an_unknown_authority_ends_a_pull_soon_and_names_ssl_cert_file() {
    let (address, home) = (serve_tls(), tempfile::tempdir().unwrap());
    let url = format!("https://{address}");
    let mut pull = program_command(&["pull", "-o", "acme", "--api-url", &url, "-m"]);
    let began = std::time::Instant::now();
    let output = pull.arg(home.path()).env("GITHUB_TOKEN", TOKEN).output().unwrap();
    let (code, stderr) = failure_output(&output);
    assert_eq!(code, Some(1));
    assert!(stderr.contains(&format!("caused by: cannot set up TLS with {address}: ")), "{stderr}");
    assert!(stderr.contains("set SSL_CERT_FILE to a PEM file"), "{stderr}");
    assert!(began.elapsed().as_secs() < 10, "{:?}", began.elapsed());
    assert_eq!(
        std::fs::read_dir(home.path().join("db")).unwrap().count(),
        0,
        "no database is left"
    );
}

#[test]
fn tls_with_a_server_that_speaks_plain_http_is_reported_as_such() {
    let (fixture, home) = (GitHubFixture::start_small(), tempfile::tempdir().unwrap());
    let url = fixture.url().replace("http://", "https://");
    let mut doctor = program_command(&["doctor", "github", "--api-url", &url, "-m"]);
    let output = doctor.arg(home.path()).env("GITHUB_TOKEN", TOKEN).output().unwrap();
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert!(stdout.contains("cannot set up TLS with 127.0.0.1:"), "{stdout}");
    assert!(stdout.contains(": the server closed the connection; it may not use TLS"), "{stdout}");
}

#[test]
fn tls_trusts_the_authority_that_ssl_cert_file_names() {
    let (address, home) = (serve_tls(), tempfile::tempdir().unwrap());
    let url = format!("https://{address}");
    let mut doctor = program_command(&["doctor", "github", "--api-url", &url, "-m"]);
    doctor.arg(home.path()).env("GITHUB_TOKEN", TOKEN);
    let output = doctor.env("SSL_CERT_FILE", fixture_path("authority.pem")).output().unwrap();
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert!(stdout.contains(&format!("ok    rest           – {url} answers")), "{stdout}");
}

/// Serves TLS on loopback until the test ends: each request is refused with 401.
fn serve_tls() -> SocketAddr {
    let certificate = CertificateDer::from_pem_file(fixture_path("server.pem")).unwrap();
    let key = PrivateKeyDer::from_pem_file(fixture_path("server.key")).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider);
    let config = config.with_safe_default_protocol_versions().unwrap().with_no_client_auth();
    let config = Arc::new(config.with_single_cert(vec![certificate], key).unwrap());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let session = ServerConnection::new(Arc::clone(&config)).unwrap();
            std::thread::spawn(move || refuse_request(StreamOwned::new(session, stream)));
        }
    });
    address
}

/// Answers one request; a client that does not trust the certificate closes before it.
fn refuse_request(mut stream: StreamOwned<ServerConnection, TcpStream>) {
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

fn fixture_path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fake/tls").join(name)
}
