//! Tests of the stored orders: they match the order computed from every thread.

use super::*;
use crate::world::ThreadOrder;

#[test]
fn thread_order_matches_the_order_of_all_threads() {
    let (mut compared, mut late) = (0, 0);
    for seed in 0..4 {
        let until = WorldSpec::small().start_ms + 3_600_000;
        let spec = WorldSpec {
            repositories: 4,
            list_lag_ms: 20_000,
            activity: ActivitySpec::disruptive(120, until),
            ..WorldSpec::small()
        };
        let mut github = SimulatedGitHub::new(&spec, seed);
        for step in 0..240 {
            github.advance_to(spec.start_ms + step * 15_000);
            let view = github.world.view_at(github.now_ms);
            for repository in view.listed_repositories(view.owner(0)) {
                for (kind, order_by) in ThreadKind::ALL.into_iter().flat_map(|kind| {
                    [ThreadOrder::Created, ThreadOrder::Updated].map(|order_by| (kind, order_by))
                }) {
                    let listed = view.listed_threads(repository, kind);
                    let mut all: Vec<_> =
                        listed.map(|thread| (order_by.sort_second(thread), thread.id)).collect();
                    all.sort_unstable();
                    let Some(order) = view.ordered_threads(repository, kind, order_by) else {
                        late += 1;
                        continue;
                    };
                    let order: Vec<_> =
                        order.iter().map(|position| (position.second, position.id)).collect();
                    let name = &repository.name;
                    assert_eq!(order, all, "seed {seed} step {step} {name} {kind:?} {order_by:?}");
                    compared += usize::from(all.len() > 1);
                }
            }
        }
    }
    assert!(compared > 1000 && late > 100, "{compared} {late}");
}

/// Requests the same page twice: a filter that accepts everything bypasses the stored order.
const TWICE: &str = "query($first: Int, $last: Int, $after: String, $before: String) {
    repository(owner: \"acme\", name: \"pump\") {
        cut: issues(ARGS) { ...All } collected: issues(ARGS, states: [OPEN, CLOSED]) { ...All } } }
    fragment All on IssueConnection { totalCount edges { cursor node { id } }
        pageInfo { hasNextPage hasPreviousPage startCursor endCursor } }";

#[test]
fn thread_order_yields_the_same_pages_as_collecting() {
    let limits =
        crate::RateLimitSpec { max_concurrent: usize::MAX, ..crate::RateLimitSpec::default() };
    let mut github =
        SimulatedGitHub::new(&WorldSpec { issues: 12, limits, ..WorldSpec::small() }, 3);
    for (field, direction) in [
        ("UPDATED_AT", "DESC"),
        ("UPDATED_AT", "ASC"),
        ("CREATED_AT", "DESC"),
        ("CREATED_AT", "ASC"),
    ] {
        let arguments = format!(
            "first: $first, last: $last, after: $after, before: $before,
             orderBy: {{field: {field}, direction: {direction}}}"
        );
        let query = TWICE.replace("ARGS", &arguments);
        let all = compare_pages(&mut github, &query, json!({ "first": 100 }));
        let edges = all["edges"].as_array().unwrap();
        assert_eq!((edges.len(), &all["totalCount"]), (12, &json!(12)));
        for index in 0..12 {
            let cursor = &edges[index]["cursor"];
            for size in [1, 5, 20] {
                let variables = json!({ "first": size, "after": cursor });
                let page = compare_pages(&mut github, &query, variables);
                let rest = &edges[index + 1..(index + 1 + size).min(12)];
                assert_eq!(page["edges"].as_array().unwrap(), rest);
                let end = &edges[(index + 3).min(11)]["cursor"];
                for variables in [
                    json!({ "last": size, "after": cursor }),
                    json!({ "first": size, "before": cursor }),
                    json!({ "last": size, "before": cursor }),
                    json!({ "first": size, "after": cursor, "before": end }),
                    json!({ "last": size, "after": end, "before": cursor }),
                ] {
                    compare_pages(&mut github, &query, variables);
                }
            }
        }
    }
}

/// Checks that the page cut out of the stored order equals the collected one, and returns it.
fn compare_pages(github: &mut SimulatedGitHub, query: &str, variables: Value) -> Value {
    let response = post_query(github, query, variables);
    assert!(response.get("errors").is_none(), "{}", response["errors"]);
    let pages = &response["data"]["repository"];
    assert_eq!(pages["cut"], pages["collected"], "{query}");
    pages["cut"].clone()
}
