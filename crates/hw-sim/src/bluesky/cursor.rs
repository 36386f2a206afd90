//! Cursors of feeds: the position of a page's last item, in one of two formats.

use super::spec::CursorFormat;
use super::world::{FeedKey, FeedRow};
use crate::timestamps;

/// A cursor as the service understands it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum FeedCursor {
    /// Below this position, which may be that of an item.
    Below(FeedPosition),
    /// A cursor of a format that existed once: it is answered with an empty page.
    Outdated,
    Malformed,
}

/// A position in a feed. A page below it contains only what is strictly older.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FeedPosition {
    pub(super) sort_ms: i64,
    /// Empty: below everything of the same time.
    pub(super) cid: String,
}

impl FeedCursor {
    pub(super) fn parse(format: CursorFormat, text: &str) -> Self {
        if text.contains("::") {
            return Self::Outdated;
        }
        let position = match format {
            CursorFormat::IsoTime => timestamps::parse_rfc3339(text).map(FeedPosition::below_time),
            CursorFormat::MillisecondsCid => parse_milliseconds_cid(text),
        };
        position.map_or(Self::Malformed, Self::Below)
    }
}

impl FeedPosition {
    pub(super) fn below_time(sort_ms: i64) -> Self {
        Self { sort_ms, cid: String::new() }
    }

    pub(super) fn of_row(key: &FeedKey) -> Self {
        Self { sort_ms: key.sort_ms, cid: key.cid.to_string() }
    }

    pub(super) fn to_text(&self, format: CursorFormat) -> String {
        match format {
            CursorFormat::IsoTime => timestamps::format_rfc3339_ms(self.sort_ms),
            CursorFormat::MillisecondsCid => format!("{}__{}", self.sort_ms, self.cid),
        }
    }

    /// Returns the least key that is not below the position.
    pub(super) fn to_bound(&self) -> FeedKey {
        FeedKey { sort_ms: self.sort_ms, cid: self.cid.as_str().into(), row: FeedRow::Post(0) }
    }
}

fn parse_milliseconds_cid(text: &str) -> Option<FeedPosition> {
    let (ms, cid) = text.split_once("__")?;
    Some(FeedPosition { sort_ms: ms.parse().ok()?, cid: cid.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursor_is_read_back_in_both_formats() {
        let position = FeedPosition { sort_ms: 1_767_323_045_067, cid: "bafy".to_owned() };
        let exact = position.to_text(CursorFormat::MillisecondsCid);
        assert_eq!(exact, "1767323045067__bafy");
        let parsed = FeedCursor::parse(CursorFormat::MillisecondsCid, &exact);
        assert_eq!(parsed, FeedCursor::Below(position.clone()));
        let time = position.to_text(CursorFormat::IsoTime);
        assert_eq!(time, "2026-01-02T03:04:05.067Z");
        let parsed = FeedCursor::parse(CursorFormat::IsoTime, &time);
        assert_eq!(parsed, FeedCursor::Below(FeedPosition::below_time(1_767_323_045_067)));
    }

    #[test]
    fn cursor_of_another_format_is_malformed_and_one_with_colons_is_outdated() {
        for format in [CursorFormat::IsoTime, CursorFormat::MillisecondsCid] {
            assert_eq!(FeedCursor::parse(format, "nonsense"), FeedCursor::Malformed);
            assert_eq!(FeedCursor::parse(format, ""), FeedCursor::Malformed);
            assert_eq!(FeedCursor::parse(format, "1767323045067::bafy"), FeedCursor::Outdated);
        }
        let iso = FeedCursor::parse(CursorFormat::MillisecondsCid, "2026-01-02T03:04:05.067Z");
        assert_eq!(iso, FeedCursor::Malformed);
    }
}
