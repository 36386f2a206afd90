//! Words what may be missing from an answer: the sentences that all frontends share.

use crate::lane::Surface;
use crate::missing::{Missing, RepositoryLanes, RepositoryListing};

/// The number of repositories that a sentence names.
const MAX_NAMES: usize = 5;

/// Returns a sentence without a full stop.
pub fn describe_missing(missing: &Missing) -> String {
    match missing {
        Missing::FailedPull { source, error } => {
            format!("the last pull of {source} failed: {error}")
        }
        Missing::NoListing => "no source has been pulled completely into this workspace".to_owned(),
        Missing::UnreadListing(list) => {
            format!("{} was never read to the end", describe_listing(list))
        }
        Missing::FailedListing(list) => {
            format!("the last update of {} failed", describe_listing(list))
        }
        Missing::NeverPulledThreads(surface) => {
            format!("no {} have been pulled into this workspace", surface.label())
        }
        Missing::NeverPulledComments => {
            "no comments have been pulled into this workspace; run `highwater pull -i comments`"
                .to_owned()
        }
        Missing::IncompleteLanes(lanes) => {
            format!("the {} are not complete yet", describe_lanes(lanes))
        }
        Missing::FailedLanes(lanes) => {
            format!("the last update of the {} failed", describe_lanes(lanes))
        }
        Missing::NeverPulledLanes(lanes) => {
            // GitHub's lists are pulled, feeds are polled
            let verb = if lanes.surface == Surface::Feed { "polled" } else { "pulled" };
            format!("the {} were never {verb}", describe_lanes(lanes))
        }
        Missing::UnknownRepository { name } => {
            format!("this workspace has no repository named {name}")
        }
        Missing::UnknownAccount { name } => format!("this workspace does not follow {name}"),
        Missing::DamagedRows { count: 1 } => {
            format!("1 item is damaged and was left out; {DAMAGE_ADVICE}")
        }
        Missing::DamagedRows { count } => {
            format!("{count} items are damaged and were left out; {DAMAGE_ADVICE}")
        }
    }
}

const DAMAGE_ADVICE: &str = "`highwater doctor --deep` lists the damage";

fn describe_listing(list: &RepositoryListing) -> String {
    match list {
        RepositoryListing::Owner(login) => format!("the repository list of {login}"),
        RepositoryListing::SingleRepositories => "the list of single repositories".to_owned(),
    }
}

/// Names the lists of the first few repositories, and counts the others.
fn describe_lanes(RepositoryLanes { surface, repositories }: &RepositoryLanes) -> String {
    let (named, rest) = repositories.split_at(repositories.len().min(MAX_NAMES));
    let more = if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) };
    // a feed is read as a whole, and what is missing from it are posts
    let items = if *surface == Surface::Feed { "posts".to_owned() } else { surface.label() };
    format!("{items} of {}{more}", named.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::item::{CommentKind, ThreadKind};
    use crate::login::Login;

    #[test]
    fn missing_text_has_one_sentence_for_each_thing() {
        let owner = RepositoryListing::Owner(Login::from_known("acme"));
        let cases = [
            (
                Missing::FailedPull { source: "acme".into(), error: "timed out".into() },
                "the last pull of acme failed: timed out",
            ),
            (
                Missing::UnreadListing(owner.clone()),
                "the repository list of acme was never read to the end",
            ),
            (
                Missing::FailedListing(RepositoryListing::SingleRepositories),
                "the last update of the list of single repositories failed",
            ),
            (
                Missing::NeverPulledThreads(Surface::Threads(ThreadKind::PullRequest)),
                "no pull requests have been pulled into this workspace",
            ),
            (
                Missing::FailedLanes(lanes(Surface::Comments(CommentKind::Review), 2)),
                "the last update of the reviews of acme/r0, acme/r1 failed",
            ),
            (
                Missing::NeverPulledLanes(lanes(Surface::Threads(ThreadKind::Issue), 1)),
                "the issues of acme/r0 were never pulled",
            ),
            (
                Missing::NeverPulledLanes(lanes(Surface::Feed, 1)),
                "the posts of acme/r0 were never polled",
            ),
            (
                Missing::UnknownRepository { name: "pumps".into() },
                "this workspace has no repository named pumps",
            ),
            (
                Missing::UnknownAccount { name: "alice.test".into() },
                "this workspace does not follow alice.test",
            ),
            (
                Missing::DamagedRows { count: 1 },
                "1 item is damaged and was left out; `highwater doctor --deep` lists the damage",
            ),
            (
                Missing::DamagedRows { count: 2 },
                "2 items are damaged and were left out; `highwater doctor --deep` lists the damage",
            ),
        ];
        for (missing, expected) in cases {
            assert_eq!(describe_missing(&missing), expected);
        }
    }

    #[test]
    fn missing_text_names_the_first_of_a_thousand_repositories() {
        let first = "acme/r0, acme/r1, acme/r2, acme/r3, acme/r4";
        assert_eq!(
            describe_missing(&Missing::IncompleteLanes(lanes(
                Surface::Threads(ThreadKind::Issue),
                1_002
            ))),
            format!("the issues of {first} and 997 more are not complete yet")
        );
    }

    fn lanes(surface: Surface, count: usize) -> RepositoryLanes {
        let repositories = (0..count).map(|number| format!("acme/r{number}")).collect();
        RepositoryLanes { surface, repositories }
    }
}
