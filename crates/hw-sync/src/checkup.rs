//! What a source says when it is asked how things stand: no gate, no retries, nothing kept.
//!
//! It is for somebody who wonders why a pull fails, so whatever fails here is an answer, too.

use hw_rules::time::Mark;
use hw_sources::github::graphql::{self, Endpoint};
use hw_sources::github::limits;
use hw_sources::github::repositories;
use hw_sources::github::user::{self, Budget, Token};
use hw_sources::transport::{self, Request, Response, Transport};
use hw_sources::trouble::Trouble;

use crate::clock::Clock;

/// Whoever asks wants to know, and not to wait.
const PATIENCE_MS: i64 = 10_000;

/// How a source answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkup {
    /// Whose the token is; asked of the REST API.
    pub token: Result<Token, Trouble>,
    pub budgets: Result<Vec<Budget>, Trouble>,
    /// Whether GraphQL answers.
    pub graphql: Result<(), Trouble>,
    /// Whether the organization is there and can be listed; none when none is named.
    pub owner: Option<Result<(), Trouble>>,
    /// How far our clock is ahead of the source's; none when nobody answered.
    pub ahead_ms: Option<i64>,
    /// When the source was asked, by its own clock.
    pub date: Option<Mark>,
}

/// Asks once for each, all at the same time.
pub async fn checkup(
    transport: &dyn Transport,
    clock: &dyn Clock,
    api: &str,
    endpoint: &Endpoint,
    organization: Option<&str>,
) -> Checkup {
    let began_ms = clock.now_ms();
    let (token, budgets, graphql) = tokio::join!(
        send(transport, clock, user::ask_token(api, &endpoint.token)),
        send(transport, clock, user::ask_budgets(api, &endpoint.token)),
        send(transport, clock, endpoint.request(&graphql::ping())),
    );
    let owner = match organization {
        Some(login) if graphql.is_ok() => {
            Some(look_up_owner(transport, clock, endpoint, login).await)
        }
        Some(_) | None => None,
    };
    let answers = [&token, &budgets, &graphql];
    let first = answers.into_iter().flatten().find_map(|(response, at_ms)| {
        let date = limits::date(response)?;
        Some((date, *at_ms))
    });
    Checkup {
        ahead_ms: first.map(|(date, at_ms)| ahead_ms(date, began_ms, at_ms)),
        date: first.map(|(date, _)| date),
        owner,
        token: token.and_then(|(response, _)| user::read_token(&response)),
        budgets: budgets.and_then(|(response, _)| user::read_budgets(&response)),
        graphql: graphql.and_then(|(response, _)| graphql::read(&response).map(drop)),
    }
}

/// Asks for the first repository of the organization, as a pull does.
async fn look_up_owner(
    transport: &dyn Transport,
    clock: &dyn Clock,
    endpoint: &Endpoint,
    login: &str,
) -> Result<(), Trouble> {
    let query = repositories::list_query(login, 1, None, &[]);
    let (response, _) = send(transport, clock, endpoint.request(&query)).await?;
    let answer = graphql::read(&response)?;
    repositories::read_list(&answer, None, 0).map(drop)
}

/// One request, and when its answer was there.
async fn send(
    over: &dyn Transport,
    clock: &dyn Clock,
    request: Request,
) -> Result<(Response, i64), Trouble> {
    let until_ms = clock.now_ms().saturating_add(PATIENCE_MS);
    let url = request.url.clone();
    tokio::select! {
        sent = transport::exchange(over, request) => match sent {
            Ok(response) => Ok((response, clock.now_ms())),
            Err(broken) => Err(Trouble::from_broken(broken, &url)),
        },
        () = clock.sleep_until(until_ms) => {
            Err(Trouble::Network(format!("nothing came within {} s", PATIENCE_MS / 1_000)))
        }
    }
}

/// How far our clock is ahead. The answer was dated somewhere between asking and getting it, and to whole
/// seconds: what can be explained by that is no difference.
fn ahead_ms(date: Mark, began_ms: i64, ended_ms: i64) -> i64 {
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
    fn only_what_nothing_else_explains_is_a_difference_of_clocks() {
        let noon = Mark(1_000_000);
        assert_eq!(ahead_ms(noon, 1_000_900, 1_001_500), 0);
        assert_eq!(ahead_ms(noon, 999_000, 1_000_000), 0);
        assert_eq!(ahead_ms(noon, 1_010_999, 1_011_500), 10_000);
        assert_eq!(ahead_ms(noon, 980_000, 990_000), -10_000);
    }
}
