//! Promises of faults inside an answer, wherever in it.

use std::collections::BTreeSet;

use super::*;

const PARTIAL: [Fault; 4] =
    [Fault::PartialError, Fault::BadNode, Fault::NotFoundOnce, Fault::Forbidden];

#[test]
fn faults_strike_aliased_roots_and_what_is_below_them() {
    let spec = WorldSpec { repositories: 3, ..WorldSpec::small() };
    let truth = GitHub::new(&spec, 1).world().truth();
    let mut query = String::from("query($size: Int!) {");
    for (position, repository) in truth.repositories.values().enumerate() {
        let id = &repository.node_id;
        query.push_str(&format!("r{position}: node(id: \"{id}\") {{ ...Home }} "));
    }
    query.push_str(
        "} fragment Home on Repository { id databaseId
           issues(first: $size) { nodes { id number updatedAt } } }",
    );
    for fault in PARTIAL {
        let (roots, depths) = struck(&spec, fault, &query, &json!({ "size": 2 }));
        assert_eq!(roots.len(), 3, "{fault:?} {roots:?}");
        assert!(depths.contains(&1) && depths.contains(&4), "{fault:?} {depths:?}");
    }
}

#[test]
fn faults_strike_the_probes_inside_a_listing() {
    let query = "{ organization(login: \"acme\") { repositories(first: 9) { nodes { id databaseId
        issues(first: 1) { totalCount nodes { id updatedAt } }
        discussions(first: 1) { totalCount nodes { id updatedAt } } } } } }";
    for fault in PARTIAL {
        let (_, depths) = struck(&WorldSpec::small(), fault, query, &json!({}));
        assert!(depths.contains(&4) && depths.contains(&7), "{fault:?} {depths:?}");
    }
}

#[test]
fn a_failed_probe_takes_its_repository_with_it_and_no_other() {
    let query = "{ organization(login: \"acme\") { repositories(first: 9) { nodes { id
        issues(first: 1) { totalCount } } } } }";
    let failed = (0..20).filter(|seed| {
        let mut github = GitHub::new(&WorldSpec::small(), *seed);
        github.arm(Fault::PartialError, 1);
        let answer = ask(&mut github, query, json!({}));
        let path = answer["errors"][0]["path"].as_array().unwrap().clone();
        let nodes = answer["data"]["organization"]["repositories"]["nodes"].clone();
        let missing = path.len() == 5 && path[4] == "issues";
        let gone = nodes.as_array().map(|nodes| nodes.iter().filter(|it| it.is_null()).count());
        assert!(!missing || gone == Some(1), "{answer}");
        missing
    });
    assert!(0 < failed.count(), "no probe failed, so nothing was proven");
}

/// The roots that a fault struck at or below, and how deep, over many seeds.
fn struck(
    spec: &WorldSpec,
    fault: Fault,
    query: &str,
    variables: &Value,
) -> (BTreeSet<String>, BTreeSet<usize>) {
    let (mut roots, mut depths) = (BTreeSet::new(), BTreeSet::new());
    for seed in 0..150 {
        let mut github = GitHub::new(spec, 1);
        github.dice = fastrand::Rng::with_seed(seed);
        let fair = ask(&mut github, query, variables.clone());
        github.arm(fault, 1);
        let (now, request) = (github.now_ms, post(query, variables));
        let (status, _, foul) = parts(&response(github.handle(&request, now)));
        assert_eq!(github.fired().get(&fault), Some(&1));
        if status != 200 {
            continue;
        }
        let place = first_difference(&fair["data"], &foul["data"]).expect("a fault shows");
        if let Some(error) = foul["errors"].get(0) {
            assert!(named(&foul, error).is_null(), "{foul}");
        }
        roots.insert(place[0].clone());
        // a bad node differs in one of its fields, the others are null as a whole
        depths.insert(place.len() - usize::from(fault == Fault::BadNode));
    }
    (roots, depths)
}

/// The way to the first value that is not the same in both.
fn first_difference(a: &Value, b: &Value) -> Option<Vec<String>> {
    let keys: Vec<String> = match (a, b) {
        (Value::Object(a), Value::Object(_)) => a.keys().cloned().collect(),
        (Value::Array(a), Value::Array(_)) => (0..a.len()).map(|at| at.to_string()).collect(),
        _ => return (a != b).then(Vec::new),
    };
    keys.into_iter().find_map(|key| {
        let step = |value: &Value| match key.parse::<usize>() {
            Ok(at) => value.get(at).cloned(),
            Err(_) => value.get(&key).cloned(),
        };
        let below = match (step(a), step(b)) {
            (Some(a), Some(b)) => first_difference(&a, &b)?,
            _ => Vec::new(),
        };
        Some([vec![key], below].concat())
    })
}
