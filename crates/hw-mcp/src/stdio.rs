//! The protocol over stdin and stdout, a message a line.

mod line_transport;

use rmcp::ServiceExt as _;
use rmcp::service::ServerInitializeError;
use rmcp::transport::stdio_pipes;

use crate::Server;
use line_transport::LineTransport;

/// The conversation broke off.
#[derive(Debug, thiserror::Error)]
#[error("the conversation over stdin and stdout broke off: {0}")]
pub struct Broken(String);

/// Answers until stdin ends.
pub async fn over_stdio(server: Server) -> Result<(), Broken> {
    let (input, output) = stdio_pipes();
    let running = match server.serve(LineTransport::new(input, output)).await {
        Ok(running) => running,
        // nobody said anything, and that is nobody's fault
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => return Err(Broken(error.to_string())),
    };
    running.waiting().await.map(drop).map_err(|error| Broken(error.to_string()))
}
