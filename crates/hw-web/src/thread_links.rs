//! Local pages for the threads that bodies refer to, where those threads are mirrored.

use std::collections::{BTreeMap, BTreeSet};

use hw_rules::address::ThreadAddress;
use hw_store::{Error, Store};

use crate::markdown::references::{ReferenceTarget, find_references};
use crate::texts;

/// Repositories and numbers that are looked up for one page; references beyond them stay as they are.
const MAX_REPOSITORIES: usize = 50;
const MAX_NUMBERS: usize = 1_000;
/// Dependabot and Renovate write addresses through this host, so that GitHub adds no backlink.
const REDIRECT: (&str, &str) = ("redirect.github.com", "github.com");

/// The repository whose thread is shown.
#[derive(Clone)]
pub(crate) struct HomeRepository {
    /// The source's name in the store.
    pub(crate) source: String,
    /// The host of the thread's address.
    pub(crate) web_host: String,
    pub(crate) owner: String,
    pub(crate) name: String,
}

/// The mirrored threads among those that some bodies refer to.
pub(crate) struct ThreadLinks {
    home: HomeRepository,
    /// Numbers by `owner/repo` in lower case.
    mirrored: BTreeMap<String, BTreeSet<i64>>,
}

impl ThreadLinks {
    /// Looks up all threads that these texts refer to.
    pub(crate) fn read<'a>(
        store: &Store,
        home: HomeRepository,
        texts: impl IntoIterator<Item = &'a str>,
    ) -> Result<Self, Error> {
        let mut links = Self { home, mirrored: BTreeMap::new() };
        for (repository, numbers) in links.candidates(texts) {
            let Some((owner, name)) = repository.split_once('/') else { continue };
            let numbers: Vec<i64> = numbers.into_iter().collect();
            let stored = store.stored_thread_numbers(&links.home.source, owner, name, &numbers)?;
            links.mirrored.insert(repository, stored);
        }
        Ok(links)
    }

    fn candidates<'a>(
        &self,
        texts: impl IntoIterator<Item = &'a str>,
    ) -> BTreeMap<String, BTreeSet<i64>> {
        let mut candidates: BTreeMap<String, BTreeSet<i64>> = BTreeMap::new();
        let mut left = MAX_NUMBERS;
        for (repository, number) in texts.into_iter().flat_map(|text| self.referred(text)) {
            if left == 0 {
                break;
            }
            if candidates.len() < MAX_REPOSITORIES || candidates.contains_key(&repository) {
                left -= usize::from(candidates.entry(repository).or_default().insert(number));
            }
        }
        candidates
    }

    /// Everything in a Markdown text that may refer to a thread.
    fn referred(&self, text: &str) -> Vec<(String, i64)> {
        let mut referred = Vec::new();
        for reference in find_references(text) {
            if let ReferenceTarget::Thread { repository, number } = reference.target {
                referred.push((self.key(repository), number));
            }
        }
        let words = text.split(|c: char| c.is_whitespace() || "<>()[]\"'`|".contains(c));
        let addresses = words.filter_map(|word| self.parse_address(&word[word.find("http")?..]));
        referred.extend(addresses.map(|it| (key_of(&it), it.number)));
        referred
    }

    /// The local page of a reference in a text; none when the thread is not mirrored.
    pub(crate) fn page_of(&self, repository: Option<&str>, number: i64) -> Option<String> {
        let key = self.key(repository);
        self.mirrored.get(&key)?.contains(&number).then(|| {
            let home = format!("{}/{}", self.home.owner, self.home.name);
            format!("/threads/{}/{number}", repository.unwrap_or(&home))
        })
    }

    /// The local page of a thread or comment at this address of a page; none when the thread is not mirrored.
    pub(crate) fn local_page(&self, url: &str) -> Option<String> {
        let address = self.parse_address(url)?;
        let path = self.page_of(Some(&name_of(&address)), address.number)?;
        let anchor = texts::fragment(url);
        Some(anchor.map_or(path.clone(), |anchor| format!("{path}?at={anchor}#{anchor}")))
    }

    /// The way GitHub shortens the address of a mirrored thread: `#12`, or `owner/repo#12` elsewhere.
    pub(crate) fn short_name(&self, url: &str) -> Option<String> {
        let address = self.parse_address(url)?;
        self.page_of(Some(&name_of(&address)), address.number)?;
        let is_home = key_of(&address) == self.key(None);
        let repository = if is_home { String::new() } else { name_of(&address) };
        let note = if texts::fragment(url).is_some() { " (comment)" } else { "" };
        Some(format!("{repository}#{}{note}", address.number))
    }

    fn parse_address(&self, url: &str) -> Option<ThreadAddress> {
        let address = ThreadAddress::parse(url).ok().filter(|it| it.owner.is_some())?;
        let host = address.host.as_deref()?;
        let host = if host.eq_ignore_ascii_case(REDIRECT.0) { REDIRECT.1 } else { host };
        host.eq_ignore_ascii_case(&self.home.web_host).then_some(address)
    }

    fn key(&self, repository: Option<&str>) -> String {
        match repository {
            Some(repository) => repository.to_ascii_lowercase(),
            None => format!("{}/{}", self.home.owner, self.home.name).to_ascii_lowercase(),
        }
    }
}

fn name_of(address: &ThreadAddress) -> String {
    format!("{}/{}", address.owner.as_deref().unwrap_or_default(), address.repository)
}

fn key_of(address: &ThreadAddress) -> String {
    name_of(address).to_ascii_lowercase()
}

#[cfg(test)]
impl ThreadLinks {
    /// Links from `acme/pump` to mirrored threads of repositories.
    pub(crate) fn with_mirrored(mirrored: &[(&str, i64)]) -> Self {
        let named = |name: &str| name.to_owned();
        let home = HomeRepository {
            source: named("github.com"),
            web_host: named("github.com"),
            owner: named("acme"),
            name: named("pump"),
        };
        let mut links = Self { home, mirrored: BTreeMap::new() };
        for (repository, number) in mirrored {
            links.mirrored.entry(named(repository)).or_default().insert(*number);
        }
        links
    }
}
