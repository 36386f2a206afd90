//! Promises of the orders that are kept: they show what looking at every thread would show.

use super::*;
use crate::world::OrderBy;

#[test]
fn a_kept_order_is_what_looking_at_everything_gives() {
    let (mut kept, mut late) = (0, 0);
    for seed in 0..4 {
        let until = WorldSpec::small().start_ms + 3_600_000;
        let spec = WorldSpec {
            repositories: 4,
            list_lag_ms: 20_000,
            writers: Writers::rough(120, until),
            ..WorldSpec::small()
        };
        let mut github = GitHub::new(&spec, seed);
        for step in 0..240 {
            github.advance(spec.start_ms + step * 15_000);
            let view = github.world.view(github.now_ms);
            for it in view.listed_repositories() {
                for (kind, by) in ThreadKind::ALL
                    .into_iter()
                    .flat_map(|kind| [OrderBy::Created, OrderBy::Updated].map(|by| (kind, by)))
                {
                    let listed = view.listed_threads(it, kind);
                    let mut all: Vec<_> = listed.map(|it| (by.second(it), it.id)).collect();
                    all.sort_unstable();
                    let Some(order) = view.ordered_threads(it, kind, by) else {
                        late += 1;
                        continue;
                    };
                    let order: Vec<_> = order.iter().map(|at| (at.second, at.id)).collect();
                    assert_eq!(order, all, "seed {seed} step {step} {} {kind:?} {by:?}", it.name);
                    kept += usize::from(1 < all.len());
                }
            }
        }
    }
    assert!(1000 < kept && 100 < late, "{kept} {late}");
}

/// A filter that keeps everything makes the service look at everything.
const BOTH: &str = "query($first: Int, $last: Int, $after: String, $before: String) {
    repository(owner: \"acme\", name: \"pump\") {
        cut: issues(ARGS) { ...All } collected: issues(ARGS, states: [OPEN, CLOSED]) { ...All } } }
    fragment All on IssueConnection { totalCount edges { cursor node { id } }
        pageInfo { hasNextPage hasPreviousPage startCursor endCursor } }";

#[test]
fn a_page_is_the_same_whether_cut_out_or_collected() {
    let limits = crate::Limits { concurrent: usize::MAX, ..crate::Limits::default() };
    let mut github = GitHub::new(&WorldSpec { issues: 12, limits, ..WorldSpec::small() }, 3);
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
        let query = BOTH.replace("ARGS", &arguments);
        let mut both = |variables: Value| {
            let answer = ask(&mut github, &query, variables);
            assert!(answer.get("errors").is_none(), "{}", answer["errors"]);
            let both = &answer["data"]["repository"];
            assert_eq!(both["cut"], both["collected"], "{field} {direction}");
            both["cut"].clone()
        };
        let whole = both(json!({ "first": 100 }));
        let edges = whole["edges"].as_array().unwrap();
        assert_eq!((edges.len(), &whole["totalCount"]), (12, &json!(12)));
        for at in 0..12 {
            let cursor = &edges[at]["cursor"];
            for size in [1, 5, 20] {
                let page = both(json!({ "first": size, "after": cursor }));
                let rest = &edges[at + 1..(at + 1 + size).min(12)];
                assert_eq!(page["edges"].as_array().unwrap(), rest);
                both(json!({ "last": size, "after": cursor }));
                both(json!({ "first": size, "before": cursor }));
                both(json!({ "last": size, "before": cursor }));
                let end = &edges[(at + 3).min(11)]["cursor"];
                both(json!({ "first": size, "after": cursor, "before": end }));
                both(json!({ "last": size, "after": end, "before": cursor }));
            }
        }
    }
}
