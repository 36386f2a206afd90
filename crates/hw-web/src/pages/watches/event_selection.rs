//! The events that a request asks for, as a query string and as links.

use hw_rules::event::EventClass;
use hw_rules::watch::WatchSubject;
use hw_store::{EventFilter, EventRow, StoreError, StoreReader};

use crate::query_params::QueryParams;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct EventSelection {
    class: Option<&'static str>,
    /// A thread, or a repository.
    subject: Option<WatchSubject>,
    before: Option<i64>,
}

/// A link that switches a part of the selection.
pub(super) struct EventChip {
    pub(super) id: String,
    pub(super) label: String,
    pub(super) href: String,
    pub(super) is_on: bool,
}

impl EventSelection {
    /// Reads the selection. What cannot be read selects nothing: the page shows everything then.
    pub(super) fn from_params(params: &QueryParams) -> Self {
        let class = params.get("class");
        Self {
            class: EventClass::NAMES.into_iter().find(|name| Some(*name) == class),
            subject: params.get("thread").and_then(|thread| thread.parse().ok()),
            before: params.get("before").and_then(|seq| seq.parse().ok()).filter(|seq| *seq > 0),
        }
    }

    /// Selects the events of a thread or repository.
    pub(super) fn of_subject(subject: WatchSubject) -> Self {
        Self { subject: Some(WatchSubject { label: None, ..subject }), ..Self::default() }
    }

    pub(super) fn subject_text(&self) -> Option<String> {
        self.subject.as_ref().map(ToString::to_string)
    }

    pub(super) fn is_filtered(&self) -> bool {
        self.class.is_some() || self.subject.is_some() || self.before.is_some()
    }

    pub(super) fn has_cursor(&self) -> bool {
        self.before.is_some()
    }

    /// Returns the selected events, the newest first. A repository that nobody knows has none.
    pub(super) fn read_events(
        &self,
        store: &StoreReader,
        limit: u32,
    ) -> Result<Vec<EventRow>, StoreError> {
        let repository = match &self.subject {
            None => None,
            Some(subject) => match store.find_repository_key(&subject.repository)? {
                None => return Ok(Vec::new()),
                found => found,
            },
        };
        store.list_events(&EventFilter {
            before: self.before,
            repository,
            number: self.subject.as_ref().and_then(|subject| subject.number),
            class: self.class.map(str::to_owned),
            limit,
            ..EventFilter::default()
        })
    }

    /// Returns the URL of the page before this event; of the first page without one.
    pub(super) fn page_url(&self, before: Option<i64>) -> String {
        Self { before, ..self.clone() }.url(&[])
    }

    /// Returns the URL from which the page updates itself.
    pub(super) fn live_url(&self) -> String {
        self.url(&[("live", "true")])
    }

    pub(super) fn chips(&self) -> Vec<EventChip> {
        let mut chips = vec![self.class_chip(None)];
        chips.extend(EventClass::NAMES.map(|class| self.class_chip(Some(class))));
        if self.subject.is_some() {
            let all = Self { subject: None, before: None, ..self.clone() };
            chips.push(EventChip {
                id: "all-threads".to_owned(),
                label: "all threads".to_owned(),
                href: all.url(&[]),
                is_on: false,
            });
        }
        chips
    }

    fn class_chip(&self, class: Option<&'static str>) -> EventChip {
        let name = class.unwrap_or("all");
        EventChip {
            id: format!("class-{name}"),
            label: name.to_owned(),
            href: Self { class, before: None, ..self.clone() }.url(&[]),
            is_on: self.class == class,
        }
    }

    fn url(&self, extra: &[(&str, &str)]) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        query.extend_pairs(extra);
        query.extend_pairs(self.class.map(|class| ("class", class)));
        query.extend_pairs(self.subject_text().map(|subject| ("thread", subject)));
        query.extend_pairs(self.before.map(|before| ("before", before.to_string())));
        let query = query.finish();
        if query.is_empty() { "/watches".to_owned() } else { format!("/watches?{query}") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn event_selection_survives_a_round_trip_through_its_url() {
        for query in [
            "",
            "class=feedback",
            "thread=acme%2Fpump%2312",
            "class=own&thread=acme%2Fpump&before=7",
        ] {
            let selection = EventSelection::from_params(&QueryParams::parse(query));
            let separator = if query.is_empty() { "" } else { "?" };
            assert_eq!(selection.url(&[]), format!("/watches{separator}{query}"));
        }
    }

    #[test]
    fn event_selection_ignores_what_it_cannot_read() {
        for query in ["class=x", "thread=pump", "thread=a%00/b#1", "before=x", "before=-1"] {
            let selection = EventSelection::from_params(&QueryParams::parse(query));
            assert_eq!(selection, EventSelection::default(), "{query}");
        }
    }
}
