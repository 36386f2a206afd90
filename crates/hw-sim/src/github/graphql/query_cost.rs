//! Computes the cost of a document before anything is read.

use super::plan::{DocumentPlan, PlanField, VariableMap};
use super::problems::{GraphqlProblem, PathStep};

const MAX_NODES: u64 = 500_000;
const MAX_IDS: usize = 100;

/// The sums that GitHub computes up front.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct QueryCost {
    /// The number of connections to be read, each once per parent.
    pub(crate) requests: u64,
    pub(crate) nodes: u64,
    /// The size of the widest outermost page, or the number of ids or of root fields if that is more: all that a
    /// client can make smaller.
    pub(crate) weight: u64,
    pub(crate) points: u32,
}

impl QueryCost {
    fn add(&mut self, other: Self) {
        self.requests += other.requests;
        self.nodes += other.nodes;
        self.weight = self.weight.max(other.weight);
    }
}

/// Computes the cost: requests divided by a hundred, rounded, at least one point.
pub(super) fn compute_cost(
    plan: &DocumentPlan,
    variables: &VariableMap,
) -> Result<QueryCost, Vec<GraphqlProblem>> {
    let mut counter = CostCounter { variables, path: Vec::new(), problems: Vec::new() };
    let mut cost = counter.sum_fields(&plan.roots, 1);
    if cost.nodes > MAX_NODES {
        counter.problems.push(GraphqlProblem::new("MAX_NODE_LIMIT_EXCEEDED", format!(
            "This query requests up to {} possible nodes which exceeds the maximum limit of 500,000.",
            cost.nodes
        )));
    }
    if !counter.problems.is_empty() {
        return Err(counter.problems);
    }
    cost.weight = cost.weight.max(u64::try_from(plan.roots.len()).unwrap_or(u64::MAX));
    cost.points = u32::try_from((cost.requests + 50) / 100).unwrap_or(u32::MAX).max(1);
    Ok(cost)
}

struct CostCounter<'p> {
    variables: &'p VariableMap,
    path: Vec<PathStep>,
    problems: Vec<GraphqlProblem>,
}

impl CostCounter<'_> {
    fn sum_fields(&mut self, fields: &[PlanField], parents: u64) -> QueryCost {
        let mut sum = QueryCost::default();
        for field in fields.iter().filter(|field| field.is_included(self.variables)) {
            self.path.push(PathStep::Key(field.key.clone()));
            sum.add(self.field_cost(field, parents));
            self.path.pop();
        }
        sum
    }

    fn field_cost(&mut self, field: &PlanField, parents: u64) -> QueryCost {
        let mut sum = QueryCost::default();
        let mut below = parents;
        if field.is_connection {
            let width = self.page_width(field);
            below = parents.saturating_mul(width);
            sum = QueryCost { requests: parents, nodes: below, weight: width, points: 0 };
        } else if let Some(ids) = field.argument_value("ids", self.variables) {
            let count = ids.as_array().map_or(0, Vec::len);
            if count > MAX_IDS {
                let message =
                    format!("You may not provide more than 100 node ids; you provided {count}.");
                self.refuse(field, "ARGUMENT_LIMIT", message);
            }
            below = parents.saturating_mul(u64::try_from(count).unwrap_or(u64::MAX));
            sum.weight = below;
        }
        // A value has one type only, so the most expensive of its possible types is the cost.
        let costs = field
            .selections
            .iter()
            .map(|(_, selections)| self.sum_fields(selections, below))
            .collect::<Vec<_>>();
        let mut highest = costs.into_iter().max_by_key(|cost| cost.requests).unwrap_or_default();
        if sum.weight > 0 {
            highest.weight = 0;
        }
        sum.add(highest);
        sum
    }

    /// Returns the page size of a connection; counting alone needs none.
    fn page_width(&mut self, field: &PlanField) -> u64 {
        let [first, last] = ["first", "last"]
            .map(|name| field.argument_value(name, self.variables).and_then(|size| size.as_i64()));
        let name = &field.name;
        let (boundary, width) = match (first, last) {
            (Some(first), last) => {
                if last.is_some() {
                    self.refuse(field, "AMBIGUOUS_PAGINATION", format!(
                        "Passing both `first` and `last` to paginate the `{name}` connection is not supported."
                    ));
                }
                ("first", first)
            }
            (None, Some(last)) => ("last", last),
            (None, None) => {
                if reads_rows(field) {
                    self.refuse(field, "MISSING_PAGINATION_BOUNDARIES", format!(
                        "You must provide a `first` or `last` value to properly paginate the `{name}` connection."
                    ));
                }
                return 0;
            }
        };
        if !(1..=100).contains(&width) {
            self.refuse(field, "EXCESSIVE_PAGINATION", format!(
                "Requesting {width} records on the `{name}` connection exceeds the `{boundary}` limit of 100 records."
            ));
        }
        u64::try_from(width).unwrap_or(0)
    }

    fn refuse(&mut self, field: &PlanField, kind: &'static str, message: String) {
        self.problems.push(GraphqlProblem::new(kind, message).at_path(&self.path, field.location));
    }
}

fn reads_rows(connection: &PlanField) -> bool {
    let mut selections = connection.selections.iter().flat_map(|(_, selections)| selections);
    selections.any(|selection| matches!(&*selection.name, "nodes" | "edges"))
}
