//! A post or a repost, as it is stored.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::cid::Cid;
use super::did::Did;
use super::links::PostLink;
use super::record_uri::{self, RecordUri};
use crate::item::{ObjectId, ObjectKind, encode_optional};
use crate::item_validation::ImpossibleItem;
use crate::source_time::SourceTime;
use crate::version::ContentDigest;

/// One row of an account's feed: a post of the account, or a repost.
///
/// A repost is an item of its own: its URI is the repost's, and it has the text, the links and the CID of the post that
/// it repeats. So both rows of a post that its own author reposts are stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Post {
    /// The URI of the post, or of the repost.
    pub uri: RecordUri,
    /// The version of the text.
    pub cid: Cid,
    /// The account that wrote the text.
    pub did: Did,
    pub text: String,
    /// The languages that the author declared, as in `en` or `pt-BR`.
    pub langs: Vec<String>,
    /// The time that the author's own device wrote down. None if it cannot be read.
    pub created_at: Option<SourceTime>,
    /// The time at which the server first saw the post.
    pub indexed_at: SourceTime,
    /// The time that the feed is ordered by.
    pub sort_at: SourceTime,
    pub reply: Option<PostReply>,
    /// The post that it quotes.
    pub quote: Option<RecordUri>,
    /// Set if the row is a repost.
    pub repost: Option<Repost>,
    pub links: Vec<PostLink>,
}

/// The place of a reply in its thread.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PostReply {
    /// The post that it answers.
    pub parent: RecordUri,
    /// The first post of the thread.
    pub root: RecordUri,
}

/// The fields that only a repost has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repost {
    /// The account that reposts.
    pub by: Did,
    /// The post that is repeated.
    pub subject: RecordUri,
    /// The time of the repost, by the server's clock.
    pub reposted_at: SourceTime,
}

impl Post {
    pub fn key(&self) -> ObjectId {
        ObjectId { kind: ObjectKind::Post, id: self.id() }
    }

    /// Hashes everything that the source sent. The links follow from the text and the embeds, which the CID covers, and
    /// the rules that find them may change.
    pub(crate) fn digest(&self) -> ContentDigest {
        let langs = self.langs.join(" ");
        let mut fields = vec![
            self.uri.as_str(),
            self.cid.as_str(),
            self.did.as_str(),
            &self.text,
            &langs,
            self.indexed_at.as_str(),
            self.sort_at.as_str(),
        ];
        for optional in [
            self.created_at.as_ref().map(SourceTime::as_str),
            self.reply.as_ref().map(|reply| reply.parent.as_str()),
            self.reply.as_ref().map(|reply| reply.root.as_str()),
            self.quote.as_ref().map(RecordUri::as_str),
            self.repost.as_ref().map(|repost| repost.subject.as_str()),
        ] {
            fields.extend(encode_optional(optional));
        }
        ContentDigest::from_fields(fields)
    }

    /// Returns the number by which the item is stored.
    pub fn id(&self) -> i64 {
        record_uri::record_id(&self.uri)
    }

    /// Returns the account in whose feed the item is: the one that posted or reposted it.
    pub fn sharer(&self) -> &Did {
        self.repost.as_ref().map_or(&self.did, |repost| &repost.by)
    }

    /// Returns the URI of the post with the text: the reposted one, if it is a repost.
    pub fn text_uri(&self) -> &RecordUri {
        self.repost.as_ref().map_or(&self.uri, |repost| &repost.subject)
    }

    /// Returns the URL at which people read the text.
    pub fn web_url(&self) -> String {
        let uri = self.text_uri();
        // a row of a feed is always a post, so the account's page is for a record of another kind only
        uri.web_url().unwrap_or_else(|| format!("https://bsky.app/profile/{}", uri.did()))
    }

    pub fn is_reply(&self) -> bool {
        self.reply.is_some()
    }

    /// Returns what the row of the feed is: `repost`, `reply`, `quote` or `post`.
    pub fn kind_name(&self) -> &'static str {
        if self.repost.is_some() {
            "repost"
        } else if self.is_reply() {
            "reply"
        } else if self.quote.is_some() {
            "quote"
        } else {
            "post"
        }
    }

    /// Returns the URLs of its links, each page once.
    pub fn distinct_urls(&self) -> Vec<&str> {
        let mut seen = BTreeSet::new();
        let links = self.links.iter().filter(|link| seen.insert(link.normal.as_str()));
        links.map(|link| link.url.as_str()).collect()
    }
}

/// Returns the time by which feeds order a post: the earlier one of its two times.
///
/// Authors can write any time into a post, even one in the future, so that the server's own time limits it. A time that
/// cannot be read counts as missing.
pub fn post_sort_time(created_at: Option<&SourceTime>, indexed_at: &SourceTime) -> SourceTime {
    created_at.map_or(indexed_at, |created_at| created_at.min(indexed_at)).clone()
}

/// Bluesky's own limit is 3,000 bytes.
const MAX_TEXT_BYTES: usize = 64 << 10;
/// Bluesky's own limit is 3.
const MAX_LANGS: usize = 10;
/// The longest tags in use have 35 characters.
const MAX_LANG_BYTES: usize = 64;

/// Checks the text of a post: nothing else of it can be too long.
pub fn check_post_text(text: &str) -> Result<(), ImpossibleItem> {
    if text.len() > MAX_TEXT_BYTES {
        return Err(ImpossibleItem::from_text_length(text.len()));
    }
    Ok(())
}

/// Returns the languages of a post without those that are no language tags, and without repetitions.
pub fn clean_langs(langs: Vec<String>) -> Vec<String> {
    let mut clean: Vec<String> = Vec::new();
    for lang in langs {
        if is_lang_tag(&lang) && !clean.contains(&lang) && clean.len() < MAX_LANGS {
            clean.push(lang);
        }
    }
    clean
}

fn is_lang_tag(text: &str) -> bool {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    is_plain && (2..=MAX_LANG_BYTES).contains(&text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn post_sorts_by_the_earlier_one_of_its_times() {
        let (early, late) = (time("2026-01-02T03:04:05.123Z"), time("2026-01-02T03:04:06Z"));
        for (created_at, indexed_at, sort_at) in
            [(Some(&early), &late, &early), (Some(&late), &early, &early), (None, &late, &late)]
        {
            assert_eq!(&post_sort_time(created_at, indexed_at), sort_at);
        }
    }

    #[test]
    fn post_of_a_repost_has_two_accounts_and_the_address_of_the_text() {
        let mut post = sample_post();
        assert_eq!((post.sharer(), post.text_uri()), (&post.did, &post.uri));
        let subject = post.uri.clone();
        let by: Did = "did:plc:bob".parse().unwrap();
        post.uri = "at://did:plc:bob/app.bsky.feed.repost/3k2".parse().unwrap();
        let reposted_at = post.indexed_at.clone();
        post.repost = Some(Repost { by: by.clone(), subject: subject.clone(), reposted_at });
        assert_eq!((post.sharer(), post.text_uri()), (&by, &subject));
        assert_eq!(post.web_url(), "https://bsky.app/profile/did:plc:alice/post/3k1");
        assert_eq!(post.id(), record_uri::record_id(&post.uri));
    }

    #[test]
    fn post_round_trips_through_json_and_refuses_a_false_uri() {
        let post = sample_post();
        let json = serde_json::to_string(&post).unwrap();
        assert_eq!(serde_json::from_str::<Post>(&json).unwrap(), post);
        let wrong = json.replace("did:plc:alice", "alice");
        assert!(serde_json::from_str::<Post>(&wrong).is_err());
    }

    #[test]
    fn post_with_an_endless_text_is_impossible() {
        assert_eq!(check_post_text(&"x".repeat(MAX_TEXT_BYTES)), Ok(()));
        let error = check_post_text(&"x".repeat(MAX_TEXT_BYTES + 1)).unwrap_err().to_string();
        assert_eq!(error, "impossible: its text has 65537 bytes");
    }

    #[test]
    fn langs_are_tags_without_repetitions() {
        let langs = ["en", "pt-BR", "en", "", "x", "d\0e", "\u{202e}en"].map(str::to_owned);
        assert_eq!(clean_langs(langs.to_vec()), ["en", "pt-BR"]);
        let many = (0..100).map(|number| format!("l{number}")).collect();
        assert_eq!(clean_langs(many).len(), MAX_LANGS);
    }

    fn sample_post() -> Post {
        let indexed_at = time("2026-01-02T03:04:05Z");
        Post {
            uri: "at://did:plc:alice/app.bsky.feed.post/3k1".parse().unwrap(),
            cid: "bafyreihffx5a2".parse().unwrap(),
            did: "did:plc:alice".parse().unwrap(),
            text: "hello".into(),
            langs: vec!["en".into()],
            created_at: None,
            sort_at: indexed_at.clone(),
            indexed_at,
            reply: None,
            quote: None,
            repost: None,
            links: Vec::new(),
        }
    }

    fn time(text: &str) -> SourceTime {
        SourceTime::parse(text).unwrap()
    }
}
