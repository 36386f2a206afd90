//! The same searches through `highwater mcp`, over stdio.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use crate::measure::{Measured, now_ms};

pub(crate) struct Mcp {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    asked: u64,
}

impl Mcp {
    pub(crate) fn over(database: &Path) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_highwater"))
            .args(["mcp", "--database"])
            .arg(database)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let mut mcp = Self { child, input, output: BufReader::new(output), asked: 0 };
        let client = json!({ "name": "bench", "version": "1" });
        mcp.ask(
            "initialize",
            &json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client }),
        );
        mcp.say(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        mcp
    }

    /// Searches for each of these; time is that of the clock on the wall.
    pub(crate) fn search(&mut self, queries: &[String]) -> Measured {
        let mut measured = Measured::default();
        for query in queries {
            let start_ms = now_ms();
            self.call("search", &json!({ "query": query }));
            measured.push(now_ms() - start_ms);
        }
        measured
    }

    /// A thousand issues of one repository after the other.
    pub(crate) fn list(&mut self, repositories: usize) -> Measured {
        let mut measured = Measured::default();
        for repository in 0..repositories {
            let start_ms = now_ms();
            let arguments = json!({ "repository": format!("repo-{repository}"), "limit": 1_000 });
            let answer = self.call("list_issues", &arguments);
            measured.push(now_ms() - start_ms);
            let shown = &answer["structuredContent"]["total"];
            assert!(shown.as_u64().is_some_and(|total| 100 < total), "{shown}");
        }
        measured
    }

    fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        self.ask("tools/call", &json!({ "name": tool, "arguments": arguments }))
    }

    fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.asked += 1;
        self.say(
            &json!({ "jsonrpc": "2.0", "id": self.asked, "method": method, "params": params }),
        );
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        let mut answer: Value = serde_json::from_str(&line).unwrap();
        assert!(answer["result"]["isError"] != true, "{line}");
        answer["result"].take()
    }

    fn say(&mut self, message: &Value) {
        writeln!(self.input, "{message}").unwrap();
        self.input.flush().unwrap();
    }
}

impl Drop for Mcp {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
