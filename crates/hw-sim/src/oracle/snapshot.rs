//! Converts objects of the world to the oracle's types.

use super::{TrueComment, TrueDiscussion, TruePullRequest, TrueRepository, TrueThread};
use crate::timestamps::format_rfc3339;
use crate::world::{
    CommentKind, ReplicaView, SimComment, SimRepository, SimThread, ThreadKind, World,
};

#[derive(Debug, Clone, Copy)]
pub(super) struct SnapshotBuilder<'w> {
    view: ReplicaView<'w>,
}

impl<'w> SnapshotBuilder<'w> {
    pub(super) fn new(world: &'w World, at_ms: i64) -> Self {
        Self { view: world.view_at(at_ms) }
    }

    /// Includes everything that no reader could see at that time.
    pub(super) fn including_hidden(world: &'w World, at_ms: i64) -> Self {
        Self { view: world.view_at(at_ms).including_hidden() }
    }

    pub(super) fn build_repository(self, repository: &SimRepository) -> TrueRepository {
        TrueRepository {
            id: repository.id,
            node_id: repository.node_id.to_string(),
            owner: self.view.owner_of(repository).login.to_string(),
            name: repository.name.to_string(),
            url: self.view.repository_url(repository),
            is_archived: repository.is_archived,
            is_fork: repository.is_fork,
            has_issues_enabled: repository.has_issues,
            has_discussions_enabled: repository.has_discussions,
            created_at: format_rfc3339(repository.created_ms),
            updated_at: format_rfc3339(repository.updated_ms),
        }
    }

    pub(super) fn build_thread(self, thread: &SimThread) -> TrueThread {
        let repository = self.view.repository(thread.repository);
        TrueThread {
            kind: thread.kind,
            id: thread.id,
            node_id: thread.node_id.to_string(),
            number: thread.number,
            repository_id: repository.map_or(0, |repository| repository.id),
            repository: repository.map_or_else(String::new, |found| found.name.to_string()),
            url: self.view.thread_url(thread),
            title: thread.title.value().to_owned(),
            body: thread.body.value().to_owned(),
            state: thread.state().to_owned(),
            state_reason: thread.state_reason.map(str::to_owned),
            labels: thread.labels.iter().map(ToString::to_string).collect(),
            author: self.author_login(thread.author),
            author_id: self.author_id(thread.author),
            author_type: self.author_type(thread.author),
            author_association: self.view.thread_association(thread).to_owned(),
            created_at: format_rfc3339(thread.created_ms),
            updated_at: format_rfc3339(thread.updated_ms),
            closed_at: thread.closed_ms.map(format_rfc3339),
            pull_request: (thread.kind == ThreadKind::PullRequest)
                .then(|| self.build_pull_request(thread)),
            discussion: (thread.kind == ThreadKind::Discussion).then(|| TrueDiscussion {
                category: thread.category.to_owned(),
                is_answered: thread.answer_status(),
            }),
            was_hidden: self.view.was_thread_hidden(thread),
        }
    }

    fn build_pull_request(self, thread: &SimThread) -> TruePullRequest {
        TruePullRequest {
            is_draft: thread.is_draft,
            merged_at: thread.merged_ms.map(format_rfc3339),
            head_ref_name: thread.head_ref(),
            head_ref_oid: thread.head_oid(),
            closing_issues: self.view.closing_issues(thread).map(|issue| issue.number).collect(),
            mentioned_issues: thread.closes.clone(),
        }
    }

    /// Converts a comment on this thread.
    pub(super) fn build_comment(self, comment: &SimComment, thread: &SimThread) -> TrueComment {
        let repository = self.view.repository(thread.repository);
        TrueComment {
            id: comment.id,
            node_id: comment.node_id.to_string(),
            kind: comment.kind,
            thread_kind: thread.kind,
            thread_id: thread.id,
            thread_number: thread.number,
            repository_id: repository.map_or(0, |repository| repository.id),
            was_transferred: self.view.was_transferred(comment),
            was_hidden: self.view.was_comment_hidden(comment),
            parent_id: comment
                .parent
                .and_then(|parent| self.view.comment(parent))
                .map(|parent| parent.id),
            reply_to_id: comment
                .reply_to
                .and_then(|root| self.view.comment(root))
                .map(|root| root.id),
            url: self.view.comment_url(comment, thread),
            body: comment.body.value().to_owned(),
            review_state: (comment.kind == CommentKind::Review)
                .then(|| comment.review_state.to_owned()),
            author: self.author_login(comment.author),
            author_id: self.author_id(comment.author),
            author_type: self.author_type(comment.author),
            author_association: self.view.comment_association(comment).to_owned(),
            created_at: format_rfc3339(comment.created_ms),
            updated_at: format_rfc3339(comment.updated_ms),
        }
    }

    fn author_login(self, author: Option<usize>) -> Option<String> {
        author.map(|index| self.view.user(index).login.to_string())
    }

    fn author_type(self, author: Option<usize>) -> Option<String> {
        author.map(|index| self.view.user(index).rest_type().to_owned())
    }

    fn author_id(self, author: Option<usize>) -> Option<i64> {
        let user = self.view.user(author?);
        (user.type_name != "EnterpriseUserAccount").then_some(user.id)
    }
}

impl<'w> ReplicaView<'w> {
    pub(crate) fn repository_url(self, repository: &SimRepository) -> String {
        format!("{}/{}/{}", self.web_url(), self.owner_of(repository).login, repository.name)
    }

    pub(crate) fn thread_url(self, thread: &SimThread) -> String {
        let repository = self.home_repository(thread);
        let url = repository.map(|repository| self.repository_url(repository)).unwrap_or_default();
        format!("{url}/{}/{}", thread.kind.url_segment(), thread.number)
    }

    pub(crate) fn comment_url(self, comment: &SimComment, thread: &SimThread) -> String {
        let fragment = match comment.kind {
            CommentKind::Conversation => "issuecomment-",
            CommentKind::ReviewComment => "discussion_r",
            CommentKind::Review => "pullrequestreview-",
            CommentKind::Discussion | CommentKind::Reply => "discussioncomment-",
        };
        format!("{}#{fragment}{}", self.thread_url(thread), comment.id)
    }

    /// Returns the existing issues that a pull request would close.
    pub(crate) fn closing_issues(self, pull: &SimThread) -> impl Iterator<Item = &'w SimThread> {
        let repository = pull.repository;
        let numbers = pull.closes.clone().into_iter();
        let found = numbers.filter_map(move |number| self.thread_by_number(repository, number));
        found.filter(|thread| thread.kind == ThreadKind::Issue)
    }

    /// Returns the existing pull requests that would close an issue.
    pub(crate) fn closing_pull_requests(
        self,
        issue: &SimThread,
    ) -> impl Iterator<Item = &'w SimThread> {
        let (repository, number) = (issue.repository, issue.number);
        let pulls = self.repository_threads(repository, ThreadKind::PullRequest);
        pulls.filter(move |pull| pull.closes.contains(&number))
    }
}
