//! Finds the links of a post.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::link_address::{LinkAddress, MAX_URL_BYTES};

/// The links of one post that are stored; a readable post has a handful.
pub const MAX_LINKS: usize = 32;

/// A link of a post.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PostLink {
    /// The URL that the post has, as a browser requests it.
    pub url: String,
    /// The spelling that all links to the same page share.
    pub normal: String,
    pub origin: LinkOrigin,
}

/// The part of a post that a link is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LinkOrigin {
    /// A part of the text that is marked as a link.
    Facet,
    /// The card below the text.
    Embed,
    /// An address in the text that is not marked.
    Text,
}

impl LinkOrigin {
    pub const ALL: [Self; 3] = [Self::Facet, Self::Embed, Self::Text];

    /// Returns the name used in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Facet => "facet",
            Self::Embed => "embed",
            Self::Text => "text",
        }
    }

    /// Returns the origin with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|origin| origin.name() == name)
    }
}

/// A part of a text that is marked as a link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkFacet {
    /// The marked bytes of the text.
    pub start: usize,
    pub end: usize,
    pub url: String,
}

impl LinkFacet {
    /// Returns the marked bytes, if the text has them. Clients display no other facets.
    fn range_in(&self, text: &str) -> Option<Range<usize>> {
        let is_marked = self.start < self.end
            && text.is_char_boundary(self.start)
            && text.is_char_boundary(self.end);
        is_marked.then_some(self.start..self.end)
    }
}

/// Returns the links of a post: of its facets, of its embedded cards, and of addresses in the text.
///
/// One page is listed once for each origin. Text below a facet is not searched: it is often the shortened form of the
/// facet's own URL.
pub fn extract_links(text: &str, facets: &[LinkFacet], embeds: &[String]) -> Vec<PostLink> {
    let mut links = LinkList::default();
    let mut marked = Vec::new();
    for facet in facets {
        if let Some(range) = facet.range_in(text) {
            links.add(&facet.url, LinkOrigin::Facet);
            marked.push(range);
        }
    }
    for url in embeds {
        links.add(url, LinkOrigin::Embed);
    }
    for range in find_addresses(text) {
        let is_marked = marked.iter().any(|mark| mark.start < range.end && range.start < mark.end);
        if !is_marked {
            links.add(&text[range], LinkOrigin::Text);
        }
    }
    links.0
}

#[derive(Default)]
struct LinkList(Vec<PostLink>);

impl LinkList {
    fn add(&mut self, url: &str, origin: LinkOrigin) {
        if self.0.len() == MAX_LINKS {
            return;
        }
        let Some(LinkAddress { url, normal }) = LinkAddress::parse(url) else { return };
        if !self.0.iter().any(|link| link.normal == normal && link.origin == origin) {
            self.0.push(PostLink { url, normal, origin });
        }
    }
}

/// Returns the places of the `http://` and `https://` addresses in a text.
fn find_addresses(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(colon) = text[at..].find("://").map(|offset| at + offset) {
        let after = colon + "://".len();
        at = after;
        if let Some(start) = scheme_start(&text[..colon])
            && let Some(end) = address_end(text, after)
        {
            found.push(start..end);
            at = end;
        }
    }
    found
}

/// Returns the start of the scheme that the text ends with, if it is one of the web's and no part of a longer word.
fn scheme_start(before: &str) -> Option<usize> {
    let start = ["https", "http"].iter().find_map(|scheme| {
        let start = before.len().checked_sub(scheme.len())?;
        before.get(start..)?.eq_ignore_ascii_case(scheme).then_some(start)
    })?;
    let continues_word =
        before[..start].ends_with(|c: char| c.is_alphanumeric() || "+-.".contains(c));
    (!continues_word).then_some(start)
}

/// Returns the end of the address whose host starts here; none if the address is cut off, empty or too long.
fn address_end(text: &str, host_start: usize) -> Option<usize> {
    let rest = &text[host_start..];
    let length = rest.find(ends_address).unwrap_or(rest.len());
    let address = trim_punctuation(rest.get(..length).filter(|_| length <= MAX_URL_BYTES)?);
    let after = &rest[address.len()..];
    let is_cut_off = after.starts_with('…') || after.starts_with("...");
    (!address.is_empty() && !is_cut_off).then_some(host_start + address.len())
}

fn ends_address(c: char) -> bool {
    c.is_whitespace() || c.is_control() || "<>\"`{}|\\^".contains(c)
}

/// Removes the punctuation of the sentence around an address. A closing bracket stays if the address opens it.
fn trim_punctuation(mut address: &str) -> &str {
    let count = |bracket: char| address.matches(bracket).count();
    let (mut round, mut square) =
        (count(')').saturating_sub(count('(')), count(']').saturating_sub(count('[')));
    while let Some(last) = address.chars().next_back() {
        let unopened = match last {
            ')' => &mut round,
            ']' => &mut square,
            _ if ".,;:!?'*_~…”’»。、，！？".contains(last) => &mut 1,
            _ => break,
        };
        if *unopened == 0 {
            break;
        }
        *unopened -= 1;
        address = &address[..address.len() - last.len_utf8()];
    }
    address
}

#[cfg(test)]
#[path = "links_tests.rs"]
mod tests;
