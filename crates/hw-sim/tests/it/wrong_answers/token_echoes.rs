//! Answers that echo the token of their request.

use hw_sim::{TokenEcho, WorldSpec};

use super::HOUR_MS;
use crate::harness::shortcuts::FULL_PULL;
use crate::harness::{
    CheckLevel, SimFixture, TOKEN, check_comments, check_mirror, on_virtual_time,
};

#[test]
fn echoed_token_is_masked_before_anything_is_stored() {
    for echo in TokenEcho::ALL {
        let mut masked = 0;
        for truthful in 0..8 {
            let fixture = SimFixture::new(&WorldSpec::small(), 1);
            on_virtual_time(async {
                let echoes = [vec![None; truthful], vec![Some(echo); 400]].concat();
                fixture.with_github(|github| github.echo_authorization(&echoes));
                let pulled = format!("{:?}", fixture.pull(&FULL_PULL).await);
                assert!(fixture.with_github(|github| github.wrong_answers_served()) > 0);
                let stored = stored_texts(&fixture);
                assert!(!stored.contains(TOKEN), "{echo:?} after {truthful}: {stored}");
                assert!(!pulled.contains(TOKEN), "{echo:?} after {truthful}: {pulled}");
                masked += stored.matches("Bearer [masked]").count();
                masked += stored.matches("Bearer=[masked]").count();
                fixture.with_github(|github| github.echo_authorization(&[]));
                fixture.clock.advance_by(HOUR_MS).await;
                assert_eq!(fixture.pull(&FULL_PULL).await.unwrap().failures, []);
                check_mirror(&fixture, CheckLevel::Everything).unwrap();
                check_comments(&fixture, CheckLevel::Everything).unwrap();
            });
        }
        assert!(masked > 0, "{echo:?}: no masked text was stored");
    }
}

/// Returns every stored text that people did not write.
pub(crate) fn stored_texts(fixture: &SimFixture) -> String {
    let lanes = fixture.store.lanes().unwrap();
    let pulls = fixture.store.failed_pulls().unwrap();
    let quarantined = fixture.store.quarantined_items().unwrap();
    format!("{lanes:?} {pulls:?} {quarantined:?}")
}
