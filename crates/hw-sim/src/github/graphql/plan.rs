//! A document ready to be walked: merged fields per concrete type, arguments still unbound.

use std::sync::Arc;

use serde_json::{Map, Value};

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
    pub(super) type_text: String,
    pub(super) is_required: bool,
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
    pub(super) fn bind(&self, mut given: Variables) -> Result<Variables, Problem> {
        for variable in &self.variables {
            if !given.contains_key(&variable.name)
                && let Some(default) = &variable.default
            {
                given.insert(variable.name.clone(), default.clone());
            }
            let value = given.get(&variable.name).unwrap_or(&Value::Null);
            if !variable.accepts(value) {
                return Err(variable.complaint(value));
            }
        }
        Ok(given)
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

impl Variable {
    fn accepts(&self, value: &Value) -> bool {
        if value.is_null() {
            return !self.is_required;
        }
        match self.type_text.trim_end_matches('!') {
            "Int" => value.is_i64() || value.is_u64(),
            "String" | "DateTime" => value.is_string(),
            "ID" => value.is_string() || value.is_i64(),
            "Boolean" => value.is_boolean(),
            _ => true,
        }
    }

    fn complaint(&self, value: &Value) -> Problem {
        let Self { name, type_text, .. } = self;
        let message = format!("Variable ${name} of type {type_text} was provided invalid value");
        let explanation = if value.is_null() {
            "Expected value to not be null".to_owned()
        } else {
            format!("Could not coerce value {value} to {type_text}")
        };
        let extensions = serde_json::json!({
            "value": value,
            "problems": [{ "path": [], "explanation": explanation }],
        });
        Problem {
            kind: None,
            message,
            path: Vec::new(),
            location: (1, 1),
            extensions: Some(extensions),
        }
    }
}
