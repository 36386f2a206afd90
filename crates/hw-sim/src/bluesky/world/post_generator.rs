//! Generates posts, names and links: plain or hostile.

use super::records::{Facet, FacetFeature, MediaEmbed, PostDraft};

const SUBJECTS: [&str; 14] = [
    "The ferry to the north pier",
    "A new depth chart",
    "The harbor library",
    "Tonight's tide",
    "The crane on berth 3",
    "Our lighthouse tour",
    "The rope workshop",
    "A seal colony",
    "The fog signal",
    "The fish market",
    "The dredging plan",
    "Our youth regatta",
    "The pilot boat",
    "The old drydock",
];
const PREDICATES: [&str; 14] = [
    "opens on Saturday",
    "is closed until further notice",
    "needs volunteers",
    "has a new timetable",
    "will be repaired next week",
    "moved to the other quay",
    "was worth getting up early for",
    "is later than announced",
    "won a prize",
    "gets a coat of paint",
    "now takes cards",
    "looks better than ever",
    "is explained here",
    "drew a crowd",
];
const NAMES: [&str; 16] = [
    "Harbor Gazette",
    "Pilot Station",
    "Tide Tables",
    "Rope Walk",
    "North Pier",
    "Lighthouse Keeper",
    "Fish Market",
    "Dredger Nine",
    "Seal Watch",
    "Fog Bell",
    "Quayside Radio",
    "Ferry Line",
    "Chart Room",
    "Drydock Museum",
    "Buoy Tender",
    "Regatta Club",
];
const SITES: [&str; 6] = [
    "gazette.example",
    "www.harborline.example",
    "tides.example",
    "radio.example",
    "portmuseum.example",
    "maps.example",
];
const TOPICS: [&str; 10] = [
    "ferry-timetable",
    "dredging-plan",
    "lighthouse-tour",
    "seal-count",
    "storm-report",
    "berth-fees",
    "regatta-results",
    "fog-signal-trial",
    "bridge-opening",
    "market-hall",
];
/// Tracking parameters, fragments and spellings that name the same page.
const LINK_ENDINGS: [&str; 6] =
    ["", "", "?utm_source=bsky&utm_medium=social", "#comments", "?fbclid=IwAR0", "?page=2"];
const HOSTILE_LINKS: [&str; 12] = [
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)//https://gazette.example/",
    "data:text/html,<script>alert(1)</script>",
    "https://user:secret@gazette.example/",
    "https://gazette.example/\"><script>alert(1)</script>",
    "https://xn--bcher-kva.example/\u{202e}gpj.exe",
    "http://[::1]:80/%00%0a",
    "https://",
    "file:///etc/passwd",
    "https://gazette.example/a b\tc\nd",
    "HTTPS://GAZETTE.EXAMPLE:443/Ferry?UTM_Source=x&&=&a#b#c",
    "not a url",
];
const HOSTILE_TEXTS: [&str; 12] = [
    "",
    "   \t  ",
    "before\u{0}after",
    "\u{1b}[31mred\u{1b}[0m \u{1b}]0;title\u{7} \u{9b}2J",
    "\u{202e}txt.exe\u{202c} \u{200f}שלום\u{2066}\u{2069}",
    "<script>alert('x')</script><img src=x onerror=alert(1)> </textarea>",
    "zero\u{200b}width\u{200d}\u{feff}joined",
    "👩‍👩‍👧‍👦 🏴󠁧󠁢󠁥󠁮󠁧󠁿 ✨ é e\u{301}",
    "港の水位計が動かない 泵控制器 항만",
    "line one\r\nline two\r\n\r\n\tindented\rold mac",
    "'; drop table posts; -- \" ` $1 %s {{7*7}} ${x} \\",
    "\u{fffd}\u{fffe}\u{ffff}\u{10ffff}\u{e000}",
];
const HOSTILE_NAMES: [&str; 6] = [
    "",
    "<b>bold</b>&amp;",
    "\u{202e}yettezaG robraH",
    "\u{1b}[31mRed\u{7}",
    "Zalgo t\u{311}\u{32e}e\u{33c}x\u{353}t",
    "Harbor Gazette \u{2714}\u{fe0f}",
];
const HOSTILE_HANDLES: [&str; 4] = [
    "xn--80ak6aa92e.example",
    "a-label-of-sixty-three-letters-is-the-longest-that-there-can-be.example",
    "<script>.example",
    "new\nline\u{202e}.example",
];

/// A seeded source of posts and names.
#[derive(Debug)]
pub(super) struct PostGenerator {
    is_hostile: bool,
}

impl PostGenerator {
    pub(super) fn new(is_hostile: bool) -> Self {
        Self { is_hostile }
    }

    pub(super) fn write_post(&self, rng: &mut fastrand::Rng) -> PostDraft {
        if self.is_hostile && rng.u8(0..3) == 0 {
            return self.write_hostile_post(rng);
        }
        let draft = PostDraft::from_text(&plain_text(rng));
        match rng.u8(0..10) {
            0..=2 => draft.with_link(&self.pick_link(rng)),
            3..=4 => {
                let link = self.pick_link(rng);
                draft.with_external(&link, &plain_text(rng))
            }
            5 => draft.with_bare_link(&self.pick_link(rng)),
            6 => draft.with_images(&["a photo of the quay", ""]),
            7 => draft.with_tag("harbor").with_langs(&["en", "da"]),
            _ => draft,
        }
    }

    /// Picks a link. The first ones are shared much more often than the last ones.
    pub(super) fn pick_link(&self, rng: &mut fastrand::Rng) -> String {
        if self.is_hostile && rng.u8(0..3) == 0 {
            return pick_one(rng, &HOSTILE_LINKS).to_owned();
        }
        let rank = rng.usize(0..TOPICS.len()).min(rng.usize(0..TOPICS.len()));
        let site = SITES[rank % SITES.len()];
        let ending = pick_one(rng, &LINK_ENDINGS);
        let site = if rng.u8(0..8) == 0 { site.to_uppercase() } else { site.to_owned() };
        format!("https://{site}/{}{ending}", TOPICS[rank])
    }

    pub(super) fn pick_name(&self, rng: &mut fastrand::Rng, index: usize) -> String {
        if self.is_hostile && rng.bool() {
            return pick_one(rng, &HOSTILE_NAMES).to_owned();
        }
        match NAMES.get(index) {
            Some(name) => (*name).to_owned(),
            None => format!("{} {index}", NAMES[index % NAMES.len()]),
        }
    }

    /// Returns a handle that no other account of the world was given by this function.
    pub(super) fn new_handle(&self, rng: &mut fastrand::Rng, index: usize) -> String {
        if self.is_hostile && rng.bool() {
            return format!("h{index}-{}", pick_one(rng, &HOSTILE_HANDLES));
        }
        let name = NAMES[index % NAMES.len()].to_lowercase().replace(' ', "-");
        if index < NAMES.len() {
            format!("{name}.harbor.example")
        } else {
            format!("{name}-{index}.harbor.example")
        }
    }

    fn write_hostile_post(&self, rng: &mut fastrand::Rng) -> PostDraft {
        let mut draft = PostDraft::from_text(pick_one(rng, &HOSTILE_TEXTS));
        match rng.u8(0..6) {
            0 => draft.text = "0123456789abcdé".repeat(640),
            1 => draft = draft.with_link(&self.pick_link(rng)),
            2 => {
                let uri = self.pick_link(rng);
                let title = pick_one(rng, &HOSTILE_TEXTS).to_owned();
                let description = pick_one(rng, &HOSTILE_TEXTS).to_owned();
                draft = draft.with_media(MediaEmbed::External { uri, title, description });
            }
            3 => draft.facets = wrong_facets(&self.pick_link(rng), draft.text.len()),
            4 => draft.langs = vec!["<x>".to_owned(), String::new(), "en".to_owned()],
            _ => draft.created_at = Some(pick_one(rng, &STRANGE_TIMES).to_owned()),
        }
        draft
    }
}

/// Times that authors claim: without milliseconds, with an offset, too precise, long ago, in the future, none.
const STRANGE_TIMES: [&str; 6] = [
    "2026-01-01T12:00:00Z",
    "2026-01-01T14:00:00.123456+02:00",
    "2026-01-01T12:00:00.123456789Z",
    "1999-12-31T23:59:59.999Z",
    "2199-01-01T00:00:00.000Z",
    "yesterday",
];

/// Returns facets that lie outside the text, end before they start, overlap, or split a character.
fn wrong_facets(link: &str, text_bytes: usize) -> Vec<Facet> {
    let ranges = [(0, text_bytes + 100), (5, 2), (1, 4), (2, 3), (usize::MAX / 4, usize::MAX / 4)];
    let facets = ranges.into_iter().map(|(byte_start, byte_end)| Facet {
        byte_start,
        byte_end,
        feature: FacetFeature::Link(link.to_owned()),
    });
    facets.collect()
}

fn plain_text(rng: &mut fastrand::Rng) -> String {
    let number = rng.u16(1..1000);
    format!("{} {}. No. {number}", pick_one(rng, &SUBJECTS), pick_one(rng, &PREDICATES))
}

pub(super) fn pick_one<'a>(rng: &mut fastrand::Rng, choices: &[&'a str]) -> &'a str {
    choices.get(rng.usize(0..choices.len())).copied().unwrap_or_default()
}
