//! The pages of the real program: while a pull writes, when it is stopped, and when it cannot start.

use std::io::{BufRead as _, BufReader, Read, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use hw_sync::clock::{Clock as _, MachineClock};

use crate::house::{House, failed, hearing_hangups, program};

/// Two seconds, and as much again and more for a machine that has other things to do.
const DEADLINE_MS: i64 = 6_000;
/// How long something that is under way is waited for.
const PATIENCE: Duration = Duration::from_secs(30);

#[test]
fn a_page_opened_before_the_first_pull_is_told_when_it_comes() {
    for named in [&["-o", "acme"][..], &[]] {
        is_told_when_it_comes(named);
    }
}

fn is_told_when_it_comes(named: &[&str]) {
    let (house, home) = (House::small(), tempfile::tempdir().unwrap());
    let face = Face::open(&[&["ui", "-p", "0"], named].concat(), home.path());
    assert!(face.told.contains("nothing was pulled yet"), "{}", face.told);
    let page = face.get("/");
    assert!(page.starts_with("HTTP/1.1 200 OK") && page.contains("id=\"no-workspace\""), "{page}");
    let mut events = face.events("/events?since=-1");
    house.pulled(home.path(), &[]);
    assert!(next_line(&mut events, "event: changed"), "the stream tells");
    let page = face.get("/search?q=pump");
    assert!(page.contains("class=\"hit-link\""), "{page}");
}

#[test]
fn a_new_item_of_another_process_is_told_and_found() {
    let (house, home) = (House::small(), tempfile::tempdir().unwrap());
    house.pulled(home.path(), &[]);
    let face = Face::open(&["ui", "-p", "0"], home.path());
    let page = face.get("/");
    let since = page.split("/events?since=").nth(1).unwrap().split('"').next().unwrap();
    let mut events = face.events(&format!("/events?since={since}"));
    assert!(!face.get("/search?q=narwhal").contains("class=\"hit-link\""));
    house.look(|github| {
        let repository = *github.world().truth().repositories.keys().next().unwrap();
        let now_ms = MachineClock.now_ms();
        github.world_mut().create_issue(repository, "A narwhal", "It was seen.", now_ms);
    });
    house.pulled(home.path(), &[]);
    assert!(next_line(&mut events, "event: changed"), "the stream tells");
    assert!(face.get("/search?q=narwhal").contains("class=\"hit-link\""));
}

#[test]
fn a_signal_ends_it_soon_and_well_with_a_stream_open() {
    for signal in ["-INT", "-TERM", "-HUP"] {
        let home = tempfile::tempdir().unwrap();
        let mut face = Face::open(&["ui", "-p", "0", "-o", "acme"], home.path());
        let _events = face.events("/events?since=-1");
        let began_ms = MachineClock.now_ms();
        assert_eq!(face.stopped(signal), Some(0), "{signal}");
        let took_ms = MachineClock.now_ms() - began_ms;
        assert!(took_ms < DEADLINE_MS, "{signal}: {took_ms}");
    }
}

#[test]
fn a_port_that_is_taken_is_told_with_what_to_do() {
    let (home, taken) = (tempfile::tempdir().unwrap(), TcpListener::bind("127.0.0.1:0").unwrap());
    let port = taken.local_addr().unwrap().port().to_string();
    let mut command = program(&["ui", "-m"]);
    let (code, told) = failed(&command.arg(home.path()).env("UI_PORT", &port).output().unwrap());
    assert_eq!(code, Some(1));
    let expected = format!(
        "Error: cannot listen at 127.0.0.1:{port}\n  because Address already in use\n\
         hint: another program has that port: choose one with --port"
    );
    assert!(told.starts_with(&expected), "{told}");
}

#[test]
fn another_address_than_this_machine_is_said_loudly() {
    let home = tempfile::tempdir().unwrap();
    let args = ["ui", "-p", "0", "--listen", "0.0.0.0", "--allow-host", "box.example"];
    let face = Face::open(&args, home.path());
    assert!(face.told.contains("warning: EVERYBODY who can reach"), "{}", face.told);
    assert!(face.ask("/", "box.example").starts_with("HTTP/1.1 200"));
    assert!(face.ask("/", "evil.example").starts_with("HTTP/1.1 421"));
}

#[test]
fn every_address_of_this_machine_needs_a_name() {
    let home = tempfile::tempdir().unwrap();
    let mut command = program(&["ui", "-p", "0", "--listen", "0.0.0.0", "-m"]);
    let (code, told) = failed(&command.arg(home.path()).output().unwrap());
    assert_eq!(code, Some(1));
    assert!(told.contains("stands for every address of this machine"), "{told}");
    assert!(told.contains("hint: name it with --allow-host"), "{told}");
}

#[test]
fn the_demo_can_be_looked_at_in_a_browser() {
    let home = tempfile::tempdir().unwrap();
    let mut face = Face::open(&["demo", "-p", "0"], home.path());
    let page = face.get("/search?q=pump");
    let thread = page.split("class=\"hit-link\" href=\"").nth(1).expect("there is a hit");
    let thread = face.get(thread.split('"').next().unwrap());
    assert!(thread.contains("https://github.example/harbourworks/"), "{thread}");
    for page in [page, thread] {
        assert!(!page.contains("//github.com"), "the real GitHub is linked to: {page}");
    }
    assert_eq!(face.stopped("-HUP"), Some(0));
}

/// A program that serves pages; it ends with the test.
pub(crate) struct Face {
    child: Child,
    host: String,
    /// What it had told when it was ready.
    told: String,
}

impl Drop for Face {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

impl Face {
    /// Starts it, and waits until it has told where it is.
    pub(crate) fn open(args: &[&str], home: &Path) -> Self {
        let mut command = hearing_hangups(&program(args));
        command.arg("-m").arg(home).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut told = String::new();
        // results go to stdout, and `ui` has none
        let stream: Box<dyn Read + Send> = match args[0] {
            "demo" => Box::new(child.stdout.take().unwrap()),
            _ => Box::new(child.stderr.take().unwrap()),
        };
        let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
        let host = lines.find_map(|line| {
            told.push_str(&line);
            let address = line.split_once("http://")?.1;
            Some(address.trim_end_matches('/').to_owned())
        });
        let host = host.unwrap_or_else(|| panic!("it tells where it is: {told}"));
        // what it tells later has somebody who reads it
        std::thread::spawn(move || lines.count());
        Self { child, host, told }
    }

    pub(crate) fn get(&self, path: &str) -> String {
        self.ask(path, &self.host)
    }

    /// The whole answer to a request under some name.
    fn ask(&self, path: &str, host: &str) -> String {
        let mut stream = self.connect();
        write!(stream, "GET {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    /// A stream of events that is open.
    fn events(&self, path: &str) -> BufReader<TcpStream> {
        let mut stream = self.connect();
        write!(stream, "GET {path} HTTP/1.1\r\nhost: {}\r\n\r\n", self.host).unwrap();
        let mut lines = BufReader::new(stream);
        assert!(next_line(&mut lines, "content-type: text/event-stream"));
        lines
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.host).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    /// Sends a signal; the exit code that follows.
    fn stopped(&mut self, signal: &str) -> Option<i32> {
        let process = self.child.id().to_string();
        assert!(Command::new("kill").args([signal, &process]).status().unwrap().success());
        self.child.wait().unwrap().code()
    }
}

/// Whether such a line comes before the end.
fn next_line(lines: &mut BufReader<TcpStream>, expected: &str) -> bool {
    lines.lines().map_while(Result::ok).any(|line| line == expected)
}
