//! Words events for people.

use hw_rules::event_text::describe_change;
use hw_store::Event;

use crate::columns::class_text;
use crate::post_text::{minute_text, post_excerpt};
use crate::terminal::clean_line;

/// Stands for the author of a deleted account, as on GitHub.
const GHOST: &str = "ghost";

/// Returns an event as one line, with its id at the end. Texts are cleaned before they are padded, so that the columns
/// line up.
pub(crate) fn event_line(event: &Event) -> String {
    let (time, class) = (minute_text(&event.updated_at), class_text(event.class));
    let summary = event_summary(event);
    let excerpt = match post_excerpt(&event.body) {
        excerpt if excerpt.is_empty() || event.change.state_change().is_some() => String::new(),
        excerpt => format!(": {excerpt}"),
    };
    format!("{time}  {class:<9} {summary}{excerpt}  {}", event.id)
}

/// Returns what happened where: `acme/pump#12: edited comment by ada`, `acme/pump#12: merged`.
pub(crate) fn event_summary(event: &Event) -> String {
    let thread = clean_line(&event.thread_name());
    let change = describe_change(event.change, event.object.kind);
    if event.change.state_change().is_some() {
        // the author of the thread is not who changed its state
        return format!("{thread} {change}");
    }
    let author = clean_line(event.author.as_deref().unwrap_or(GHOST));
    format!("{thread} {change} by {author}")
}
