//! Every document is valid, and costs what it costs: a dearer one is a decision, not an accident.

use hw_rules::lane::Surface;
use hw_rules::walk::Cursor;
use hw_sim::{CommentKind, ThreadKind, WorldSpec};
use hw_sources::github::comments::{self, More};
use hw_sources::github::graphql::{self, Answer, Endpoint, Query};
use hw_sources::github::repositories;
use hw_sources::github::threads::{self, FirstPage};
use hw_sources::transport::Transport as _;
use serde_json::Value;

use crate::harness::{Scene, Wire, on_virtual_time};

const THREE: [Surface; 3] = Surface::THREADS;

#[test]
fn listing_and_probing_costs_a_point_a_page() {
    let scene = scene();
    let names: Vec<String> = repositories(&scene).into_iter().map(|(_, _, name)| name).collect();
    let ids: Vec<String> = repositories(&scene).into_iter().map(|(_, node, _)| node).collect();
    let organization = &scene.organization;
    check(
        &scene,
        "33 repositories with three probes each",
        1,
        &repositories::list_query(organization, 33, None, &THREE),
    );
    check(&scene, "without probes", 1, &repositories::list_query(organization, 33, None, &[]));
    check(&scene, "by name", 1, &repositories::named_query(organization, &names, &THREE, true));
    check(&scene, "by id", 1, &repositories::look_query(&ids, &ids[..1]));
}

#[test]
fn a_page_of_a_hundred_costs_one_point_and_with_closing_references_two() {
    let scene = scene();
    let (_, node, _) = repositories(&scene).remove(0);
    let prices = [(Surface::Issues, 1), (Surface::Discussions, 1), (Surface::PullRequests, 2)];
    for (surface, price) in prices {
        let name = |what: &str| format!("{} {what}", surface.name());
        check(&scene, &name("page"), price, &threads::page_query(surface, &node, 100, None));
        check(&scene, &name("light"), 1, &threads::light_query(surface, &node, 100, None));
        check(&scene, &name("roll"), 1, &threads::roll_query(surface, &node, 100, None));
        let ids = node_ids(&scene, surface);
        assert_eq!(ids.len(), 100, "as many as one look takes");
        check(&scene, &name("look"), price, &threads::look_query(surface, &node, &ids, &ids[..3]));
    }
}

#[test]
fn first_pages_that_share_a_request_cost_what_their_rows_cost() {
    let scene = scene();
    let repositories = repositories(&scene);
    let pages: Vec<FirstPage> = (0..9)
        .flat_map(|_| repositories.iter())
        .flat_map(|(id, node, _)| {
            let rows =
                [(Surface::Discussions, 1), (Surface::Issues, 5), (Surface::PullRequests, 5)];
            rows.map(|(surface, rows)| FirstPage {
                surface,
                repository_id: *id,
                node_id: node.clone(),
                rows,
            })
        })
        .take(27)
        .collect();
    let rows: u32 = pages.iter().map(|page| page.rows).sum();
    assert_eq!(rows, 99, "27 lists with 99 rows, 45 of them pull requests");
    check(&scene, "first pages", 2, &threads::first_pages_query(&pages));
}

#[test]
fn what_is_said_in_fifty_pull_requests_or_five_discussions_costs_a_point() {
    let scene = scene();
    for (surface, threads, at_once) in [
        (Surface::Reviews, Surface::PullRequests, 50),
        (Surface::DiscussionComments, Surface::Discussions, 5),
    ] {
        let name = |what: &str| format!("{} {what}", surface.name());
        assert_eq!(comments::talks_at_once(surface), at_once);
        let ids: Vec<String> = node_ids(&scene, threads).into_iter().take(at_once).collect();
        assert_eq!(ids.len(), at_once);
        let talks = comments::talks_query(surface, &ids);
        check(&scene, &name("talks"), 1, &talks);
        let answer = ask(&scene, &talks);
        let rests = rests(&answer, &ids);
        assert!(!rests.is_empty(), "nobody says anything");
        for more in rests {
            check(&scene, &name("more"), 1, &comments::more_query(surface, &more, 100));
        }
    }
}

#[test]
fn a_look_at_a_hundred_comments_costs_a_point() {
    let scene = scene();
    let (_, node, _) = repositories(&scene).remove(0);
    for (surface, kind) in [
        (Surface::IssueComments, CommentKind::Conversation),
        (Surface::ReviewComments, CommentKind::ReviewComment),
        (Surface::Reviews, CommentKind::Review),
        (Surface::DiscussionComments, CommentKind::Discussion),
    ] {
        let truth = scene.world(|github| github.world().truth());
        let said = truth.comments.into_values().filter(|it| it.kind == kind);
        let ids: Vec<String> = said.map(|it| it.node_id).take(100).collect();
        assert!(3 < ids.len(), "{}: too few comments", surface.name());
        let query = comments::look_query(surface, &node, &ids, &ids[..3]);
        check(&scene, surface.name(), 1, &query);
    }
}

/// What would come after the last comment of each thread, and after the last reply to each comment.
fn rests(answer: &Answer, ids: &[String]) -> Vec<More> {
    let text = |value: &Value, at: &str| value.pointer(at)?.as_str().map(str::to_owned);
    let data: Value = answer.data.root().read().unwrap();
    let mut rests = Vec::new();
    for (index, thread) in ids.iter().enumerate() {
        let thread = thread.clone();
        let node = &data["nodes"][index];
        for connection in ["reviews", "comments"] {
            let end = text(node, &format!("/{connection}/pageInfo/endCursor"));
            let more =
                |after| More { thread: thread.clone(), comment: None, after: Some(Cursor(after)) };
            rests.extend(end.map(more));
            for edge in node[connection]["edges"].as_array().into_iter().flatten() {
                let end = text(edge, "/node/replies/pageInfo/endCursor");
                let comment = text(edge, "/node/id");
                let more =
                    |after| More { thread: thread.clone(), comment, after: Some(Cursor(after)) };
                rests.extend(end.map(more));
            }
        }
    }
    rests
}

fn scene() -> Scene {
    let spec = WorldSpec { issues: 60, pull_requests: 60, discussions: 60, ..WorldSpec::small() };
    Scene::new(&spec, 1)
}

fn check(scene: &Scene, name: &str, price: i64, query: &Query) {
    let answer = ask(scene, query);
    assert!(answer.errors.is_empty(), "{name}: {:?}", answer.errors);
    assert_eq!(answer.receipt.cost, price, "{name}");
}

fn repositories(scene: &Scene) -> Vec<(i64, String, String)> {
    let truth = scene.world(|github| github.world().truth());
    truth.repositories.into_values().map(|it| (it.id, it.node_id, it.name)).collect()
}

fn node_ids(scene: &Scene, surface: Surface) -> Vec<String> {
    let kind = match surface {
        Surface::Discussions => ThreadKind::Discussion,
        Surface::PullRequests => ThreadKind::PullRequest,
        Surface::Issues => ThreadKind::Issue,
        Surface::Repositories
        | Surface::IssueComments
        | Surface::ReviewComments
        | Surface::Reviews
        | Surface::DiscussionComments => unreachable!("no threads there: {surface:?}"),
    };
    let truth = scene.world(|github| github.world().truth());
    truth.of_kind(kind).take(100).map(|it| it.node_id.clone()).collect()
}

fn ask(scene: &Scene, query: &Query) -> Answer {
    let endpoint = Endpoint { url: "https://api.github.com/graphql".into(), token: "t0ken".into() };
    let wire = Wire::of(scene);
    let response = on_virtual_time(wire.send(endpoint.request(query))).unwrap();
    graphql::read(&response).unwrap()
}
