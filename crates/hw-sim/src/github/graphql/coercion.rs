//! Coerces a client's variables to the types of the schema.

use apollo_compiler::Name;
use apollo_compiler::ast::Type;
use apollo_compiler::schema::{ExtendedType, InputObjectType};
use serde_json::{Map, Value, json};

use super::plan_compiler::{SCHEMA, convert_argument};
use super::problems::{GraphqlProblem, SourceLocation};
use crate::timestamps;

/// The reason why a value does not fit its type.
struct CoercionError {
    /// Its position inside the value, from the innermost step outwards.
    path: Vec<Value>,
    explanation: String,
}

impl CoercionError {
    fn new(explanation: String) -> Self {
        Self { path: Vec::new(), explanation }
    }

    fn nested_under(mut self, step: Value) -> Self {
        self.path.push(step);
        self
    }
}

/// Coerces the value of a variable to its type.
pub(super) fn coerce_variable(
    name: &str,
    ty: &Type,
    value: Option<&Value>,
) -> Result<Value, GraphqlProblem> {
    let value = value.unwrap_or(&Value::Null);
    coerce_value(ty, value).map_err(|error| coercion_problem(name, ty, value, error))
}

fn coerce_value(ty: &Type, value: &Value) -> Result<Value, CoercionError> {
    if value.is_null() {
        return match ty {
            Type::Named(_) | Type::List(_) => Ok(Value::Null),
            Type::NonNullNamed(_) | Type::NonNullList(_) => {
                Err(CoercionError::new("Expected value to not be null".to_owned()))
            }
        };
    }
    match ty {
        Type::Named(name) | Type::NonNullNamed(name) => coerce_named(name, value),
        Type::List(items) | Type::NonNullList(items) => coerce_list(items, value),
    }
}

/// Coerces a list; a single value becomes a list of one.
fn coerce_list(items: &Type, value: &Value) -> Result<Value, CoercionError> {
    let Some(given) = value.as_array() else { return Ok(json!([coerce_value(items, value)?])) };
    let coerced = given.iter().enumerate().map(|(position, item)| {
        coerce_value(items, item).map_err(|error| error.nested_under(json!(position)))
    });
    coerced.collect()
}

fn coerce_named(name: &str, value: &Value) -> Result<Value, CoercionError> {
    match SCHEMA.types.get(name) {
        Some(ExtendedType::Enum(definition)) => {
            let names: Vec<&str> = definition.values.keys().map(Name::as_str).collect();
            if value.as_str().is_some_and(|given| names.contains(&given)) {
                return Ok(value.clone());
            }
            let names = names.join(", ");
            Err(CoercionError::new(format!("Expected {value} to be one of: {names}")))
        }
        Some(ExtendedType::InputObject(definition)) => coerce_object(definition, value),
        _ if is_valid_scalar(name, value) => Ok(value.clone()),
        _ => Err(CoercionError::new(format!("Could not coerce value {value} to {name}"))),
    }
}

fn coerce_object(definition: &InputObjectType, value: &Value) -> Result<Value, CoercionError> {
    let Some(given) = value.as_object() else {
        return Err(CoercionError::new(format!("Expected {value} to be a key-value object.")));
    };
    let unknown = given.keys().find(|name| !definition.fields.contains_key(name.as_str()));
    if let Some(unknown) = unknown {
        let explanation = format!("Field is not defined on {}", definition.name);
        return Err(CoercionError::new(explanation).nested_under(json!(unknown)));
    }
    let mut coerced = Map::new();
    for (name, field) in &definition.fields {
        let default = field
            .default_value
            .as_ref()
            .map(|default| convert_argument(default).bind_value(&Map::new()));
        let Some(value) = given.get(name.as_str()).or(default.as_ref()) else {
            coerce_value(&field.ty, &Value::Null)
                .map_err(|error| error.nested_under(json!(name.as_str())))?;
            continue;
        };
        let value = coerce_value(&field.ty, value)
            .map_err(|error| error.nested_under(json!(name.as_str())))?;
        coerced.insert(name.to_string(), value);
    }
    Ok(Value::Object(coerced))
}

/// Checks a scalar; an `Int` has 32 bits.
fn is_valid_scalar(name: &str, value: &Value) -> bool {
    match name {
        "Int" => value.as_i64().is_some_and(|number| i32::try_from(number).is_ok()),
        "Float" => value.is_number(),
        "Boolean" => value.is_boolean(),
        "ID" => value.is_string() || value.is_i64() || value.is_u64(),
        "BigInt" => {
            value.is_i64() || value.as_str().is_some_and(|text| text.parse::<i64>().is_ok())
        }
        "DateTime" => value.as_str().is_some_and(|text| timestamps::parse_rfc3339(text).is_some()),
        _ => value.is_string(),
    }
}

fn coercion_problem(name: &str, ty: &Type, value: &Value, error: CoercionError) -> GraphqlProblem {
    let CoercionError { mut path, explanation } = error;
    path.reverse();
    let mut message = format!("Variable ${name} of type {ty} was provided invalid value");
    if !path.is_empty() {
        let steps = path.iter().map(|step| step.as_str().map_or(step.to_string(), str::to_owned));
        let position = steps.collect::<Vec<_>>().join(".");
        message = format!("{message} for {position} ({explanation})");
    }
    let problems = json!([{ "path": path, "explanation": explanation }]);
    let extensions = Some(json!({ "value": value, "problems": problems }));
    let location = Some(SourceLocation::START);
    GraphqlProblem { location, extensions, ..GraphqlProblem::without_kind(message) }
}
