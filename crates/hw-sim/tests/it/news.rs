//! What a pull tells while it works.

use std::sync::{Arc, Mutex};

use hw_sim::{ThreadKind, WorldSpec};
use hw_sync::news::{Herald, News};

use crate::harness::words::OK;
use crate::harness::{Scene, on_virtual_time};

#[test]
fn what_fails_is_told_while_the_others_are_at_work() {
    let heard = Arc::<Mutex<Vec<News>>>::default();
    let mut scene = Scene::new(&two_repositories(), 1);
    scene.largest_page = 5;
    on_virtual_time(async { scene.pull(&OK).await.unwrap() });
    let ears = Arc::clone(&heard);
    scene.herald = Herald::new(move |news| ears.lock().unwrap().push(news));
    forbid_one_and_write_much_in_the_other(&scene);
    let pulled = on_virtual_time(async {
        scene.clock.pass(300_000).await;
        scene.pull(&OK).await.unwrap()
    });
    assert_eq!(pulled.failures.len(), 1, "{:?}", pulled.failures);
    let heard = heard.lock().unwrap();
    let failed = places(&heard, |it| matches!(it, News::Failed { .. }));
    let read = places(&heard, |it| matches!(it, News::Read { .. }));
    assert_eq!(failed.len(), 1, "it is told once");
    assert!(failed[0] < *read.last().unwrap(), "the other repository was still being read");
}

fn places(heard: &[News], is_meant: impl Fn(&News) -> bool) -> Vec<usize> {
    heard.iter().enumerate().filter(|(_, it)| is_meant(it)).map(|(at, _)| at).collect()
}

/// One list of the first repository cannot be read, while the second has many pages to read.
fn forbid_one_and_write_much_in_the_other(scene: &Scene) {
    let (truth, now) = (scene.world(|github| github.world().truth()), scene.now());
    let homes: Vec<i64> = truth.repositories.keys().copied().collect();
    scene.world(|github| {
        github.forbid(homes[0], ThreadKind::Issue);
        for number in 0..400 {
            let title = format!("new {number}");
            github.world_mut().create_issue(homes[1], &title, "much to read", now);
        }
    });
}

fn two_repositories() -> WorldSpec {
    WorldSpec { issues: 30, comments_per_thread: 0, ..WorldSpec::small() }
}
