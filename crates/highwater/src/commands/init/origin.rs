//! Whose the git repository is that we are in: read from its configuration, without git.

use std::path::{Path, PathBuf};

use crate::names;

/// The owner of `origin`, if that is on this host.
pub(super) fn owner(folder: &Path, host: &str) -> Option<String> {
    let config = folder.ancestors().find_map(config)?;
    let url = origin(&std::fs::read_to_string(config).ok()?)?;
    of_url(&url, host)
}

/// The configuration of the repository whose top this is. In a work tree `.git` is a file that leads on.
fn config(top: &Path) -> Option<PathBuf> {
    let git = top.join(".git");
    if git.is_dir() {
        return Some(git.join("config"));
    }
    let text = std::fs::read_to_string(&git).ok()?;
    let inside = top.join(text.strip_prefix("gitdir:")?.trim());
    let common = std::fs::read_to_string(inside.join("commondir")).unwrap_or_default();
    Some(inside.join(common.trim()).join("config"))
}

fn origin(config: &str) -> Option<String> {
    let lines = config.lines().map(str::trim);
    let section = lines.skip_while(|line| *line != "[remote \"origin\"]").skip(1);
    let mut pairs =
        section.take_while(|line| !line.starts_with('[')).filter_map(|line| line.split_once('='));
    pairs.find(|(name, _)| name.trim() == "url").map(|(_, url)| url.trim().to_owned())
}

/// `https://host/owner/name`, `ssh://git@host/owner/name` or `git@host:owner/name`.
fn of_url(url: &str, wanted: &str) -> Option<String> {
    let (place, path) = match url.split_once("://") {
        Some((_, rest)) => rest.split_once('/')?,
        None => url.split_once(':')?,
    };
    let host = place.rsplit('@').next()?;
    let is_wanted = host.eq_ignore_ascii_case(wanted)
        || host.split(':').next().is_some_and(|host| host.eq_ignore_ascii_case(wanted));
    let owner = path.trim_start_matches('/').split('/').next()?;
    names::owner(owner).ok().filter(|_| is_wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_owner_is_read_from_any_form_of_address() {
        for url in [
            "https://github.com/acme/pump.git",
            "https://me:word@github.com/acme/pump",
            "git@github.com:acme/pump.git",
            "ssh://git@github.com:22/acme/pump.git",
        ] {
            assert_eq!(of_url(url, "github.com").as_deref(), Some("acme"), "{url}");
            assert_eq!(of_url(url, "ghe.example.com"), None, "{url}");
        }
        for url in ["../pump", "/srv/pump.git", "https://github.com/../x", "", "git@github.com:"] {
            assert_eq!(of_url(url, "github.com"), None, "{url}");
        }
    }

    #[test]
    fn the_repository_is_found_from_below_and_from_a_work_tree() {
        let top = tempfile::tempdir().unwrap();
        let (git, tree) = (top.path().join("a/.git"), top.path().join("tree"));
        std::fs::create_dir_all(git.join("worktrees/tree")).unwrap();
        std::fs::create_dir_all(top.path().join("a/b/c")).unwrap();
        std::fs::create_dir_all(&tree).unwrap();
        let text = "[remote \"fork\"]\n\turl = git@github.com:me/pump\n[remote \"origin\"]\n\turl = git@github.com:acme/pump\n";
        std::fs::write(git.join("config"), text).unwrap();
        std::fs::write(git.join("worktrees/tree/commondir"), "../..\n").unwrap();
        let leads = format!("gitdir: {}\n", git.join("worktrees/tree").display());
        std::fs::write(tree.join(".git"), leads).unwrap();
        for folder in [top.path().join("a/b/c"), tree] {
            assert_eq!(owner(&folder, "github.com").as_deref(), Some("acme"));
        }
    }
}
