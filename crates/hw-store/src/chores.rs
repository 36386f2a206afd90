//! Work on many rows: decided in one short transaction, done in small ones.
//!
//! A rename, the removal of a repository, a cleared lane, a new format of the search index or of the mirror concern up
//! to millions of rows. In one transaction they would keep every other writer waiting, and an interruption would lose
//! all of it. So the deciding transaction only records a chore. The next holder of the lease does it chunk by chunk; each
//! chunk commits together with the chore's position. All chores are done before a pull reads anything that they are
//! about.

mod empty_mirror;
mod queue;

use hw_rules::item::{ObjectId, ObjectKind};
use hw_rules::repository_key::RepositoryKey;
use hw_rules::version::ObservedAt;

use crate::error::StoreError;
use crate::mirror::repository_names::{self, NamedRepository};
use crate::mirror::tombstones::{self, RemovedRepository};
use crate::removed_items::{RemovalCause, RemovalReason};
use crate::search::reindex;
use crate::sql::{Sql, params};
use crate::transaction::{Transaction, TransactionStep, step};
use crate::{LeasedStore, StoreReader};
use crate::{lanes, removals};

/// The rows that change with one text: the text, its cell, two rows of the search index, and a removed item.
const ROWS_PER_TEXT: i64 = 5;

const CHORE: TransactionStep = step!("chore");

/// A kind of chore.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ChoreKind {
    /// Moves the texts of a repository to its current name.
    RenameTexts,
    /// Removes the texts of a removed repository.
    RemoveTexts,
    /// Removes the items of a lane that is downloaded again.
    ClearLane,
    /// Rebuilds all search rows from the stored texts.
    RebuildIndex,
    /// Removes everything that can be fetched again.
    EmptyMirror,
}

impl ChoreKind {
    pub(crate) const ALL: [Self; 5] = [
        Self::RenameTexts,
        Self::RemoveTexts,
        Self::ClearLane,
        Self::RebuildIndex,
        Self::EmptyMirror,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::RenameTexts => "rename_texts",
            Self::RemoveTexts => "remove_texts",
            Self::ClearLane => "clear_lane",
            Self::RebuildIndex => "rebuild_index",
            Self::EmptyMirror => "empty_mirror",
        }
    }
}

/// The outcome of one chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChoreChunk {
    /// There was nothing to do.
    NothingLeft,
    /// A chunk is done, and there may be more.
    Done,
}

/// A chore, as far as it is done.
struct Chore {
    id: i64,
    kind: ChoreKind,
    host: String,
    repository_id: i64,
    lane_id: i64,
    /// The request that showed a removal.
    observed_at: Option<ObservedAt>,
    reason: Option<RemovalReason>,
    position: ChorePosition,
}

/// Everything up to this row of this stage is done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ChorePosition {
    stage: usize,
    pub(crate) after: TextPosition,
}

/// A position in a table of texts, by host and id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TextPosition {
    pub(crate) host: String,
    pub(crate) id: i64,
}

impl ChorePosition {
    /// Creates the position before the first row of a stage.
    fn at_stage(stage: usize) -> Self {
        Self { stage, after: TextPosition { host: String::new(), id: i64::MIN } }
    }
}

/// The texts that a chunk worked on.
pub(crate) struct TextBatch {
    pub(crate) texts: usize,
    /// The last of them, if there may be more.
    pub(crate) last: Option<TextPosition>,
}

impl TextBatch {
    /// Creates the batch of these texts of one host, of which at most `limit` were requested.
    pub(crate) fn from_ids(host: &str, ids: &[i64], limit: i64) -> Self {
        let is_full = i64::try_from(ids.len()).is_ok_and(|count| count >= limit);
        let last = ids.last().filter(|_| is_full);
        let last = last.map(|id| TextPosition { host: host.to_owned(), id: *id });
        Self { texts: ids.len(), last }
    }
}

impl StoreReader {
    /// Returns the number of chores that are not done.
    pub fn count_chores(&self) -> Result<u64, StoreError> {
        const COUNT: Sql = Sql::portable("select count(*) as matching from chores");
        self.read("chores", |tx| tx.query_count(COUNT, &[]))
    }
}

impl LeasedStore {
    /// Does the next chunk of the oldest chore: at most this many rows, in one transaction.
    pub fn run_chore(&self, max_rows: u32) -> Result<ChoreChunk, StoreError> {
        if self.count_chores()? == 0 {
            return Ok(ChoreChunk::NothingLeft);
        }
        self.write_with_lease(CHORE, |tx| {
            tx.lift_time_limit()?;
            let Some(chore) = queue::read_oldest(tx)? else { return Ok(ChoreChunk::NothingLeft) };
            run_chunk(tx, &chore, i64::from(max_rows))?;
            Ok(ChoreChunk::Done)
        })
    }
}

/// Records that the texts of a repository belong under its current name.
pub(crate) fn request_rename(
    tx: &mut Transaction<'_>,
    repository: &RepositoryKey,
) -> Result<(), StoreError> {
    let params = params![ChoreKind::RenameTexts.name(), &repository.host, repository.id, 0];
    queue::insert(tx, &params)
}

/// Records that the texts of a removed repository are to be removed, too.
pub(crate) fn request_removal(
    tx: &mut Transaction<'_>,
    repository: &RepositoryKey,
    observed_at: ObservedAt,
    reason: RemovalReason,
) -> Result<(), StoreError> {
    const EVIDENCE: Sql = Sql::portable(
        "update chores set observed_at_ms = $1, observed_request = $2, reason = $3
          where kind = $4 and host = $5 and repository_id = $6",
    );
    let kind = ChoreKind::RemoveTexts.name();
    let RepositoryKey { host, id } = repository;
    queue::insert(tx, &params![kind, host, *id, 0])?;
    let ObservedAt { at_ms, request, .. } = observed_at;
    let params = params![at_ms, request, reason.name(), kind, host, *id];
    tx.execute(EVIDENCE, &params).map(drop)
}

/// Records that the items of a lane are downloaded again.
pub(crate) fn request_clearing(
    tx: &mut Transaction<'_>,
    host: &str,
    lane_id: i64,
) -> Result<(), StoreError> {
    queue::insert(tx, &params![ChoreKind::ClearLane.name(), host, 0, lane_id])
}

/// Records that all search rows have to be rebuilt.
pub(crate) fn request_index(tx: &mut Transaction<'_>) -> Result<(), StoreError> {
    queue::insert(tx, &params![ChoreKind::RebuildIndex.name(), "", 0, 0])
}

/// Records that the mirror has to be fetched again. Posts stay, because their sources keep only the newest within reach;
/// their search rows are emptied with all others, and built again.
pub(crate) fn request_empty_mirror(tx: &mut Transaction<'_>) -> Result<(), StoreError> {
    const HAS_POSTS: Sql = Sql::portable("select 1 as found from posts limit 1");
    queue::insert(tx, &params![ChoreKind::EmptyMirror.name(), "", 0, 0])?;
    if tx.query_first(HAS_POSTS, &[], |mut row| row.int("found"))?.is_some() {
        request_index(tx)?;
    }
    Ok(())
}

/// Works through the stages of a chore until it is done or has changed `max_rows` rows.
fn run_chunk(tx: &mut Transaction<'_>, chore: &Chore, max_rows: i64) -> Result<(), StoreError> {
    let Some(job) = ChoreJob::load(tx, chore)? else { return queue::remove(tx, chore.id) };
    let mut position = chore.position.clone();
    let mut texts_left = (max_rows / job.rows_per_text()).max(1);
    while texts_left > 0 {
        let batch = job.run_stage(tx, &position, texts_left)?;
        texts_left -= i64::try_from(batch.texts).unwrap_or(texts_left);
        position = match batch.last {
            Some(after) => ChorePosition { after, ..position },
            None if position.stage + 1 < job.stage_count() => {
                ChorePosition::at_stage(position.stage + 1)
            }
            None => return queue::remove(tx, chore.id),
        };
    }
    queue::store_position(tx, chore.id, &position)
}

/// A chore with everything that its chunks need.
enum ChoreJob<'a> {
    RenameTexts { host: &'a str, name: NamedRepository },
    RemoveTexts(RemovedRepository),
    ClearLane { lane_id: i64, host: &'a str, kind: ObjectKind },
    RebuildIndex,
    EmptyMirror,
}

impl<'a> ChoreJob<'a> {
    /// Returns `None` if there is nothing left that the chore is about.
    fn load(tx: &mut Transaction<'_>, chore: &'a Chore) -> Result<Option<Self>, StoreError> {
        let Chore { host, repository_id, lane_id, .. } = chore;
        Ok(match chore.kind {
            ChoreKind::RenameTexts => {
                let mut names =
                    repository_names::read_repository_names(tx, host, &[*repository_id])?;
                names.remove(repository_id).map(|name| Self::RenameTexts { host, name })
            }
            ChoreKind::RemoveTexts => {
                let evidence = chore.observed_at.zip(chore.reason);
                evidence.map(|(observed_at, reason)| {
                    let root = ObjectId { kind: ObjectKind::Repository, id: *repository_id };
                    let cause = RemovalCause::new(reason).with_root(root);
                    let key = RepositoryKey::new(host, root.id);
                    Self::RemoveTexts(RemovedRepository { key, observed_at, cause })
                })
            }
            ChoreKind::ClearLane => {
                let kind = lanes::find_lane_kind(tx, *lane_id)?;
                kind.map(|kind| Self::ClearLane { lane_id: *lane_id, host, kind })
            }
            ChoreKind::RebuildIndex => Some(Self::RebuildIndex),
            ChoreKind::EmptyMirror => Some(Self::EmptyMirror),
        })
    }

    fn rows_per_text(&self) -> i64 {
        match self {
            Self::EmptyMirror => 1,
            Self::RenameTexts { .. }
            | Self::RemoveTexts(_)
            | Self::ClearLane { .. }
            | Self::RebuildIndex => ROWS_PER_TEXT,
        }
    }

    fn stage_count(&self) -> usize {
        match self {
            Self::RenameTexts { .. } | Self::RemoveTexts(_) => ObjectKind::REPOSITORY_TEXTS.len(),
            Self::RebuildIndex => ObjectKind::INDEXED.len(),
            Self::ClearLane { .. } => 1,
            Self::EmptyMirror => empty_mirror::TABLES.len(),
        }
    }

    fn run_stage(
        &self,
        tx: &mut Transaction<'_>,
        ChorePosition { stage, after }: &ChorePosition,
        limit: i64,
    ) -> Result<TextBatch, StoreError> {
        // a position from another version may be beyond the last stage
        let nothing = TextBatch { texts: 0, last: None };
        let texts = ObjectKind::REPOSITORY_TEXTS;
        match self {
            Self::RenameTexts { host, name } => texts.get(*stage).map_or(Ok(nothing), |kind| {
                repository_names::rename_texts(tx, host, name, *kind, after.id, limit)
            }),
            // comments first: a thread takes all of its comments with it
            Self::RemoveTexts(repository) => {
                texts.iter().rev().nth(*stage).map_or(Ok(nothing), |kind| {
                    tombstones::tombstone_repository_texts(tx, repository, *kind, after.id, limit)
                })
            }
            Self::RebuildIndex => ObjectKind::INDEXED
                .get(*stage)
                .map_or(Ok(nothing), |kind| reindex::reindex_texts(tx, *kind, after, limit)),
            Self::ClearLane { lane_id, host, kind } => {
                removals::clear_items(tx, *lane_id, host, *kind, after.id, limit)
            }
            Self::EmptyMirror => empty_mirror::empty_table(tx, *stage, limit),
        }
    }
}
