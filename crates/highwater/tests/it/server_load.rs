//! Both HTTP servers under load: idle sockets, slow senders, and many readers during a pull.

use std::io::{BufRead as _, BufReader, ErrorKind, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use hw_sync::clock::{Clock as _, MachineClock};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::json;

use crate::fixture::{GitHubFixture, program_command, pull_small_world};

const IDLE_SOCKETS: usize = 2_000;
/// One second is the promise; the rest allows for a machine that is busy with other tests.
const DEADLINE_MS: i64 = 5_000;
const READ_TIMEOUT: Duration = Duration::from_secs(60);

/// The arguments that start each server on a free port.
const SERVERS: [&[&str]; 2] = [&["ui", "-p", "0"], &["mcp", "--http", "0"]];

#[test]
fn servers_answer_a_user_behind_two_thousand_idle_sockets() {
    raise_own_limit();
    let (_fixture, home) = pull_small_world();
    for args in SERVERS {
        // fewer files than sockets: only a cap on connections helps
        let server = LoadedServer::start(args, home.path(), "ulimit -n 512");
        let idle: Vec<TcpStream> = (0..IDLE_SOCKETS).map(|_| server.connect()).collect();
        let began_ms = MachineClock.now_ms();
        let answer = server.request_once();
        let took_ms = MachineClock.now_ms() - began_ms;
        assert!(answer.starts_with("HTTP/1.1 200"), "{args:?}: {answer}");
        assert!(took_ms < DEADLINE_MS, "{args:?}: {took_ms} ms");
        println!("{args:?}: {took_ms} ms behind {} idle sockets", idle.len());
        let log = server.stop();
        assert_eq!(log.matches("too many connections").count(), 1, "{args:?}: {log}");
    }
}

#[test]
fn servers_close_a_peer_that_sends_its_header_byte_by_byte() {
    let (_fixture, home) = pull_small_world();
    std::thread::scope(|scope| {
        for args in SERVERS {
            let home = home.path();
            scope.spawn(move || {
                let server = LoadedServer::start(args, home, ":");
                let mut stream = server.connect();
                stream.write_all(b"GET / HTTP/1.1\r\nhost: ").unwrap();
                let bytes = (0..60).find(|_| !is_still_open(&mut stream));
                let bytes = bytes.unwrap_or_else(|| panic!("{args:?}: not closed after 60 bytes"));
                println!("{args:?}: closed after {bytes} bytes, one a second");
            });
        }
    });
}

#[test]
fn servers_raise_their_soft_limit_of_open_files() {
    let (_fixture, home) = pull_small_world();
    for args in SERVERS {
        let server = LoadedServer::start(args, home.path(), "ulimit -Sn 100");
        assert!(server.request_once().starts_with("HTTP/1.1 200"));
        let [soft, hard] = server.open_file_limits();
        assert_eq!(soft, hard, "{args:?}");
    }
}

#[test]
fn servers_survive_with_fewer_files_than_connections() {
    let (_fixture, home) = pull_small_world();
    for args in SERVERS {
        // so few that accepting a connection fails at times
        let server = LoadedServer::start(args, home.path(), "ulimit -n 24");
        let idle: Vec<TcpStream> = (0..100).map(|_| server.connect()).collect();
        assert!(server.request_once().starts_with("HTTP/1.1 200"), "{args:?}");
        drop(idle);
        let log = server.stop();
        assert_eq!(log.matches("cannot accept a connection").count(), 1, "{args:?}: {log}");
    }
}

#[test]
fn servers_answer_fifty_connections_beside_a_pull_without_an_error() {
    let (fixture, home) = pull_small_world();
    let rounds = requests_each();
    for args in SERVERS {
        let server = LoadedServer::start(args, home.path(), ":");
        let is_over = AtomicBool::new(false);
        let (pulls, memory) = std::thread::scope(|scope| {
            let pulls = scope.spawn(|| pull_until(&is_over, &fixture, home.path()));
            // caches fill and threads start in the first half
            let memory = [0; 2].map(|_| {
                server.assert_answers_all(rounds / 2);
                server.resident_kb()
            });
            is_over.store(true, Ordering::SeqCst);
            (pulls.join().unwrap(), memory)
        });
        assert!(pulls > 0, "no pull ran meanwhile");
        let [half, end] = memory;
        println!("{args:?}: {} requests, {pulls} pulls, {half} kB, then {end} kB", 50 * rounds);
        assert!(end < half + 32_768, "{args:?}: {half} kB, then {end} kB");
    }
}

/// Returns the number of requests per connection; `HIGHWATER_LOAD` sets it.
fn requests_each() -> usize {
    std::env::var("HIGHWATER_LOAD").ok().map_or(20, |text| text.parse().unwrap())
}

/// Pulls everything repeatedly, and returns the number of pulls.
fn pull_until(is_over: &AtomicBool, fixture: &GitHubFixture, home: &Path) -> usize {
    let mut pulls = 0;
    while !is_over.load(Ordering::SeqCst) {
        fixture.pull_json(home, &["-f"]);
        pulls += 1;
    }
    pulls
}

/// Sends one byte, and returns whether the connection is still open after a second.
fn is_still_open(stream: &mut TcpStream) -> bool {
    stream.set_read_timeout(Some(Duration::from_secs(1))).unwrap();
    if stream.write_all(b"x").is_err() {
        return false;
    }
    let received = stream.read_exact(&mut [0; 1]).map_err(|error| error.kind());
    matches!(received, Err(ErrorKind::WouldBlock | ErrorKind::TimedOut))
}

/// A server that ends with the test.
struct LoadedServer {
    child: Child,
    address: String,
    is_mcp: bool,
    /// Collects what the server writes to stderr after its startup.
    log: Option<JoinHandle<String>>,
}

impl Drop for LoadedServer {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

impl LoadedServer {
    /// Starts a server from a shell that has set its limits, and waits until it listens.
    fn start(args: &[&str], home: &Path, limits: &str) -> Self {
        let mut command = with_limits(&program_command(args), limits);
        command.arg("-m").arg(home).stdin(Stdio::null()).stdout(Stdio::null());
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
        let url = lines.find_map(|line| Some(line.split_once("http://")?.1.to_owned())).unwrap();
        let address = url.split('/').next().unwrap().to_owned();
        // a full pipe would block the server
        let log = std::thread::spawn(move || lines.collect::<Vec<_>>().join("\n"));
        Self { child, address, is_mcp: args[0] == "mcp", log: Some(log) }
    }

    /// Ends the server, and returns its log.
    fn stop(mut self) -> String {
        self.child.kill().unwrap();
        self.log.take().unwrap().join().unwrap()
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(READ_TIMEOUT)).unwrap();
        stream
    }

    /// Sends requests over fifty parallel connections, and checks that every answer is 200.
    fn assert_answers_all(&self, requests: usize) {
        std::thread::scope(|scope| {
            for _ in 0..50 {
                scope.spawn(|| {
                    let mut stream = BufReader::new(self.connect());
                    for _ in 0..requests {
                        let request = self.search_request("keep-alive");
                        stream.get_mut().write_all(request.as_bytes()).unwrap();
                        assert_eq!(read_answer(&mut stream), "HTTP/1.1 200 OK");
                    }
                });
            }
        });
    }

    /// Returns the soft and the hard limit of open files.
    fn open_file_limits(&self) -> [String; 2] {
        let limits = self.process_file("limits");
        let line = limits.lines().find(|line| line.starts_with("Max open files")).unwrap();
        let words: Vec<&str> = line.split_whitespace().collect();
        [words[3].to_owned(), words[4].to_owned()]
    }

    fn resident_kb(&self) -> u64 {
        let status = self.process_file("status");
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    }

    fn process_file(&self, name: &str) -> String {
        std::fs::read_to_string(format!("/proc/{}/{name}", self.child.id())).unwrap()
    }

    /// Sends one request over a new connection, and returns the whole answer.
    fn request_once(&self) -> String {
        let mut stream = self.connect();
        stream.write_all(self.search_request("close").as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    /// Builds a search request in the server's own protocol.
    fn search_request(&self, connection: &str) -> String {
        let host = &self.address;
        if !self.is_mcp {
            return format!(
                "GET /search?q=pump HTTP/1.1\r\nhost: {host}\r\nconnection: {connection}\r\n\r\n"
            );
        }
        let call = json!({
            "jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": { "name": "search", "arguments": { "query": "pump" } }
        })
        .to_string();
        format!(
            "POST /mcp HTTP/1.1\r\nhost: {host}\r\ncontent-type: application/json\r\n\
             accept: application/json, text/event-stream\r\nconnection: {connection}\r\ncontent-length: {}\r\n\r\n{call}",
            call.len()
        )
    }
}

/// Reads one answer to its end, and returns its first line.
fn read_answer(stream: &mut BufReader<TcpStream>) -> String {
    let (mut first, mut length) = (String::new(), None);
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).unwrap();
        let line = line.trim_end();
        if line.is_empty() {
            break;
        }
        if first.is_empty() {
            line.clone_into(&mut first);
        }
        length = length.or(line.to_lowercase().strip_prefix("content-length: ").map(str::to_owned));
    }
    let length: usize = length.expect("every answer has a content-length").parse().unwrap();
    stream.read_exact(&mut vec![0; length]).unwrap();
    first
}

/// Runs the command in a shell with these limits.
fn with_limits(command: &Command, limits: &str) -> Command {
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", &format!("{limits}; exec \"$0\" \"$@\"")]);
    shell.arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    shell
}

/// Lets this process open as many sockets as the machine allows.
fn raise_own_limit() {
    let maximum = getrlimit(Resource::Nofile).maximum;
    setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }).unwrap();
}
