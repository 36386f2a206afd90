//! Tests of faults inside a response.

use std::collections::BTreeSet;

use super::*;

const PARTIAL: [ApiFault; 4] =
    [ApiFault::PartialError, ApiFault::BadNode, ApiFault::NotFoundOnce, ApiFault::Forbidden];

#[test]
fn inline_faults_hit_aliased_roots_and_everything_below() {
    let spec = WorldSpec { repositories: 3, ..WorldSpec::small() };
    let truth = SimulatedGitHub::new(&spec, 1).world().truth();
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
        let sites = hit_sites(&spec, fault, &query, &json!({ "size": 2 }));
        assert_eq!(sites.roots.len(), 3, "{fault:?} {sites:?}");
        assert!(sites.depths.contains(&1) && sites.depths.contains(&4), "{fault:?} {sites:?}");
    }
}

#[test]
fn inline_faults_hit_the_probes_inside_a_listing() {
    let query = "{ organization(login: \"acme\") { repositories(first: 9) { nodes { id databaseId
        issues(first: 1) { totalCount nodes { id updatedAt } }
        discussions(first: 1) { totalCount nodes { id updatedAt } } } } } }";
    for fault in PARTIAL {
        let sites = hit_sites(&WorldSpec::small(), fault, query, &json!({}));
        assert!(sites.depths.contains(&4) && sites.depths.contains(&7), "{fault:?} {sites:?}");
    }
}

#[test]
fn inline_fault_in_a_probe_makes_only_its_repository_null() {
    let query = "{ organization(login: \"acme\") { repositories(first: 9) { nodes { id
        issues(first: 1) { totalCount } } } } }";
    let failed = (0..20).filter(|seed| {
        let mut github = SimulatedGitHub::new(&WorldSpec::small(), *seed);
        github.arm_fault(ApiFault::PartialError, 1);
        let response = post_query(&mut github, query, json!({}));
        let path = response["errors"][0]["path"].as_array().unwrap().clone();
        let nodes = response["data"]["organization"]["repositories"]["nodes"].clone();
        let is_probe = path.len() == 5 && path[4] == "issues";
        let null_count =
            nodes.as_array().map(|nodes| nodes.iter().filter(|node| node.is_null()).count());
        assert!(!is_probe || null_count == Some(1), "{response}");
        is_probe
    });
    assert!(failed.count() > 0, "no probe failed, so nothing was proven");
}

/// The roots at or below which a fault happened, and the depths of the faults.
#[derive(Debug, Default)]
struct HitSites {
    roots: BTreeSet<String>,
    depths: BTreeSet<usize>,
}

/// Collects the sites that a fault hits over many seeds.
fn hit_sites(spec: &WorldSpec, fault: ApiFault, query: &str, variables: &Value) -> HitSites {
    let mut sites = HitSites::default();
    for seed in 0..150 {
        let mut github = SimulatedGitHub::new(spec, 1);
        github.rng = fastrand::Rng::with_seed(seed);
        let correct = post_query(&mut github, query, variables.clone());
        github.arm_fault(fault, 1);
        let (now, request) = (github.now_ms, graphql_request(query, variables));
        let faulty = parse_response(&expect_response(github.handle_request(&request, now)));
        assert_eq!(github.fired_faults().get(&fault), Some(&1));
        if faulty.status != 200 {
            continue;
        }
        let faulty = faulty.body;
        let path = first_difference(&correct["data"], &faulty["data"]).expect("a fault shows");
        if let Some(error) = faulty["errors"].get(0) {
            assert!(value_at_path(&faulty, error).is_null(), "{faulty}");
        }
        sites.roots.insert(path[0].clone());
        // a bad node differs in one of its fields, the others are null as a whole
        sites.depths.insert(path.len() - usize::from(fault == ApiFault::BadNode));
    }
    sites
}

/// Returns the path to the first value that differs.
fn first_difference(a: &Value, b: &Value) -> Option<Vec<String>> {
    let keys: Vec<String> = match (a, b) {
        (Value::Object(a), Value::Object(_)) => a.keys().cloned().collect(),
        (Value::Array(a), Value::Array(_)) => (0..a.len()).map(|index| index.to_string()).collect(),
        _ => return (a != b).then(Vec::new),
    };
    keys.into_iter().find_map(|key| {
        let below = match (child_value(a, &key), child_value(b, &key)) {
            (Some(a), Some(b)) => first_difference(a, b)?,
            _ => Vec::new(),
        };
        Some([vec![key], below].concat())
    })
}

fn child_value<'v>(value: &'v Value, key: &str) -> Option<&'v Value> {
    match key.parse::<usize>() {
        Ok(index) => value.get(index),
        Err(_) => value.get(key),
    }
}
