//! Objects of a repository asked for by id: there, somewhere else, absent, or no answer.

use hw_rules::item::{Item, Observation};
use serde_json::json;

use super::graphql::{Answer, Query};
use super::node::{self, Null};
use super::twins;
use crate::page::{LookPage, Subject};
use crate::raw_json::RawNode;
use crate::trouble::Trouble;

/// A look at objects of one kind.
pub(super) struct Look {
    pub type_name: &'static str,
    /// The repository's field that tells whether it shows such objects at all.
    pub switch: Option<&'static str>,
    pub home: Home,
}

/// Where an object tells which repository it belongs to.
#[derive(Clone, Copy)]
pub(super) struct Home {
    pub fields: &'static str,
    path: &'static [&'static str],
}

impl Home {
    pub(super) const OWN: Self =
        Self { fields: "repository { databaseId }", path: &["repository", "databaseId"] };
    pub(super) const OF_DISCUSSION: Self = Self {
        fields: "discussion { number repository { databaseId } }",
        path: &["discussion", "repository", "databaseId"],
    };

    pub(super) fn of(self, object: RawNode<'_>) -> Option<i64> {
        object.find(self.path)?.as_i64()
    }
}

/// What one object says of itself.
pub(super) enum Found {
    Here(Item),
    /// In another repository.
    Elsewhere(Item),
    Absent,
}

impl Look {
    /// Some objects by their node ids, at most 100; beside them their repository, and some siblings by id
    /// alone.
    ///
    /// The repository and the siblings tell an absence from a token that may no longer look.
    pub(super) fn query(
        &self,
        fields: &str,
        node_id: &str,
        ids: &[String],
        siblings: &[String],
    ) -> Query {
        let (kind, home, switch) =
            (self.type_name, self.home.fields, self.switch.unwrap_or_default());
        let document = format!(
            "query {kind}Look($scope: ID!, $ids: [ID!]!, $siblings: [ID!]!) {{
  scope: node(id: $scope) {{ ... on Repository {{ databaseId {switch} }} }}
  nodes(ids: $ids) {{ __typename ... on {kind} {{ {fields} }} }}
  siblings: nodes(ids: $siblings) {{ ... on {kind} {{ {home} }} }}
  rateLimit {{ cost }}
}}"
        );
        Query { document, variables: json!({ "scope": node_id, "ids": ids, "siblings": siblings }) }
    }

    /// Reads the answer about these ids of the repository; `read` is given each object that answered whole.
    pub(super) fn read(
        &self,
        answer: &Answer,
        ids: &[String],
        repository_id: i64,
        request: i64,
        read: impl Fn(RawNode<'_>) -> Result<Found, String>,
    ) -> Result<LookPage, Trouble> {
        let nodes = node::as_many(answer, "nodes", ids.len())?;
        let seen = answer.seen(request);
        let is_vouched_for = self.is_vouched_for(answer, repository_id);
        let mut look = LookPage::empty(answer.date(), seen, is_vouched_for);
        for (index, (id, node)) in ids.iter().zip(nodes).enumerate() {
            match self.verdict(answer, &format!("nodes.{index}"), node, &read) {
                Ok(Found::Here(item)) => look.observations.push(Observation { item, seen }),
                Ok(Found::Elsewhere(item)) => look.elsewhere.push(Observation { item, seen }),
                Ok(Found::Absent) => look.absent.push(id.clone()),
                Err(reason) => {
                    let subject = Subject::Node(id.clone());
                    look.unreadable.push(node::unreadable(subject, Some(node), reason, seen));
                }
            }
        }
        look.unreadable.extend(twins::take_out(&mut look.observations));
        Ok(look)
    }

    /// Whether the repository itself answered, with such objects switched on, and, where siblings were asked
    /// for, at least one of them.
    fn is_vouched_for(&self, answer: &Answer, repository_id: i64) -> bool {
        let data = answer.data.root();
        let Some(scope) = data.get("scope") else { return false };
        let says_on = |switch| scope.get(switch).and_then(RawNode::as_bool) == Some(true);
        let is_on = self.switch.is_none_or(says_on);
        let is_scope = scope.get("databaseId").and_then(RawNode::as_i64) == Some(repository_id);
        let siblings = data.get("siblings").and_then(RawNode::elements).unwrap_or_default();
        let is_ours = |sibling: &RawNode<'_>| self.home.of(*sibling) == Some(repository_id);
        is_on && is_scope && (siblings.is_empty() || siblings.iter().any(is_ours))
    }

    /// What one node says of itself; an issue that became a discussion is no issue any more.
    fn verdict(
        &self,
        answer: &Answer,
        place: &str,
        node: RawNode<'_>,
        read: impl Fn(RawNode<'_>) -> Result<Found, String>,
    ) -> Result<Found, String> {
        if node.is_null() {
            return match node::null(answer, place) {
                Null::NotFound => Ok(Found::Absent),
                Null::Forbidden(reason) | Null::Fault(reason) => Err(reason),
            };
        }
        node::whole(answer, place)?;
        match node.get("__typename").and_then(RawNode::as_text) {
            Some(name) if name != self.type_name => Ok(Found::Absent),
            _ => read(node),
        }
    }
}
