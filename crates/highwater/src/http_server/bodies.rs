//! The bodies of requests and answers, which record when a connection becomes busy and when it starts to wait.

use std::io::{Error, ErrorKind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use axum::body::{Body, Bytes};
use http_body_util::Limited;
use hyper::body::{Body as HttpBody, Frame, Incoming, SizeHint};
use hyper::rt::{Sleep, Timer as _};
use hyper_util::rt::TokioTimer;

use super::connection_table::ConnectionTracker;
use super::limits::ServerLimits;

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// The body of a request, bounded in length and time.
pub(super) struct RequestBody {
    body: Limited<Incoming>,
    deadline: Pin<Box<dyn Sleep>>,
    tracker: Arc<ConnectionTracker>,
    is_complete: bool,
}

impl RequestBody {
    pub(super) fn new(
        body: Incoming,
        limits: ServerLimits,
        tracker: Arc<ConnectionTracker>,
    ) -> Self {
        let is_empty = body.is_end_stream();
        let deadline = TokioTimer::new().sleep(limits.body);
        let body = Limited::new(body, limits.body_bytes);
        let mut body = Self { body, deadline, tracker, is_complete: false };
        if is_empty {
            body.mark_complete();
        }
        body
    }

    fn mark_complete(&mut self) {
        if !self.is_complete {
            self.is_complete = true;
            self.tracker.begin_answer();
        }
    }
}

impl HttpBody for RequestBody {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let Poll::Ready(frame) = Pin::new(&mut self.body).poll_frame(cx) else {
            ready!(self.deadline.as_mut().poll(cx));
            let message = "timed out waiting for the body of the request";
            return Poll::Ready(Some(Err(Error::new(ErrorKind::TimedOut, message).into())));
        };
        if frame.is_none() || self.body.is_end_stream() {
            self.mark_complete();
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// A dropped body counts as complete, because the router will not read the rest.
impl Drop for RequestBody {
    fn drop(&mut self) {
        self.mark_complete();
    }
}

/// The body of an answer; dropped when hyper has taken all of it.
pub(super) struct AnswerBody {
    body: Body,
    tracker: Arc<ConnectionTracker>,
}

impl AnswerBody {
    pub(super) fn new(body: Body, tracker: Arc<ConnectionTracker>) -> Self {
        Self { body, tracker }
    }
}

impl HttpBody for AnswerBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for AnswerBody {
    fn drop(&mut self) {
        self.tracker.end_answer();
    }
}
