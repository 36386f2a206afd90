//! Repositories asked for by their names.

use hw_rules::item::{Item, Observation};
use hw_rules::time::Mark;

use super::probes::{self, Probes};
use super::repository;
use crate::github::graphql::Answer;
use crate::github::node::{self, Null};
use crate::github::viewer::{self, Viewer};
use crate::page::{Subject, Unreadable};
use crate::raw_json::RawNode;
use crate::trouble::Trouble;

/// What came of some names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedPage {
    /// Who is asking, where that was asked.
    pub viewer: Option<Viewer>,
    pub date: Mark,
    /// Each repository once, under the name and the owner it has by now: GitHub follows renames.
    pub observations: Vec<Observation>,
    pub probes: Probes,
    /// Names that are not known, or that the token may not look behind.
    pub missing: Vec<String>,
    pub unreadable: Vec<Unreadable>,
}

/// Reads the answer for these names.
pub fn read_named(answer: &Answer, names: &[String], request: i64) -> Result<NamedPage, Trouble> {
    let is_introduced = answer.data.root().get("viewer").is_some();
    let mut page = NamedPage {
        viewer: if is_introduced { Some(viewer::read(answer)?) } else { None },
        date: answer.date(),
        observations: Vec::new(),
        probes: Probes::new(),
        missing: Vec::new(),
        unreadable: Vec::new(),
    };
    for (index, name) in names.iter().enumerate() {
        page.take_in(answer, &format!("r{index}"), name, request);
    }
    Ok(page)
}

impl NamedPage {
    fn take_in(&mut self, answer: &Answer, place: &str, name: &str, request: i64) {
        let node = answer.data.root().get(place).unwrap_or(RawNode::NULL);
        let read = if node.is_null() {
            match node::null(answer, place) {
                Null::NotFound | Null::Forbidden(_) => return self.missing.push(name.to_owned()),
                Null::Fault(reason) => Err(reason),
            }
        } else {
            repository::read(answer, place, place, node)
        };
        self.probes.extend(probes::read(answer, place, node));
        let seen = answer.seen(request);
        match read {
            Ok(repository) => {
                self.observe(Observation { item: Item::Repository(repository), seen });
            }
            Err(reason) => {
                let named = || Subject::Node(name.to_owned());
                let subject = node::node_subject(node).unwrap_or_else(named);
                self.unreadable.push(node::unreadable(subject, Some(node), reason, seen));
            }
        }
    }

    /// An old name and the new one lead to the same repository.
    fn observe(&mut self, observation: Observation) {
        if !self.observations.iter().any(|known| known.key() == observation.key()) {
            self.observations.push(observation);
        }
    }
}

#[cfg(test)]
#[path = "named_tests.rs"]
mod tests;
