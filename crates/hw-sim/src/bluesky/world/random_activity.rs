//! The random actions of accounts as time passes.

use super::{BlueskyWorld, PostDraft, RecordRef};
use crate::bluesky::spec::BlueskyActionWeights;

const HOUR_MS: i64 = 3_600_000;
const MIN_ACCOUNTS: usize = 2;

type WorldAction = fn(&mut BlueskyWorld, i64);

fn weighted_actions(weights: &BlueskyActionWeights) -> [(u32, WorldAction); 21] {
    [
        (weights.post, BlueskyWorld::post_something),
        (weights.reply, BlueskyWorld::reply_to_random_post),
        (weights.quote, BlueskyWorld::quote_random_post),
        (weights.repost, BlueskyWorld::repost_random_post),
        (weights.self_repost, BlueskyWorld::repost_own_post),
        (weights.burst, BlueskyWorld::post_random_burst),
        (weights.equal_times, BlueskyWorld::post_twice_at_once),
        (weights.backdated_post, BlueskyWorld::backdate_random_post),
        (weights.future_post, BlueskyWorld::postdate_random_post),
        (weights.edit, BlueskyWorld::edit_random_post),
        (weights.delete_post, BlueskyWorld::delete_random_post),
        (weights.replace_post, BlueskyWorld::replace_random_post),
        (weights.delete_repost, BlueskyWorld::delete_random_repost),
        (weights.pin, BlueskyWorld::pin_random_post),
        (weights.follow, BlueskyWorld::follow_random_account),
        (weights.rename, BlueskyWorld::rename_random_account),
        (weights.change_handle, BlueskyWorld::change_random_handle),
        (weights.move_handle, BlueskyWorld::move_random_handle),
        (weights.deactivate_or_reactivate, BlueskyWorld::deactivate_or_reactivate_one),
        (weights.take_down, BlueskyWorld::take_down_random_account),
        (weights.delete_account, BlueskyWorld::delete_random_account),
    ]
}

impl BlueskyWorld {
    /// Performs one random action, the same for the same seed and world.
    pub fn random_activity(&mut self, seed: u64, now_ms: i64) {
        let own = std::mem::replace(&mut self.rng, fastrand::Rng::with_seed(seed));
        self.perform_random_action(now_ms);
        self.rng = own;
    }

    /// Performs the actions that are due up to this time.
    pub(super) fn act_until(&mut self, now_ms: i64) {
        if self.activity.actions_per_minute == 0 {
            return;
        }
        let pause = 60_000 / i64::from(self.activity.actions_per_minute);
        while self.next_action_ms <= now_ms.min(self.activity.until_ms) {
            let at_ms = self.next_action_ms;
            self.perform_random_action(at_ms);
            self.next_action_ms += self.rng.i64(pause / 2..=pause + pause / 2).max(1);
        }
    }

    fn perform_random_action(&mut self, now_ms: i64) {
        let actions = weighted_actions(&self.activity.weights);
        let total: u32 = actions.iter().map(|(weight, _)| weight).sum();
        if total == 0 {
            return;
        }
        let mut roll = self.rng.u32(0..total);
        for (weight, action) in actions {
            if roll < weight {
                return action(self, now_ms);
            }
            roll -= weight;
        }
    }

    fn post_something(&mut self, now_ms: i64) {
        let Some(did) = self.pick_active_account() else { return };
        let draft = self.generator.write_post(&mut self.rng);
        self.post(&did, draft, now_ms);
    }

    fn reply_to_random_post(&mut self, now_ms: i64) {
        let (Some(did), Some(parent)) = (self.pick_active_account(), self.pick_post()) else {
            return;
        };
        let root = self.posts[self.post_index(&parent.uri)].draft.reply.clone();
        let root = root.map_or_else(|| parent.clone(), |reply| reply.root);
        let draft = self.generator.write_post(&mut self.rng).with_reply(&root, &parent);
        self.post(&did, draft, now_ms);
    }

    fn quote_random_post(&mut self, now_ms: i64) {
        let (Some(did), Some(quoted)) = (self.pick_active_account(), self.pick_post()) else {
            return;
        };
        let draft = self.generator.write_post(&mut self.rng).with_quote(&quoted);
        self.post(&did, draft, now_ms);
    }

    fn repost_random_post(&mut self, now_ms: i64) {
        let (Some(did), Some(post)) = (self.pick_active_account(), self.pick_post()) else {
            return;
        };
        self.repost(&did, &post.uri, now_ms);
    }

    fn repost_own_post(&mut self, now_ms: i64) {
        let Some(did) = self.pick_active_account() else { return };
        if let Some(post) = self.pick_post_of(&did) {
            self.repost(&did, &post.uri, now_ms);
        }
    }

    fn post_random_burst(&mut self, now_ms: i64) {
        let Some(did) = self.pick_active_account() else { return };
        let count = self.rng.usize(10..=60);
        self.post_burst(&did, count, now_ms, 1000);
    }

    fn post_twice_at_once(&mut self, now_ms: i64) {
        let Some(did) = self.pick_active_account() else { return };
        for _ in 0..2 {
            let draft = self.generator.write_post(&mut self.rng);
            self.post(&did, draft, now_ms);
        }
    }

    fn backdate_random_post(&mut self, now_ms: i64) {
        let ago_ms = self.rng.i64(1000..=30 * HOUR_MS);
        self.post_with_claim(now_ms - ago_ms, now_ms);
    }

    fn postdate_random_post(&mut self, now_ms: i64) {
        let ahead_ms = self.rng.i64(1000..=30 * HOUR_MS);
        self.post_with_claim(now_ms + ahead_ms, now_ms);
    }

    fn post_with_claim(&mut self, created_ms: i64, now_ms: i64) {
        let Some(did) = self.pick_active_account() else { return };
        let draft = self.generator.write_post(&mut self.rng);
        self.backdate_post(&did, draft, created_ms, now_ms);
    }

    fn edit_random_post(&mut self, now_ms: i64) {
        let Some(post) = self.pick_post() else { return };
        let draft = self.generator.write_post(&mut self.rng);
        self.edit_post(&post.uri, PostDraft { created_at: None, ..draft }, now_ms);
    }

    fn delete_random_post(&mut self, now_ms: i64) {
        let Some(post) = self.pick_post() else { return };
        self.delete_post(&post.uri, now_ms);
    }

    fn replace_random_post(&mut self, now_ms: i64) {
        let Some(did) = self.pick_active_account() else { return };
        let Some(post) = self.pick_post_of(&did) else { return };
        self.delete_post(&post.uri, now_ms);
        let draft = self.generator.write_post(&mut self.rng);
        self.post(&did, draft, now_ms);
    }

    fn delete_random_repost(&mut self, now_ms: i64) {
        let Some(did) = self.pick_active_account() else { return };
        let reposts = self.reposts_of(&did);
        if let Some(repost) = reposts.get(self.rng.usize(0..reposts.len().max(1))) {
            self.delete_repost(&repost.uri, now_ms);
        }
    }

    fn pin_random_post(&mut self, _now_ms: i64) {
        let Some(post) = self.pick_post() else { return };
        self.pin_post(&post.uri);
    }

    fn follow_random_account(&mut self, _now_ms: i64) {
        let (Some(did), Some(other)) = (self.pick_active_account(), self.pick_active_account())
        else {
            return;
        };
        self.follow(&did, &other);
    }

    fn rename_random_account(&mut self, _now_ms: i64) {
        let Some(did) = self.pick_active_account() else { return };
        let index = self.rng.usize(0..1000);
        let name = self.generator.pick_name(&mut self.rng, index);
        self.rename_account(&did, &name);
    }

    fn change_random_handle(&mut self, _now_ms: i64) {
        let Some(did) = self.pick_active_account() else { return };
        let index = self.rng.usize(1000..1_000_000);
        let handle = self.generator.new_handle(&mut self.rng, index);
        self.change_handle(&did, &handle);
    }

    fn move_random_handle(&mut self, _now_ms: i64) {
        let (Some(from), Some(to)) = (self.pick_active_account(), self.pick_active_account())
        else {
            return;
        };
        self.move_handle(&from, &to);
    }

    fn deactivate_or_reactivate_one(&mut self, _now_ms: i64) {
        let hidden = self.accounts.iter().filter(|account| !account.is_active());
        let hidden: Vec<String> = hidden.map(|account| account.did.to_string()).collect();
        if let Some(did) = hidden.get(self.rng.usize(0..hidden.len().max(1))) {
            return self.reactivate(did);
        }
        if let Some(did) = self.pick_spare_account() {
            self.deactivate(&did);
        }
    }

    fn take_down_random_account(&mut self, _now_ms: i64) {
        if let Some(did) = self.pick_spare_account() {
            self.take_down(&did);
        }
    }

    fn delete_random_account(&mut self, now_ms: i64) {
        if let Some(did) = self.pick_spare_account() {
            self.delete_account(&did, now_ms);
        }
    }

    /// Picks an account that may become unavailable; some always stay.
    fn pick_spare_account(&mut self) -> Option<String> {
        let active = self.accounts.iter().filter(|account| account.is_active()).count();
        let did = self.pick_active_account()?;
        (active > MIN_ACCOUNTS).then_some(did)
    }

    fn pick_active_account(&mut self) -> Option<String> {
        let active = self.accounts.iter().filter(|account| account.is_active());
        let active: Vec<usize> = active.map(|account| account.index).collect();
        let index = active.get(self.rng.usize(0..active.len().max(1)))?;
        Some(self.accounts[*index].did.to_string())
    }

    /// Picks a post of an active account; recent ones more often.
    fn pick_post(&mut self) -> Option<RecordRef> {
        let did = self.pick_active_account()?;
        self.pick_post_of(&did)
    }

    fn pick_post_of(&mut self, did: &str) -> Option<RecordRef> {
        let posts = self.posts_of(did);
        let last = posts.len().checked_sub(1)?;
        let back = self.rng.usize(0..=last).min(self.rng.usize(0..=last));
        posts.into_iter().nth(last - back)
    }
}
