//! Serves the protocol over stdin and stdout, one message per line.

mod line_transport;

use rmcp::ServiceExt as _;
use rmcp::service::ServerInitializeError;
use rmcp::transport::stdio_pipes;

use crate::McpServer;
use line_transport::LineTransport;

/// The connection over stdin and stdout failed.
#[derive(Debug, thiserror::Error)]
#[error("the connection over stdin and stdout failed: {0}")]
pub struct StdioError(String);

/// Answers requests until stdin ends.
pub async fn serve_over_stdio(server: McpServer) -> Result<(), StdioError> {
    let (input, output) = stdio_pipes();
    let running = match server.serve(LineTransport::new(input, output)).await {
        Ok(running) => running,
        // a client that closes stdin without sending anything is not an error
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => return Err(StdioError(error.to_string())),
    };
    running.waiting().await.map(drop).map_err(|error| StdioError(error.to_string()))
}
