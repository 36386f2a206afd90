//! `highwater demo`

mod stage;
mod verdict;

use std::path::PathBuf;

use anyhow::Context as _;
use hw_store::Store;
use hw_sync::clock::{Clock as _, MachineClock};
use hw_sync::run::{Pull, Summary, pull};
use serde_json::{Value, json};

use crate::cli::Demo;
use crate::report::{Interrupted, say};
use crate::workspace;
use stage::Stage;
use verdict::Verdict;

/// How long the live demo rests between two pulls.
const REST_MS: i64 = 5_000;

pub(crate) fn run(args: &Demo) -> anyhow::Result<()> {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(async {
        tokio::select! {
            done = play(args) => done,
            stopped = tokio::signal::ctrl_c() => {
                stopped?;
                if args.once { Err(Interrupted.into()) } else { Ok(()) }
            }
        }
    })
}

async fn play(args: &Demo) -> anyhow::Result<()> {
    let stage = Stage::set(args.seed, !args.once).await?;
    let home = Home::of(args)?;
    let database = home.database(&stage.organization)?;
    let store = Store::open(&hw_store::Place::File(database.clone()))
        .with_context(|| format!("cannot open the database {}", database.display()))?;
    let fetch = stage.fetch(&store)?;
    let plan = plan(&stage);

    let start_ms = MachineClock.now_ms();
    let summary = pull(&store, &fetch, &plan).await.context("the pull failed")?;
    let duration_ms = MachineClock.now_ms() - start_ms;
    let verdict = Verdict::of(&store, &stage)?;
    if args.json {
        say(&object(&stage, &summary, &verdict, duration_ms).to_string())?;
    } else {
        say(&told(&stage, &summary, &verdict, duration_ms))?;
        say(&format!(
            "\nlook at it with\n  highwater list issues --database {}",
            database.display()
        ))?;
    }
    if args.once {
        home.keep();
        return verdict.or_fail();
    }
    say("\nfollowing the simulated writers; Ctrl-C stops")?;
    loop {
        MachineClock.sleep_until(MachineClock.now_ms() + REST_MS).await;
        let before = fetch.cost().requests;
        let summary = pull(&store, &fetch, &plan).await.context("the pull failed")?;
        let requests = fetch.cost().requests - before;
        say(&format!("  {} new or changed, {requests} requests", summary.issues.stored))?;
    }
}

fn plan(stage: &Stage) -> Pull {
    Pull {
        host: stage.host.clone(),
        organization: stage.organization.clone(),
        owner: format!("demo, process {}", std::process::id()),
        window_days: None,
        reconcile: false,
        allow_mass_removal: false,
    }
}

/// Where the demo's workspace is.
enum Home {
    Temporary(tempfile::TempDir),
    Chosen(PathBuf),
}

impl Home {
    fn of(args: &Demo) -> anyhow::Result<Self> {
        match &args.home {
            Some(home) => Ok(Self::Chosen(home.clone())),
            None => {
                let folder = tempfile::Builder::new().prefix("highwater-demo-").tempdir();
                Ok(Self::Temporary(folder.context("cannot make a temporary folder")?))
            }
        }
    }

    fn database(&self, organization: &str) -> anyhow::Result<PathBuf> {
        let home = match self {
            Self::Temporary(folder) => folder.path(),
            Self::Chosen(home) => home,
        };
        workspace::make_home(home)?;
        Ok(workspace::file(home, organization))
    }

    /// Leaves a temporary workspace behind, to be looked at.
    fn keep(self) {
        if let Self::Temporary(folder) = self {
            drop(folder.keep());
        }
    }
}

/// The summary for programs; `docs/json.md` is its contract.
fn object(stage: &Stage, summary: &Summary, verdict: &Verdict, duration_ms: i64) -> Value {
    let errors: Vec<Value> = summary
        .errors
        .iter()
        .map(|(scope, message)| json!({ "scope": scope, "message": message }))
        .collect();
    json!({
        "organization": stage.organization,
        "complete": errors.is_empty() && verdict.is_equal(),
        "items": {
            "issues": {
                "seen": summary.issues.seen,
                "stored": summary.issues.stored,
                "removed": summary.issues.removed,
                "errors": errors.len(),
            },
        },
        "requests": summary.cost.requests,
        "points": summary.cost.points,
        "not_modified": 0,
        "retries": summary.cost.retries,
        "duration_ms": duration_ms,
        "errors": errors,
        "world": { "repositories": verdict.repositories.1, "issues": verdict.issues.1 },
        "held": { "repositories": verdict.repositories.0, "issues": verdict.issues.0 },
    })
}

fn told(stage: &Stage, summary: &Summary, verdict: &Verdict, duration_ms: i64) -> String {
    let (repositories, issues) = (verdict.repositories, verdict.issues);
    let mut lines = vec![
        format!("pulled {} from a simulated GitHub on this machine", stage.organization),
        "                 held   simulated".to_owned(),
        format!("  repositories {:>6}   {:>9}", repositories.0, repositories.1),
        format!("  issues       {:>6}   {:>9}", issues.0, issues.1),
        format!(
            "  {} requests, {} points, {} retries, {}.{:01} s",
            summary.cost.requests,
            summary.cost.points,
            summary.cost.retries,
            duration_ms / 1_000,
            duration_ms % 1_000 / 100,
        ),
    ];
    lines.push(if verdict.is_equal() {
        "  the mirror equals the simulated world, text by text".to_owned()
    } else if stage.is_live() {
        "  somebody wrote while we read; the next pull brings it".to_owned()
    } else {
        format!("  THE MIRROR DIFFERS: {}", verdict.differences.join("; "))
    });
    lines.extend(
        summary.errors.iter().map(|(scope, message)| format!("  failed: {scope}: {message}")),
    );
    hw_rules::clean::for_terminal(&lines.join("\n"))
}
