//! GitHub, as a client sees it: two APIs behind one token.

use secrecy::SecretString;

use super::graphql::{GraphqlEndpoint, PingQuery};
use super::rest::RestEndpoint;
use super::token_info;
use crate::error::SourceError;
use crate::source::{ApiBudget, Source};
use crate::transport::{HttpRequest, HttpResponse};

/// The endpoints of github.com, or of an Enterprise server.
#[derive(Debug, Clone)]
pub struct GithubSource {
    pub graphql: GraphqlEndpoint,
    pub rest: RestEndpoint,
}

impl GithubSource {
    /// Creates a source with one token for both APIs. The URL of the REST API has no slash at its end.
    pub fn new(graphql_url: &str, rest_url: &str, token: &SecretString) -> Self {
        Self {
            graphql: GraphqlEndpoint { url: graphql_url.to_owned(), token: token.clone() },
            rest: RestEndpoint { url: rest_url.to_owned(), token: token.clone() },
        }
    }
}

impl AsRef<GraphqlEndpoint> for GithubSource {
    fn as_ref(&self) -> &GraphqlEndpoint {
        &self.graphql
    }
}

impl AsRef<RestEndpoint> for GithubSource {
    fn as_ref(&self) -> &RestEndpoint {
        &self.rest
    }
}

impl Source for GithubSource {
    type Ping = PingQuery;
    const PING: PingQuery = PingQuery;

    fn budgets_request(&self) -> Option<HttpRequest> {
        Some(token_info::budgets_request(&self.rest.url, &self.rest.token))
    }

    fn read_budgets(&self, response: &HttpResponse) -> Result<Vec<ApiBudget>, SourceError> {
        token_info::read_budgets(response)
    }
}
