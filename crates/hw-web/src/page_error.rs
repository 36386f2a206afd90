//! Error pages: what happened, and what to do about it.

use askama::Template;
use axum::http::StatusCode;
use axum::response::Response;
use hw_store::{Completeness, OpenWorkspaceError, StoreError};

use crate::freshness_banner::FreshnessBanner;
use crate::page_frame::{PageFrame, render_html};
use crate::title::{TitlePart, sentence_parts};

#[derive(Debug)]
pub(crate) enum PageError {
    /// There is no such page.
    PageNotFound,
    /// The thread of this address is not stored; the completeness says why it may be missing.
    ThreadNotFound(String, Completeness),
    /// The workspace has no repository of this name.
    RepositoryNotFound(String),
    /// The workspace cannot be determined, for this reason.
    WorkspaceUnclear(String),
    /// There is no database at this location yet.
    NoWorkspace(String),
    /// The file at this location is not a database.
    NotADatabase(String),
    /// The database failed.
    Database(StoreError),
    /// A bug in highwater.
    Internal,
}

impl From<OpenWorkspaceError> for PageError {
    fn from(error: OpenWorkspaceError) -> Self {
        match error {
            OpenWorkspaceError::Undetermined(reason) => Self::WorkspaceUnclear(reason),
            OpenWorkspaceError::NotADatabase(location) => Self::NotADatabase(location),
            OpenWorkspaceError::Store(error) => error.into(),
        }
    }
}

impl From<StoreError> for PageError {
    fn from(error: StoreError) -> Self {
        if let StoreError::NoDatabase(location) = error {
            return Self::NoWorkspace(location);
        }
        Self::Database(error)
    }
}

#[derive(Template)]
#[template(path = "error.html", blocks = ["problem"])]
struct ErrorTemplate {
    frame: PageFrame,
    code: u16,
    heading: &'static str,
    message: Vec<TitlePart>,
    hint: Vec<TitlePart>,
    freshness: FreshnessBanner,
}

/// The texts of an error page.
struct ErrorMessage {
    title: &'static str,
    message: String,
    hint: &'static str,
}

impl PageError {
    /// Renders the error as a whole page.
    pub(crate) fn page_response(&self) -> Response {
        render_html(self.status_code(), &self.build_template())
    }

    /// Renders the error as a fragment for the page that sent the request.
    pub(crate) fn fragment_response(&self) -> Response {
        render_html(self.status_code(), &self.build_template().as_problem())
    }

    fn status_code(&self) -> StatusCode {
        match self {
            Self::PageNotFound
            | Self::ThreadNotFound(..)
            | Self::RepositoryNotFound(_)
            | Self::WorkspaceUnclear(_)
            | Self::NoWorkspace(_) => StatusCode::NOT_FOUND,
            Self::NotADatabase(_) | Self::Database(_) | Self::Internal => {
                StatusCode::INTERNAL_SERVER_ERROR
            }
        }
    }

    fn build_template(&self) -> ErrorTemplate {
        let ErrorMessage { title, message, hint } = self.error_message();
        let completeness = match self {
            Self::ThreadNotFound(_, completeness) => completeness.clone(),
            Self::PageNotFound
            | Self::RepositoryNotFound(_)
            | Self::WorkspaceUnclear(_)
            | Self::NoWorkspace(_)
            | Self::NotADatabase(_)
            | Self::Database(_)
            | Self::Internal => Completeness::default(),
        };
        ErrorTemplate {
            frame: PageFrame::without_updates(None),
            code: self.status_code().as_u16(),
            heading: title,
            message: sentence_parts(&message),
            hint: sentence_parts(hint),
            freshness: completeness.into(),
        }
    }

    fn error_message(&self) -> ErrorMessage {
        match self {
            Self::PageNotFound => ErrorMessage {
                title: "Page not found",
                message: "There is no page at this address.".to_owned(),
                hint: "Use the search page to find threads.",
            },
            Self::ThreadNotFound(address, _) => ErrorMessage {
                title: "Not in this workspace",
                message: format!("This workspace has no thread {address}."),
                hint: "It may be older than the pull window, not visible to the token, newer than the last pull, or deleted.",
            },
            Self::RepositoryNotFound(name) => ErrorMessage {
                title: "Not in this workspace",
                message: format!("This workspace has no repository named {name}."),
                hint: "Run `highwater list repos` to list its repositories.",
            },
            Self::WorkspaceUnclear(reason) => ErrorMessage {
                title: "Which workspace?",
                message: format!("{reason}."),
                hint: "Start highwater again and name one: `highwater ui --workspace NAME`.",
            },
            Self::NoWorkspace(location) => ErrorMessage {
                title: "Nothing pulled yet",
                message: format!("There is no database at {location}."),
                hint: "Run `highwater pull -o NAME`, then reload this page.",
            },
            Self::NotADatabase(location) => {
                database_error_message(&format!("{location} is not a highwater database"))
            }
            Self::Database(error) => database_error_message(&error.to_string()),
            Self::Internal => ErrorMessage {
                title: "Internal error",
                message: "This is a bug in highwater: it failed to build the page.".to_owned(),
                hint: "Reload the page; the log on stderr may say more.",
            },
        }
    }
}

fn database_error_message(reason: &str) -> ErrorMessage {
    ErrorMessage {
        title: "Database error",
        message: format!("Cannot read the workspace: {reason}."),
        hint: "Run `highwater doctor store` to see what is wrong and how to fix it.",
    }
}

pub(crate) async fn show_not_found() -> Response {
    PageError::PageNotFound.page_response()
}
