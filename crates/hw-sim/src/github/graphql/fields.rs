//! The value of each field of each type.

mod comments;
mod lists;
mod threads;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::execute::{Object, Run};
use super::plan::PlanField;
use crate::json::Json;
use crate::world::{Repository, ThreadKind, User, takes_answers};

impl<'a> Run<'a> {
    pub(super) fn field(&mut self, object: Object<'a>, field: &PlanField) {
        match object {
            Object::Organization => self.organization_field(field),
            Object::Repository(repository) => self.repository_field(repository, field),
            Object::Thread(thread) => self.thread_field(thread, field),
            Object::Comment(comment) => self.comment_field(comment, field),
            Object::Actor(user) => self.actor_field(user, field),
            Object::Label(name) => self.label_field(name, field),
            Object::Category(name) => self.category_field(name, field),
            Object::RateLimit => self.rate_limit_field(field),
        }
    }

    fn organization_field(&mut self, field: &PlanField) {
        let login = self.view.organization();
        match &*field.name {
            "id" => self.out.string("O_kwDOAAAAAAAAAAE"),
            "databaseId" => self.out.int(1),
            "repositories" => self.repositories(field),
            "url" => self.out.string(&format!("{}/{login}", self.view.web_url())),
            "resourcePath" => self.out.string(&format!("/{login}")),
            "avatarUrl" => self.out.string("https://avatars.githubusercontent.com/u/1"),
            _ => self.out.string(login),
        }
    }

    fn repository_field(&mut self, it: &'a Repository, field: &PlanField) {
        match &*field.name {
            "id" => self.out.string(&it.node_id),
            "databaseId" => self.out.int(it.id),
            "name" => self.out.string(&it.name),
            "nameWithOwner" => {
                self.out.string(&format!("{}/{}", self.view.organization(), it.name));
            }
            "description" => self.out.text(&it.description),
            "url" => self.out.string(&self.view.repository_url(it)),
            "owner" => self.object(Object::Organization, field),
            "isArchived" => self.out.boolean(it.is_archived),
            "isFork" => self.out.boolean(it.is_fork),
            "hasIssuesEnabled" => self.out.boolean(it.has_issues),
            "hasDiscussionsEnabled" => self.out.boolean(it.has_discussions),
            "stargazerCount" => self.out.int(0),
            "createdAt" => self.out.time(it.created_ms),
            "updatedAt" => self.out.time(it.updated_ms),
            "pushedAt" => self.out.time(it.pushed_ms),
            "archivedAt" => {
                self.out.maybe(it.is_archived.then_some(it.updated_ms), Json::time);
            }
            "issues" => self.threads(it, ThreadKind::Issue, field),
            "pullRequests" => self.threads(it, ThreadKind::PullRequest, field),
            "discussions" => self.threads(it, ThreadKind::Discussion, field),
            "issue" => self.thread_by_number(it, ThreadKind::Issue, field),
            "pullRequest" => self.thread_by_number(it, ThreadKind::PullRequest, field),
            "discussion" => self.thread_by_number(it, ThreadKind::Discussion, field),
            // isPrivate, isDisabled, isEmpty, isLocked
            _ => self.out.boolean(false),
        }
    }

    fn thread_by_number(&mut self, it: &'a Repository, kind: ThreadKind, field: &PlanField) {
        let number = field.argument("number", self.variables());
        let number = number.and_then(|it| it.as_i64()).unwrap_or(0);
        let found = self.view.thread_numbered(it.index, number).filter(|held| held.kind == kind);
        let article = if kind == ThreadKind::Issue { "an" } else { "a" };
        self.found_or(field, found.map(Object::Thread), || {
            let name = kind.type_name();
            format!("Could not resolve to {article} {name} with the number of {number}.")
        });
    }

    fn actor_field(&mut self, it: &User, field: &PlanField) {
        match &*field.name {
            "id" => self.out.string(&it.node_id),
            "databaseId" => self.out.int(it.id),
            "name" => self.out.null(),
            "url" => self.out.string(&format!("{}/{}", self.view.web_url(), it.login)),
            "resourcePath" => self.out.string(&format!("/{}", it.login)),
            "avatarUrl" => {
                self.out.string(&format!("https://avatars.githubusercontent.com/u/{}", it.id));
            }
            _ => self.out.string(&it.login),
        }
    }

    pub(super) fn author(&mut self, author: Option<usize>, field: &PlanField) {
        match author {
            Some(index) => self.object(Object::Actor(self.view.user(index)), field),
            None => self.out.null(),
        }
    }

    fn label_field(&mut self, name: &str, field: &PlanField) {
        match &*field.name {
            "id" => self.out.string(&format!("LA_kwDO{}", URL_SAFE_NO_PAD.encode(name))),
            "color" => self.out.string("ededed"),
            "url" => self.out.string(&format!("{}/labels", self.view.web_url())),
            _ => self.out.string(name),
        }
    }

    fn category_field(&mut self, name: &str, field: &PlanField) {
        match &*field.name {
            "id" => self.out.string(&format!("DIC_kwDO{}", name.replace('&', "_"))),
            "slug" => self.out.string(&name.to_lowercase().replace('&', "-")),
            "isAnswerable" => self.out.boolean(takes_answers(name)),
            _ => self.out.string(name),
        }
    }

    fn rate_limit_field(&mut self, field: &PlanField) {
        let price = self.call.price;
        match &*field.name {
            "limit" => self.out.int(i64::from(self.quota.limit)),
            "cost" => self.out.int(i64::from(price.points)),
            "remaining" => self.out.int(i64::from(self.quota.remaining())),
            "used" => self.out.int(i64::from(self.quota.used)),
            "nodeCount" => self.out.int(i64::try_from(price.nodes).unwrap_or(i64::MAX)),
            _ => self.out.time(self.quota.reset_s * 1000),
        }
    }

    /// An `Int` has 32 bits in GraphQL; a wider id has only its `fullDatabaseId`.
    pub(super) fn narrow_id(&mut self, id: i64) {
        self.out.maybe(i32::try_from(id).ok(), |out, id| out.int(i64::from(id)));
    }
}
