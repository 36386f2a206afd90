//! Gives every repository its own folder below the target.
//!
//! Two hosts may have repositories of the same name, and a file system may treat `Pump` and `pump` as the same folder.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use hw_rules::item::Repository;

use crate::commands::read_command::HostedRepository;
use crate::github_names;

/// Returns the folder `OWNER/REPOSITORY` of each repository, in their order, or `None` where a name would lead
/// elsewhere.
///
/// No two folders differ by case alone. Of several repositories that would share one, the first by host and id gets the
/// plain name, and the others get their id appended: `pump~12`. No name on GitHub contains a `~`. The folder of a
/// repository depends only on the stored repositories, not on their order.
pub(super) fn assign_folders(stored: &[HostedRepository]) -> Vec<Option<PathBuf>> {
    let mut order: Vec<usize> = (0..stored.len()).collect();
    order.sort_by_key(|at| (&stored[*at].host, stored[*at].repository.id));
    let mut folders = vec![None; stored.len()];
    let (mut owners, mut taken) = (BTreeMap::new(), BTreeSet::new());
    for at in order {
        let Repository { owner, name, id, .. } = &stored[at].repository;
        if !github_names::is_folder_name(owner) || !github_names::is_folder_name(name) {
            continue;
        }
        let owner = owners.entry(owner.to_lowercase()).or_insert(owner);
        let name = find_free_name(name, *id, |name| {
            taken.insert((owner.to_lowercase(), name.to_lowercase()))
        });
        folders[at] = Some(PathBuf::from(owner.as_str()).join(name));
    }
    folders
}

/// Returns the first of `pump`, `pump~12`, `pump~12~2`, … that can be taken.
fn find_free_name(name: &str, id: i64, mut take: impl FnMut(&str) -> bool) -> String {
    let numbered = (2..).map(|count| format!("{name}~{id}~{count}"));
    let mut names = [name.to_owned(), format!("{name}~{id}")].into_iter().chain(numbered);
    names.find(|name| take(name)).expect("a finite number of names is taken")
}

#[cfg(test)]
mod tests {
    use hw_rules::source_time::SourceTime;

    use super::*;

    #[test]
    fn folders_differ_by_more_than_case_and_do_not_depend_on_the_order() {
        let stored = [
            repository("github.com", "acme", "Pump", 2),
            repository("github.com", "acme", "pump", 1),
            repository("ghe.example.com", "Acme", "PUMP", 2),
            repository("ghe.example.com", "acme", "valve", 3),
            repository("zhe.example.com", "acme", "pump", 2),
            repository("github.com", "acme", "../pump", 4),
        ];
        let expected = [
            Some("Acme/Pump~2"),
            Some("Acme/pump~1"),
            Some("Acme/PUMP"),
            Some("Acme/valve"),
            Some("Acme/pump~2~2"),
            None,
        ];
        let expected = expected.map(|folder| folder.map(PathBuf::from));
        assert_eq!(assign_folders(&stored), expected);
        let reversed: Vec<_> = stored.into_iter().rev().collect();
        let mut folders = assign_folders(&reversed);
        folders.reverse();
        assert_eq!(folders, expected);
    }

    fn repository(host: &str, owner: &str, name: &str, id: i64) -> HostedRepository {
        let time = SourceTime::parse("2026-01-02T03:04:05Z").unwrap();
        let repository = Repository {
            id,
            node_id: String::new(),
            owner: owner.to_owned(),
            name: name.to_owned(),
            url: String::new(),
            is_archived: false,
            is_fork: false,
            has_issues_enabled: true,
            has_discussions_enabled: true,
            created_at: time.clone(),
            updated_at: time,
        };
        HostedRepository { host: host.to_owned(), repository }
    }
}
