//! A socket that gives up on a peer that stops reading, and records when an answer is sent.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio_io_timeout::TimeoutStream;

use super::connection_table::ConnectionTracker;

pub(super) struct ConnectionIo {
    stream: TokioIo<Pin<Box<TimeoutStream<TcpStream>>>>,
    tracker: Arc<ConnectionTracker>,
}

impl ConnectionIo {
    /// The write timeout only counts while the peer accepts nothing, so an event stream may last for days.
    pub(super) fn new(
        stream: TcpStream,
        write_timeout: Duration,
        tracker: Arc<ConnectionTracker>,
    ) -> Self {
        let mut stream = TimeoutStream::new(stream);
        stream.set_write_timeout(Some(write_timeout));
        Self { stream: TokioIo::new(Box::pin(stream)), tracker }
    }
}

impl Read for ConnectionIo {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl Write for ConnectionIo {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    /// hyper calls this once its own buffer is empty.
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(cx);
        if matches!(flushed, Poll::Ready(Ok(()))) {
            self.tracker.finish_flush();
        }
        flushed
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, parts)
    }
}
