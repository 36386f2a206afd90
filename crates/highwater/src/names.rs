//! Names as GitHub allows them, looked at before they enter a request or a path.

const LONGEST_OWNER: usize = 39;
const LONGEST_REPOSITORY: usize = 100;

/// A repository as a person names it: `pump`, or `acme/pump`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Named {
    pub(crate) owner: Option<String>,
    pub(crate) name: String,
}

/// An organisation's login.
pub(crate) fn owner(text: &str) -> Result<String, String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
    let hyphens = text.starts_with('-') || text.ends_with('-') || text.contains("--");
    if text.is_empty() || LONGEST_OWNER < text.len() || hyphens || !text.chars().all(plain) {
        return Err(format!(
            "an organisation's name is letters, digits and single hyphens, at most {LONGEST_OWNER}"
        ));
    }
    Ok(text.to_owned())
}

/// One or more repositories, comma separated.
pub(crate) fn repositories(text: &str) -> Result<Vec<Named>, String> {
    let named = any_repositories(text)?;
    if named.is_empty() { Err("a repository's name is missing".to_owned()) } else { Ok(named) }
}

/// Any number of repositories, comma separated; none in an empty text.
pub(crate) fn any_repositories(text: &str) -> Result<Vec<Named>, String> {
    let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
    parts.map(repository).collect()
}

fn repository(text: &str) -> Result<Named, String> {
    let (of, name) = match text.split_once('/') {
        Some((of, name)) => (Some(owner(of)?), name),
        None => (None, text),
    };
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let is_path = matches!(name, "." | "..");
    if name.is_empty() || LONGEST_REPOSITORY < name.len() || is_path || !name.chars().all(plain) {
        return Err(format!(
            "a repository's name is letters, digits, `.`, `_` and `-`, at most {LONGEST_REPOSITORY}"
        ));
    }
    Ok(Named { owner: of, name: name.to_owned() })
}

/// Whether a name that came from outside can be a folder, and leads nowhere else.
pub(crate) fn can_be_folder(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let is_path = name.chars().all(|c| c == '.');
    name.len() <= LONGEST_REPOSITORY && !is_path && name.chars().all(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_owner_is_letters_digits_and_single_hyphens() {
        for name in ["acme", "A-1", "x", &"a".repeat(39)] {
            assert_eq!(owner(name), Ok(name.to_owned()));
        }
        for name in ["", "-a", "a-", "a--b", "a_b", "a/b", "ä", "a b", "..", &"a".repeat(40)] {
            assert!(owner(name).is_err(), "{name:?}");
        }
    }

    #[test]
    fn a_repository_may_be_named_with_its_owner() {
        let named = |owner: Option<&str>, name: &str| {
            Ok(vec![Named { owner: owner.map(str::to_owned), name: name.to_owned() }])
        };
        assert_eq!(repositories(".github"), named(None, ".github"));
        assert_eq!(repositories("acme/pump_2.x"), named(Some("acme"), "pump_2.x"));
        for name in ["", ",", ".", "..", "a b", "a/b/c", "/a", "a/", "é", &"a".repeat(101)] {
            assert!(repositories(name).is_err(), "{name:?}");
        }
    }

    #[test]
    fn no_name_leads_out_of_its_folder() {
        for name in ["pump", ".github", "a..b", "-x", "A_1"] {
            assert!(can_be_folder(name), "{name:?}");
        }
        for name in ["", ".", "..", "...", "a/b", "../x", "/etc", "a\\b", "c:", "a\0", "é", "a\nb"]
        {
            assert!(!can_be_folder(name), "{name:?}");
        }
        assert!(!can_be_folder(&"a".repeat(101)));
    }

    #[test]
    fn several_repositories_stand_with_commas_between_them() {
        let names = repositories("pump, acme/valve,").unwrap();
        let names: Vec<_> = names.into_iter().map(|named| named.name).collect();
        assert_eq!(names, ["pump", "valve"]);
        assert_eq!(any_repositories(" "), Ok(vec![]));
    }
}
