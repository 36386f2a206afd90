//! A server that echoes the token: it is neither stored nor printed.

use std::path::Path;
use std::process::Output;

use hw_sim::TokenEcho;
use serde_json::json;

use crate::fixture::{GitHubFixture, program_command};
use crate::mcp::stdio_client::McpStdioClient;
use crate::token_secrecy::{TokenDelivery, assert_clean, command_with_token, list_files};
use crate::web::WebProcess;

/// The server, or a proxy in front of it, echoes the request's headers in every answer.
#[test]
fn echoed_token_is_neither_stored_nor_printed() {
    let (fixture, home) = (GitHubFixture::start_small(), tempfile::tempdir().unwrap());
    // over REST a GraphQL error is a 500, which is retried
    let pull = |truthful: usize, echo: TokenEcho| {
        let items = if echo == TokenEcho::Node { "issues,comments" } else { "issues" };
        let echoes = [vec![None; truthful], vec![Some(echo); 60]].concat();
        fixture.with_github(|github| github.echo_authorization(&echoes));
        let args = ["pull", "-i", items, "--log-format", "json", "--api-url", fixture.url()];
        let mut command = command_with_token(TokenDelivery::Environment, &args, home.path());
        command.env("HIGHWATER_LOG", "trace").output().unwrap()
    };
    let mut outputs =
        vec![pull(0, TokenEcho::Node), pull(1, TokenEcho::Node), pull(0, TokenEcho::GraphQlError)];
    outputs.extend([pull(1, TokenEcho::GraphQlError), pull(0, TokenEcho::Location)]);
    fixture.with_github(|github| {
        assert!(github.wrong_answers_served() > 4);
        github.echo_authorization(&[Some(TokenEcho::ServerError), Some(TokenEcho::Location)]);
    });
    outputs.push(
        command_with_token(
            TokenDelivery::Environment,
            &["pull", "--api-url", fixture.url()],
            home.path(),
        )
        .output()
        .unwrap(),
    );
    outputs.extend(run_without_token(home.path()));
    for output in &outputs {
        assert_clean(&output.stdout, "stdout");
        assert_clean(&output.stderr, "stderr");
    }
    let files = list_files(home.path());
    for file in &files {
        assert_clean(&std::fs::read(file).unwrap(), &file.display().to_string());
    }
    assert!(files.iter().any(|file| contains_mask(file)), "the masked echo is in the database");
}

fn contains_mask(file: &Path) -> bool {
    let bytes = std::fs::read(file).unwrap();
    file.to_string_lossy().contains("acme.db") && bytes.windows(8).any(|part| part == b"[masked]")
}

/// Runs commands that need no token: lists, the doctor, pages and tools.
fn run_without_token(home: &Path) -> Vec<Output> {
    let lists = [&["list", "issues"][..], &["list", "repos", "--json"], &["doctor", "store"]];
    let outputs =
        lists.map(|args| program_command(args).arg("-m").arg(home).output().unwrap()).to_vec();
    let web = WebProcess::open(&["ui", "-p", "0"], home);
    for path in ["/", "/health", "/search?q=bearer", "/search?q=masked"] {
        assert_clean(web.get_page(path).as_bytes(), path);
    }
    let mut client = McpStdioClient::start_initialized(&["-m", home.to_str().unwrap()]);
    for (tool, arguments) in [("list_issues", json!({})), ("search", json!({ "query": "bearer" }))]
    {
        let answer = client.call_tool(tool, &arguments).to_string();
        assert_clean(answer.as_bytes(), tool);
    }
    client.close_and_wait();
    outputs
}
