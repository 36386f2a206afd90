//! How people name a removed item.

use hw_rules::address::{RepositoryAddress, ThreadAddress};
use hw_store::{RemovedItem, RemovedQuery};

/// A removed item by one of its names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RemovedRef {
    Id(i64),
    Thread(ThreadAddress),
    /// Owner and name.
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
        let is_name = |name: &str| !name.is_empty() && !name.contains(['/', '#', ' ']);
        match text.split_once('/') {
            Some((owner, name)) if is_name(owner) && is_name(name) => {
                Ok(Self::Repository(text.to_owned()))
            }
            _ => Err(format!(
                "expected a URL, OWNER/REPOSITORY#NUMBER, OWNER/REPOSITORY or an id, got {text:?}"
            )),
        }
    }

    /// Returns what to look for, the most exact first.
    pub(crate) fn queries(&self) -> Vec<RemovedQuery> {
        match self {
            Self::Id(id) => vec![RemovedQuery::Id(*id)],
            Self::Thread(thread) => vec![RemovedQuery::Number(thread.number)],
            Self::Repository(_) => vec![RemovedQuery::Repositories],
            Self::Url(url) => {
                let number = self.thread().map(|thread| RemovedQuery::Number(thread.number));
                [RemovedQuery::Url(url.clone())].into_iter().chain(number).collect()
            }
        }
    }

    /// Returns whether an item that such a query found is the one that is meant.
    pub(crate) fn means(&self, item: &RemovedItem) -> bool {
        let repository = RepositoryAddress::of(&item.repository);
        match self {
            Self::Id(id) => item.key.id == *id,
            Self::Url(url) if item.url == *url => true,
            Self::Thread(_) | Self::Url(_) => self.thread().is_some_and(|thread| {
                let owner = thread.owner.as_deref().unwrap_or(repository.owner.unwrap_or_default());
                item.number == Some(thread.number)
                    && repository.means(owner, &thread.repository)
                    && thread.is_at_host_of(&item.url)
            }),
            Self::Repository(name) => name.eq_ignore_ascii_case(&item.repository),
        }
    }

    /// Returns the thread that is named; the address of a comment names the comment alone.
    pub(crate) fn thread(&self) -> Option<ThreadAddress> {
        match self {
            Self::Thread(thread) => Some(thread.clone()),
            Self::Url(url) if !url.contains('#') => ThreadAddress::parse(url).ok(),
            Self::Url(_) | Self::Id(_) | Self::Repository(_) => None,
        }
    }
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
    fn removed_ref_reads_every_name_that_a_list_shows() {
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
        let queries = |text| RemovedRef::parse(text).unwrap().queries().len();
        assert_eq!(queries("https://github.com/acme/pump/issues/12"), 2);
        assert_eq!(queries("https://github.com/acme/pump/issues/12#issuecomment-99"), 1);
    }
}
