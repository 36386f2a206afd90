//! The walk over a plan, writing the answer as it goes.

use serde_json::Value;

use super::connections::went_wrong;
use super::plan::{PlanField, Variables};
use super::problems::{Problem, Step};
use super::sabotage::Sabotage;
use super::{Call, Ran};
use crate::faults::Fault;
use crate::github::limits::Quota;
use crate::github::log::ServedPage;
use crate::github::weather::NOT_ACCESSIBLE;
use crate::json::Json;
use crate::world::{Comment, Found, Repository, Thread, User, View};

/// Anything a selection can be made on.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Object<'w> {
    Organization,
    Repository(&'w Repository),
    Thread(&'w Thread),
    Comment(&'w Comment),
    Actor(&'w User),
    Label(&'w str),
    Category(&'w str),
    RateLimit,
}

impl Object<'_> {
    pub(super) fn type_name(self) -> &'static str {
        match self {
            Self::Organization => "Organization",
            Self::Repository(_) => "Repository",
            Self::Thread(thread) => thread.kind.type_name(),
            Self::Comment(comment) => comment.kind.type_name(),
            Self::Actor(user) => user.type_name,
            Self::Label(_) => "Label",
            Self::Category(_) => "DiscussionCategory",
            Self::RateLimit => "RateLimit",
        }
    }

    fn node_id(&self) -> Option<&str> {
        match self {
            Self::Repository(it) => Some(&it.node_id),
            Self::Thread(it) => Some(&it.node_id),
            Self::Comment(it) => Some(&it.node_id),
            Self::Actor(it) => Some(&it.node_id),
            Self::Organization | Self::Label(_) | Self::Category(_) | Self::RateLimit => None,
        }
    }
}

pub(crate) struct Run<'a> {
    pub(super) view: View<'a>,
    pub(super) call: &'a Call,
    pub(super) quota: Quota,
    pub(super) out: Json,
    pub(super) problems: Vec<Problem>,
    pub(super) path: Vec<Step>,
    pub(super) sabotage: Sabotage,
    /// Whether a null is on its way up to the next place that may be null.
    pub(super) rising: bool,
    pub(super) pages: Vec<ServedPage>,
}

impl<'a> Run<'a> {
    pub(super) fn new(view: View<'a>, call: &'a Call, quota: Quota, sabotage: Sabotage) -> Self {
        Self {
            view,
            call,
            quota,
            out: Json::new(),
            problems: Vec::new(),
            path: Vec::new(),
            sabotage,
            rising: false,
            pages: Vec::new(),
        }
    }

    pub(super) fn variables(&self) -> &'a Variables {
        &self.call.variables
    }

    pub(super) fn places(&self) -> usize {
        self.sabotage.seen
    }

    pub(super) fn finish(self) -> Ran {
        let data = self.out.finish();
        let errors: Vec<Value> = self.problems.iter().map(Problem::json).collect();
        let body = if errors.is_empty() {
            format!(r#"{{"data":{data}}}"#)
        } else {
            format!(r#"{{"data":{data},"errors":{}}}"#, Value::Array(errors))
        };
        Ran { body, hit: self.sabotage.hit, pages: self.pages }
    }

    pub(super) fn roots(&mut self) {
        let exhausted = self.sabotage.strikes(Fault::ResourceLimits);
        let roots = &self.call.plan().roots;
        let dear = roots.iter().filter(|root| root.is_shown(self.variables()) && is_dear(root));
        let dear = dear.count();
        if exhausted && (dear == 0 || self.sabotage.roll.is_multiple_of(4)) {
            self.out.null();
            self.problems.push(too_much());
            return;
        }
        let mut left = if exhausted { self.sabotage.roll / 4 % dear } else { usize::MAX };
        self.out.open_object();
        for field in roots {
            if !field.is_shown(self.variables()) {
                continue;
            }
            self.path.push(Step::Key(field.key.clone()));
            self.out.key(&field.key);
            if is_dear(field) && left == 0 {
                self.out.null();
                self.problems.push(too_much().at(&self.path, field.location));
            } else {
                left -= usize::from(is_dear(field));
                self.root(field);
            }
            self.path.pop();
        }
        self.out.close_object();
    }

    fn root(&mut self, field: &PlanField) {
        let variables = self.variables();
        match &*field.name {
            "viewer" => self.object(Object::Actor(self.view.viewer()), field),
            "rateLimit" => self.object(Object::RateLimit, field),
            "organization" => {
                let login = field.text("login", variables).unwrap_or_default();
                let found = login.eq_ignore_ascii_case(self.view.organization());
                self.found_or(field, found.then_some(Object::Organization), || {
                    format!("Could not resolve to an Organization with the login of '{login}'.")
                });
            }
            "repository" => self.repository_root(field),
            "node" => {
                let id = field.text("id", variables).unwrap_or_default();
                self.node(field, &id);
            }
            "nodes" => self.nodes(field),
            _ => self.out.string("Query"),
        }
    }

    fn repository_root(&mut self, field: &PlanField) {
        let variables = self.variables();
        let owner = field.text("owner", variables).unwrap_or_default();
        let name = field.text("name", variables).unwrap_or_default();
        let follow = field.argument("followRenames", variables);
        let follow = follow.and_then(|it| it.as_bool()).unwrap_or(true);
        let ours = owner.eq_ignore_ascii_case(self.view.organization());
        let found = ours.then(|| self.view.repository_named(&name, follow)).flatten();
        self.found_or(field, found.map(Object::Repository), || {
            format!("Could not resolve to a Repository with the name '{owner}/{name}'.")
        });
    }

    fn nodes(&mut self, field: &PlanField) {
        let ids = field.argument("ids", self.variables());
        let ids = ids.as_ref().and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        self.out.open_array();
        for (position, id) in ids.iter().enumerate() {
            self.path.push(Step::Index(position));
            self.node(field, id.as_str().unwrap_or_default());
            self.path.pop();
        }
        self.out.close_array();
    }

    fn node(&mut self, field: &PlanField, id: &str) {
        let object = self.view.node(id).and_then(|found| self.object_of(found));
        self.found_or(field, object, || {
            format!("Could not resolve to a node with the global id of '{id}'.")
        });
    }

    fn object_of(&self, found: Found) -> Option<Object<'a>> {
        match found {
            Found::Organization => Some(Object::Organization),
            Found::Repository(index) => self.view.repository(index).map(Object::Repository),
            Found::Thread(index) => self.view.thread(index).map(Object::Thread),
            Found::Comment(index) => self.view.comment(index).map(Object::Comment),
            Found::User(index) => Some(Object::Actor(self.view.user(index))),
        }
    }

    /// The object, or null and a `NOT_FOUND` that names the place.
    pub(super) fn found_or(
        &mut self,
        field: &PlanField,
        object: Option<Object<'a>>,
        message: impl FnOnce() -> String,
    ) {
        match object {
            Some(object) => self.fragile(field, object, message),
            None => self.refused(field, Problem::new("NOT_FOUND", message())),
        }
    }

    /// One object among others of a list.
    pub(super) fn listed(&mut self, field: &PlanField, object: Object<'a>) {
        self.fragile(field, object, || {
            let id = object.node_id().unwrap_or_default();
            format!("Could not resolve to a node with the global id of '{id}'.")
        });
    }

    /// An object in a place where partial failures happen. An organisation is there or not, as a whole.
    fn fragile(&mut self, field: &PlanField, object: Object<'a>, missing: impl FnOnce() -> String) {
        let is_part = !matches!(object, Object::Organization);
        if self.sabotage.strikes(Fault::Forbidden) {
            self.refused(field, Problem::new("FORBIDDEN", NOT_ACCESSIBLE.to_owned()));
        } else if self.sabotage.strikes(Fault::NotFoundOnce) {
            self.refused(field, Problem::new("NOT_FOUND", missing()));
        } else if is_part && self.sabotage.strikes(Fault::PartialError) {
            self.refused(field, went_wrong());
        } else if is_part && self.sabotage.strikes(Fault::BadNode) {
            self.spoiled_object(object, field);
        } else {
            self.object(object, field);
        }
    }

    /// A listing that the token may not look into; where null is no value for it, whatever holds it is null.
    pub(super) fn forbidden(&mut self, field: &PlanField) {
        self.refused(field, Problem::new("FORBIDDEN", NOT_ACCESSIBLE.to_owned()));
        self.rising = field.is_required;
    }

    fn refused(&mut self, field: &PlanField, problem: Problem) {
        self.out.null();
        self.problems.push(problem.at(&self.path, field.location));
    }

    pub(super) fn object(&mut self, object: Object<'a>, field: &PlanField) {
        self.object_without(object, field, usize::MAX);
    }

    /// The object with one of the fields a reader cannot do without missing or of a wrong type.
    fn spoiled_object(&mut self, object: Object<'a>, field: &PlanField) {
        const NEEDED: [&str; 7] =
            ["id", "fullDatabaseId", "databaseId", "number", "updatedAt", "createdAt", "title"];
        let kids = field.kids_for(object.type_name());
        let needed: Vec<usize> =
            (0..kids.len()).filter(|at| NEEDED.contains(&&*kids[*at].name)).collect();
        let choice = self.sabotage.roll / 2 % needed.len().max(1);
        self.object_without(object, field, needed.get(choice).copied().unwrap_or(0));
    }

    fn object_without(&mut self, object: Object<'a>, field: &PlanField, spoiled: usize) {
        let (start, pages) = (self.out.mark(), self.pages.len());
        self.out.open_object();
        for (position, kid) in field.kids_for(object.type_name()).iter().enumerate() {
            if !kid.is_shown(self.variables()) {
                continue;
            }
            if position == spoiled && self.sabotage.roll.is_multiple_of(2) {
                continue;
            }
            self.path.push(Step::Key(kid.key.clone()));
            self.out.key(&kid.key);
            if position == spoiled {
                self.out.raw(r#"{"unexpected":true}"#);
            } else if &*kid.name == "__typename" {
                self.out.string(object.type_name());
            } else {
                self.field(object, kid);
            }
            self.path.pop();
            if self.rising {
                self.rising = field.is_required;
                self.pages.truncate(pages);
                return self.out.null_from(start);
            }
        }
        self.out.close_object();
    }
}

/// Whether a root counts where resources are short.
fn is_dear(root: &PlanField) -> bool {
    !matches!(&*root.name, "viewer" | "rateLimit")
}

fn too_much() -> Problem {
    Problem::new("RESOURCE_LIMITS_EXCEEDED", "Resource limits for this query exceeded.".to_owned())
}
