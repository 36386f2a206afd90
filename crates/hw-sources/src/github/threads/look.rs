//! Threads asked for by id: there, absent, or no answer.

use hw_rules::item::{Item, Observation, Thread};
use hw_rules::lane::Surface;
use serde_json::Value;

use super::thread;
use crate::github::graphql::Answer;
use crate::github::listing;
use crate::github::node::{self, Null};
use crate::page::{LookPage, Subject};
use crate::trouble::Trouble;

/// Reads threads asked for by id; one that belongs to another repository by now is absent from this one.
pub fn read_look(
    answer: &Answer,
    surface: Surface,
    ids: &[String],
    repository_id: i64,
    request: i64,
) -> Result<LookPage, Trouble> {
    let nodes = node::as_many(answer, "nodes", ids.len())?;
    let seen = answer.seen(request);
    let is_vouched_for = is_vouched_for(answer, surface, repository_id);
    let mut look = LookPage::empty(answer.date, seen, is_vouched_for);
    for (index, (id, node)) in ids.iter().zip(nodes).enumerate() {
        match verdict(answer, surface, index, node, repository_id) {
            Found::Here(thread) => {
                look.observations.push(Observation { item: Item::Thread(*thread), seen });
            }
            Found::Absent => look.absent.push(id.clone()),
            Found::Unreadable(reason) => {
                let subject = Subject::Node(id.clone());
                look.unreadable.push(node::unreadable(subject, Some(node), reason, seen));
            }
        }
    }
    Ok(look)
}

/// Whether the repository itself answered, with this listing switched on, and, where siblings were asked
/// for, at least one of them.
fn is_vouched_for(answer: &Answer, surface: Surface, repository_id: i64) -> bool {
    let id = |value: Option<&Value>| value.and_then(|value| value.get("databaseId")?.as_i64());
    let scope = answer.data.get("scope");
    let says_on = |switch| scope.and_then(|scope| scope.get(switch)?.as_bool()) == Some(true);
    let is_on = listing::of(surface).switch.is_none_or(says_on);
    let siblings = answer.data.get("siblings").and_then(Value::as_array);
    let siblings = siblings.map_or(&[][..], Vec::as_slice);
    let is_ours = |sibling: &Value| id(sibling.get("repository")) == Some(repository_id);
    let vouched = siblings.is_empty() || siblings.iter().any(is_ours);
    is_on && id(scope) == Some(repository_id) && vouched
}

enum Found {
    Here(Box<Thread>),
    Absent,
    Unreadable(String),
}

/// What one node says of itself; an issue that became a discussion is no issue any more.
fn verdict(
    answer: &Answer,
    surface: Surface,
    index: usize,
    node: &Value,
    repository_id: i64,
) -> Found {
    let place = format!("nodes.{index}");
    if node.is_null() {
        return match node::null(answer, &place) {
            Null::NotFound => Found::Absent,
            Null::Forbidden(reason) | Null::Fault(reason) => Found::Unreadable(reason),
        };
    }
    if let Err(reason) = node::whole(answer, &place) {
        return Found::Unreadable(reason);
    }
    let kind = listing::of(surface).type_name;
    if node.get("__typename").and_then(Value::as_str).is_some_and(|name| name != kind) {
        return Found::Absent;
    }
    match thread::read(surface, node) {
        Ok(thread) if thread.repository_id == repository_id => Found::Here(Box::new(thread)),
        Ok(_) => Found::Absent,
        Err(reason) => Found::Unreadable(reason),
    }
}

#[cfg(test)]
#[path = "look_tests.rs"]
mod tests;
