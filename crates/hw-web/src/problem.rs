//! What is answered when a page cannot be shown: what happened, and what helps.

use askama::Template;
use axum::http::StatusCode;
use axum::response::Response;
use hw_store::{Behind, Error};

use crate::behind::Told;
use crate::page::{Frame, html};
use crate::texts::line;

#[derive(Debug)]
pub(crate) enum Problem {
    /// There is no such page.
    Unknown,
    /// No such thread is held; what may be missing.
    NoThread(String, Behind),
    /// Which workspace is meant is not clear, for this reason.
    NotFound(String),
    /// Nothing was pulled yet, into this place.
    NoWorkspace(String),
    /// The database fails.
    Database(Error),
    /// Something that must never happen did.
    Ours,
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        if let Error::NoDatabase(place) = error {
            return Self::NoWorkspace(place);
        }
        Self::Database(error)
    }
}

#[derive(Template)]
#[template(path = "problem.html", blocks = ["problem"])]
struct Page {
    frame: Frame,
    code: u16,
    title: &'static str,
    what: String,
    helps: &'static str,
    behind: Told,
}

impl Problem {
    /// As a page of its own.
    pub(crate) fn page(&self) -> Response {
        html(self.status(), &self.view())
    }

    /// As a part of the page that asked.
    pub(crate) fn part(&self) -> Response {
        html(self.status(), &self.view().as_problem())
    }

    fn status(&self) -> StatusCode {
        match self {
            Self::Unknown | Self::NoThread(..) | Self::NotFound(_) | Self::NoWorkspace(_) => {
                StatusCode::NOT_FOUND
            }
            Self::Database(_) | Self::Ours => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    fn view(&self) -> Page {
        let (title, what, helps) = self.words();
        let frame = Frame::still("");
        let behind =
            if let Self::NoThread(_, behind) = self { behind.clone() } else { Behind::default() };
        let (code, what) = (self.status().as_u16(), line(&what));
        Page { frame, code, title, what, helps, behind: behind.into() }
    }

    fn words(&self) -> (&'static str, String, &'static str) {
        match self {
            Self::Unknown => (
                "No such page",
                "Nothing is kept under this address.".to_owned(),
                "The search page finds threads by their words.",
            ),
            Self::NoThread(address, _) => (
                "Not in this workspace",
                format!("{address} is not held here."),
                "It may be older than what was pulled, hidden from the token, or gone.",
            ),
            Self::NotFound(why) => (
                "Which workspace?",
                format!("{why}."),
                "Start it again, and name one: `highwater ui --workspace NAME`.",
            ),
            Self::NoWorkspace(place) => (
                "Nothing was pulled yet",
                format!("There is no database at {place}."),
                "Run `highwater pull -o ORGANISATION`, and then load this page again.",
            ),
            Self::Database(error) => (
                "The database does not answer",
                format!("{error}."),
                "`highwater doctor store` says what is wrong with it, and what to do.",
            ),
            Self::Ours => (
                "highwater made a mistake",
                "The answer could not be put together.".to_owned(),
                "Load the page again; the log on stderr may say more.",
            ),
        }
    }
}

pub(crate) async fn unknown_page() -> Response {
    Problem::Unknown.page()
}
