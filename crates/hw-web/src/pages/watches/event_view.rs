//! An event on the page.

use hw_rules::event::IgnoredReason;
use hw_rules::event_text::describe_change;
use hw_store::EventRow;

use crate::format::{self, DisplayTime, format_author, format_line, format_path};
use crate::post_view::format_post_text;

pub(super) struct EventView {
    /// The id of its element.
    pub(super) id: String,
    /// `feedback`, or `ignored: bot`.
    pub(super) class: String,
    /// `edited comment by ada`, or `merged`.
    pub(super) action: String,
    /// The thread, and its page.
    pub(super) address: String,
    pub(super) href: String,
    pub(super) updated: DisplayTime,
    pub(super) text: String,
    /// The file and line that it is about.
    pub(super) code_line: Option<String>,
    pub(super) url: Option<String>,
}

impl EventView {
    pub(super) fn new(row: &EventRow) -> Self {
        let event = &row.event;
        let change = describe_change(event.change, event.object.kind);
        let is_state = event.change.state_change().is_some();
        Self {
            id: format!("event-{}", row.seq),
            class: match event.class.reason().map(IgnoredReason::name) {
                Some(reason) => format!("{}: {reason}", event.class.name()),
                None => event.class.name().to_owned(),
            },
            // the author of the thread is not who changed its state
            action: if is_state {
                change
            } else {
                format!("{change} by {}", format_author(event.author.as_deref()))
            },
            address: format_line(&event.thread_name()),
            href: format!("/threads/{}/{}", event.repository_name, event.number),
            updated: DisplayTime::new(event.updated_at.instant()),
            text: if is_state {
                event.title.as_deref().map(format_line).unwrap_or_default()
            } else {
                format_post_text(&event.body)
            },
            code_line: event.path.as_deref().map(|file| match event.line {
                Some(number) => format!("{}:{number}", format_path(file)),
                None => format_path(file),
            }),
            url: format::external_url(&event.url),
        }
    }
}
