//! An MCP client over stdio, line by line.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use crate::fixture::{program_command, with_default_hangup};

pub(crate) struct McpStdioClient {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    request_count: u64,
}

impl McpStdioClient {
    /// Starts a server without `initialize`.
    pub(crate) fn start(args: &[&str]) -> Self {
        let mut command = with_default_hangup(&program_command(&["mcp"]));
        command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        let mut child = command.spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        Self { input: child.stdin.take(), output, child, request_count: 0 }
    }

    /// Starts a server and initializes it.
    pub(crate) fn start_initialized(args: &[&str]) -> Self {
        let mut client = Self::start(args);
        client.initialize();
        client
    }

    pub(crate) fn initialize(&mut self) -> Value {
        let params = json!({
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": { "name": "test", "version": "1" }
        });
        let greeting = self.request_result("initialize", &params);
        self.send_message(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        greeting
    }

    pub(crate) fn call_tool(&mut self, tool: &str, arguments: &Value) -> Value {
        self.request_result("tools/call", &json!({ "name": tool, "arguments": arguments }))
    }

    /// Sends a request and waits for its result.
    pub(crate) fn request_result(&mut self, method: &str, params: &Value) -> Value {
        self.request_count += 1;
        self.send_message(
            &json!({ "jsonrpc": "2.0", "id": self.request_count, "method": method, "params": params }),
        );
        let answer = self.next_answer();
        assert_eq!(answer["id"], self.request_count, "{answer}");
        assert!(answer.get("error").is_none(), "{answer}");
        answer["result"].clone()
    }

    fn send_message(&mut self, message: &Value) {
        writeln!(self.input.as_mut().unwrap(), "{message}").unwrap();
    }

    /// Sends a request and waits for its answer, which may be an error.
    pub(crate) fn request_answer(&mut self, method: &str, params: &Value) -> Value {
        self.request_count += 1;
        self.send_message(
            &json!({ "jsonrpc": "2.0", "id": self.request_count, "method": method, "params": params }),
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

    /// Closes the input, and checks that the server ends without further output.
    pub(crate) fn close_and_wait(mut self) {
        drop(self.input.take());
        let mut rest = String::new();
        assert_eq!(self.output.read_line(&mut rest).unwrap(), 0, "{rest}");
        assert_eq!(self.child.wait().unwrap().code(), Some(0));
    }

    /// Sends a signal while the server waits for input, and returns its exit code.
    pub(crate) fn stop_with_signal(&mut self, signal: &str) -> Option<i32> {
        let process = self.child.id().to_string();
        assert!(Command::new("kill").args([signal, &process]).status().unwrap().success());
        self.child.wait().unwrap().code()
    }
}

impl Drop for McpStdioClient {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// Returns the first text of an answer.
pub(crate) fn first_text(answer: &Value) -> &str {
    answer["content"][0]["text"].as_str().unwrap()
}
