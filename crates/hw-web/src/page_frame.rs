//! The frame around every page: menu, assets and live updates.

use askama::Template;
use axum::http::StatusCode;
use axum::response::{Html, IntoResponse as _, Response};
use hw_store::WorkspaceHandle;

use crate::app_state::run_blocking;
use crate::assets;
use crate::change_watcher::ChangeWatcher;
use crate::page_error::PageError;

/// The menu entry that a page belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MenuEntry {
    Search,
    Posts,
    Trending,
    Watches,
    Health,
}

/// The frame of a page.
pub(crate) struct PageFrame {
    menu_entry: Option<MenuEntry>,
    /// Change number of the workspace before the content was read; none for a page without live updates.
    pub(crate) since: Option<i64>,
}

impl PageFrame {
    /// Creates the frame of a page with live updates.
    ///
    /// Callers create it before they read the page's content, so that no change goes unnoticed.
    pub(crate) async fn with_updates(
        menu_entry: Option<MenuEntry>,
        workspace: &WorkspaceHandle,
    ) -> Result<Self, PageError> {
        let workspace = workspace.clone();
        let since = run_blocking(move || Ok(ChangeWatcher::read_change_number(&workspace))).await?;
        Ok(Self { menu_entry, since: Some(since) })
    }

    pub(crate) fn without_updates(menu_entry: Option<MenuEntry>) -> Self {
        Self { menu_entry, since: None }
    }

    pub(crate) fn is_search(&self) -> bool {
        self.menu_entry == Some(MenuEntry::Search)
    }

    pub(crate) fn is_posts(&self) -> bool {
        self.menu_entry == Some(MenuEntry::Posts)
    }

    pub(crate) fn is_trending(&self) -> bool {
        self.menu_entry == Some(MenuEntry::Trending)
    }

    pub(crate) fn is_watches(&self) -> bool {
        self.menu_entry == Some(MenuEntry::Watches)
    }

    pub(crate) fn is_health(&self) -> bool {
        self.menu_entry == Some(MenuEntry::Health)
    }

    /// Returns the URL of an asset.
    pub(crate) fn asset(&self, name: &str) -> String {
        assets::asset_url(name)
    }
}

/// Renders a page, or a fragment of one, as a response.
pub(crate) fn render_html(status: StatusCode, template: &impl Template) -> Response {
    match template.render() {
        Ok(page) => (status, Html(page)).into_response(),
        Err(error) => {
            tracing::error!(%error, "failed to render a page");
            (StatusCode::INTERNAL_SERVER_ERROR, "Failed to render the page.\n").into_response()
        }
    }
}
