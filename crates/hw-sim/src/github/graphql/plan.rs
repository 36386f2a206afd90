//! A document ready to be executed: merged fields per concrete type, arguments still unbound.

use std::sync::Arc;

use apollo_compiler::ast::Type;
use serde_json::{Map, Value};

use super::coercion;
use super::problems::{GraphqlProblem, SourceLocation};

pub(crate) type VariableMap = Map<String, Value>;

#[derive(Debug)]
pub(crate) struct DocumentPlan {
    pub(super) variables: Vec<PlanVariable>,
    pub(super) roots: Vec<PlanField>,
}

#[derive(Debug)]
pub(crate) struct PlanVariable {
    pub(super) name: String,
    pub(super) ty: Type,
    pub(super) default: Option<Value>,
}

/// A field of the response.
#[derive(Debug)]
pub(crate) struct PlanField {
    /// Its alias, or its name.
    pub(super) key: Arc<str>,
    pub(super) name: Box<str>,
    pub(super) arguments: Vec<(Box<str>, PlanArgument)>,
    /// It is included if all conditions of any of these are met.
    pub(super) conditions: Vec<Vec<PlanCondition>>,
    pub(super) location: SourceLocation,
    pub(super) is_connection: bool,
    /// True if it cannot be null, so that a null propagates to its parent.
    pub(super) is_required: bool,
    /// The selections below it, for each type that its value can have.
    pub(super) selections: Vec<(Box<str>, Vec<Self>)>,
}

/// `@include` or `@skip`.
#[derive(Debug, Clone)]
pub(crate) struct PlanCondition {
    pub(super) expected: bool,
    pub(super) value: PlanArgument,
}

impl PlanCondition {
    fn is_met(&self, variables: &VariableMap) -> bool {
        self.value.bind_value(variables).as_bool().unwrap_or(true) == self.expected
    }
}

#[derive(Debug, Clone)]
pub(crate) enum PlanArgument {
    Value(Value),
    Variable(String),
    List(Vec<Self>),
    Object(Vec<(String, Self)>),
}

impl PlanArgument {
    pub(super) fn bind_value(&self, variables: &VariableMap) -> Value {
        match self {
            Self::Value(value) => value.clone(),
            Self::Variable(name) => variables.get(name).cloned().unwrap_or(Value::Null),
            Self::List(items) => items.iter().map(|item| item.bind_value(variables)).collect(),
            Self::Object(fields) => {
                let bound =
                    fields.iter().map(|(name, value)| (name.clone(), value.bind_value(variables)));
                Value::Object(bound.collect())
            }
        }
    }
}

impl PlanField {
    pub(super) fn is_included(&self, variables: &VariableMap) -> bool {
        self.conditions
            .iter()
            .any(|conditions| conditions.iter().all(|condition| condition.is_met(variables)))
    }

    /// Returns an argument's value; `None` also for an explicit null.
    pub(super) fn argument_value(&self, name: &str, variables: &VariableMap) -> Option<Value> {
        let (_, argument) = self.arguments.iter().find(|(key, _)| &**key == name)?;
        Some(argument.bind_value(variables)).filter(|value| !value.is_null())
    }

    pub(super) fn text_argument(&self, name: &str, variables: &VariableMap) -> Option<String> {
        self.argument_value(name, variables)?.as_str().map(str::to_owned)
    }

    pub(super) fn selections_for(&self, type_name: &str) -> &[Self] {
        let found = self.selections.iter().find(|(name, _)| &**name == type_name);
        found.map_or(&[], |(_, selections)| selections)
    }

    fn field_summary(&self, variables: &VariableMap) -> String {
        let bound = self
            .arguments
            .iter()
            .map(|(name, value)| format!("{name}: {}", value.bind_value(variables)));
        let arguments = bound.collect::<Vec<_>>().join(", ");
        if arguments.is_empty() {
            self.name.to_string()
        } else {
            format!("{}({arguments})", self.name)
        }
    }
}

impl DocumentPlan {
    /// Binds the given variables and the defaults of the others.
    pub(super) fn bind_variables(
        &self,
        given: &VariableMap,
    ) -> Result<VariableMap, Vec<GraphqlProblem>> {
        let (mut bound, mut problems) = (VariableMap::new(), Vec::new());
        for PlanVariable { name, ty, default } in &self.variables {
            let value = given.get(name).or(default.as_ref());
            match coercion::coerce_variable(name, ty, value) {
                Ok(value) => drop(bound.insert(name.clone(), value)),
                Err(problem) => problems.push(problem),
            }
        }
        if problems.is_empty() { Ok(bound) } else { Err(problems) }
    }

    /// Returns the root fields with the connections right below them, as text.
    pub(super) fn summary(&self, variables: &VariableMap) -> String {
        let mut parts = Vec::new();
        for root in &self.roots {
            let mut below: Vec<String> = Vec::new();
            let children = root.selections.iter().flat_map(|(_, selections)| selections);
            for connection in children.filter(|child| child.is_connection) {
                let summary = connection.field_summary(variables);
                if !below.contains(&summary) {
                    below.push(summary);
                }
            }
            let head = root.field_summary(variables);
            let tail = if below.is_empty() {
                String::new()
            } else {
                format!(" {{ {} }}", below.join(" "))
            };
            parts.push(head + &tail);
        }
        parts.join(" ")
    }
}
