//! What is told of a token, and kept from it.

use super::*;

const USER: &[u8] =
    b"GET /user HTTP/1.1\r\nHost: h\r\nUser-Agent: t\r\nAuthorization: Bearer t\r\n\r\n";
const REPOS: &[u8] =
    b"GET /orgs/acme/repos HTTP/1.1\r\nHost: h\r\nUser-Agent: t\r\nAuthorization: Bearer t\r\n\r\n";
const LISTING: &str = "{ organization(login: \"acme\") { login } }";

#[test]
fn a_classic_token_has_scopes_and_a_fine_grained_one_none() {
    let mut github = GitHub::new(&WorldSpec::small(), 1);
    let told = |github: &mut GitHub| {
        let (_, head, _) = parts(&response(github.handle(USER, 0)));
        let expires = header(&head, "github-authentication-token-expiration");
        (header(&head, "x-oauth-scopes"), expires)
    };
    assert_eq!(told(&mut github), (Some("read:org, repo".to_owned()), None));
    let expires = Some("2026-12-01 00:00:00 UTC".to_owned());
    let fine = TokenSpec { scopes: None, expires: expires.clone(), ..TokenSpec::classic() };
    github.issue_token(fine);
    assert_eq!(told(&mut github), (None, expires));
}

#[test]
fn without_single_sign_on_the_organisation_is_kept_from_a_token_and_its_user_is_not() {
    let mut github = GitHub::new(&WorldSpec::small(), 1);
    github.issue_token(TokenSpec { lacks_sign_on: true, ..TokenSpec::classic() });
    let answer = ask(&mut github, LISTING, json!({}));
    assert_eq!(answer["data"]["organization"], Value::Null);
    assert_eq!(answer["errors"][0]["extensions"]["saml_failure"], true);
    assert_eq!(ask(&mut github, "{ viewer { login } }", json!({}))["errors"], Value::Null);
    let (status, head, _) = parts(&response(github.handle(REPOS, 0)));
    assert!(status == 403 && header(&head, "x-github-sso").is_some());
    assert_eq!(parts(&response(github.handle(USER, 0))).0, 200);
}
