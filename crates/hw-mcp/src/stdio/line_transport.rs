//! Messages a line each, with an answer to every line that is none.
//!
//! The SDK's own transport passes over a line that is not JSON without a word, and a client that waits for an answer
//! waits for ever. JSON-RPC wants the error -32700, with null for an id that could not be read.

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

/// How many bytes a line may have, its end included.
const MAX_LINE_BYTES: usize = DEFAULT_MAX_LINE_LENGTH;

/// Reads messages from one stream and writes them to another.
pub(super) struct LineTransport<R, W> {
    input: BufReader<R>,
    /// What was read of the next line. [`Transport::receive`] is dropped in the middle whenever there is something to
    /// send, and goes on from here.
    line: Vec<u8>,
    /// Whether the rest of a line that is too long is still to come.
    is_discarding: bool,
    output: Arc<Mutex<W>>,
    /// An answer that is being written, which goes on likewise.
    reply: Option<Pin<Box<dyn Future<Output = io::Result<()>> + Send>>>,
}

/// What the next line is.
enum Incoming {
    Message(Box<RxJsonRpcMessage<RoleServer>>),
    /// A blank line, or a notification that nobody needs.
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

    /// Reads the next line; none at the end of the input. What follows the last newline is no line.
    async fn read_incoming(&mut self) -> io::Result<Option<Incoming>> {
        loop {
            let room = MAX_LINE_BYTES.saturating_sub(self.line.len()) as u64;
            let mut input = (&mut self.input).take(room);
            let count = input.read_until(b'\n', &mut self.line).await?;
            let is_whole = self.line.ends_with(b"\n");
            if !is_whole && self.line.len() < MAX_LINE_BYTES {
                if count == 0 {
                    return Ok(None);
                }
                continue;
            }
            let line = std::mem::take(&mut self.line);
            let is_rest = std::mem::replace(&mut self.is_discarding, !is_whole);
            match (is_rest, is_whole) {
                (true, _) => {}
                (false, true) => return Ok(Some(parse_line(&line))),
                (false, false) => return Ok(Some(Incoming::Unusable(too_long()))),
            }
        }
    }

    fn reply_with(&mut self, error: &ErrorData) {
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
                Ok(Some(Incoming::Message(message))) => return Some(*message),
                Ok(Some(Incoming::Nothing)) => {}
                Ok(Some(Incoming::Unusable(error))) => self.reply_with(&error),
                Ok(None) => return None,
                Err(error) => {
                    tracing::error!(%error, "stdin cannot be read");
                    return None;
                }
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.output.lock().await.shutdown().await
    }
}

/// Reads a line as the SDK does: notifications that the protocol does not know are passed over.
fn parse_line(line: &[u8]) -> Incoming {
    if line.trim_ascii().is_empty() {
        return Incoming::Nothing;
    }
    let mut codec = JsonRpcMessageCodec::<RxJsonRpcMessage<RoleServer>>::new();
    match codec.decode(&mut BytesMut::from(line)) {
        Ok(Some(message)) => Incoming::Message(Box::new(message)),
        Ok(None) => Incoming::Nothing,
        Err(JsonRpcMessageCodecError::Serde(error))
            if matches!(error.classify(), Category::Syntax | Category::Eof) =>
        {
            Incoming::Unusable(ErrorData::parse_error(format!("Parse error: {error}"), None))
        }
        Err(_) => Incoming::Unusable(ErrorData::invalid_request("Invalid request", None)),
    }
}

fn too_long() -> ErrorData {
    let limit = MAX_LINE_BYTES >> 20;
    let message = format!("Invalid request: a line is longer than {limit} MiB");
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
