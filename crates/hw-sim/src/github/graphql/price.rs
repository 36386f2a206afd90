//! What a document costs, before anything is read.

use super::plan::{Plan, PlanField, Variables};
use super::problems::{Problem, Step};

const MOST_NODES: u64 = 500_000;
const MOST_IDS: usize = 100;

/// The sums GitHub makes up front.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Price {
    /// How many connections would be read, each once per parent.
    pub(crate) requests: u64,
    pub(crate) nodes: u64,
    /// The widest page that lies in no other page, or the number of ids or of root fields if that is
    /// more: what a client can make smaller.
    pub(crate) weight: u64,
    pub(crate) points: u32,
}

impl Price {
    fn add(&mut self, other: Self) {
        self.requests += other.requests;
        self.nodes += other.nodes;
        self.weight = self.weight.max(other.weight);
    }
}

/// The price: requests divided by a hundred, rounded, at least one point.
pub(super) fn price(plan: &Plan, variables: &Variables) -> Result<Price, Vec<Problem>> {
    let mut counter = Counter { variables, path: Vec::new(), problems: Vec::new() };
    let mut price = counter.all(&plan.roots, 1);
    if MOST_NODES < price.nodes {
        counter.problems.push(Problem::new("MAX_NODE_LIMIT_EXCEEDED", format!(
            "This query requests up to {} possible nodes which exceeds the maximum limit of 500,000.",
            price.nodes
        )));
    }
    if !counter.problems.is_empty() {
        return Err(counter.problems);
    }
    price.weight = price.weight.max(u64::try_from(plan.roots.len()).unwrap_or(u64::MAX));
    price.points = u32::try_from((price.requests + 50) / 100).unwrap_or(u32::MAX).max(1);
    Ok(price)
}

struct Counter<'p> {
    variables: &'p Variables,
    path: Vec<Step>,
    problems: Vec<Problem>,
}

impl Counter<'_> {
    fn all(&mut self, fields: &[PlanField], parents: u64) -> Price {
        let mut sum = Price::default();
        for field in fields.iter().filter(|field| field.is_shown(self.variables)) {
            self.path.push(Step::Key(field.key.clone()));
            sum.add(self.one(field, parents));
            self.path.pop();
        }
        sum
    }

    fn one(&mut self, field: &PlanField, parents: u64) -> Price {
        let mut sum = Price::default();
        let mut below = parents;
        if field.is_connection {
            let width = self.width(field);
            below = parents.saturating_mul(width);
            sum = Price { requests: parents, nodes: below, weight: width, points: 0 };
        } else if let Some(ids) = field.argument("ids", self.variables) {
            let count = ids.as_array().map_or(0, Vec::len);
            self.refuse_when(MOST_IDS < count, field, "ARGUMENT_LIMIT", || {
                format!("You may not provide more than 100 node ids; you provided {count}.")
            });
            below = parents.saturating_mul(u64::try_from(count).unwrap_or(u64::MAX));
            sum.weight = below;
        }
        // A value is of one type only, so the dearest of its possible types is what it may cost.
        let prices = field.kids.iter().map(|(_, kids)| self.all(kids, below)).collect::<Vec<_>>();
        let mut dearest = prices.into_iter().max_by_key(|price| price.requests).unwrap_or_default();
        if 0 < sum.weight {
            dearest.weight = 0;
        }
        sum.add(dearest);
        sum
    }

    /// The page size of a connection. Counting alone needs none.
    fn width(&mut self, field: &PlanField) -> u64 {
        let number = |name| field.argument(name, self.variables).and_then(|it| it.as_i64());
        let (first, last) = (number("first"), number("last"));
        let name = &field.name;
        let (boundary, width) = match (first, last) {
            (Some(first), both) => {
                self.refuse_when(both.is_some(), field, "AMBIGUOUS_PAGINATION", || {
                    format!("Passing both `first` and `last` to paginate the `{name}` connection is not supported.")
                });
                ("first", first)
            }
            (None, Some(last)) => ("last", last),
            (None, None) => {
                let reads = |kid: &PlanField| matches!(&*kid.name, "nodes" | "edges");
                let reads = field.kids.iter().any(|(_, kids)| kids.iter().any(reads));
                self.refuse_when(reads, field, "MISSING_PAGINATION_BOUNDARIES", || format!(
                    "You must provide a `first` or `last` value to properly paginate the `{name}` connection."
                ));
                return 0;
            }
        };
        self.refuse_when(!(1..=100).contains(&width), field, "EXCESSIVE_PAGINATION", || format!(
            "Requesting {width} records on the `{name}` connection exceeds the `{boundary}` limit of 100 records."
        ));
        u64::try_from(width).unwrap_or(0)
    }

    fn refuse_when(
        &mut self,
        wrong: bool,
        field: &PlanField,
        kind: &'static str,
        message: impl FnOnce() -> String,
    ) {
        if wrong {
            self.problems.push(Problem::new(kind, message()).at(&self.path, field.location));
        }
    }
}
