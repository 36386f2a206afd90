//! What a client can send: a query builds its request, and reads the response to it.

use hw_rules::rate_limit::ApiKind;

use crate::error::SourceError;
use crate::response_meta::ResponseMeta;
use crate::transport::{HttpRequest, HttpResponse};

/// One API of a source: where its requests go, and how its responses are read.
pub trait ApiEndpoint {
    type Request;
    type Response;
    const API: ApiKind;

    fn encode_request(&self, request: &Self::Request) -> HttpRequest;

    /// Reads a response; fails if it is unusable as a whole.
    fn decode_response(response: &HttpResponse) -> Result<Self::Response, SourceError>;

    fn meta_mut(response: &mut Self::Response) -> &mut ResponseMeta;
}

/// The request of an endpoint that a query is for.
pub type QueryRequest<Q> = <<Q as Query>::Endpoint as ApiEndpoint>::Request;
/// The response of an endpoint that a query is for.
pub type QueryResponse<Q> = <<Q as Query>::Endpoint as ApiEndpoint>::Response;

/// A question to an API, together with the reader of its answer.
///
/// `size` is the number of rows to request. It differs between attempts, because a server that cannot serve a page is
/// asked for a smaller one.
pub trait Query {
    type Endpoint: ApiEndpoint;
    type Page;

    fn request(&self, size: u32) -> QueryRequest<Self>;

    /// Reads the response to the request for this many rows.
    fn parse(&self, response: &QueryResponse<Self>, size: u32) -> Result<Self::Page, SourceError>;
}

/// Returns the first `size` of some ids: as many as one request asks for.
pub(crate) fn first_ids(ids: &[String], size: u32) -> &[String] {
    &ids[..ids.len().min(size as usize)]
}
