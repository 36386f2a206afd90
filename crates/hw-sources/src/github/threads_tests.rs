use hw_rules::item::{Discussion, Observation, PullRequest, Sort, Thread};
use hw_rules::time::SourceTime;
use serde_json::{Value, json};

use super::super::answers::{answer, edge, fault, listed, not_found, thread, with_errors};
use super::*;

const EACH: [Surface; 3] = Surface::THREADS;

#[test]
fn an_issue_says_what_the_mirror_keeps_of_it() {
    let issue = the_thread(Surface::Issues, &thread(Surface::Issues, 4));
    assert_eq!(
        issue,
        Thread {
            id: 4,
            node_id: "T_4".into(),
            number: 4,
            repository_id: 7,
            url: "https://github.com/acme/pump/4".into(),
            title: "It leaks".into(),
            body: "Since\0Monday\r\n".into(),
            state: "CLOSED".into(),
            state_reason: Some("COMPLETED".into()),
            labels: vec!["a".into(), "z".into()],
            author: Some("ann".into()),
            author_id: Some(31),
            created_at: time("2026-01-01T00:00:00Z"),
            updated_at: time("2026-01-02T00:00:00Z"),
            closed_at: None,
            sort: Sort::Issue,
        }
    );
}

#[test]
fn a_pull_request_closes_issues_of_its_own_repository_in_order() {
    let pull = the_thread(Surface::PullRequests, &thread(Surface::PullRequests, 4));
    assert_eq!((pull.id, pull.state.as_str(), pull.state_reason), (4, "MERGED", None));
    let own = PullRequest {
        is_draft: false,
        merged_at: Some(time("2026-01-02T00:00:00Z")),
        head_ref: "fix/leak".into(),
        closes: vec![3, 12],
    };
    assert_eq!(pull.sort, Sort::PullRequest(own));
}

#[test]
fn a_reference_that_this_token_may_not_see_is_left_out() {
    let mut node = thread(Surface::PullRequests, 4);
    node["closingIssuesReferences"]["nodes"][1] = Value::Null;
    let Sort::PullRequest(own) = the_thread(Surface::PullRequests, &node).sort else { panic!() };
    assert_eq!(own.closes, [3, 12]);
}

#[test]
fn a_discussion_is_open_or_closed_and_perhaps_answered() {
    let of = |closed: bool, answered: Value| {
        let mut node = thread(Surface::Discussions, 4);
        node["closed"] = json!(closed);
        node["isAnswered"] = answered;
        let thread = the_thread(Surface::Discussions, &node);
        let Sort::Discussion(Discussion { category, is_answered }) = thread.sort else { panic!() };
        assert_eq!((thread.id, category.as_str()), (4, "Q&A"));
        (thread.state, thread.state_reason.unwrap(), is_answered)
    };
    assert_eq!(of(true, json!(true)), ("CLOSED".into(), "RESOLVED".into(), Some(true)));
    assert_eq!(of(false, Value::Null), ("OPEN".into(), "RESOLVED".into(), None));
}

#[test]
fn short_texts_are_made_storable_and_bodies_are_kept() {
    let mut pull = thread(Surface::PullRequests, 4);
    (pull["title"], pull["headRefName"]) = (json!("a\0"), json!("b\0"));
    let mut discussion = thread(Surface::Discussions, 4);
    discussion["category"]["name"] = json!("c\0");
    let pull = the_thread(Surface::PullRequests, &pull);
    let discussion = the_thread(Surface::Discussions, &discussion);
    let (Sort::PullRequest(of_pull), Sort::Discussion(of_discussion)) =
        (pull.sort, discussion.sort)
    else {
        panic!()
    };
    assert_eq!((pull.title.as_str(), of_pull.head_ref.as_str()), ("a\u{fffd}", "b\u{fffd}"));
    assert_eq!(of_discussion.category, "c\u{fffd}");
    assert_eq!(pull.body, "Since\0Monday\r\n");
}

#[test]
fn a_bad_node_spoils_nothing_but_itself() {
    for surface in EACH {
        let mut broken = thread(surface, 2);
        broken["title"] = Value::Null;
        let edges = [edge(1, &thread(surface, 1)), edge(2, &broken), edge(3, &thread(surface, 3))];
        let page = page(surface, &edges).unwrap();
        assert_eq!(ids(&page.observations), [1, 3]);
        assert!(page.observations.iter().all(|seen| seen.key().kind == surface.kind()));
        assert_eq!(page.unreadable[0].subject, Subject::Node("T_2".into()));
        assert_eq!(page.shape.next, Some(Cursor("end".into())));
        assert_eq!(page.shape.total_count, Some(3));
    }
}

#[test]
fn what_only_one_sort_has_must_be_there() {
    for (surface, field) in [
        (Surface::Issues, "state"),
        (Surface::PullRequests, "state"),
        (Surface::PullRequests, "isDraft"),
        (Surface::PullRequests, "headRefName"),
        (Surface::Discussions, "closed"),
        (Surface::Discussions, "category"),
    ] {
        let mut broken = thread(surface, 2);
        broken[field] = Value::Null;
        let page = page(surface, &[edge(2, &broken)]).unwrap();
        assert_eq!((page.observations.len(), page.unreadable.len()), (0, 1), "{field}");
    }
}

#[test]
fn a_null_node_is_known_by_its_place() {
    let surface = Surface::Issues;
    let null = edge(2, &Value::Null);
    let second = page(surface, &[edge(1, &thread(surface, 1)), null.clone()]).unwrap();
    let place = |at: &str, after: Option<&str>| Subject::Place {
        at: Cursor(at.into()),
        after: after.map(|after| Cursor(after.into())),
    };
    assert_eq!(second.unreadable[0].subject, place("c2", Some("c1")));
    let first = page(surface, &[null]).unwrap();
    assert_eq!(first.unreadable[0].subject, place("c2", None));
}

#[test]
fn a_node_with_an_error_inside_is_not_taken_for_what_the_source_holds() {
    for surface in EACH {
        let mut ghost = thread(surface, 1);
        ghost["author"] = Value::Null;
        let data =
            json!({ "node": listed(surface, &[edge(1, &ghost), edge(2, &thread(surface, 2))]) });
        let connection = listing::of(surface).connection;
        let fault = fault(&format!("node.{connection}.edges.0.node.author"));
        let page = read_page(&with_errors(data, vec![fault]), surface, 7, None, 9).unwrap();
        assert_eq!(ids(&page.observations), [2]);
        assert_eq!(page.unreadable[0].subject, Subject::Node("T_1".into()));
    }
}

#[test]
fn an_answer_about_another_repository_is_never_data() {
    for surface in EACH {
        let answer = answer(json!({ "node": listed(surface, &[edge(1, &thread(surface, 1))]) }));
        assert!(matches!(read_page(&answer, surface, 8, None, 9), Err(Trouble::Garbled(_))));
    }
}

#[test]
fn a_missing_repository_is_hidden_not_empty() {
    let data = json!({ "node": null });
    let missing = with_errors(data.clone(), vec![not_found("node")]);
    let page = |answer: &Answer| read_page(answer, Surface::PullRequests, 7, None, 9);
    assert!(matches!(page(&missing), Err(Trouble::Hidden(_))));
    assert!(matches!(page(&answer(data)), Err(Trouble::Garbled(_))));
}

#[test]
fn a_listing_that_is_switched_off_is_hidden_not_empty() {
    let with = |surface, switch: &str| {
        let mut repository = listed(surface, &[]);
        repository[switch] = json!(false);
        read_page(&answer(json!({ "node": repository })), surface, 7, None, 9)
    };
    let (issues, discussions) = ("hasIssuesEnabled", "hasDiscussionsEnabled");
    assert!(matches!(with(Surface::Issues, issues), Err(Trouble::Hidden(_))));
    assert!(matches!(with(Surface::Discussions, discussions), Err(Trouble::Hidden(_))));
    assert!(with(Surface::PullRequests, issues).is_ok(), "nobody can switch those off");
}

#[test]
fn ids_beyond_32_bits_come_as_text() {
    let mut large = thread(Surface::Issues, 1);
    large["fullDatabaseId"] = json!("9007199254740993");
    let page = page(Surface::Issues, &[edge(1, &large)]).unwrap();
    assert_eq!(page.observations[0].key().id, 9_007_199_254_740_993);
}

#[test]
fn a_roll_and_a_light_page_hold_ids_and_times() {
    for surface in EACH {
        let id = listing::of(surface).id;
        let row = json!({ "id": "T_5", id: 5, "updatedAt": "2026-01-02T00:00:00Z" });
        let nameless = json!({ "id": "T_6", "updatedAt": "2026-01-02T00:00:00Z" });
        let edges = [edge(1, &row), edge(2, &nameless)];
        let answer = answer(json!({ "node": listed(surface, &edges) }));
        let roll = read_roll(&answer, surface, 7, None, 9).unwrap();
        let at = time("2026-01-02T00:00:00Z");
        let known = RollRow { id: 5, node_id: "T_5".into(), updated_at: at.clone() };
        assert_eq!((roll.rows, roll.unreadable), (vec![known], 1));
        let light = read_light(&answer, surface, 7, None, 9).unwrap();
        let place = Entry { id: 5, updated_at: at, cursor: Cursor("c1".into()) };
        assert_eq!((light.shape.entries, light.unreadable.len()), (vec![place], 2));
    }
}

#[test]
fn each_surface_has_documents_of_its_own() {
    for (surface, connection, id) in [
        (Surface::Issues, "issues(first", "fullDatabaseId"),
        (Surface::PullRequests, "pullRequests(first", "fullDatabaseId"),
        (Surface::Discussions, "discussions(first", " databaseId"),
    ] {
        let after = Cursor("c9".into());
        for ask in [page_query, light_query, roll_query] {
            let query = ask(surface, "R_7", 50, Some(&after));
            let has = |text: &str| query.document.contains(text);
            assert!(has(connection) && has(id) && has("rateLimit { cost }"), "{}", query.document);
            assert!(surface != Surface::Discussions || !has("fullDatabaseId"));
            assert_eq!(query.variables, json!({ "id": "R_7", "first": 50, "after": "c9" }));
        }
    }
}

fn page(surface: Surface, edges: &[Value]) -> Result<ItemsPage, Trouble> {
    read_page(&answer(json!({ "node": listed(surface, edges) })), surface, 7, None, 9)
}

fn the_thread(surface: Surface, node: &Value) -> Thread {
    let page = page(surface, &[edge(1, node)]).unwrap();
    let Some(Item::Thread(thread)) = page.observations.into_iter().next().map(|seen| seen.item)
    else {
        panic!("{:?}", page.unreadable)
    };
    thread
}

fn ids(observations: &[Observation]) -> Vec<i64> {
    observations.iter().map(|seen| seen.key().id).collect()
}

fn time(text: &str) -> SourceTime {
    SourceTime::parse(text).unwrap()
}

#[test]
fn impossible_rows_are_named_and_spoil_nothing_but_themselves() {
    for surface in Surface::THREADS {
        for (field, value) in [
            ("url", json!("javascript:alert(1)")),
            ("number", json!(0)),
            ("title", json!("t".repeat(2_000))),
            ("labels", json!({ "nodes": [{ "name": "l".repeat(300) }] })),
            (listing::of(surface).id, json!(-5)),
        ] {
            let mut wrong = thread(surface, 2);
            wrong[field] = value;
            let page = page(surface, &[edge(1, &thread(surface, 1)), edge(2, &wrong)]).unwrap();
            assert_eq!(page.ids().collect::<Vec<_>>(), [1], "{surface:?} {field}");
            assert!(page.unreadable[0].is_impossible(), "{:?}", page.unreadable[0]);
            assert_eq!(page.unreadable[0].subject, Subject::Node("T_2".into()));
        }
    }
}

#[test]
fn nodes_that_share_an_id_are_all_set_aside() {
    let surface = Surface::Issues;
    let mut twin = thread(surface, 3);
    twin["fullDatabaseId"] = json!("1");
    let edges = [1, 2].map(|n| edge(n, &thread(surface, n)));
    let page = page(surface, &[&edges[..], &[edge(3, &twin)]].concat()).unwrap();
    assert_eq!((page.ids().collect::<Vec<_>>(), page.observations.len()), (vec![2], 1));
    let named: Vec<String> = page.places().collect();
    assert_eq!(named, ["T_1", "T_3"]);
    assert!(page.unreadable.iter().all(Unreadable::is_impossible));
    let again = [edge(1, &thread(surface, 1)), edge(2, &thread(surface, 1))];
    let again = self::page(surface, &again).unwrap();
    assert!(again.unreadable.is_empty(), "one node that is listed twice is one node");
}

#[test]
fn unreadable_row_keeps_the_beginning_of_what_came() {
    let mut broken = thread(Surface::Issues, 1);
    (broken["title"], broken["zzz"]) = (Value::Null, json!("x".repeat(1_000_000)));
    let page = page(Surface::Issues, &[edge(1, &broken)]).unwrap();
    assert_eq!(page.unreadable[0].raw.len(), 64 << 10);
}
