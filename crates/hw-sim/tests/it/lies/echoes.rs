//! Answers that quote the token of their request.

use hw_sim::{Echo, WorldSpec};

use super::HOUR_MS;
use crate::harness::words::ALL;
use crate::harness::{Judge, Scene, TOKEN, check_comments, check_mirror, on_virtual_time};

#[test]
fn echoed_token_is_masked_before_anything_is_stored() {
    for echo in Echo::ALL {
        let mut masked = 0;
        for truthful in 0..8 {
            let scene = Scene::new(&WorldSpec::small(), 1);
            on_virtual_time(async {
                let echoes = [vec![None; truthful], vec![Some(echo); 400]].concat();
                scene.world(|github| github.echo_authorization(&echoes));
                let pulled = format!("{:?}", scene.pull(&ALL).await);
                assert!(scene.world(|github| github.lies_told()) > 0);
                let stored = stored_texts(&scene);
                assert!(!stored.contains(TOKEN), "{echo:?} after {truthful}: {stored}");
                assert!(!pulled.contains(TOKEN), "{echo:?} after {truthful}: {pulled}");
                masked += stored.matches("Bearer [masked]").count();
                masked += stored.matches("Bearer=[masked]").count();
                scene.world(|github| github.echo_authorization(&[]));
                scene.clock.pass(HOUR_MS).await;
                assert_eq!(scene.pull(&ALL).await.unwrap().failures, []);
                check_mirror(&scene, Judge::Everything).unwrap();
                check_comments(&scene, Judge::Everything).unwrap();
            });
        }
        assert!(masked > 0, "{echo:?}: nothing that was masked was stored");
    }
}

/// Every text that is stored and does not come from people.
pub(crate) fn stored_texts(scene: &Scene) -> String {
    let lanes = scene.store.lanes().unwrap();
    let pulls = scene.store.failed_pulls().unwrap();
    let quarantined = scene.store.quarantined().unwrap();
    format!("{lanes:?} {pulls:?} {quarantined:?}")
}
