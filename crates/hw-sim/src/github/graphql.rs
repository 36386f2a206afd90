//! The GraphQL side: a document is checked against the schema, priced, paid for and walked.

mod coerce;
mod compile;
mod connections;
mod execute;
mod fields;
mod pages;
mod plan;
mod price;
mod problems;
mod sabotage;

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use serde_json::{Map, Value};

use super::limits::Quota;
use super::log::ServedPage;
use super::reply::Reply;
use crate::faults::Fault;
use crate::world::View;
#[cfg(test)]
pub(crate) use compile::leaves;
use execute::Run;
use plan::Plan;
use price::Price;
use problems::{Problem, refusal};
pub(crate) use sabotage::Sabotage;

/// Documents are few and asked again and again, by many worlds of one process.
const REMEMBERED: usize = 4096;

type Compiled = Arc<Result<Plan, Vec<Problem>>>;

static DOCUMENTS: LazyLock<Mutex<HashMap<String, Compiled>>> = LazyLock::new(Mutex::default);

/// A checked and priced request.
#[derive(Debug)]
pub(crate) struct Call {
    compiled: Compiled,
    variables: Map<String, Value>,
    pub(crate) price: Price,
}

/// What came of walking a call's plan.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) body: String,
    /// Whether the sabotage found its place.
    pub(crate) hit: bool,
    pub(crate) pages: Vec<ServedPage>,
}

impl Call {
    /// The request in a body, or the answer that refuses it.
    pub(crate) fn prepare(body: &[u8]) -> Result<Self, Reply> {
        let Ok(Value::Object(mut fields)) = serde_json::from_slice(body) else {
            return Err(Reply::message(400, "Problems parsing JSON"));
        };
        let Some(Value::String(query)) = fields.remove("query") else {
            return Err(Reply::message(
                400,
                "A query attribute must be specified and must be a string.",
            ));
        };
        let given = match fields.remove("variables") {
            Some(Value::Object(given)) => given,
            None | Some(Value::Null) => Map::new(),
            Some(_) => return Err(Reply::message(400, "Problems parsing JSON")),
        };
        let compiled = compiled(query);
        let plan = match &*compiled {
            Ok(plan) => plan,
            Err(problems) => return Err(refusal(problems)),
        };
        let variables = plan.bind(&given).map_err(|problems| refusal(&problems))?;
        let price = price::price(plan, &variables).map_err(|problems| refusal(&problems))?;
        Ok(Self { compiled, variables, price })
    }

    /// Its root fields, for the log.
    pub(crate) fn summary(&self) -> String {
        self.plan().summary(&self.variables)
    }

    /// The answer, from what one replica shows.
    pub(crate) fn run(&self, view: View<'_>, quota: Quota, sabotage: Sabotage) -> Ran {
        let mut run = Run::new(view, self, quota, sabotage);
        run.roots();
        run.finish()
    }

    /// How many places a fault could strike.
    pub(crate) fn places(&self, view: View<'_>, quota: Quota, fault: Fault) -> usize {
        let mut run = Run::new(view, self, quota, Sabotage::counting(fault));
        run.roots();
        run.places()
    }

    fn plan(&self) -> &Plan {
        self.compiled.as_ref().as_ref().expect("only a valid document is ever prepared")
    }
}

fn compiled(query: String) -> Compiled {
    let mut documents = DOCUMENTS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = documents.get(&query) {
        return Arc::clone(known);
    }
    let compiled = Arc::new(compile::compile(&query));
    if REMEMBERED <= documents.len() {
        documents.clear();
    }
    documents.insert(query, Arc::clone(&compiled));
    compiled
}
