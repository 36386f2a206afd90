//! The REST side: routes, redirects, conditional requests and the one write.

mod lists;
mod objects;
#[cfg(test)]
mod tests;
mod writes;

use super::limits::{Resource, Signal};
use super::{GitHub, LONG_S, Reply, Request, Served, Visit};
use crate::json::Json;
use crate::world::{Departure, Repository, Thread, ThreadKind, View};
use lists::Listing;

/// What a read finds.
enum Finding {
    Document(String),
    /// A page with its `Link` header.
    Page(String, Option<String>),
    Refused(Reply),
}

impl GitHub {
    pub(super) fn serve_rest(&mut self, visit: &Visit<'_>) -> Served {
        if visit.free {
            return Served::whole(Reply::json(200, self.rate_limits()), 0, visit.latency_ms);
        }
        if visit.request.method == "POST" {
            return self.post(visit);
        }
        if self.gate.quota(Resource::Core, visit.now_ms).remaining() == 0 {
            self.gate.exhaust(Resource::Core, visit.now_ms);
            return self.tell(Signal::Primary, visit, LONG_S);
        }
        let at_ms = self.replica();
        let reader = Reader {
            view: self.view(at_ms),
            request: visit.request,
            strict_since: self.lies.strict_since,
            blind_etags: self.lies.blind_etags,
        };
        let reply = reader.reply();
        let points = u32::from(reply.status != 304);
        self.gate.charge(Resource::Core, points, visit.now_ms);
        Served::whole(reply, points, visit.latency_ms)
    }

    fn rate_limits(&mut self) -> String {
        let mut json = Json::new();
        json.open_object();
        json.key("resources");
        json.open_object();
        for (name, resource) in [("core", Resource::Core), ("graphql", Resource::GraphQl)] {
            let quota = self.gate.quota(resource, self.now_ms);
            self.gate.was_told(resource, self.now_ms);
            json.key(name);
            json.raw(&format!(
                r#"{{"limit":{},"used":{},"remaining":{},"reset":{}}}"#,
                quota.limit,
                quota.used,
                quota.remaining(),
                quota.reset_s
            ));
        }
        json.key("search");
        let reset_s = self.now_ms.div_euclid(1000) + 60;
        json.raw(&format!(r#"{{"limit":30,"used":0,"remaining":30,"reset":{reset_s}}}"#));
        json.close_object();
        json.close_object();
        json.finish()
    }
}

/// One read of one replica.
#[derive(Clone, Copy)]
struct Reader<'w> {
    view: View<'w>,
    request: &'w Request<'w>,
    /// Whether `since` means "after".
    strict_since: bool,
    /// Whether lists of comments never seem to change.
    blind_etags: bool,
}

impl<'w> Reader<'w> {
    fn honest(view: View<'w>, request: &'w Request<'w>) -> Self {
        Self { view, request, strict_since: false, blind_etags: false }
    }

    /// The answer, which is a 304 when the client already has it.
    fn reply(self) -> Reply {
        let (body, link) = match self.find() {
            Finding::Refused(reply) => return reply,
            Finding::Document(body) => (body, None),
            Finding::Page(body, link) => (body, link),
        };
        let digest = self.digest(&body);
        let held = self.request.header("if-none-match").unwrap_or("");
        let is_blind =
            self.blind_etags && !held.is_empty() && self.request.path.ends_with("comments");
        let mut reply = if is_blind || held.contains(&digest) {
            let mut unchanged = Reply::json(304, String::new());
            unchanged.headers.clear();
            unchanged.with("ETag", digest)
        } else {
            Reply::json(200, body).with("ETag", format!("W/{digest}"))
        };
        reply.headers.extend(link.map(|link| ("Link", link)));
        reply
    }

    /// Depends on token and `Accept`, as GitHub's does.
    fn digest(self, body: &str) -> String {
        let header = |name| self.request.header(name).unwrap_or("");
        let parts = [header("authorization"), header("accept"), self.request.path, body];
        let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
        for byte in parts.iter().flat_map(|part| part.bytes()) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        format!("\"{hash:016x}\"")
    }

    fn find(self) -> Finding {
        if self.request.method != "GET" {
            return Finding::Refused(not_found());
        }
        let segments: Vec<&str> = self.request.path.split('/').skip(1).collect();
        match segments.as_slice() {
            ["user"] => self.document(|json| self.user(json, Some(self.view.viewer()))),
            ["orgs", org, "repos"] if org.eq_ignore_ascii_case(self.view.organization()) => {
                self.page(Listing::repositories(self))
            }
            ["repos", owner, name, rest @ ..] => match self.named(owner, name, rest) {
                Ok(repository) => self.inside(repository, rest),
                Err(reply) => Finding::Refused(reply),
            },
            ["repositories", id, rest @ ..] => match self.by_id(id) {
                Ok(repository) => self.inside(repository, rest),
                Err(reply) => Finding::Refused(reply),
            },
            _ => Finding::Refused(not_found()),
        }
    }

    fn inside(self, at: &'w Repository, rest: &[&str]) -> Finding {
        match rest {
            [] => self.document(|json| self.repository(json, at)),
            ["issues"] => self.page(Listing::issues(self, at)),
            ["issues", "comments"] => self.page(Listing::conversation(self, at)),
            ["pulls"] => self.page(Listing::pulls(self, at)),
            ["pulls", "comments"] => self.page(Listing::review_comments(self, at)),
            ["issues", number] => self.of_thread(at, number, &[], |thread| {
                self.document(|json| self.issue(json, thread))
            }),
            ["issues", number, "comments"] => self.of_thread(at, number, &["comments"], |thread| {
                self.page(Listing::thread_comments(self, thread))
            }),
            ["pulls", number] => {
                self.of_pull(at, number, |thread| self.document(|json| self.pull(json, thread)))
            }
            ["pulls", number, "comments"] => {
                self.of_pull(at, number, |thread| self.page(Listing::pull_comments(self, thread)))
            }
            ["pulls", number, "reviews"] => {
                self.of_pull(at, number, |thread| self.page(Listing::reviews(self, thread)))
            }
            _ => Finding::Refused(not_found()),
        }
    }

    fn of_thread(
        self,
        at: &'w Repository,
        number: &str,
        below: &[&str],
        found: impl FnOnce(&'w Thread) -> Finding,
    ) -> Finding {
        match self.thread(at, number, below) {
            Ok(thread) => found(thread),
            Err(reply) => Finding::Refused(reply),
        }
    }

    fn of_pull(
        self,
        at: &'w Repository,
        number: &str,
        found: impl FnOnce(&'w Thread) -> Finding,
    ) -> Finding {
        let number = number.parse().ok();
        let thread = number.and_then(|number| self.view.thread_numbered(at.index, number));
        match thread.filter(|thread| thread.kind == ThreadKind::PullRequest) {
            Some(thread) => found(thread),
            None => Finding::Refused(not_found()),
        }
    }

    /// The issue or pull request of a number; else where it went, that it was deleted, or nothing.
    fn thread(self, at: &'w Repository, number: &str, below: &[&str]) -> Result<&'w Thread, Reply> {
        let number: i64 = number.parse().map_err(|_| not_found())?;
        if let Some(thread) = self.view.thread_numbered(at.index, number) {
            let is_issue = thread.kind != ThreadKind::Discussion;
            return if is_issue { Ok(thread) } else { Err(not_found()) };
        }
        if !at.has_issues && self.view.of_everything().thread_numbered(at.index, number).is_some() {
            return Err(Reply::message(410, "Issues are disabled for this repo"));
        }
        match self.view.departed(at.index, number) {
            Some(Departure::Moved(thread)) => {
                let to = thread.number.to_string();
                let tail = [&["issues", &to], below].concat();
                let home = self.view.repository(thread.repository).ok_or_else(not_found)?;
                Err(self.moved(home.id, &tail))
            }
            Some(Departure::Deleted) => Err(Reply::message(410, "This issue was deleted")),
            None => Err(not_found()),
        }
    }

    fn named(self, owner: &str, name: &str, rest: &[&str]) -> Result<&'w Repository, Reply> {
        let ours = owner.eq_ignore_ascii_case(self.view.organization());
        let found = ours.then(|| self.view.repository_named(name, true)).flatten();
        let found = found.ok_or_else(not_found)?;
        if found.name.eq_ignore_ascii_case(name) {
            Ok(found)
        } else {
            Err(self.moved(found.id, rest))
        }
    }

    fn by_id(self, id: &str) -> Result<&'w Repository, Reply> {
        let id = id.parse().map_err(|_| not_found())?;
        self.view.repository_by_id(id).ok_or_else(not_found)
    }

    fn moved(self, repository: i64, rest: &[&str]) -> Reply {
        let tail: String = rest.iter().flat_map(|segment| ["/", segment]).collect();
        let query = self.request.target();
        let query = query.split_once('?').map_or(String::new(), |(_, query)| format!("?{query}"));
        let url = format!("{}/repositories/{repository}{tail}{query}", self.request.base());
        let body = serde_json::json!({ "message": "Moved Permanently", "url": url });
        Reply::json(301, body.to_string()).with("Location", url)
    }

    fn document(self, write: impl FnOnce(&mut Json)) -> Finding {
        let mut json = Json::new();
        write(&mut json);
        Finding::Document(json.finish())
    }

    fn page(self, listing: Listing<'w>) -> Finding {
        listing.page(self)
    }
}

fn not_found() -> Reply {
    Reply::message(404, "Not Found")
}
