//! Whether the mirror equals the simulated world: the demo is its own proof.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use hw_rules::clean::storable;
use hw_store::{IssueFilter, Store};

use super::stage::Stage;
use crate::report::Ours;

/// How many differences are worth naming.
const NAMED: usize = 5;

pub(super) struct Verdict {
    /// Held, and true.
    pub(super) repositories: (usize, usize),
    pub(super) issues: (usize, usize),
    pub(super) differences: Vec<String>,
}

impl Verdict {
    pub(super) fn of(store: &Store, stage: &Stage) -> anyhow::Result<Self> {
        let mut held: BTreeMap<i64, (String, String, String)> = BTreeMap::new();
        store.each_issue(&IssueFilter::default(), &mut |row| {
            held.insert(row.id, (row.title, row.body, row.updated_at.into()));
            ControlFlow::Continue(())
        })?;
        let truth = stage.truth();
        let repositories = store.counts()?.repositories;
        let followed = truth.repositories.values().filter(|r| !r.is_archived && !r.is_fork).count();
        let mut differences = Vec::new();
        for issue in truth.issues.values() {
            let told = (storable(&issue.title), issue.body.clone(), issue.updated_at.clone());
            if held.get(&issue.id) != Some(&told) {
                differences.push(format!("{}#{}", issue.repository, issue.number));
            }
        }
        let gone = held.keys().filter(|id| !truth.issues.contains_key(id));
        differences.extend(gone.map(|id| format!("issue {id} is not in the world")));
        if repositories != followed as u64 {
            differences.push(format!("{repositories} of {followed} repositories"));
        }
        differences.truncate(NAMED);
        Ok(Self {
            repositories: (usize::try_from(repositories)?, followed),
            issues: (held.len(), truth.issues.len()),
            differences,
        })
    }

    pub(super) fn is_equal(&self) -> bool {
        self.differences.is_empty()
    }

    pub(super) fn or_fail(&self) -> anyhow::Result<()> {
        if self.is_equal() {
            return Ok(());
        }
        Err(Ours(format!(
            "the mirror differs from the simulated world: {}",
            self.differences.join("; ")
        ))
        .into())
    }
}
