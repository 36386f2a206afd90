//! The web pages of the real program: while a pull writes, when it is stopped, and when it cannot start.

use std::io::{BufRead as _, BufReader, Read, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use hw_sync::clock::{Clock as _, MachineClock};

use crate::fixture::{GitHubFixture, failure_output, program_command, with_default_hangup};

/// Two seconds are promised; a busy machine may need more.
const DEADLINE_MS: i64 = 6_000;
/// The longest wait for an answer or an event.
const WAIT_TIMEOUT: Duration = Duration::from_secs(30);

#[test]
fn web_page_opened_before_the_first_pull_is_notified() {
    for named in [&["-o", "acme"][..], &[]] {
        assert_reported_when_created(named);
    }
}

fn assert_reported_when_created(named: &[&str]) {
    let (fixture, home) = (GitHubFixture::start_small(), tempfile::tempdir().unwrap());
    let web = WebProcess::open(&[&["ui", "-p", "0"], named].concat(), home.path());
    assert!(web.startup_output.contains("nothing pulled yet"), "{}", web.startup_output);
    let page = web.get_page("/");
    assert!(page.starts_with("HTTP/1.1 200 OK") && page.contains("id=\"no-workspace\""), "{page}");
    let mut events = web.open_events("/events?since=-1");
    fixture.pull_json(home.path(), &[]);
    assert!(has_next_line(&mut events, "event: changed"), "the stream reports the change");
    let page = web.get_page("/search?q=pump");
    assert!(page.contains("class=\"hit-link\""), "{page}");
}

#[test]
fn web_page_is_notified_of_a_new_item_from_another_process() {
    let (fixture, home) = (GitHubFixture::start_small(), tempfile::tempdir().unwrap());
    fixture.pull_json(home.path(), &[]);
    let web = WebProcess::open(&["ui", "-p", "0"], home.path());
    let page = web.get_page("/");
    let since = page.split("/events?since=").nth(1).unwrap().split('"').next().unwrap();
    let mut events = web.open_events(&format!("/events?since={since}"));
    assert!(!web.get_page("/search?q=narwhal").contains("class=\"hit-link\""));
    fixture.with_github(|github| {
        let repository = *github.world().truth().repositories.keys().next().unwrap();
        let now_ms = MachineClock.now_ms();
        github.world_mut().create_issue(repository, "A narwhal", "It was seen.", now_ms);
    });
    fixture.pull_json(home.path(), &[]);
    assert!(has_next_line(&mut events, "event: changed"), "the stream reports the change");
    assert!(web.get_page("/search?q=narwhal").contains("class=\"hit-link\""));
}

#[test]
fn web_server_ends_on_a_signal_with_an_open_stream() {
    for signal in ["-INT", "-TERM", "-HUP"] {
        let home = tempfile::tempdir().unwrap();
        let mut web = WebProcess::open(&["ui", "-p", "0", "-o", "acme"], home.path());
        let _events = web.open_events("/events?since=-1");
        let began_ms = MachineClock.now_ms();
        assert_eq!(web.stop_with_signal(signal), Some(0), "{signal}");
        let took_ms = MachineClock.now_ms() - began_ms;
        assert!(took_ms < DEADLINE_MS, "{signal}: {took_ms}");
    }
}

#[test]
fn web_port_in_use_is_reported_with_a_hint() {
    let (home, taken) = (tempfile::tempdir().unwrap(), TcpListener::bind("127.0.0.1:0").unwrap());
    let port = taken.local_addr().unwrap().port().to_string();
    let mut command = program_command(&["ui", "-m"]);
    let (code, stderr) =
        failure_output(&command.arg(home.path()).env("UI_PORT", &port).output().unwrap());
    assert_eq!(code, Some(1));
    let expected = format!(
        "Error: cannot listen on 127.0.0.1:{port}\n  caused by: Address already in use\n\
         hint: another program uses that port; choose another one with --port"
    );
    assert!(stderr.starts_with(&expected), "{stderr}");
}

#[test]
fn web_server_warns_when_it_listens_beyond_this_machine() {
    let home = tempfile::tempdir().unwrap();
    let args = ["ui", "-p", "0", "--listen", "0.0.0.0", "--allow-host", "box.example"];
    let web = WebProcess::open(&args, home.path());
    assert!(web.startup_output.contains("warning: anyone who can reach"), "{}", web.startup_output);
    assert!(web.request_page("/", "box.example").starts_with("HTTP/1.1 200"));
    assert!(web.request_page("/", "evil.example").starts_with("HTTP/1.1 421"));
}

#[test]
fn web_server_names_the_workspaces_that_it_cannot_choose_from() {
    let home = tempfile::tempdir().unwrap();
    let web = WebProcess::open(&["ui", "-p", "0"], home.path());
    std::fs::create_dir_all(home.path().join("db")).unwrap();
    for name in ["a.db", "b.db"] {
        std::fs::write(home.path().join("db").join(name), "").unwrap();
    }
    let page = web.get_page("/");
    assert!(page.contains("<p>There are several workspaces: a, b."), "{page}");
}

#[test]
fn web_server_on_all_interfaces_needs_a_host_name() {
    let home = tempfile::tempdir().unwrap();
    let mut command = program_command(&["ui", "-p", "0", "--listen", "0.0.0.0", "-m"]);
    let (code, stderr) = failure_output(&command.arg(home.path()).output().unwrap());
    assert_eq!(code, Some(1));
    assert!(stderr.contains("listening on all interfaces (0.0.0.0:"), "{stderr}");
    assert!(
        stderr.contains("hint: pass the host name that browsers use: --allow-host"),
        "{stderr}"
    );
}

#[test]
fn web_pages_of_the_demo_are_served() {
    let home = tempfile::tempdir().unwrap();
    let mut web = WebProcess::open(&["demo", "-p", "0"], home.path());
    let page = web.get_page("/search?q=pump");
    let thread = page.split("class=\"hit-link\" href=\"").nth(1).expect("the search has a hit");
    let thread = web.get_page(thread.split('"').next().unwrap());
    assert!(thread.contains("https://github.example/harborworks/"), "{thread}");
    for page in [page, thread] {
        assert!(!page.contains("//github.com"), "links to the real GitHub: {page}");
    }
    assert_eq!(web.stop_with_signal("-HUP"), Some(0));
}

/// A process that serves pages; it ends with the test.
pub(crate) struct WebProcess {
    child: Child,
    host: String,
    /// Its output until it was ready.
    startup_output: String,
}

impl Drop for WebProcess {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

impl WebProcess {
    /// Starts the process, and waits until it prints its address.
    pub(crate) fn open(args: &[&str], home: &Path) -> Self {
        let mut command = with_default_hangup(&program_command(args));
        command.arg("-m").arg(home).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut startup_output = String::new();
        // only results go to stdout, and `ui` has none
        let stream: Box<dyn Read + Send> = match args[0] {
            "demo" => Box::new(child.stdout.take().unwrap()),
            _ => Box::new(child.stderr.take().unwrap()),
        };
        let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
        let host = lines.find_map(|line| {
            startup_output.push_str(&line);
            let address = line.split_once("http://")?.1;
            Some(address.trim_end_matches('/').to_owned())
        });
        let host = host.unwrap_or_else(|| panic!("no address in the output: {startup_output}"));
        // later output is read, so that the process never blocks on a full pipe
        std::thread::spawn(move || lines.count());
        Self { child, host, startup_output }
    }

    pub(crate) fn get_page(&self, path: &str) -> String {
        self.request_page(path, &self.host)
    }

    /// Requests a page under this host name, and returns the whole answer.
    fn request_page(&self, path: &str, host: &str) -> String {
        let mut stream = self.connect();
        write!(stream, "GET {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    /// Opens a stream of events.
    fn open_events(&self, path: &str) -> BufReader<TcpStream> {
        let mut stream = self.connect();
        write!(stream, "GET {path} HTTP/1.1\r\nhost: {}\r\n\r\n", self.host).unwrap();
        let mut lines = BufReader::new(stream);
        assert!(has_next_line(&mut lines, "content-type: text/event-stream"));
        lines
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.host).unwrap();
        stream.set_read_timeout(Some(WAIT_TIMEOUT)).unwrap();
        stream
    }

    /// Sends a signal, and returns the exit code.
    fn stop_with_signal(&mut self, signal: &str) -> Option<i32> {
        let process = self.child.id().to_string();
        assert!(Command::new("kill").args([signal, &process]).status().unwrap().success());
        self.child.wait().unwrap().code()
    }
}

/// Reads lines until this one comes; returns false if the stream ends before.
fn has_next_line(lines: &mut BufReader<TcpStream>, expected: &str) -> bool {
    lines.lines().map_while(Result::ok).any(|line| line == expected)
}
