//! The same over HTTP: who may come in, and who may not.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::house::{failed, hearing_hangups, program, pulled};

const SECRET: &str = "0nlyCallersKnowThis";

#[test]
fn over_http_it_answers_this_machine_and_no_foreign_page() {
    let (_house, home) = pulled();
    let served = Served::with(&["-m", home.path().to_str().unwrap(), "--http", "0"], None);
    let own = served.address.clone();
    let port = own.rsplit_once(':').unwrap().1;
    let localhost = format!("localhost:{port}");
    for host in [own.as_str(), &localhost] {
        let (status, answer) =
            served.post(&[("Host", host), ("Origin", &format!("http://{host}"))]);
        assert_eq!(status, 200, "{answer}");
        let answer: Value = serde_json::from_str(&answer).unwrap();
        assert!(answer["result"]["content"][0]["text"].as_str().unwrap().starts_with("## "));
    }
    for (host, origin) in [
        ("evil.example", None),
        (&format!("evil.example:{port}"), None),
        ("127.0.0.1:1", None),
        (own.as_str(), Some("https://evil.example")),
        (own.as_str(), Some("http://localhost:1")),
        (own.as_str(), Some("null")),
    ] {
        let origin = origin.map(|it| ("Origin", it));
        let headers: Vec<_> = [("Host", host)].into_iter().chain(origin).collect();
        assert_eq!(served.post(&headers).0, 403, "{headers:?}");
    }
    assert_eq!(served.post(&[("Host", &own)]).0, 200, "without an origin it is no page that asks");
}

#[test]
fn a_token_that_is_set_has_to_be_known() {
    let (_house, home) = pulled();
    let args = ["-m", home.path().to_str().unwrap(), "--http", "127.0.0.1:0"];
    let served = Served::with(&args, Some(SECRET));
    let host = ("Host", served.address.as_str());
    let (status, answer) = served.post(&[host]);
    assert_eq!((status, answer.contains("bearer token")), (401, true), "{answer}");
    assert!(served.raw(&[host]).to_lowercase().contains("www-authenticate: bearer"));
    assert_eq!(served.post(&[host, ("Authorization", "Bearer wrong")]).0, 401);
    let bearer = format!("Bearer {SECRET}");
    assert_eq!(served.post(&[host, ("Authorization", &bearer)]).0, 200);
    let foreign = ("Host", "evil.example");
    assert_eq!(served.post(&[foreign, ("Authorization", &bearer)]).0, 403);
}

#[test]
fn hangup_ends_it_over_http_as_well() {
    let home = tempfile::tempdir().unwrap();
    let mut served = Served::with(&["-m", home.path().to_str().unwrap(), "--http", "0"], None);
    let process = served.child.id().to_string();
    assert!(Command::new("kill").args(["-HUP", &process]).status().unwrap().success());
    assert_eq!(served.child.wait().unwrap().code(), Some(0));
}

#[test]
fn beyond_this_machine_it_does_not_start_without_a_token() {
    let home = tempfile::tempdir().unwrap();
    let start = |args: &[&str]| {
        let mut command = program(&["mcp", "-m", home.path().to_str().unwrap()]);
        command.args(args).stdin(Stdio::null());
        command
    };
    let (code, told) = failed(&start(&["--http", "0.0.0.0:0"]).output().unwrap());
    assert_eq!(code, Some(1));
    assert!(
        told.contains("there is no token") && told.contains("hint: set HIGHWATER_MCP_TOKEN"),
        "{told}"
    );
    let mut named = start(&["--http", "0.0.0.0:0"]);
    let (code, told) = failed(&named.env("HIGHWATER_MCP_TOKEN", SECRET).output().unwrap());
    assert_eq!(code, Some(1));
    assert!(told.contains("hint: name it with --allow-host") && !told.contains(SECRET), "{told}");
    let served = Served::with(
        &[
            "-m",
            home.path().to_str().unwrap(),
            "--http",
            "0.0.0.0:0",
            "--allow-host",
            "mcp.example.com",
        ],
        Some(SECRET),
    );
    let bearer = format!("Bearer {SECRET}");
    let status = |host| served.post(&[("Host", host), ("Authorization", &bearer)]).0;
    assert_eq!((status("mcp.example.com"), status("evil.example")), (200, 403));
}

/// A server, until the test ends.
struct Served {
    child: Child,
    address: String,
}

impl Served {
    fn with(args: &[&str], token: Option<&str>) -> Self {
        let mut command = hearing_hangups(&program(&["mcp"]));
        command.args(args).envs(token.map(|token| ("HIGHWATER_MCP_TOKEN", token)));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        stderr.read_line(&mut line).unwrap();
        // what it says later is read, so that it never has to wait
        std::thread::spawn(move || std::io::copy(&mut stderr, &mut std::io::sink()));
        let url =
            line.trim_end().strip_prefix("listening on http://").expect("it says where it listens");
        let address = url.strip_suffix("/mcp").unwrap().replace("0.0.0.0", "127.0.0.1");
        Self { child, address }
    }

    /// One call of `list_issues`; its status and its body.
    fn post(&self, headers: &[(&str, &str)]) -> (u16, String) {
        let answer = self.raw(headers);
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head[9..12].parse().unwrap(), body.to_owned())
    }

    fn raw(&self, headers: &[(&str, &str)]) -> String {
        let call = json!({
            "jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": { "name": "list_issues", "arguments": { "limit": 1 } }
        })
        .to_string();
        let mut request = format!(
            "POST /mcp HTTP/1.1\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
             Connection: close\r\nContent-Length: {}\r\n",
            call.len()
        );
        headers.iter().for_each(|(name, value)| request.push_str(&format!("{name}: {value}\r\n")));
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.write_all(format!("{request}\r\n{call}").as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
