//! What surrounds every page.

use askama::Template;
use axum::http::StatusCode;
use axum::response::{Html, IntoResponse as _, Response};

use crate::assets;
use crate::held::Held;
use crate::problem::Problem;
use crate::pulse::Pulse;
use crate::site::aside;

/// The frame of a page.
pub(crate) struct Frame {
    /// Which entry of the menu it belongs to.
    pub(crate) here: &'static str,
    /// How far the workspace was before anything was read; none where nothing is followed.
    pub(crate) since: Option<i64>,
}

impl Frame {
    /// The frame of a page that follows the workspace. It is made before the page's content is read, so that
    /// nothing can change unnoticed.
    pub(crate) async fn live(here: &'static str, held: &Held) -> Result<Self, Problem> {
        let held = held.clone();
        let since = aside(move || Ok(Pulse::now(&held))).await?;
        Ok(Self { here, since: Some(since) })
    }

    pub(crate) fn still(here: &'static str) -> Self {
        Self { here, since: None }
    }

    /// Where a file is.
    pub(crate) fn asset(&self, name: &str) -> String {
        assets::link(name)
    }
}

/// A page, or a part of one.
pub(crate) fn html(status: StatusCode, template: &impl Template) -> Response {
    match template.render() {
        Ok(page) => (status, Html(page)).into_response(),
        Err(error) => {
            tracing::error!(%error, "a page could not be written");
            (StatusCode::INTERNAL_SERVER_ERROR, "The page could not be written.\n").into_response()
        }
    }
}
