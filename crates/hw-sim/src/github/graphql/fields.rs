//! Writes the value of each field of each type.

mod comments;
mod lists;
mod threads;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::execution::{GraphqlObject, QueryExecution};
use super::plan::PlanField;
use crate::json_writer::JsonWriter;
use crate::world::{SimOwner, SimRepository, SimUser, ThreadKind, is_answerable};

impl<'a> QueryExecution<'a> {
    pub(super) fn write_field(&mut self, object: GraphqlObject<'a>, field: &PlanField) {
        match object {
            GraphqlObject::Owner(owner) => self.write_owner_field(owner, field),
            GraphqlObject::Repository(repository) => self.write_repository_field(repository, field),
            GraphqlObject::Thread(thread) => self.write_thread_field(thread, field),
            GraphqlObject::Comment(comment) => self.write_comment_field(comment, field),
            GraphqlObject::ReviewThread(first) => self.write_review_thread_field(first, field),
            GraphqlObject::Actor(user) => self.write_actor_field(user, field),
            GraphqlObject::Label(name) => self.write_label_field(name, field),
            GraphqlObject::Category(name) => self.write_category_field(name, field),
            GraphqlObject::RateLimit => self.write_rate_limit_field(field),
        }
    }

    fn write_owner_field(&mut self, owner: &'a SimOwner, field: &PlanField) {
        let login = &owner.login;
        match &*field.name {
            "id" => self.out.write_string(&owner.node_id),
            "databaseId" => self.out.write_int(owner.id),
            "repositories" => self.write_repositories(owner, field),
            "url" => self.out.write_string(&format!("{}/{login}", self.view.web_url())),
            "resourcePath" => self.out.write_string(&format!("/{login}")),
            "avatarUrl" => self.out.write_string("https://avatars.githubusercontent.com/u/1"),
            _ => self.out.write_string(login),
        }
    }

    fn write_repository_field(&mut self, repository: &'a SimRepository, field: &PlanField) {
        match &*field.name {
            "id" => self.out.write_string(&repository.node_id),
            "databaseId" => self.out.write_int(repository.id),
            "name" => self.out.write_string(&repository.name),
            "nameWithOwner" => {
                let owner = &self.view.owner_of(repository).login;
                self.out.write_string(&format!("{owner}/{}", repository.name));
            }
            "description" => self.out.write_text(&repository.description),
            "url" => self.out.write_string(&self.view.repository_url(repository)),
            "owner" => {
                self.write_object(GraphqlObject::Owner(self.view.owner_of(repository)), field);
            }
            "isArchived" => self.out.write_bool(repository.is_archived),
            "isFork" => self.out.write_bool(repository.is_fork),
            "hasIssuesEnabled" => self.out.write_bool(repository.has_issues),
            "hasDiscussionsEnabled" => self.out.write_bool(repository.has_discussions),
            "stargazerCount" => self.out.write_int(repository.stars),
            "createdAt" => self.out.write_time(repository.created_ms),
            "updatedAt" => self.out.write_time(repository.updated_ms),
            "pushedAt" => self.out.write_time(repository.pushed_ms),
            "archivedAt" => {
                self.out.write_optional(
                    repository.is_archived.then_some(repository.updated_ms),
                    JsonWriter::write_time,
                );
            }
            "issues" => self.write_threads(repository, ThreadKind::Issue, field),
            "pullRequests" => self.write_threads(repository, ThreadKind::PullRequest, field),
            "discussions" => self.write_threads(repository, ThreadKind::Discussion, field),
            "issue" => self.write_thread_by_number(repository, ThreadKind::Issue, field),
            "pullRequest" => {
                self.write_thread_by_number(repository, ThreadKind::PullRequest, field);
            }
            "discussion" => self.write_thread_by_number(repository, ThreadKind::Discussion, field),
            "issueOrPullRequest" => self.write_issue_or_pull_request(repository, field),
            // isPrivate, isDisabled, isEmpty, isLocked
            _ => self.out.write_bool(false),
        }
    }

    fn write_thread_by_number(
        &mut self,
        repository: &'a SimRepository,
        kind: ThreadKind,
        field: &PlanField,
    ) {
        let number = self.number_argument(field);
        let found = self.view.thread_by_number(repository.index, number);
        let found = found.filter(|thread| thread.kind == kind);
        let article = if kind == ThreadKind::Issue { "an" } else { "a" };
        self.write_or_not_found(field, found.map(GraphqlObject::Thread), || {
            let name = kind.type_name();
            format!("Could not resolve to {article} {name} with the number of {number}.")
        });
    }

    fn write_issue_or_pull_request(&mut self, repository: &'a SimRepository, field: &PlanField) {
        let number = self.number_argument(field);
        let found = self.view.thread_by_number(repository.index, number);
        let found = found.filter(|thread| thread.kind != ThreadKind::Discussion);
        self.write_or_not_found(field, found.map(GraphqlObject::Thread), || {
            format!("Could not resolve to an issue or pull request with the number of {number}.")
        });
    }

    fn number_argument(&self, field: &PlanField) -> i64 {
        let number = field.argument_value("number", self.variables());
        number.and_then(|value| value.as_i64()).unwrap_or(0)
    }

    fn write_actor_field(&mut self, user: &SimUser, field: &PlanField) {
        match &*field.name {
            "id" => self.out.write_string(&user.node_id),
            "databaseId" => self.out.write_int(user.id),
            "name" => self.out.write_null(),
            "url" => self.out.write_string(&format!("{}/{}", self.view.web_url(), user.login)),
            "resourcePath" => self.out.write_string(&format!("/{}", user.login)),
            "avatarUrl" => {
                self.out
                    .write_string(&format!("https://avatars.githubusercontent.com/u/{}", user.id));
            }
            _ => self.out.write_string(&user.login),
        }
    }

    pub(super) fn write_author(&mut self, author: Option<usize>, field: &PlanField) {
        match author {
            Some(index) => self.write_object(GraphqlObject::Actor(self.view.user(index)), field),
            None => self.out.write_null(),
        }
    }

    fn write_label_field(&mut self, name: &str, field: &PlanField) {
        match &*field.name {
            "id" => self.out.write_string(&format!("LA_kwDO{}", URL_SAFE_NO_PAD.encode(name))),
            "color" => self.out.write_string("ededed"),
            "url" => self.out.write_string(&format!("{}/labels", self.view.web_url())),
            _ => self.out.write_string(name),
        }
    }

    fn write_category_field(&mut self, name: &str, field: &PlanField) {
        match &*field.name {
            "id" => self.out.write_string(&format!("DIC_kwDO{}", name.replace('&', "_"))),
            "slug" => self.out.write_string(&name.to_lowercase().replace('&', "-")),
            "isAnswerable" => self.out.write_bool(is_answerable(name)),
            _ => self.out.write_string(name),
        }
    }

    fn write_rate_limit_field(&mut self, field: &PlanField) {
        let cost = self.query.cost;
        match &*field.name {
            "limit" => self.out.write_int(i64::from(self.quota.limit)),
            "cost" => self.out.write_int(i64::from(cost.points)),
            "remaining" => self.out.write_int(i64::from(self.quota.remaining())),
            "used" => self.out.write_int(i64::from(self.quota.used)),
            "nodeCount" => self.out.write_int(i64::try_from(cost.nodes).unwrap_or(i64::MAX)),
            _ => self.out.write_time(self.quota.reset_s * 1000),
        }
    }

    /// Writes an id that fits into the 32 bits of an `Int`; a wider one has only its `fullDatabaseId`.
    pub(super) fn write_narrow_id(&mut self, id: i64) {
        self.out.write_optional(i32::try_from(id).ok(), |out, id| out.write_int(i64::from(id)));
    }
}
