//! Readable names for lanes: `acme/pump issues` instead of a key with a repository id.

use std::collections::BTreeMap;

use hw_rules::lane::{Lane, Scope, Surface};
use hw_rules::repository_key::{Host, RepositoryKey};

use crate::StoreReader;
use crate::error::StoreError;
use crate::sql::Sql;
use crate::transaction::Transaction;

/// The names of all stored repositories, and of the accounts that are followed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LaneNames {
    repositories: BTreeMap<RepositoryKey, String>,
    /// By host and DID.
    accounts: BTreeMap<(Host, String), String>,
}

impl StoreReader {
    /// Reads the names of all stored repositories and followed accounts.
    pub fn lane_names(&self) -> Result<LaneNames, StoreError> {
        const ALL: Sql = Sql::portable("select host, id, owner, name from repositories");
        let names = self.read("lane names", |tx| {
            tx.query_readable(ALL, &[], |mut row| {
                let name = format!("{}/{}", row.text("owner")?, row.text("name")?);
                Ok((RepositoryKey::new(row.text("host")?, row.int("id")?), name))
            })
        })?;
        let accounts = self.read("account names", read_account_names)?;
        let repositories = names.rows.into_iter().collect();
        Ok(LaneNames { repositories, accounts })
    }
}

fn read_account_names(
    tx: &mut Transaction<'_>,
) -> Result<BTreeMap<(Host, String), String>, StoreError> {
    const NAMES: Sql = Sql::portable(
        "select accounts.host, accounts.did, handle from accounts
           join account_names on account_names.host = accounts.host and account_names.did = accounts.did
          where handle is not null",
    );
    let names = tx.query_readable(NAMES, &[], |mut row| {
        Ok(((row.text("host")?.into(), row.text("did")?), row.text("handle")?))
    })?;
    Ok(names.rows.into_iter().collect())
}

impl LaneNames {
    /// Returns the owner's login or the repository's full name.
    pub fn scope_name(&self, lane: &Lane) -> String {
        match &lane.scope {
            Scope::Owner(login) => login.to_string(),
            Scope::Repository(id) => {
                self.repository_name(&RepositoryKey { host: lane.host.clone(), id: *id })
            }
            Scope::SingleRepositories => "single repositories".to_owned(),
            Scope::Account(did) => self.account_name(&lane.host, did.as_str()),
        }
    }

    /// Iterates over all repositories, with their full names.
    pub fn repositories(&self) -> impl Iterator<Item = (&RepositoryKey, &str)> {
        self.repositories.iter().map(|(key, name)| (key, &**name))
    }

    /// Replaces lane keys in a message, as [`Lane`] formats them, with readable names.
    pub fn replace_keys(&self, message: &str) -> String {
        let mut replaced = String::new();
        let mut written = 0;
        for (at, _) in message.match_indices('/') {
            if at >= written
                && let Some(key) = self.key_at(message, written, at)
            {
                replaced.push_str(&message[written..key.start]);
                replaced.push_str(&key.name);
                written = key.end;
            }
        }
        replaced.push_str(&message[written..]);
        replaced
    }

    /// Parses the lane key whose first slash is at byte `slash` and whose host starts at byte `from` or later.
    fn key_at(&self, message: &str, from: usize, slash: usize) -> Option<LaneKey> {
        let host = trailing_host(&message[from..slash]);
        let mut parts = message[slash + 1..].splitn(3, '/');
        let (kind, scope, rest) = (parts.next()?, parts.next()?, parts.next()?);
        let end = rest.find(|c: char| !(c.is_ascii_lowercase() || c == '-')).unwrap_or(rest.len());
        let surface = Surface::from_name(&rest[..end])?;
        let scope_name = match kind {
            "repository" => self.repository_name(&RepositoryKey::new(host, scope.parse().ok()?)),
            "org" | "sources" => scope.to_owned(),
            "account" => self.account_name(&host.into(), scope),
            _ => return None,
        };
        Some(LaneKey {
            start: slash - host.len(),
            end: slash + kind.len() + scope.len() + 3 + end,
            name: format!("{scope_name} {}", surface.label()),
        })
        .filter(|_| !host.is_empty())
    }

    fn repository_name(&self, key: &RepositoryKey) -> String {
        let name = self.repositories.get(key).cloned();
        name.unwrap_or_else(|| format!("repository {} (no longer stored)", key.id))
    }

    /// Returns the handle of an account, or its DID if it has none.
    fn account_name(&self, host: &Host, did: &str) -> String {
        let name = self.accounts.get(&(host.clone(), did.to_owned()));
        name.cloned().unwrap_or_else(|| did.to_owned())
    }
}

/// A lane key found in a message: its byte range and the name that replaces it.
struct LaneKey {
    start: usize,
    end: usize,
    name: String,
}

/// Returns the host at the end of a text; empty if it ends with something else.
fn trailing_host(text: &str) -> &str {
    let start = text
        .rfind(|c| !is_host_char(c))
        .map_or(0, |at| at + text[at..].chars().next().map_or(0, char::len_utf8));
    &text[start..]
}

fn is_host_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | ':')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lane_names_replace_every_key_in_a_message() {
        let pump = (RepositoryKey::new("github.com", 700_000_002), "acme/pump".to_owned());
        let alice = ("bsky.app".into(), "did:plc:alice".to_owned());
        let accounts = BTreeMap::from([(alice, "alice.test".to_owned())]);
        let names = LaneNames { repositories: BTreeMap::from([pump]), accounts };
        for (message, expected) in [
            ("github.com/repository/700000002/issues: timed out", "acme/pump issues: timed out"),
            ("é (github.com/repository/700000002/pull-requests)", "é (acme/pump pull requests)"),
            ("bsky.app/account/did:plc:alice/feed: timed out", "alice.test feed: timed out"),
            ("bsky.app/account/did:plc:bob/feed", "did:plc:bob feed"),
            ("github.com/org/acme/repositories: no", "acme repositories: no"),
            ("ghe.example:8443/repository/1/issues", "repository 1 (no longer stored) issues"),
            (
                "https://github.com/acme/pump/issues/1 a/b/c",
                "https://github.com/acme/pump/issues/1 a/b/c",
            ),
            (
                "github.com/repository/x/issues /repository/1/issues",
                "github.com/repository/x/issues /repository/1/issues",
            ),
        ] {
            assert_eq!(names.replace_keys(message), expected);
        }
        let lane = Lane::repository_issues(RepositoryKey::new("github.com", 700_000_002));
        assert_eq!(names.replace_keys(&lane.to_string()), "acme/pump issues");
    }
}
