//! MCP over HTTP: which requests are accepted.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::fixture::{failure_output, program_command, pull_small_world, with_default_hangup};

const SECRET: &str = "0nlyCallersKnowThis";

#[test]
fn mcp_http_answers_this_machine_and_no_foreign_page() {
    let (_fixture, home) = pull_small_world();
    let server = McpHttpProcess::start(&["-m", home.path().to_str().unwrap(), "--http", "0"], None);
    let own = server.address.clone();
    let port = own.rsplit_once(':').unwrap().1;
    let localhost = format!("localhost:{port}");
    for host in [own.as_str(), &localhost] {
        let (status, answer) =
            server.call_list_issues(&[("Host", host), ("Origin", &format!("http://{host}"))]);
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
        let origin = origin.map(|value| ("Origin", value));
        let headers: Vec<_> = [("Host", host)].into_iter().chain(origin).collect();
        assert_eq!(server.call_list_issues(&headers).0, 403, "{headers:?}");
    }
    assert_eq!(
        server.call_list_issues(&[("Host", &own)]).0,
        200,
        "a request without an origin does not come from a page"
    );
}

#[test]
fn mcp_http_requires_the_token_when_set() {
    let (_fixture, home) = pull_small_world();
    let args = ["-m", home.path().to_str().unwrap(), "--http", "127.0.0.1:0"];
    let server = McpHttpProcess::start(&args, Some(SECRET));
    let host = ("Host", server.address.as_str());
    let (status, answer) = server.call_list_issues(&[host]);
    assert_eq!((status, answer.contains("bearer token")), (401, true), "{answer}");
    assert!(server.send_request(&[host]).to_lowercase().contains("www-authenticate: bearer"));
    assert_eq!(server.call_list_issues(&[host, ("Authorization", "Bearer wrong")]).0, 401);
    let bearer = format!("Bearer {SECRET}");
    assert_eq!(server.call_list_issues(&[host, ("Authorization", &bearer)]).0, 200);
    let foreign = ("Host", "evil.example");
    assert_eq!(server.call_list_issues(&[foreign, ("Authorization", &bearer)]).0, 403);
}

#[test]
fn mcp_http_ends_on_a_hangup() {
    let home = tempfile::tempdir().unwrap();
    let mut server =
        McpHttpProcess::start(&["-m", home.path().to_str().unwrap(), "--http", "0"], None);
    let process = server.child.id().to_string();
    assert!(Command::new("kill").args(["-HUP", &process]).status().unwrap().success());
    assert_eq!(server.child.wait().unwrap().code(), Some(0));
}

#[test]
fn mcp_http_needs_a_token_to_listen_beyond_this_machine() {
    let home = tempfile::tempdir().unwrap();
    let start = |args: &[&str]| {
        let mut command = program_command(&["mcp", "-m", home.path().to_str().unwrap()]);
        command.args(args).stdin(Stdio::null());
        command
    };
    let (code, stderr) = failure_output(&start(&["--http", "0.0.0.0:0"]).output().unwrap());
    assert_eq!(code, Some(1));
    assert!(
        stderr.contains("no token is set") && stderr.contains("hint: set HIGHWATER_MCP_TOKEN"),
        "{stderr}"
    );
    let mut named = start(&["--http", "0.0.0.0:0"]);
    let (code, stderr) =
        failure_output(&named.env("HIGHWATER_MCP_TOKEN", SECRET).output().unwrap());
    assert_eq!(code, Some(1));
    assert!(
        stderr.contains("hint: pass the host name that clients use: --allow-host")
            && !stderr.contains(SECRET),
        "{stderr}"
    );
    let server = McpHttpProcess::start(
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
    let status = |host| server.call_list_issues(&[("Host", host), ("Authorization", &bearer)]).0;
    assert_eq!((status("mcp.example.com"), status("evil.example")), (200, 403));
}

/// A server that ends with the test.
struct McpHttpProcess {
    child: Child,
    address: String,
}

impl McpHttpProcess {
    fn start(args: &[&str], token: Option<&str>) -> Self {
        let mut command = with_default_hangup(&program_command(&["mcp"]));
        command.args(args).envs(token.map(|token| ("HIGHWATER_MCP_TOKEN", token)));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        stderr.read_line(&mut line).unwrap();
        // later output is read, so that the server never blocks on a full pipe
        std::thread::spawn(move || std::io::copy(&mut stderr, &mut std::io::sink()));
        let url = line
            .trim_end()
            .strip_prefix("listening on http://")
            .expect("the server prints its address");
        let address = url.strip_suffix("/mcp").unwrap().replace("0.0.0.0", "127.0.0.1");
        Self { child, address }
    }

    /// Calls `list_issues`, and returns the status and the body.
    fn call_list_issues(&self, headers: &[(&str, &str)]) -> (u16, String) {
        let answer = self.send_request(headers);
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head[9..12].parse().unwrap(), body.to_owned())
    }

    fn send_request(&self, headers: &[(&str, &str)]) -> String {
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

impl Drop for McpHttpProcess {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
