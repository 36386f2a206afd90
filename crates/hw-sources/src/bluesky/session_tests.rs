use http::Method;
use http::header::AUTHORIZATION;
use hw_rules::bluesky::account_state::AccountState;
use serde_json::{Value, json};

use super::*;
use crate::bluesky::sample_responses::{ALICE, BOB, http_response, read_body, response_with_body};
use crate::bluesky::source::BlueskySource;
use crate::bluesky::xrpc::HealthQuery;
use crate::query::ApiEndpoint as _;
use crate::transport::HttpRequest;

const PASSWORD: &str = "abcd-efgh-ijkl-mnop";

#[test]
fn session_is_opened_with_a_password_and_refreshed_with_its_own_token() {
    let source = BlueskySource::new("https://pds.test");
    let request = source.sessions.encode_request(&create_query(&alice(), &password()).request(1));
    assert_eq!((&request.method, request.url.as_str()), (&Method::POST, CREATE_URL));
    let body: Value = serde_json::from_slice(request.body.as_deref().unwrap()).unwrap();
    assert_eq!(body, json!({ "identifier": ALICE, "password": PASSWORD }));
    assert_eq!(bearer(&request), None);
    let session = open_session();
    let refresh = RefreshSessionQuery { session: &session };
    let request = source.sessions.encode_request(&refresh.request(1));
    assert_eq!(request.url, "https://pds.test/xrpc/com.atproto.server.refreshSession");
    assert_eq!((bearer(&request), request.body), (Some("Bearer refresh.jwt".to_owned()), None));
}

#[test]
fn session_is_used_by_all_clones_of_the_source() {
    let source = BlueskySource::new("https://pds.test");
    let clone = source.clone();
    let sent =
        |source: &BlueskySource| bearer(&source.reads.encode_request(&HealthQuery.request(1)));
    assert_eq!(sent(&clone), None, "public reads need no session");
    source.use_session(&open_session());
    assert_eq!(sent(&clone).as_deref(), Some("Bearer access.jwt"));
    clone.end_session();
    assert_eq!(sent(&source), None);
}

#[test]
fn session_never_appears_in_debug_output() {
    let (source, session) = (BlueskySource::new("https://pds.test"), open_session());
    source.use_session(&session);
    let request = source.reads.encode_request(&HealthQuery.request(1));
    let (account, password) = (alice(), password());
    let create = create_query(&account, &password);
    let text =
        format!("{source:?} {session:?} {:?} {create:?} {:?}", request.headers, create.request(1));
    for secret in ["access.jwt", "refresh.jwt", PASSWORD] {
        assert!(!text.contains(secret), "{text}");
    }
}

#[test]
fn session_without_usable_tokens_is_refused() {
    for (name, value) in [
        ("accessJwt", json!(null)),
        ("accessJwt", json!("")),
        ("refreshJwt", json!("[masked]")),
        ("refreshJwt", json!("a\nb")),
        ("accessJwt", json!("x".repeat(10_000))),
        ("did", json!("alice")),
    ] {
        let mut body = session_json(ALICE);
        body[name] = value;
        let (account, password) = (alice(), password());
        let error = create_query(&account, &password).parse(&response_with_body(&body), 1);
        assert!(matches!(error, Err(SourceError::InvalidResponse(_))), "{name}");
    }
}

#[test]
fn session_of_another_account_is_refused_when_refreshed() {
    let session = open_session();
    let refresh = RefreshSessionQuery { session: &session };
    assert!(refresh.parse(&response_with_body(&session_json(ALICE)), 1).is_ok());
    assert!(refresh.parse(&response_with_body(&session_json(BOB)), 1).is_err());
}

#[test]
fn session_limits_say_nothing_about_reads() {
    let headers =
        [("ratelimit-limit", "30"), ("ratelimit-remaining", "1"), ("ratelimit-reset", "300")];
    let response = http_response(200, &headers, &session_json(ALICE).to_string());
    let decoded = SessionEndpoint::decode_response(&response).unwrap();
    let sample = decoded.meta.limit_sample.unwrap();
    assert!(!sample.is_of(SessionEndpoint::API));
    let read = read_body(200, &headers, "{}").unwrap().meta.limit_sample.unwrap();
    assert!(read.is_of(SessionEndpoint::API));
}

#[test]
fn session_is_refused_for_a_wrong_password_or_a_suspended_account() {
    let wrong = r#"{"error":"AuthenticationRequired","message":"Invalid identifier or password"}"#;
    let error = read_body(401, &[], wrong).unwrap_err();
    let message = "the token was refused: AuthenticationRequired: Invalid identifier or password";
    assert_eq!(error.to_string(), message);
    let takedown = r#"{"error":"AccountTakedown","message":"Account has been taken down"}"#;
    let Err(SourceError::AccountUnavailable(account)) = read_body(401, &[], takedown) else {
        panic!("an account that was taken down cannot log in");
    };
    assert_eq!(account.state, AccountState::Suspended);
}

const CREATE_URL: &str = "https://pds.test/xrpc/com.atproto.server.createSession";

fn alice() -> AccountRef {
    ALICE.parse().unwrap()
}

fn password() -> SecretString {
    SecretString::from(PASSWORD)
}

fn create_query<'a>(
    account: &'a AccountRef,
    app_password: &'a SecretString,
) -> CreateSessionQuery<'a> {
    CreateSessionQuery { account, app_password }
}

fn open_session() -> Session {
    let (account, password) = (alice(), password());
    let response = response_with_body(&session_json(ALICE));
    create_query(&account, &password).parse(&response, 1).unwrap()
}

fn session_json(did: &str) -> Value {
    json!({
        "did": did, "handle": "alice.test", "email": "alice@test", "accessJwt": "access.jwt",
        "refreshJwt": "refresh.jwt", "active": true, "didDoc": { "id": did },
    })
}

fn bearer(request: &HttpRequest) -> Option<String> {
    let value = request.headers.get(AUTHORIZATION)?;
    assert!(value.is_sensitive(), "otherwise it is not masked");
    Some(value.to_str().unwrap().to_owned())
}
