//! Pages that share a round trip leave the same rows as pages that are written one by one, as a file does it.

use fastrand::Rng;
use hw_rules::item::{CommentKind, ItemObservation, ThreadKind};
use hw_rules::lane::{Lane, Surface};
use hw_rules::repository_key::RepositoryKey;
use hw_rules::row_subject::RowSubject;
use hw_store::{DatabaseLocation, IngestPage, UnreadableItem};

use crate::databases::query_raw;
use crate::fixture::{
    FileDatabase, HOST, SchemaDatabase, as_thread_mut, coverage_through, observed_at, open_store,
    organization_lane, repository, thread_in_repository,
};

/// The numbers of issues. Their ids are these, and others that get the same row ids if they change in the same second.
const NUMBERS: i64 = 6;
const ID_STRIDE: i64 = 1 << 20;
const RESPONSES: i64 = 30;

#[test]
fn page_groups_leave_the_rows_of_single_pages() {
    let mut displaced = 0;
    for seed in 0..4 {
        let (file, schema) = (FileDatabase::new(), SchemaDatabase::new());
        let (single, grouped) = (open_store(&file.location), open_store(&schema.location));
        let mut world = ListedWorld::new(seed);
        for response in 1..=RESPONSES {
            let pages = world.choose_response(response * 100);
            let counts = [&single, &grouped].map(|store| store.ingest_pages(&pages).unwrap());
            assert_eq!(counts[1], counts[0], "seed {seed}, response {response}: {pages:#?}");
            let rows = [&file.location, &schema.location].map(read_rows);
            assert_eq!(rows[1], rows[0], "seed {seed}, response {response}: {pages:#?}");
            displaced +=
                query_raw(&file.location, "select url from issues where url like '%~%'").len();
        }
    }
    assert!(displaced > 0, "no thread lost its URL, so nothing was proven");
}

/// Returns the rows that pages write, without the ids that a database chooses.
fn read_rows(location: &DatabaseLocation) -> Vec<Vec<String>> {
    const QUERIES: [&str; 5] = [
        "select cast(id as text), node_id, url, repository, title from issues",
        "select name, coverage, cast(object_count as text), coalesce(cast(sweep_due_ms as text), '')
           from lanes",
        "select cells.kind, cast(cells.id as text), cells.updated_at, lanes.name,
                cast(cells.observed_request as text)
           from cells join lanes on lanes.id = cells.lane_id",
        "select quarantine.subject, lanes.name, cast(attempts as text)
           from quarantine join lanes on lanes.id = quarantine.lane_id",
        "select cast(count(distinct search_rowid) as text), cast(count(search_rowid) as text),
                (select cast(count(*) as text) from search)
           from cells",
    ];
    let mut rows: Vec<_> = QUERIES.iter().flat_map(|query| query_raw(location, query)).collect();
    rows.sort_unstable();
    rows
}

/// Repositories with names that they swap, and issues that move between them.
struct ListedWorld {
    rng: Rng,
    names: [&'static str; 3],
}

impl ListedWorld {
    fn new(seed: u64) -> Self {
        Self { rng: Rng::with_seed(seed), names: ["pump", "valve", "nozzle"] }
    }

    fn choose_response(&mut self, second: i64) -> Vec<IngestPage> {
        (0..self.rng.usize(1..6)).map(|_| self.choose_page(second)).collect()
    }

    fn choose_page(&mut self, second: i64) -> IngestPage {
        if self.rng.u8(0..12) == 0 {
            self.rng.shuffle(&mut self.names);
            let observations = (1..).zip(self.names).map(|(id, name)| repository(id, name, second));
            let observations = observations.collect();
            return IngestPage { observations, ..IngestPage::new(organization_lane(), 100) };
        }
        let surface = match self.rng.u8(0..4) {
            0 => Surface::Comments(CommentKind::Conversation),
            _ => Surface::Threads(ThreadKind::Issue),
        };
        let lane = Lane::for_repository(RepositoryKey::new(HOST, self.rng.i64(1..=3)), surface);
        let observations = (0..self.rng.usize(0..3)).map(|_| self.choose_issue(second)).collect();
        let coverage = self.rng.bool().then(|| coverage_through(second));
        let is_unreadable = self.rng.u8(0..12) == 0;
        let quarantined = is_unreadable.then(|| self.choose_unreadable(second));
        let quarantined = quarantined.into_iter().collect();
        IngestPage { observations, quarantined, coverage, ..IngestPage::new(lane, 100) }
    }

    fn choose_issue(&mut self, second: i64) -> ItemObservation {
        let (number, repository) = (self.rng.i64(1..=NUMBERS), self.rng.usize(0..3));
        let id = number + self.rng.i64(0..3) * ID_STRIDE;
        let (second, name) = (second + self.rng.i64(0..2), self.names[repository]);
        let repository = i64::try_from(repository).unwrap() + 1;
        let text = format!("w{}", self.rng.u8(0..9));
        let mut observation =
            thread_in_repository(ThreadKind::Issue, repository, name, id, second, &text);
        let thread = as_thread_mut(&mut observation);
        thread.number = id;
        match self.rng.u8(0..12) {
            // the URL of another issue
            0 => thread.url = format!("https://github.com/acme/{name}/issues/{number}"),
            // another node under this id
            1 => thread.node_id = format!("I_{number}"),
            _ => {}
        }
        observation
    }

    fn choose_unreadable(&mut self, second: i64) -> UnreadableItem {
        UnreadableItem {
            subject: RowSubject::Node(format!("I_{}", self.rng.i64(1..=NUMBERS))),
            reason: "not readable".to_owned(),
            raw: String::new(),
            updated_at: None,
            seen: observed_at(second),
        }
    }
}
