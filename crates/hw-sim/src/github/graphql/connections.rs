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

    pub(super) fn parse(cursor: &str) -> Option<Self> {
        let plain = String::from_utf8(STANDARD.decode(cursor).ok()?).ok()?;
        let mut parts = plain.strip_prefix("cursor:v2:")?.splitn(3, ':');
        let number = parts.next()?.parse().ok()?;
        let id = parts.next()?.parse().ok()?;
        Some(Self { number, text: parts.next()?.to_owned(), id })
    }

    fn encode(&self) -> String {
        STANDARD.encode(format!("cursor:v2:{}:{}:{}", self.number, self.id, self.text))
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

struct Page<'w> {
    items: Vec<Listed<'w>>,
    total: usize,
    has_next: bool,
    has_previous: bool,
}

fn paginate(mut items: Vec<Listed<'_>>, descending: bool, stretch: Stretch) -> Page<'_> {
    let total = items.len();
    let order = |a: &Cursor, b: &Cursor| if descending { b.cmp(a) } else { a.cmp(b) };
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
    Page { items, total, has_next, has_previous }
}

impl<'a> Run<'a> {
    /// Writes one page of a list, in the order the field asks for.
    pub(super) fn connection(
        &mut self,
        field: &PlanField,
        type_name: &str,
        items: Vec<Listed<'a>>,
        descending: bool,
    ) {
        let page = paginate(items, descending, self.stretch(field));
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
                "edges" => self.edges_of(kid, type_name, &page),
                other => unreachable!("the schema has no {type_name}.{other}"),
            }
            self.path.pop();
        }
        self.out.close_object();
    }

    fn stretch(&self, field: &PlanField) -> Stretch {
        let variables = self.variables();
        let number = |name| {
            let value = field.argument(name, variables)?.as_i64()?;
            usize::try_from(value).ok()
        };
        let cursor = |name| Cursor::parse(&field.text(name, variables)?);
        Stretch {
            first: number("first"),
            last: number("last"),
            after: cursor("after"),
            before: cursor("before"),
        }
    }

    fn page_info(&mut self, field: &PlanField, page: &Page<'a>) {
        self.out.open_object();
        for kid in field.kids_for("PageInfo") {
            if !kid.is_shown(self.variables()) {
                continue;
            }
            self.out.key(&kid.key);
            match &*kid.name {
                "hasNextPage" => self.out.boolean(page.has_next),
                "hasPreviousPage" => self.out.boolean(page.has_previous),
                "startCursor" => self.cursor(page.items.first()),
                "endCursor" => self.cursor(page.items.last()),
                _ => self.out.string("PageInfo"),
            }
        }
        self.out.close_object();
    }

    fn cursor(&mut self, item: Option<&Listed<'a>>) {
        self.out.maybe(item, |out, item| out.string(&item.place.encode()));
    }

    fn nodes_of(&mut self, field: &PlanField, page: &Page<'a>) {
        self.out.open_array();
        for (position, item) in page.items.iter().enumerate() {
            self.path.push(Step::Index(position));
            self.fragile(field, item.object);
            self.path.pop();
        }
        self.out.close_array();
    }

    fn edges_of(&mut self, field: &PlanField, type_name: &str, page: &Page<'a>) {
        let edge = type_name.replace("Connection", "Edge");
        self.out.open_array();
        for (position, item) in page.items.iter().enumerate() {
            self.path.push(Step::Index(position));
            self.out.open_object();
            for kid in field.kids_for(&edge) {
                self.path.push(Step::Key(kid.key.clone()));
                self.out.key(&kid.key);
                match &*kid.name {
                    "cursor" => self.out.string(&item.place.encode()),
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
