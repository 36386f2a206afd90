//! `highwater list repos`

use hw_rules::item::{Kind, Repository};
use serde_json::{Value, json};

use super::{fresh, open};
use crate::cli::ListRepositories;
use crate::config::Settings;
use crate::terminal::{Page, shown_line};

pub(super) fn run(args: &ListRepositories, settings: &Settings) -> anyhow::Result<()> {
    let store = open(settings)?;
    let held = fresh::held(&store)?;
    let mut page = Page::new();
    for (_, repository) in held.iter().take(args.limit.unwrap_or(usize::MAX)) {
        if args.json {
            page.object(&object(repository))?;
        } else {
            page.line(&line(repository))?;
        }
    }
    page.end()?;
    fresh::warn_of_repositories(&store)
}

/// The repository for programs; `docs/json.md` is its contract.
fn object(repository: &Repository) -> Value {
    json!({
        "type": Kind::Repository.name(),
        "name": repository.name,
        "owner": repository.owner,
        "url": repository.url,
        "has_issues_enabled": repository.has_issues_enabled,
        "has_discussions_enabled": repository.has_discussions_enabled,
        "created_at": repository.created_at,
        "updated_at": repository.updated_at,
        "node_id": repository.node_id,
    })
}

fn line(repository: &Repository) -> String {
    let Repository { owner, name, url, updated_at, .. } = repository;
    let name = shown_line(&format!("{owner}/{name}"));
    let date = updated_at.as_str().get(..10).unwrap_or(updated_at.as_str());
    format!("{name:<40} {date}  {url}")
}
