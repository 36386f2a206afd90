//! Parses references to threads (`owner/repo#12`, `repo#12`, or the URL of a thread or of a comment in it) and to
//! repositories (`owner/repo` or `repo`).

use crate::safe_text::truncate_echo;

/// A reference to a thread. Issues, pull requests and discussions of a repository share their numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadAddress {
    /// The host of a URL, with its port unless that is the default.
    pub host: Option<String>,
    pub owner: Option<String>,
    pub repository: String,
    pub number: i64,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "not a thread: {0:?} (use owner/repo#12, repo#12, or the URL of an issue, pull request or discussion)"
)]
pub struct ParseAddressError(pub String);

impl ThreadAddress {
    pub fn parse(text: &str) -> Result<Self, ParseAddressError> {
        let trimmed = text.trim();
        let found =
            strip_web_scheme(trimmed).map_or_else(|| parse_short_form(trimmed), parse_page_url);
        found.ok_or_else(|| ParseAddressError(truncate_echo(text).into_owned()))
    }

    /// Returns true if the thread with this URL is at the referenced host. A reference without a host matches any.
    pub fn is_at_host_of(&self, url: &str) -> bool {
        let Some(expected) = &self.host else { return true };
        strip_web_scheme(url)
            .map(parse_host)
            .is_some_and(|host| host.eq_ignore_ascii_case(expected))
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

/// A reference to a repository. Upper and lower case are equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RepositoryRef<'a> {
    pub owner: Option<&'a str>,
    pub name: &'a str,
}

impl<'a> RepositoryRef<'a> {
    pub fn parse(text: &'a str) -> Self {
        let text = text.trim();
        match text.split_once('/') {
            Some((owner, name)) => Self { owner: Some(owner), name },
            None => Self { owner: None, name: text },
        }
    }

    pub fn matches_name(&self, owner: &str, name: &str) -> bool {
        self.owner.is_none_or(|expected| expected.eq_ignore_ascii_case(owner))
            && self.name.eq_ignore_ascii_case(name)
    }
}

/// Returns the part of a URL after its scheme. The scheme may be missing if the text begins with a host.
fn strip_web_scheme(text: &str) -> Option<&str> {
    if let Some((scheme, path)) = text.split_once("://") {
        let is_web = ["https", "http"].iter().any(|known| known.eq_ignore_ascii_case(scheme));
        return is_web.then_some(path);
    }
    (parse_host(text).contains('.') && text.split('/').count() >= 4).then_some(text)
}

/// Returns the host of a URL without user name, default port and `www.`.
fn parse_host(path: &str) -> &str {
    let host = path.split('/').next().unwrap_or_default();
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    let without_port = host.strip_suffix(":443").or_else(|| host.strip_suffix(":80"));
    let host = without_port.unwrap_or(host);
    match host.split_at_checked(4) {
        Some((www, rest)) if www.eq_ignore_ascii_case("www.") => rest,
        _ => host,
    }
}

fn parse_short_form(text: &str) -> Option<ThreadAddress> {
    let (name, number) = text.rsplit_once('#')?;
    let (owner, repository) = match name.split_once('/') {
        Some((owner, repository)) => (Some(parse_name(owner)?), repository),
        None => (None, name),
    };
    let (repository, number) = (parse_name(repository)?, parse_number(number)?);
    Some(ThreadAddress { host: None, owner, repository, number })
}

/// Parses `host/owner/repo/issues/12`, and ignores everything after it.
fn parse_page_url(path: &str) -> Option<ThreadAddress> {
    let path = path.split(['?', '#']).next()?;
    let mut parts = path.split('/').skip(1);
    let (owner, repository) = (parse_name(parts.next()?)?, parse_name(parts.next()?)?);
    if !["issues", "pull", "pulls", "discussions"].contains(&parts.next()?) {
        return None;
    }
    let (host, number) = (parse_host(path).to_owned(), parse_number(parts.next()?)?);
    Some(ThreadAddress { host: Some(host), owner: Some(owner), repository, number })
}

fn parse_name(name: &str) -> Option<String> {
    let is_plain = name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'));
    (!name.is_empty() && is_plain).then(|| name.to_owned())
}

fn parse_number(number: &str) -> Option<i64> {
    // `parse` would also accept a sign
    let is_number = number.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| number.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thread_address_parses_names_and_urls() {
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
    fn thread_address_matches_its_host_or_any_without_one() {
        let url = "https://github.com/acme/pump/issues/12";
        for text in [
            "pump#12",
            url,
            "GitHub.com/acme/pump/issues/12",
            "https://github.com:443/acme/pump/issues/12",
            "http://me@www.github.com/acme/pump/issues/12",
        ] {
            assert!(ThreadAddress::parse(text).unwrap().is_at_host_of(url), "{text}");
        }
        for text in ["https://ghe.example/acme/pump/issues/12", "github.com:8443/acme/pump/pull/12"]
        {
            assert!(!ThreadAddress::parse(text).unwrap().is_at_host_of(url), "{text}");
        }
    }

    #[test]
    fn thread_address_rejects_other_texts() {
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
    fn repository_ref_matches_any_case_with_or_without_owner() {
        for text in ["pump", " Pump ", "acme/pump", "ACME/PUMP"] {
            assert!(RepositoryRef::parse(text).matches_name("Acme", "pump"), "{text}");
        }
        for text in ["pum", "other/pump", "acme/", "", "a/acme/pump"] {
            assert!(!RepositoryRef::parse(text).matches_name("Acme", "pump"), "{text}");
        }
    }
}
