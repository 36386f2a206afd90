//! The transport to the simulated AppView: latency and faults on the virtual clock.

use hw_sim::bluesky::{AppViewFault, BlueskySpec, XrpcEndpoint};
use hw_sources::transport::HttpResponse;
use serde_json::{Value, json};

use crate::harness::{AppViewFixture, on_virtual_time};

#[test]
fn app_view_transport_takes_the_latency_of_the_answer() {
    let spec = BlueskySpec { latency_ms: 70..=70, ..BlueskySpec::small() };
    let fixture = AppViewFixture::new(&spec, 1);
    let did = first_did(&fixture);
    on_virtual_time(async {
        let started_ms = fixture.clock.virtual_now_ms();
        let target = format!("app.bsky.actor.getProfile?actor={did}");
        let answer = fixture.get(&target).await.unwrap();
        assert_eq!((answer.status, &parse(&answer)["did"]), (200, &json!(did)));
        assert_eq!(answer.header("date"), Some("Fri, 02 Jan 2026 03:04:05 GMT"));
        assert_eq!(fixture.clock.virtual_now_ms() - started_ms, 70);
    });
}

#[test]
fn app_view_transport_reports_lost_and_truncated_answers() {
    let fixture = AppViewFixture::new(&BlueskySpec::small(), 1);
    let target = format!("app.bsky.actor.getProfile?actor={}", first_did(&fixture));
    on_virtual_time(async {
        for fault in
            [AppViewFault::DroppedBefore, AppViewFault::DroppedAfter, AppViewFault::Truncated]
        {
            fixture.with_app_view(|app_view| app_view.arm_fault(fault, 1));
            assert!(fixture.get(&target).await.is_err(), "{fault:?}");
            assert_eq!(fixture.get(&target).await.unwrap().status, 200, "{fault:?}");
        }
        fixture.with_app_view(|app_view| app_view.arm_fault(AppViewFault::Stall, 1));
        tokio::select! {
            biased;
            answer = fixture.get(&target) => panic!("a stalled service answered: {answer:?}"),
            () = fixture.clock.advance_by(600_000) => {}
        }
        let count =
            fixture.with_app_view(|app_view| app_view.request_log().count(XrpcEndpoint::Profile));
        assert_eq!(count, 7);
    });
}

#[test]
fn app_view_transport_sends_sessions() {
    let spec = BlueskySpec { requires_session: true, ..BlueskySpec::small() };
    let fixture = AppViewFixture::new(&spec, 1);
    let did = first_did(&fixture);
    on_virtual_time(async {
        let target = format!("app.bsky.feed.getAuthorFeed?actor={did}");
        let refused = fixture.get(&target).await.unwrap();
        assert_eq!((refused.status, &parse(&refused)["error"]), (401, &json!("AuthMissing")));
        let login = json!({ "identifier": did, "password": spec.app_password });
        let method = "com.atproto.server.createSession";
        let session = parse(&fixture.post(method, None, &login).await.unwrap());
        let access = session["accessJwt"].as_str().unwrap();
        assert_eq!(fixture.get_as(&target, access).await.unwrap().status, 200);
        fixture.clock.advance_by(2 * 3_600_000).await;
        let expired = parse(&fixture.get_as(&target, access).await.unwrap());
        assert_eq!(expired["error"], "ExpiredToken");
        let refresh = session["refreshJwt"].as_str();
        let method = "com.atproto.server.refreshSession";
        let renewed = parse(&fixture.post(method, refresh, &Value::Null).await.unwrap());
        let access = renewed["accessJwt"].as_str().unwrap();
        assert_eq!(fixture.get_as(&target, access).await.unwrap().status, 200);
    });
}

fn first_did(fixture: &AppViewFixture) -> String {
    fixture.with_app_view(|app_view| app_view.world().dids().remove(0))
}

fn parse(answer: &HttpResponse) -> Value {
    serde_json::from_slice(&answer.body).unwrap()
}
