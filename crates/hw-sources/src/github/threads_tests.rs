use hw_rules::item::{
    AuthorKind, DiscussionDetails, ItemObservation, PullRequestDetails, Thread, ThreadDetails,
};
use hw_rules::source_time::SourceTime;
use serde_json::{Value, json};

use super::super::sample_responses::{
    edge_json, listing_json, not_found_error, response_with_data, response_with_errors,
    server_error, thread_json,
};
use super::*;

const THREAD_KINDS: [ThreadKind; 3] = ThreadKind::ALL;

#[test]
fn issue_is_read_completely() {
    let issue = read_single_thread(ThreadKind::Issue, &thread_json(ThreadKind::Issue, 4));
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
            author_kind: Some(AuthorKind::User),
            association: Some("MEMBER".into()),
            created_at: parse_time("2026-01-01T00:00:00Z"),
            updated_at: parse_time("2026-01-02T00:00:00Z"),
            closed_at: None,
            details: ThreadDetails::Issue,
        }
    );
}

#[test]
fn pull_request_is_read_with_its_own_fields() {
    let pull =
        read_single_thread(ThreadKind::PullRequest, &thread_json(ThreadKind::PullRequest, 4));
    assert_eq!((pull.id, pull.state.as_str(), pull.state_reason), (4, "MERGED", None));
    let own = PullRequestDetails {
        is_draft: false,
        merged_at: Some(parse_time("2026-01-02T00:00:00Z")),
        head_ref: "fix/leak".into(),
        head_sha: Some("5ca1ab1e".repeat(5)),
    };
    assert_eq!(pull.details, ThreadDetails::PullRequest(own));
}

/// The REST API calls a member of an enterprise a user.
#[test]
fn thread_has_the_kind_of_its_author_as_the_rest_api_names_it() {
    for (type_name, kind) in [
        ("Bot", AuthorKind::Bot),
        ("Organization", AuthorKind::Organization),
        ("EnterpriseUserAccount", AuthorKind::User),
        ("Robot", AuthorKind::Other("Robot".to_owned())),
    ] {
        let mut node = thread_json(ThreadKind::Issue, 4);
        node["author"]["__typename"] = json!(type_name);
        let thread = read_single_thread(ThreadKind::Issue, &node);
        assert_eq!(thread.author_kind, Some(kind));
    }
    let mut node = thread_json(ThreadKind::Issue, 4);
    node["author"] = Value::Null;
    let thread = read_single_thread(ThreadKind::Issue, &node);
    assert_eq!((thread.author_kind, thread.association.as_deref()), (None, Some("MEMBER")));
}

#[test]
fn discussion_is_open_or_closed_and_possibly_answered() {
    for (closed, answered, state) in [(true, Some(true), "CLOSED"), (false, None, "OPEN")] {
        let mut node = thread_json(ThreadKind::Discussion, 4);
        node["closed"] = json!(closed);
        node["isAnswered"] = json!(answered);
        let thread = read_single_thread(ThreadKind::Discussion, &node);
        let ThreadDetails::Discussion(DiscussionDetails { category, is_answered }) = thread.details
        else {
            panic!()
        };
        assert_eq!((thread.id, category.as_str()), (4, "Q&A"));
        assert_eq!((thread.state.as_str(), is_answered), (state, answered));
        assert_eq!(thread.state_reason.as_deref(), Some("RESOLVED"));
    }
}

#[test]
fn thread_titles_and_names_are_sanitized_but_bodies_are_not() {
    let mut pull = thread_json(ThreadKind::PullRequest, 4);
    (pull["title"], pull["headRefName"]) = (json!("a\0"), json!("b\0"));
    let mut discussion = thread_json(ThreadKind::Discussion, 4);
    discussion["category"]["name"] = json!("c\0");
    let pull = read_single_thread(ThreadKind::PullRequest, &pull);
    let discussion = read_single_thread(ThreadKind::Discussion, &discussion);
    let (ThreadDetails::PullRequest(of_pull), ThreadDetails::Discussion(of_discussion)) =
        (pull.details, discussion.details)
    else {
        panic!()
    };
    assert_eq!((pull.title.as_str(), of_pull.head_ref.as_str()), ("a\u{fffd}", "b\u{fffd}"));
    assert_eq!(of_discussion.category, "c\u{fffd}");
    assert_eq!(pull.body, "Since\0Monday\r\n");
}

#[test]
fn thread_page_confines_an_unreadable_node() {
    for kind in THREAD_KINDS {
        let mut broken = thread_json(kind, 2);
        broken["title"] = Value::Null;
        let edges = [
            edge_json(1, &thread_json(kind, 1)),
            edge_json(2, &broken),
            edge_json(3, &thread_json(kind, 3)),
        ];
        let page = read_edges(kind, &edges).unwrap();
        assert_eq!(observation_ids(&page.observations), [1, 3]);
        assert!(page.observations.iter().all(|observation| observation.key().kind == kind.into()));
        assert_eq!(page.unreadable[0].subject, RowSubject::Node("T_2".into()));
        assert_eq!(page.walk_page.next, Some(PageCursor("end".into())));
        assert_eq!(page.walk_page.total_count, Some(3));
    }
}

#[test]
fn thread_without_a_field_of_its_kind_is_unreadable() {
    for (kind, field) in [
        (ThreadKind::Issue, "state"),
        (ThreadKind::PullRequest, "state"),
        (ThreadKind::PullRequest, "isDraft"),
        (ThreadKind::PullRequest, "headRefName"),
        (ThreadKind::Discussion, "closed"),
        (ThreadKind::Discussion, "category"),
    ] {
        let mut broken = thread_json(kind, 2);
        broken[field] = Value::Null;
        let page = read_edges(kind, &[edge_json(2, &broken)]).unwrap();
        assert_eq!((page.observations.len(), page.unreadable.len()), (0, 1), "{field}");
    }
}

#[test]
fn thread_page_identifies_a_null_node_by_its_position() {
    let kind = ThreadKind::Issue;
    let null = edge_json(2, &Value::Null);
    let second = read_edges(kind, &[edge_json(1, &thread_json(kind, 1)), null.clone()]).unwrap();
    let at = PageCursor("c2".into());
    let after = Some(PageCursor("c1".into()));
    assert_eq!(second.unreadable[0].subject, RowSubject::Position { at: at.clone(), after });
    let first = read_edges(kind, &[null]).unwrap();
    assert_eq!(first.unreadable[0].subject, RowSubject::Position { at, after: None });
}

#[test]
fn thread_page_treats_a_node_with_an_error_inside_as_unreadable() {
    for kind in THREAD_KINDS {
        let mut ghost = thread_json(kind, 1);
        ghost["author"] = Value::Null;
        let data = json!({ "node": listing_json(kind, &[edge_json(1, &ghost), edge_json(2, &thread_json(kind, 2))]) });
        let connection = thread_schema::for_kind(kind).connection;
        let fault = server_error(&format!("node.{connection}.edges.0.node.author"));
        let page = read_page(&response_with_errors(data, vec![fault]), kind, 7, None).unwrap();
        assert_eq!(observation_ids(&page.observations), [2]);
        assert_eq!(page.unreadable[0].subject, RowSubject::Node("T_1".into()));
    }
}

#[test]
fn thread_page_of_another_repository_is_never_data() {
    for kind in THREAD_KINDS {
        let response = response_with_data(
            json!({ "node": listing_json(kind, &[edge_json(1, &thread_json(kind, 1))]) }),
        );
        assert!(matches!(
            read_page(&response, kind, 8, None),
            Err(SourceError::InvalidResponse(_))
        ));
    }
}

#[test]
fn thread_page_of_a_missing_repository_is_hidden_not_empty() {
    let data = json!({ "node": null });
    let missing = response_with_errors(data.clone(), vec![not_found_error("node")]);
    let read = read_page(&missing, ThreadKind::PullRequest, 7, None);
    assert!(matches!(read, Err(SourceError::Hidden(_))));
    let read = read_page(&response_with_data(data), ThreadKind::PullRequest, 7, None);
    assert!(matches!(read, Err(SourceError::InvalidResponse(_))));
}

#[test]
fn thread_page_of_a_disabled_listing_is_hidden_not_empty() {
    for (kind, field, is_hidden) in [
        (ThreadKind::Issue, "hasIssuesEnabled", true),
        (ThreadKind::Discussion, "hasDiscussionsEnabled", true),
        (ThreadKind::PullRequest, "hasIssuesEnabled", false),
    ] {
        let mut repository = listing_json(kind, &[]);
        repository[field] = json!(false);
        let response = response_with_data(json!({ "node": repository }));
        let read = read_page(&response, kind, 7, None);
        assert_eq!(matches!(read, Err(SourceError::Hidden(_))), is_hidden, "{kind:?}");
        assert_eq!(read.is_ok(), !is_hidden, "{kind:?}");
    }
}

#[test]
fn thread_ids_beyond_32_bits_are_read_from_text() {
    let mut large = thread_json(ThreadKind::Issue, 1);
    large["fullDatabaseId"] = json!("9007199254740993");
    let page = read_edges(ThreadKind::Issue, &[edge_json(1, &large)]).unwrap();
    assert_eq!(page.observations[0].key().id, 9_007_199_254_740_993);
}

#[test]
fn inventory_and_id_only_page_have_ids_and_times() {
    for kind in THREAD_KINDS {
        let id = thread_schema::for_kind(kind).id_field;
        let row = json!({ "id": "T_5", id: 5, "updatedAt": "2026-01-02T00:00:00Z" });
        let without_id = json!({ "id": "T_6", "updatedAt": "2026-01-02T00:00:00Z" });
        let edges = [edge_json(1, &row), edge_json(2, &without_id)];
        let response = response_with_data(json!({ "node": listing_json(kind, &edges) }));
        let inventory = read_inventory(&response, kind, 7, None).unwrap();
        let at = parse_time("2026-01-02T00:00:00Z");
        let known = InventoryRow { id: 5, node_id: "T_5".into(), updated_at: at.clone() };
        assert_eq!((inventory.rows, inventory.unreadable_count), (vec![known], 1));
        let id_only = read_id_only(&response, kind, 7, None).unwrap();
        let entry = ListingEntry { id: 5, updated_at: at, cursor: PageCursor("c1".into()) };
        assert_eq!((id_only.walk_page.entries, id_only.unreadable.len()), (vec![entry], 2));
    }
}

#[test]
fn thread_queries_differ_by_kind() {
    for (kind, connection, id) in [
        (ThreadKind::Issue, "issues(first", "fullDatabaseId"),
        (ThreadKind::PullRequest, "pullRequests(first", "fullDatabaseId"),
        (ThreadKind::Discussion, "discussions(first", " databaseId"),
    ] {
        let after = PageCursor("c9".into());
        for build_query in [page_query, id_only_query, inventory_query] {
            let GraphqlQuery { document, variables } = build_query(kind, "R_7", 50, Some(&after));
            for text in [connection, id, "rateLimit { cost }"] {
                assert!(document.contains(text), "{document}");
            }
            assert!(kind != ThreadKind::Discussion || !document.contains("fullDatabaseId"));
            assert_eq!(variables, json!({ "id": "R_7", "first": 50, "after": "c9" }));
        }
    }
}

fn read_edges(kind: ThreadKind, edges: &[Value]) -> Result<ItemsPage, SourceError> {
    read_page(&response_with_data(json!({ "node": listing_json(kind, edges) })), kind, 7, None)
}

fn read_single_thread(kind: ThreadKind, node: &Value) -> Thread {
    let page = read_edges(kind, &[edge_json(1, node)]).unwrap();
    let Some(MirrorItem::Thread(thread)) =
        page.observations.into_iter().next().map(|observation| observation.item)
    else {
        panic!("{:?}", page.unreadable)
    };
    thread
}

fn observation_ids(observations: &[ItemObservation]) -> Vec<i64> {
    observations.iter().map(|observation| observation.key().id).collect()
}

fn parse_time(text: &str) -> SourceTime {
    SourceTime::parse(text).unwrap()
}

#[test]
fn thread_page_confines_impossible_rows() {
    for kind in ThreadKind::ALL {
        for (field, value) in [
            ("url", json!("javascript:alert(1)")),
            ("number", json!(0)),
            ("title", json!("t".repeat(2_000))),
            ("labels", json!({ "nodes": [{ "name": "l".repeat(300) }] })),
            (thread_schema::for_kind(kind).id_field, json!(-5)),
        ] {
            let mut wrong = thread_json(kind, 2);
            wrong[field] = value;
            let page =
                read_edges(kind, &[edge_json(1, &thread_json(kind, 1)), edge_json(2, &wrong)])
                    .unwrap();
            assert_eq!(page.row_ids().collect::<Vec<_>>(), [1], "{kind:?} {field}");
            assert!(page.unreadable[0].is_impossible(), "{:?}", page.unreadable[0]);
            assert_eq!(page.unreadable[0].subject, RowSubject::Node("T_2".into()));
        }
    }
}

#[test]
fn thread_page_sets_aside_all_nodes_that_share_an_id() {
    let kind = ThreadKind::Issue;
    let mut duplicate = thread_json(kind, 3);
    duplicate["fullDatabaseId"] = json!("1");
    let edges = [1, 2].map(|n| edge_json(n, &thread_json(kind, n)));
    let page = read_edges(kind, &[&edges[..], &[edge_json(3, &duplicate)]].concat()).unwrap();
    assert_eq!((page.row_ids().collect::<Vec<_>>(), page.observations.len()), (vec![2], 1));
    let named: Vec<String> =
        page.unreadable_subjects().map(|subject| subject.to_string()).collect();
    assert_eq!(named, ["T_1", "T_3"]);
    assert!(page.unreadable.iter().all(UnreadableRow::is_impossible));
    let again = [edge_json(1, &thread_json(kind, 1)), edge_json(2, &thread_json(kind, 1))];
    let again = read_edges(kind, &again).unwrap();
    assert!(again.unreadable.is_empty(), "a node that is listed twice is one node");
}

#[test]
fn unreadable_row_stores_the_beginning_of_its_json() {
    let mut broken = thread_json(ThreadKind::Issue, 1);
    (broken["title"], broken["zzz"]) = (Value::Null, json!("x".repeat(1_000_000)));
    let page = read_edges(ThreadKind::Issue, &[edge_json(1, &broken)]).unwrap();
    assert_eq!(page.unreadable[0].raw.len(), 64 << 10);
}
