//! Creates a world from its spec: accounts, follows and the history before the first request.

use std::collections::HashMap;

use super::post_generator::PostGenerator;
use super::{BlueskyWorld, RecordRef};
use crate::bluesky::spec::BlueskySpec;

const HOUR_MS: i64 = 3_600_000;

/// A post to be seeded; ordered by its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct PlannedPost {
    at_ms: i64,
    author: usize,
}

impl BlueskyWorld {
    /// Creates a world from its spec, the same for the same seed.
    pub(in crate::bluesky) fn from_spec(spec: &BlueskySpec, seed: u64) -> Self {
        let mut world = Self {
            accounts: Vec::new(),
            posts: Vec::new(),
            reposts: Vec::new(),
            accounts_by_did: HashMap::new(),
            accounts_by_handle: HashMap::new(),
            posts_by_uri: HashMap::new(),
            reposts_by_uri: HashMap::new(),
            rng: fastrand::Rng::with_seed(seed),
            generator: PostGenerator::new(spec.hostile_text),
            activity: spec.activity.clone(),
            next_action_ms: spec.start_ms,
            index_lag_ms: 0..=0,
            record_count: 0,
        };
        let from_ms = spec.start_ms - i64::from(spec.history_hours) * HOUR_MS;
        world.seed_accounts(spec, from_ms);
        for planned in world.plan_posts(spec, from_ms) {
            world.seed_post(spec, planned);
        }
        world.advance_to(spec.start_ms);
        world.index_lag_ms = spec.index_lag_ms.clone();
        world
    }

    fn seed_accounts(&mut self, spec: &BlueskySpec, created_ms: i64) {
        for index in 0..spec.accounts {
            let handle = self.generator.new_handle(&mut self.rng, index);
            let name = self.generator.pick_name(&mut self.rng, index);
            self.create_account(&handle, &name, created_ms);
        }
        let dids = self.dids();
        for did in &dids {
            for _ in 0..spec.follows_per_account {
                let followed = self.rng.usize(0..dids.len());
                self.follow(did, &dids[followed]);
            }
        }
    }

    /// Picks the times of all posts, oldest first.
    fn plan_posts(&mut self, spec: &BlueskySpec, from_ms: i64) -> Vec<PlannedPost> {
        let mut planned = Vec::new();
        for author in 0..spec.accounts {
            let mut at_ms = from_ms;
            for _ in 0..post_count(spec, author) {
                if self.rng.u8(0..100) >= spec.equal_time_percent {
                    at_ms = self.rng.i64(from_ms..spec.start_ms.max(from_ms + 1));
                }
                planned.push(PlannedPost { at_ms, author });
            }
        }
        planned.sort_unstable();
        planned
    }

    fn seed_post(&mut self, spec: &BlueskySpec, planned: PlannedPost) {
        let draft = self.generator.write_post(&mut self.rng);
        let post = self.insert_post(planned.author, draft, planned.at_ms, planned.at_ms);
        if self.rng.u8(0..100) < spec.repost_percent {
            self.seed_repost(spec, &post, planned.at_ms);
        }
    }

    /// Makes some account repost a post within an hour.
    fn seed_repost(&mut self, spec: &BlueskySpec, post: &RecordRef, posted_ms: i64) {
        let by = self.rng.usize(0..self.accounts.len());
        let did = self.accounts[by].did.to_string();
        let latest = (posted_ms + HOUR_MS).min(spec.start_ms);
        let at_ms = self.rng.i64(posted_ms..=latest);
        self.repost(&did, &post.uri, at_ms);
    }
}

/// Spreads the posts over the accounts: the first ones post most.
fn post_count(spec: &BlueskySpec, author: usize) -> usize {
    let (least, most) = (*spec.posts_per_account.start(), *spec.posts_per_account.end());
    let behind = spec.accounts.saturating_sub(author + 1);
    let steps = spec.accounts.saturating_sub(1).max(1);
    least + (most.saturating_sub(least)) * behind * behind / (steps * steps)
}
