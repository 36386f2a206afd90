//! Sessions: tokens that are given for a password, expire, and are refreshed.

use std::collections::HashMap;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

use super::SimulatedAppView;
use super::endpoint::{Viewer, XrpcCall};
use super::reply::XrpcError;
use super::views::shown_handle;
use super::world::{AccountState, SimAccount};

/// The tokens that were given out.
#[derive(Debug, Default)]
pub(super) struct SessionTable {
    tokens: HashMap<String, IssuedToken>,
    issued_count: u64,
}

#[derive(Debug, Clone)]
struct IssuedToken {
    kind: TokenKind,
    did: Arc<str>,
    expires_ms: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TokenKind {
    Access,
    Refresh,
}

impl TokenKind {
    fn scope(self) -> &'static str {
        match self {
            Self::Access => "com.atproto.appPass",
            Self::Refresh => "com.atproto.refresh",
        }
    }
}

impl SessionTable {
    /// Makes all access tokens expire at once; refresh tokens stay valid.
    pub(super) fn expire_access_tokens(&mut self) {
        for token in self.tokens.values_mut().filter(|token| token.kind == TokenKind::Access) {
            token.expires_ms = i64::MIN;
        }
    }

    /// Makes all tokens unknown, as after a change of the password.
    pub(super) fn revoke_all(&mut self) {
        self.tokens.clear();
    }

    fn issue_token(&mut self, kind: TokenKind, did: &Arc<str>, now_ms: i64, ttl_ms: i64) -> String {
        self.issued_count += 1;
        let expires_ms = now_ms.saturating_add(ttl_ms);
        let claims = json!({
            "scope": kind.scope(),
            "sub": &**did,
            "iat": now_ms.div_euclid(1000),
            "exp": expires_ms.div_euclid(1000),
            "jti": self.issued_count,
        });
        let parts = [json!({ "typ": "at+jwt", "alg": "HS256" }), claims, json!("simulated")];
        let token = parts.map(|part| URL_SAFE_NO_PAD.encode(part.to_string())).join(".");
        let issued = IssuedToken { kind, did: Arc::clone(did), expires_ms };
        self.tokens.insert(token.clone(), issued);
        token
    }

    /// Returns the token if it is known, of this kind and not expired.
    fn check_token(
        &self,
        kind: TokenKind,
        token: &str,
        now_ms: i64,
    ) -> Result<&IssuedToken, XrpcError> {
        match self.tokens.get(token) {
            Some(issued) if issued.kind != kind => {
                Err(XrpcError::new(400, "InvalidToken", "Bad token scope"))
            }
            Some(issued) if issued.expires_ms <= now_ms => {
                Err(XrpcError::new(400, "ExpiredToken", "Token has expired"))
            }
            Some(issued) => Ok(issued),
            None => Err(XrpcError::new(400, "InvalidToken", "Token could not be verified")),
        }
    }
}

impl SimulatedAppView {
    /// Makes all access tokens expire at once; refresh tokens stay valid.
    pub fn expire_sessions(&mut self) {
        self.sessions.expire_access_tokens();
    }

    /// Makes all tokens unknown, as after a change of the password.
    pub fn revoke_sessions(&mut self) {
        self.sessions.revoke_all();
    }

    /// Finds out on whose behalf a request is made.
    ///
    /// A token that does not hold is refused even where none is needed.
    pub(super) fn authenticate(&self, call: &XrpcCall<'_>) -> Result<Viewer, XrpcError> {
        if !call.endpoint.may_need_session() {
            return Ok(Viewer::Anonymous);
        }
        match bearer_token(call) {
            Some(token) => {
                self.sessions.check_token(TokenKind::Access, token, self.now_ms)?;
                Ok(Viewer::SignedIn)
            }
            None if self.requires_session => {
                Err(XrpcError::new(401, "AuthMissing", "Authentication Required"))
            }
            None => Ok(Viewer::Anonymous),
        }
    }

    pub(super) fn answer_create_session(
        &mut self,
        call: &XrpcCall<'_>,
    ) -> Result<Value, XrpcError> {
        let login: Value = serde_json::from_slice(call.request.body)
            .map_err(|_| XrpcError::invalid_request("Unexpected end of JSON input"))?;
        let account = login["identifier"].as_str().and_then(|actor| self.world.find_account(actor));
        let is_right = login["password"].as_str() == Some(&*self.app_password);
        let account = account.filter(|_| is_right).ok_or_else(|| {
            XrpcError::new(401, "AuthenticationRequired", "Invalid identifier or password")
        })?;
        let index = check_login(account)?.index;
        Ok(self.open_session(index))
    }

    /// Answers `refreshSession`: both tokens are replaced, and the old refresh token stays valid until it expires.
    pub(super) fn answer_refresh_session(
        &mut self,
        call: &XrpcCall<'_>,
    ) -> Result<Value, XrpcError> {
        let token = bearer_token(call)
            .ok_or_else(|| XrpcError::new(401, "AuthMissing", "Authentication Required"))?;
        let did =
            self.sessions.check_token(TokenKind::Refresh, token, self.now_ms)?.did.to_string();
        let account = self.world.find_account(&did).ok_or_else(XrpcError::profile_not_found)?;
        let index = check_login(account)?.index;
        Ok(self.open_session(index))
    }

    fn open_session(&mut self, account: usize) -> Value {
        let account = self.world.account(account);
        let now_ms = self.now_ms;
        let (sessions, did) = (&mut self.sessions, &account.did);
        let access = sessions.issue_token(TokenKind::Access, did, now_ms, self.access_token_ms);
        let refresh = sessions.issue_token(TokenKind::Refresh, did, now_ms, self.refresh_token_ms);
        json!({
            "accessJwt": access,
            "refreshJwt": refresh,
            "handle": shown_handle(account),
            "did": &**did,
            "email": "pilot@harbor.example",
            "emailConfirmed": true,
            "active": true,
        })
    }
}

/// Refuses accounts that cannot sign in.
fn check_login(account: &SimAccount) -> Result<&SimAccount, XrpcError> {
    match account.state {
        AccountState::Active | AccountState::Deactivated => Ok(account),
        AccountState::TakenDown => {
            Err(XrpcError::new(401, "AccountTakedown", "Account has been taken down"))
        }
        AccountState::Deleted => {
            Err(XrpcError::new(401, "AuthenticationRequired", "Invalid identifier or password"))
        }
    }
}

fn bearer_token<'a>(call: &XrpcCall<'a>) -> Option<&'a str> {
    call.request.header("authorization")?.strip_prefix("Bearer ")
}
