//! The pages of the discovery in progress, for the worker that takes over the pull. They are of no use to a later pull,
//! which has to see what changed since.

use hw_rules::discovered_page::DiscoveredPage;

use crate::LeasedStore;
use crate::error::StoreError;
use crate::ingest::{self, IngestCounts, IngestPage, PreparedPage};
use crate::leases::Lease;
use crate::sql::{Sql, params};
use crate::transaction::{Transaction, TransactionStep, step};

const INGEST: TransactionStep = step!("ingest");
const RESUME: TransactionStep = step!("resume discovery");

impl LeasedStore {
    /// Ingests a page of repositories, and records what else it showed. Number 0 starts a new record.
    pub fn ingest_discovered_page(
        &self,
        page: &IngestPage,
        number: u32,
        discovered: &DiscoveredPage,
    ) -> Result<IngestCounts, StoreError> {
        self.write_with_lease(INGEST, |tx| {
            let counts = ingest::write_page(tx, &PreparedPage::without_texts(page))?;
            record_page(tx, self.lease(), page.lane.host.as_str(), number, discovered)?;
            Ok(counts)
        })
    }

    /// Makes the record of an earlier claim of this duty ours, and returns its pages in order. Returns none if there is no
    /// such record, or this version cannot read it.
    pub fn resume_discovery(
        &self,
        host: &str,
        epoch: i64,
    ) -> Result<Vec<DiscoveredPage>, StoreError> {
        const PAGES: Sql = Sql::portable(
            "select content from discovery_pages where host = $1 and epoch = $2 order by number",
        );
        const ADOPT: Sql =
            Sql::portable("update discovery_pages set epoch = $1 where host = $2 and epoch = $3");
        self.write_with_lease(RESUME, |tx| {
            let contents = tx.query(PAGES, &params![host, epoch], |mut row| row.text("content"))?;
            tx.send_statement(ADOPT, &params![self.lease().epoch, host, epoch])?;
            let pages = contents.iter().map(|content| serde_json::from_str(content));
            Ok(pages.collect::<Result<_, _>>().unwrap_or_default())
        })
    }

    /// Deletes the record, because its pull has ended.
    pub fn forget_discovery(&self, host: &str) -> Result<(), StoreError> {
        self.write_with_lease(RESUME, |tx| delete_pages(tx, host))
    }
}

fn record_page(
    tx: &mut Transaction<'_>,
    lease: &Lease,
    host: &str,
    number: u32,
    page: &DiscoveredPage,
) -> Result<(), StoreError> {
    const INSERT: Sql = Sql::portable(
        "insert into discovery_pages (host, number, epoch, content) values ($1, $2, $3, $4)",
    );
    if number == 0 {
        delete_pages(tx, host)?;
    }
    let content = serde_json::to_string(page).expect("a page of plain values is always JSON");
    tx.send_statement(INSERT, &params![host, i64::from(number), lease.epoch, &content])
}

fn delete_pages(tx: &mut Transaction<'_>, host: &str) -> Result<(), StoreError> {
    const DELETE: Sql = Sql::portable("delete from discovery_pages where host = $1");
    tx.send_statement(DELETE, &params![host])
}
