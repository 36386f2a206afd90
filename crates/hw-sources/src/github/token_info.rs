//! Reads GitHub's information about a token: its user, scopes, expiry and remaining budgets.
//!
//! It comes over REST, where every response has headers with the token's scopes and expiry, and `/rate_limit` costs
//! nothing.

use http::{HeaderMap, Method, header};
use hw_rules::safe_text::sanitize_for_storage;
use hw_rules::source_time::SourceInstant;
use secrecy::{ExposeSecret as _, SecretString};

use super::limits;
use super::request_headers::{USER_AGENT, bearer_value};
use super::rest::{API_VERSION, GITHUB_JSON};
use crate::error::SourceError;
use crate::json_repair;
use crate::raw_json::{RawDocument, RawNode};
use crate::source::ApiBudget;
use crate::transport::{HttpRequest, HttpResponse};

/// The properties of a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenInfo {
    pub login: String,
    /// The scopes of a classic token; a fine-grained one has permissions, which no header reports.
    pub scopes: Option<Vec<String>>,
    /// The time at which it expires, if it does.
    pub expires_at: Option<SourceInstant>,
}

/// Builds the request for the token's user and properties.
pub fn token_request(api: &str, token: &SecretString) -> HttpRequest {
    get_request(format!("{api}/user"), token)
}

/// Builds the request for the remaining budgets; it does not count against them.
pub fn budgets_request(api: &str, token: &SecretString) -> HttpRequest {
    get_request(format!("{api}/rate_limit"), token)
}

pub fn read_token_info(response: &HttpResponse) -> Result<TokenInfo, SourceError> {
    let body = read_body(response)?;
    let login = body.root().get("login").and_then(RawNode::as_text);
    let login =
        login.ok_or_else(|| SourceError::InvalidResponse("the user has no login".into()))?;
    let scopes = response.header("x-oauth-scopes").map(split_scopes);
    let expires_at =
        response.header("github-authentication-token-expiration").and_then(parse_expiry);
    Ok(TokenInfo { login: sanitize_for_storage(&login), scopes, expires_at })
}

/// Reads the budgets that highwater uses, and `search`, in this order.
pub fn read_budgets(response: &HttpResponse) -> Result<Vec<ApiBudget>, SourceError> {
    let body = read_body(response)?;
    let budgets: Vec<_> = ["core", "graphql", "search"]
        .into_iter()
        .filter_map(|bucket| read_budget(body.root(), bucket))
        .collect();
    if budgets.is_empty() {
        Err(SourceError::InvalidResponse("no budgets".into()))
    } else {
        Ok(budgets)
    }
}

fn read_budget(body: RawNode<'_>, bucket: &str) -> Option<ApiBudget> {
    let entry = body.find_path(&["resources", bucket])?;
    Some(ApiBudget {
        bucket: bucket.to_owned(),
        used: entry.get("used")?.as_i64()?,
        limit: entry.get("limit")?.as_i64()?,
        resets_at: SourceInstant(entry.get("reset")?.as_i64()?.saturating_mul(1_000)),
    })
}

fn get_request(url: String, token: &SecretString) -> HttpRequest {
    let mut headers = HeaderMap::from_iter([
        (header::ACCEPT, GITHUB_JSON),
        (header::USER_AGENT, USER_AGENT),
        API_VERSION,
    ]);
    if !token.expose_secret().is_empty() {
        headers.insert(header::AUTHORIZATION, bearer_value(token));
    }
    HttpRequest { method: Method::GET, url, headers, body: None }
}

fn read_body(response: &HttpResponse) -> Result<RawDocument, SourceError> {
    if let Some(error) = limits::error_from_status(response) {
        return Err(error);
    }
    let body = json_repair::parse_repaired(&response.body)
        .map_err(|error| SourceError::not_the_expected_json(&error))?;
    Ok(body.value)
}

fn split_scopes(text: &str) -> Vec<String> {
    let names = text.split(',').map(str::trim).filter(|name| !name.is_empty());
    names.map(sanitize_for_storage).collect()
}

/// Parses `2026-12-01 00:00:00 UTC`, or the same with an offset such as `+0200` in place of `UTC`.
fn parse_expiry(text: &str) -> Option<SourceInstant> {
    let text = text.trim();
    let text = match text.strip_suffix("UTC") {
        Some(time) => format!("{time}+0000"),
        None => text.to_owned(),
    };
    let time = jiff::Timestamp::strptime("%Y-%m-%d %H:%M:%S %z", text).ok()?;
    Some(SourceInstant(time.as_millisecond()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::test_headers;

    #[test]
    fn token_info_has_the_scopes_of_a_classic_and_the_expiry_of_a_fine_grained_token() {
        let classic =
            read_token_info(&user_response(&[("x-oauth-scopes", "read:org, repo")])).unwrap();
        let scopes = Some(vec!["read:org".to_owned(), "repo".to_owned()]);
        assert_eq!(classic, TokenInfo { login: "anchor".to_owned(), scopes, expires_at: None });
        let none = read_token_info(&user_response(&[("x-oauth-scopes", "")])).unwrap();
        assert_eq!(
            none.scopes,
            Some(vec![]),
            "a token without any scope is not a fine-grained one"
        );
        let name = "github-authentication-token-expiration";
        for text in ["2026-12-01 00:00:00 UTC", "2026-12-01 02:00:00 +0200"] {
            let fine = read_token_info(&user_response(&[(name, text)])).unwrap();
            assert_eq!(
                (fine.scopes, fine.expires_at),
                (None, Some(SourceInstant(1_796_083_200_000))),
                "{text}"
            );
        }
    }

    #[test]
    fn budgets_are_read_by_name_and_unreadable_ones_left_out() {
        let body = r#"{"resources":{"graphql":{"limit":5000,"used":12,"remaining":4988,"reset":60},
            "core":{"limit":5000,"used":1,"remaining":4999,"reset":120},"search":{"limit":"many"}}}"#;
        let response = HttpResponse { body: body.into(), ..user_response(&[]) };
        let graphql = ApiBudget {
            bucket: "graphql".to_owned(),
            used: 12,
            limit: 5000,
            resets_at: SourceInstant(60_000),
        };
        let read = read_budgets(&response).unwrap();
        assert_eq!((read.len(), &read[1]), (2, &graphql));
        let none = HttpResponse { body: b"{}".to_vec(), ..user_response(&[]) };
        assert!(matches!(read_budgets(&none), Err(SourceError::InvalidResponse(_))));
    }

    #[test]
    fn token_info_reports_a_rejected_token_without_printing_it() {
        let refused = HttpResponse { status: 401, ..user_response(&[]) };
        assert!(matches!(read_token_info(&refused), Err(SourceError::TokenRejected(_))));
        let printed = format!("{:?}", token_request("https://x", &"hunter2".into()));
        assert!(printed.contains("https://x/user") && !printed.contains("hunter2"), "{printed}");
    }

    fn user_response(headers: &[(&str, &str)]) -> HttpResponse {
        let headers = test_headers(headers);
        HttpResponse { status: 200, headers, body: br#"{"login":"anchor"}"#.to_vec() }
    }
}
