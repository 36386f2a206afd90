//! Reports the properties of the token, and hides the organization from a token without single sign-on.

use super::{AdmittedRequest, HttpReply, ServedResponse, SimulatedGitHub};

const SIGN_ON_MESSAGE: &str = "Resource protected by organization SAML enforcement. You must grant your \
                       Personal Access token access to this organization.";

/// The one token of a world.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenSpec {
    /// The scopes of a classic token; a fine-grained one has permissions instead, which no header reports.
    pub scopes: Option<Vec<String>>,
    /// As in the header: `2026-12-01 00:00:00 UTC`.
    pub expires: Option<String>,
    /// True if it is not authorized for the organization's single sign-on.
    pub lacks_sign_on: bool,
}

impl TokenSpec {
    /// Returns a classic token that has access to private repositories and never expires.
    #[must_use]
    pub fn classic() -> Self {
        let scopes = ["read:org", "repo"].map(str::to_owned).to_vec();
        Self { scopes: Some(scopes), expires: None, lacks_sign_on: false }
    }
}

impl SimulatedGitHub {
    /// Treats all further requests as sent with this token.
    pub fn set_token(&mut self, token: TokenSpec) {
        self.token = token;
    }

    /// Adds the headers that every response to a known token has.
    pub(super) fn add_token_headers(&self, reply: &mut HttpReply) {
        let TokenSpec { scopes, expires, .. } = &self.token;
        let scopes = scopes.as_ref().map(|scopes| ("X-OAuth-Scopes", scopes.join(", ")));
        let expires =
            expires.as_ref().map(|at| ("GitHub-Authentication-Token-Expiration", at.clone()));
        reply.headers.extend(scopes);
        reply.headers.extend(expires);
    }

    /// Refuses requests for the organization while the token lacks its single sign-on.
    pub(super) fn refuse_without_sign_on(
        &self,
        admitted: &AdmittedRequest<'_>,
    ) -> Option<ServedResponse> {
        if !self.token.lacks_sign_on {
            return None;
        }
        let reply = if admitted.query.is_some() {
            let body = admitted.request.body;
            let names_owner = body.windows(15).any(|part| part == b"repositoryOwner");
            names_owner.then(|| HttpReply::from_json(200, sign_on_refusal()))
        } else {
            let path = admitted.request.path;
            let is_in_organization = path.starts_with("/orgs/") || path.starts_with("/repos/");
            is_in_organization.then(|| {
                let url = "required; url=https://github.com/orgs/acme/sso".to_owned();
                HttpReply::from_message(403, SIGN_ON_MESSAGE).with_header("X-GitHub-SSO", url)
            })
        };
        reply.map(|reply| ServedResponse::from_reply(reply, 0, admitted.latency_ms))
    }
}

fn sign_on_refusal() -> String {
    let error = serde_json::json!({
        "type": "FORBIDDEN",
        "path": ["repositoryOwner"],
        "extensions": { "saml_failure": true },
        "message": SIGN_ON_MESSAGE,
    });
    let data = serde_json::json!({ "repositoryOwner": null });
    serde_json::json!({ "data": data, "errors": [error] }).to_string()
}
