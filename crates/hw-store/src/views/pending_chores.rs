//! Chores that are not done yet, as far as readers must know of them: a view shows the mirror as if they were.

use std::collections::BTreeMap;

use super::comment_list::CommentRow;
use super::repository_match::HostIds;
use super::thread_list::ThreadRow;
use crate::chores::ChoreKind;
use crate::error::StoreError;
use crate::mirror::repository_names::{self, NamedRepository};
use crate::sql::{Sql, SqlRow};
use crate::transaction::Transaction;
use hw_rules::repository_key::RepositoryKey;

/// Repositories whose texts are about to change. Nearly always empty.
#[derive(Default)]
pub(crate) struct PendingChores {
    /// The names of repositories whose texts may be stored under an older one.
    renamed: BTreeMap<RepositoryKey, NamedRepository>,
    /// Removed repositories that still have texts.
    removed: HostIds,
    /// Everything is about to be fetched again.
    is_emptied: bool,
}

/// The texts that a view leaves out.
pub(crate) enum HiddenTexts<'a> {
    None,
    OfRepositories(&'a HostIds),
    All,
}

impl PendingChores {
    pub(crate) fn read(tx: &mut Transaction<'_>) -> Result<Self, StoreError> {
        const PENDING: Sql = Sql::portable(
            "select chores.kind, chores.host, chores.repository_id, owner, name, url
               from chores
               left join repositories
                 on repositories.host = chores.host and repositories.id = chores.repository_id",
        );
        let mut pending = Self::default();
        for row in tx.query(PENDING, &[], PendingChore::read)? {
            pending.add(row);
        }
        Ok(pending)
    }

    fn add(&mut self, PendingChore { kind, host, repository_id, name }: PendingChore) {
        match (kind, name) {
            (Some(ChoreKind::RenameTexts), Some(name)) => {
                self.renamed.insert(RepositoryKey::new(host, repository_id), name);
            }
            (Some(ChoreKind::RemoveTexts), _) => {
                self.removed.entry(host).or_default().push(repository_id);
            }
            (Some(ChoreKind::EmptyMirror), _) => self.is_emptied = true,
            (Some(ChoreKind::RenameTexts), None)
            | (Some(ChoreKind::ClearLane | ChoreKind::RebuildIndex) | None, _) => {}
        }
    }

    pub(crate) fn has_renames(&self) -> bool {
        !self.renamed.is_empty()
    }

    /// Returns the texts that are hidden because they are about to be removed.
    pub(crate) fn hidden_texts(&self) -> HiddenTexts<'_> {
        match (self.is_emptied, self.removed.is_empty()) {
            (true, _) => HiddenTexts::All,
            (false, true) => HiddenTexts::None,
            (false, false) => HiddenTexts::OfRepositories(&self.removed),
        }
    }

    /// Returns true if the texts of this repository are hidden.
    pub(crate) fn is_hidden(&self, repository: &RepositoryKey) -> bool {
        let removed = self.removed.get(repository.host.as_str());
        self.is_emptied || removed.is_some_and(|ids| ids.contains(&repository.id.0))
    }

    /// Returns the name of a repository whose texts may be stored under an older one.
    pub(crate) fn new_name(&self, repository: &RepositoryKey) -> Option<&NamedRepository> {
        self.renamed.get(repository)
    }

    /// Gives a thread the current name and URL of its repository.
    pub(crate) fn rename_thread(&self, row: &mut ThreadRow) {
        if self.has_renames()
            && let Some(name) = self.new_name(&row.repository_key())
        {
            row.repository.clone_from(&name.name);
            row.thread.url = repository_names::thread_url(&name.url, &row.thread.url);
        }
    }

    /// Gives a comment the current name and URL of its repository.
    pub(crate) fn rename_comment(&self, row: &mut CommentRow) {
        if self.has_renames()
            && let Some(name) = self.new_name(&row.repository_key())
        {
            row.repository.clone_from(&name.name);
            row.comment.url = repository_names::thread_url(&name.url, &row.comment.url);
        }
    }
}

/// A chore, and the name of its repository if that is stored.
struct PendingChore {
    kind: Option<ChoreKind>,
    host: String,
    repository_id: i64,
    name: Option<NamedRepository>,
}

impl PendingChore {
    fn read(mut row: SqlRow) -> Result<Self, StoreError> {
        let (kind, host, repository_id) =
            (row.text("kind")?, row.text("host")?, row.int("repository_id")?);
        let (owner, name, url) =
            (row.maybe_text("owner")?, row.maybe_text("name")?, row.maybe_text("url")?);
        let name = owner.zip(name).zip(url);
        let name = name.map(|((owner, name), url)| NamedRepository {
            id: repository_id,
            owner,
            name,
            url,
        });
        let kind = ChoreKind::ALL.into_iter().find(|known| known.name() == kind);
        Ok(Self { kind, host, repository_id, name })
    }
}
