//! Rate-limit costs of the GraphQL queries: a more expensive query is a decision, not an accident.

use hw_rules::followed_source::RepositoryName;
use hw_rules::item;
use hw_rules::lane::{PerThreadCommentKind, Surface};
use hw_rules::walk::PageCursor;
use hw_sim::{CommentKind, ThreadKind, TrueRepository, WorldSpec};
use hw_sources::github::closing_references;
use hw_sources::github::comments::{self, Continuation};
use hw_sources::github::graphql::{self, GraphqlEndpoint, GraphqlQuery, GraphqlResponse};
use hw_sources::github::repositories;
use hw_sources::github::threads::{self, FirstPageTarget};
use hw_sources::transport::Transport as _;
use serde_json::Value;

use crate::harness::{SimFixture, SimTransport, on_virtual_time};

const THREAD_SURFACES: [Surface; 3] = Surface::THREADS;

#[test]
fn listing_query_costs_one_point_per_page() {
    let fixture = build_fixture();
    let repositories = true_repositories(&fixture);
    let names: Vec<RepositoryName> = repositories
        .iter()
        .map(|found| RepositoryName::from_known(&found.owner, &found.name))
        .collect();
    let ids: Vec<String> = repositories.iter().map(|found| found.node_id.clone()).collect();
    let organization = &fixture.organization;
    check_cost(
        &fixture,
        "33 repositories with three probes each",
        1,
        &repositories::list_query(organization, 33, None, &THREAD_SURFACES),
    );
    check_cost(
        &fixture,
        "without probes",
        1,
        &repositories::list_query(organization, 33, None, &[]),
    );
    check_cost(&fixture, "by name", 1, &repositories::named_query(&names, &THREAD_SURFACES, true));
    check_cost(&fixture, "by id", 1, &repositories::lookup_query(&ids, &ids[..1]));
}

#[test]
fn page_query_costs_one_point() {
    let fixture = build_fixture();
    let node = true_repositories(&fixture).remove(0).node_id;
    for kind in item::ThreadKind::ALL {
        let name = kind.name();
        check_cost(
            &fixture,
            &format!("{name} page"),
            1,
            &threads::page_query(kind, &node, 100, None),
        );
        check_cost(
            &fixture,
            &format!("{name} by id"),
            1,
            &threads::id_only_query(kind, &node, 100, None),
        );
        check_cost(
            &fixture,
            &format!("{name} inventory"),
            1,
            &threads::inventory_query(kind, &node, 100, None),
        );
        let ids = node_ids(&fixture, kind);
        assert_eq!(ids.len(), 100, "as many as one lookup takes");
        check_cost(
            &fixture,
            &format!("{name} lookup"),
            1,
            &threads::lookup_query(kind, &node, &ids, &ids[..3]),
        );
    }
}

#[test]
fn first_pages_query_costs_one_point_for_a_hundred_rows() {
    let fixture = build_fixture();
    let repositories = true_repositories(&fixture);
    let pages: Vec<FirstPageTarget> = (0..9)
        .flat_map(|_| repositories.iter())
        .flat_map(|repository| {
            let rows = [
                (item::ThreadKind::Discussion, 1),
                (item::ThreadKind::Issue, 5),
                (item::ThreadKind::PullRequest, 5),
            ];
            rows.map(|(kind, rows)| FirstPageTarget {
                kind,
                repository_id: repository.id,
                node_id: repository.node_id.clone(),
                row_count: rows,
            })
        })
        .take(27)
        .collect();
    let rows: u32 = pages.iter().map(|page| page.row_count).sum();
    assert_eq!(rows, 99, "27 lists with 99 rows, 45 of them pull requests");
    check_cost(&fixture, "first pages", 1, &threads::first_pages_query(&pages));
}

#[test]
fn closing_references_of_a_hundred_pull_requests_cost_one_point() {
    let fixture = build_fixture();
    let ids = node_ids(&fixture, item::ThreadKind::PullRequest);
    assert_eq!(ids.len(), 100);
    check_cost(&fixture, "closing references", 1, &closing_references::references_query(&ids));
}

#[test]
fn thread_comments_query_costs_one_point() {
    let fixture = build_fixture();
    for (kind, per_request) in
        [(PerThreadCommentKind::Review, 50), (PerThreadCommentKind::DiscussionComment, 5)]
    {
        let name = item::CommentKind::from(kind).name();
        assert_eq!(comments::threads_per_request(kind), per_request);
        let ids = node_ids(&fixture, kind.thread_kind());
        let ids: Vec<String> = ids.into_iter().take(per_request).collect();
        assert_eq!(ids.len(), per_request);
        let query = comments::thread_comments_query(kind, &ids);
        check_cost(&fixture, &format!("{name} of threads"), 1, &query);
        let answer = run_query(&fixture, &query);
        let continuations = continuations_after(&answer, &ids);
        assert!(!continuations.is_empty(), "the threads have no comments");
        for more in continuations {
            check_cost(
                &fixture,
                &format!("{name} continued"),
                1,
                &comments::continuation_query(kind, &more, 100),
            );
        }
    }
}

#[test]
fn comment_lookup_query_costs_one_point() {
    let fixture = build_fixture();
    let node = true_repositories(&fixture).remove(0).node_id;
    for (kind, true_kind) in [
        (item::CommentKind::Conversation, CommentKind::Conversation),
        (item::CommentKind::ReviewComment, CommentKind::ReviewComment),
        (item::CommentKind::Review, CommentKind::Review),
        (item::CommentKind::DiscussionComment, CommentKind::Discussion),
    ] {
        let truth = fixture.with_github(|github| github.world().truth());
        let of_kind = truth.comments.into_values().filter(|comment| comment.kind == true_kind);
        let ids: Vec<String> = of_kind.map(|comment| comment.node_id).take(100).collect();
        assert!(ids.len() > 3, "{}: too few comments", kind.name());
        let query = comments::lookup_query(kind, &node, &ids, &ids[..3]);
        check_cost(&fixture, kind.name(), 1, &query);
    }
}

/// Returns the requests for more comments of each thread, and for more replies to each comment.
fn continuations_after(answer: &GraphqlResponse, ids: &[String]) -> Vec<Continuation> {
    let data: Value = answer.data.root().parse_as().unwrap();
    let mut continuations = Vec::new();
    for (index, thread) in ids.iter().enumerate() {
        let node = &data["nodes"][index];
        for connection in ["reviews", "comments"] {
            let end = text_at(node, &format!("/{connection}/pageInfo/endCursor"));
            continuations.extend(end.map(|after| Continuation {
                thread_node_id: thread.clone(),
                comment_node_id: None,
                after: Some(PageCursor(after)),
            }));
            for edge in node[connection]["edges"].as_array().into_iter().flatten() {
                let end = text_at(edge, "/node/replies/pageInfo/endCursor");
                continuations.extend(end.map(|after| Continuation {
                    thread_node_id: thread.clone(),
                    comment_node_id: text_at(edge, "/node/id"),
                    after: Some(PageCursor(after)),
                }));
            }
        }
    }
    continuations
}

fn text_at(value: &Value, pointer: &str) -> Option<String> {
    value.pointer(pointer)?.as_str().map(str::to_owned)
}

fn build_fixture() -> SimFixture {
    let spec = WorldSpec { issues: 60, pull_requests: 60, discussions: 60, ..WorldSpec::small() };
    SimFixture::new(&spec, 1)
}

fn check_cost(fixture: &SimFixture, name: &str, cost: i64, query: &GraphqlQuery) {
    let answer = run_query(fixture, query);
    assert!(answer.errors.is_empty(), "{name}: {:?}", answer.errors);
    assert_eq!(answer.meta.cost, cost, "{name}");
}

fn true_repositories(fixture: &SimFixture) -> Vec<TrueRepository> {
    let truth = fixture.with_github(|github| github.world().truth());
    truth.repositories.into_values().collect()
}

fn node_ids(fixture: &SimFixture, kind: item::ThreadKind) -> Vec<String> {
    let kind = match kind {
        item::ThreadKind::Discussion => ThreadKind::Discussion,
        item::ThreadKind::PullRequest => ThreadKind::PullRequest,
        item::ThreadKind::Issue => ThreadKind::Issue,
    };
    let truth = fixture.with_github(|github| github.world().truth());
    truth.threads_of_kind(kind).take(100).map(|thread| thread.node_id.clone()).collect()
}

fn run_query(fixture: &SimFixture, query: &GraphqlQuery) -> GraphqlResponse {
    let endpoint =
        GraphqlEndpoint { url: "https://api.github.com/graphql".into(), token: "t0ken".into() };
    let transport = SimTransport::new(fixture);
    let response = on_virtual_time(transport.send(endpoint.build_request(query))).unwrap();
    graphql::read_response(&response).unwrap()
}
