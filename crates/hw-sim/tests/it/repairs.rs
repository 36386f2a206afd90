//! Stored texts that were damaged, found by their digests, and read again.

use std::path::Path;

use hw_rules::lane::Choice;
use hw_sim::WorldSpec;
use hw_store::{DamagedItem, Place, Store};

use crate::harness::words::OK;
use crate::harness::{Judge, Puller, Scene, check_comments, check_mirror, on_virtual_time};

const ALL: Puller = Puller { items: &Choice::ALL, ..OK };
const REPAIR: Puller = Puller { repair: true, ..ALL };

#[test]
fn repair_reads_every_damaged_text_again_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("acme.db");
    let scene = scene(&path);
    on_virtual_time(async {
        scene.pull(&ALL).await.unwrap();
        scene.clock.pass(600_000).await;
        assert_eq!(damaged(&scene.store), []);
        damage(&path);
        let found = damaged(&scene.store).len() as u64;
        assert!(found >= 9, "{found}");
        scene.pull(&ALL).await.unwrap();
        assert!(!damaged(&scene.store).is_empty(), "a plain pull does not look");
        let done = scene.pull(&REPAIR).await.unwrap();
        let repair = done.repair.unwrap();
        assert!(repair.found >= 9 && repair.waiting == 0, "{repair:?}");
        assert_eq!(damaged(&scene.store), []);
        check_mirror(&scene, Judge::Everything).unwrap();
        check_comments(&scene, Judge::Everything).unwrap();
    });
}

/// Flips a bit here and there in the file itself, as a dying disk does.
#[test]
fn repair_mends_flipped_bits_or_says_that_it_cannot() {
    let (mut mended, mut hopeless, mut unharmed) = (0, 0, 0);
    for seed in 1..=24 {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("acme.db");
        let first = scene(&path);
        on_virtual_time(async {
            first.pull(&ALL).await.unwrap();
            first.clock.pass(600_000).await;
            let Scene { github, clock, .. } = first;
            let dice = &mut fastrand::Rng::with_seed(seed);
            flip(&path, dice);
            let Ok(store) = Store::open(&Place::File(path.clone())) else {
                hopeless += 1;
                return;
            };
            let again = Scene { github, clock, ..Scene::with_store(&spec(), 1, store) };
            match again.pull(&REPAIR).await {
                Ok(done) if done.repair.unwrap().found == 0 => unharmed += 1,
                Ok(_) => mended += 1,
                Err(hw_sync::Error::Store(error)) => {
                    hopeless += 1;
                    let is_told = matches!(
                        error,
                        hw_store::Error::BeyondRepair(_)
                            | hw_store::Error::Damaged(_)
                            | hw_store::Error::UnreadableRow(_)
                            | hw_store::Error::Database { .. }
                    );
                    assert!(is_told, "seed {seed}: {error}");
                    return;
                }
                Err(error) => panic!("seed {seed}: {error}"),
            }
            assert_eq!(damaged(&again.store), [], "seed {seed}");
            check_mirror(&again, Judge::Everything).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
            check_comments(&again, Judge::Everything)
                .unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        });
    }
    assert!(mended > 0, "{mended} mended, {hopeless} hopeless, {unharmed} unharmed");
}

fn damage(path: &Path) {
    let database = rusqlite::Connection::open(path).unwrap();
    database
        .execute_batch(
            "update issues set body = body || '!' where rowid % 7 = 1;
             update issues set title = cast(x'ff' as text) where rowid % 7 = 2;
             update issues set labels = '[' where rowid % 7 = 3;
             update pull_requests set body = '' where rowid = 1;
             update discussions set author = 'nobody' where rowid = 1;
             delete from pull_requests where rowid = 2;
             update issue_comments set body = cast(x'fe' as text) where rowid = 1;
             update discussion_comments set body = 'other' where rowid = 1;
             update reviews set body = 'other' where rowid = 1;
             update review_comments set id = -5 where rowid = 1;
             update repositories set node_id = 'x' where rowid = 1;
             update cells set digest = x'00' where kind = 'issue' and id = (select max(id) from issues);
             delete from search_places where rowid = (select max(rowid) from search_places);
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

fn flip(path: &Path, dice: &mut fastrand::Rng) {
    let database = rusqlite::Connection::open(path).unwrap();
    database.execute_batch("pragma wal_checkpoint(truncate)").unwrap();
    drop(database);
    let mut bytes = std::fs::read(path).unwrap();
    // the first page is the schema: without it there is no database
    for _ in 0..3 {
        let at = dice.usize(4_096..bytes.len());
        bytes[at] ^= 1 << dice.u8(0..8);
    }
    std::fs::write(path, bytes).unwrap();
}

fn damaged(store: &Store) -> Vec<DamagedItem> {
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

fn spec() -> WorldSpec {
    WorldSpec { repositories: 3, issues: 60, ..WorldSpec::small() }
}

fn scene(path: &Path) -> Scene {
    Scene::with_store(&spec(), 1, Store::open(&Place::File(path.to_owned())).unwrap())
}
