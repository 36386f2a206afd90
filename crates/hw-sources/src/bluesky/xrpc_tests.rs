use hw_rules::rate_limit::PauseScope;

use super::*;
use crate::bluesky::sample_responses::{DATE_SECONDS, FEED_PAGE, read_body};
use crate::bluesky::source::BlueskySource;

#[test]
fn xrpc_request_names_its_method_and_escapes_its_parameters() {
    let source = BlueskySource::new("https://public.api.test");
    let params = vec![("actor", "did:plc:a".to_owned()), ("cursor", "a b&c::d=".to_owned())];
    let request = XrpcRequest::new("app.bsky.feed.getAuthorFeed", params);
    let sent = source.reads.encode_request(&request);
    assert_eq!(
        sent.url,
        "https://public.api.test/xrpc/app.bsky.feed.getAuthorFeed?actor=did%3Aplc%3Aa&cursor=a+b%26c%3A%3Ad%3D"
    );
    assert_eq!((sent.method, sent.body), (Method::GET, None));
    let health = source.reads.encode_request(&HealthQuery.request(1));
    assert_eq!(health.url, "https://public.api.test/xrpc/_health");
}

#[test]
fn xrpc_response_is_read_with_its_time_and_its_faults_mended() {
    let response = read_body(200, &[], FEED_PAGE).unwrap();
    assert_eq!(response.date(), SourceInstant(DATE_SECONDS * 1_000));
    assert_eq!((response.meta.replaced_chars, response.meta.cost), (1, 1));
    assert_eq!(response.meta.limit_sample, None, "the public server sends no limits");
    assert!(HealthQuery.parse(&response, 1).is_ok());
}

#[test]
fn xrpc_response_without_a_date_or_json_is_unusable() {
    let undated = HttpResponse { status: 200, headers: HeaderMap::new(), body: b"{}".to_vec() };
    for result in [read_response(&undated), read_body(200, &[], "<html>"), read_body(200, &[], "")]
    {
        assert!(matches!(result, Err(SourceError::InvalidResponse(_))), "{result:?}");
    }
}

#[test]
fn xrpc_has_a_budget_of_its_own() {
    assert!(PauseScope::Api(ApiKind::Xrpc).covers(XrpcEndpoint::API));
    assert!(!PauseScope::Api(ApiKind::Rest).covers(XrpcEndpoint::API));
    assert_eq!(ApiKind::Xrpc.points_per_minute() * 5, 3_000);
}
