//! Every document is valid, and costs what it costs: a dearer one is a decision, not an accident.

use hw_sim::WorldSpec;
use hw_sources::github::graphql::{self, Answer, Endpoint, Query};
use hw_sources::github::{issues, repositories, viewer};
use hw_sources::transport::Transport as _;

use crate::harness::{Scene, Wire, on_virtual_time};

#[test]
fn every_document_is_valid_and_its_price_is_pinned() {
    let scene = Scene::new(&WorldSpec { issues: 120, ..WorldSpec::small() }, 1);
    let truth = scene.world(|github| github.world().truth());
    let repository = truth.repositories.values().next().unwrap();
    let node = &repository.node_id;
    let ids: Vec<String> = truth.issues.values().take(50).map(|i| i.node_id.clone()).collect();
    let documents = [
        ("viewer", 1, viewer::query()),
        ("repositories, 100 a page", 1, repositories::query(&scene.organization, 100, None)),
        ("issues, 100 a page", 1, issues::page_query(node, 100, None)),
        ("issues, ids and times", 1, issues::light_query(node, 100, None)),
        ("roll, 100 a page", 1, issues::roll_query(node, 100, None)),
        ("look at 50 issues", 1, issues::look_query(node, &ids, &ids[..3])),
    ];
    for (name, price, query) in documents {
        let answer = ask(&scene, &query);
        assert!(answer.errors.is_empty(), "{name}: {:?}", answer.errors);
        assert_eq!(answer.cost, price, "{name}");
    }
}

fn ask(scene: &Scene, query: &Query) -> Answer {
    let endpoint = Endpoint { url: "https://api.github.com/graphql".into(), token: "t0ken".into() };
    let wire = Wire::of(scene);
    let response = on_virtual_time(wire.send(endpoint.request(query))).unwrap();
    graphql::read(&response).unwrap()
}
