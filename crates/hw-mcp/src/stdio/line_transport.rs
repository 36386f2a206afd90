//! A transport of one message per line that answers every invalid line with an error.
//!
//! The SDK's own transport silently skips a line that is not JSON, so a client that waits for an answer waits forever.
//! JSON-RPC requires the error -32700, with null for an id that cannot be read.

use std::io;
use std::pin::Pin;
use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::model::{ErrorCode, ErrorData};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::async_rw::{
    DEFAULT_MAX_LINE_LENGTH, JsonRpcMessageCodec, JsonRpcMessageCodecError,
};
use serde_json::error::Category;
use serde_json::json;
use tokio::io::{
    AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, BufReader,
};
use tokio::sync::Mutex;
use tokio_util::bytes::BytesMut;
use tokio_util::codec::Decoder as _;

/// Bytes of a line, including its end.
const MAX_LINE_BYTES: usize = DEFAULT_MAX_LINE_LENGTH;

/// Reads messages from one stream and writes them to another.
pub(super) struct LineTransport<R, W> {
    input: BufReader<R>,
    /// The beginning of the next line. [`Transport::receive`] is cancelled whenever there is something to send, and
    /// resumes from here.
    line: Vec<u8>,
    /// The rest of a line that is too long has not been read yet.
    is_discarding: bool,
    output: Arc<Mutex<W>>,
    /// An answer that is being written. It also survives cancellation.
    reply: Option<Pin<Box<dyn Future<Output = io::Result<()>> + Send>>>,
}

/// The content of a line.
enum IncomingLine {
    Message(Box<RxJsonRpcMessage<RoleServer>>),
    /// A blank line, or a notification that the server ignores.
    Nothing,
    Unusable(ErrorData),
}

impl<R: AsyncRead + Unpin + Send, W: AsyncWrite + Unpin + Send + 'static> LineTransport<R, W> {
    pub(super) fn new(input: R, output: W) -> Self {
        Self {
            input: BufReader::new(input),
            line: Vec::new(),
            is_discarding: false,
            output: Arc::new(Mutex::new(output)),
            reply: None,
        }
    }

    /// Reads the next line; returns none at the end of the input. Text after the last newline is ignored.
    async fn read_incoming(&mut self) -> io::Result<Option<IncomingLine>> {
        loop {
            let remaining = MAX_LINE_BYTES.saturating_sub(self.line.len()) as u64;
            let mut input = (&mut self.input).take(remaining);
            let count = input.read_until(b'\n', &mut self.line).await?;
            let is_complete = self.line.ends_with(b"\n");
            if !is_complete && self.line.len() < MAX_LINE_BYTES {
                if count == 0 {
                    return Ok(None);
                }
                continue;
            }
            let line = std::mem::take(&mut self.line);
            let was_discarding = std::mem::replace(&mut self.is_discarding, !is_complete);
            match (was_discarding, is_complete) {
                (true, _) => {}
                (false, true) => return Ok(Some(parse_line(&line))),
                (false, false) => return Ok(Some(IncomingLine::Unusable(line_too_long()))),
            }
        }
    }

    fn reply_with_error(&mut self, error: &ErrorData) {
        let answer = json!({ "jsonrpc": "2.0", "id": null, "error": error });
        let output = Arc::clone(&self.output);
        self.reply = Some(Box::pin(write_line(output, Ok(answer.to_string().into_bytes()))));
    }
}

impl<R, W> Transport<RoleServer> for LineTransport<R, W>
where
    R: AsyncRead + Unpin + Send,
    W: AsyncWrite + Unpin + Send + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        write_line(Arc::clone(&self.output), serde_json::to_vec(&message))
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            if let Some(reply) = &mut self.reply {
                let written = reply.await;
                self.reply = None;
                written.ok()?;
            }
            match self.read_incoming().await {
                Ok(Some(IncomingLine::Message(message))) => return Some(*message),
                Ok(Some(IncomingLine::Nothing)) => {}
                Ok(Some(IncomingLine::Unusable(error))) => self.reply_with_error(&error),
                Ok(None) => return None,
                Err(error) => {
                    tracing::error!(%error, "cannot read stdin");
                    return None;
                }
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.output.lock().await.shutdown().await
    }
}

/// Parses a line as the SDK does: unknown notifications are ignored.
fn parse_line(line: &[u8]) -> IncomingLine {
    if line.trim_ascii().is_empty() {
        return IncomingLine::Nothing;
    }
    let mut codec = JsonRpcMessageCodec::<RxJsonRpcMessage<RoleServer>>::new();
    match codec.decode(&mut BytesMut::from(line)) {
        Ok(Some(message)) => IncomingLine::Message(Box::new(message)),
        Ok(None) => IncomingLine::Nothing,
        Err(JsonRpcMessageCodecError::Serde(error))
            if matches!(error.classify(), Category::Syntax | Category::Eof) =>
        {
            IncomingLine::Unusable(ErrorData::parse_error(format!("Parse error: {error}"), None))
        }
        Err(_) => IncomingLine::Unusable(ErrorData::invalid_request("Invalid request", None)),
    }
}

fn line_too_long() -> ErrorData {
    let limit = MAX_LINE_BYTES >> 20;
    let message = format!("Invalid request: line longer than {limit} MiB");
    ErrorData::new(ErrorCode::INVALID_REQUEST, message, None)
}

async fn write_line<W: AsyncWrite + Unpin>(
    output: Arc<Mutex<W>>,
    line: serde_json::Result<Vec<u8>>,
) -> io::Result<()> {
    let mut line = line?;
    line.push(b'\n');
    let mut output = output.lock().await;
    output.write_all(&line).await?;
    output.flush().await
}
