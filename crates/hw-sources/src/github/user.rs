//! What GitHub tells of a token itself: whose it is, what it may, until when, and what is left of its budgets.
//!
//! Asked over REST: the headers with a token's scopes and its end come with any answer there, and
//! `/rate_limit` costs nothing.

use hw_rules::clean::storable;
use hw_rules::time::Mark;
use secrecy::{ExposeSecret as _, SecretString};

use super::limits;
use crate::json;
use crate::raw_json::{RawDocument, RawNode};
use crate::transport::{Method, Request, Response, Secretive};
use crate::trouble::Trouble;

const USER_AGENT: &str = concat!("highwater/", env!("CARGO_PKG_VERSION"));

/// A token, as an answer to it tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    pub login: String,
    /// What a classic token may; a fine-grained one has permissions, of which no header tells.
    pub scopes: Option<Vec<String>>,
    /// When it ends, if it does.
    pub expires: Option<Mark>,
}

/// One bucket of the hour's, or the minute's, requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Budget {
    pub bucket: String,
    pub used: i64,
    pub limit: i64,
    pub resets: Mark,
}

/// Asks who the token speaks for.
pub fn ask_token(api: &str, token: &SecretString) -> Request {
    get(format!("{api}/user"), token)
}

/// Asks what is left; this is not counted.
pub fn ask_budgets(api: &str, token: &SecretString) -> Request {
    get(format!("{api}/rate_limit"), token)
}

pub fn read_token(response: &Response) -> Result<Token, Trouble> {
    let body = body(response)?;
    let login = body.root().get("login").and_then(RawNode::as_text);
    let login = login.ok_or_else(|| Trouble::Garbled("the user has no login".into()))?;
    let scopes = response.header("x-oauth-scopes").map(listed);
    let expires = response.header("github-authentication-token-expiration").and_then(moment);
    Ok(Token { login: storable(&login), scopes, expires })
}

/// The buckets that highwater asks from, and `search`, by name.
pub fn read_budgets(response: &Response) -> Result<Vec<Budget>, Trouble> {
    let body = body(response)?;
    let budget = |bucket: &str| {
        let entry = body.root().find(&["resources", bucket])?;
        let number = |name: &str| entry.get(name).and_then(RawNode::as_i64);
        let resets = Mark(number("reset")?.saturating_mul(1_000));
        let bucket = bucket.to_owned();
        Some(Budget { bucket, used: number("used")?, limit: number("limit")?, resets })
    };
    let budgets: Vec<_> = ["core", "graphql", "search"].into_iter().filter_map(budget).collect();
    if budgets.is_empty() { Err(Trouble::Garbled("no budgets".into())) } else { Ok(budgets) }
}

fn get(url: String, token: &SecretString) -> Request {
    let bearer = format!("Bearer {}", token.expose_secret());
    let plain = |text: &str| Secretive::Plain(text.to_owned());
    let mut headers = vec![
        ("accept", plain("application/vnd.github+json")),
        ("user-agent", plain(USER_AGENT)),
        ("x-github-api-version", plain("2022-11-28")),
    ];
    if !token.expose_secret().is_empty() {
        headers.push(("authorization", Secretive::Secret(bearer)));
    }
    Request { method: Method::Get, url, headers, body: None }
}

fn body(response: &Response) -> Result<RawDocument, Trouble> {
    if let Some(trouble) = limits::trouble_of_status(response) {
        return Err(trouble);
    }
    let read = json::read(&response.body).map_err(|error| Trouble::Garbled(error.to_string()))?;
    Ok(read.value)
}

fn listed(text: &str) -> Vec<String> {
    let names = text.split(',').map(str::trim).filter(|name| !name.is_empty());
    names.map(storable).collect()
}

/// `2026-12-01 00:00:00 UTC`, or with an offset such as `+0200` in place of the name.
fn moment(text: &str) -> Option<Mark> {
    let text = text.trim();
    let text = text.strip_suffix("UTC").map_or_else(|| text.to_owned(), |it| format!("{it}+0000"));
    let time = jiff::Timestamp::strptime("%Y-%m-%d %H:%M:%S %z", text).ok()?;
    Some(Mark(time.as_millisecond()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_classic_token_tells_its_scopes_and_a_fine_grained_one_its_end() {
        let classic = read_token(&answer(&[("x-oauth-scopes", "read:org, repo")])).unwrap();
        let scopes = Some(vec!["read:org".to_owned(), "repo".to_owned()]);
        assert_eq!(classic, Token { login: "anchor".to_owned(), scopes, expires: None });
        let none = read_token(&answer(&[("x-oauth-scopes", "")])).unwrap();
        assert_eq!(
            none.scopes,
            Some(vec![]),
            "a token without any scope is not a fine-grained one"
        );
        let name = "github-authentication-token-expiration";
        for text in ["2026-12-01 00:00:00 UTC", "2026-12-01 02:00:00 +0200"] {
            let fine = read_token(&answer(&[(name, text)])).unwrap();
            assert_eq!(
                (fine.scopes, fine.expires),
                (None, Some(Mark(1_796_083_200_000))),
                "{text}"
            );
        }
    }

    #[test]
    fn budgets_are_read_by_name_and_strange_ones_left_out() {
        let body = r#"{"resources":{"graphql":{"limit":5000,"used":12,"remaining":4988,"reset":60},
            "core":{"limit":5000,"used":1,"remaining":4999,"reset":120},"search":{"limit":"many"}}}"#;
        let response = Response { body: body.into(), ..answer(&[]) };
        let graphql =
            Budget { bucket: "graphql".to_owned(), used: 12, limit: 5000, resets: Mark(60_000) };
        let read = read_budgets(&response).unwrap();
        assert_eq!((read.len(), &read[1]), (2, &graphql));
        let none = Response { body: b"{}".to_vec(), ..answer(&[]) };
        assert!(matches!(read_budgets(&none), Err(Trouble::Garbled(_))));
    }

    #[test]
    fn a_refused_token_is_trouble_and_is_not_shown() {
        let refused = Response { status: 401, ..answer(&[]) };
        assert!(matches!(read_token(&refused), Err(Trouble::Denied(_))));
        let shown = format!("{:?}", ask_token("https://x", &"hunter2".into()));
        assert!(shown.contains("https://x/user") && !shown.contains("hunter2"), "{shown}");
    }

    fn answer(headers: &[(&str, &str)]) -> Response {
        let headers = headers.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
        Response { status: 200, headers, body: br#"{"login":"anchor"}"#.to_vec() }
    }
}
