//! Finds the owner of the git repository in the current folder, by reading its configuration without git.

use std::path::{Path, PathBuf};

use crate::github_names;
use hw_rules::login::Login;

/// Returns the owner of the `origin` remote, if it is on this host.
pub(super) fn find_origin_owner(folder: &Path, host: &str) -> Option<Login> {
    let config = folder.ancestors().find_map(find_git_config)?;
    let url = find_origin_url(&std::fs::read_to_string(config).ok()?)?;
    owner_from_url(&url, host)
}

/// Returns the path of the configuration if `top` is the root of a repository. In a work tree, `.git` is a file that
/// points to the real directory.
fn find_git_config(top: &Path) -> Option<PathBuf> {
    let git = top.join(".git");
    if git.is_dir() {
        return Some(git.join("config"));
    }
    let text = std::fs::read_to_string(&git).ok()?;
    let git = top.join(text.strip_prefix("gitdir:")?.trim());
    let common = std::fs::read_to_string(git.join("commondir")).unwrap_or_default();
    Some(git.join(common.trim()).join("config"))
}

fn find_origin_url(config: &str) -> Option<String> {
    let lines = config.lines().map(str::trim);
    let section = lines.skip_while(|line| *line != "[remote \"origin\"]").skip(1);
    let mut pairs =
        section.take_while(|line| !line.starts_with('[')).filter_map(|line| line.split_once('='));
    pairs.find(|(name, _)| name.trim() == "url").map(|(_, url)| url.trim().to_owned())
}

/// Returns the owner in `https://host/owner/name`, `ssh://git@host/owner/name` or `git@host:owner/name`, if the URL is
/// on the given host.
fn owner_from_url(url: &str, host: &str) -> Option<Login> {
    let (authority, path) = match url.split_once("://") {
        Some((_, rest)) => rest.split_once('/')?,
        None => url.split_once(':')?,
    };
    let found = authority.rsplit('@').next()?;
    let is_on_host = found.eq_ignore_ascii_case(host)
        || found.split(':').next().is_some_and(|name| name.eq_ignore_ascii_case(host));
    let owner = path.trim_start_matches('/').split('/').next()?;
    github_names::parse_owner(owner).ok().filter(|_| is_on_host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origin_owner_is_read_from_any_form_of_url() {
        for url in [
            "https://github.com/acme/pump.git",
            "https://me:word@github.com/acme/pump",
            "git@github.com:acme/pump.git",
            "ssh://git@github.com:22/acme/pump.git",
        ] {
            assert_eq!(owner_from_url(url, "github.com"), Some(Login::from_known("acme")), "{url}");
            assert_eq!(owner_from_url(url, "ghe.example.com"), None, "{url}");
        }
        for url in ["../pump", "/srv/pump.git", "https://github.com/../x", "", "git@github.com:"] {
            assert_eq!(owner_from_url(url, "github.com"), None, "{url}");
        }
    }

    #[test]
    fn origin_is_found_from_a_subfolder_and_from_a_work_tree() {
        let top = tempfile::tempdir().unwrap();
        let (git, tree) = (top.path().join("a/.git"), top.path().join("tree"));
        std::fs::create_dir_all(git.join("worktrees/tree")).unwrap();
        std::fs::create_dir_all(top.path().join("a/b/c")).unwrap();
        std::fs::create_dir_all(&tree).unwrap();
        let text = "[remote \"fork\"]\n\turl = git@github.com:me/pump\n[remote \"origin\"]\n\turl = git@github.com:acme/pump\n";
        std::fs::write(git.join("config"), text).unwrap();
        std::fs::write(git.join("worktrees/tree/commondir"), "../..\n").unwrap();
        let pointer = format!("gitdir: {}\n", git.join("worktrees/tree").display());
        std::fs::write(tree.join(".git"), pointer).unwrap();
        for folder in [top.path().join("a/b/c"), tree] {
            assert_eq!(find_origin_owner(&folder, "github.com"), Some(Login::from_known("acme")));
        }
    }
}
