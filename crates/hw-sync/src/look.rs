//! Looks by id: what of a lane is there, whatever sort of lane it is.

use hw_rules::item::{Item, Observation};
use hw_rules::lane::{Lane, Reading, Surface};
use hw_sources::github::graphql::{Answer, Query};
use hw_sources::github::{comments, threads};
use hw_sources::page::LookPage;
use hw_sources::trouble::Trouble;
use hw_store::IngestPage;

use crate::Error;
use crate::turn::{Followed, Home, Room};

/// Asks for these objects of a repository, and for some siblings.
pub(crate) fn query(surface: Surface, home: &Home, ids: &[String], siblings: &[String]) -> Query {
    match surface.reading() {
        Reading::Walk => threads::look_query(surface, &home.node_id, ids, siblings),
        Reading::Since | Reading::Talks => {
            comments::look_query(surface, &home.node_id, ids, siblings)
        }
    }
}

/// Reads what answered.
pub(crate) fn read(
    answer: &Answer,
    surface: Surface,
    ids: &[String],
    home: &Home,
    request: i64,
) -> Result<LookPage, Trouble> {
    match surface.reading() {
        Reading::Walk => threads::read_look(answer, surface, ids, home.id, request),
        Reading::Since | Reading::Talks => {
            comments::read_look(answer, surface, ids, home.id, request)
        }
    }
}

/// Keeps what belongs to another repository by now, where that one is followed; of the others, nothing is
/// to be held. Tells whose ids were kept.
pub(crate) fn keep_elsewhere(
    room: &Room<'_>,
    followed: &Followed,
    elsewhere: Vec<Observation>,
) -> Result<Vec<i64>, Error> {
    let mut kept = Vec::new();
    for found in elsewhere {
        let Item::Comment(comment) = &found.item else { continue };
        let (host, surface) = (&followed.lane.host, followed.surface());
        let lane = Lane::of_repository(host, comment.repository_id, surface);
        let state = room.store.lane_state(&lane)?;
        if state.coverage.through.is_none() {
            continue;
        }
        let id = comment.id;
        let page = IngestPage::of(lane, state.page_size);
        let page = IngestPage { observations: vec![found], ..page };
        room.store.ingest(room.lease, &page)?;
        kept.push(id);
    }
    Ok(kept)
}
