//! Compiles the text of a document into a plan, using the schema.

use std::path::Path;
use std::sync::LazyLock;

use apollo_compiler::collections::IndexMap;
use apollo_compiler::executable::{Directive, Field, Selection, SelectionSet};
use apollo_compiler::schema::ExtendedType;
use apollo_compiler::validation::{DiagnosticList, Valid};
use apollo_compiler::{ExecutableDocument, Name, Node, Schema, ast};
use serde_json::{Value, json};

use super::plan::{DocumentPlan, PlanArgument, PlanCondition, PlanField, PlanVariable};
use super::problems::{GraphqlProblem, PathStep, SourceLocation};

pub(super) static SCHEMA: LazyLock<Valid<Schema>> = LazyLock::new(|| {
    Schema::parse_and_validate(include_str!("../schema.graphql"), "schema.graphql")
        .expect("the schema beside this code is valid")
});

/// The fields by key, each as often as it was selected, with the conditions of each selection.
type SelectedFields<'d> = IndexMap<Name, Vec<(&'d Field, Vec<PlanCondition>)>>;

/// Compiles a document with one query, or returns GitHub's errors for it.
pub(super) fn compile_document(text: &str) -> Result<DocumentPlan, Vec<GraphqlProblem>> {
    let document = ExecutableDocument::parse_and_validate(&SCHEMA, text, Path::new("query"))
        .map_err(|refused| convert_diagnostics(&refused.errors))?;
    let operation = document.operations.iter().next().filter(|_| document.operations.len() == 1);
    let Some(operation) = operation else {
        let message = "An operation name is required".to_owned();
        return Err(vec![GraphqlProblem::without_kind(message)]);
    };
    let compiler = PlanCompiler { document: &document };
    let roots = compiler.compile_fields(&[(&operation.selection_set, Vec::new())], "Query");
    let variables = operation.variables.iter().map(|variable| convert_variable(variable)).collect();
    Ok(DocumentPlan { variables, roots })
}

struct PlanCompiler<'d> {
    document: &'d Valid<ExecutableDocument>,
}

impl<'d> PlanCompiler<'d> {
    fn compile_fields(
        &self,
        sets: &[(&'d SelectionSet, Vec<PlanCondition>)],
        on: &str,
    ) -> Vec<PlanField> {
        let mut selected = SelectedFields::default();
        for (set, conditions) in sets {
            self.collect_fields(set, on, conditions, &mut selected);
        }
        selected.into_iter().map(|(key, fields)| self.compile_field(&key, &fields)).collect()
    }

    /// Collects the fields of a selection set; fields with the same key are merged, as GraphQL requires.
    fn collect_fields(
        &self,
        set: &'d SelectionSet,
        on: &str,
        outer: &[PlanCondition],
        selected: &mut SelectedFields<'d>,
    ) {
        for selection in &set.selections {
            let mut conditions = outer.to_vec();
            conditions.extend(selection.directives().iter().filter_map(parse_condition));
            match selection {
                Selection::Field(field) => {
                    let entry = selected.entry(field.response_key().clone()).or_default();
                    entry.push((field, conditions));
                }
                Selection::InlineFragment(inline) => {
                    let condition = inline.type_condition.as_ref();
                    if condition.is_none_or(|condition| is_type_match(condition, on)) {
                        self.collect_fields(&inline.selection_set, on, &conditions, selected);
                    }
                }
                Selection::FragmentSpread(spread) => {
                    let fragment = self.document.fragments.get(&spread.fragment_name);
                    if let Some(fragment) =
                        fragment.filter(|fragment| is_type_match(fragment.type_condition(), on))
                    {
                        self.collect_fields(&fragment.selection_set, on, &conditions, selected);
                    }
                }
            }
        }
    }

    fn compile_field(&self, key: &Name, fields: &[(&'d Field, Vec<PlanCondition>)]) -> PlanField {
        let (field, _) = fields.first().expect("a key exists because a field was selected");
        let returns = field.ty().inner_named_type();
        let sets: Vec<_> =
            fields.iter().map(|(field, when)| (&field.selection_set, when.clone())).collect();
        let types =
            if field.selection_set.is_empty() { Vec::new() } else { concrete_types(returns) };
        let selections = types.into_iter().map(|on| {
            let selections = self.compile_fields(&sets, &on);
            (on.as_str().into(), selections)
        });
        PlanField {
            key: key.as_str().into(),
            name: field.name.as_str().into(),
            arguments: field
                .arguments
                .iter()
                .map(|argument| (argument.name.as_str().into(), convert_argument(&argument.value)))
                .collect(),
            conditions: fields.iter().map(|(_, conditions)| conditions.clone()).collect(),
            location: self.source_location(key),
            is_required: field.ty().is_non_null() && !field.ty().is_list(),
            is_connection: returns.as_str().ends_with("Connection"),
            selections: selections.collect(),
        }
    }

    fn source_location(&self, name: &Name) -> SourceLocation {
        let start = name.location().and_then(|span| span.line_column(&self.document.sources));
        start.map_or(SourceLocation::START, |start| SourceLocation {
            line: start.line,
            column: start.column,
        })
    }
}

fn is_type_match(condition: &str, on: &str) -> bool {
    condition == on || SCHEMA.is_subtype(condition, on)
}

/// Returns the object types that a value of a type can have.
fn concrete_types(name: &Name) -> Vec<Name> {
    match SCHEMA.types.get(name) {
        Some(ExtendedType::Interface(_) | ExtendedType::Union(_)) => {
            let objects = SCHEMA.types.iter().filter(|(_, definition)| definition.is_object());
            objects
                .filter(|(on, _)| SCHEMA.is_subtype(name, on))
                .map(|(on, _)| on.clone())
                .collect()
        }
        _ => vec![name.clone()],
    }
}

fn parse_condition(directive: &Node<Directive>) -> Option<PlanCondition> {
    let expected = match directive.name.as_str() {
        "include" => true,
        "skip" => false,
        _ => return None,
    };
    let value = convert_argument(directive.specified_argument_by_name("if")?);
    Some(PlanCondition { expected, value })
}

fn convert_variable(variable: &ast::VariableDefinition) -> PlanVariable {
    let default = variable.default_value.as_ref().map(|value| convert_argument(value));
    PlanVariable {
        name: variable.name.to_string(),
        ty: (*variable.ty).clone(),
        default: default.map(|value| value.bind_value(&serde_json::Map::new())),
    }
}

pub(super) fn convert_argument(value: &ast::Value) -> PlanArgument {
    match value {
        ast::Value::Null => PlanArgument::Value(Value::Null),
        ast::Value::Enum(name) => PlanArgument::Value(name.as_str().into()),
        ast::Value::Variable(name) => PlanArgument::Variable(name.to_string()),
        ast::Value::String(text) => PlanArgument::Value(text.as_str().into()),
        ast::Value::Float(number) => PlanArgument::Value(json!(number.try_to_f64().unwrap_or(0.0))),
        ast::Value::Int(number) => {
            PlanArgument::Value(json!(number.as_str().parse::<i64>().unwrap_or(i64::MAX)))
        }
        ast::Value::Boolean(flag) => PlanArgument::Value(Value::Bool(*flag)),
        ast::Value::List(items) => {
            PlanArgument::List(items.iter().map(|item| convert_argument(item)).collect())
        }
        ast::Value::Object(fields) => {
            let bound =
                fields.iter().map(|(name, value)| (name.to_string(), convert_argument(value)));
            PlanArgument::Object(bound.collect())
        }
    }
}

fn convert_diagnostics(errors: &DiagnosticList) -> Vec<GraphqlProblem> {
    let problems = errors.iter().map(|diagnostic| {
        let error = diagnostic.to_json();
        let location = error.locations.first().map_or(SourceLocation::START, |start| {
            SourceLocation { line: start.line, column: start.column }
        });
        convert_diagnostic(&error.message, location)
    });
    problems.collect()
}

/// Converts an error of the validator to GitHub's message, where that is known.
fn convert_diagnostic(message: &str, location: SourceLocation) -> GraphqlProblem {
    let quoted: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    let (message, extensions, last) = match quoted.as_slice() {
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
    let path = ["query"].into_iter().chain(last).map(|step| PathStep::Key(step.into())).collect();
    GraphqlProblem { kind: None, message, path, location: Some(location), extensions }
}

/// Returns the fields of a type that need neither arguments nor a selection, with their types.
#[cfg(test)]
pub(crate) fn leaf_fields(type_name: &str) -> Vec<(String, String)> {
    let object = SCHEMA.get_object(type_name).expect("tests name types of the schema");
    let plain = object.fields.values().filter(|field| {
        let returns = SCHEMA.types.get(field.ty.inner_named_type());
        returns.is_some_and(ExtendedType::is_leaf)
    });
    plain.map(|field| (field.name.to_string(), field.ty.to_string())).collect()
}
