//! Executes a plan, writing the response as it goes.

use serde_json::Value;

use super::connections::partial_failure_problem;
use super::inline_fault::InlineFault;
use super::plan::{PlanField, VariableMap};
use super::problems::{GraphqlProblem, PathStep};
use super::{ExecutionResult, PreparedQuery};
use crate::faults::ApiFault;
use crate::github::inject::NOT_ACCESSIBLE_MESSAGE;
use crate::github::quotas::QuotaStatus;
use crate::github::request_log::ServedPage;
use crate::json_writer::JsonWriter;
use crate::world::{
    NodeTarget, ReplicaView, SimComment, SimOwner, SimRepository, SimThread, SimUser,
};
use crate::world_spec::OwnerKind;

/// An object from which fields can be selected.
#[derive(Debug, Clone, Copy)]
pub(crate) enum GraphqlObject<'w> {
    Owner(&'w SimOwner),
    Repository(&'w SimRepository),
    Thread(&'w SimThread),
    Comment(&'w SimComment),
    /// The comments on one line, by the first of them that still exists.
    ReviewThread(&'w SimComment),
    Actor(&'w SimUser),
    Label(&'w str),
    Category(&'w str),
    RateLimit,
}

impl GraphqlObject<'_> {
    pub(super) fn type_name(self) -> &'static str {
        match self {
            Self::Owner(owner) => owner.kind.type_name(),
            Self::Repository(_) => "Repository",
            Self::Thread(thread) => thread.kind.type_name(),
            Self::Comment(comment) => comment.kind.type_name(),
            Self::ReviewThread(_) => "PullRequestReviewThread",
            Self::Actor(user) => user.type_name,
            Self::Label(_) => "Label",
            Self::Category(_) => "DiscussionCategory",
            Self::RateLimit => "RateLimit",
        }
    }

    fn node_id(&self) -> Option<&str> {
        match self {
            Self::Repository(repository) => Some(&repository.node_id),
            Self::Thread(thread) => Some(&thread.node_id),
            Self::Comment(comment) => Some(&comment.node_id),
            Self::Actor(user) => Some(&user.node_id),
            Self::Owner(owner) => Some(&owner.node_id),
            Self::ReviewThread(_) | Self::Label(_) | Self::Category(_) | Self::RateLimit => None,
        }
    }
}

pub(crate) struct QueryExecution<'a> {
    pub(super) view: ReplicaView<'a>,
    pub(super) query: &'a PreparedQuery,
    pub(super) quota: QuotaStatus,
    pub(super) out: JsonWriter,
    pub(super) problems: Vec<GraphqlProblem>,
    pub(super) path: Vec<PathStep>,
    pub(super) inline_fault: InlineFault,
    /// True while a null propagates to the next parent that may be null.
    pub(super) propagates_null: bool,
    pub(super) pages: Vec<ServedPage>,
}

impl<'a> QueryExecution<'a> {
    pub(super) fn new(
        view: ReplicaView<'a>,
        query: &'a PreparedQuery,
        quota: QuotaStatus,
        inline_fault: InlineFault,
    ) -> Self {
        Self {
            view,
            query,
            quota,
            out: JsonWriter::new(),
            problems: Vec::new(),
            path: Vec::new(),
            inline_fault,
            propagates_null: false,
            pages: Vec::new(),
        }
    }

    pub(super) fn variables(&self) -> &'a VariableMap {
        &self.query.variables
    }

    pub(super) fn fault_sites(&self) -> usize {
        self.inline_fault.sites_seen
    }

    pub(super) fn finish(self) -> ExecutionResult {
        let data = self.out.finish();
        let errors: Vec<Value> = self.problems.iter().map(GraphqlProblem::to_json).collect();
        let body = if errors.is_empty() {
            format!(r#"{{"data":{data}}}"#)
        } else {
            format!(r#"{{"data":{data},"errors":{}}}"#, Value::Array(errors))
        };
        ExecutionResult { body, has_fault: self.inline_fault.has_struck, pages: self.pages }
    }

    pub(super) fn write_roots(&mut self) {
        let exhausted = self.inline_fault.strikes_here(ApiFault::ResourceLimits);
        let roots = &self.query.plan().roots;
        let expensive = roots
            .iter()
            .filter(|root| root.is_included(self.variables()) && is_expensive(root))
            .count();
        if exhausted && (expensive == 0 || self.inline_fault.random_value.is_multiple_of(4)) {
            self.out.write_null();
            self.problems.push(resource_limits_problem());
            return;
        }
        let mut remaining =
            if exhausted { self.inline_fault.random_value / 4 % expensive } else { usize::MAX };
        self.out.open_object();
        for field in roots {
            if !field.is_included(self.variables()) {
                continue;
            }
            self.path.push(PathStep::Key(field.key.clone()));
            self.out.write_key(&field.key);
            if is_expensive(field) && remaining == 0 {
                self.out.write_null();
                self.problems.push(resource_limits_problem().at_path(&self.path, field.location));
            } else {
                remaining -= usize::from(is_expensive(field));
                self.write_root(field);
            }
            self.path.pop();
        }
        self.out.close_object();
    }

    fn write_root(&mut self, field: &PlanField) {
        let variables = self.variables();
        match &*field.name {
            "viewer" => self.write_object(GraphqlObject::Actor(self.view.viewer()), field),
            "rateLimit" => self.write_object(GraphqlObject::RateLimit, field),
            "organization" => {
                let login = field.text_argument("login", variables).unwrap_or_default();
                let found = self.view.owner_by_login(&login);
                let found = found.filter(|owner| owner.kind == OwnerKind::Organization);
                self.write_or_not_found(field, found.map(GraphqlObject::Owner), || {
                    format!("Could not resolve to an Organization with the login of '{login}'.")
                });
            }
            "repositoryOwner" => {
                let login = field.text_argument("login", variables).unwrap_or_default();
                match self.view.owner_by_login(&login) {
                    Some(owner) => self.write_with_faults(field, GraphqlObject::Owner(owner), || {
                        format!("Could not resolve to a RepositoryOwner with the login of '{login}'.")
                    }),
                    // unlike the other lookups, this one has no error
                    None => self.out.write_null(),
                }
            }
            "repository" => self.write_repository_root(field),
            "node" => {
                let id = field.text_argument("id", variables).unwrap_or_default();
                self.write_node(field, &id);
            }
            "nodes" => self.write_nodes_root(field),
            _ => self.out.write_string("Query"),
        }
    }

    fn write_repository_root(&mut self, field: &PlanField) {
        let variables = self.variables();
        let owner = field.text_argument("owner", variables).unwrap_or_default();
        let name = field.text_argument("name", variables).unwrap_or_default();
        let follows_renames = field.argument_value("followRenames", variables);
        let follows_renames = follows_renames.and_then(|value| value.as_bool()).unwrap_or(true);
        let found = self.view.repository_by_name(&owner, &name, follows_renames);
        self.write_or_not_found(field, found.map(GraphqlObject::Repository), || {
            format!("Could not resolve to a Repository with the name '{owner}/{name}'.")
        });
    }

    fn write_nodes_root(&mut self, field: &PlanField) {
        let ids = field.argument_value("ids", self.variables());
        let ids = ids.as_ref().and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        self.out.open_array();
        for (position, id) in ids.iter().enumerate() {
            self.path.push(PathStep::Index(position));
            self.write_node(field, id.as_str().unwrap_or_default());
            self.path.pop();
        }
        self.out.close_array();
    }

    fn write_node(&mut self, field: &PlanField, id: &str) {
        let object = self.view.resolve_node(id).and_then(|found| self.resolve_object(found));
        self.write_or_not_found(field, object, || {
            format!("Could not resolve to a node with the global id of '{id}'.")
        });
    }

    fn resolve_object(&self, found: NodeTarget) -> Option<GraphqlObject<'a>> {
        match found {
            NodeTarget::Owner(index) => Some(GraphqlObject::Owner(self.view.owner(index))),
            NodeTarget::Repository(index) => {
                self.view.repository(index).map(GraphqlObject::Repository)
            }
            NodeTarget::Thread(index) => self.view.thread(index).map(GraphqlObject::Thread),
            NodeTarget::Comment(index) => self.view.comment(index).map(GraphqlObject::Comment),
            NodeTarget::ReviewThread(root) => {
                self.view.review_thread(root).map(GraphqlObject::ReviewThread)
            }
            NodeTarget::User(index) => Some(GraphqlObject::Actor(self.view.user(index))),
        }
    }

    /// Writes the object, or null and a `NOT_FOUND` with its path.
    pub(super) fn write_or_not_found(
        &mut self,
        field: &PlanField,
        object: Option<GraphqlObject<'a>>,
        message: impl FnOnce() -> String,
    ) {
        match object {
            Some(object) => self.write_with_faults(field, object, message),
            None => {
                self.write_null_with_problem(field, GraphqlProblem::new("NOT_FOUND", message()));
            }
        }
    }

    /// Writes one object of a list.
    pub(super) fn write_list_item(&mut self, field: &PlanField, object: GraphqlObject<'a>) {
        self.write_with_faults(field, object, || {
            let id = object.node_id().unwrap_or_default();
            format!("Could not resolve to a node with the global id of '{id}'.")
        });
    }

    /// Writes an object that partial faults can hit. An owner is either there or not, as a whole.
    fn write_with_faults(
        &mut self,
        field: &PlanField,
        object: GraphqlObject<'a>,
        missing: impl FnOnce() -> String,
    ) {
        let is_part = !matches!(object, GraphqlObject::Owner(_));
        if self.inline_fault.strikes_here(ApiFault::Forbidden) {
            self.write_null_with_problem(
                field,
                GraphqlProblem::new("FORBIDDEN", NOT_ACCESSIBLE_MESSAGE.to_owned()),
            );
        } else if self.inline_fault.strikes_here(ApiFault::NotFoundOnce) {
            self.write_null_with_problem(field, GraphqlProblem::new("NOT_FOUND", missing()));
        } else if is_part && self.inline_fault.strikes_here(ApiFault::PartialError) {
            self.write_null_with_problem(field, partial_failure_problem());
        } else if is_part && self.inline_fault.strikes_here(ApiFault::BadNode) {
            self.write_spoiled_object(object, field);
        } else {
            self.write_object(object, field);
        }
    }

    /// Writes null for a listing to which the token has no access; if it cannot be null, its parent is null.
    pub(super) fn write_forbidden(&mut self, field: &PlanField) {
        self.write_null_with_problem(
            field,
            GraphqlProblem::new("FORBIDDEN", NOT_ACCESSIBLE_MESSAGE.to_owned()),
        );
        self.propagates_null = field.is_required;
    }

    fn write_null_with_problem(&mut self, field: &PlanField, problem: GraphqlProblem) {
        self.out.write_null();
        self.problems.push(problem.at_path(&self.path, field.location));
    }

    pub(super) fn write_object(&mut self, object: GraphqlObject<'a>, field: &PlanField) {
        self.write_object_spoiling(object, field, None);
    }

    /// Writes the object with one of the fields that a reader needs missing or of a wrong type.
    fn write_spoiled_object(&mut self, object: GraphqlObject<'a>, field: &PlanField) {
        const NEEDED: [&str; 7] =
            ["id", "fullDatabaseId", "databaseId", "number", "updatedAt", "createdAt", "title"];
        let selections = field.selections_for(object.type_name());
        let needed: Vec<usize> = (0..selections.len())
            .filter(|index| NEEDED.contains(&&*selections[*index].name))
            .collect();
        let choice = self.inline_fault.random_value / 2 % needed.len().max(1);
        let spoiled = needed.get(choice).copied().unwrap_or(0);
        self.write_object_spoiling(object, field, Some(spoiled));
    }

    fn write_object_spoiling(
        &mut self,
        object: GraphqlObject<'a>,
        field: &PlanField,
        spoiled: Option<usize>,
    ) {
        let (start, pages) = (self.out.position(), self.pages.len());
        self.out.open_object();
        for (position, selection) in field.selections_for(object.type_name()).iter().enumerate() {
            if !selection.is_included(self.variables()) {
                continue;
            }
            let is_spoiled = spoiled == Some(position);
            if is_spoiled && self.inline_fault.random_value.is_multiple_of(2) {
                continue;
            }
            self.path.push(PathStep::Key(selection.key.clone()));
            self.out.write_key(&selection.key);
            if is_spoiled {
                self.out.write_raw(r#"{"unexpected":true}"#);
            } else if &*selection.name == "__typename" {
                self.out.write_string(object.type_name());
            } else {
                self.write_field(object, selection);
            }
            self.path.pop();
            if self.propagates_null {
                self.propagates_null = field.is_required;
                self.pages.truncate(pages);
                return self.out.truncate_to_null(start);
            }
        }
        self.out.close_object();
    }
}

/// Returns true if a root field uses resources.
fn is_expensive(root: &PlanField) -> bool {
    !matches!(&*root.name, "viewer" | "rateLimit")
}

fn resource_limits_problem() -> GraphqlProblem {
    GraphqlProblem::new(
        "RESOURCE_LIMITS_EXCEEDED",
        "Resource limits for this query exceeded.".to_owned(),
    )
}
