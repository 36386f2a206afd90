//! Reads posts as feeds and lookups show them.
//!
//! The record inside was written by the author's own software, so that only its text is required: what else is
//! unreadable in it counts as absent. The fields around it are the server's.

use hw_rules::bluesky::did::Did;
use hw_rules::bluesky::handle::Handle;
use hw_rules::bluesky::links::{self, LinkFacet};
use hw_rules::bluesky::post::{self, Post, PostReply};
use hw_rules::bluesky::record_uri::RecordUri;
use hw_rules::item_validation::{self, ImpossibleItem};
use hw_rules::row_subject::RowSubject;
use hw_rules::source_time::SourceTime;
use hw_rules::version::ObservedAt;
use serde::Deserialize;

use crate::page::UnreadableRow;
use crate::raw_json::RawNode;

/// The part of an unreadable row that is stored.
const MAX_RAW_BYTES: usize = 64 << 10;
/// The links of one text that are read; a readable text has a handful.
const MAX_FACETS: usize = 100;
const LINK_FEATURE: &str = "app.bsky.richtext.facet#link";
const EXTERNAL_EMBED: &str = "app.bsky.embed.external";
const RECORD_EMBED: &str = "app.bsky.embed.record";
const RECORD_WITH_MEDIA_EMBED: &str = "app.bsky.embed.recordWithMedia";

/// One post, as one response showed it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PostObservation {
    pub post: Post,
    pub observed_at: ObservedAt,
}

/// An account, as the rows of other lists show it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccountName {
    pub did: Did,
    pub handle: Handle,
}

/// A post with the name of its author.
pub(super) struct PostWithAuthor {
    pub post: Post,
    pub author: AccountName,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PostView<'a> {
    uri: String,
    cid: String,
    #[serde(borrow)]
    author: RawNode<'a>,
    #[serde(borrow)]
    record: RawNode<'a>,
    indexed_at: String,
}

/// Reads a post.
pub(super) fn read_post(node: RawNode<'_>) -> Result<PostWithAuthor, String> {
    let view: PostView<'_> = node.parse_as()?;
    let author = read_account_name(view.author)?;
    let uri: RecordUri = parse_text(&view.uri)?;
    if !uri.is_post() || *uri.did() != author.did {
        return Err(ImpossibleItem::from_foreign_account(author.did.as_str()).to_string());
    }
    let indexed_at = parse_time(&view.indexed_at)?;
    let record = view.record;
    let text = record.get("text").and_then(RawNode::as_text).ok_or("missing field `text`")?;
    post::check_post_text(&text).map_err(|error| error.to_string())?;
    let created_at = record.get("createdAt").and_then(read_time);
    let embed = record.get("embed").map(read_embed).unwrap_or_default();
    let post = Post {
        uri,
        cid: parse_text(&view.cid)?,
        did: author.did.clone(),
        langs: post::clean_langs(read_langs(record)),
        sort_at: post::post_sort_time(created_at.as_ref(), &indexed_at),
        created_at,
        indexed_at,
        reply: record.get("reply").and_then(read_reply),
        quote: embed.quote,
        repost: None,
        links: links::extract_links(&text, &read_facets(record), &embed.urls),
        text,
    };
    Ok(PostWithAuthor { post, author })
}

/// Reads the DID and the handle of an account. One without a valid handle gets the placeholder for it.
pub(super) fn read_account_name(node: RawNode<'_>) -> Result<AccountName, String> {
    let did = node.get("did").and_then(RawNode::as_text).ok_or("missing field `did`")?;
    let handle = node.get("handle").and_then(RawNode::as_text).unwrap_or_default();
    Ok(AccountName {
        did: parse_text(&did)?,
        handle: handle.parse().unwrap_or_else(|_| placeholder()),
    })
}

fn placeholder() -> Handle {
    Handle::INVALID.parse().expect("the placeholder is a valid handle")
}

pub(super) fn parse_text<T: std::str::FromStr<Err: ToString>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|error: T::Err| error.to_string())
}

pub(super) fn parse_time(text: &str) -> Result<SourceTime, String> {
    SourceTime::parse(text).map_err(|error| error.to_string())
}

fn read_langs(record: RawNode<'_>) -> Vec<String> {
    let langs = record.get("langs").and_then(RawNode::as_elements).unwrap_or_default();
    langs.into_iter().filter_map(RawNode::as_text).collect()
}

fn read_reply(reply: RawNode<'_>) -> Option<PostReply> {
    Some(PostReply { parent: read_uri(reply.get("parent")?)?, root: read_uri(reply.get("root")?)? })
}

/// Reads the URI of a reference to a record.
fn read_uri(reference: RawNode<'_>) -> Option<RecordUri> {
    reference.get("uri")?.as_text()?.parse().ok()
}

/// The card and the quote below a text.
#[derive(Default)]
struct PostEmbed {
    urls: Vec<String>,
    quote: Option<RecordUri>,
}

fn read_embed(embed: RawNode<'_>) -> PostEmbed {
    match type_name(embed).as_deref() {
        Some(EXTERNAL_EMBED) => PostEmbed { urls: read_card_url(embed), quote: None },
        Some(RECORD_EMBED) => PostEmbed { urls: Vec::new(), quote: read_quote(embed) },
        Some(RECORD_WITH_MEDIA_EMBED) => PostEmbed {
            urls: embed.get("media").map(read_card_url).unwrap_or_default(),
            quote: embed.get("record").and_then(read_quote),
        },
        _ => PostEmbed::default(),
    }
}

fn read_card_url(embed: RawNode<'_>) -> Vec<String> {
    let url = embed.find_path(&["external", "uri"]).and_then(RawNode::as_text);
    url.into_iter().collect()
}

/// Reads the quoted post. Embedded lists, feeds and others are no quotes.
fn read_quote(embed: RawNode<'_>) -> Option<RecordUri> {
    read_uri(embed.get("record")?).filter(RecordUri::is_post)
}

fn read_facets(record: RawNode<'_>) -> Vec<LinkFacet> {
    let facets = record.get("facets").and_then(RawNode::as_elements).unwrap_or_default();
    facets.into_iter().flat_map(read_facet_links).take(MAX_FACETS).collect()
}

/// Reads the links of a facet, which can have several features.
fn read_facet_links(facet: RawNode<'_>) -> Vec<LinkFacet> {
    let bound = |name| usize::try_from(facet.find_path(&["index", name])?.as_i64()?).ok();
    let (Some(start), Some(end)) = (bound("byteStart"), bound("byteEnd")) else {
        return Vec::new();
    };
    let features = facet.get("features").and_then(RawNode::as_elements).unwrap_or_default();
    let links =
        features.into_iter().filter(|feature| type_name(*feature).as_deref() == Some(LINK_FEATURE));
    let urls = links.filter_map(|feature| feature.get("uri")?.as_text());
    urls.map(|url| LinkFacet { start, end, url }).collect()
}

pub(super) fn type_name(node: RawNode<'_>) -> Option<String> {
    node.get("$type").and_then(RawNode::as_text)
}

/// Describes a row that could not be read, with as much of it as is known.
///
/// `item` has the row's URI and its time: the post, or the reason for which it is there. Without a usable URI, `position`
/// names the row. The time is the one by which feeds order it, which the readable row will have as well.
pub(super) fn unreadable_row(
    row: RawNode<'_>,
    item: Option<RawNode<'_>>,
    position: RowSubject,
    reason: String,
    observed_at: ObservedAt,
) -> UnreadableRow {
    let uri = item.and_then(|item| item.get("uri")).and_then(RawNode::as_text);
    let uri = uri.filter(|uri| item_validation::check_ids(1, uri).is_ok());
    let indexed_at = item.and_then(|item| read_time(item.get("indexedAt")?));
    let created_at = item.and_then(|item| read_time(item.find_path(&["record", "createdAt"])?));
    let sort_at = indexed_at.map(|time| post::post_sort_time(created_at.as_ref(), &time));
    UnreadableRow {
        subject: uri.map_or(position, RowSubject::Node),
        reason,
        raw: row.clip_text(MAX_RAW_BYTES),
        updated_at: sort_at,
        observed_at,
    }
}

fn read_time(node: RawNode<'_>) -> Option<SourceTime> {
    SourceTime::parse(&node.as_text()?).ok()
}
