//! The account that a handle leads to.

use hw_rules::bluesky::did::Did;
use hw_rules::bluesky::handle::Handle;

use super::post_view;
use super::xrpc::{XrpcEndpoint, XrpcRequest, XrpcResponse};
use crate::error::SourceError;
use crate::query::Query;
use crate::raw_json::RawNode;

/// Requests the DID of a handle.
#[derive(Debug, Clone, Copy)]
pub struct ResolveHandleQuery<'a> {
    pub handle: &'a Handle,
}

impl Query for ResolveHandleQuery<'_> {
    type Endpoint = XrpcEndpoint;
    type Page = Did;

    fn request(&self, _size: u32) -> XrpcRequest {
        let params = vec![("handle", self.handle.to_string())];
        XrpcRequest::new("com.atproto.identity.resolveHandle", params)
    }

    fn parse(&self, response: &XrpcResponse, _size: u32) -> Result<Did, SourceError> {
        let did = response.body.root().get("did").and_then(RawNode::as_text).unwrap_or_default();
        post_view::parse_text(&did).map_err(SourceError::InvalidResponse)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::bluesky::sample_responses::{ALICE, response_with_body};

    #[test]
    fn handle_leads_to_a_did() {
        let handle: Handle = "alice.test".parse().unwrap();
        let query = ResolveHandleQuery { handle: &handle };
        assert_eq!(query.request(1).params, [("handle", "alice.test".to_owned())]);
        let did = query.parse(&response_with_body(&json!({ "did": ALICE })), 1).unwrap();
        assert_eq!(did.as_str(), ALICE);
        for body in [json!({}), json!({ "did": "alice" }), json!([])] {
            let error = query.parse(&response_with_body(&body), 1).unwrap_err();
            assert!(matches!(error, SourceError::InvalidResponse(_)), "{error}");
        }
    }
}
