//! A conversation over stdio, line by line.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use crate::house::{hearing_hangups, program};

pub(crate) struct Talk {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    asked: u64,
}

impl Talk {
    /// A server that nobody has greeted yet.
    pub(crate) fn with(args: &[&str]) -> Self {
        let mut command = hearing_hangups(&program(&["mcp"]));
        command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        let mut child = command.spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        Self { input: child.stdin.take(), output, child, asked: 0 }
    }

    /// One that was greeted.
    pub(crate) fn begun(args: &[&str]) -> Self {
        let mut talk = Self::with(args);
        talk.initialize();
        talk
    }

    pub(crate) fn initialize(&mut self) -> Value {
        let params = json!({
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": { "name": "test", "version": "1" }
        });
        let hello = self.ask("initialize", &params);
        self.say(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        hello
    }

    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        self.ask("tools/call", &json!({ "name": tool, "arguments": arguments }))
    }

    /// Asks, and waits for the result.
    pub(crate) fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.asked += 1;
        self.say(
            &json!({ "jsonrpc": "2.0", "id": self.asked, "method": method, "params": params }),
        );
        let answer = self.next_answer();
        assert_eq!(answer["id"], self.asked, "{answer}");
        assert!(answer.get("error").is_none(), "{answer}");
        answer["result"].clone()
    }

    fn say(&mut self, message: &Value) {
        writeln!(self.input.as_mut().unwrap(), "{message}").unwrap();
    }

    /// Asks, and waits for whatever is answered, an error included.
    pub(crate) fn answer(&mut self, method: &str, params: &Value) -> Value {
        self.asked += 1;
        self.say(
            &json!({ "jsonrpc": "2.0", "id": self.asked, "method": method, "params": params }),
        );
        self.next_answer()
    }

    /// Sends these bytes and a newline.
    pub(crate) fn send_line(&mut self, line: &[u8]) {
        let input = self.input.as_mut().unwrap();
        input.write_all(&[line, b"\n"].concat()).unwrap();
    }

    /// Reads the next line of its output.
    pub(crate) fn next_answer(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).expect("every line of stdout is JSON")
    }

    /// Closes its input: it ends, with nothing more to say.
    pub(crate) fn end(mut self) {
        drop(self.input.take());
        let mut rest = String::new();
        assert_eq!(self.output.read_line(&mut rest).unwrap(), 0, "{rest}");
        assert_eq!(self.child.wait().unwrap().code(), Some(0));
    }

    /// Sends a signal while it waits for input; the exit code that follows.
    pub(crate) fn stopped_by(&mut self, signal: &str) -> Option<i32> {
        let process = self.child.id().to_string();
        assert!(Command::new("kill").args([signal, &process]).status().unwrap().success());
        self.child.wait().unwrap().code()
    }
}

impl Drop for Talk {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// The first text of an answer.
pub(crate) fn text(answer: &Value) -> &str {
    answer["content"][0]["text"].as_str().unwrap()
}
