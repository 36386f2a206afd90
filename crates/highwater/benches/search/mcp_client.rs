//! Searches through `highwater mcp`, over stdio.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use crate::search_times::{SearchTimes, now_ms};

pub(crate) struct McpBenchClient {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    request_count: u64,
}

impl McpBenchClient {
    pub(crate) fn start(database: &Path) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_highwater"))
            .args(["mcp", "--database"])
            .arg(database)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let mut mcp = Self { child, input, output: BufReader::new(output), request_count: 0 };
        let client = json!({ "name": "bench", "version": "1" });
        mcp.send_request(
            "initialize",
            &json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client }),
        );
        mcp.send_message(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        mcp
    }

    /// Runs each query and measures its wall-clock time.
    pub(crate) fn search(&mut self, queries: &[String]) -> SearchTimes {
        let mut measured = SearchTimes::default();
        for query in queries {
            let start_ms = now_ms();
            self.call_tool("search", &json!({ "query": query }));
            measured.push_wall(now_ms() - start_ms);
        }
        measured
    }

    /// Lists a thousand issues of each repository and measures the wall-clock time.
    pub(crate) fn list_issues(&mut self, repositories: usize) -> SearchTimes {
        let mut measured = SearchTimes::default();
        for repository in 0..repositories {
            let start_ms = now_ms();
            let arguments = json!({ "repository": format!("repo-{repository}"), "limit": 1_000 });
            let answer = self.call_tool("list_issues", &arguments);
            measured.push_wall(now_ms() - start_ms);
            let total = &answer["structuredContent"]["total"];
            assert!(total.as_u64().is_some_and(|count| count > 100), "{total}");
        }
        measured
    }

    fn call_tool(&mut self, tool: &str, arguments: &Value) -> Value {
        self.send_request("tools/call", &json!({ "name": tool, "arguments": arguments }))
    }

    fn send_request(&mut self, method: &str, params: &Value) -> Value {
        self.request_count += 1;
        self.send_message(
            &json!({ "jsonrpc": "2.0", "id": self.request_count, "method": method, "params": params }),
        );
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        let mut answer: Value = serde_json::from_str(&line).unwrap();
        assert!(answer["result"]["isError"] != true, "{line}");
        answer["result"].take()
    }

    fn send_message(&mut self, message: &Value) {
        writeln!(self.input, "{message}").unwrap();
        self.input.flush().unwrap();
    }
}

impl Drop for McpBenchClient {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
