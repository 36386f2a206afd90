//! Reads the true content of one feed at one time.

use std::collections::BTreeMap;

use super::{DeletedFeedItem, FeedItemKind, LinkOrigin, TrueFeed, TrueFeedItem, TrueLink};
use crate::bluesky::author_feed::row_is_indexed;
use crate::bluesky::world::{
    BlueskyWorld, FacetFeature, FeedKey, FeedRow, MediaEmbed, PostDraft, PostEmbed, SimAccount,
    SimPost,
};
use crate::timestamps::format_rfc3339_ms;

/// A feed at one time.
pub(super) struct FeedSnapshot<'w> {
    world: &'w BlueskyWorld,
    pub(super) account: &'w SimAccount,
    now_ms: i64,
}

/// The times of a row that decide whether it is back-dated.
struct RowTimes {
    row: FeedRow,
    visible_from_ms: i64,
    sort_ms: i64,
}

impl<'w> FeedSnapshot<'w> {
    pub(super) fn new(world: &'w BlueskyWorld, account: &'w SimAccount, now_ms: i64) -> Self {
        Self { world, account, now_ms }
    }

    pub(super) fn build_feed(&self) -> TrueFeed {
        let account = self.account;
        let mut feed = TrueFeed {
            did: account.did.to_string(),
            handle: account.handle.as_deref().map(str::to_owned),
            display_name: account.display_name.clone(),
            state: account.state,
            is_blocking_viewer: account.is_blocking_viewer,
            posts_count: self.world.count_posts(account, self.now_ms),
            items: BTreeMap::new(),
            hidden: BTreeMap::new(),
            deleted: BTreeMap::new(),
        };
        for (row, is_backdated) in self.rows_with_backdating() {
            let item = TrueFeedItem { is_backdated, ..self.build_item(row) };
            let uri = item.uri.clone();
            if let Some(deleted_ms) = self.deleted_ms(row) {
                feed.deleted.insert(uri, DeletedFeedItem { item, deleted_ms });
            } else if self.is_shown(row) {
                feed.items.insert(uri, item);
            } else {
                feed.hidden.insert(uri, item);
            }
        }
        feed
    }

    /// Returns the rows that pages contain, newest first, also those whose post cannot be shown.
    pub(super) fn visible_keys(&self) -> impl Iterator<Item = &'w FeedKey> {
        let keys = self.account.feed.iter().rev();
        keys.filter(|key| row_is_indexed(self.world, key.row, self.now_ms))
    }

    /// Returns true if the post of a row can be shown.
    pub(super) fn is_shown(&self, row: FeedRow) -> bool {
        match row {
            FeedRow::Post(_) => true,
            FeedRow::Repost(_) => {
                let subject = self.post_of(row);
                let author = self.world.account(subject.author);
                subject.exists_at(self.now_ms) && author.is_active()
            }
        }
    }

    pub(super) fn uri_of(&self, row: FeedRow) -> String {
        match row {
            FeedRow::Post(index) => self.world.post_at(index).uri.to_string(),
            FeedRow::Repost(index) => self.world.repost_at(index).uri.to_string(),
        }
    }

    /// Returns all rows that were visible once, and whether each appeared below something that was visible before.
    fn rows_with_backdating(&self) -> Vec<(FeedRow, bool)> {
        let posts = self.account.post_history.iter().map(|index| FeedRow::Post(*index));
        let reposts = self.account.repost_history.iter().map(|index| FeedRow::Repost(*index));
        let mut times: Vec<RowTimes> = posts.chain(reposts).map(|row| self.times_of(row)).collect();
        times.retain(|times| {
            let deleted_ms = self.deleted_ms(times.row).unwrap_or(i64::MAX);
            times.visible_from_ms <= self.now_ms && times.visible_from_ms < deleted_ms
        });
        times.sort_by_key(|times| times.visible_from_ms);
        let mut rows = Vec::with_capacity(times.len());
        let mut newest_ms = i64::MIN;
        for together in times.chunk_by(|left, right| left.visible_from_ms == right.visible_from_ms)
        {
            rows.extend(together.iter().map(|times| (times.row, times.sort_ms < newest_ms)));
            newest_ms = together.iter().map(|times| times.sort_ms).fold(newest_ms, i64::max);
        }
        rows
    }

    fn times_of(&self, row: FeedRow) -> RowTimes {
        let (visible_from_ms, sort_ms) = match row {
            FeedRow::Post(index) => {
                let post = self.world.post_at(index);
                (post.first_indexed_ms, post.first_sort_ms)
            }
            FeedRow::Repost(index) => {
                let indexed_ms = self.world.repost_at(index).indexed_ms;
                (indexed_ms, indexed_ms)
            }
        };
        RowTimes { row, visible_from_ms, sort_ms }
    }

    fn deleted_ms(&self, row: FeedRow) -> Option<i64> {
        match row {
            FeedRow::Post(index) => self.world.post_at(index).deleted_ms,
            FeedRow::Repost(index) => self.world.repost_at(index).deleted_ms,
        }
    }

    fn post_of(&self, row: FeedRow) -> &'w SimPost {
        match row {
            FeedRow::Post(index) => self.world.post_at(index),
            FeedRow::Repost(index) => self.world.post_at(self.world.repost_at(index).subject),
        }
    }

    fn build_item(&self, row: FeedRow) -> TrueFeedItem {
        let post = self.post_of(row);
        let (kind, cid, sort_ms, visible_from_ms) = match row {
            FeedRow::Post(_) => {
                (FeedItemKind::Post, &post.cid, post.sort_ms(), post.first_indexed_ms)
            }
            FeedRow::Repost(index) => {
                let repost = self.world.repost_at(index);
                (FeedItemKind::Repost, &repost.cid, repost.indexed_ms, repost.indexed_ms)
            }
        };
        let draft = &post.draft;
        TrueFeedItem {
            uri: self.uri_of(row),
            cid: cid.to_string(),
            kind,
            sort_ms,
            visible_from_ms,
            is_backdated: false,
            edited_ms: post.edited_ms,
            post_uri: post.uri.to_string(),
            post_cid: post.cid.to_string(),
            author_did: self.world.account(post.author).did.to_string(),
            text: draft.text.clone(),
            created_at: post.created_at.clone(),
            indexed_at: format_rfc3339_ms(post.indexed_ms),
            langs: draft.langs.clone(),
            links: collect_links(draft),
            reply_root: draft.reply.as_ref().map(|reply| reply.root.uri.to_string()),
            reply_parent: draft.reply.as_ref().map(|reply| reply.parent.uri.to_string()),
            quote: draft
                .embed
                .as_ref()
                .and_then(PostEmbed::record)
                .map(|record| record.uri.to_string()),
        }
    }
}

/// Returns the URLs of a post: of facets, of its card, and in its text.
fn collect_links(draft: &PostDraft) -> Vec<TrueLink> {
    let facets = draft.facets.iter().filter_map(|facet| match &facet.feature {
        FacetFeature::Link(url) => Some((url, LinkOrigin::Facet)),
        FacetFeature::Mention(_) | FacetFeature::Tag(_) => None,
    });
    let card = match draft.embed.as_ref().and_then(PostEmbed::media) {
        Some(MediaEmbed::External { uri, .. }) => Some((uri, LinkOrigin::Embed)),
        Some(MediaEmbed::Images(_)) | None => None,
    };
    let bare = draft.bare_links.iter().map(|url| (url, LinkOrigin::Text));
    let all = facets.chain(card).chain(bare);
    all.map(|(url, origin)| TrueLink { url: url.clone(), origin }).collect()
}
