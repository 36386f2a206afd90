//! A system that a client speaks to.

use hw_rules::source_time::SourceInstant;

use crate::error::SourceError;
use crate::query::Query;
use crate::transport::{HttpRequest, HttpResponse};

/// A system with one or more APIs. Its endpoints say where requests go, decode the responses and classify their errors;
/// `AsRef` leads to the endpoint that a query is for.
pub trait Source: AsRef<<Self::Ping as Query>::Endpoint> + Send + Sync {
    /// The cheapest query there is. It tells a dead connection from a request that the server cannot answer.
    type Ping: Query<Page = ()>;
    const PING: Self::Ping;

    /// Builds the request for what is left of the budgets, which does not count against them; none if the source has no
    /// such request.
    fn budgets_request(&self) -> Option<HttpRequest>;

    /// Reads the response to [`budgets_request`](Self::budgets_request).
    fn read_budgets(&self, response: &HttpResponse) -> Result<Vec<ApiBudget>, SourceError>;
}

/// One rate limit of an API, by the hour or by the minute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiBudget {
    pub bucket: String,
    pub used: i64,
    pub limit: i64,
    pub resets_at: SourceInstant,
}
