//! From the text of a document to a plan, by way of the schema.

use std::path::Path;
use std::sync::LazyLock;

use apollo_compiler::collections::IndexMap;
use apollo_compiler::executable::{Directive, Field, Selection, SelectionSet};
use apollo_compiler::schema::ExtendedType;
use apollo_compiler::validation::{DiagnosticList, Valid};
use apollo_compiler::{ExecutableDocument, Name, Node, Schema, ast};
use serde_json::{Value, json};

use super::plan::{Argument, Condition, Plan, PlanField, Variable};
use super::problems::{Problem, Step};

pub(super) static SCHEMA: LazyLock<Valid<Schema>> = LazyLock::new(|| {
    Schema::parse_and_validate(include_str!("../schema.graphql"), "schema.graphql")
        .expect("the schema beside this code is valid")
});

/// A field as often as it was selected, each time under some conditions.
type Selected<'d> = IndexMap<Name, Vec<(&'d Field, Vec<Condition>)>>;

/// The plan of a document with one query, or what GitHub says is wrong with it.
pub(super) fn compile(text: &str) -> Result<Plan, Vec<Problem>> {
    let document = ExecutableDocument::parse_and_validate(&SCHEMA, text, Path::new("query"))
        .map_err(|refused| complaints(&refused.errors))?;
    let operation = document.operations.iter().next().filter(|_| document.operations.len() == 1);
    let Some(operation) = operation else {
        let message = "An operation name is required".to_owned();
        return Err(vec![Problem { kind: None, ..Problem::new("", message) }]);
    };
    let compiler = Compiler { document: &document };
    let roots = compiler.fields(&[(&operation.selection_set, Vec::new())], "Query");
    let variables = operation.variables.iter().map(|variable| variable_of(variable)).collect();
    Ok(Plan { variables, roots })
}

struct Compiler<'d> {
    document: &'d Valid<ExecutableDocument>,
}

impl<'d> Compiler<'d> {
    fn fields(&self, sets: &[(&'d SelectionSet, Vec<Condition>)], on: &str) -> Vec<PlanField> {
        let mut selected = Selected::default();
        for (set, conditions) in sets {
            self.collect(set, on, conditions, &mut selected);
        }
        selected.into_iter().map(|(key, fields)| self.field(&key, &fields)).collect()
    }

    /// Fields of the same key become one, as GraphQL wants it.
    fn collect(
        &self,
        set: &'d SelectionSet,
        on: &str,
        outer: &[Condition],
        selected: &mut Selected<'d>,
    ) {
        for selection in &set.selections {
            let mut conditions = outer.to_vec();
            conditions.extend(selection.directives().iter().filter_map(condition));
            match selection {
                Selection::Field(field) => {
                    let entry = selected.entry(field.response_key().clone()).or_default();
                    entry.push((field, conditions));
                }
                Selection::InlineFragment(inline) => {
                    if inline.type_condition.as_ref().is_none_or(|wanted| applies(wanted, on)) {
                        self.collect(&inline.selection_set, on, &conditions, selected);
                    }
                }
                Selection::FragmentSpread(spread) => {
                    let fragment = self.document.fragments.get(&spread.fragment_name);
                    if let Some(fragment) = fragment.filter(|it| applies(it.type_condition(), on)) {
                        self.collect(&fragment.selection_set, on, &conditions, selected);
                    }
                }
            }
        }
    }

    fn field(&self, key: &Name, fields: &[(&'d Field, Vec<Condition>)]) -> PlanField {
        let (field, _) = fields.first().expect("a key exists because a field was selected");
        let returns = field.ty().inner_named_type();
        let sets: Vec<_> =
            fields.iter().map(|(it, when)| (&it.selection_set, when.clone())).collect();
        let types = if field.selection_set.is_empty() { Vec::new() } else { concrete(returns) };
        let kids = types.into_iter().map(|on| {
            let kids = self.fields(&sets, &on);
            (on.as_str().into(), kids)
        });
        PlanField {
            key: key.as_str().into(),
            name: field.name.as_str().into(),
            arguments: field
                .arguments
                .iter()
                .map(|argument| (argument.name.as_str().into(), argument_of(&argument.value)))
                .collect(),
            shown: fields.iter().map(|(_, conditions)| conditions.clone()).collect(),
            location: self.location(key),
            is_required: field.ty().is_non_null() && !field.ty().is_list(),
            is_connection: returns.as_str().ends_with("Connection"),
            kids: kids.collect(),
        }
    }

    fn location(&self, name: &Name) -> (usize, usize) {
        let span = name.location().and_then(|span| span.line_column(&self.document.sources));
        span.map_or((1, 1), |at| (at.line, at.column))
    }
}

fn applies(wanted: &str, on: &str) -> bool {
    wanted == on || SCHEMA.is_subtype(wanted, on)
}

/// The object types a value of a type can have.
fn concrete(name: &Name) -> Vec<Name> {
    match SCHEMA.types.get(name) {
        Some(ExtendedType::Interface(_)) => {
            let objects = SCHEMA.types.iter().filter(|(_, held)| held.is_object());
            objects
                .filter(|(on, _)| SCHEMA.is_subtype(name, on))
                .map(|(on, _)| on.clone())
                .collect()
        }
        _ => vec![name.clone()],
    }
}

fn condition(directive: &Node<Directive>) -> Option<Condition> {
    let wanted = match directive.name.as_str() {
        "include" => true,
        "skip" => false,
        _ => return None,
    };
    let value = argument_of(directive.specified_argument_by_name("if")?);
    Some(Condition { wanted, value })
}

fn variable_of(variable: &ast::VariableDefinition) -> Variable {
    let default = variable.default_value.as_ref().map(|value| argument_of(value));
    Variable {
        name: variable.name.to_string(),
        ty: (*variable.ty).clone(),
        default: default.map(|value| value.bind(&serde_json::Map::new())),
    }
}

pub(super) fn argument_of(value: &ast::Value) -> Argument {
    match value {
        ast::Value::Null => Argument::Value(Value::Null),
        ast::Value::Enum(name) => Argument::Value(name.as_str().into()),
        ast::Value::Variable(name) => Argument::Variable(name.to_string()),
        ast::Value::String(text) => Argument::Value(text.as_str().into()),
        ast::Value::Float(number) => Argument::Value(json!(number.try_to_f64().unwrap_or(0.0))),
        ast::Value::Int(number) => {
            Argument::Value(json!(number.as_str().parse::<i64>().unwrap_or(i64::MAX)))
        }
        ast::Value::Boolean(flag) => Argument::Value(Value::Bool(*flag)),
        ast::Value::List(items) => Argument::List(items.iter().map(|it| argument_of(it)).collect()),
        ast::Value::Object(fields) => {
            let bound = fields.iter().map(|(name, value)| (name.to_string(), argument_of(value)));
            Argument::Object(bound.collect())
        }
    }
}

fn complaints(errors: &DiagnosticList) -> Vec<Problem> {
    let told = errors.iter().map(|diagnostic| {
        let error = diagnostic.to_json();
        let location = error.locations.first().map_or((1, 1), |at| (at.line, at.column));
        complaint(&error.message, location)
    });
    told.collect()
}

/// The checker's complaint in GitHub's words, where GitHub is known to have some.
fn complaint(message: &str, location: (usize, usize)) -> Problem {
    let quoted: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    let (words, extensions, last) = match quoted.as_slice() {
        [on, field] if message.contains("does not have a field") => (
            format!("Field '{field}' doesn't exist on type '{on}'"),
            Some(json!({ "code": "undefinedField", "typeName": on, "fieldName": field })),
            Some(*field),
        ),
        [argument, place] if message.contains("is not supported by") => {
            let field = place.rsplit('.').next().unwrap_or(place);
            let field = field.split('(').next().unwrap_or(field);
            (
                format!("Field '{field}' doesn't accept argument '{argument}'"),
                Some(
                    json!({ "code": "argumentNotAccepted", "name": field, "typeName": "Field", "argumentName": argument }),
                ),
                Some(field),
            )
        }
        _ => (message.to_owned(), None, None),
    };
    let path = ["query"].into_iter().chain(last).map(|step| Step::Key(step.into())).collect();
    Problem { kind: None, message: words, path, location, extensions }
}

/// The fields of a type that can be asked for without arguments or a selection, with their types.
#[cfg(test)]
pub(crate) fn leaves(type_name: &str) -> Vec<(String, String)> {
    let object = SCHEMA.get_object(type_name).expect("tests name types of the schema");
    let plain = object.fields.values().filter(|field| {
        let returns = SCHEMA.types.get(field.ty.inner_named_type());
        returns.is_some_and(ExtendedType::is_leaf)
    });
    plain.map(|field| (field.name.to_string(), field.ty.to_string())).collect()
}
