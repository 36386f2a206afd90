use std::collections::BTreeMap;

use hw_rules::item::{self, Comment, ItemObservation, MirrorItem};
use hw_rules::lane::{PerThreadCommentKind, SinceCommentKind, SinceList};
use hw_rules::since_walk::SinceWalk;
use hw_rules::walk::ListingFloor;
use hw_sim::{CommentKind, SimulatedGitHub, ThreadKind, TrueComment, WireOutcome, WorldSpec};

use super::*;
use crate::github::graphql::{self, GraphqlEndpoint};
use crate::github::rest::{self, RestEndpoint};
use crate::github::since_lists::{ListPart, SinceListQuery, SinceListResult};
use crate::query::Query;
use crate::transport::{HttpRequest, HttpResponse};

#[test]
fn comment_list_and_lookup_agree() {
    for kind in [SinceCommentKind::Conversation, SinceCommentKind::ReviewComment] {
        let mut source = SimulatedSource::new();
        for (repository, node_id) in source.repository_ids() {
            let listed = comments_by_id(&source.list_comments(kind, repository));
            let looked_up = comments_by_id(&source.look_up_comments(
                kind.into(),
                repository,
                &node_id,
                &listed,
            ));
            assert_eq!(listed.len(), source.true_comments(kind.into(), repository).len());
            assert!(listed.len() > 10, "{kind:?}: too few to prove anything");
            for (id, comment) in &listed {
                assert_same_comment(comment, &looked_up[id]);
            }
        }
    }
}

#[test]
fn thread_comments_and_lookup_agree() {
    for kind in PerThreadCommentKind::ALL {
        let mut source = SimulatedSource::new();
        let mut pages = 0;
        for (repository, node_id) in source.repository_ids() {
            let listed = source.list_thread_comments(kind, repository);
            pages += listed.continuations;
            let listed = comments_by_id(&listed.observations);
            let looked_up = comments_by_id(&source.look_up_comments(
                kind.into(),
                repository,
                &node_id,
                &listed,
            ));
            assert_eq!(listed, looked_up);
            let truth = source.true_comments(kind.into(), repository);
            assert!(listed.keys().eq(truth.keys()), "{kind:?}: the threads are complete");
            for (id, comment) in &listed {
                assert_eq!(comment.thread, truth[id].thread_number);
                let parent = truth[id].parent_id.filter(|_| kind != PerThreadCommentKind::Review);
                assert_eq!((comment.reply_to, &comment.body), (parent, &truth[id].body));
            }
        }
        assert!(
            pages > 0 || kind == PerThreadCommentKind::Review,
            "no thread was longer than a page"
        );
    }
}

/// Compares all but the author's id, which is null in GraphQL for a member of an enterprise.
fn assert_same_comment(listed: &Comment, looked_up: &Comment) {
    let author_id = looked_up.author_id.and(listed.author_id);
    let listed = Comment { author_id, ..listed.clone() };
    assert_eq!(&listed, looked_up);
    assert_eq!(
        MirrorItem::Comment(listed).digest(),
        MirrorItem::Comment(looked_up.clone()).digest()
    );
}

/// A simulated GitHub, and its current time.
struct SimulatedSource {
    github: SimulatedGitHub,
    now_ms: i64,
}

/// Comments, and the number of further pages it took to read them.
struct ListedComments {
    observations: Vec<ItemObservation>,
    continuations: usize,
}

impl SimulatedSource {
    fn new() -> Self {
        let spec = WorldSpec { comments_per_thread: 80, hostile_text: true, ..WorldSpec::small() };
        Self { now_ms: spec.start_ms, github: SimulatedGitHub::new(&spec, 1) }
    }

    fn repository_ids(&self) -> Vec<(i64, String)> {
        let truth = self.github.world().truth();
        truth
            .repositories
            .into_values()
            .map(|repository| (repository.id, repository.node_id))
            .collect()
    }

    fn true_comments(
        &self,
        kind: item::CommentKind,
        repository: i64,
    ) -> BTreeMap<i64, TrueComment> {
        let kinds: &[CommentKind] = match kind {
            item::CommentKind::Conversation => &[CommentKind::Conversation],
            item::CommentKind::ReviewComment => &[CommentKind::ReviewComment],
            item::CommentKind::Review => &[CommentKind::Review],
            item::CommentKind::DiscussionComment => &[CommentKind::Discussion, CommentKind::Reply],
        };
        let comments = self.github.world().truth().comments.into_values();
        comments
            .filter(|comment| comment.repository_id == repository && kinds.contains(&comment.kind))
            .map(|comment| (comment.id, comment))
            .collect()
    }

    /// Reads every page of a list.
    fn list_comments(&mut self, kind: SinceCommentKind, repository: i64) -> Vec<ItemObservation> {
        let list = SinceList::Comments(kind);
        let mut walk = SinceWalk::from_floor(ListingFloor::Beginning);
        let mut observations = Vec::new();
        loop {
            let part = ListPart::Since(walk.position());
            let query = SinceListQuery { list, repository_id: repository, part, etag: None };
            let SinceListResult::Page(page) = self.fetch_rest(&query, 20) else {
                panic!("not modified, but no etag was sent")
            };
            assert!(page.unreadable.is_empty(), "{:?}", page.unreadable);
            observations.extend(page.observations);
            walk.page += 1;
            if !page.since_page.has_next {
                return observations;
            }
        }
    }

    fn look_up_comments(
        &mut self,
        kind: item::CommentKind,
        repository: i64,
        node_id: &str,
        known: &BTreeMap<i64, Comment>,
    ) -> Vec<ItemObservation> {
        let ids: Vec<String> = known.values().map(|comment| comment.node_id.clone()).collect();
        let mut observations = Vec::new();
        for ids in ids.chunks(100) {
            let page = self.fetch_graphql(
                &CommentLookupQuery {
                    kind,
                    repository_id: repository,
                    node_id,
                    ids,
                    siblings: &ids[..1],
                },
                100,
            );
            assert_eq!(page.requested_count, ids.len());
            assert!(page.is_vouched_for && page.unreadable.is_empty(), "{page:?}");
            observations.extend(page.observations);
        }
        observations
    }

    /// Reads the comments of every thread.
    fn list_thread_comments(
        &mut self,
        kind: PerThreadCommentKind,
        repository: i64,
    ) -> ListedComments {
        let thread_kind = match kind {
            PerThreadCommentKind::Review => ThreadKind::PullRequest,
            PerThreadCommentKind::DiscussionComment => ThreadKind::Discussion,
        };
        let truth = self.github.world().truth();
        let ids: Vec<String> = truth
            .threads_of_kind(thread_kind)
            .filter(|thread| thread.repository_id == repository)
            .map(|thread| thread.node_id.clone())
            .collect();
        let query = ThreadCommentsQuery { kind, repository_id: repository, ids: &ids };
        let mut threads = self.fetch_graphql(&query, 100).threads;
        assert_eq!(threads.len(), ids.len());
        let mut listed = ListedComments { observations: Vec::new(), continuations: 0 };
        while let Some(thread) = threads.pop() {
            assert_eq!((&thread.completeness, thread.unreadable.len()), (&Ok(()), 0));
            listed.observations.extend(thread.observations);
            listed.continuations += thread.continuations.len();
            for next in thread.continuations {
                let (repository_id, continuation) = (repository, &next);
                let query = ContinuationQuery { kind, repository_id, continuation };
                threads.push(self.fetch_graphql(&query, 2));
            }
        }
        listed
    }

    fn fetch_rest<Q: Query<Endpoint = RestEndpoint>>(&mut self, query: &Q, size: u32) -> Q::Page {
        let rest = RestEndpoint { url: "https://api.github.com".into(), token: "t0ken".into() };
        let response = self.send_request(&rest.build_request(&query.request(size)));
        query.parse(&rest::read_response(&response).unwrap(), size).unwrap()
    }

    fn fetch_graphql<Q: Query<Endpoint = GraphqlEndpoint>>(
        &mut self,
        query: &Q,
        size: u32,
    ) -> Q::Page {
        let url = "https://api.github.com/graphql".into();
        let endpoint = GraphqlEndpoint { url, token: "t0ken".into() };
        let response = self.send_request(&endpoint.build_request(&query.request(size)));
        let response = graphql::read_response(&response).unwrap();
        assert_eq!((response.errors.len(), response.meta.cost), (0, 1), "{:?}", response.errors);
        query.parse(&response, size).unwrap()
    }

    fn send_request(&mut self, request: &HttpRequest) -> HttpResponse {
        self.now_ms += 1_000;
        let outcome = self.github.handle_request(&encode_request(request), self.now_ms).outcome;
        let WireOutcome::Response(bytes) = outcome else { panic!("without faults: {outcome:?}") };
        decode_response(&bytes)
    }
}

fn comments_by_id(observations: &[ItemObservation]) -> BTreeMap<i64, Comment> {
    observations
        .iter()
        .map(|observation| {
            (observation.key().id, sample_comments::unwrap_comment(observation).clone())
        })
        .collect()
}

fn encode_request(request: &HttpRequest) -> Vec<u8> {
    let path = request.url.splitn(4, '/').nth(3).unwrap();
    let method = request.method.as_str();
    let mut head = format!("{method} /{path} HTTP/1.1\r\nhost: api.github.com\r\n");
    for (name, value) in &request.headers {
        head += &format!("{name}: {}\r\n", value.to_str().unwrap());
    }
    let body = request.body.as_deref().unwrap_or_default();
    head += &format!("content-length: {}\r\n\r\n", body.len());
    [head.as_bytes(), body].concat()
}

fn decode_response(bytes: &[u8]) -> HttpResponse {
    let end = bytes.windows(4).position(|end| end == b"\r\n\r\n").unwrap();
    let head = std::str::from_utf8(&bytes[..end]).unwrap();
    let (status, headers) = head.split_once("\r\n").unwrap();
    let headers = headers.split("\r\n").map(|line| {
        let (name, value) = line.split_once(':').unwrap();
        (name.parse().unwrap(), value.trim().parse().unwrap())
    });
    HttpResponse {
        status: status.split(' ').nth(1).unwrap().parse().unwrap(),
        headers: headers.collect(),
        body: bytes[end + 4..].to_vec(),
    }
}
