//! A simulated GitHub on a loopback port, for tests that are not written in Rust.
//!
//! `github WORLD SEED`, with `demo`, `small` or `hostile` as WORLD. It prints `{"url": …}`, then executes the JSON
//! command on each line of stdin and prints its JSON result. The commands are `issue`, `comment`, `break`, `refuse` and
//! `mend`. It exits at the end of stdin, so that it never outlives the process that started it.

use std::io::{BufRead as _, Write as _};
use std::sync::{Arc, Mutex, PoisonError};

use hw_sim::server::{WaitFuture, serve};
use hw_sim::{ApiFault, FaultRates, SimulatedGitHub, ThreadKind, TrueRepository, WorldSpec};
use hw_sync::clock::{Clock as _, MachineClock};
use serde_json::{Value, json};
use tokio::net::TcpListener;

const DAY_MS: i64 = 86_400_000;

#[tokio::main(flavor = "current_thread")]
async fn main() -> std::io::Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [world, seed] = args.as_slice() else {
        return Err(other_error("usage: github WORLD SEED"));
    };
    let seed = seed.parse().map_err(|_| other_error("the seed must be a number"))?;
    let github = Arc::new(Mutex::new(SimulatedGitHub::new(&parse_world(world)?, seed)));
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    print_line(&json!({ "url": format!("http://{}", listener.local_addr()?) }))?;
    let commanded = Arc::clone(&github);
    let commands = tokio::task::spawn_blocking(move || run_commands(&commanded));
    tokio::select! {
        result = serve(github, || MachineClock.now_ms(), wait_for, listener) => result,
        result = commands => result?,
    }
}

fn parse_world(world: &str) -> std::io::Result<WorldSpec> {
    let spec = match world {
        "demo" => WorldSpec::demo(),
        "small" => WorldSpec::small(),
        "hostile" => WorldSpec { hostile_text: true, ..WorldSpec::small() },
        _ => return Err(other_error("unknown world (use demo, small or hostile)")),
    };
    Ok(WorldSpec { start_ms: MachineClock.now_ms() - DAY_MS, latency_ms: 0..=1, ..spec })
}

fn wait_for(ms: u64) -> WaitFuture {
    let until = MachineClock.now_ms().saturating_add_unsigned(ms);
    Box::pin(async move { MachineClock.sleep_until(until).await })
}

fn run_commands(github: &Mutex<SimulatedGitHub>) -> std::io::Result<()> {
    for line in std::io::stdin().lock().lines() {
        let command: Value = serde_json::from_str(&line?)?;
        let result = {
            let mut github = github.lock().unwrap_or_else(PoisonError::into_inner);
            github.advance_to(MachineClock.now_ms());
            run_command(&mut github, &command, MachineClock.now_ms())
        };
        let failure = json!({ "error": format!("cannot run {command}") });
        print_line(&result.unwrap_or(failure))?;
    }
    Ok(())
}

/// Runs the command that the only field names; returns `None` if that is impossible.
fn run_command(github: &mut SimulatedGitHub, command: &Value, now_ms: i64) -> Option<Value> {
    let (name, arguments) = command.as_object()?.iter().next()?;
    match name.as_str() {
        "issue" => {
            let repository = find_repository(github, text_argument(arguments, "repository")?)?;
            let title = text_argument(arguments, "title")?;
            let body = text_argument(arguments, "body")?;
            let id = github.world_mut().create_issue(repository.id, title, body, now_ms);
            let truth = github.world().truth();
            let issue = truth.threads.get(&(ThreadKind::Issue, id))?;
            Some(json!({ "id": id, "number": issue.number }))
        }
        "comment" => {
            let issue = arguments.get("issue")?.as_i64()?;
            let body = text_argument(arguments, "body")?;
            let id = github.world_mut().add_comment(ThreadKind::Issue, issue, body, now_ms);
            Some(json!({ "id": id }))
        }
        "break" => {
            let repository = find_repository(github, text_argument(arguments, "repository")?)?;
            github.set_broken_node(Some(&repository.node_id));
            Some(json!({}))
        }
        "refuse" => {
            github.set_fault_rates(FaultRates::none().with_rate(ApiFault::Unauthorized, 1.0));
            Some(json!({}))
        }
        "mend" => {
            github.set_broken_node(None);
            github.set_fault_rates(FaultRates::none());
            Some(json!({}))
        }
        _ => None,
    }
}

fn text_argument<'a>(arguments: &'a Value, name: &str) -> Option<&'a str> {
    arguments.get(name).and_then(Value::as_str)
}

fn find_repository(github: &SimulatedGitHub, name: &str) -> Option<TrueRepository> {
    let repositories = github.world().truth().repositories;
    repositories.into_values().find(|repository| repository.name == name)
}

fn print_line(value: &Value) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{value}")?;
    out.flush()
}

fn other_error(message: &str) -> std::io::Error {
    std::io::Error::other(message)
}
