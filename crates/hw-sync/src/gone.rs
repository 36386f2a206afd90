//! Repositories that seem to be gone: looked at once more by id, beside some that must be there.
//!
//! A listing that left one out, and an answer that one was not found, also come from a fault, a renamed
//! repository or a token that may see less. Only a second look decides, and a brake stops what would
//! remove two or more at once.

use hw_rules::item::{Item, Kind, Observation, Repository};
use hw_rules::reconcile;
use hw_rules::version::Seen;
use hw_sources::github::repositories;
use hw_sources::page::LookPage;
use hw_store::IngestPage;

use crate::Error;
use crate::crash;
use crate::fetch::Stop;
use crate::patience::Patience;
use crate::run::Pull;
use crate::turn::{Room, named};

/// As many ids as GitHub takes in one list; the siblings are a list of their own in the same request.
const LOOK_AT_ONCE: u32 = 100;

/// What the second look came to.
#[derive(Default)]
pub(crate) struct Judged {
    /// There after all, as they are now.
    pub(crate) present: Vec<Repository>,
    pub(crate) removed: u64,
    /// Neither there nor gone, by name, and why.
    pub(crate) undecided: Vec<(String, String)>,
}

/// Suspects that were not shown in the look, each with the look that says so.
#[derive(Default)]
struct Gone {
    absent: Vec<(i64, Seen)>,
    /// There, but no longer of this organisation, or archived, or a fork.
    left: Vec<(i64, Seen)>,
    is_doubtful: bool,
}

/// Looks at the suspects again and removes those that are gone, unless it would be too much at once of
/// what is held.
pub(crate) async fn judge(
    room: &Room<'_>,
    pull: &Pull,
    suspects: &[Repository],
    siblings: &[Repository],
    held: usize,
) -> Result<Judged, Error> {
    let mut judged = Judged::default();
    let mut gone = Gone::default();
    let mut batch = LOOK_AT_ONCE;
    let mut rest = suspects;
    while !rest.is_empty() {
        let asked = look(room, rest, siblings, &mut batch).await;
        let (look, count) = asked.map_err(|stop| named(stop, &pull.lane()))?;
        let (now, later) = rest.split_at(count);
        sort(pull, now, &look, &mut judged, &mut gone);
        keep_present(room, pull, look)?;
        rest = later;
    }
    room.fetch.crash().pass(crash::REPOSITORIES_LOOKED)?;
    judged.removed = remove(room, pull, &gone, held)?;
    Ok(judged)
}

async fn look(
    room: &Room<'_>,
    suspects: &[Repository],
    siblings: &[Repository],
    batch: &mut u32,
) -> Result<(LookPage, usize), Stop> {
    let ids = |some: &[Repository]| -> Vec<String> {
        some.iter().map(|repository| repository.node_id.clone()).collect()
    };
    let siblings = ids(siblings);
    let some = |size: u32| &suspects[..suspects.len().min(size as usize)];
    let query = |size| repositories::look_query(&ids(some(size)), &siblings);
    let read = |answer: &_, number, size| {
        let look = repositories::read_look(answer, &ids(some(size)), &siblings, number)?;
        Ok((look, some(size).len()))
    };
    let looked = room.fetch.ask(Patience::PAGE, batch, query, read).await;
    *batch = (*batch).min(LOOK_AT_ONCE);
    looked
}

/// What the look says of each suspect.
fn sort(
    pull: &Pull,
    suspects: &[Repository],
    look: &LookPage,
    judged: &mut Judged,
    gone: &mut Gone,
) {
    for suspect in suspects {
        let shown = look.observations.iter().find_map(|seen| is_shown(seen, suspect.id));
        match shown {
            Some(now) if pull.is_ours(now) => judged.present.push(now.clone()),
            Some(_) => gone.left.push((suspect.id, look.seen)),
            // a node has one id, so that it was stored under a wrong one
            None if is_renumbered(look, suspect) => gone.left.push((suspect.id, look.seen)),
            None if look.absent.contains(&suspect.node_id) => {
                gone.absent.push((suspect.id, look.seen));
                gone.is_doubtful |= !look.is_vouched_for;
            }
            None => {
                let why = "it may be gone, and gave no answer".to_owned();
                judged.undecided.push((suspect.name.clone(), why));
            }
        }
    }
}

/// Whether the suspect's node is there under another id.
fn is_renumbered(look: &LookPage, suspect: &Repository) -> bool {
    look.observations.iter().any(|seen| seen.item.node_id() == suspect.node_id)
}

fn is_shown(observation: &Observation, id: i64) -> Option<&Repository> {
    match &observation.item {
        Item::Repository(repository) if repository.id == id => Some(repository),
        Item::Repository(_) | Item::Thread(_) | Item::Comment(_) => None,
    }
}

/// Keeps what is known now of those that are there and ours.
fn keep_present(room: &Room<'_>, pull: &Pull, look: LookPage) -> Result<(), Error> {
    let lane = pull.lane();
    let page_size = room.store.lane_state(&lane)?.page_size;
    let is_ours = |seen: &Observation| match &seen.item {
        Item::Repository(repository) => pull.is_ours(repository),
        Item::Thread(_) | Item::Comment(_) => false,
    };
    let observations = look.observations.into_iter().filter(is_ours).collect();
    let page = IngestPage { observations, ..IngestPage::of(lane, page_size) };
    room.store.ingest(room.lease, &page)?;
    Ok(())
}

/// Removes what is confirmed gone.
///
/// When nobody vouched for the look, several absences trip the brake, and a single one is not believed
/// either; a person may say that it is meant.
fn remove(room: &Room<'_>, pull: &Pull, gone: &Gone, held: usize) -> Result<u64, Error> {
    let all: Vec<_> = gone.absent.iter().chain(&gone.left).copied().collect();
    let allow = room.allow_mass_removal;
    if all.is_empty() {
        return Ok(0);
    }
    if gone.is_doubtful && !allow {
        let (kind, ids) = (Kind::Repository, all.iter().map(|(id, _)| *id).collect::<Vec<_>>());
        let items = room.store.item_names(&pull.host, kind, &ids)?;
        if let Err(brake) = reconcile::brake_repositories(all.len(), held, allow) {
            return Err(hw_store::Error::Brake { kind, brake, items }.into());
        }
        let reason = "nobody vouched for what is missing".to_owned();
        return Err(Error::Unconfirmed { lane: pull.organization.clone(), reason, items });
    }
    Ok(room.store.remove_repositories(room.lease, &pull.lane(), &all, allow)?.removed)
}
