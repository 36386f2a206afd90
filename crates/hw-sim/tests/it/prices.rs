//! Every document is valid, and costs what it costs: a dearer one is a decision, not an accident.

use hw_rules::lane::Surface;
use hw_sim::{ThreadKind, WorldSpec};
use hw_sources::github::graphql::{self, Answer, Endpoint, Query};
use hw_sources::github::repositories;
use hw_sources::github::threads::{self, FirstPage};
use hw_sources::transport::Transport as _;

use crate::harness::{Scene, Wire, on_virtual_time};

const THREE: [Surface; 3] = Surface::OF_A_REPOSITORY;

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

fn scene() -> Scene {
    let spec = WorldSpec { issues: 60, pull_requests: 60, discussions: 60, ..WorldSpec::small() };
    Scene::new(&spec, 1)
}

fn check(scene: &Scene, name: &str, price: i64, query: &Query) {
    let answer = ask(scene, query);
    assert!(answer.errors.is_empty(), "{name}: {:?}", answer.errors);
    assert_eq!(answer.cost, price, "{name}");
}

fn repositories(scene: &Scene) -> Vec<(i64, String, String)> {
    let truth = scene.world(|github| github.world().truth());
    truth.repositories.into_values().map(|it| (it.id, it.node_id, it.name)).collect()
}

fn node_ids(scene: &Scene, surface: Surface) -> Vec<String> {
    let kind = match surface {
        Surface::Discussions => ThreadKind::Discussion,
        Surface::PullRequests => ThreadKind::PullRequest,
        Surface::Issues | Surface::Repositories => ThreadKind::Issue,
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
