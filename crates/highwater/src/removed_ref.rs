//! Parses references to removed items.

use hw_rules::thread_address::{RepositoryRef, ThreadAddress};
use hw_store::{RemovedItem, RemovedQuery};

/// A reference to a removed item: an id, a thread, a repository or a URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RemovedRef {
    Id(i64),
    Thread(ThreadAddress),
    /// `owner/name`.
    Repository(String),
    Url(String),
}

impl RemovedRef {
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if let Ok(id) = text.parse::<i64>() {
            return Ok(Self::Id(id));
        }
        if text.contains("://") {
            return Ok(Self::Url(text.trim_end_matches('/').to_owned()));
        }
        if let Ok(thread) = ThreadAddress::parse(text) {
            return Ok(Self::Thread(thread));
        }
        match text.split_once('/') {
            Some((owner, name)) if is_name(owner) && is_name(name) => {
                Ok(Self::Repository(text.to_owned()))
            }
            _ => Err(format!(
                "expected a URL, OWNER/REPOSITORY#NUMBER, OWNER/REPOSITORY or an id, got {text:?}"
            )),
        }
    }

    /// Returns the queries that may find the item, the most specific first.
    pub(crate) fn store_queries(&self) -> Vec<RemovedQuery> {
        match self {
            Self::Id(id) => vec![RemovedQuery::Id(*id)],
            Self::Thread(thread) => vec![RemovedQuery::Number(thread.number)],
            Self::Repository(_) => vec![RemovedQuery::Repositories],
            Self::Url(url) => {
                let number =
                    self.thread_address().map(|thread| RemovedQuery::Number(thread.number));
                [RemovedQuery::Url(url.clone())].into_iter().chain(number).collect()
            }
        }
    }

    /// Returns true if an item that one of the queries found is the referenced one.
    pub(crate) fn matches_item(&self, item: &RemovedItem) -> bool {
        let repository = RepositoryRef::parse(&item.repository);
        match self {
            Self::Id(id) => item.key.id == *id,
            Self::Url(url) if item.url == *url => true,
            Self::Thread(_) | Self::Url(_) => self.thread_address().is_some_and(|thread| {
                let owner = thread.owner.as_deref().unwrap_or(repository.owner.unwrap_or_default());
                item.number == Some(thread.number)
                    && repository.matches_name(owner, &thread.repository)
                    && thread.is_at_host_of(&item.url)
            }),
            Self::Repository(name) => name.eq_ignore_ascii_case(&item.repository),
        }
    }

    /// Returns the referenced thread, if the reference is to one. The URL of a comment refers only to the comment.
    pub(crate) fn thread_address(&self) -> Option<ThreadAddress> {
        match self {
            Self::Thread(thread) => Some(thread.clone()),
            Self::Url(url) if !url.contains('#') => ThreadAddress::parse(url).ok(),
            Self::Url(_) | Self::Id(_) | Self::Repository(_) => None,
        }
    }
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && !text.contains(['/', '#', ' '])
}

impl std::fmt::Display for RemovedRef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Id(id) => write!(f, "{id}"),
            Self::Thread(thread) => write!(f, "{thread}"),
            Self::Repository(name) | Self::Url(name) => f.write_str(name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn removed_ref_accepts_every_name_in_the_list() {
        let comment = "https://github.com/acme/pump/issues/12#issuecomment-99";
        assert_eq!(RemovedRef::parse("12"), Ok(RemovedRef::Id(12)));
        assert_eq!(RemovedRef::parse(comment), Ok(RemovedRef::Url(comment.to_owned())));
        assert!(matches!(RemovedRef::parse("pump#12"), Ok(RemovedRef::Thread(_))));
        assert_eq!(
            RemovedRef::parse("acme/pump"),
            Ok(RemovedRef::Repository("acme/pump".to_owned()))
        );
        for text in ["", "pump", "acme/", "a/b/c", "acme/pump#x"] {
            assert!(RemovedRef::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn removed_ref_of_a_comment_never_means_its_thread() {
        let thread = "https://github.com/acme/pump/issues/12";
        let comment = "https://github.com/acme/pump/issues/12#issuecomment-99";
        for (url, count) in [(thread, 2), (comment, 1)] {
            assert_eq!(RemovedRef::parse(url).unwrap().store_queries().len(), count, "{url}");
        }
    }
}
