//! Profiles, handles and follows.

use serde_json::{Value, json};

use super::SimulatedAppView;
use super::endpoint::{Viewer, XrpcCall};
use super::reply::XrpcError;
use super::views::ViewBuilder;
use super::world::{AccountState, SimAccount};

impl SimulatedAppView {
    /// Answers `getProfile`, the only method that says why an account is unavailable.
    pub(super) fn answer_profile(
        &self,
        call: &XrpcCall<'_>,
        viewer: Viewer,
    ) -> Result<Value, XrpcError> {
        let actor = call.required_parameter("actor")?;
        let account = self.world.find_account(&actor).ok_or_else(XrpcError::profile_not_found)?;
        match account.state {
            AccountState::Active => Ok(self.views(viewer).detailed_profile(account)),
            AccountState::Deactivated => {
                Err(XrpcError::new(400, "AccountDeactivated", "Account is deactivated"))
            }
            AccountState::TakenDown => {
                Err(XrpcError::new(400, "AccountTakedown", "Account has been suspended"))
            }
            AccountState::Deleted => Err(XrpcError::profile_not_found()),
        }
    }

    /// Answers `getProfiles`, which leaves out whatever is unavailable.
    pub(super) fn answer_profiles(
        &self,
        call: &XrpcCall<'_>,
        viewer: Viewer,
    ) -> Result<Value, XrpcError> {
        let actors = call.list_parameter("actors")?;
        let mut accounts: Vec<&SimAccount> = Vec::new();
        for account in actors.iter().filter_map(|actor| self.world.find_account(actor)) {
            let is_new = accounts.iter().all(|other| other.index != account.index);
            if account.is_active() && is_new {
                accounts.push(account);
            }
        }
        let views = self.views(viewer);
        let profiles = accounts.into_iter().map(|account| views.detailed_profile(account));
        Ok(json!({ "profiles": profiles.collect::<Vec<_>>() }))
    }

    /// Answers `getPosts`, which leaves out whatever is unavailable, and reposts.
    pub(super) fn answer_posts(
        &self,
        call: &XrpcCall<'_>,
        viewer: Viewer,
    ) -> Result<Value, XrpcError> {
        let uris = call.list_parameter("uris")?;
        let views = self.views(viewer);
        let posts = uris.iter().filter_map(|uri| self.world.find_post(uri, self.now_ms));
        let posts = posts.filter_map(|post| views.post(post));
        Ok(json!({ "posts": posts.collect::<Vec<_>>() }))
    }

    /// Answers `getFollows`. Unavailable accounts are left out of pages, which are short then.
    pub(super) fn answer_follows(
        &self,
        call: &XrpcCall<'_>,
        viewer: Viewer,
    ) -> Result<Value, XrpcError> {
        let actor = call.required_parameter("actor")?;
        let limit = call.page_size()?;
        let account = self.world.find_account(&actor).filter(|account| account.is_active());
        let account = account
            .ok_or_else(|| XrpcError::invalid_request(format!("Actor not found: {actor}")))?;
        // newest follow first; the cursor counts from the oldest, so that new follows shift nothing
        let end = match call.cursor() {
            None => account.follows.len(),
            Some(text) => text.parse().map_err(|_| XrpcError::internal_error())?,
        };
        let end = account.follows.len().min(end);
        let start = end.saturating_sub(limit);
        let followed = account.follows[start..end].iter().rev();
        let followed = followed.map(|index| self.world.account(*index));
        let views = self.views(viewer);
        let follows = followed.filter(|other| other.is_active()).map(|other| views.author(other));
        let mut body =
            json!({ "subject": views.author(account), "follows": follows.collect::<Vec<_>>() });
        if start > 0 {
            body["cursor"] = start.to_string().into();
        }
        Ok(body)
    }

    pub(super) fn answer_resolve_handle(&self, call: &XrpcCall<'_>) -> Result<Value, XrpcError> {
        let handle = call.required_parameter("handle")?;
        let account = self.world.find_account(&handle).filter(|_| !handle.starts_with("did:"));
        let account =
            account.ok_or_else(|| XrpcError::invalid_request("Unable to resolve handle"))?;
        Ok(json!({ "did": &*account.did }))
    }

    fn views(&self, viewer: Viewer) -> ViewBuilder<'_> {
        ViewBuilder::new(&self.world, self.now_ms, viewer)
    }
}
