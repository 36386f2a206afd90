//! Searches in several processes while another one pulls.

use std::collections::BTreeSet;
use std::process::Stdio;

use hw_sync::clock::{Clock as _, MachineClock};
use serde_json::{Value, json};

use crate::fixture::{GitHubFixture, run_command_json};
use crate::mcp::stdio_client::McpStdioClient;
use crate::web::WebProcess;

const KNOWN_THREADS: usize = 5;

/// Leaves out `-f`, which deletes first.
#[test]
fn search_during_a_pull_never_loses_or_repeats_hits() {
    for args in [&[][..], &["--reconcile"]] {
        let (fixture, home) = (GitHubFixture::start_small(), tempfile::tempdir().unwrap());
        let known: Vec<i64> =
            (0..KNOWN_THREADS).map(|number| create_narwhal_issue(&fixture, number)).collect();
        fixture.pull_json(home.path(), &[]);
        let mut frontends = OpenFrontends::open(home.path());
        // stored threads change, and a new one appears
        fixture.with_github(|github| {
            for id in &known {
                let body = "The narwhal came back.";
                github.world_mut().edit_issue(*id, None, Some(body), MachineClock.now_ms());
            }
        });
        create_narwhal_issue(&fixture, KNOWN_THREADS);
        let mut pull = fixture.pull_command(args);
        pull.arg("-m").arg(home.path()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut pull = pull.spawn().unwrap();
        let mut rounds = 0;
        while pull.try_wait().unwrap().is_none() {
            frontends.assert_find_at_least(KNOWN_THREADS, args);
            rounds += 1;
        }
        assert!(rounds > 0 && pull.wait().unwrap().success(), "{args:?}");
        frontends.assert_find_at_least(KNOWN_THREADS + 1, args);
    }
}

/// Creates an issue about narwhals.
fn create_narwhal_issue(fixture: &GitHubFixture, number: usize) -> i64 {
    fixture.with_github(|github| {
        let repository = *github.world().truth().repositories.keys().next().unwrap();
        let title = format!("Narwhal {number}");
        let body = "A narwhal was seen.";
        github.world_mut().create_issue(repository, &title, body, MachineClock.now_ms())
    })
}

/// The three frontends; web and MCP stay open, the command line runs for each search.
struct OpenFrontends<'a> {
    home: &'a std::path::Path,
    web: WebProcess,
    mcp: McpStdioClient,
}

impl<'a> OpenFrontends<'a> {
    fn open(home: &'a std::path::Path) -> Self {
        let web = WebProcess::open(&["ui", "-p", "0"], home);
        let mcp = McpStdioClient::start_initialized(&["-m", home.to_str().unwrap()]);
        Self { home, web, mcp }
    }

    /// Checks that each frontend finds at least this many threads about narwhals, and none twice.
    fn assert_find_at_least(&mut self, count: usize, args: &[&str]) {
        let titles = |found: &[Value]| -> Vec<String> {
            found.iter().map(|hit| hit["title"].as_str().unwrap().to_owned()).collect()
        };
        let answer = self.mcp.call_tool("search", &json!({ "query": "narwhal" }));
        let mcp = titles(answer["structuredContent"]["items"].as_array().unwrap());
        let command = titles(&run_command_json(self.home, "search", &["narwhal"]));
        let page = self.web.get_page("/search?q=narwhal");
        let links = page.split("class=\"hit-link\" href=\"").skip(1);
        let web: Vec<_> = links.map(|link| link.split('"').next().unwrap().to_owned()).collect();
        for found in [mcp, command, web] {
            let unique: BTreeSet<_> = found.iter().collect();
            assert_eq!(unique.len(), found.len(), "{args:?}: {found:?}");
            assert!(found.len() >= count, "{args:?}: {found:?}");
        }
    }
}
