//! A document ready to be walked: merged fields per concrete type, arguments still unbound.

use std::sync::Arc;

use apollo_compiler::ast::Type;
use serde_json::{Map, Value};

use super::coerce;
use super::problems::Problem;

pub(crate) type Variables = Map<String, Value>;

#[derive(Debug)]
pub(crate) struct Plan {
    pub(super) variables: Vec<Variable>,
    pub(super) roots: Vec<PlanField>,
}

#[derive(Debug)]
pub(crate) struct Variable {
    pub(super) name: String,
    pub(super) ty: Type,
    pub(super) default: Option<Value>,
}

/// A field of the answer.
#[derive(Debug)]
pub(crate) struct PlanField {
    /// Its alias, or its name.
    pub(super) key: Arc<str>,
    pub(super) name: Box<str>,
    pub(super) arguments: Vec<(Box<str>, Argument)>,
    /// It is shown when all conditions of any of these hold.
    pub(super) shown: Vec<Vec<Condition>>,
    pub(super) location: (usize, usize),
    pub(super) is_connection: bool,
    /// Whether null is no value for it, so that null goes to whatever holds it.
    pub(super) is_required: bool,
    /// What is selected below it, for each type it may turn out to be.
    pub(super) kids: Vec<(Box<str>, Vec<Self>)>,
}

/// `@include` or `@skip`.
#[derive(Debug, Clone)]
pub(crate) struct Condition {
    pub(super) wanted: bool,
    pub(super) value: Argument,
}

#[derive(Debug, Clone)]
pub(crate) enum Argument {
    Value(Value),
    Variable(String),
    List(Vec<Self>),
    Object(Vec<(String, Self)>),
}

impl Argument {
    pub(super) fn bind(&self, variables: &Variables) -> Value {
        match self {
            Self::Value(value) => value.clone(),
            Self::Variable(name) => variables.get(name).cloned().unwrap_or(Value::Null),
            Self::List(items) => items.iter().map(|item| item.bind(variables)).collect(),
            Self::Object(fields) => {
                let bound =
                    fields.iter().map(|(name, value)| (name.clone(), value.bind(variables)));
                Value::Object(bound.collect())
            }
        }
    }
}

impl PlanField {
    pub(super) fn is_shown(&self, variables: &Variables) -> bool {
        let holds = |condition: &Condition| {
            condition.value.bind(variables).as_bool().unwrap_or(true) == condition.wanted
        };
        self.shown.iter().any(|conditions| conditions.iter().all(holds))
    }

    /// An argument's value; `None` also for an explicit null.
    pub(super) fn argument(&self, name: &str, variables: &Variables) -> Option<Value> {
        let (_, argument) = self.arguments.iter().find(|(held, _)| &**held == name)?;
        Some(argument.bind(variables)).filter(|value| !value.is_null())
    }

    pub(super) fn text(&self, name: &str, variables: &Variables) -> Option<String> {
        self.argument(name, variables)?.as_str().map(str::to_owned)
    }

    pub(super) fn kids_for(&self, type_name: &str) -> &[Self] {
        let found = self.kids.iter().find(|(held, _)| &**held == type_name);
        found.map_or(&[], |(_, kids)| kids)
    }

    fn summary(&self, variables: &Variables) -> String {
        let bound =
            self.arguments.iter().map(|(name, value)| format!("{name}: {}", value.bind(variables)));
        let arguments = bound.collect::<Vec<_>>().join(", ");
        if arguments.is_empty() {
            self.name.to_string()
        } else {
            format!("{}({arguments})", self.name)
        }
    }
}

impl Plan {
    /// The variables with their defaults, or what is wrong with them.
    pub(super) fn bind(&self, given: &Variables) -> Result<Variables, Vec<Problem>> {
        let (mut bound, mut problems) = (Variables::new(), Vec::new());
        for Variable { name, ty, default } in &self.variables {
            let value = given.get(name).or(default.as_ref());
            match coerce::variable(name, ty, value) {
                Ok(value) => drop(bound.insert(name.clone(), value)),
                Err(problem) => problems.push(problem),
            }
        }
        if problems.is_empty() { Ok(bound) } else { Err(problems) }
    }

    /// The root fields with the connections right below them.
    pub(super) fn summary(&self, variables: &Variables) -> String {
        let mut parts = Vec::new();
        for root in &self.roots {
            let mut below: Vec<String> = Vec::new();
            for kid in root.kids.iter().flat_map(|(_, kids)| kids).filter(|kid| kid.is_connection) {
                let told = kid.summary(variables);
                if !below.contains(&told) {
                    below.push(told);
                }
            }
            let head = root.summary(variables);
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
