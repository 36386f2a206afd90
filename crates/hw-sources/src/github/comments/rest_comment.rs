//! Reads one comment from its REST document.

use hw_rules::item::{AuthorKind, Comment, CommentKind};
use hw_rules::item_validation;
use hw_rules::safe_text::sanitize_for_storage;
use hw_rules::source_time::SourceTime;
use serde::Deserialize;

use super::parse_thread_number;
use crate::raw_json::RawNode;

#[derive(Deserialize)]
struct RestComment {
    id: i64,
    node_id: String,
    html_url: String,
    /// Required, but may be null.
    #[serde(deserialize_with = "Option::deserialize")]
    body: Option<String>,
    #[serde(deserialize_with = "Option::deserialize")]
    user: Option<RestUser>,
    author_association: Option<String>,
    #[serde(alias = "issue_url", alias = "pull_request_url")]
    thread_url: String,
    pull_request_review_id: Option<i64>,
    in_reply_to_id: Option<i64>,
    path: Option<String>,
    line: Option<i64>,
    created_at: SourceTime,
    updated_at: SourceTime,
}

#[derive(Deserialize)]
struct RestUser {
    login: String,
    id: i64,
    r#type: Option<String>,
}

/// The account that replaces deleted ones; GraphQL has null instead.
const GHOST_LOGIN: &str = "ghost";

impl RestUser {
    /// Returns the login as GraphQL spells it: without the suffix of a bot's name.
    fn graphql_login(&self) -> &str {
        self.login.strip_suffix("[bot]").unwrap_or(&self.login)
    }

    fn kind(&self) -> Option<AuthorKind> {
        self.r#type.as_deref().map(AuthorKind::from_name)
    }
}

/// Reads one row of a list of comments in this repository.
pub(in crate::github) fn read_rest_comment(
    kind: CommentKind,
    repository_id: i64,
    row: RawNode<'_>,
) -> Result<Comment, String> {
    let raw: RestComment = row.parse_as()?;
    let thread = parse_thread_number(&raw.thread_url)?;
    let comment = raw.into_comment(kind, repository_id, thread);
    item_validation::check_comment(&comment).map_err(|impossible| impossible.to_string())?;
    Ok(comment)
}

impl RestComment {
    fn into_comment(self, kind: CommentKind, repository_id: i64, thread: i64) -> Comment {
        let author = self.user.filter(|user| user.login != GHOST_LOGIN);
        Comment {
            kind,
            id: self.id,
            node_id: self.node_id,
            repository_id,
            thread,
            reply_to: self.in_reply_to_id,
            review_id: self.pull_request_review_id,
            url: sanitize_for_storage(&self.html_url),
            body: self.body.unwrap_or_default(),
            state: None,
            path: self.path.as_deref().map(sanitize_for_storage),
            line: self.line,
            author: author.as_ref().map(|author| sanitize_for_storage(author.graphql_login())),
            author_id: author.as_ref().map(|author| author.id),
            author_kind: author.and_then(|author| author.kind()),
            association: self.author_association,
            created_at: self.created_at,
            updated_at: self.updated_at,
        }
    }
}
