//! Checks names by GitHub's rules before they enter a request or a path.

pub(crate) use hw_rules::followed_source::RepositorySelector;
use hw_rules::followed_source::{FollowedSource, RepositoryName};
use hw_rules::login::{InvalidLogin, Login};

const MAX_REPOSITORY_LENGTH: usize = 100;

/// Parses something to follow: `acme`, or one repository as `acme/pump`.
pub(crate) fn parse_source(text: &str) -> Result<FollowedSource, String> {
    let source = match text.split_once('/') {
        None => text.parse().ok().map(FollowedSource::Owner),
        Some((owner, name)) if is_repository_name(name) => {
            let owner = owner.parse().ok();
            owner.map(|owner| FollowedSource::Repository(RepositoryName::new(owner, name)))
        }
        Some(_) => None,
    };
    source.ok_or_else(|| format!("expected a login or OWNER/REPOSITORY, got {text:?}"))
}

/// Parses any number of sources, comma separated; an empty text has none.
pub(crate) fn parse_sources(text: &str) -> Result<Vec<FollowedSource>, String> {
    let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
    parts.map(parse_source).collect()
}

/// Parses the login of an organization or a user.
pub(crate) fn parse_owner(text: &str) -> Result<Login, String> {
    text.parse().map_err(|InvalidLogin| {
        format!(
            "expected a login (at most {} letters, digits, hyphens and underscores), got {text:?}",
            Login::MAX_LENGTH
        )
    })
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
    fn owner_that_is_no_login_is_refused_with_what_a_login_is() {
        assert_eq!(parse_owner("A-1").unwrap().as_str(), "A-1");
        let expected =
            "expected a login (at most 39 letters, digits, hyphens and underscores), got \"a.b\"";
        assert_eq!(parse_owner("a.b"), Err(expected.to_owned()));
    }

    #[test]
    fn source_is_a_login_or_a_repository_with_its_owner() {
        let sources = parse_sources("acme, bob/tool.rs,").unwrap();
        let names: Vec<String> = sources.iter().map(ToString::to_string).collect();
        assert_eq!(names, ["acme", "bob/tool.rs"]);
        assert_eq!(parse_sources(""), Ok(vec![]));
        for text in ["/tool", "bob/", "a/b/c", "-a/tool", "https://github.com/bob/tool"] {
            assert!(parse_source(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn repository_name_may_include_its_owner() {
        for (text, owner, name) in
            [(".github", None, ".github"), ("acme/pump_2.x", Some("acme"), "pump_2.x")]
        {
            let selector =
                RepositorySelector { owner: owner.map(Login::from_known), name: name.to_owned() };
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
