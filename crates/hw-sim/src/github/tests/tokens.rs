//! Tests of the token's properties and of missing single sign-on.

use super::*;

const USER: &[u8] =
    b"GET /user HTTP/1.1\r\nHost: h\r\nUser-Agent: t\r\nAuthorization: Bearer t\r\n\r\n";
const REPOS: &[u8] =
    b"GET /orgs/acme/repos HTTP/1.1\r\nHost: h\r\nUser-Agent: t\r\nAuthorization: Bearer t\r\n\r\n";
const LISTING: &str = "{ repositoryOwner(login: \"acme\") { login } }";

#[test]
fn token_has_scopes_if_classic_and_an_expiry_if_fine_grained() {
    let mut github = SimulatedGitHub::new(&WorldSpec::small(), 1);
    let expires = "2026-12-01 00:00:00 UTC";
    let fine_grained =
        TokenSpec { scopes: None, expires: Some(expires.to_owned()), ..TokenSpec::classic() };
    for (token, scopes, expires) in
        [(TokenSpec::classic(), Some("read:org, repo"), None), (fine_grained, None, Some(expires))]
    {
        github.set_token(token);
        let user = parse_response(&expect_response(github.handle_request(USER, 0)));
        assert_eq!(user.header("x-oauth-scopes"), scopes);
        assert_eq!(user.header("github-authentication-token-expiration"), expires);
    }
}

#[test]
fn token_without_single_sign_on_sees_its_user_but_not_the_organization() {
    let mut github = SimulatedGitHub::new(&WorldSpec::small(), 1);
    github.set_token(TokenSpec { lacks_sign_on: true, ..TokenSpec::classic() });
    let response = post_query(&mut github, LISTING, json!({}));
    assert_eq!(response["data"]["repositoryOwner"], Value::Null);
    assert_eq!(response["errors"][0]["extensions"]["saml_failure"], true);
    assert_eq!(post_query(&mut github, "{ viewer { login } }", json!({}))["errors"], Value::Null);
    let refused = parse_response(&expect_response(github.handle_request(REPOS, 0)));
    assert!(refused.status == 403 && refused.header("x-github-sso").is_some());
    assert_eq!(parse_response(&expect_response(github.handle_request(USER, 0))).status, 200);
}
