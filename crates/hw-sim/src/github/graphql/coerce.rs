//! A client's variables against the schema: what fits is bound, what does not is refused.

use apollo_compiler::Name;
use apollo_compiler::ast::Type;
use apollo_compiler::schema::{ExtendedType, InputObjectType};
use serde_json::{Map, Value, json};

use super::compile::{SCHEMA, argument_of};
use super::problems::Problem;
use crate::times;

/// What is wrong with a value, and where in it.
struct Misfit {
    /// From the innermost step outwards.
    path: Vec<Value>,
    explanation: String,
}

impl Misfit {
    fn here(explanation: String) -> Self {
        Self { path: Vec::new(), explanation }
    }

    fn below(mut self, step: Value) -> Self {
        self.path.push(step);
        self
    }
}

/// The value of a variable as its type wants it, or the complaint about it.
pub(super) fn variable(name: &str, ty: &Type, value: Option<&Value>) -> Result<Value, Problem> {
    let value = value.unwrap_or(&Value::Null);
    coerced(ty, value).map_err(|misfit| complaint(name, ty, value, misfit))
}

fn coerced(ty: &Type, value: &Value) -> Result<Value, Misfit> {
    if value.is_null() {
        return match ty {
            Type::Named(_) | Type::List(_) => Ok(Value::Null),
            Type::NonNullNamed(_) | Type::NonNullList(_) => {
                Err(Misfit::here("Expected value to not be null".to_owned()))
            }
        };
    }
    match ty {
        Type::Named(name) | Type::NonNullNamed(name) => named(name, value),
        Type::List(items) | Type::NonNullList(items) => list(items, value),
    }
}

/// A single value stands for a list of one.
fn list(items: &Type, value: &Value) -> Result<Value, Misfit> {
    let Some(given) = value.as_array() else { return Ok(json!([coerced(items, value)?])) };
    let fitted = given.iter().enumerate().map(|(position, item)| {
        coerced(items, item).map_err(|misfit| misfit.below(json!(position)))
    });
    fitted.collect()
}

fn named(name: &str, value: &Value) -> Result<Value, Misfit> {
    match SCHEMA.types.get(name) {
        Some(ExtendedType::Enum(held)) => {
            let names = || held.values.keys().map(Name::as_str);
            if value.as_str().is_some_and(|given| names().any(|held| held == given)) {
                return Ok(value.clone());
            }
            let names = names().collect::<Vec<_>>().join(", ");
            Err(Misfit::here(format!("Expected {value} to be one of: {names}")))
        }
        Some(ExtendedType::InputObject(held)) => object(held, value),
        _ if is_scalar(name, value) => Ok(value.clone()),
        _ => Err(Misfit::here(format!("Could not coerce value {value} to {name}"))),
    }
}

fn object(held: &InputObjectType, value: &Value) -> Result<Value, Misfit> {
    let Some(given) = value.as_object() else {
        return Err(Misfit::here(format!("Expected {value} to be a key-value object.")));
    };
    if let Some(unknown) = given.keys().find(|name| !held.fields.contains_key(name.as_str())) {
        let words = format!("Field is not defined on {}", held.name);
        return Err(Misfit::here(words).below(json!(unknown)));
    }
    let mut fitted = Map::new();
    for (name, field) in &held.fields {
        let default = field.default_value.as_ref().map(|it| argument_of(it).bind(&Map::new()));
        let Some(value) = given.get(name.as_str()).or(default.as_ref()) else {
            coerced(&field.ty, &Value::Null).map_err(|it| it.below(json!(name.as_str())))?;
            continue;
        };
        let value = coerced(&field.ty, value).map_err(|it| it.below(json!(name.as_str())))?;
        fitted.insert(name.to_string(), value);
    }
    Ok(Value::Object(fitted))
}

/// An `Int` has 32 bits.
fn is_scalar(name: &str, value: &Value) -> bool {
    match name {
        "Int" => value.as_i64().is_some_and(|it| i32::try_from(it).is_ok()),
        "Float" => value.is_number(),
        "Boolean" => value.is_boolean(),
        "ID" => value.is_string() || value.is_i64() || value.is_u64(),
        "BigInt" => value.is_i64() || value.as_str().is_some_and(|it| it.parse::<i64>().is_ok()),
        "DateTime" => value.as_str().is_some_and(|it| times::parse(it).is_some()),
        _ => value.is_string(),
    }
}

fn complaint(name: &str, ty: &Type, value: &Value, misfit: Misfit) -> Problem {
    let Misfit { mut path, explanation } = misfit;
    path.reverse();
    let mut message = format!("Variable ${name} of type {ty} was provided invalid value");
    if !path.is_empty() {
        let steps = path.iter().map(|step| step.as_str().map_or(step.to_string(), str::to_owned));
        let place = steps.collect::<Vec<_>>().join(".");
        message = format!("{message} for {place} ({explanation})");
    }
    let problems = json!([{ "path": path, "explanation": explanation }]);
    let extensions = Some(json!({ "value": value, "problems": problems }));
    Problem { kind: None, message, path: Vec::new(), location: (1, 1), extensions }
}
