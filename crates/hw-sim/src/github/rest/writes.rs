//! The only write of the REST API: creating a comment.

use super::{RestReader, not_found_reply};
use crate::github::quotas::{LimitSignal, QuotaResource};
use crate::github::{
    AdmittedRequest, HttpReply, LONGEST_WAIT_S, ReceivedRequest, ServedResponse, SimulatedGitHub,
};
use crate::json_writer::JsonWriter;

struct RequestedComment {
    /// The index of its thread.
    thread: usize,
    body: String,
}

impl SimulatedGitHub {
    /// Creates a comment. There is no idempotency key: the same request again makes another one.
    pub(super) fn serve_post(&mut self, admitted: &AdmittedRequest<'_>) -> ServedResponse {
        if !self.quotas.charge_points(QuotaResource::Core, 1, admitted.now_ms) {
            return self.serve_limit(LimitSignal::Primary, admitted, LONGEST_WAIT_S);
        }
        let reply = match self.resolve_comment_target(admitted.request) {
            Ok(comment) => self.create_comment(&comment, admitted),
            Err(reply) => reply,
        };
        ServedResponse::from_reply(reply, 1, admitted.latency_ms)
    }

    fn resolve_comment_target(
        &self,
        request: &ReceivedRequest<'_>,
    ) -> Result<RequestedComment, HttpReply> {
        let reader = RestReader::new(self.world.view_at(self.now_ms), request);
        let segments: Vec<&str> = request.path.split('/').skip(1).collect();
        let (repository, number) = match segments.as_slice() {
            ["repos", owner, name, "issues", number, "comments"] => (
                reader.resolve_repository_name(owner, name, &["issues", number, "comments"])?,
                number,
            ),
            ["repositories", id, "issues", number, "comments"] => {
                (reader.resolve_repository_id(id)?, number)
            }
            _ => return Err(not_found_reply()),
        };
        let thread = reader.resolve_thread(repository, number, &["comments"])?;
        if repository.is_archived {
            return Err(HttpReply::from_message(403, "Repository was archived so is read-only."));
        }
        let body = serde_json::from_slice::<serde_json::Value>(request.body).ok();
        let body = body.as_ref().and_then(|body| body.get("body")?.as_str());
        match body {
            Some(body) if !body.trim().is_empty() => {
                Ok(RequestedComment { thread: thread.index, body: body.to_owned() })
            }
            _ => Err(HttpReply::from_message(422, "Validation Failed")),
        }
    }

    fn create_comment(
        &mut self,
        comment: &RequestedComment,
        admitted: &AdmittedRequest<'_>,
    ) -> HttpReply {
        let index = self.world.add_viewer_comment(comment.thread, &comment.body, admitted.now_ms);
        let reader = RestReader::new(self.world.view_at(admitted.now_ms), admitted.request);
        let mut json = JsonWriter::new();
        if let Some(comment) = reader.view.comment(index) {
            reader.write_comment(&mut json, comment);
        }
        HttpReply::from_json(201, json.finish())
    }
}
