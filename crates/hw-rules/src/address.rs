//! How people name a thread: `owner/repo#12`, `repo#12`, or the address of its page or of a comment in it;
//! and a repository: `owner/repo` or `repo`.

use crate::clean::shorten_echo;

/// Which thread is meant. Issues, pull requests and discussions of a repository share their numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadAddress {
    /// As it stands in the address of a page, with its port unless that is a usual one.
    pub host: Option<String>,
    pub owner: Option<String>,
    pub repository: String,
    pub number: i64,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a thread: {0:?} (owner/repo#12, repo#12, or the URL of its page)")]
pub struct NotAnAddress(pub String);

impl ThreadAddress {
    pub fn parse(text: &str) -> Result<Self, NotAnAddress> {
        let trimmed = text.trim();
        let found = path(trimmed).map_or_else(|| short(trimmed), page);
        found.ok_or_else(|| NotAnAddress(shorten_echo(text).into_owned()))
    }

    /// Whether a thread at this address of a page may be meant.
    pub fn is_at_host_of(&self, url: &str) -> bool {
        let host = path(url).map(host);
        self.host
            .as_deref()
            .is_none_or(|meant| host.is_some_and(|it| it.eq_ignore_ascii_case(meant)))
    }
}

impl std::fmt::Display for ThreadAddress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(owner) = &self.owner {
            write!(f, "{owner}/")?;
        }
        write!(f, "{}#{}", self.repository, self.number)
    }
}

/// Which repository is meant, in any case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RepositoryAddress<'a> {
    pub owner: Option<&'a str>,
    pub name: &'a str,
}

impl<'a> RepositoryAddress<'a> {
    pub fn of(text: &'a str) -> Self {
        let text = text.trim();
        match text.split_once('/') {
            Some((owner, name)) => Self { owner: Some(owner), name },
            None => Self { owner: None, name: text },
        }
    }

    pub fn means(&self, owner: &str, name: &str) -> bool {
        let is_owner = self.owner.is_none_or(|meant| meant.eq_ignore_ascii_case(owner));
        is_owner && self.name.eq_ignore_ascii_case(name)
    }
}

/// What follows the scheme of a page's address; a host is a scheme enough.
fn path(text: &str) -> Option<&str> {
    if let Some((scheme, path)) = text.split_once("://") {
        let is_web = ["https", "http"].iter().any(|it| it.eq_ignore_ascii_case(scheme));
        return is_web.then_some(path);
    }
    (host(text).contains('.') && 4 <= text.split('/').count()).then_some(text)
}

/// The host of a page, without what makes no difference: who asks, the usual ports, `www.`.
fn host(path: &str) -> &str {
    let host = path.split('/').next().unwrap_or_default();
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    let usual = host.strip_suffix(":443").or_else(|| host.strip_suffix(":80"));
    let host = usual.unwrap_or(host);
    match host.split_at_checked(4) {
        Some((www, rest)) if www.eq_ignore_ascii_case("www.") => rest,
        _ => host,
    }
}

fn short(text: &str) -> Option<ThreadAddress> {
    let (name, number) = text.rsplit_once('#')?;
    let (owner, repository) = match name.split_once('/') {
        Some((owner, repository)) => (Some(named(owner)?), repository),
        None => (None, name),
    };
    let (repository, number) = (named(repository)?, numbered(number)?);
    Some(ThreadAddress { host: None, owner, repository, number })
}

/// `host/owner/repo/issues/12`, with whatever follows.
fn page(path: &str) -> Option<ThreadAddress> {
    let path = path.split(['?', '#']).next()?;
    let mut parts = path.split('/').skip(1);
    let (owner, repository) = (named(parts.next()?)?, named(parts.next()?)?);
    if !["issues", "pull", "pulls", "discussions"].contains(&parts.next()?) {
        return None;
    }
    let (host, number) = (host(path).to_owned(), numbered(parts.next()?)?);
    Some(ThreadAddress { host: Some(host), owner: Some(owner), repository, number })
}

fn named(name: &str) -> Option<String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    (!name.is_empty() && name.chars().all(plain)).then(|| name.to_owned())
}

fn numbered(number: &str) -> Option<i64> {
    let digits = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| number.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_has_several_names() {
        for text in [
            "acme/pump#12",
            " acme/pump#12 ",
            "https://github.com/acme/pump/issues/12",
            "https://github.com/acme/pump/pull/12/files?w=1",
            "http://ghe.example.com:8443/acme/pump/discussions/12#discussioncomment-7",
            "https://github.com/acme/pump/issues/12#issuecomment-99",
            "HTTPS://GitHub.com/acme/pump/issues/12",
            "github.com/acme/pump/issues/12",
            "ghe.example.com:8443/acme/pump/pull/12#issuecomment-99",
        ] {
            let address = ThreadAddress::parse(text).unwrap();
            assert_eq!(address.to_string(), "acme/pump#12", "{text}");
        }
        assert_eq!(ThreadAddress::parse("pump#12").unwrap().owner, None);
    }

    #[test]
    fn a_page_is_of_its_host_and_a_name_of_any() {
        let meant = |text, url| ThreadAddress::parse(text).unwrap().is_at_host_of(url);
        let url = "https://github.com/acme/pump/issues/12";
        for text in [
            "pump#12",
            url,
            "GitHub.com/acme/pump/issues/12",
            "https://github.com:443/acme/pump/issues/12",
            "http://me@www.github.com/acme/pump/issues/12",
        ] {
            assert!(meant(text, url), "{text}");
        }
        for text in ["https://ghe.example/acme/pump/issues/12", "github.com:8443/acme/pump/pull/12"]
        {
            assert!(!meant(text, url), "{text}");
        }
    }

    #[test]
    fn what_names_no_thread_is_refused() {
        for text in [
            "",
            "12",
            "#12",
            "pump#",
            "pump#x",
            "a/b/c#1",
            "pump#-1",
            "p p#1",
            "pump#99999999999999999999",
            "https://github.com/acme/pump",
            "https://github.com/acme/pump/tree/12",
            "https://",
            "ftp://github.com/acme/pump/issues/12",
            "github/acme/pump/issues/12",
            "github.com/acme/pump/12",
            "acme/#1",
            "pump#+1",
        ] {
            assert!(ThreadAddress::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_repository_is_meant_in_any_case_and_with_or_without_its_owner() {
        for text in ["pump", " Pump ", "acme/pump", "ACME/PUMP"] {
            assert!(RepositoryAddress::of(text).means("Acme", "pump"), "{text}");
        }
        for text in ["pum", "other/pump", "acme/", "", "a/acme/pump"] {
            assert!(!RepositoryAddress::of(text).means("Acme", "pump"), "{text}");
        }
    }
}
