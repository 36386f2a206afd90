//! Checks names by GitHub's rules before they enter a request or a path.

pub(crate) use hw_rules::followed_source::RepositorySelector;
use hw_rules::followed_source::{FollowedSource, RepositoryName};

const MAX_OWNER_LENGTH: usize = 39;
const MAX_REPOSITORY_LENGTH: usize = 100;

/// Parses something to follow: `acme`, or one repository as `acme/pump`.
pub(crate) fn parse_source(text: &str) -> Result<FollowedSource, String> {
    let source = match text.split_once('/') {
        None => parse_owner(text).map(FollowedSource::Owner),
        Some((owner, name)) if is_login(owner) && is_repository_name(name) => {
            Ok(FollowedSource::Repository(RepositoryName::new(owner, name)))
        }
        Some(_) => Err(String::new()),
    };
    source.map_err(|_| format!("expected a login or OWNER/REPOSITORY, got {text:?}"))
}

/// Parses any number of sources, comma separated; an empty text has none.
pub(crate) fn parse_sources(text: &str) -> Result<Vec<FollowedSource>, String> {
    let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
    parts.map(parse_source).collect()
}

/// Parses the login of an organization or a user.
pub(crate) fn parse_owner(text: &str) -> Result<String, String> {
    if is_login(text) {
        return Ok(text.to_owned());
    }
    Err(format!(
        "expected a login (at most {MAX_OWNER_LENGTH} letters, digits and single hyphens), got {text:?}"
    ))
}

fn is_login(text: &str) -> bool {
    let has_stray_hyphen = text.starts_with('-') || text.ends_with('-') || text.contains("--");
    !text.is_empty()
        && text.len() <= MAX_OWNER_LENGTH
        && !has_stray_hyphen
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
}

/// Parses one or more repositories, comma separated.
pub(crate) fn parse_repositories(text: &str) -> Result<Vec<RepositorySelector>, String> {
    let repositories = parse_optional_repositories(text)?;
    if repositories.is_empty() {
        return Err("expected a repository name".to_owned());
    }
    Ok(repositories)
}

/// Parses any number of repositories, comma separated; an empty text has none.
pub(crate) fn parse_optional_repositories(text: &str) -> Result<Vec<RepositorySelector>, String> {
    let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
    parts.map(parse_repository).collect()
}

fn parse_repository(text: &str) -> Result<RepositorySelector, String> {
    let (owner, name) = match text.split_once('/') {
        Some((owner, name)) => (Some(parse_owner(owner)?), name),
        None => (None, text),
    };
    if !is_repository_name(name) {
        return Err(format!(
            "expected a repository name (at most {MAX_REPOSITORY_LENGTH} letters, digits, `.`, `_` and `-`), got {name:?}"
        ));
    }
    Ok(RepositorySelector { owner, name: name.to_owned() })
}

fn is_repository_name(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= MAX_REPOSITORY_LENGTH
        && !matches!(name, "." | "..")
        && name.chars().all(is_repository_char)
}

/// Returns true if an untrusted name is safe to use as a folder name.
pub(crate) fn is_folder_name(name: &str) -> bool {
    let is_only_dots = name.chars().all(|c| c == '.');
    name.len() <= MAX_REPOSITORY_LENGTH && !is_only_dots && name.chars().all(is_repository_char)
}

/// Returns true for a character that GitHub allows in a repository's name.
pub(crate) fn is_repository_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn owner_name_is_letters_digits_and_single_hyphens() {
        for name in ["acme", "A-1", "x", &"a".repeat(39)] {
            assert_eq!(parse_owner(name), Ok(name.to_owned()));
        }
        for name in ["", "-a", "a-", "a--b", "a_b", "a/b", "ä", "a b", "..", &"a".repeat(40)] {
            assert!(parse_owner(name).is_err(), "{name:?}");
        }
    }

    #[test]
    fn source_is_a_login_or_a_repository_with_its_owner() {
        let sources = parse_sources("acme, bob/tool.rs,").unwrap();
        let names: Vec<String> = sources.iter().map(ToString::to_string).collect();
        assert_eq!(names, ["acme", "bob/tool.rs"]);
        assert_eq!(parse_sources(""), Ok(vec![]));
        for text in ["/tool", "bob/", "a/b/c", "a--b/tool", "https://github.com/bob/tool"] {
            assert!(parse_source(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn repository_name_may_include_its_owner() {
        for (text, owner, name) in
            [(".github", None, ".github"), ("acme/pump_2.x", Some("acme"), "pump_2.x")]
        {
            let selector =
                RepositorySelector { owner: owner.map(str::to_owned), name: name.to_owned() };
            assert_eq!(parse_repositories(text), Ok(vec![selector]));
        }
        for name in ["", ",", ".", "..", "a b", "a/b/c", "/a", "a/", "é", &"a".repeat(101)] {
            assert!(parse_repositories(name).is_err(), "{name:?}");
        }
    }

    #[test]
    fn folder_name_never_leads_out_of_its_parent() {
        for name in ["pump", ".github", "a..b", "-x", "A_1"] {
            assert!(is_folder_name(name), "{name:?}");
        }
        for name in ["", ".", "..", "...", "a/b", "../x", "/etc", "a\\b", "c:", "a\0", "é", "a\nb"]
        {
            assert!(!is_folder_name(name), "{name:?}");
        }
        assert!(!is_folder_name(&"a".repeat(101)));
    }

    #[test]
    fn repositories_are_separated_by_commas() {
        let repositories = parse_repositories("pump, acme/valve,").unwrap();
        let names: Vec<_> = repositories.into_iter().map(|repository| repository.name).collect();
        assert_eq!(names, ["pump", "valve"]);
        assert_eq!(parse_optional_repositories(" "), Ok(vec![]));
    }
}
