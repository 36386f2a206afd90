use super::*;
use crate::item::{Discussion, Item, Kind, PullRequest};
use crate::time::SourceTime;

#[test]
fn ordinary_items_pass() {
    assert_eq!(check_item(&Item::Repository(repository())), Ok(()));
    assert_eq!(check_item(&Item::Thread(thread())), Ok(()));
    assert_eq!(check_item(&Item::Comment(comment())), Ok(()));
    for author in ["ann", "dependabot[bot]", "ann_company", "Müller-1", "a--b"] {
        let thread = Thread { author: Some(author.into()), ..thread() };
        assert_eq!(check_item(&Item::Thread(thread)), Ok(()), "{author}");
    }
    for name in ["a", ".github", "pump.rs", "x_y-Z.9", &"n".repeat(100)] {
        let repository = Repository { name: name.into(), ..repository() };
        assert_eq!(check_item(&Item::Repository(repository)), Ok(()), "{name}");
    }
    let title = "日".repeat(TITLE_CHARS);
    assert_eq!(check_item(&Item::Thread(Thread { title, ..thread() })), Ok(()));
}

#[test]
fn ids_are_positive_and_node_ids_visible() {
    for id in [0, -1, i64::MIN] {
        is_impossible(Item::Repository(Repository { id, ..repository() }));
        is_impossible(Item::Thread(Thread { id, ..thread() }));
        is_impossible(Item::Thread(Thread { number: id, ..thread() }));
        is_impossible(Item::Thread(Thread { repository_id: id, ..thread() }));
        is_impossible(Item::Thread(Thread { author_id: Some(id), ..thread() }));
        is_impossible(Item::Comment(Comment { id, ..comment() }));
        is_impossible(Item::Comment(Comment { thread: id, ..comment() }));
        is_impossible(Item::Comment(Comment { reply_to: Some(id), ..comment() }));
        let sort = Sort::PullRequest(PullRequest { closes: vec![3, id], ..pull_request() });
        is_impossible(Item::Thread(Thread { sort, ..thread() }));
    }
    for node_id in ["", "at c1", "I_\u{1b}[31m", "I_ä", &"x".repeat(NODE_ID_BYTES + 1)] {
        is_impossible(Item::Thread(Thread { node_id: node_id.into(), ..thread() }));
    }
}

#[test]
fn names_and_addresses_keep_to_their_grammar() {
    for name in ["", ".", "..", "a/b", "../x", "a b", "a\nb", "naïve", &"n".repeat(101)] {
        is_impossible(Item::Repository(Repository { name: name.into(), ..repository() }));
        is_impossible(Item::Repository(Repository { owner: name.into(), ..repository() }));
    }
    for author in ["", "a b", "a\u{1b}[1m", &"a".repeat(LOGIN_CHARS + 1)] {
        is_impossible(Item::Comment(Comment { author: Some(author.into()), ..comment() }));
    }
    for url in [
        "",
        "javascript:alert(1)",
        "JaVaScRiPt:alert(1)",
        "data:text/html,x",
        "//github.com/a",
        "https://",
        "https:///a",
        "https://github.com@evil.example/a",
        "https://github.com/a b",
        "https://github.com/\"onclick=",
        "ftp://github.com/a",
        &format!("https://github.com/{}", "a".repeat(URL_BYTES)),
    ] {
        is_impossible(Item::Repository(Repository { url: url.into(), ..repository() }));
        is_impossible(Item::Thread(Thread { url: url.into(), ..thread() }));
        is_impossible(Item::Comment(Comment { url: url.into(), ..comment() }));
    }
}

#[test]
fn texts_have_an_end() {
    is_impossible(Item::Thread(Thread { title: "t".repeat(TITLE_CHARS + 1), ..thread() }));
    is_impossible(Item::Thread(Thread { body: "b".repeat(BODY_BYTES + 1), ..thread() }));
    is_impossible(Item::Thread(Thread { labels: vec!["l".repeat(LABEL_CHARS + 1)], ..thread() }));
    let head_ref = "r".repeat(REF_CHARS + 1);
    let sort = Sort::PullRequest(PullRequest { head_ref, ..pull_request() });
    is_impossible(Item::Thread(Thread { sort, ..thread() }));
    let category = "c".repeat(LABEL_CHARS + 1);
    let sort = Sort::Discussion(Discussion { category, is_answered: None });
    is_impossible(Item::Thread(Thread { sort, ..thread() }));
    is_impossible(Item::Comment(Comment { body: "b".repeat(BODY_BYTES + 1), ..comment() }));
    is_impossible(Item::Comment(Comment { path: Some("p".repeat(PATH_CHARS + 1)), ..comment() }));
}

#[test]
fn reason_is_short_and_known_again() {
    let url = format!("javascript:{}", "a".repeat(1_000_000));
    let wrong = check_item(&Item::Thread(Thread { url, ..thread() })).unwrap_err().to_string();
    assert!(wrong.starts_with("impossible: its address is \"javascript:aaa"), "{wrong}");
    assert!(wrong.ends_with(", 1000011 bytes long") && wrong.len() < 200, "{wrong}");
    assert!(Impossible::is_reason(&wrong) && !Impossible::is_reason("missing field `id`"));
}

fn check_item(item: &Item) -> Result<(), Impossible> {
    match item {
        Item::Repository(repository) => check_repository(repository),
        Item::Thread(thread) => check_thread(thread),
        Item::Comment(comment) => check_comment(comment),
    }
}

#[expect(clippy::needless_pass_by_value, reason = "each is made for the one call")]
fn is_impossible(item: Item) {
    assert!(check_item(&item).is_err(), "{item:?}");
}

fn time() -> SourceTime {
    SourceTime::parse("2026-01-02T03:04:05Z").unwrap()
}

fn repository() -> Repository {
    Repository {
        id: 7,
        node_id: "R_kgDOAbc-_=".into(),
        owner: "acme".into(),
        name: "pump".into(),
        url: "https://github.com/acme/pump".into(),
        is_archived: false,
        is_fork: false,
        has_issues_enabled: true,
        has_discussions_enabled: true,
        created_at: time(),
        updated_at: time(),
    }
}

fn thread() -> Thread {
    Thread {
        id: 9_007_199_254_740_993,
        node_id: "I_7".into(),
        number: 3,
        repository_id: 7,
        url: "http://127.0.0.1:8080/acme/pump/issues/3#top".into(),
        title: String::new(),
        body: "\0 anything".into(),
        state: "OPEN".into(),
        state_reason: None,
        labels: vec!["bug 🐛".into()],
        author: None,
        author_id: None,
        created_at: time(),
        updated_at: time(),
        closed_at: None,
        sort: Sort::PullRequest(pull_request()),
    }
}

fn pull_request() -> PullRequest {
    PullRequest { is_draft: false, merged_at: None, head_ref: "fix/leak".into(), closes: vec![2] }
}

fn comment() -> Comment {
    Comment {
        kind: Kind::ReviewComment,
        id: 5,
        node_id: "PRRC_5".into(),
        repository_id: 7,
        thread: 3,
        reply_to: Some(4),
        review_id: None,
        url: "https://github.com/acme/pump/pull/3#discussion_r5".into(),
        body: String::new(),
        state: None,
        path: Some("src/a b.rs".into()),
        line: None,
        author: Some("ann".into()),
        author_id: Some(31),
        created_at: time(),
        updated_at: time(),
    }
}
