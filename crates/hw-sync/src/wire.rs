//! The two APIs of GitHub, and how each is spoken.

use hw_sources::gate::Api;
use hw_sources::github::receipt::Receipt;
use hw_sources::github::{graphql, rest};
use hw_sources::transport::Response;
use hw_sources::trouble::Trouble;

/// How an API is spoken: bytes become an answer, which says what it cost.
pub(crate) struct Wire<A> {
    pub(crate) api: Api,
    pub(crate) open: fn(&Response) -> Result<A, Trouble>,
    pub(crate) receipt: fn(&mut A) -> &mut Receipt,
}

impl<A> Clone for Wire<A> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<A> Copy for Wire<A> {}

pub(crate) const GRAPHQL: Wire<graphql::Answer> =
    Wire { api: Api::Graphql, open: graphql::read, receipt: |answer| &mut answer.receipt };
pub(crate) const REST: Wire<rest::Answer> =
    Wire { api: Api::Rest, open: rest::read, receipt: |answer| &mut answer.receipt };
