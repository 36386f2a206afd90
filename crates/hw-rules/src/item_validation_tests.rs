use super::*;
use crate::bluesky::post;
use crate::item::{CommentKind, DiscussionDetails, PullRequestDetails};
use crate::source_time::SourceTime;

#[test]
fn posts_with_one_number_and_two_uris_are_different() {
    let uris = ["at://did:plc:alice/app.bsky.feed.post/1", "at://did:plc:bo/app.bsky.feed.post/22"];
    assert!(is_different_node(uris[0], uris[1]));
    assert!(!is_different_node(uris[0], uris[0]));
}

#[test]
fn item_validation_accepts_ordinary_items() {
    assert_eq!(check_item(&MirrorItem::Repository(repository())), Ok(()));
    assert_eq!(check_item(&MirrorItem::Thread(thread())), Ok(()));
    assert_eq!(check_item(&MirrorItem::Comment(comment())), Ok(()));
    for author in ["ann", "dependabot[bot]", "ann_company", "Müller-1", "a--b"] {
        let thread = Thread { author: Some(author.into()), ..thread() };
        assert_eq!(check_item(&MirrorItem::Thread(thread)), Ok(()), "{author}");
    }
    for name in ["a", ".github", "pump.rs", "x_y-Z.9", &"n".repeat(100)] {
        let repository = Repository { name: name.into(), ..repository() };
        assert_eq!(check_item(&MirrorItem::Repository(repository)), Ok(()), "{name}");
    }
    let title = "日".repeat(MAX_TITLE_CHARS);
    assert_eq!(check_item(&MirrorItem::Thread(Thread { title, ..thread() })), Ok(()));
}

#[test]
fn item_ids_are_positive_and_node_ids_visible() {
    for id in [0, -1, i64::MIN] {
        assert_impossible(MirrorItem::Repository(Repository { id, ..repository() }));
        assert_impossible(MirrorItem::Thread(Thread { id, ..thread() }));
        assert_impossible(MirrorItem::Thread(Thread { number: id, ..thread() }));
        assert_impossible(MirrorItem::Thread(Thread { repository_id: id, ..thread() }));
        assert_impossible(MirrorItem::Thread(Thread { author_id: Some(id), ..thread() }));
        assert_impossible(MirrorItem::Comment(Comment { id, ..comment() }));
        assert_impossible(MirrorItem::Comment(Comment { thread: id, ..comment() }));
        assert_impossible(MirrorItem::Comment(Comment { reply_to: Some(id), ..comment() }));
        assert!(check_closed_issues(&[3, id]).is_err());
    }
    for node_id in ["", "at c1", "I_\u{1b}[31m", "I_ä", &"x".repeat(MAX_NODE_ID_BYTES + 1)] {
        assert_impossible(MirrorItem::Thread(Thread { node_id: node_id.into(), ..thread() }));
    }
}

#[test]
fn item_names_and_urls_follow_their_grammar() {
    for name in ["", ".", "..", "a/b", "../x", "a b", "a\nb", "naïve", &"n".repeat(101)] {
        assert_impossible(MirrorItem::Repository(Repository { name: name.into(), ..repository() }));
        assert_impossible(MirrorItem::Repository(Repository {
            owner: name.into(),
            ..repository()
        }));
    }
    for author in ["", "a b", "a\u{1b}[1m", &"a".repeat(MAX_LOGIN_CHARS + 1)] {
        assert_impossible(MirrorItem::Comment(Comment {
            author: Some(author.into()),
            ..comment()
        }));
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
        &format!("https://github.com/{}", "a".repeat(MAX_URL_BYTES)),
    ] {
        assert_impossible(MirrorItem::Repository(Repository { url: url.into(), ..repository() }));
        assert_impossible(MirrorItem::Thread(Thread { url: url.into(), ..thread() }));
        assert_impossible(MirrorItem::Comment(Comment { url: url.into(), ..comment() }));
    }
}

#[test]
fn item_words_about_its_author_and_head_have_only_their_own_characters() {
    for word in ["Ro\0bot", "a b", "NO^E", &"A".repeat(MAX_STATE_CHARS + 1)] {
        let author_kind = Some(AuthorKind::from_name(word));
        let association = Some(word.to_owned());
        assert_impossible(MirrorItem::Thread(Thread {
            author_kind: author_kind.clone(),
            ..thread()
        }));
        assert_impossible(MirrorItem::Thread(Thread {
            association: association.clone(),
            ..thread()
        }));
        assert_impossible(MirrorItem::Comment(Comment { author_kind, ..comment() }));
        assert_impossible(MirrorItem::Comment(Comment { association, ..comment() }));
        let head_sha = Some(word.to_owned());
        let details = ThreadDetails::PullRequest(PullRequestDetails { head_sha, ..pull_request() });
        let thread = MirrorItem::Thread(Thread { details, ..thread() });
        assert!(check_undigested_fields(&thread).is_err(), "{word:?}");
        assert_impossible(thread);
    }
}

#[test]
fn item_texts_are_bounded() {
    assert_impossible(MirrorItem::Thread(Thread {
        title: "t".repeat(MAX_TITLE_CHARS + 1),
        ..thread()
    }));
    assert_impossible(MirrorItem::Thread(Thread {
        body: "b".repeat(MAX_BODY_BYTES + 1),
        ..thread()
    }));
    assert_impossible(MirrorItem::Thread(Thread {
        labels: vec!["l".repeat(MAX_LABEL_CHARS + 1)],
        ..thread()
    }));
    let head_ref = "r".repeat(MAX_REF_CHARS + 1);
    let details = ThreadDetails::PullRequest(PullRequestDetails { head_ref, ..pull_request() });
    assert_impossible(MirrorItem::Thread(Thread { details, ..thread() }));
    let category = "c".repeat(MAX_LABEL_CHARS + 1);
    let details = ThreadDetails::Discussion(DiscussionDetails { category, is_answered: None });
    assert_impossible(MirrorItem::Thread(Thread { details, ..thread() }));
    assert_impossible(MirrorItem::Comment(Comment {
        body: "b".repeat(MAX_BODY_BYTES + 1),
        ..comment()
    }));
    assert_impossible(MirrorItem::Comment(Comment {
        path: Some("p".repeat(MAX_PATH_CHARS + 1)),
        ..comment()
    }));
}

#[test]
fn item_reason_is_short_and_recognized() {
    let url = format!("javascript:{}", "a".repeat(1_000_000));
    let wrong =
        check_item(&MirrorItem::Thread(Thread { url, ..thread() })).unwrap_err().to_string();
    assert!(wrong.starts_with("impossible: its address is \"javascript:aaa"), "{wrong}");
    assert!(wrong.ends_with(", 1000011 bytes long") && wrong.len() < 200, "{wrong}");
    assert!(
        ImpossibleItem::is_impossible_reason(&wrong)
            && !ImpossibleItem::is_impossible_reason("missing field `id`")
    );
}

fn check_item(item: &MirrorItem) -> Result<(), ImpossibleItem> {
    match item {
        MirrorItem::Repository(repository) => check_repository(repository),
        MirrorItem::Thread(thread) => check_thread(thread),
        MirrorItem::Comment(comment) => check_comment(comment),
        MirrorItem::Post(post) => post::check_post_text(&post.text),
    }
}

#[expect(clippy::needless_pass_by_value, reason = "each is made for the one call")]
fn assert_impossible(item: MirrorItem) {
    assert!(check_item(&item).is_err(), "{item:?}");
}

fn source_time() -> SourceTime {
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
        created_at: source_time(),
        updated_at: source_time(),
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
        author_kind: None,
        association: Some("FIRST_TIME_CONTRIBUTOR".into()),
        created_at: source_time(),
        updated_at: source_time(),
        closed_at: None,
        details: ThreadDetails::PullRequest(pull_request()),
    }
}

fn pull_request() -> PullRequestDetails {
    PullRequestDetails {
        is_draft: false,
        merged_at: None,
        head_ref: "fix/leak".into(),
        head_sha: None,
    }
}

fn comment() -> Comment {
    Comment {
        kind: CommentKind::ReviewComment,
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
        author_kind: None,
        association: None,
        created_at: source_time(),
        updated_at: source_time(),
    }
}
