//! What the service tells of the token it is spoken to with, and what it keeps from it.

use super::{GitHub, Reply, Served, Visit};

const SIGN_ON: &str = "Resource protected by organization SAML enforcement. You must grant your \
                       Personal Access token access to this organization.";

/// The one token of a world.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenSpec {
    /// Of a classic token; a fine-grained one has permissions instead, which no header tells.
    pub scopes: Option<Vec<String>>,
    /// As the header has it: `2026-12-01 00:00:00 UTC`.
    pub expires: Option<String>,
    /// Whether it has still to be allowed for the organisation's single sign-on.
    pub lacks_sign_on: bool,
}

impl TokenSpec {
    /// A classic token that may read what is private, and never expires.
    #[must_use]
    pub fn classic() -> Self {
        let scopes = ["read:org", "repo"].map(str::to_owned).to_vec();
        Self { scopes: Some(scopes), expires: None, lacks_sign_on: false }
    }
}

impl GitHub {
    /// From now on requests come with this token.
    pub fn issue_token(&mut self, token: TokenSpec) {
        self.token = token;
    }

    /// The headers that go with every answer to a token that is known.
    pub(super) fn tell_token(&self, reply: &mut Reply) {
        let TokenSpec { scopes, expires, .. } = &self.token;
        let scopes = scopes.as_ref().map(|scopes| ("X-OAuth-Scopes", scopes.join(", ")));
        let expires =
            expires.as_ref().map(|at| ("GitHub-Authentication-Token-Expiration", at.clone()));
        reply.headers.extend(scopes);
        reply.headers.extend(expires);
    }

    /// The refusal of whatever belongs to the organisation while the token lacks its sign-on.
    pub(super) fn ask_for_sign_on(&self, visit: &Visit<'_>) -> Option<Served> {
        if !self.token.lacks_sign_on {
            return None;
        }
        let reply = if visit.call.is_some() {
            let body = visit.request.body;
            let names_it = body.windows(12).any(|part| part == b"organization");
            names_it.then(|| Reply::json(200, refused_root()))
        } else {
            let is_of_it =
                ["/orgs/", "/repos/"].iter().any(|it| visit.request.path.starts_with(it));
            is_of_it.then(|| {
                let url = "required; url=https://github.com/orgs/acme/sso".to_owned();
                Reply::message(403, SIGN_ON).with("X-GitHub-SSO", url)
            })
        };
        reply.map(|reply| Served::whole(reply, 0, visit.latency_ms))
    }
}

fn refused_root() -> String {
    let error = serde_json::json!({
        "type": "FORBIDDEN",
        "path": ["organization"],
        "extensions": { "saml_failure": true },
        "message": SIGN_ON,
    });
    let data = serde_json::json!({ "organization": null });
    serde_json::json!({ "data": data, "errors": [error] }).to_string()
}
