//! Resolves references in bodies to local pages, for threads that are mirrored.

use std::collections::{BTreeMap, BTreeSet};

use hw_rules::thread_address::ThreadAddress;
use hw_store::{StoreError, StoreReader};

use crate::format;
use crate::markdown::references::{ReferenceTarget, find_references};

/// Repositories that are looked up for one page; references to others stay unresolved.
const MAX_REPOSITORIES: usize = 50;
/// Threads that are looked up for one page.
const MAX_NUMBERS: usize = 1_000;
/// Dependabot and Renovate write URLs with this host instead of GitHub's, so that GitHub adds no backlink.
const REDIRECT_HOST: &str = "redirect.github.com";
const REDIRECT_TARGET: &str = "github.com";

/// The repository of the displayed thread.
#[derive(Clone)]
pub(crate) struct HomeRepository {
    /// The source's name in the store.
    pub(crate) source: String,
    /// The host of the thread's URL.
    pub(crate) web_host: String,
    pub(crate) owner: String,
    pub(crate) name: String,
}

/// The mirrored threads among those that the bodies of a page refer to.
pub(crate) struct ThreadLinks {
    home: HomeRepository,
    /// Numbers by `owner/repo` in lower case.
    mirrored: BTreeMap<String, BTreeSet<i64>>,
}

/// A thread that a body refers to.
struct ThreadReference {
    /// `owner/repo` in lower case.
    repository: String,
    number: i64,
}

impl ThreadLinks {
    /// Looks up the threads that these texts refer to.
    pub(crate) fn read<'a>(
        store: &StoreReader,
        home: HomeRepository,
        texts: impl IntoIterator<Item = &'a str>,
    ) -> Result<Self, StoreError> {
        let mut links = Self { home, mirrored: BTreeMap::new() };
        for (repository, numbers) in links.collect_candidates(texts) {
            let Some((owner, name)) = repository.split_once('/') else { continue };
            let numbers: Vec<i64> = numbers.into_iter().collect();
            let stored = store.stored_thread_numbers(&links.home.source, owner, name, &numbers)?;
            links.mirrored.insert(repository, stored);
        }
        Ok(links)
    }

    fn collect_candidates<'a>(
        &self,
        texts: impl IntoIterator<Item = &'a str>,
    ) -> BTreeMap<String, BTreeSet<i64>> {
        let mut candidates: BTreeMap<String, BTreeSet<i64>> = BTreeMap::new();
        let mut remaining = MAX_NUMBERS;
        let references = texts.into_iter().flat_map(|text| self.find_thread_references(text));
        for ThreadReference { repository, number } in references {
            if remaining == 0 {
                break;
            }
            if candidates.len() < MAX_REPOSITORIES || candidates.contains_key(&repository) {
                remaining -= usize::from(candidates.entry(repository).or_default().insert(number));
            }
        }
        candidates
    }

    /// Finds all references and URLs in a Markdown text that may lead to a thread.
    fn find_thread_references(&self, text: &str) -> Vec<ThreadReference> {
        let mut references = Vec::new();
        for reference in find_references(text) {
            if let ReferenceTarget::Thread { repository, number } = reference.target {
                let repository = self.repository_key(repository);
                references.push(ThreadReference { repository, number });
            }
        }
        let words = text.split(|c: char| c.is_whitespace() || "<>()[]\"'`|".contains(c));
        let addresses = words.filter_map(|word| self.parse_address(&word[word.find("http")?..]));
        references.extend(addresses.map(|address| ThreadReference {
            repository: address_key(&address),
            number: address.number,
        }));
        references
    }

    /// Returns the local page of a referenced thread; none when the thread is not mirrored.
    pub(crate) fn page_for_reference(
        &self,
        repository: Option<&str>,
        number: i64,
    ) -> Option<String> {
        let key = self.repository_key(repository);
        self.mirrored.get(&key)?.contains(&number).then(|| {
            let home = format!("{}/{}", self.home.owner, self.home.name);
            format!("/threads/{}/{number}", repository.unwrap_or(&home))
        })
    }

    /// Returns the local page of the thread or comment at a URL; none when the thread is not mirrored.
    pub(crate) fn page_for_url(&self, url: &str) -> Option<String> {
        let address = self.parse_address(url)?;
        let path = self.page_for_reference(Some(&repository_name(&address)), address.number)?;
        let anchor = format::url_fragment(url);
        Some(anchor.map_or(path.clone(), |anchor| format!("{path}?at={anchor}#{anchor}")))
    }

    /// Shortens the URL of a mirrored thread as GitHub does: `#12`, or `owner/repo#12` in another repository.
    pub(crate) fn short_name(&self, url: &str) -> Option<String> {
        let address = self.parse_address(url)?;
        self.page_for_reference(Some(&repository_name(&address)), address.number)?;
        let is_home = address_key(&address) == self.repository_key(None);
        let repository = if is_home { String::new() } else { repository_name(&address) };
        let note = if format::url_fragment(url).is_some() { " (comment)" } else { "" };
        Some(format!("{repository}#{}{note}", address.number))
    }

    fn parse_address(&self, url: &str) -> Option<ThreadAddress> {
        let address = ThreadAddress::parse(url).ok().filter(|address| address.owner.is_some())?;
        let host = address.host.as_deref()?;
        let host = if host.eq_ignore_ascii_case(REDIRECT_HOST) { REDIRECT_TARGET } else { host };
        host.eq_ignore_ascii_case(&self.home.web_host).then_some(address)
    }

    fn repository_key(&self, repository: Option<&str>) -> String {
        match repository {
            Some(repository) => repository.to_ascii_lowercase(),
            None => format!("{}/{}", self.home.owner, self.home.name).to_ascii_lowercase(),
        }
    }
}

fn repository_name(address: &ThreadAddress) -> String {
    format!("{}/{}", address.owner.as_deref().unwrap_or_default(), address.repository)
}

fn address_key(address: &ThreadAddress) -> String {
    repository_name(address).to_ascii_lowercase()
}

#[cfg(test)]
impl ThreadLinks {
    /// Creates links from `acme/pump` to these mirrored threads.
    pub(crate) fn with_mirrored(mirrored: &[(&str, i64)]) -> Self {
        let home = HomeRepository {
            source: "github.com".to_owned(),
            web_host: "github.com".to_owned(),
            owner: "acme".to_owned(),
            name: "pump".to_owned(),
        };
        let mut links = Self { home, mirrored: BTreeMap::new() };
        for (repository, number) in mirrored {
            links.mirrored.entry((*repository).to_owned()).or_default().insert(*number);
        }
        links
    }
}
