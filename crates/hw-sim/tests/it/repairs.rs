//! Repair: damaged texts are found by their digests and read again.

use std::path::Path;

use hw_rules::lane::PullItem;
use hw_sim::WorldSpec;
use hw_store::{DamagedItem, DatabaseLocation, StoreReader, StoreWriter};

use crate::harness::shortcuts::USUAL_PULL;
use crate::harness::{
    CheckLevel, SimFixture, TestPull, check_comments, check_mirror, on_virtual_time,
};

const FULL_PULL: TestPull = TestPull { items: &PullItem::ALL, ..USUAL_PULL };
const REPAIR_PULL: TestPull = TestPull { repair: true, ..FULL_PULL };

#[test]
fn repair_reads_every_damaged_text_again_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("acme.db");
    let fixture = open_fixture(&path);
    on_virtual_time(async {
        fixture.pull(&FULL_PULL).await.unwrap();
        fixture.clock.advance_by(600_000).await;
        assert_eq!(damaged_items(&fixture.store), []);
        damage_database(&path);
        let found = damaged_items(&fixture.store).len() as u64;
        assert!(found >= 9, "{found}");
        fixture.pull(&FULL_PULL).await.unwrap();
        assert!(!damaged_items(&fixture.store).is_empty(), "a plain pull does not check digests");
        let pulled = fixture.pull(&REPAIR_PULL).await.unwrap();
        let repair = pulled.repair.unwrap();
        assert!(repair.found >= 9 && repair.waiting == 0, "{repair:?}");
        assert_eq!(damaged_items(&fixture.store), []);
        check_mirror(&fixture, CheckLevel::Everything).unwrap();
        check_comments(&fixture, CheckLevel::Everything).unwrap();
    });
}

/// Flips bits in the file itself, as a failing disk does.
#[test]
fn repair_fixes_flipped_bits_or_reports_that_it_cannot() {
    let (mut repaired, mut unrepairable, mut unharmed) = (0, 0, 0);
    for seed in 1..=24 {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("acme.db");
        let first = open_fixture(&path);
        on_virtual_time(async {
            first.pull(&FULL_PULL).await.unwrap();
            first.clock.advance_by(600_000).await;
            let SimFixture { github, clock, .. } = first;
            let rng = &mut fastrand::Rng::with_seed(seed);
            flip_bits(&path, rng);
            let Ok(store) = StoreWriter::open(&DatabaseLocation::File(path.clone())) else {
                unrepairable += 1;
                return;
            };
            let again =
                SimFixture { github, clock, ..SimFixture::with_store(&world_spec(), 1, store) };
            match again.pull(&REPAIR_PULL).await {
                Ok(pulled) if pulled.repair.unwrap().found == 0 => unharmed += 1,
                Ok(_) => repaired += 1,
                Err(hw_sync::SyncError::Store(error)) => {
                    unrepairable += 1;
                    let is_expected = matches!(
                        error,
                        hw_store::StoreError::BeyondRepair(_)
                            | hw_store::StoreError::Damaged(_)
                            | hw_store::StoreError::UnreadableRow(_)
                            | hw_store::StoreError::Database { .. }
                    );
                    assert!(is_expected, "seed {seed}: {error}");
                    return;
                }
                Err(error) => panic!("seed {seed}: {error}"),
            }
            assert_eq!(damaged_items(&again.store), [], "seed {seed}");
            check_mirror(&again, CheckLevel::Digested)
                .unwrap_or_else(|e| panic!("seed {seed}: {e}"));
            check_comments(&again, CheckLevel::Digested)
                .unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        });
    }
    assert!(repaired > 0, "{repaired} repaired, {unrepairable} unrepairable, {unharmed} unharmed");
}

fn damage_database(path: &Path) {
    let database = rusqlite::Connection::open(path).unwrap();
    database
        .execute_batch(
            "update issues set body = body || '!' where rowid % 7 = 1;
             update issues set title = cast(x'ff' as text) where rowid % 7 = 2;
             update issues set labels = '[' where rowid % 7 = 3;
             update pull_requests set body = '' where rowid = 1;
             update pull_requests set closes = '[99]' where state = 'OPEN';
             update discussions set author = 'nobody' where rowid = 1;
             delete from pull_requests where rowid = 2;
             update issue_comments set body = cast(x'fe' as text) where rowid = 1;
             update discussion_comments set body = 'other' where rowid = 1;
             update reviews set body = 'other' where rowid = 1;
             update review_comments set id = -5 where rowid = 1;
             update repositories set node_id = 'x' where rowid = 1;
             update cells set digest = x'00' where kind = 'issue' and id = (select max(id) from issues);
             delete from search_documents where rowid = (select max(rowid) from search_documents);
             update cells set id = id + 500000 where kind = 'issue_comment'
                and id = (select max(id) from issue_comments);
             update cells set id = id + 500000 where kind = 'pull_request'
                and id = (select max(id) from pull_requests);
             update cells set host = 'elsewhere' where kind = 'discussion'
                and id = (select max(id) from discussions);
             update cells set search_rowid = search_rowid + 7 where kind = 'review'
                and id = (select max(id) from reviews);
             update lanes set coverage = '{' || coverage
              where id = (select max(id) from lanes where surface = 'discussions');",
        )
        .unwrap();
}

fn flip_bits(path: &Path, rng: &mut fastrand::Rng) {
    let database = rusqlite::Connection::open(path).unwrap();
    database.execute_batch("pragma wal_checkpoint(truncate)").unwrap();
    drop(database);
    let mut bytes = std::fs::read(path).unwrap();
    // the first page holds the schema: without it the file is not a database
    for _ in 0..3 {
        let at = rng.usize(4_096..bytes.len());
        bytes[at] ^= 1 << rng.u8(0..8);
    }
    std::fs::write(path, bytes).unwrap();
}

fn damaged_items(store: &StoreReader) -> Vec<DamagedItem> {
    let (mut damaged, mut next) = (Vec::new(), None);
    loop {
        let page = store.verify_page(next.as_ref()).unwrap();
        damaged.extend(page.damaged);
        match page.next {
            Some(cursor) => next = Some(cursor),
            None => return damaged,
        }
    }
}

fn world_spec() -> WorldSpec {
    WorldSpec { repositories: 3, issues: 60, ..WorldSpec::small() }
}

fn open_fixture(path: &Path) -> SimFixture {
    SimFixture::with_store(
        &world_spec(),
        1,
        StoreWriter::open(&DatabaseLocation::File(path.to_owned())).unwrap(),
    )
}
