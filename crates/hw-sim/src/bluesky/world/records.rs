//! Posts as their authors write them.

use std::sync::Arc;

/// The URI and the CID of one version of a record.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RecordRef {
    pub uri: Arc<str>,
    pub cid: Arc<str>,
}

/// A post before it gets a URI.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PostDraft {
    pub text: String,
    /// The author's claim, which nobody checks. `None`: the time of posting.
    pub created_at: Option<String>,
    pub langs: Vec<String>,
    pub facets: Vec<Facet>,
    pub embed: Option<PostEmbed>,
    pub reply: Option<ReplyRefs>,
    /// URLs that stand in the text without a facet.
    pub bare_links: Vec<String>,
}

/// A part of a text that has a meaning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facet {
    /// Offsets into the UTF-8 bytes; nobody checks that they are inside the text or between two characters.
    pub byte_start: usize,
    pub byte_end: usize,
    pub feature: FacetFeature,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FacetFeature {
    /// A URL.
    Link(String),
    /// The DID of an account.
    Mention(String),
    Tag(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PostEmbed {
    Media(MediaEmbed),
    /// A quoted post.
    Record(RecordRef),
    RecordWithMedia {
        record: RecordRef,
        media: MediaEmbed,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MediaEmbed {
    /// A card for a web page.
    External { uri: String, title: String, description: String },
    /// The alternative texts of the images.
    Images(Vec<String>),
}

/// The posts that a reply refers to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplyRefs {
    pub root: RecordRef,
    pub parent: RecordRef,
}

impl PostDraft {
    #[must_use]
    pub fn from_text(text: &str) -> Self {
        Self { text: text.to_owned(), langs: vec!["en".to_owned()], ..Self::default() }
    }

    /// Appends a link whose text is shorter than its URL, as most apps do.
    #[must_use]
    pub fn with_link(mut self, url: &str) -> Self {
        let shown = url.split_once("://").map_or(url, |(_, rest)| rest);
        let shown: String = shown.chars().take(24).collect();
        let feature = FacetFeature::Link(url.to_owned());
        self.append_facet(&shown, feature);
        self
    }

    /// Appends a URL that is no facet.
    #[must_use]
    pub fn with_bare_link(mut self, url: &str) -> Self {
        self.append_word(url);
        self.bare_links.push(url.to_owned());
        self
    }

    #[must_use]
    pub fn with_mention(mut self, handle: &str, did: &str) -> Self {
        self.append_facet(&format!("@{handle}"), FacetFeature::Mention(did.to_owned()));
        self
    }

    #[must_use]
    pub fn with_tag(mut self, tag: &str) -> Self {
        self.append_facet(&format!("#{tag}"), FacetFeature::Tag(tag.to_owned()));
        self
    }

    /// Adds a card for a web page, beside a quoted post if there is one.
    #[must_use]
    pub fn with_external(self, url: &str, title: &str) -> Self {
        self.with_media(MediaEmbed::External {
            uri: url.to_owned(),
            title: title.to_owned(),
            description: String::new(),
        })
    }

    /// Adds images, beside a quoted post if there is one.
    #[must_use]
    pub fn with_images(self, alt_texts: &[&str]) -> Self {
        self.with_media(MediaEmbed::Images(alt_texts.iter().map(ToString::to_string).collect()))
    }

    #[must_use]
    pub fn with_media(mut self, media: MediaEmbed) -> Self {
        self.embed = Some(match self.embed.and_then(PostEmbed::into_record) {
            Some(record) => PostEmbed::RecordWithMedia { record, media },
            None => PostEmbed::Media(media),
        });
        self
    }

    /// Quotes a post, beside media if there is any.
    #[must_use]
    pub fn with_quote(mut self, record: &RecordRef) -> Self {
        let record = record.clone();
        self.embed = Some(match self.embed.and_then(PostEmbed::into_media) {
            Some(media) => PostEmbed::RecordWithMedia { record, media },
            None => PostEmbed::Record(record),
        });
        self
    }

    #[must_use]
    pub fn with_reply(mut self, root: &RecordRef, parent: &RecordRef) -> Self {
        self.reply = Some(ReplyRefs { root: root.clone(), parent: parent.clone() });
        self
    }

    #[must_use]
    pub fn with_langs(mut self, langs: &[&str]) -> Self {
        self.langs = langs.iter().map(ToString::to_string).collect();
        self
    }

    /// Sets the author's claim of the time, in any form.
    #[must_use]
    pub fn with_created_at(mut self, created_at: &str) -> Self {
        self.created_at = Some(created_at.to_owned());
        self
    }

    fn append_facet(&mut self, word: &str, feature: FacetFeature) {
        let byte_start = self.append_word(word);
        self.facets.push(Facet { byte_start, byte_end: self.text.len(), feature });
    }

    /// Appends a word and returns the offset of its first byte.
    fn append_word(&mut self, word: &str) -> usize {
        if !self.text.is_empty() && !self.text.ends_with(char::is_whitespace) {
            self.text.push(' ');
        }
        let start = self.text.len();
        self.text.push_str(word);
        start
    }
}

impl PostEmbed {
    /// Returns the quoted post.
    #[must_use]
    pub fn record(&self) -> Option<&RecordRef> {
        match self {
            Self::Media(_) => None,
            Self::Record(record) | Self::RecordWithMedia { record, .. } => Some(record),
        }
    }

    #[must_use]
    pub fn media(&self) -> Option<&MediaEmbed> {
        match self {
            Self::Record(_) => None,
            Self::Media(media) | Self::RecordWithMedia { media, .. } => Some(media),
        }
    }

    fn into_record(self) -> Option<RecordRef> {
        match self {
            Self::Media(_) => None,
            Self::Record(record) | Self::RecordWithMedia { record, .. } => Some(record),
        }
    }

    fn into_media(self) -> Option<MediaEmbed> {
        match self {
            Self::Record(_) => None,
            Self::Media(media) | Self::RecordWithMedia { media, .. } => Some(media),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn post_draft_has_facets_at_the_bytes_of_their_words() {
        let draft = PostDraft::from_text("Hafen geöffnet")
            .with_link("https://harbor.example/berths")
            .with_mention("pilot.example", "did:plc:abc");
        let words: Vec<&str> = draft
            .facets
            .iter()
            .map(|facet| &draft.text[facet.byte_start..facet.byte_end])
            .collect();
        assert_eq!(words, ["harbor.example/berths", "@pilot.example"]);
    }

    #[test]
    fn post_draft_joins_a_quote_with_media_in_either_order() {
        let quoted = RecordRef { uri: "at://a/b/c".into(), cid: "x".into() };
        let quote_first = PostDraft::from_text("").with_quote(&quoted).with_images(&["a crane"]);
        let media_first = PostDraft::from_text("").with_images(&["a crane"]).with_quote(&quoted);
        assert_eq!(quote_first, media_first);
        assert!(matches!(quote_first.embed, Some(PostEmbed::RecordWithMedia { .. })));
    }
}
