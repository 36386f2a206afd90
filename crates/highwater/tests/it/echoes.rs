//! A server that quotes the token: what is stored, and what those see who have no token.

use std::path::{Path, PathBuf};
use std::process::Output;

use hw_sim::Echo;
use serde_json::json;

use crate::house::{House, program};
use crate::mcp::talk::Talk;
use crate::tokens::{Way, files, given, is_clean};
use crate::web::Face;

/// A server, or a proxy before it, that quotes the request's headers in whatever it answers.
#[test]
fn echoed_token_is_neither_stored_nor_shown() {
    let (house, home) = (House::small(), tempfile::tempdir().unwrap());
    // over REST an error of GraphQL is a 500, which is waited for
    let pull = |truthful: usize, echo: Echo| {
        let items = if echo == Echo::Node { "issues,comments" } else { "issues" };
        let echoes = [vec![None; truthful], vec![Some(echo); 60]].concat();
        house.look(|github| github.echo_authorization(&echoes));
        let args = ["pull", "-i", items, "--log-format", "json", "--api-url", house.url()];
        let mut command = given(Way::Environment, &args, home.path());
        command.env("HIGHWATER_LOG", "trace").output().unwrap()
    };
    let mut told = vec![pull(0, Echo::Node), pull(1, Echo::Node), pull(0, Echo::GraphQlError)];
    told.extend([pull(1, Echo::GraphQlError), pull(0, Echo::Location)]);
    house.look(|github| {
        assert!(github.lies_told() > 4);
        github.echo_authorization(&[Some(Echo::ServerError), Some(Echo::Location)]);
    });
    told.push(
        given(Way::Environment, &["pull", "--api-url", house.url()], home.path()).output().unwrap(),
    );
    told.extend(without_token(home.path()));
    for output in &told {
        is_clean(&output.stdout, "stdout");
        is_clean(&output.stderr, "stderr");
    }
    let files = files(home.path());
    for file in &files {
        is_clean(&std::fs::read(file).unwrap(), &file.display().to_string());
    }
    let holds_mask = |file: &&PathBuf| {
        let bytes = std::fs::read(file).unwrap();
        file.to_string_lossy().contains("acme.db") && bytes.windows(8).any(|it| it == b"[masked]")
    };
    assert!(files.iter().any(|file| holds_mask(&file)), "what was echoed is in the database");
}

/// What those see who have no token: lists, the doctor, pages and tools.
fn without_token(home: &Path) -> Vec<Output> {
    let lists = [&["list", "issues"][..], &["list", "repos", "--json"], &["doctor", "store"]];
    let told = lists.map(|args| program(args).arg("-m").arg(home).output().unwrap()).to_vec();
    let face = Face::open(&["ui", "-p", "0"], home);
    for path in ["/", "/health", "/search?q=bearer", "/search?q=masked"] {
        is_clean(face.get(path).as_bytes(), path);
    }
    let mut talk = Talk::begun(&["-m", home.to_str().unwrap()]);
    for (tool, arguments) in [("list_issues", json!({})), ("search", json!({ "query": "bearer" }))]
    {
        let answer = talk.call(tool, &arguments).to_string();
        is_clean(answer.as_bytes(), tool);
    }
    talk.end();
    told
}
