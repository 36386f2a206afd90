//! Repositories asked for by id: there, absent, or no answer.

use hw_rules::item::{Item, Observation, Repository};

use super::repository;
use crate::github::graphql::Answer;
use crate::github::node::{self, Null};
use crate::github::twins;
use crate::page::{LookPage, Subject};
use crate::raw_json::RawNode;
use crate::trouble::Trouble;

/// Reads repositories asked for by id, whatever has become of them: archived ones, forks, and those of
/// another owner by now are there.
pub fn read_look(
    answer: &Answer,
    ids: &[String],
    siblings: &[String],
    request: i64,
) -> Result<LookPage, Trouble> {
    let nodes = node::as_many(answer, "nodes", ids.len())?;
    let siblings = node::as_many(answer, "siblings", siblings.len())?;
    let seen = answer.seen(request);
    let mut look =
        LookPage::empty(answer.date(), seen, siblings.iter().any(|it| is_repository(*it)));
    for (index, (id, node)) in ids.iter().zip(nodes).enumerate() {
        match verdict(answer, &format!("nodes.{index}"), node) {
            Ok(Some(repository)) => {
                look.observations.push(Observation { item: Item::Repository(repository), seen });
            }
            Ok(None) => look.absent.push(id.clone()),
            Err(reason) => {
                let subject = Subject::Node(id.clone());
                look.unreadable.push(node::unreadable(subject, Some(node), reason, seen));
            }
        }
    }
    look.unreadable.extend(twins::take_out(&mut look.observations));
    Ok(look)
}

fn is_repository(node: RawNode<'_>) -> bool {
    node.get("__typename").and_then(RawNode::as_text).as_deref() == Some("Repository")
}

/// The repository, or none when it is not known any more, or why neither can be told.
fn verdict(answer: &Answer, place: &str, node: RawNode<'_>) -> Result<Option<Repository>, String> {
    if node.is_null() {
        return match node::null(answer, place) {
            Null::NotFound => Ok(None),
            Null::Forbidden(reason) | Null::Fault(reason) => Err(reason),
        };
    }
    if !is_repository(node) {
        return Err("the id answers as something else".into());
    }
    repository::read(answer, place, place, node).map(Some)
}

#[cfg(test)]
#[path = "look_tests.rs"]
mod tests;
