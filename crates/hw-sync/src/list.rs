//! The repositories of the organisation, each with its probes: one pass finds what is new, renamed or
//! gone, and every lane that moved.

use std::collections::BTreeSet;

use hw_rules::item::{Item, Observation, Repository};
use hw_rules::lane::{Lane, Surface};
use hw_rules::page_guard::{Nonsense, PageGuard};
use hw_rules::probe::Need;
use hw_rules::time::Mark;
use hw_rules::walk::Cursor;
use hw_sources::github::repositories::{self, ListPage, NamedPage};
use hw_sources::github::viewer::Viewer;
use hw_sources::page::Unreadable;
use hw_store::IngestPage;

use crate::Error;
use crate::fetch::Stop;
use crate::follow::{Known, Probes, Wish, wishes};
use crate::news::News;
use crate::patience::Patience;
use crate::retry;
use crate::run::Pull;
use crate::turn::{Room, Tally, named};

/// As many repositories in a page as can be probed for one point: 1 + 33 × 3 connections.
const PROBED: u32 = 33;
/// How often a page with unreadable rows is asked for again before it is taken as it is.
const TRIES: u32 = 3;

/// What a listing showed.
#[derive(Default)]
pub(crate) struct Listed {
    pub(crate) viewer: String,
    pub(crate) repositories: Vec<Repository>,
    pub(crate) wishes: Vec<Wish>,
    /// Rows that could not be read: who is behind them is not known, or known from earlier.
    pub(crate) unreadable: Vec<String>,
    /// Rows of repositories that cannot be. They wait in quarantine, and do not fail the pull: it could do nothing
    /// else, however often it is repeated.
    pub(crate) impossible: Vec<String>,
    /// Names that were asked for and are not there.
    pub(crate) missing: Vec<String>,
    /// Names that were asked for and are not followed, and why.
    pub(crate) refused: Vec<(String, String)>,
    /// Listings that the token may not look into, in any repository.
    pub(crate) denied: BTreeSet<Surface>,
    /// Listings that it may not look into in one repository.
    pub(crate) denied_lanes: BTreeSet<(i64, Surface)>,
    pub(crate) tally: Tally,
}

/// A listing under way.
struct Listing<'a> {
    room: &'a Room<'a>,
    pull: &'a Pull,
    known: &'a Known,
    lane: Lane,
    size: u32,
    pages: u64,
    listed: Listed,
}

/// What one page showed, however it was asked for.
struct Shown {
    viewer: Option<Viewer>,
    date: Mark,
    observations: Vec<Observation>,
    probes: Probes,
    unreadable: Vec<Unreadable>,
}

/// Reads the listing, whole or by the names that are wanted, and keeps it; lanes whose probes show that
/// nothing moved are looked at with it.
pub(crate) async fn list(room: &Room<'_>, pull: &Pull, known: &Known) -> Result<Listed, Error> {
    let lane = pull.lane();
    let size = room.store.lane_state(&lane)?.page_size.min(PROBED);
    let mut listing =
        Listing { room, pull, known, lane, size, pages: 0, listed: Listed::default() };
    if pull.only.is_empty() {
        listing.read_all().await?;
    } else {
        listing.read_named().await?;
    }
    Ok(listing.listed)
}

impl Listing<'_> {
    async fn read_all(&mut self) -> Result<(), Error> {
        let mut after: Option<Cursor> = None;
        let mut began = None;
        let mut guard = PageGuard::default();
        loop {
            let asked = self.page(after.as_ref()).await;
            let ListPage { viewer, page, probes, .. } =
                asked.map_err(|stop| named(stop, &self.lane))?;
            after = page.shape.next.clone();
            if after.is_some() {
                let checked = guard.check_page(page.ids(), page.places(), page.shape.total_count);
                checked.map_err(|nonsense| self.refused(nonsense))?;
            }
            let began = *began.get_or_insert(page.shape.date.0);
            let mut kept = self.take_in(Shown {
                viewer,
                date: page.shape.date,
                observations: page.observations,
                probes,
                unreadable: page.unreadable,
            });
            if after.is_none() {
                kept.looked_at.push((self.lane.clone(), began));
                kept.cleared = self.no_longer_met()?;
            }
            self.keep(&kept, after.is_none())?;
            if after.is_none() {
                let unread = self.unread();
                self.follow(&unread, &Probes::new());
                return Ok(());
            }
        }
    }

    async fn read_named(&mut self) -> Result<(), Error> {
        let pull = self.pull;
        let pages = pull.only.chunks(PROBED as usize);
        for (index, names) in pages.enumerate() {
            let asked = self.named_page(names, index == 0).await;
            let page = asked.map_err(|stop| named(stop, &self.lane))?;
            self.listed.missing.extend(page.missing);
            let kept = self.take_in(Shown {
                viewer: page.viewer,
                date: page.date,
                observations: page.observations,
                probes: page.probes,
                unreadable: page.unreadable,
            });
            self.keep(&kept, names.last() == pull.only.last())?;
        }
        Ok(())
    }

    /// One page, every row of it readable if asking again can make it so.
    async fn page(&mut self, after: Option<&Cursor>) -> Result<ListPage, Stop> {
        self.tell_asking();
        let surfaces = self.surfaces();
        let mut tries = 0;
        let mut denied_before = BTreeSet::new();
        loop {
            let page = self.probed_page(after, &surfaces).await?;
            tries += 1;
            // twice in a row is no passing fault
            let denied: BTreeSet<_> = page.denied.intersection(&denied_before).cloned().collect();
            if !denied.is_empty() {
                return self.page_without(after, page, &denied).await;
            }
            // what cannot be is as impossible the next time
            let is_clean = page.denied.is_empty()
                && page.page.unreadable.iter().all(Unreadable::is_impossible);
            if is_clean || tries >= TRIES {
                return Ok(page);
            }
            denied_before = page.denied;
        }
    }

    async fn probed_page(
        &mut self,
        after: Option<&Cursor>,
        surfaces: &[Surface],
    ) -> Result<ListPage, Stop> {
        let organization = &self.pull.organization;
        let query = |first| repositories::list_query(organization, first, after, surfaces);
        let read = |answer: &_, number, _| repositories::read_list(answer, after, number);
        let page = self.room.fetch.ask(Patience::PAGE, &mut self.size, query, read).await?;
        self.size = self.size.min(PROBED);
        Ok(page)
    }

    /// The same page without the probes that are denied in some of its rows: those rows are null with them.
    /// The probes of the other rows came with the page that has them.
    async fn page_without(
        &mut self,
        after: Option<&Cursor>,
        probed: ListPage,
        denied: &BTreeSet<(Cursor, Surface)>,
    ) -> Result<ListPage, Stop> {
        let is_denied = |surface: &Surface| denied.iter().any(|(_, it)| it == surface);
        let mut surfaces = self.surfaces();
        surfaces.retain(|surface| !is_denied(surface));
        let mut page = self.probed_page(after, &surfaces).await?;
        page.probes.extend(probed.probes);
        let rows = &page.page.shape.entries;
        for surface in Surface::THREADS.into_iter().filter(is_denied) {
            let is_row = |place: &Cursor| denied.contains(&(place.clone(), surface));
            let closed: Vec<_> = rows.iter().filter(|row| is_row(&row.cursor)).collect();
            if closed.len() == rows.len() {
                self.listed.denied.insert(surface);
            }
            self.listed.denied_lanes.extend(closed.iter().map(|row| (row.id, surface)));
        }
        Ok(page)
    }

    async fn named_page(&mut self, names: &[String], with_viewer: bool) -> Result<NamedPage, Stop> {
        let surfaces: Vec<_> = self.pull.surfaces().collect();
        self.tell_asking();
        let mut tries = 0;
        loop {
            let organization = &self.pull.organization;
            let query = |_| repositories::named_query(organization, names, &surfaces, with_viewer);
            let read = |answer: &_, number, _| repositories::read_named(answer, names, number);
            let page = self.room.fetch.ask(Patience::PAGE, &mut 1, query, read).await?;
            tries += 1;
            if page.unreadable.iter().all(Unreadable::is_impossible) || TRIES <= tries {
                return Ok(page);
            }
        }
    }

    /// Notes whom a page shows and what their lanes need; what is to be kept of it.
    fn take_in(&mut self, mut shown: Shown) -> IngestPage {
        let viewer = shown.viewer.as_ref().map(|viewer| viewer.login.clone());
        if let Some(viewer) = shown.viewer {
            self.room.fetch.speak_for(format!("{}/{}", self.pull.host, viewer.id));
            self.room.fetch.herald().tell(|| News::Viewer(viewer.login.clone()));
            self.listed.viewer = viewer.login;
        }
        shown.observations.retain(|seen| repository(seen).is_none_or(|it| self.accepts(&it)));
        let repositories: Vec<_> = shown.observations.iter().filter_map(repository).collect();
        let quiet = self.follow(&repositories, &shown.probes);
        self.listed.repositories.extend(repositories);
        for row in &shown.unreadable {
            let subject = row.subject.to_string();
            if row.is_impossible() {
                tracing::warn!(
                    subject,
                    reason = row.reason,
                    "a repository cannot be as it is listed"
                );
                self.listed.impossible.push(subject);
            } else {
                self.listed.unreadable.push(subject);
            }
        }
        IngestPage {
            quarantined: shown.unreadable.iter().map(retry::quarantine).collect(),
            observations: shown.observations,
            looked_at: quiet.into_iter().map(|lane| (lane, shown.date.0)).collect(),
            viewer,
            ..IngestPage::of(self.lane.clone(), self.size)
        }
    }

    /// Whether a repository belongs into the mirror; notes why one that was asked for by name does not.
    fn accepts(&mut self, repository: &Repository) -> bool {
        let Repository { owner, name, .. } = repository;
        let why = match repository {
            it if it.is_archived => {
                "it is archived, and archived repositories are not mirrored".into()
            }
            it if it.is_fork => "it is a fork, and forks are not mirrored".into(),
            it if !self.pull.is_ours(it) => format!("it belongs to {owner} now"),
            _ if !self.pull.only.is_empty() && self.pull.is_excluded(name) => {
                self.listed.refused.push((name.clone(), "it is excluded".into()));
                return true;
            }
            _ => return true,
        };
        if !self.pull.only.is_empty() {
            self.listed.refused.push((name.clone(), why));
        }
        false
    }

    /// What is probed.
    fn surfaces(&self) -> Vec<Surface> {
        self.pull.surfaces().filter(|surface| !self.listed.denied.contains(surface)).collect()
    }

    /// Adds the lanes of these repositories that need something; tells at which nothing moved.
    fn follow(&mut self, repositories: &[Repository], probes: &Probes) -> Vec<Lane> {
        let wishes =
            repositories.iter().flat_map(|it| wishes(self.room, self.pull, self.known, it, probes));
        let is_open = |wish: &Wish| {
            let (surface, id) = (wish.followed.surface(), wish.followed.home.id);
            !self.listed.denied.contains(&surface)
                && !self.listed.denied_lanes.contains(&(id, surface))
        };
        let wishes: Vec<_> = wishes.filter(is_open).collect();
        let quiet = wishes.iter().filter(|wish| matches!(wish.need, Need::Nothing | Need::Roll));
        let quiet = quiet.map(|wish| wish.followed.lane.clone()).collect();
        self.listed.wishes.extend(wishes.into_iter().filter(|wish| wish.need != Need::Nothing));
        quiet
    }

    fn keep(&mut self, page: &IngestPage, is_all: bool) -> Result<(), Error> {
        let ingested = self.room.store.ingest(self.room.lease, page)?;
        self.listed.tally.count(&ingested, page.observations.len());
        let repositories = self.listed.tally.seen;
        self.room.fetch.herald().tell(|| News::Listed { repositories, is_all });
        Ok(())
    }

    fn refused(&self, nonsense: Nonsense) -> Error {
        Error::Page { lane: self.lane.to_string(), refused: nonsense.into() }
    }

    fn tell_asking(&mut self) {
        self.pages += 1;
        let (surface, scope, page) = (Surface::Repositories, &self.pull.organization, self.pages);
        let asking = || News::Asking { surface, scope: scope.clone(), page };
        self.room.fetch.herald().tell(asking);
    }

    /// What is in quarantine and was not met in this listing: it was read whole, so it is not there.
    fn no_longer_met(&self) -> Result<Vec<String>, Error> {
        let held = self.room.store.quarantined_of(&self.lane, u64::from(u32::MAX))?.into_iter();
        let subjects = held.map(|held| held.subject);
        let is_met = |subject: &String| {
            self.listed.unreadable.contains(subject) || self.listed.impossible.contains(subject)
        };
        Ok(subjects.filter(|subject| !is_met(subject)).collect())
    }

    /// Those that could not be read this time and are known from earlier.
    fn unread(&self) -> Vec<Repository> {
        let is_unread = |held: &&Repository| {
            self.listed.unreadable.contains(&held.node_id)
                || self.listed.impossible.contains(&held.node_id)
        };
        self.known.repositories.iter().filter(is_unread).cloned().collect()
    }
}

fn repository(observation: &Observation) -> Option<Repository> {
    match &observation.item {
        Item::Repository(repository) => Some(repository.clone()),
        Item::Thread(_) | Item::Comment(_) => None,
    }
}

impl Listed {
    /// Those that are held and were not shown: by a whole listing, or under a name that was asked for.
    pub(crate) fn suspects(&self, pull: &Pull, known: &Known) -> Vec<Repository> {
        let is_shown = |held: &Repository| {
            self.repositories.iter().any(|shown| shown.id == held.id)
                || self.unreadable.contains(&held.node_id)
                || self.impossible.contains(&held.node_id)
        };
        let is_wanted = |held: &Repository| {
            let same = |name: &String| name.eq_ignore_ascii_case(&held.name);
            pull.only.is_empty() || self.missing.iter().any(same)
        };
        let held = known.repositories.iter();
        held.filter(|held| !is_shown(held) && is_wanted(held)).cloned().collect()
    }
}
