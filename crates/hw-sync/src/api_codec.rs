//! Decodes responses of GitHub's two APIs, GraphQL and REST.

use hw_rules::rate_limit::ApiKind;
use hw_sources::error::SourceError;
use hw_sources::github::response_meta::ResponseMeta;
use hw_sources::github::{graphql, rest};
use hw_sources::transport::HttpResponse;

/// Decodes the responses of one API and finds their metadata: date, cost and rate limit.
pub(crate) struct ApiCodec<A> {
    pub(crate) api: ApiKind,
    pub(crate) decode: fn(&HttpResponse) -> Result<A, SourceError>,
    pub(crate) response_meta: fn(&mut A) -> &mut ResponseMeta,
}

impl<A> Clone for ApiCodec<A> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<A> Copy for ApiCodec<A> {}

pub(crate) const GRAPHQL_CODEC: ApiCodec<graphql::GraphqlResponse> = ApiCodec {
    api: ApiKind::Graphql,
    decode: graphql::read_response,
    response_meta: |response| &mut response.meta,
};
pub(crate) const REST_CODEC: ApiCodec<rest::RestResponse> = ApiCodec {
    api: ApiKind::Rest,
    decode: rest::read_response,
    response_meta: |response| &mut response.meta,
};
