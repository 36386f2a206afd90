//! Records of posts as their authors wrote them, and the media that the service shows for them.

use serde_json::{Value, json};

use super::world::{Facet, FacetFeature, MediaEmbed, PostEmbed, RecordRef, SimPost};

/// Returns the record as its author wrote it.
pub(super) fn post_record(post: &SimPost) -> Value {
    let draft = &post.draft;
    let mut record = json!({
        "$type": "app.bsky.feed.post",
        "text": draft.text,
        "createdAt": post.created_at,
    });
    if !draft.langs.is_empty() {
        record["langs"] = draft.langs.clone().into();
    }
    if !draft.facets.is_empty() {
        record["facets"] = draft.facets.iter().map(facet_record).collect();
    }
    if let Some(embed) = &draft.embed {
        record["embed"] = embed_record(embed);
    }
    if let Some(reply) = &draft.reply {
        record["reply"] =
            json!({ "root": strong_ref(&reply.root), "parent": strong_ref(&reply.parent) });
    }
    record
}

fn facet_record(facet: &Facet) -> Value {
    let feature = match &facet.feature {
        FacetFeature::Link(uri) => {
            json!({ "$type": "app.bsky.richtext.facet#link", "uri": uri })
        }
        FacetFeature::Mention(did) => {
            json!({ "$type": "app.bsky.richtext.facet#mention", "did": did })
        }
        FacetFeature::Tag(tag) => json!({ "$type": "app.bsky.richtext.facet#tag", "tag": tag }),
    };
    json!({
        "index": { "byteStart": facet.byte_start, "byteEnd": facet.byte_end },
        "features": [feature],
    })
}

fn embed_record(embed: &PostEmbed) -> Value {
    match embed {
        PostEmbed::Media(media) => media_record(media),
        PostEmbed::Record(record) => {
            json!({ "$type": "app.bsky.embed.record", "record": strong_ref(record) })
        }
        PostEmbed::RecordWithMedia { record, media } => json!({
            "$type": "app.bsky.embed.recordWithMedia",
            "record": { "$type": "app.bsky.embed.record", "record": strong_ref(record) },
            "media": media_record(media),
        }),
    }
}

fn media_record(media: &MediaEmbed) -> Value {
    match media {
        MediaEmbed::External { uri, title, description } => json!({
            "$type": "app.bsky.embed.external",
            "external": { "uri": uri, "title": title, "description": description },
        }),
        MediaEmbed::Images(alt_texts) => {
            let images = (0..).zip(alt_texts).map(|(position, alt)| {
                json!({
                    "alt": alt,
                    "aspectRatio": { "width": 1600, "height": 900 },
                    "image": {
                        "$type": "blob",
                        "ref": { "$link": image_cid(position) },
                        "mimeType": "image/jpeg",
                        "size": 240_000,
                    },
                })
            });
            json!({ "$type": "app.bsky.embed.images", "images": images.collect::<Vec<_>>() })
        }
    }
}

/// Returns the view of media: an image becomes two files on a web server.
pub(super) fn media_view(media: &MediaEmbed, author: &str) -> Value {
    match media {
        MediaEmbed::External { uri, title, description } => json!({
            "$type": "app.bsky.embed.external#view",
            "external": { "uri": uri, "title": title, "description": description },
        }),
        MediaEmbed::Images(alt_texts) => {
            let images = (0..).zip(alt_texts).map(|(position, alt)| {
                let name = format!("{author}/{}@jpeg", image_cid(position));
                json!({
                    "thumb": format!("https://cdn.bsky.example/img/feed_thumbnail/plain/{name}"),
                    "fullsize": format!("https://cdn.bsky.example/img/feed_fullsize/plain/{name}"),
                    "alt": alt,
                    "aspectRatio": { "width": 1600, "height": 900 },
                })
            });
            json!({ "$type": "app.bsky.embed.images#view", "images": images.collect::<Vec<_>>() })
        }
    }
}

fn strong_ref(record: &RecordRef) -> Value {
    json!({ "uri": &*record.uri, "cid": &*record.cid })
}

/// Returns the content id of an image: all images of the world are the same few files.
fn image_cid(position: usize) -> String {
    format!("bafkrei{}{position}", "a".repeat(51))
}
