//! Stories of changes: whichever way they come, everything derived from them sees the changes of the world, all of them
//! and no others.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use fastrand::Rng;
use hw_rules::item::{CommentKind, ItemObservation, MirrorItem, ObjectId, ObjectKind, ThreadKind};
use hw_rules::repository_key::RepositoryKey;
use hw_store::{
    ChoreChunk, DatabaseLocation, ItemChange, ItemChangeKind, LeasedStore, RemovedQuery,
    StoreWriter, SweepPage,
};

use crate::fixture::{
    FileDatabase, HOST, PUMP_ID, SchemaDatabase, comment, count_search_rows, execute_raw,
    lane_for_kind, observed_at, open_store, organization_lane, pull_duty, pump_repository,
    query_raw, repositories_page, search_hits, thread_in_repository, threads_page,
};

mod mirrored_world;

use mirrored_world::{LossKind, MirroredWorld};

mod sqlite {
    #[test]
    fn changes_of_the_world_reach_everything_derived_from_them() {
        let kinds =
            (0..12).map(|seed| super::check_story(&super::FileDatabase::new().location, seed));
        super::assert_all_kinds(kinds);
    }
}

mod postgres {
    #[test]
    fn changes_of_the_world_reach_everything_derived_from_them() {
        let kinds =
            (0..3).map(|seed| super::check_story(&super::SchemaDatabase::new().location, seed));
        super::assert_all_kinds(kinds);
    }
}

const STEPS: usize = 40;
const NAMES: [&str; 3] = ["pump", "valve", "nozzle"];
const REPOSITORY: ObjectId = ObjectId { kind: ObjectKind::Repository, id: PUMP_ID };

/// Runs the story of a seed, and returns the kinds of the changes in it.
fn check_story(location: &DatabaseLocation, seed: u64) -> BTreeSet<ItemChangeKind> {
    let mut story = Story::begin(location, seed);
    let mut kinds = BTreeSet::new();
    for number in 0..STEPS {
        let before = story.world.clone();
        let step = story.take_step();
        let context = format!("seed {seed}, step {number}: {step:?}");
        let changes = before.changes_to(&story.world, step.loss());
        story.check_observer(&changes, &context);
        story.check_search_rows(&before, &changes, &context);
        story.check_removed_items(&context);
        kinds.extend(changes.iter().map(|change| change.kind));
    }
    kinds
}

fn assert_all_kinds(kinds: impl Iterator<Item = BTreeSet<ItemChangeKind>>) {
    let kinds: BTreeSet<_> = kinds.flatten().collect();
    assert_eq!(kinds.len(), 7, "{kinds:?}");
}

/// A way in which changes come.
#[derive(Debug, Clone, Copy)]
enum StoryStep {
    IngestThreads,
    IngestComments,
    ListRepository,
    RemoveThreads,
    RemoveComments,
    RemoveRepository,
    Restore,
    ClearLane,
    ForgetRepository,
    ChangeFormat,
}

impl StoryStep {
    fn choose(rng: &mut Rng, world: &MirroredWorld) -> Self {
        if world.items.contains_key(&REPOSITORY) {
            match rng.u8(0..30) {
                0..8 => Self::IngestThreads,
                8..15 => Self::IngestComments,
                15..18 => Self::ListRepository,
                18..21 => Self::RemoveThreads,
                21..23 => Self::RemoveComments,
                23 => Self::RemoveRepository,
                24..27 => Self::Restore,
                27 => Self::ClearLane,
                28 => Self::ForgetRepository,
                _ => Self::ChangeFormat,
            }
        } else if rng.bool() {
            Self::Restore
        } else {
            Self::ListRepository
        }
    }

    /// Returns what it means if an item is no longer there after this step.
    fn loss(self) -> LossKind {
        match self {
            Self::RemoveThreads | Self::RemoveComments | Self::RemoveRepository => {
                LossKind::Removed
            }
            Self::ClearLane | Self::ForgetRepository | Self::ChangeFormat => LossKind::Cleared,
            Self::Restore => LossKind::Restored,
            Self::IngestThreads | Self::IngestComments | Self::ListRepository => LossKind::None,
        }
    }
}

/// A store, the world that it mirrors, and the changes that its observer has seen.
struct Story {
    location: DatabaseLocation,
    store: LeasedStore,
    seen: Arc<Mutex<Vec<ItemChange>>>,
    world: MirroredWorld,
    rng: Rng,
    second: i64,
    words: u32,
}

impl Story {
    fn begin(location: &DatabaseLocation, seed: u64) -> Self {
        let store = open_store(location);
        let seen = Arc::default();
        let mut world = MirroredWorld::default();
        world.show(pump_repository("pump", 0).item);
        Self {
            location: location.clone(),
            store: with_recorder(&store, &seen),
            seen,
            world,
            rng: Rng::with_seed(seed),
            second: 100,
            words: 0,
        }
    }

    fn take_step(&mut self) -> StoryStep {
        self.second += 100;
        let step = StoryStep::choose(&mut self.rng, &self.world);
        match step {
            StoryStep::IngestThreads => self.ingest_threads(),
            StoryStep::IngestComments => self.ingest_comments(),
            StoryStep::ListRepository => self.list_repository(),
            StoryStep::RemoveThreads => {
                let kind = self.choose(&ThreadKind::ALL);
                self.remove_items(kind.into());
            }
            StoryStep::RemoveComments => {
                let kind = self.choose(&CommentKind::ALL);
                self.remove_items(kind.into());
            }
            StoryStep::RemoveRepository => self.remove_repository(),
            StoryStep::Restore => self.restore_item(),
            StoryStep::ClearLane => {
                let kind = self.choose(&ObjectKind::REPOSITORY_TEXTS);
                self.clear_lane(kind);
            }
            StoryStep::ForgetRepository => self.forget_repository(),
            StoryStep::ChangeFormat => self.change_format(),
        }
        self.finish_chores();
        step
    }

    fn choose<T: Copy>(&mut self, choices: &[T]) -> T {
        *self.rng.choice(choices).unwrap()
    }

    /// Returns a word that no other text contains.
    fn next_word(&mut self) -> String {
        self.words += 1;
        format!("w{}x", self.words)
    }

    fn ingest_threads(&mut self) {
        let kind = self.choose(&ThreadKind::ALL);
        let first = match kind {
            ThreadKind::Issue => 1,
            ThreadKind::PullRequest => 11,
            ThreadKind::Discussion => 21,
        };
        let mut page = Vec::new();
        for id in first..first + 3 {
            // a page may have been read before the repository was renamed
            let (name, word) = (self.choose(&NAMES), self.next_word());
            let new = thread_in_repository(kind, PUMP_ID, name, id, self.second, &word);
            page.extend(self.observe(new));
        }
        self.ingest(kind.into(), page);
    }

    fn ingest_comments(&mut self) {
        let kind = self.choose(&CommentKind::ALL);
        let threads =
            self.world.items.keys().filter_map(|key| Some((key.kind.as_thread()?, key.id)));
        let threads = threads.filter(|(thread, _)| thread.comment_kinds().contains(&kind));
        let mut page = Vec::new();
        for (_, thread) in threads.collect::<Vec<_>>() {
            for id in thread * 10..thread * 10 + 2 {
                let word = self.next_word();
                page.extend(self.observe(comment(kind, id, thread, self.second, &word)));
            }
        }
        self.ingest(kind.into(), page);
    }

    /// Returns the observation of an item: with a new text, with the stored one, or none.
    fn observe(&mut self, new: ItemObservation) -> Option<ItemObservation> {
        let stored = self.world.items.get(&new.key()).cloned();
        match (self.rng.u8(0..5), stored) {
            (0, _) => None,
            (1, Some(stored)) => Some(ItemObservation { item: stored, ..new }),
            (2, Some(stored)) => {
                let item = with_update_time(stored, &new.item);
                Some(ItemObservation { item, ..new })
            }
            (3, Some(_)) => {
                // a replica that lags behind the stored text
                let item = with_update_time(new.item, &pump_repository("pump", 1).item);
                Some(ItemObservation { item, observed_at: new.observed_at })
            }
            _ => Some(new),
        }
    }

    fn ingest(&mut self, kind: ObjectKind, page: Vec<ItemObservation>) {
        for observation in &page {
            self.world.show(observation.item.clone());
        }
        let page = threads_page(kind, page);
        if self.rng.bool() {
            let prepared = self.store.page_preparer().prepare_page(page);
            self.store.ingest_prepared(&[prepared]).unwrap();
        } else {
            self.store.ingest_page(&page).unwrap();
        }
    }

    fn list_repository(&mut self) {
        let name = self.choose(&NAMES);
        let repository = pump_repository(name, self.second);
        self.world.show(repository.item.clone());
        self.store.ingest_page(&repositories_page(vec![repository])).unwrap();
    }

    /// Removes some items of a kind as a sweep does.
    fn remove_items(&mut self, kind: ObjectKind) {
        let lane = lane_for_kind(kind);
        let keys: Vec<ObjectId> =
            self.world.items.keys().filter(|key| key.kind == kind).copied().collect();
        let gone: Vec<ObjectId> = keys.into_iter().filter(|_| self.rng.bool()).collect();
        for key in &gone {
            self.world.remove(*key, *key);
        }
        let began_at = observed_at(self.second);
        let page = SweepPage { began_at, rows: vec![], next: None, complete: true };
        self.store.stage_sweep_page(&lane, &page).unwrap();
        let gone: Vec<_> = gone.iter().map(|key| (key.id, began_at)).collect();
        self.store.finish_sweep(&lane, &gone, true).unwrap();
    }

    fn remove_repository(&mut self) {
        self.world.remove(REPOSITORY, REPOSITORY);
        let gone = [(PUMP_ID, observed_at(self.second))];
        self.store.remove_repositories(&organization_lane(), &gone, true).unwrap();
    }

    fn restore_item(&mut self) {
        let keys: Vec<ObjectId> = self.world.removed.keys().copied().collect();
        let Some(key) = self.rng.choice(&keys).copied() else { return };
        self.world.restore(key);
        let found = self.store.find_removed_items(&RemovedQuery::Id(key.id)).unwrap();
        let item = found.into_iter().find(|item| item.key == key.at_host(HOST)).unwrap();
        self.store.restore_removed(&item, &|| Ok(())).unwrap();
    }

    fn clear_lane(&mut self, kind: ObjectKind) {
        self.world.forget(|key| key.kind == kind);
        self.store.clear_lane(&lane_for_kind(kind)).unwrap();
    }

    /// Stops following the repository.
    fn forget_repository(&mut self) {
        ObjectKind::REPOSITORY_TEXTS.into_iter().for_each(|kind| self.clear_lane(kind));
        self.finish_chores();
        self.world.forget(|_| true);
        self.world.removed.clear();
        self.store.forget_repository(&RepositoryKey::new(HOST, PUMP_ID)).unwrap();
    }

    /// Opens the database with a version that fetches the mirror in another format.
    fn change_format(&mut self) {
        self.world.forget(|_| true);
        execute_raw(&self.location, "update schema_version set guid = 'another'");
        let newer = StoreWriter::open(&self.location).unwrap();
        let now_ms = self.second * 1_000_000;
        let newer = newer.claim_duty(&pull_duty(), "me", now_ms).unwrap().unwrap();
        self.store = with_recorder(&newer, &self.seen);
    }

    /// Runs all chores in chunks of any size.
    fn finish_chores(&mut self) {
        for _ in 0..10_000 {
            if self.store.run_chore(self.rng.u32(1..100)).unwrap() == ChoreChunk::NothingLeft {
                return;
            }
        }
        panic!("a chore does not end");
    }

    fn check_observer(&self, expected: &[ItemChange], context: &str) {
        let mut seen = std::mem::take(&mut *self.seen.lock().unwrap());
        seen.sort_unstable_by(|a, b| a.key.cmp(&b.key));
        assert_eq!(seen, expected, "{context}");
    }

    fn check_search_rows(&self, before: &MirroredWorld, changes: &[ItemChange], context: &str) {
        const ROWS: &str = "select kind, cast(id as text) from cells
             where search_rowid in (select rowid from search)
               and search_rowid in (select rowid from search_documents)";
        let texts = self.world.items.keys().filter(|key| key.kind != ObjectKind::Repository);
        let texts: BTreeSet<_> =
            texts.map(|key| vec![key.kind.name().to_owned(), key.id.to_string()]).collect();
        assert_eq!(BTreeSet::from_iter(query_raw(&self.location, ROWS)), texts, "{context}");
        assert_eq!(count_search_rows(&self.location), texts.len() as i64, "{context}");
        for change in changes {
            let old = before.items.get(&change.key.object_id()).and_then(text_word);
            let new = self.world.items.get(&change.key.object_id()).and_then(text_word);
            if let Some(word) = old.filter(|old| Some(old) != new.as_ref()) {
                assert_eq!(self.search(&word), [0_i64; 0], "{context}: {change:?}");
            }
            let Some(number) = self.world.shown_thread(change.key.object_id()) else { continue };
            if let Some((word, name)) = new.zip(self.world.repository_name()) {
                let query = format!("{word} repo:{name}");
                assert_eq!(self.search(&query), [number], "{context}: {change:?}");
            }
        }
    }

    /// Returns the numbers of the threads that a search finds.
    fn search(&self, query: &str) -> Vec<i64> {
        search_hits(&self.store, query, 10).into_iter().map(|hit| hit.number).collect()
    }

    fn check_removed_items(&self, context: &str) {
        const ROWS: &str =
            "select kind, cast(id as text), root_kind, cast(root_id as text), item_json
             from removed_items";
        let stored: Vec<_> = query_raw(&self.location, ROWS)
            .into_iter()
            .map(|row| {
                let item: MirrorItem = serde_json::from_str(&row[4]).unwrap();
                (format!("{} {}", row[0], row[1]), format!("{} {}", row[2], row[3]), item)
            })
            .collect();
        for (key, root, item) in &stored {
            let expected = self.world.removed.iter().find(|(known, _)| known.to_string() == *key);
            let expected = expected.map(|(_, text)| (text.root.to_string(), &text.item));
            assert_eq!(Some((root.clone(), item)), expected, "{context}: {key}");
        }
        assert_eq!(stored.len(), self.world.removed.len(), "{context}");
    }
}

/// Returns the store with an observer that records each change.
fn with_recorder(store: &LeasedStore, seen: &Arc<Mutex<Vec<ItemChange>>>) -> LeasedStore {
    let seen = Arc::clone(seen);
    let writer = store.writer().with_change_observer(Arc::new(move |changes| {
        seen.lock().unwrap().extend_from_slice(changes);
    }));
    writer.with_lease(store.lease().clone())
}

/// Returns the word of an item that no other text contains.
fn text_word(item: &MirrorItem) -> Option<String> {
    let body = match item {
        MirrorItem::Repository(_) => return None,
        MirrorItem::Thread(thread) => &thread.body,
        MirrorItem::Comment(comment) => &comment.body,
        MirrorItem::Post(post) => &post.text,
    };
    body.split(' ').next_back().map(str::to_owned)
}

/// Returns an item with the time at which another one was updated.
fn with_update_time(mut item: MirrorItem, like: &MirrorItem) -> MirrorItem {
    let time = match &mut item {
        MirrorItem::Repository(repository) => &mut repository.updated_at,
        MirrorItem::Thread(thread) => &mut thread.updated_at,
        MirrorItem::Comment(comment) => &mut comment.updated_at,
        MirrorItem::Post(post) => &mut post.sort_at,
    };
    *time = like.updated_at().clone();
    item
}
