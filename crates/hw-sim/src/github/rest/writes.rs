//! The one thing a client may write: a comment.

use super::{Reader, not_found};
use crate::github::limits::{Resource, Signal};
use crate::github::{GitHub, LONG_S, Reply, Request, Served, Visit};
use crate::json::Json;

impl GitHub {
    /// Creates a comment. There is no idempotency key: the same request again makes another one.
    pub(super) fn post(&mut self, visit: &Visit<'_>) -> Served {
        if !self.gate.charge(Resource::Core, 1, visit.now_ms) {
            return self.tell(Signal::Primary, visit, LONG_S);
        }
        let reply = match self.place_for_comment(visit.request) {
            Ok((thread, body)) => self.create_comment(thread, &body, visit),
            Err(reply) => reply,
        };
        Served::whole(reply, 1, visit.latency_ms)
    }

    fn place_for_comment(&self, request: &Request<'_>) -> Result<(usize, String), Reply> {
        let reader = Reader::honest(self.world.view(self.now_ms), request);
        let segments: Vec<&str> = request.path.split('/').skip(1).collect();
        let (repository, number) = match segments.as_slice() {
            ["repos", owner, name, "issues", number, "comments"] => {
                (reader.named(owner, name, &["issues", number, "comments"])?, number)
            }
            ["repositories", id, "issues", number, "comments"] => (reader.by_id(id)?, number),
            _ => return Err(not_found()),
        };
        let thread = reader.thread(repository, number, &["comments"])?;
        if repository.is_archived {
            return Err(Reply::message(403, "Repository was archived so is read-only."));
        }
        let body = serde_json::from_slice::<serde_json::Value>(request.body).ok();
        let body = body.as_ref().and_then(|body| body.get("body")?.as_str());
        match body {
            Some(body) if !body.trim().is_empty() => Ok((thread.index, body.to_owned())),
            _ => Err(Reply::message(422, "Validation Failed")),
        }
    }

    fn create_comment(&mut self, thread: usize, body: &str, visit: &Visit<'_>) -> Reply {
        let index = self.world.comment_as_viewer(thread, body, visit.now_ms);
        let reader = Reader::honest(self.world.view(visit.now_ms), visit.request);
        let mut json = Json::new();
        if let Some(comment) = reader.view.comment(index) {
            reader.comment(&mut json, comment);
        }
        Reply::json(201, json.finish())
    }
}
