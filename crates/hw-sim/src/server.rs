//! The simulated service on a socket, for programs that can only speak HTTP.
//!
//! Time and waiting come by argument: the one who serves holds the clock.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::github::{Answer, GitHub, Outcome};

const LARGEST_HEAD: usize = 64 * 1024;
const LARGEST_BODY: usize = 8 * 1024 * 1024;

/// A wait that somebody else times.
pub type Wait = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Answers whoever connects, until its future is dropped. `now` tells the time in milliseconds,
/// `wait` lets so many of them pass.
///
/// # Errors
///
/// When the listener can accept no more.
pub async fn serve(
    github: Arc<Mutex<GitHub>>,
    now: impl Fn() -> i64 + Send + Sync + 'static,
    wait: impl Fn(u64) -> Wait + Send + Sync + 'static,
    listener: TcpListener,
) -> io::Result<()> {
    let house = Arc::new(House { github, now, wait });
    let mut guests = tokio::task::JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                let (stream, _) = accepted?;
                let house = Arc::clone(&house);
                guests.spawn(async move { house.host(stream).await });
            }
            // A guest that left, well or badly, is nobody's trouble.
            Some(_) = guests.join_next() => {}
        }
    }
}

struct House<N, W> {
    github: Arc<Mutex<GitHub>>,
    now: N,
    wait: W,
}

/// Whether the connection can carry another request.
#[derive(PartialEq, Eq)]
enum Afterwards {
    Open,
    Closed,
}

impl<N: Fn() -> i64, W: Fn(u64) -> Wait> House<N, W> {
    /// One connection, request after request.
    async fn host(&self, mut stream: TcpStream) -> io::Result<()> {
        stream.set_nodelay(true)?;
        let mut held = Vec::new();
        while let Some(request) = read_request(&mut stream, &mut held).await? {
            let answer = self.answer(&request);
            (self.wait)(answer.latency_ms).await;
            if deliver(&mut stream, answer.outcome).await? == Afterwards::Closed {
                break;
            }
        }
        Ok(())
    }

    fn answer(&self, request: &[u8]) -> Answer {
        let mut github = self.github.lock().unwrap_or_else(PoisonError::into_inner);
        github.handle(request, (self.now)())
    }
}

async fn deliver(stream: &mut TcpStream, outcome: Outcome) -> io::Result<Afterwards> {
    match outcome {
        Outcome::Response(bytes) => {
            stream.write_all(&bytes).await?;
            return Ok(Afterwards::Open);
        }
        Outcome::Truncated(bytes) => {
            stream.write_all(&bytes).await?;
            stream.shutdown().await?;
        }
        // Closing at once, with nothing lingering, makes the kernel send a reset.
        Outcome::Reset => stream.set_zero_linger()?,
        Outcome::Stall => until_closed(stream).await,
    }
    Ok(Afterwards::Closed)
}

async fn until_closed(stream: &mut TcpStream) {
    let mut ignored = [0; 1024];
    while matches!(stream.read(&mut ignored).await, Ok(1..)) {}
}

/// The next whole request of a connection; `None` when the client has left.
async fn read_request(stream: &mut TcpStream, held: &mut Vec<u8>) -> io::Result<Option<Vec<u8>>> {
    let mut chunk = [0; 16 * 1024];
    loop {
        if let Some(length) = whole_length(held)?
            && length <= held.len()
        {
            let rest = held.split_off(length);
            return Ok(Some(std::mem::replace(held, rest)));
        }
        let count = stream.read(&mut chunk).await?;
        if count == 0 {
            return Ok(None);
        }
        held.extend_from_slice(&chunk[..count]);
    }
}

/// How long the request at the start of these bytes is, once its head is there.
fn whole_length(bytes: &[u8]) -> io::Result<Option<usize>> {
    let invalid = |what: &str| io::Error::new(io::ErrorKind::InvalidData, what.to_owned());
    let mut headers = [httparse::EMPTY_HEADER; 64];
    let mut request = httparse::Request::new(&mut headers);
    match request.parse(bytes) {
        Ok(httparse::Status::Complete(head)) => {
            let body = content_length(request.headers).ok_or_else(|| invalid("no length"))?;
            if LARGEST_BODY < body { Err(invalid("body too large")) } else { Ok(Some(head + body)) }
        }
        Ok(httparse::Status::Partial) if bytes.len() <= LARGEST_HEAD => Ok(None),
        Ok(httparse::Status::Partial) => Err(invalid("head too large")),
        Err(error) => Err(invalid(&error.to_string())),
    }
}

/// Zero when there is none; `None` when it is no number.
fn content_length(headers: &[httparse::Header<'_>]) -> Option<usize> {
    let found = headers.iter().find(|it| it.name.eq_ignore_ascii_case("content-length"));
    found.map_or(Some(0), |it| std::str::from_utf8(it.value).ok()?.trim().parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Fault, WorldSpec};

    const USER: &[u8] =
        b"GET /user HTTP/1.1\r\nHost: localhost\r\nUser-Agent: t\r\nAuthorization: Bearer t\r\n\r\n";

    #[tokio::test]
    async fn one_connection_carries_many_requests() {
        let (mut stream, _github) = open(None).await;
        for _ in 0..3 {
            stream.write_all(USER).await.unwrap();
            let answer = read_some(&mut stream).await;
            assert!(answer.starts_with("HTTP/1.1 200 OK") && answer.contains("anchor"), "{answer}");
        }
    }

    #[tokio::test]
    async fn a_truncated_answer_ends_before_its_length() {
        let (mut stream, _github) = open(Some(Fault::Truncated)).await;
        stream.write_all(USER).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 200 OK") && !answer.ends_with('}'), "{answer}");
    }

    #[tokio::test]
    async fn a_reset_is_a_reset() {
        let (mut stream, _github) = open(Some(Fault::Reset)).await;
        stream.write_all(USER).await.unwrap();
        let error = stream.read(&mut [0; 16]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::ConnectionReset);
    }

    async fn open(fault: Option<Fault>) -> (TcpStream, Arc<Mutex<GitHub>>) {
        let mut github = GitHub::new(&WorldSpec::small(), 1);
        if let Some(fault) = fault {
            github.arm(fault, 1);
        }
        let github = Arc::new(Mutex::new(github));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let wait = |_| -> Wait { Box::pin(std::future::ready(())) };
        tokio::spawn(serve(Arc::clone(&github), || 0, wait, listener));
        (TcpStream::connect(address).await.unwrap(), github)
    }

    async fn read_some(stream: &mut TcpStream) -> String {
        let mut chunk = vec![0; 8192];
        let count = stream.read(&mut chunk).await.unwrap();
        String::from_utf8(chunk[..count].to_vec()).unwrap()
    }
}
