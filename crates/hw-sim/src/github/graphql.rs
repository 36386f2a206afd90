//! The GraphQL API: checks a document against the schema, computes its cost and executes it.

mod coercion;
mod connections;
mod execution;
mod fields;
mod inline_fault;
mod pagination;
mod plan;
mod plan_compiler;
mod problems;
mod query_cost;

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use serde_json::{Map, Value};

use super::quotas::QuotaStatus;
use super::reply::HttpReply;
use super::request_log::ServedPage;
use crate::faults::ApiFault;
use crate::world::ReplicaView;
use execution::QueryExecution;
pub(crate) use inline_fault::InlineFault;
use plan::DocumentPlan;
#[cfg(test)]
pub(crate) use plan_compiler::leaf_fields;
use problems::{GraphqlProblem, refusal_reply};
use query_cost::QueryCost;

/// Documents are few and sent again and again, to many worlds of one process.
const MAX_CACHED_DOCUMENTS: usize = 4096;

type CompiledDocument = Arc<Result<DocumentPlan, Vec<GraphqlProblem>>>;

static DOCUMENT_CACHE: LazyLock<Mutex<HashMap<String, CompiledDocument>>> =
    LazyLock::new(Mutex::default);

/// A checked query with its cost.
#[derive(Debug)]
pub(crate) struct PreparedQuery {
    compiled: CompiledDocument,
    variables: Map<String, Value>,
    pub(crate) cost: QueryCost,
}

/// The result of executing a query.
#[derive(Debug)]
pub(crate) struct ExecutionResult {
    pub(crate) body: String,
    /// True if the inline fault fired.
    pub(crate) has_fault: bool,
    pub(crate) pages: Vec<ServedPage>,
}

impl PreparedQuery {
    /// Prepares the query in a request body, or returns the reply that refuses it.
    pub(crate) fn from_body(body: &[u8]) -> Result<Self, HttpReply> {
        let Ok(Value::Object(mut fields)) = serde_json::from_slice(body) else {
            return Err(HttpReply::from_message(400, "Problems parsing JSON"));
        };
        let Some(Value::String(query)) = fields.remove("query") else {
            return Err(HttpReply::from_message(
                400,
                "A query attribute must be specified and must be a string.",
            ));
        };
        let given = match fields.remove("variables") {
            Some(Value::Object(given)) => given,
            None | Some(Value::Null) => Map::new(),
            Some(_) => return Err(HttpReply::from_message(400, "Problems parsing JSON")),
        };
        let compiled = compile_cached(query);
        let plan = match &*compiled {
            Ok(plan) => plan,
            Err(problems) => return Err(refusal_reply(problems)),
        };
        let variables = plan.bind_variables(&given).map_err(|problems| refusal_reply(&problems))?;
        let cost = query_cost::compute_cost(plan, &variables)
            .map_err(|problems| refusal_reply(&problems))?;
        Ok(Self { compiled, variables, cost })
    }

    /// Returns its root fields, for the log.
    pub(crate) fn summary(&self) -> String {
        self.plan().summary(&self.variables)
    }

    /// Executes the query on one replica.
    pub(crate) fn execute(
        &self,
        view: ReplicaView<'_>,
        quota: QuotaStatus,
        inline_fault: InlineFault,
    ) -> ExecutionResult {
        let mut execution = QueryExecution::new(view, self, quota, inline_fault);
        execution.write_roots();
        execution.finish()
    }

    /// Counts the sites that a fault could hit.
    pub(crate) fn count_fault_sites(
        &self,
        view: ReplicaView<'_>,
        quota: QuotaStatus,
        fault: ApiFault,
    ) -> usize {
        let mut execution =
            QueryExecution::new(view, self, quota, InlineFault::counting_sites(fault));
        execution.write_roots();
        execution.fault_sites()
    }

    fn plan(&self) -> &DocumentPlan {
        self.compiled.as_ref().as_ref().expect("only a valid document is ever prepared")
    }
}

fn compile_cached(query: String) -> CompiledDocument {
    let mut documents = DOCUMENT_CACHE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(compiled) = documents.get(&query) {
        return Arc::clone(compiled);
    }
    let compiled = Arc::new(plan_compiler::compile_document(&query));
    if documents.len() >= MAX_CACHED_DOCUMENTS {
        documents.clear();
    }
    documents.insert(query, Arc::clone(&compiled));
    compiled
}
