use std::collections::BTreeMap;

use hw_rules::item::{Comment, Item, Observation};
use hw_rules::lane::Surface;
use hw_rules::since::SinceWalk;
use hw_rules::walk::Floor;
use hw_sim::{CommentKind, GitHub, Outcome, ThreadKind, TrueComment, WorldSpec};

use super::*;
use crate::github::graphql::{self, Endpoint, Query};
use crate::github::rest::{self, Get, Rest};
use crate::transport::{Request, Response};

#[test]
fn a_list_and_a_look_tell_the_same_comments() {
    for surface in [Surface::IssueComments, Surface::ReviewComments] {
        let mut source = Source::new();
        for (repository, node_id) in source.repositories() {
            let listed = by_id(&source.list(surface, repository));
            let looked = by_id(&source.look(surface, repository, &node_id, &listed));
            assert_eq!(listed.len(), source.truth(surface, repository).len());
            assert!(10 < listed.len(), "{surface:?}: too few to prove anything");
            for (id, told) in &listed {
                same(told, &looked[id]);
            }
        }
    }
}

#[test]
fn a_talk_and_a_look_tell_the_same_comments() {
    for surface in [Surface::Reviews, Surface::DiscussionComments] {
        let mut source = Source::new();
        let mut pages = 0;
        for (repository, node_id) in source.repositories() {
            let (told, more) = source.talks(surface, repository);
            let told = by_id(&told);
            pages += more;
            let looked = by_id(&source.look(surface, repository, &node_id, &told));
            assert_eq!(told, looked);
            let truth = source.truth(surface, repository);
            assert!(told.keys().eq(truth.keys()), "{surface:?}: the talks are whole");
            for (id, comment) in &told {
                assert_eq!(comment.thread, truth[id].thread_number);
                let parent = truth[id].parent_id.filter(|_| surface != Surface::Reviews);
                assert_eq!((comment.reply_to, &comment.body), (parent, &truth[id].body));
            }
        }
        assert!(0 < pages || surface == Surface::Reviews, "no talk was longer than a page");
    }
}

/// GraphQL has no number for a member of an enterprise, and says so with a null.
fn same(listed: &Comment, looked: &Comment) {
    let author_id = looked.author_id.and(listed.author_id);
    let listed = Comment { author_id, ..listed.clone() };
    assert_eq!(&listed, looked);
    let digest = |comment: &Comment| Item::Comment(comment.clone()).digest();
    assert_eq!(digest(&listed), digest(looked));
}

/// A simulated GitHub, and how late it is there.
struct Source {
    github: GitHub,
    now_ms: i64,
}

impl Source {
    fn new() -> Self {
        let spec = WorldSpec { comments_per_thread: 80, hostile_text: true, ..WorldSpec::small() };
        Self { now_ms: spec.start_ms, github: GitHub::new(&spec, 1) }
    }

    fn repositories(&self) -> Vec<(i64, String)> {
        let truth = self.github.world().truth();
        truth.repositories.into_values().map(|it| (it.id, it.node_id)).collect()
    }

    fn truth(&self, surface: Surface, repository: i64) -> BTreeMap<i64, TrueComment> {
        let kinds: &[CommentKind] = match surface {
            Surface::IssueComments => &[CommentKind::Conversation],
            Surface::ReviewComments => &[CommentKind::ReviewComment],
            Surface::Reviews => &[CommentKind::Review],
            Surface::DiscussionComments => &[CommentKind::Discussion, CommentKind::Reply],
            Surface::Repositories
            | Surface::Discussions
            | Surface::Issues
            | Surface::PullRequests => &[],
        };
        let comments = self.github.world().truth().comments.into_values();
        let ours = |it: &TrueComment| it.repository_id == repository && kinds.contains(&it.kind);
        comments.filter(ours).map(|it| (it.id, it)).collect()
    }

    /// Every page of a list.
    fn list(&mut self, surface: Surface, repository: i64) -> Vec<Observation> {
        let mut walk = SinceWalk::from(Floor::Beginning);
        let mut told = Vec::new();
        loop {
            let answer = self.get(&since(surface, repository, &walk, 20, None));
            let Ok(Listed::Page(page)) = read_list(&answer, surface, repository, 20, 1) else {
                panic!("{answer:?}")
            };
            assert!(page.unreadable.is_empty(), "{:?}", page.unreadable);
            told.extend(page.observations);
            walk.page += 1;
            if !page.page.has_next {
                return told;
            }
        }
    }

    fn look(
        &mut self,
        surface: Surface,
        repository: i64,
        node_id: &str,
        known: &BTreeMap<i64, Comment>,
    ) -> Vec<Observation> {
        let ids: Vec<String> = known.values().map(|it| it.node_id.clone()).collect();
        let mut told = Vec::new();
        for ids in ids.chunks(100) {
            let answer = self.query(&look_query(surface, node_id, ids, &ids[..1]));
            let look = read_look(&answer, surface, ids, repository, 1).unwrap();
            assert!(look.is_vouched_for && look.unreadable.is_empty(), "{look:?}");
            told.extend(look.observations);
        }
        told
    }

    /// What is said in every thread, and how many more pages that took.
    fn talks(&mut self, surface: Surface, repository: i64) -> (Vec<Observation>, usize) {
        let kind = if surface == Surface::Reviews {
            ThreadKind::PullRequest
        } else {
            ThreadKind::Discussion
        };
        let truth = self.github.world().truth();
        let ours = truth.of_kind(kind).filter(|it| it.repository_id == repository);
        let ids: Vec<String> = ours.map(|it| it.node_id.clone()).collect();
        let answer = self.query(&talks_query(surface, &ids));
        let mut talks = read_talks(&answer, surface, &ids, repository, 1).unwrap();
        let (mut told, mut pages) = (Vec::new(), 0);
        while let Some(talk) = talks.pop() {
            assert_eq!((&talk.whole, talk.unreadable.len()), (&Ok(()), 0));
            told.extend(talk.observations);
            pages += talk.more.len();
            for more in talk.more {
                let answer = self.query(&more_query(surface, &more, 2));
                talks.push(read_more(&answer, surface, &more, repository, 1).unwrap());
            }
        }
        (told, pages)
    }

    fn get(&mut self, get: &Get) -> rest::Answer {
        let rest = Rest { url: "https://api.github.com".into(), token: "t0ken".into() };
        rest::read(&self.send(&rest.request(get))).unwrap()
    }

    fn query(&mut self, query: &Query) -> graphql::Answer {
        let url = "https://api.github.com/graphql".into();
        let endpoint = Endpoint { url, token: "t0ken".into() };
        let answer = graphql::read(&self.send(&endpoint.request(query))).unwrap();
        assert_eq!((answer.errors.len(), answer.receipt.cost), (0, 1), "{:?}", answer.errors);
        answer
    }

    fn send(&mut self, request: &Request) -> Response {
        self.now_ms += 1_000;
        let outcome = self.github.handle(&bytes_of(request), self.now_ms).outcome;
        let Outcome::Response(bytes) = outcome else { panic!("in fair weather: {outcome:?}") };
        response(&bytes)
    }
}

fn by_id(told: &[Observation]) -> BTreeMap<i64, Comment> {
    told.iter().map(|seen| (seen.key().id, samples::comment(seen).clone())).collect()
}

fn bytes_of(request: &Request) -> Vec<u8> {
    let path = request.url.splitn(4, '/').nth(3).unwrap();
    let method = request.method.name();
    let mut head = format!("{method} /{path} HTTP/1.1\r\nhost: api.github.com\r\n");
    for (name, value) in &request.headers {
        head += &format!("{name}: {}\r\n", value.expose());
    }
    let body = request.body.as_deref().unwrap_or_default();
    head += &format!("content-length: {}\r\n\r\n", body.len());
    [head.as_bytes(), body].concat()
}

fn response(bytes: &[u8]) -> Response {
    let end = bytes.windows(4).position(|end| end == b"\r\n\r\n").unwrap();
    let head = std::str::from_utf8(&bytes[..end]).unwrap();
    let (status, headers) = head.split_once("\r\n").unwrap();
    let header = |line: &str| {
        let (name, value) = line.split_once(':').unwrap();
        (name.to_lowercase(), value.trim().to_owned())
    };
    Response {
        status: status.split(' ').nth(1).unwrap().parse().unwrap(),
        headers: headers.split("\r\n").map(header).collect(),
        body: bytes[end + 4..].to_vec(),
    }
}
