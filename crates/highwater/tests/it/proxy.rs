//! `github.proxy`: requests pass through it, its password is never printed, and no other proxy is used.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use crate::fixture::{
    GitHubFixture, TOKEN, failure_output, program_command, stderr_text, success_stdout,
};

const PASSWORD: &str = "pr0xy-passw0rd";

#[test]
fn proxy_that_is_set_carries_every_request_of_a_pull() {
    let (fixture, home, proxy) =
        (GitHubFixture::start_small(), tempfile::tempdir().unwrap(), ForwardProxy::start());
    let mut pull = fixture.pull_command(&["--json", "-m", home.path().to_str().unwrap()]);
    let output = pull.env("HIGHWATER_GITHUB_PROXY", proxy.url()).output().unwrap();
    let summary: Value = serde_json::from_str(&success_stdout(&output)).unwrap();
    assert_eq!(summary["complete"], true, "{summary}");
    let seen = proxy.seen_requests();
    assert_eq!(seen.len(), fixture.request_count(), "each request passed through the proxy");
    assert!(!seen.is_empty(), "nothing passed, so nothing was proven");
    for request in &seen {
        let target = request.request_line.split(' ').nth(1).unwrap();
        assert!(target.starts_with(fixture.url()), "{}", request.request_line);
        let expected = format!("Basic {}", STANDARD.encode(format!("me:{PASSWORD}")));
        assert_eq!(request.header("proxy-authorization"), Some(expected.as_str()));
        assert!(request.header("authorization").is_some_and(|value| value.ends_with(TOKEN)));
    }
}

#[test]
fn proxy_of_the_environment_is_not_used() {
    let (fixture, home, proxy) =
        (GitHubFixture::start_small(), tempfile::tempdir().unwrap(), ForwardProxy::start());
    let mut pull = fixture.pull_command(&["-m", home.path().to_str().unwrap()]);
    for name in ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"]
    {
        pull.env(name, proxy.url());
    }
    success_stdout(&pull.output().unwrap());
    assert_eq!(proxy.seen_requests().len(), 0);
    assert!(fixture.request_count() > 0);
}

/// Over HTTPS the proxy learns the host and nothing more: the token is sent through the tunnel.
#[test]
fn proxy_tunnels_https_and_never_sees_the_token() {
    let (home, proxy) = (tempfile::tempdir().unwrap(), ForwardProxy::start());
    let mut pull =
        program_command(&["doctor", "github", "--api-url", "https://ghe.invalid/api/v3", "-m"]);
    pull.arg(home.path()).env("GITHUB_TOKEN", TOKEN).env("HIGHWATER_GITHUB_PROXY", proxy.url());
    let output = pull.output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let seen = proxy.seen_requests();
    assert!(!seen.is_empty(), "no request was sent, so nothing was proven");
    for request in seen {
        assert!(
            request.request_line.starts_with("CONNECT ghe.invalid:443 "),
            "{}",
            request.request_line
        );
        assert_eq!(request.header("authorization"), None);
    }
}

#[test]
fn proxy_that_does_not_answer_is_named_without_its_password() {
    let (fixture, home) = (GitHubFixture::start_small(), tempfile::tempdir().unwrap());
    let unused = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = unused.local_addr().unwrap();
    drop(unused);
    let proxy = format!("http://me:{PASSWORD}@{address}");
    let mut doctor = fixture.doctor_command(&["github", "-m", home.path().to_str().unwrap()]);
    let output = doctor.env("HIGHWATER_GITHUB_PROXY", &proxy).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let stdout = String::from_utf8(output.stdout.clone()).unwrap() + &stderr_text(&output);
    let named = format!("through the proxy http://me:[masked]@{address}: Connection refused");
    assert!(stdout.contains(&named) && stdout.contains("github.proxy"), "{stdout}");
    assert!(!stdout.contains(PASSWORD), "{stdout}");
    assert_eq!(fixture.request_count(), 0);
}

#[test]
fn proxy_that_refuses_its_credentials_is_named() {
    let (fixture, home, proxy) = (
        GitHubFixture::start_small(),
        tempfile::tempdir().unwrap(),
        ForwardProxy::start_refusing(),
    );
    let mut doctor = fixture.doctor_command(&["github", "-m", home.path().to_str().unwrap()]);
    let output = doctor.env("HIGHWATER_GITHUB_PROXY", proxy.url()).output().unwrap();
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert!(stdout.contains("the proxy http://me:[masked]@") && stdout.contains("407"), "{stdout}");
    assert!(!stdout.contains(PASSWORD), "{stdout}");
}

#[test]
fn proxy_is_shown_without_its_password_and_checked() {
    let home = tempfile::tempdir().unwrap();
    let show = |value: &str, api: Option<&str>| {
        let mut command = program_command(&["config", "show", "-m"]);
        command.arg(home.path()).env("HIGHWATER_GITHUB_PROXY", value);
        command.envs(api.map(|api| ("GITHUB_API_URL", api))).output().unwrap()
    };
    for (value, shown) in [
        (
            format!("http://me:{PASSWORD}@proxy.example:3128"),
            "http://me:[masked]@proxy.example:3128",
        ),
        (format!("https://{PASSWORD}@proxy.example"), "https://[masked]@proxy.example"),
        ("http://proxy.example:3128/".to_owned(), "http://proxy.example:3128/"),
    ] {
        let printed = success_stdout(&show(&value, None));
        let line = printed.lines().find(|line| line.starts_with("github.proxy ")).unwrap();
        assert!(line.contains(shown) && line.ends_with("environment"), "{line}");
        assert!(!printed.contains(PASSWORD), "{printed}");
    }
    for (value, wrong) in [
        ("proxy.example:3128", "expected a proxy such as http://proxy.example:3128"),
        ("ftp://proxy.example", "expected a proxy such as http://proxy.example:3128"),
        ("socks5://proxy.example", "SOCKS proxies are not supported"),
        ("http://proxy.example/path", "expected a proxy such as http://proxy.example:3128"),
        ("http://me:pr0xy-passw0rd@", "expected a proxy such as http://proxy.example:3128"),
    ] {
        let (code, printed) = failure_output(&show(value, None));
        assert_eq!(code, Some(1), "{value}");
        let origin = "HIGHWATER_GITHUB_PROXY in the environment";
        assert!(printed.contains(&format!("{origin}: {wrong}")), "{value}: {printed}");
        assert!(!printed.contains(PASSWORD), "{printed}");
    }
    let unencrypted = show("http://proxy.example:3128", Some("http://127.0.0.1:1"));
    let (_, printed) = failure_output(&unencrypted);
    assert!(printed.contains("the proxy would see the token in plain text"), "{printed}");
}

#[test]
fn proxy_password_in_a_file_that_others_can_read_causes_a_warning() {
    use std::os::unix::fs::PermissionsExt as _;
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("highwater.toml");
    let line = format!("github.proxy = \"http://me:{PASSWORD}@proxy.example:3128\"\n");
    std::fs::write(&file, line).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
    let output = program_command(&["config", "show", "-m"]).arg(home.path()).output().unwrap();
    assert!(
        stderr_text(&output).contains("which contains a password; run `chmod 600"),
        "{output:?}"
    );
}

/// One request as the proxy saw it.
#[derive(Clone)]
struct ProxiedRequest {
    request_line: String,
    headers: Vec<(String, String)>,
}

impl ProxiedRequest {
    fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

/// A forward proxy on a loopback port; it ends with the process.
struct ForwardProxy {
    url: String,
    requests: Arc<Mutex<Vec<ProxiedRequest>>>,
}

impl ForwardProxy {
    fn start() -> Self {
        Self::start_with(forward_request)
    }

    /// Starts a proxy that refuses the credentials.
    fn start_refusing() -> Self {
        Self::start_with(|client, _, _| {
            let refusal = "HTTP/1.1 407 Proxy Authentication Required\r\n\
                           content-length: 0\r\nconnection: close\r\n\r\n";
            client.write_all(refusal.as_bytes()).ok();
        })
    }

    fn start_with(answer: fn(&mut TcpStream, &ProxiedRequest, &[u8])) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://me:{PASSWORD}@{}", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&requests);
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let seen = Arc::clone(&seen);
                std::thread::spawn(move || serve_connection(client, &seen, answer));
            }
        });
        Self { url, requests }
    }

    fn url(&self) -> &str {
        &self.url
    }

    fn seen_requests(&self) -> Vec<ProxiedRequest> {
        self.requests.lock().unwrap().clone()
    }
}

/// Answers one request of a connection, and closes it.
fn serve_connection(
    mut client: TcpStream,
    seen: &Mutex<Vec<ProxiedRequest>>,
    answer: fn(&mut TcpStream, &ProxiedRequest, &[u8]),
) {
    let mut reader = BufReader::new(client.try_clone().unwrap());
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 {
            return;
        }
        match line.trim_end() {
            "" => break,
            line => lines.push(line.to_owned()),
        }
    }
    let line = lines.remove(0);
    let headers = lines.iter().filter_map(|line| line.split_once(": "));
    let headers =
        headers.map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned())).collect();
    let request = ProxiedRequest { request_line: line, headers };
    let length = request.header("content-length").map_or(0, |length| length.parse().unwrap());
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    seen.lock().unwrap().push(request.clone());
    answer(&mut client, &request, &body);
}

/// Forwards a request in absolute form to its host; refuses every other request.
fn forward_request(client: &mut TcpStream, request: &ProxiedRequest, body: &[u8]) {
    let words: Vec<&str> = request.request_line.split(' ').collect();
    let Some(rest) = words[1].strip_prefix("http://") else {
        client.write_all(b"HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n").ok();
        return;
    };
    let (host, path) = rest.split_once('/').unwrap();
    let forwarded = request.headers.iter().filter(|(name, _)| !name.starts_with("proxy-"));
    let mut head = format!("{} /{path} HTTP/1.1\r\nconnection: close\r\n", words[0]);
    for (name, value) in forwarded.filter(|(name, _)| name != "connection") {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    let mut server = TcpStream::connect(host).unwrap();
    server.write_all(format!("{head}\r\n").as_bytes()).unwrap();
    server.write_all(body).unwrap();
    server.shutdown(Shutdown::Write).unwrap();
    let mut answer = Vec::new();
    server.read_to_end(&mut answer).ok();
    let end = answer.windows(2).position(|pair| pair == b"\r\n").unwrap_or(answer.len());
    answer.splice(end..end, *b"\r\nconnection: close");
    client.write_all(&answer).ok();
}
