//! Pages of a moving list.
//!
//! A cursor names a place in the order, not an item: it goes on working when its item is gone.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::execute::{Object, Run};
use super::plan::PlanField;
use super::problems::{Problem, Step};
use crate::faults::Fault;

/// A place in an order: what it is sorted by, then the id.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Cursor {
    pub(super) number: i64,
    pub(super) text: String,
    pub(super) id: i64,
}

impl Cursor {
    pub(super) fn by_number(number: i64, id: i64) -> Self {
        Self { number, text: String::new(), id }
    }

    /// A place in a list of this sort; `None` for anything else, a cursor of another sort of list
    /// among it.
    fn parse(cursor: &str, list: &List<'_>) -> Option<Self> {
        let plain = String::from_utf8(STANDARD.decode(cursor).ok()?).ok()?;
        let rest = plain.strip_prefix("cursor:v2:")?.strip_prefix(&list.tag())?;
        let mut parts = rest.strip_prefix(':')?.splitn(3, ':');
        let number = parts.next()?.parse().ok()?;
        let id = parts.next()?.parse().ok()?;
        Some(Self { number, text: parts.next()?.to_owned(), id })
    }

    fn encode(&self, list: &List<'_>) -> String {
        let Self { number, text, id } = self;
        STANDARD.encode(format!("cursor:v2:{}:{number}:{id}:{text}", list.tag()))
    }
}

/// A sort of list, and the order it is asked for in.
pub(super) struct List<'l> {
    pub(super) type_name: &'l str,
    /// What it is ordered by; empty where there is no choice.
    pub(super) by: &'l str,
    pub(super) descending: bool,
}

impl List<'_> {
    /// What the cursors of such a list have in common.
    fn tag(&self) -> String {
        format!("{}.{}", self.type_name, self.by)
    }
}

/// An item and its place.
pub(crate) struct Listed<'w> {
    pub(super) place: Cursor,
    pub(super) object: Object<'w>,
}

/// Which stretch of the list is asked for.
struct Stretch {
    first: Option<usize>,
    last: Option<usize>,
    after: Option<Cursor>,
    before: Option<Cursor>,
}

struct Page<'w, 'l> {
    list: &'l List<'l>,
    items: Vec<Listed<'w>>,
    total: usize,
    has_next: bool,
    has_previous: bool,
}

fn paginate<'w, 'l>(
    mut items: Vec<Listed<'w>>,
    list: &'l List<'l>,
    stretch: Stretch,
) -> Page<'w, 'l> {
    let total = items.len();
    let order = |a: &Cursor, b: &Cursor| if list.descending { b.cmp(a) } else { a.cmp(b) };
    let Stretch { first, last, after, before } = stretch;
    items.retain(|item| {
        after.as_ref().is_none_or(|after| order(after, &item.place).is_lt())
            && before.as_ref().is_none_or(|before| order(&item.place, before).is_lt())
    });
    let mut has_previous = after.is_some() && items.len() < total;
    let mut has_next = before.is_some() && items.len() < total;
    if let Some(first) = first
        && 0 < first
        && first < items.len()
    {
        items.select_nth_unstable_by(first - 1, |a, b| order(&a.place, &b.place));
        items.truncate(first);
        has_next = true;
    }
    items.sort_unstable_by(|a, b| order(&a.place, &b.place));
    if let Some(last) = last
        && last < items.len()
    {
        items.drain(..items.len() - last);
        has_previous = true;
    }
    Page { list, items, total, has_next, has_previous }
}

impl<'a> Run<'a> {
    /// Writes one page of a list, in the order the field asks for.
    pub(super) fn connection(
        &mut self,
        field: &PlanField,
        list: &List<'_>,
        items: Vec<Listed<'a>>,
    ) {
        let stretch = match self.stretch(field, list) {
            Ok(stretch) => stretch,
            Err(cursor) => return self.refuse_cursor(field, &cursor),
        };
        let (page, type_name) = (paginate(items, list, stretch), list.type_name);
        self.out.open_object();
        for kid in field.kids_for(type_name) {
            if !kid.is_shown(self.variables()) {
                continue;
            }
            self.path.push(Step::Key(kid.key.clone()));
            self.out.key(&kid.key);
            match &*kid.name {
                "__typename" => self.out.string(type_name),
                "totalCount" => self.out.int(i64::try_from(page.total).unwrap_or(i64::MAX)),
                "totalDiskUsage" => self.out.int(0),
                "pageInfo" => self.page_info(kid, &page),
                "nodes" => self.nodes_of(kid, &page),
                "edges" => self.edges_of(kid, &page),
                other => unreachable!("the schema has no {type_name}.{other}"),
            }
            self.path.pop();
        }
        self.out.close_object();
    }

    /// The stretch asked for, or the cursor that is none.
    fn stretch(&self, field: &PlanField, list: &List<'_>) -> Result<Stretch, String> {
        let variables = self.variables();
        let number = |name| {
            let value = field.argument(name, variables)?.as_i64()?;
            usize::try_from(value).ok()
        };
        let cursor = |name| {
            let given = field.text(name, variables);
            given.map(|text| Cursor::parse(&text, list).ok_or(text)).transpose()
        };
        Ok(Stretch {
            first: number("first"),
            last: number("last"),
            after: cursor("after")?,
            before: cursor("before")?,
        })
    }

    fn refuse_cursor(&mut self, field: &PlanField, cursor: &str) {
        let message = format!("`{cursor}` does not appear to be a valid cursor.");
        let problem = Problem::new("INVALID_CURSOR_ARGUMENTS", message);
        self.problems.push(problem.at(&self.path, field.location));
        self.out.null();
        self.rising = field.is_required;
    }

    fn page_info(&mut self, field: &PlanField, page: &Page<'a, '_>) {
        self.out.open_object();
        for kid in field.kids_for("PageInfo") {
            if !kid.is_shown(self.variables()) {
                continue;
            }
            self.out.key(&kid.key);
            match &*kid.name {
                "hasNextPage" => self.out.boolean(page.has_next),
                "hasPreviousPage" => self.out.boolean(page.has_previous),
                "startCursor" => self.cursor(page.items.first(), page.list),
                "endCursor" => self.cursor(page.items.last(), page.list),
                _ => self.out.string("PageInfo"),
            }
        }
        self.out.close_object();
    }

    fn cursor(&mut self, item: Option<&Listed<'a>>, list: &List<'_>) {
        self.out.maybe(item, |out, item| out.string(&item.place.encode(list)));
    }

    fn nodes_of(&mut self, field: &PlanField, page: &Page<'a, '_>) {
        self.out.open_array();
        for (position, item) in page.items.iter().enumerate() {
            self.path.push(Step::Index(position));
            self.fragile(field, item.object);
            self.path.pop();
        }
        self.out.close_array();
    }

    fn edges_of(&mut self, field: &PlanField, page: &Page<'a, '_>) {
        let edge = page.list.type_name.replace("Connection", "Edge");
        self.out.open_array();
        for (position, item) in page.items.iter().enumerate() {
            self.path.push(Step::Index(position));
            self.out.open_object();
            for kid in field.kids_for(&edge) {
                if !kid.is_shown(self.variables()) {
                    continue;
                }
                self.path.push(Step::Key(kid.key.clone()));
                self.out.key(&kid.key);
                match &*kid.name {
                    "cursor" => self.out.string(&item.place.encode(page.list)),
                    "node" => self.fragile(kid, item.object),
                    _ => self.out.string(&edge),
                }
                self.path.pop();
            }
            self.out.close_object();
            self.path.pop();
        }
        self.out.close_array();
    }

    /// One object among others, where partial failures happen.
    pub(super) fn fragile(&mut self, field: &PlanField, object: Object<'a>) {
        if self.sabotage.strikes(Fault::PartialError) {
            self.out.null();
            let message = "Something went wrong while executing your query. Please include \
                           `SIM0:PARTIAL` when reporting this issue.";
            let problem = Problem { kind: None, ..Problem::new("", message.to_owned()) };
            self.problems.push(problem.at(&self.path, field.location));
        } else if self.sabotage.strikes(Fault::BadNode) {
            self.spoiled_object(object, field);
        } else {
            self.object(object, field);
        }
    }
}
