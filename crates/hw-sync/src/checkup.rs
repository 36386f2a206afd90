//! Checks a source for `doctor`: no rate limiter, no retries, nothing stored.
//!
//! It helps to find out why a pull fails, so a failed request is a result, too.

use hw_rules::source_time::SourceInstant;
use hw_sources::error::SourceError;
use hw_sources::github::graphql::{self, GraphqlEndpoint, PingQuery};
use hw_sources::github::limits;
use hw_sources::github::repositories::RepositoryListQuery;
use hw_sources::github::token_info::{self, TokenInfo};
use hw_sources::query::Query as _;
use hw_sources::source::ApiBudget;
use hw_sources::transport::{self, HttpRequest, HttpResponse, Transport};

use crate::clock::Clock;

/// Short, because a user waits for the result.
const CHECK_TIMEOUT_MS: i64 = 10_000;

/// The results of checking a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceCheckup {
    /// The token's user and scopes, from the REST API.
    pub token: Result<TokenInfo, SourceError>,
    pub budgets: Result<Vec<ApiBudget>, SourceError>,
    /// The result of a GraphQL ping.
    pub graphql: Result<(), SourceError>,
    /// The result of listing the organization; none when none is given.
    pub organization: Option<Result<(), SourceError>>,
    /// Time by which our clock is ahead of the source's; none without a response.
    pub ahead_ms: Option<i64>,
    /// Time of the check, by the source's own clock.
    pub date: Option<SourceInstant>,
}

struct ReceivedResponse {
    response: HttpResponse,
    received_ms: i64,
}

/// Sends one request for each check, all at the same time.
pub async fn check_source(
    transport: &dyn Transport,
    clock: &dyn Clock,
    api: &str,
    endpoint: &GraphqlEndpoint,
    organization: Option<&str>,
) -> SourceCheckup {
    let began_ms = clock.now_ms();
    let (token, budgets, graphql) = tokio::join!(
        send_request(transport, clock, token_info::token_request(api, &endpoint.token)),
        send_request(transport, clock, token_info::budgets_request(api, &endpoint.token)),
        send_request(transport, clock, endpoint.build_request(&PingQuery.request(1))),
    );
    let organization = match organization {
        Some(login) if graphql.is_ok() => {
            Some(check_organization(transport, clock, endpoint, login).await)
        }
        Some(_) | None => None,
    };
    let dated = [&token, &budgets, &graphql].into_iter().flatten().find_map(|received| {
        let date = limits::parse_date(&received.response)?;
        Some((date, received.received_ms))
    });
    SourceCheckup {
        ahead_ms: dated.map(|(date, received_ms)| measure_clock_lead(date, began_ms, received_ms)),
        date: dated.map(|(date, _)| date),
        organization,
        token: token.and_then(|received| token_info::read_token_info(&received.response)),
        budgets: budgets.and_then(|received| token_info::read_budgets(&received.response)),
        graphql: graphql.and_then(|received| graphql::read_response(&received.response).map(drop)),
    }
}

/// Requests the first repository of the organization, as a pull does.
async fn check_organization(
    transport: &dyn Transport,
    clock: &dyn Clock,
    endpoint: &GraphqlEndpoint,
    login: &str,
) -> Result<(), SourceError> {
    let query = RepositoryListQuery { login, after: None, surfaces: &[] };
    let request = endpoint.build_request(&query.request(1));
    let received = send_request(transport, clock, request).await?;
    let response = graphql::read_response(&received.response)?;
    query.parse(&response, 1).map(drop)
}

async fn send_request(
    transport: &dyn Transport,
    clock: &dyn Clock,
    request: HttpRequest,
) -> Result<ReceivedResponse, SourceError> {
    let until_ms = clock.now_ms().saturating_add(CHECK_TIMEOUT_MS);
    let url = request.url.clone();
    tokio::select! {
        result = transport::send_and_mask(transport, request) => match result {
            Ok(response) => Ok(ReceivedResponse { response, received_ms: clock.now_ms() }),
            Err(error) => Err(SourceError::from_transport_error(error, &url)),
        },
        () = clock.sleep_until(until_ms) => {
            Err(SourceError::Network(format!("no response within {} s", CHECK_TIMEOUT_MS / 1_000)))
        }
    }
}

/// Returns the time by which our clock is ahead.
///
/// The response was dated at some moment between sending and receiving, in whole seconds: a difference that this
/// explains counts as zero.
fn measure_clock_lead(date: SourceInstant, began_ms: i64, ended_ms: i64) -> i64 {
    let (earliest, latest) = (date.0, date.0.saturating_add(999));
    if latest < began_ms {
        began_ms - latest
    } else if ended_ms < earliest {
        ended_ms - earliest
    } else {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clock_lead_is_zero_unless_the_exchange_cannot_explain_the_difference() {
        let noon = SourceInstant(1_000_000);
        assert_eq!(measure_clock_lead(noon, 1_000_900, 1_001_500), 0);
        assert_eq!(measure_clock_lead(noon, 999_000, 1_000_000), 0);
        assert_eq!(measure_clock_lead(noon, 1_010_999, 1_011_500), 10_000);
        assert_eq!(measure_clock_lead(noon, 980_000, 990_000), -10_000);
    }
}
