//! Looks up items by id: those that the inventory lists and the store lacks, and suspects, which are stored and
//! not listed.

use std::collections::BTreeMap;

use hw_rules::row_subject::RowSubject;
use hw_rules::second_lookup::{self, SecondLookup};
use hw_rules::version::ObservedAt;
use hw_sources::error::SourceError;
use hw_sources::page::LookupPage;

use super::{ItemIdPair, LaneSweep};
use crate::api_client::FetchError;
use crate::lookup::{self, ItemLookupQuery, LOOKUP_BATCH_SIZE};
use crate::retry_policy::RequestOptions;

/// The result of a second lookup of all suspects.
pub(super) struct SuspectRecheck {
    pub(super) gone: Vec<(i64, ObservedAt)>,
    /// Suspects that were neither found nor reported absent.
    pub(super) unanswered: Vec<i64>,
    /// Suspects that were reported absent in a lookup without an answer from a sibling.
    pub(super) unvouched: Vec<i64>,
    /// True if a sibling answered in each lookup.
    pub(super) is_vouched_for: bool,
}

impl LaneSweep<'_, '_> {
    /// Fetches the items that the inventory lists and the store lacks, or has in an older version.
    pub(super) async fn fetch_missing(
        &mut self,
        mut items: &[ItemIdPair],
    ) -> Result<(), FetchError> {
        while !items.is_empty() {
            match self.look_up_batch(items, &[]).await {
                Ok(page) => {
                    let (batch, rest) = items.split_at(page.requested_count);
                    let absent = absent_items(batch, &page);
                    self.store_lookup(page).await?;
                    self.recheck_absent(&absent).await?;
                    items = rest;
                }
                // one item that the server cannot serve must not block all that follow it
                Err(FetchError::Source(SourceError::TooExpensive(reason)))
                    if self.batch_size == 1 =>
                {
                    self.quarantine_item(&items[0], reason).await?;
                    items = &items[1..];
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Looks up items again that the inventory lists and a lookup reported absent: one of the two answers came
    /// from a lagging replica, or from a fault. Items that are absent again are quarantined.
    async fn recheck_absent(&mut self, mut items: &[ItemIdPair]) -> Result<(), FetchError> {
        while !items.is_empty() {
            let page = self.look_up_batch(items, &[]).await?;
            let (batch, rest) = items.split_at(page.requested_count);
            let absent = absent_items(batch, &page);
            self.has_absent_items |= !absent.is_empty();
            // a resumed inventory is read again first: what it lists may be gone since
            if !self.is_resumed {
                for item in &absent {
                    self.quarantine_item(item, "listed, but not found by its id".into()).await?;
                }
            }
            self.store_lookup(page).await?;
            items = rest;
        }
        Ok(())
    }

    /// Looks up each suspect again, together with siblings.
    pub(super) async fn recheck_suspects(
        &mut self,
        mut suspects: &[ItemIdPair],
        siblings: &[String],
    ) -> Result<SuspectRecheck, FetchError> {
        let mut recheck = SuspectRecheck {
            gone: Vec::new(),
            unanswered: Vec::new(),
            unvouched: Vec::new(),
            is_vouched_for: true,
        };
        while !suspects.is_empty() {
            let mut page = match self.look_up_batch(suspects, siblings).await {
                Err(FetchError::Source(SourceError::TooExpensive(reason)))
                    if self.batch_size == 1 =>
                {
                    self.quarantine_item(&suspects[0], reason).await?;
                    recheck.unanswered.push(suspects[0].id);
                    suspects = &suspects[1..];
                    continue;
                }
                other => other?,
            };
            let (batch, rest) = suspects.split_at(page.requested_count);
            let elsewhere = std::mem::take(&mut page.elsewhere);
            let moved: Vec<i64> = elsewhere.iter().map(|found| found.key().id).collect();
            let stored = lookup::store_moved_items(self.turn.context, self.turn.target, elsewhere)?;
            let second = judge_suspects(&page, batch, &moved, &stored);
            let ids = batch.iter().map(|suspect| suspect.id);
            recheck.unanswered.extend(ids.filter(|id| !second.answered.contains_key(id)));
            recheck.is_vouched_for &= second.sibling_answered;
            if !second.sibling_answered {
                let absent = second.answered.iter().filter(|(_, is_present)| !**is_present);
                recheck.unvouched.extend(absent.map(|(id, _)| *id));
            }
            let gone = second_lookup::confirmed_gone(&second);
            recheck.gone.extend(gone.into_iter().map(|id| (id, page.observed_at)));
            self.store_lookup(page).await?;
            suspects = rest;
        }
        Ok(recheck)
    }

    /// Looks up as many of the items as the server can serve at once, together with the siblings.
    async fn look_up_batch(
        &mut self,
        items: &[ItemIdPair],
        siblings: &[String],
    ) -> Result<LookupPage, FetchError> {
        let ids = node_ids(items, LOOKUP_BATCH_SIZE);
        let target = self.turn.target;
        let query = ItemLookupQuery { target, ids: &ids, siblings };
        let options = target.request_options(RequestOptions::SWEEP);
        self.turn.client().fetch(&query, options, &mut self.batch_size).await
    }

    async fn store_lookup(&mut self, lookup: LookupPage) -> Result<(), FetchError> {
        let page = self.build_ingest_page(lookup.observations, &lookup.unreadable);
        Ok(self.turn.store_page(page).await?)
    }

    async fn quarantine_item(
        &mut self,
        item: &ItemIdPair,
        reason: String,
    ) -> Result<(), FetchError> {
        let subject = RowSubject::Node(item.node_id.clone());
        let unreadable = self.turn.oversized_row(subject, reason);
        let page = self.build_ingest_page(Vec::new(), &[unreadable]);
        Ok(self.turn.store_page(page).await?)
    }
}

fn node_ids(items: &[ItemIdPair], limit: u32) -> Vec<String> {
    items.iter().take(limit as usize).map(|item| item.node_id.clone()).collect()
}

/// Returns the items that the lookup reports absent.
fn absent_items(items: &[ItemIdPair], page: &LookupPage) -> Vec<ItemIdPair> {
    items.iter().filter(|item| page.absent.contains(&item.node_id)).cloned().collect()
}

/// Decides which suspects of a lookup are present and which are absent; the others have no answer.
///
/// An item that moved to another repository is present if it is stored there now, and absent otherwise.
fn judge_suspects(
    page: &LookupPage,
    suspects: &[ItemIdPair],
    moved: &[i64],
    stored: &[i64],
) -> SecondLookup {
    let mut answered = BTreeMap::new();
    for suspect in suspects {
        let id = suspect.id;
        let is_present = stored.contains(&id)
            || page.observations.iter().any(|observation| observation.key().id == id);
        let is_absent = page.absent.contains(&suspect.node_id)
            || moved.contains(&id)
            || is_renumbered(page, suspect);
        if is_present || is_absent {
            answered.insert(id, is_present);
        }
    }
    SecondLookup { answered, sibling_answered: page.is_vouched_for }
}

/// Returns true if the suspect's node answers under another id. A node has one id and the inventory does not list
/// the suspect's, so the suspect was stored under a wrong id.
fn is_renumbered(page: &LookupPage, suspect: &ItemIdPair) -> bool {
    page.observations.iter().any(|observation| {
        observation.item.node_id() == suspect.node_id && observation.key().id != suspect.id
    })
}

#[cfg(test)]
mod tests {
    use hw_rules::source_time::SourceInstant;

    use super::*;

    #[test]
    fn suspect_without_an_answer_is_neither_present_nor_absent() {
        let second =
            judge_suspects(&lookup_page(&["N1"]), &[item_id_pair(1), item_id_pair(2)], &[], &[]);
        assert_eq!(second.answered, BTreeMap::from([(1, false)]), "2 was unreadable");
    }

    #[test]
    fn suspect_is_confirmed_gone_only_if_a_sibling_answered() {
        let unvouched = LookupPage { is_vouched_for: false, ..lookup_page(&["N1"]) };
        let alone = judge_suspects(&unvouched, &[item_id_pair(1)], &[], &[]);
        assert!(second_lookup::confirmed_gone(&alone).is_empty());
        let vouched = judge_suspects(&lookup_page(&["N1"]), &[item_id_pair(1)], &[], &[]);
        assert_eq!(second_lookup::confirmed_gone(&vouched), [1]);
    }

    #[test]
    fn suspect_that_moved_is_gone_unless_its_new_repository_stores_it() {
        let moved =
            judge_suspects(&lookup_page(&[]), &[item_id_pair(1), item_id_pair(2)], &[1, 2], &[1]);
        assert_eq!(moved.answered, BTreeMap::from([(1, true), (2, false)]));
    }

    /// A lookup in which a sibling answered.
    fn lookup_page(absent: &[&str]) -> LookupPage {
        LookupPage {
            date: SourceInstant(0),
            observed_at: ObservedAt::new(0, 0),
            requested_count: 2,
            is_vouched_for: true,
            observations: vec![],
            absent: absent.iter().map(|id| (*id).to_owned()).collect(),
            unreadable: vec![],
            elsewhere: vec![],
        }
    }

    fn item_id_pair(id: i64) -> ItemIdPair {
        ItemIdPair { id, node_id: format!("N{id}") }
    }
}
