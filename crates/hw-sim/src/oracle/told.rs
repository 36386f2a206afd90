//! Snapshots of the world, told in the words of the oracle.

use super::{TrueComment, TruePull, TrueRepository, TrueTalk, TrueThread};
use crate::times::rfc3339;
use crate::world::{Comment, CommentKind, Repository, Thread, ThreadKind, View, World};

#[derive(Debug, Clone, Copy)]
pub(super) struct Teller<'w> {
    view: View<'w>,
}

impl<'w> Teller<'w> {
    pub(super) fn new(world: &'w World, at_ms: i64) -> Self {
        Self { view: world.view(at_ms) }
    }

    /// Tells also what no reader could see at that moment.
    pub(super) fn of_everything(world: &'w World, at_ms: i64) -> Self {
        Self { view: world.view(at_ms).of_everything() }
    }

    pub(super) fn repository(self, it: &Repository) -> TrueRepository {
        TrueRepository {
            id: it.id,
            node_id: it.node_id.to_string(),
            name: it.name.to_string(),
            url: self.view.repository_url(it),
            is_archived: it.is_archived,
            is_fork: it.is_fork,
            has_issues_enabled: it.has_issues,
            has_discussions_enabled: it.has_discussions,
            created_at: rfc3339(it.created_ms),
            updated_at: rfc3339(it.updated_ms),
        }
    }

    pub(super) fn thread(self, it: &Thread) -> TrueThread {
        let (repository_id, repository) = self.home(it);
        TrueThread {
            kind: it.kind,
            id: it.id,
            node_id: it.node_id.to_string(),
            number: it.number,
            repository_id,
            repository,
            url: self.view.thread_url(it),
            title: it.title.value().to_owned(),
            body: it.body.value().to_owned(),
            state: it.state().to_owned(),
            state_reason: it.state_reason.map(str::to_owned),
            labels: it.labels.iter().map(ToString::to_string).collect(),
            author: self.login(it.author),
            author_id: self.author_id(it.author),
            created_at: rfc3339(it.created_ms),
            updated_at: rfc3339(it.updated_ms),
            closed_at: it.closed_ms.map(rfc3339),
            pull_request: (it.kind == ThreadKind::PullRequest).then(|| self.pull(it)),
            talk: (it.kind == ThreadKind::Discussion)
                .then(|| TrueTalk { category: it.category.to_owned(), is_answered: it.answered() }),
            is_shown_again: self.view.was_thread_hidden(it),
        }
    }

    fn pull(self, it: &Thread) -> TruePull {
        TruePull {
            is_draft: it.is_draft,
            merged_at: it.merged_ms.map(rfc3339),
            head_ref_name: it.head_ref(),
            closing_issues: self.view.closing_issues(it).map(|issue| issue.number).collect(),
            mentions: it.closes.clone(),
        }
    }

    /// With the index of the repository it is in.
    pub(super) fn comment(self, it: &Comment) -> Option<(usize, TrueComment)> {
        let thread = self.view.thread(it.thread)?;
        let told = TrueComment {
            id: it.id,
            node_id: it.node_id.to_string(),
            kind: it.kind,
            thread_kind: thread.kind,
            thread_id: thread.id,
            thread_number: thread.number,
            repository_id: self.home(thread).0,
            is_transferred: self.view.came_from_elsewhere(it),
            is_shown_again: self.view.was_hidden(it),
            parent_id: it.parent.and_then(|parent| self.view.comment(parent)).map(|up| up.id),
            url: self.view.comment_url(it, thread),
            body: it.body.value().to_owned(),
            author: self.login(it.author),
            author_id: self.author_id(it.author),
            created_at: rfc3339(it.created_ms),
            updated_at: rfc3339(it.updated_ms),
        };
        Some((thread.repository, told))
    }

    fn home(self, it: &Thread) -> (i64, String) {
        let repository = self.view.repository(it.repository);
        repository.map(|it| (it.id, it.name.to_string())).unwrap_or_default()
    }

    fn login(self, author: Option<usize>) -> Option<String> {
        author.map(|index| self.view.user(index).login.to_string())
    }

    fn author_id(self, author: Option<usize>) -> Option<i64> {
        let user = self.view.user(author?);
        (user.type_name != "EnterpriseUserAccount").then_some(user.id)
    }
}

impl<'w> View<'w> {
    pub(crate) fn repository_url(self, it: &Repository) -> String {
        format!("{}/{}/{}", self.web_url(), self.organization(), it.name)
    }

    pub(crate) fn thread_url(self, it: &Thread) -> String {
        let home = self.home(it).map(|home| self.repository_url(home));
        format!("{}/{}/{}", home.unwrap_or_default(), it.kind.path(), it.number)
    }

    pub(crate) fn comment_url(self, it: &Comment, thread: &Thread) -> String {
        let mark = match it.kind {
            CommentKind::Conversation => "issuecomment-",
            CommentKind::ReviewComment => "discussion_r",
            CommentKind::Review => "pullrequestreview-",
            CommentKind::Discussion | CommentKind::Reply => "discussioncomment-",
        };
        format!("{}#{mark}{}", self.thread_url(thread), it.id)
    }

    /// The existing issues a pull request would close.
    pub(crate) fn closing_issues(self, it: &Thread) -> impl Iterator<Item = &'w Thread> {
        let home = it.repository;
        let numbers = it.closes.clone().into_iter();
        let found = numbers.filter_map(move |number| self.thread_numbered(home, number));
        found.filter(|thread| thread.kind == ThreadKind::Issue)
    }
}
