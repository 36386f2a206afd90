//! Finds the rows of lanes, and creates missing ones.

use std::collections::{BTreeMap, BTreeSet};

use hw_rules::coverage::Coverage;
use hw_rules::follow_reason::LaneUse;
use hw_rules::lane::{Lane, Scope};

use super::{FIRST_PAGE_SIZE, parse_coverage, serialize_coverage};
use crate::driver::PendingRows;
use crate::error::StoreError;
use crate::sql::{Sql, params};
use crate::transaction::Transaction;

/// Returns the id of a lane's row. A missing row is created for the mirror; whoever else reads a lane follows it first.
pub(crate) fn ensure_lane_id(tx: &mut Transaction<'_>, lane: &Lane) -> Result<i64, StoreError> {
    match find_lane_id(tx, lane)? {
        Some(id) => Ok(id),
        None => insert_lane(tx, lane, LaneUse::Mirror),
    }
}

fn insert_lane(
    tx: &mut Transaction<'_>,
    lane: &Lane,
    lane_use: LaneUse,
) -> Result<i64, StoreError> {
    insert_missing_lanes(tx, &[lane], lane_use)?;
    find_lane_id(tx, lane)?
        .ok_or_else(|| StoreError::Damaged(format!("the lane {lane} has no row")))
}

/// A lane's id that was requested.
pub(crate) struct PendingLaneId<'a> {
    lane: &'a Lane,
    lane_use: LaneUse,
    rows: PendingRows,
}

impl<'a> PendingLaneId<'a> {
    pub(crate) fn send(
        tx: &mut Transaction<'_>,
        lane: &'a Lane,
        lane_use: LaneUse,
    ) -> Result<Self, StoreError> {
        const ID: Sql = Sql::portable(
            "select id, exists (select 1 from lane_uses where lane_id = lanes.id and use = $1) as is_used
               from lanes where name = $2",
        );
        let name = lane.to_string();
        let rows = tx.send_query(ID, &params![lane_use.name(), &name])?;
        Ok(Self { lane, lane_use, rows })
    }

    fn read(self, tx: &mut Transaction<'_>) -> Result<Option<FoundLane>, StoreError> {
        let found = tx.read_pending(self.rows, |mut row| {
            Ok(FoundLane { id: row.int("id")?, is_used: row.flag("is_used")? })
        })?;
        Ok(found.into_iter().next())
    }

    /// Returns the id, and creates the row, or this use of it, if it is missing.
    pub(crate) fn read_or_insert(self, tx: &mut Transaction<'_>) -> Result<i64, StoreError> {
        let Self { lane, lane_use, .. } = self;
        match self.read(tx)? {
            Some(FoundLane { id, is_used: true }) => Ok(id),
            Some(FoundLane { id, is_used: false }) => {
                add_lane_use(tx, &[lane.to_string()], lane_use)?;
                Ok(id)
            }
            None => insert_lane(tx, lane, lane_use),
        }
    }
}

/// A lane's row.
struct FoundLane {
    id: i64,
    /// True if the use that was asked for is recorded.
    is_used: bool,
}

macro_rules! insert_lanes {
    ($rows:literal) => {
        concat!(
            "insert into lanes (name, host, organization, repository_id, account, surface, coverage, page_size) ",
            $rows,
            " on conflict (name) do nothing"
        )
    };
}

/// Creates the rows of those of these lanes that have none, and records a use of all of them.
pub(super) fn insert_missing_lanes(
    tx: &mut Transaction<'_>,
    lanes: &[&Lane],
    lane_use: LaneUse,
) -> Result<(), StoreError> {
    const INSERT: Sql = Sql::per_dialect(
        insert_lanes!("values ($1, $2, $3, $4, $5, $6, $7, $8)"),
        insert_lanes!(
            "select * from unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::text[],
                                  $6::text[], $7::text[], $8::bigint[])"
        ),
    );
    let coverage = serialize_coverage(&Coverage::default());
    let names: Vec<_> = lanes.iter().map(ToString::to_string).collect();
    let scopes: Vec<_> = lanes.iter().map(|lane| ScopeColumns::from_scope(&lane.scope)).collect();
    let rows: Vec<_> = lanes
        .iter()
        .zip(names.iter().zip(&scopes))
        .map(|(lane, (name, scope))| {
            let (owner, repository) = (scope.organization.as_deref(), scope.repository_id);
            let (account, surface) = (scope.account.as_deref(), lane.surface.name());
            let size = i64::from(FIRST_PAGE_SIZE);
            params![name, &lane.host, owner, repository, account, surface, &coverage, size].to_vec()
        })
        .collect();
    tx.insert_rows(INSERT, &rows)?;
    add_lane_use(tx, &names, lane_use)
}

/// A lane's scope as columns; all are null for the repositories that are followed one by one.
struct ScopeColumns {
    organization: Option<String>,
    repository_id: Option<i64>,
    account: Option<String>,
}

impl ScopeColumns {
    fn from_scope(scope: &Scope) -> Self {
        let none = Self { organization: None, repository_id: None, account: None };
        match scope {
            Scope::Owner(login) => Self { organization: Some(login.to_key()), ..none },
            Scope::Repository(id) => Self { repository_id: Some(id.0), ..none },
            Scope::SingleRepositories => none,
            Scope::Account(did) => Self { account: Some(did.to_string()), ..none },
        }
    }
}

/// Records a use of the lanes with these names, as far as they have rows.
pub(super) fn add_lane_use(
    tx: &mut Transaction<'_>,
    names: &[String],
    lane_use: LaneUse,
) -> Result<(), StoreError> {
    const ADD: Sql = Sql::per_dialect(
        "insert into lane_uses (lane_id, use) select id, $1 from lanes where name = $2
         on conflict do nothing",
        "insert into lane_uses (lane_id, use)
         select lanes.id, used.use from unnest($1::text[], $2::text[]) as used (use, name)
           join lanes on lanes.name = used.name
         on conflict do nothing",
    );
    let rows: Vec<_> = names.iter().map(|name| params![lane_use.name(), name].to_vec()).collect();
    tx.insert_rows(ADD, &rows)
}

/// Returns the id of a lane's row, if it has one.
pub(crate) fn find_lane_id(
    tx: &mut Transaction<'_>,
    lane: &Lane,
) -> Result<Option<i64>, StoreError> {
    let found = PendingLaneId::send(tx, lane, LaneUse::Mirror)?.read(tx)?;
    Ok(found.map(|found| found.id))
}

/// The followed ones of some lanes, with what each of them claims.
pub(crate) type FollowedLanes = BTreeMap<Lane, FollowedLane>;

/// A lane that has a row.
pub(crate) struct FollowedLane {
    pub(crate) id: i64,
    pub(crate) coverage: Coverage,
}

/// Lanes that were requested.
pub(crate) struct PendingLanes {
    by_name: BTreeMap<String, Lane>,
    rows: Option<PendingRows>,
}

impl PendingLanes {
    /// Requests the rows of these lanes.
    pub(crate) fn send(
        tx: &mut Transaction<'_>,
        lanes: BTreeSet<Lane>,
    ) -> Result<Self, StoreError> {
        const LANES: Sql = Sql::per_dialect(
            "select name, id, coverage from lanes where name in (select value from json_each($1))",
            "select name, id, coverage from lanes where name = any($1)",
        );
        let by_name: BTreeMap<_, _> =
            lanes.into_iter().map(|lane| (lane.to_string(), lane)).collect();
        let names: Vec<_> = by_name.keys().map(String::as_str).collect();
        let rows = if names.is_empty() {
            None
        } else {
            Some(tx.send_query(LANES, &params![names.as_slice()])?)
        };
        Ok(Self { by_name, rows })
    }

    /// Returns those that have a row.
    pub(crate) fn read(mut self, tx: &mut Transaction<'_>) -> Result<FollowedLanes, StoreError> {
        let Some(rows) = self.rows else { return Ok(FollowedLanes::new()) };
        let rows = tx.read_pending(rows, |mut row| {
            let (name, id) = (row.text("name")?, row.int("id")?);
            Ok((name, FollowedLane { id, coverage: parse_coverage(&row.text("coverage")?) }))
        })?;
        let rows = rows.into_iter();
        Ok(rows.filter_map(|(name, row)| Some((self.by_name.remove(&name)?, row))).collect())
    }
}
