//! Ranks links by how many accounts shared them.

use std::collections::BTreeMap;

use super::did::Did;
use crate::source_time::SourceInstant;

/// One post or repost with a link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkShare {
    /// The spelling that all links to the same page share.
    pub normal: String,
    /// The URL that this post has.
    pub url: String,
    /// The account that posted or reposted it.
    pub sharer: Did,
    pub shared_at: SourceInstant,
    pub text: String,
}

/// A link with the accounts that shared it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrendingLink {
    pub normal: String,
    /// The URL of the newest share.
    pub url: String,
    /// Each account once, the latest to share it first.
    pub sharers: Vec<Did>,
    /// The number of posts and reposts with it.
    pub shares: u64,
    pub newest_at: SourceInstant,
    /// The text of the newest share.
    pub newest_text: String,
}

/// Ranks links by the number of accounts that shared them, then by the newest share, and returns the first `limit`.
///
/// The result does not depend on the order of the shares.
pub fn rank_links(shares: impl IntoIterator<Item = LinkShare>, limit: usize) -> Vec<TrendingLink> {
    let mut links: BTreeMap<String, LinkTally> = BTreeMap::new();
    for share in shares {
        match links.get_mut(&share.normal) {
            Some(tally) => tally.add(share),
            None => {
                links.insert(share.normal.clone(), LinkTally::from_share(share));
            }
        }
    }
    let mut ranked: Vec<TrendingLink> = links.into_values().map(LinkTally::into_link).collect();
    ranked.sort_by(|a, b| {
        let by_rank = (b.sharers.len(), b.newest_at).cmp(&(a.sharers.len(), a.newest_at));
        by_rank.then_with(|| a.normal.cmp(&b.normal))
    });
    ranked.truncate(limit);
    ranked
}

/// The shares of one link so far.
struct LinkTally {
    newest: LinkShare,
    shares: u64,
    /// The last time that each account shared it.
    shared_at: BTreeMap<Did, SourceInstant>,
}

impl LinkTally {
    fn from_share(share: LinkShare) -> Self {
        let shared_at = BTreeMap::from([(share.sharer.clone(), share.shared_at)]);
        Self { newest: share, shares: 1, shared_at }
    }

    fn add(&mut self, share: LinkShare) {
        self.shares += 1;
        let last = self.shared_at.entry(share.sharer.clone()).or_insert(share.shared_at);
        *last = share.shared_at.max(*last);
        if newness(&self.newest) < newness(&share) {
            self.newest = share;
        }
    }

    fn into_link(self) -> TrendingLink {
        let mut sharers: Vec<(Did, SourceInstant)> = self.shared_at.into_iter().collect();
        sharers.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        let LinkShare { normal, url, shared_at, text, .. } = self.newest;
        TrendingLink {
            normal,
            url,
            sharers: sharers.into_iter().map(|(did, _)| did).collect(),
            shares: self.shares,
            newest_at: shared_at,
            newest_text: text,
        }
    }
}

/// Orders shares of one link by time; several can have the same.
fn newness(share: &LinkShare) -> (SourceInstant, &str, &str, &Did) {
    (share.shared_at, &share.text, &share.url, &share.sharer)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn trending_counts_each_account_once() {
        let shares = [
            share("a", "x", 1),
            share("a", "x", 2),
            share("a", "x", 3),
            share("b", "x", 1),
            share("b", "y", 1),
        ];
        let ranked = rank_links(shares, 10);
        assert_eq!(names(&ranked), ["b", "a"]);
        assert_eq!((ranked[1].sharers.len(), ranked[1].shares), (1, 3));
    }

    #[test]
    fn trending_breaks_ties_by_the_newest_share_and_then_by_name() {
        let shares =
            [share("c", "x", 5), share("b", "x", 5), share("a", "x", 4), share("d", "y", 6)];
        assert_eq!(names(&rank_links(shares.clone(), 10)), ["d", "b", "c", "a"]);
        assert_eq!(names(&rank_links(shares, 2)), ["d", "b"]);
        assert_eq!(rank_links([], 2), []);
    }

    #[test]
    fn trending_shows_the_newest_text_and_the_latest_account_first() {
        let shares =
            [share("a", "x", 1), share("a", "z", 7), share("a", "y", 3), share("a", "x", 5)];
        let [link] = &rank_links(shares, 10)[..] else { panic!("one link") };
        let sharers: Vec<&str> = link.sharers.iter().map(Did::as_str).collect();
        assert_eq!(sharers, ["did:plc:z", "did:plc:x", "did:plc:y"]);
        assert_eq!((link.newest_at, link.newest_text.as_str()), (SourceInstant(7), "z at 7"));
        assert_eq!(link.url, "https://a/?z7");
    }

    proptest! {
        #[test]
        fn trending_does_not_depend_on_the_order(
            rows in prop::collection::vec(("[a-c]", "[x-z]", 0_i64..4), 0..30), turn in 0_usize..30,
        ) {
            let shares: Vec<LinkShare> =
                rows.iter().map(|(link, sharer, time)| share(link, sharer, *time)).collect();
            let mut turned = shares.clone();
            turned.reverse();
            turned.rotate_left(turn.min(shares.len()));
            let ranked = rank_links(shares, 10);
            prop_assert!(ranked.is_sorted_by_key(|link| std::cmp::Reverse((link.sharers.len(), link.newest_at))));
            prop_assert_eq!(ranked, rank_links(turned, 10));
        }
    }

    fn names(links: &[TrendingLink]) -> Vec<&str> {
        links.iter().map(|link| link.normal.as_str()).collect()
    }

    fn share(normal: &str, sharer: &str, time: i64) -> LinkShare {
        LinkShare {
            normal: normal.to_owned(),
            url: format!("https://{normal}/?{sharer}{time}"),
            sharer: format!("did:plc:{sharer}").parse().unwrap(),
            shared_at: SourceInstant(time),
            text: format!("{sharer} at {time}"),
        }
    }
}
