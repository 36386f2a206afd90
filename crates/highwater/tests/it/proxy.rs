//! `github.proxy`: requests pass through it, its password is nowhere, and nothing else is taken for one.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use crate::house::{House, TOKEN, failed, program, succeeded, warned};

const PASSWORD: &str = "pr0xy-passw0rd";

#[test]
fn proxy_that_is_set_carries_every_request_of_a_pull() {
    let (house, home, proxy) = (House::small(), tempfile::tempdir().unwrap(), Forwarder::start());
    let mut pull = house.pull(&["--json", "-m", home.path().to_str().unwrap()]);
    let output = pull.env("HIGHWATER_GITHUB_PROXY", proxy.url()).output().unwrap();
    let summary: Value = serde_json::from_str(&succeeded(&output)).unwrap();
    assert_eq!(summary["complete"], true, "{summary}");
    let seen = proxy.seen();
    assert_eq!(seen.len(), house.requests(), "each request passed through the proxy");
    assert!(!seen.is_empty(), "nothing passed, so nothing was proven");
    for request in &seen {
        let target = request.line.split(' ').nth(1).unwrap();
        assert!(target.starts_with(house.url()), "{}", request.line);
        let expected = format!("Basic {}", STANDARD.encode(format!("me:{PASSWORD}")));
        assert_eq!(request.header("proxy-authorization"), Some(expected.as_str()));
        assert!(request.header("authorization").is_some_and(|it| it.ends_with(TOKEN)));
    }
}

#[test]
fn proxy_of_the_environment_is_not_used() {
    let (house, home, proxy) = (House::small(), tempfile::tempdir().unwrap(), Forwarder::start());
    let mut pull = house.pull(&["-m", home.path().to_str().unwrap()]);
    for name in ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"]
    {
        pull.env(name, proxy.url());
    }
    succeeded(&pull.output().unwrap());
    assert_eq!(proxy.seen().len(), 0);
    assert!(house.requests() > 0);
}

/// Over HTTPS the proxy learns the host and nothing more: the token is sent through the tunnel.
#[test]
fn proxy_tunnels_https_and_never_sees_the_token() {
    let (home, proxy) = (tempfile::tempdir().unwrap(), Forwarder::start());
    let mut pull = program(&["doctor", "github", "--api-url", "https://ghe.invalid/api/v3", "-m"]);
    pull.arg(home.path()).env("GITHUB_TOKEN", TOKEN).env("HIGHWATER_GITHUB_PROXY", proxy.url());
    let output = pull.output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let seen = proxy.seen();
    assert!(!seen.is_empty(), "nothing was asked for, so nothing was proven");
    for request in seen {
        assert!(request.line.starts_with("CONNECT ghe.invalid:443 "), "{}", request.line);
        assert_eq!(request.header("authorization"), None);
    }
}

#[test]
fn proxy_that_does_not_answer_is_named_without_its_password() {
    let (house, home) = (House::small(), tempfile::tempdir().unwrap());
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    drop(taken);
    let proxy = format!("http://me:{PASSWORD}@{address}");
    let mut doctor = house.doctor(&["github", "-m", home.path().to_str().unwrap()]);
    let output = doctor.env("HIGHWATER_GITHUB_PROXY", &proxy).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let told = String::from_utf8(output.stdout.clone()).unwrap() + &warned(&output);
    let named = format!("proxy http://me:[masked]@{address}");
    assert!(told.contains(&named) && told.contains("github.proxy"), "{told}");
    assert!(!told.contains(PASSWORD), "{told}");
    assert_eq!(house.requests(), 0);
}

#[test]
fn proxy_that_refuses_its_credentials_is_named() {
    let (house, home, proxy) =
        (House::small(), tempfile::tempdir().unwrap(), Forwarder::refusing());
    let mut doctor = house.doctor(&["github", "-m", home.path().to_str().unwrap()]);
    let output = doctor.env("HIGHWATER_GITHUB_PROXY", proxy.url()).output().unwrap();
    let told = String::from_utf8(output.stdout).unwrap();
    assert!(told.contains("the proxy http://me:[masked]@") && told.contains("407"), "{told}");
    assert!(!told.contains(PASSWORD), "{told}");
}

#[test]
fn proxy_is_shown_without_its_password_and_checked() {
    let home = tempfile::tempdir().unwrap();
    let show = |value: &str, api: Option<&str>| {
        let mut command = program(&["config", "show", "-m"]);
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
        let told = succeeded(&show(&value, None));
        let line = told.lines().find(|line| line.starts_with("github.proxy ")).unwrap();
        assert!(line.contains(shown) && line.ends_with("environment"), "{line}");
        assert!(!told.contains(PASSWORD), "{told}");
    }
    for (value, wrong) in [
        ("proxy.example:3128", "expected a proxy such as http://proxy.example:3128"),
        ("ftp://proxy.example", "expected a proxy such as http://proxy.example:3128"),
        ("socks5://proxy.example", "SOCKS proxies are not supported"),
        ("http://proxy.example/path", "expected a proxy such as http://proxy.example:3128"),
        ("http://me:pr0xy-passw0rd@", "expected a proxy such as http://proxy.example:3128"),
    ] {
        let (code, told) = failed(&show(value, None));
        assert_eq!(code, Some(1), "{value}");
        let place = "HIGHWATER_GITHUB_PROXY in the environment";
        assert!(told.contains(&format!("{place}: {wrong}")), "{value}: {told}");
        assert!(!told.contains(PASSWORD), "{told}");
    }
    let in_the_clear = show("http://proxy.example:3128", Some("http://127.0.0.1:1"));
    let (_, told) = failed(&in_the_clear);
    assert!(told.contains("the token would travel to the proxy in the clear"), "{told}");
}

#[test]
fn proxy_with_a_password_in_a_file_that_others_read_is_warned_about() {
    use std::os::unix::fs::PermissionsExt as _;
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("highwater.toml");
    let line = format!("github.proxy = \"http://me:{PASSWORD}@proxy.example:3128\"\n");
    std::fs::write(&file, line).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
    let output = program(&["config", "show", "-m"]).arg(home.path()).output().unwrap();
    assert!(warned(&output).contains("which holds a password: chmod 600"), "{output:?}");
}

/// One request as the proxy saw it.
#[derive(Clone)]
struct Passed {
    line: String,
    headers: Vec<(String, String)>,
}

impl Passed {
    fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(it, _)| it == name).map(|(_, value)| value.as_str())
    }
}

/// A forward proxy on a loopback port; it ends with the process.
struct Forwarder {
    url: String,
    passed: Arc<Mutex<Vec<Passed>>>,
}

impl Forwarder {
    fn start() -> Self {
        Self::answering(forward)
    }

    /// One that wants other credentials.
    fn refusing() -> Self {
        Self::answering(|client, _, _| {
            let refusal = "HTTP/1.1 407 Proxy Authentication Required\r\n\
                           content-length: 0\r\nconnection: close\r\n\r\n";
            client.write_all(refusal.as_bytes()).ok();
        })
    }

    fn answering(answer: fn(&mut TcpStream, &Passed, &[u8])) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://me:{PASSWORD}@{}", listener.local_addr().unwrap());
        let passed = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&passed);
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let seen = Arc::clone(&seen);
                std::thread::spawn(move || serve(client, &seen, answer));
            }
        });
        Self { url, passed }
    }

    fn url(&self) -> &str {
        &self.url
    }

    fn seen(&self) -> Vec<Passed> {
        self.passed.lock().unwrap().clone()
    }
}

/// Answers one request of a connection, and closes it.
fn serve(
    mut client: TcpStream,
    seen: &Mutex<Vec<Passed>>,
    answer: fn(&mut TcpStream, &Passed, &[u8]),
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
    let passed = Passed { line, headers };
    let length = passed.header("content-length").map_or(0, |it| it.parse().unwrap());
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    seen.lock().unwrap().push(passed.clone());
    answer(&mut client, &passed, &body);
}

/// Sends a request in absolute form on to its host. There is no way out to any other host.
fn forward(client: &mut TcpStream, passed: &Passed, body: &[u8]) {
    let words: Vec<&str> = passed.line.split(' ').collect();
    let Some(rest) = words[1].strip_prefix("http://") else {
        client.write_all(b"HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n").ok();
        return;
    };
    let (host, path) = rest.split_once('/').unwrap();
    let kept = passed.headers.iter().filter(|(name, _)| !name.starts_with("proxy-"));
    let mut head = format!("{} /{path} HTTP/1.1\r\nconnection: close\r\n", words[0]);
    for (name, value) in kept.filter(|(name, _)| name != "connection") {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    let mut server = TcpStream::connect(host).unwrap();
    server.write_all(format!("{head}\r\n").as_bytes()).unwrap();
    server.write_all(body).unwrap();
    server.shutdown(Shutdown::Write).unwrap();
    let mut answer = Vec::new();
    server.read_to_end(&mut answer).ok();
    let end = answer.windows(2).position(|it| it == b"\r\n").unwrap_or(answer.len());
    answer.splice(end..end, *b"\r\nconnection: close");
    client.write_all(&answer).ok();
}
