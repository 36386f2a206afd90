//! The REST API: routes, redirects, conditional requests and one write.

mod lists;
mod objects;
#[cfg(test)]
mod tests;
mod writes;

use super::quotas::{LimitSignal, QuotaResource};
use super::{
    AdmittedRequest, HttpReply, LONGEST_WAIT_S, ReceivedRequest, ServedResponse, SimulatedGitHub,
};
use crate::json_writer::JsonWriter;
use crate::world::{ReplicaView, SimRepository, SimThread, ThreadDeparture, ThreadKind};
use lists::RestListing;

/// The result of a GET request.
enum RestOutcome {
    Document(String),
    /// A page with its `Link` header.
    Page(String, Option<String>),
    Refused(HttpReply),
}

impl SimulatedGitHub {
    pub(super) fn serve_rest(&mut self, admitted: &AdmittedRequest<'_>) -> ServedResponse {
        if admitted.is_free {
            return ServedResponse::from_reply(
                HttpReply::from_json(200, self.rate_limits_body()),
                0,
                admitted.latency_ms,
            );
        }
        if admitted.request.method == "POST" {
            return self.serve_post(admitted);
        }
        if self.quotas.quota_status(QuotaResource::Core, admitted.now_ms).remaining() == 0 {
            self.quotas.exhaust_quota(QuotaResource::Core, admitted.now_ms);
            return self.serve_limit(LimitSignal::Primary, admitted, LONGEST_WAIT_S);
        }
        let at_ms = self.pick_replica_time();
        let reader = RestReader {
            view: self.replica_view_at(at_ms),
            request: admitted.request,
            strict_since: self.wrong_answers.strict_since,
            blind_etags: self.wrong_answers.has_blind_etags(),
        };
        let RestReply { reply, hides_change } = reader.build_reply();
        if hides_change {
            self.wrong_answers.count_hidden_change();
        }
        let points = u32::from(reply.status != 304);
        self.quotas.charge_points(QuotaResource::Core, points, admitted.now_ms);
        ServedResponse::from_reply(reply, points, admitted.latency_ms)
    }

    fn rate_limits_body(&mut self) -> String {
        let mut json = JsonWriter::new();
        json.open_object();
        json.write_key("resources");
        json.open_object();
        for (name, resource) in [("core", QuotaResource::Core), ("graphql", QuotaResource::GraphQl)]
        {
            let quota = self.quotas.quota_status(resource, self.now_ms);
            self.quotas.record_reported_reset(resource, self.now_ms);
            json.write_key(name);
            json.write_raw(&format!(
                r#"{{"limit":{},"used":{},"remaining":{},"reset":{}}}"#,
                quota.limit,
                quota.used,
                quota.remaining(),
                quota.reset_s
            ));
        }
        json.write_key("search");
        let reset_s = self.now_ms.div_euclid(1000) + 60;
        json.write_raw(&format!(r#"{{"limit":30,"used":0,"remaining":30,"reset":{reset_s}}}"#));
        json.close_object();
        json.close_object();
        json.finish()
    }
}

/// A reply, and whether its status conceals that the content changed.
struct RestReply {
    reply: HttpReply,
    hides_change: bool,
}

/// One read of one replica.
#[derive(Clone, Copy)]
struct RestReader<'w> {
    view: ReplicaView<'w>,
    request: &'w ReceivedRequest<'w>,
    /// True if `since` means "after".
    strict_since: bool,
    /// True if lists of issues and comments never seem to change.
    blind_etags: bool,
}

impl<'w> RestReader<'w> {
    fn new(view: ReplicaView<'w>, request: &'w ReceivedRequest<'w>) -> Self {
        Self { view, request, strict_since: false, blind_etags: false }
    }

    /// Builds the reply, which is a 304 if the client already has the content.
    fn build_reply(self) -> RestReply {
        let (body, link) = match self.route_request() {
            RestOutcome::Refused(reply) => return RestReply { reply, hides_change: false },
            RestOutcome::Document(body) => (body, None),
            RestOutcome::Page(body, link) => (body, link),
        };
        let etag = self.compute_etag(&body);
        let known = self.request.header("if-none-match").unwrap_or("");
        let is_unchanged = known.contains(&etag);
        let hides_change = !is_unchanged
            && self.blind_etags
            && !known.is_empty()
            && (self.request.path.ends_with("comments") || self.request.path.ends_with("issues"));
        let mut reply = if is_unchanged || hides_change {
            let mut unchanged = HttpReply::from_json(304, String::new());
            unchanged.headers.clear();
            // an ETag that misses a change is the same after it
            let etag = if hides_change { known.trim_start_matches("W/").to_owned() } else { etag };
            unchanged.with_header("ETag", etag)
        } else {
            HttpReply::from_json(200, body).with_header("ETag", format!("W/{etag}"))
        };
        reply.headers.extend(link.map(|link| ("Link", link)));
        RestReply { reply, hides_change }
    }

    /// Computes the etag, which depends on token and `Accept`, as GitHub's does.
    fn compute_etag(self, body: &str) -> String {
        let [token, accept] =
            ["authorization", "accept"].map(|name| self.request.header(name).unwrap_or(""));
        let parts = [token, accept, self.request.path, body];
        let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
        for byte in parts.iter().flat_map(|part| part.bytes()) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        format!("\"{hash:016x}\"")
    }

    fn route_request(self) -> RestOutcome {
        if self.request.method != "GET" {
            return RestOutcome::Refused(not_found_reply());
        }
        let segments: Vec<&str> = self.request.path.split('/').skip(1).collect();
        match segments.as_slice() {
            ["user"] => self.build_document(|json| self.write_user(json, Some(self.view.viewer()))),
            ["orgs" | "users", login, "repos"] => match self.view.owner_by_login(login) {
                Some(owner) => self.build_page(RestListing::for_repositories(self, owner)),
                None => RestOutcome::Refused(not_found_reply()),
            },
            ["repos", owner, name, rest @ ..] => {
                match self.resolve_repository_name(owner, name, rest) {
                    Ok(repository) => self.route_in_repository(repository, rest),
                    Err(reply) => RestOutcome::Refused(reply),
                }
            }
            ["repositories", id, rest @ ..] => match self.resolve_repository_id(id) {
                Ok(repository) => self.route_in_repository(repository, rest),
                Err(reply) => RestOutcome::Refused(reply),
            },
            _ => RestOutcome::Refused(not_found_reply()),
        }
    }

    fn route_in_repository(self, repository: &'w SimRepository, rest: &[&str]) -> RestOutcome {
        match rest {
            [] => self.build_document(|json| self.write_repository(json, repository)),
            ["issues"] => self.build_page(RestListing::for_issues(self, repository)),
            ["issues", "comments"] => {
                self.build_page(RestListing::for_issue_comments(self, repository))
            }
            ["pulls"] => self.build_page(RestListing::for_pull_requests(self, repository)),
            ["pulls", "comments"] => {
                self.build_page(RestListing::for_review_comments(self, repository))
            }
            ["issues", number] => self.with_thread(repository, number, &[], |thread| {
                self.build_document(|json| self.write_issue(json, thread))
            }),
            ["issues", number, "comments"] => {
                self.with_thread(repository, number, &["comments"], |thread| {
                    self.build_page(RestListing::for_thread_comments(self, thread))
                })
            }
            ["pulls", number] => self.with_pull_request(repository, number, |thread| {
                self.build_document(|json| self.write_pull_request(json, thread))
            }),
            ["pulls", number, "comments"] => self.with_pull_request(repository, number, |thread| {
                self.build_page(RestListing::for_pull_comments(self, thread))
            }),
            ["pulls", number, "reviews"] => self.with_pull_request(repository, number, |thread| {
                self.build_page(RestListing::for_reviews(self, thread))
            }),
            _ => RestOutcome::Refused(not_found_reply()),
        }
    }

    fn with_thread(
        self,
        repository: &'w SimRepository,
        number: &str,
        below: &[&str],
        found: impl FnOnce(&'w SimThread) -> RestOutcome,
    ) -> RestOutcome {
        match self.resolve_thread(repository, number, below) {
            Ok(thread) => found(thread),
            Err(reply) => RestOutcome::Refused(reply),
        }
    }

    fn with_pull_request(
        self,
        repository: &'w SimRepository,
        number: &str,
        found: impl FnOnce(&'w SimThread) -> RestOutcome,
    ) -> RestOutcome {
        let number = number.parse().ok();
        let thread = number.and_then(|number| self.view.thread_by_number(repository.index, number));
        match thread.filter(|thread| thread.kind == ThreadKind::PullRequest) {
            Some(thread) => found(thread),
            None => RestOutcome::Refused(not_found_reply()),
        }
    }

    /// Returns the issue or pull request with a number, or the reply that it moved, was deleted or is unknown.
    fn resolve_thread(
        self,
        repository: &'w SimRepository,
        number: &str,
        below: &[&str],
    ) -> Result<&'w SimThread, HttpReply> {
        let number: i64 = number.parse().map_err(|_| not_found_reply())?;
        if let Some(thread) = self.view.thread_by_number(repository.index, number) {
            let is_issue = thread.kind != ThreadKind::Discussion;
            return if is_issue { Ok(thread) } else { Err(not_found_reply()) };
        }
        if !repository.has_issues
            && self.view.including_hidden().thread_by_number(repository.index, number).is_some()
        {
            return Err(HttpReply::from_message(410, "Issues are disabled for this repo"));
        }
        match self.view.find_departure(repository.index, number) {
            Some(ThreadDeparture::Moved(thread)) => {
                let to = thread.number.to_string();
                let tail = [&["issues", &to], below].concat();
                let target = self.view.repository(thread.repository).ok_or_else(not_found_reply)?;
                Err(self.redirect_to_repository(target.id, &tail))
            }
            Some(ThreadDeparture::Deleted) => {
                Err(HttpReply::from_message(410, "This issue was deleted"))
            }
            None => Err(not_found_reply()),
        }
    }

    fn resolve_repository_name(
        self,
        owner: &str,
        name: &str,
        rest: &[&str],
    ) -> Result<&'w SimRepository, HttpReply> {
        let found = self.view.repository_by_name(owner, name, true);
        let found = found.ok_or_else(not_found_reply)?;
        let owner_now = &self.view.owner_of(found).login;
        if found.name.eq_ignore_ascii_case(name) && owner_now.eq_ignore_ascii_case(owner) {
            Ok(found)
        } else {
            Err(self.redirect_to_repository(found.id, rest))
        }
    }

    fn resolve_repository_id(self, id: &str) -> Result<&'w SimRepository, HttpReply> {
        let id = id.parse().map_err(|_| not_found_reply())?;
        self.view.repository_by_id(id).ok_or_else(not_found_reply)
    }

    fn redirect_to_repository(self, repository: i64, rest: &[&str]) -> HttpReply {
        let tail: String = rest.iter().flat_map(|segment| ["/", segment]).collect();
        let query = self.request.path_and_query();
        let query = query.split_once('?').map_or(String::new(), |(_, query)| format!("?{query}"));
        let url = format!("{}/repositories/{repository}{tail}{query}", self.request.base_url());
        let body = serde_json::json!({ "message": "Moved Permanently", "url": url });
        HttpReply::from_json(301, body.to_string()).with_header("Location", url)
    }

    fn build_document(self, write: impl FnOnce(&mut JsonWriter)) -> RestOutcome {
        let mut json = JsonWriter::new();
        write(&mut json);
        RestOutcome::Document(json.finish())
    }

    fn build_page(self, listing: RestListing<'w>) -> RestOutcome {
        listing.cut_page(self)
    }
}

fn not_found_reply() -> HttpReply {
    HttpReply::from_message(404, "Not Found")
}
