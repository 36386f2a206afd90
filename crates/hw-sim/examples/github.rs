//! A simulated GitHub on a loopback port, for tests that are not written in Rust.
//!
//! `github WORLD SEED`, WORLD being `demo`, `small` or `hostile`. It prints `{"url": …}`, then answers each line of
//! stdin, a JSON object, with one of its own: `issue`, `comment`, `break`, `refuse` and `mend` are what it can be told to
//! do. It ends when stdin does, so that it never outlives who started it.

use std::io::{BufRead as _, Write as _};
use std::sync::{Arc, Mutex, PoisonError};

use hw_sim::server::{Wait, serve};
use hw_sim::{Fault, FaultRates, GitHub, ThreadKind, WorldSpec};
use hw_sync::clock::{Clock as _, MachineClock};
use serde_json::{Value, json};
use tokio::net::TcpListener;

const DAY_MS: i64 = 86_400_000;

#[tokio::main(flavor = "current_thread")]
async fn main() -> std::io::Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [world, seed] = args.as_slice() else { return Err(odd("usage: github WORLD SEED")) };
    let seed = seed.parse().map_err(|_| odd("the seed is no number"))?;
    let github = Arc::new(Mutex::new(GitHub::new(&spec(world)?, seed)));
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    tell(&json!({ "url": format!("http://{}", listener.local_addr()?) }))?;
    let listening = Arc::clone(&github);
    let asked = tokio::task::spawn_blocking(move || listen(&listening));
    tokio::select! {
        done = serve(github, || MachineClock.now_ms(), wait, listener) => done,
        done = asked => done?,
    }
}

fn spec(world: &str) -> std::io::Result<WorldSpec> {
    let spec = match world {
        "demo" => WorldSpec::demo(),
        "small" => WorldSpec::small(),
        "hostile" => WorldSpec { hostile_text: true, ..WorldSpec::small() },
        _ => return Err(odd("there is no such world")),
    };
    Ok(WorldSpec { start_ms: MachineClock.now_ms() - DAY_MS, latency_ms: 0..=1, ..spec })
}

fn wait(ms: u64) -> Wait {
    let until = MachineClock.now_ms().saturating_add_unsigned(ms);
    Box::pin(async move { MachineClock.sleep_until(until).await })
}

fn listen(github: &Mutex<GitHub>) -> std::io::Result<()> {
    for line in std::io::stdin().lock().lines() {
        let order: Value = serde_json::from_str(&line?)?;
        let done = {
            let mut github = github.lock().unwrap_or_else(PoisonError::into_inner);
            github.advance(MachineClock.now_ms());
            obey(&mut github, &order, MachineClock.now_ms())
        };
        tell(&done.unwrap_or_else(|| json!({ "error": format!("cannot do {order}") })))?;
    }
    Ok(())
}

/// Does what the order's one field names; none when it cannot.
fn obey(github: &mut GitHub, order: &Value, now_ms: i64) -> Option<Value> {
    let (verb, what) = order.as_object()?.iter().next()?;
    let text = |name: &str| what.get(name).and_then(Value::as_str);
    match verb.as_str() {
        "issue" => {
            let repository = repository(github, text("repository")?)?.0;
            let (title, body) = (text("title")?, text("body")?);
            let id = github.world_mut().create_issue(repository, title, body, now_ms);
            let truth = github.world().truth();
            let issue = truth.threads.get(&(ThreadKind::Issue, id))?;
            Some(json!({ "id": id, "number": issue.number }))
        }
        "comment" => {
            let issue = what.get("issue")?.as_i64()?;
            let world = github.world_mut();
            let id = world.add_comment(ThreadKind::Issue, issue, text("body")?, now_ms);
            Some(json!({ "id": id }))
        }
        "break" => {
            let node = repository(github, text("repository")?)?.1;
            github.break_node(Some(&node));
            Some(json!({}))
        }
        "refuse" => {
            github.change_weather(FaultRates::none().with(Fault::Unauthorized, 1.0));
            Some(json!({}))
        }
        "mend" => {
            github.break_node(None);
            github.change_weather(FaultRates::none());
            Some(json!({}))
        }
        _ => None,
    }
}

/// The ids of a repository.
fn repository(github: &GitHub, name: &str) -> Option<(i64, String)> {
    let truth = github.world().truth();
    let found = truth.repositories.values().find(|it| it.name == name)?;
    Some((found.id, found.node_id.clone()))
}

fn tell(what: &Value) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{what}")?;
    out.flush()
}

fn odd(what: &str) -> std::io::Error {
    std::io::Error::other(what)
}
