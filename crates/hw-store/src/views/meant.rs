//! Which of the repositories that are held are meant by a name?

use hw_rules::address::RepositoryAddress;
use hw_rules::clean::storable;

use crate::error::Error;
use crate::sql::{Row, Sql, params};
use crate::tx::Tx;

/// The names are those that rows carry, so that an index finds them.
pub(crate) struct Meant {
    pub(crate) names: Vec<String>,
    /// Where an owner was named: others may have repositories of that name, too.
    pub(crate) ids: Option<Vec<i64>>,
}

impl Meant {
    /// What a name means, in any case; a name that nobody has means itself, and finds nothing.
    pub(crate) fn by(tx: &mut Tx<'_>, asked: Option<&str>) -> Result<Option<Self>, Error> {
        const NAMED: Sql =
            Sql::both("select id, owner, name from repositories where lower(name) = lower($1)");
        let Some(asked) = asked.map(storable) else { return Ok(None) };
        let address = RepositoryAddress::of(&asked);
        let read = |mut row: Row| Ok((row.int(0)?, row.text(1)?, row.text(2)?));
        let mut held = tx.query_readable(NAMED, &params![address.name], read)?.rows;
        held.retain(|(_, owner, name)| address.means(owner, name));
        if held.is_empty() {
            return Ok(Some(Self { names: vec![asked], ids: None }));
        }
        let ids = address.owner.map(|_| held.iter().map(|(id, _, _)| *id).collect());
        let mut names: Vec<String> = held.into_iter().map(|(_, _, name)| name).collect();
        names.sort_unstable();
        names.dedup();
        Ok(Some(Self { names, ids }))
    }
}
