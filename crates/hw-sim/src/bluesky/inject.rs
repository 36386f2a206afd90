//! Applies faults to requests.

use serde_json::{Value, json};

use super::author_feed::{FeedPage, FeedRequest, PageDistortion, read_feed_page};
use super::cursor::FeedPosition;
use super::endpoint::{XrpcCall, XrpcEndpoint};
use super::faults::{AppViewFault, Mishap};
use super::reply::{XrpcError, XrpcReply};
use super::spec::FeedEnd;
use super::world::SimAccount;
use super::{ServedReply, SimulatedAppView};
use crate::github::DeliveryMode;

/// A proxy in front of the service gives up after ten seconds.
const GATEWAY_TIMEOUT_MS: u64 = 10_000;

impl SimulatedAppView {
    /// Serves the request with this mishap; returns `None` if it cannot happen to this request.
    pub(super) fn serve_mishap(
        &mut self,
        mishap: &Mishap,
        call: &XrpcCall<'_>,
    ) -> Option<ServedReply> {
        match mishap {
            Mishap::Error(error) => Some(XrpcReply::from_error(error).into()),
            Mishap::Fault(fault) => {
                let served = self.serve_fault(*fault, call)?;
                self.mishaps.record_fired(*fault);
                Some(ServedReply { fault: Some(*fault), ..served })
            }
        }
    }

    fn serve_fault(&mut self, fault: AppViewFault, call: &XrpcCall<'_>) -> Option<ServedReply> {
        match fault {
            AppViewFault::InternalError => Some(error_reply(&XrpcError::internal_error())),
            AppViewFault::BadGateway if self.rng.bool() => Some(XrpcReply::html_page(502).into()),
            AppViewFault::BadGateway => {
                Some(error_reply(&XrpcError::new(502, "UpstreamFailure", "Upstream Failure")))
            }
            AppViewFault::Unavailable => Some(XrpcReply::html_page(503).into()),
            AppViewFault::GatewayTimeout => {
                let served = ServedReply::from(XrpcReply::html_page(504));
                Some(ServedReply { least_latency_ms: GATEWAY_TIMEOUT_MS, ..served })
            }
            AppViewFault::DroppedBefore => {
                let served = ServedReply::from(XrpcReply::html_page(502));
                Some(ServedReply { delivery: DeliveryMode::Reset, ..served })
            }
            AppViewFault::DroppedAfter => self.serve_undelivered(call, DeliveryMode::Reset),
            AppViewFault::Stall => self.serve_undelivered(call, DeliveryMode::Never),
            AppViewFault::Truncated => self.serve_undelivered(call, DeliveryMode::Half),
            AppViewFault::HalfJson => {
                let mut reply = self.serve_answer(call);
                reply.body.truncate(reply.body.len() / 2);
                Some(reply.into())
            }
            AppViewFault::HtmlInsteadOfJson => Some(XrpcReply::html_page(200).into()),
            AppViewFault::RateLimited => {
                let wait_ms = self.rng.i64(5..=90) * 1000;
                Some(self.serve_limit_for(call, wait_ms).into())
            }
            AppViewFault::RateLimitedWithoutHeaders => {
                Some(error_reply(&XrpcError::rate_limited()))
            }
            AppViewFault::EmptyPage => self.serve_distorted(call, PageDistortion::Empty),
            AppViewFault::ShortPage => {
                let random = self.rng.usize(0..1000);
                self.serve_distorted(call, PageDistortion::Short(random))
            }
            AppViewFault::MissingCursor => self.serve_distorted(call, PageDistortion::NoCursor),
            AppViewFault::CursorToNothing => {
                self.answer_with_good_cursor(call)?;
                Some(XrpcReply::from_json(200, &json!({ "feed": [] })).into())
            }
            AppViewFault::CursorError => {
                self.answer_with_good_cursor(call)?;
                Some(error_reply(&XrpcError::internal_error()))
            }
            AppViewFault::MissingEntry => self.serve_without_one_entry(call),
            AppViewFault::ExpiredToken => {
                let has_token = call.request.header("authorization").is_some();
                let error = XrpcError::new(400, "ExpiredToken", "Token has expired");
                (has_token && call.endpoint.may_need_session()).then(|| error_reply(&error))
            }
        }
    }

    /// Serves a good response that does not arrive completely.
    fn serve_undelivered(
        &mut self,
        call: &XrpcCall<'_>,
        delivery: DeliveryMode,
    ) -> Option<ServedReply> {
        Some(ServedReply { delivery, ..self.serve_answer(call).into() })
    }

    fn serve_distorted(
        &mut self,
        call: &XrpcCall<'_>,
        distortion: PageDistortion,
    ) -> Option<ServedReply> {
        if call.endpoint != XrpcEndpoint::AuthorFeed {
            return None;
        }
        let viewer = self.authenticate(call).ok()?;
        let body = self.answer_author_feed(call, viewer, Some(distortion)).ok()?;
        Some(XrpcReply::from_json(200, &body).into())
    }

    /// Returns the answer to a request for a further page of a feed; `None` if it is none, or fails.
    fn answer_with_good_cursor(&mut self, call: &XrpcCall<'_>) -> Option<Value> {
        if call.endpoint != XrpcEndpoint::AuthorFeed || call.cursor().is_none() {
            return None;
        }
        self.answer(call).ok()
    }

    fn serve_without_one_entry(&mut self, call: &XrpcCall<'_>) -> Option<ServedReply> {
        let fields = [(XrpcEndpoint::Profiles, "profiles"), (XrpcEndpoint::Posts, "posts")];
        let (_, field) = fields.into_iter().find(|(endpoint, _)| *endpoint == call.endpoint)?;
        let mut body = self.answer(call).ok()?;
        let entries = body[field].as_array_mut().filter(|entries| !entries.is_empty())?;
        entries.remove(self.rng.usize(0..entries.len()));
        Some(XrpcReply::from_json(200, &body).into())
    }

    /// Returns the page as this distortion makes it; `None` if it cannot.
    pub(super) fn distort_page(
        &self,
        account: &SimAccount,
        request: &FeedRequest,
        page: FeedPage,
        distortion: PageDistortion,
    ) -> Option<FeedPage> {
        let last = FeedPosition::of_row(page.rows.last()?);
        match distortion {
            PageDistortion::Empty => {
                let above = FeedPosition::below_time(page.rows.first()?.sort_ms + 1);
                let moves_on =
                    request.below.as_ref().is_none_or(|below| above.sort_ms < below.sort_ms);
                moves_on.then(|| FeedPage { rows: Vec::new(), next: Some(above) })
            }
            PageDistortion::Short(random) => {
                let count = 1 + random % (page.rows.len() - 1).max(1);
                let next = FeedPosition::of_row(&page.rows[count - 1]);
                let rows = page.rows[..count].to_vec();
                (count < page.rows.len()).then_some(FeedPage { rows, next: Some(next) })
            }
            PageDistortion::NoCursor => {
                let rest = FeedRequest { below: Some(last), limit: 1, ..request.clone() };
                let end = FeedEnd::EmptyPage;
                let rest = read_feed_page(&self.world, account, &rest, end, self.now_ms);
                (!rest.rows.is_empty()).then_some(FeedPage { next: None, ..page })
            }
        }
    }
}

fn error_reply(error: &XrpcError) -> ServedReply {
    XrpcReply::from_error(error).into()
}
