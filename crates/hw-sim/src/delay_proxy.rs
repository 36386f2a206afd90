//! A TCP proxy that delays every byte by the same time: a server that is some milliseconds away.
//!
//! Bytes keep flowing while earlier ones are on their way, so only a client that waits for answers becomes slower.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

/// A proxy on a loopback port. It runs until the process ends.
#[derive(Debug, Clone, Copy)]
pub struct DelayProxy {
    address: SocketAddr,
}

impl DelayProxy {
    /// Starts a proxy in front of `server`, with this delay in each direction.
    pub fn start(server: &str, delay: Duration) -> std::io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let server = server.to_owned();
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                // a client whose server is gone finds its connection closed
                if let Ok(server) = TcpStream::connect(&server) {
                    forward(&client, &server, delay).unwrap_or_default();
                }
            }
        });
        Ok(Self { address })
    }

    /// Returns the address to connect to.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

fn forward(client: &TcpStream, server: &TcpStream, delay: Duration) -> std::io::Result<()> {
    for (from, to) in [(client, server), (server, client)] {
        to.set_nodelay(true)?;
        let (from, to) = (from.try_clone()?, to.try_clone()?);
        let (sender, receiver) = mpsc::channel();
        thread::spawn(move || read_chunks(from, &sender));
        thread::spawn(move || write_late(to, &receiver, delay));
    }
    Ok(())
}

/// Bytes, and when they arrived.
struct Chunk {
    bytes: Vec<u8>,
    arrived: Instant,
}

#[expect(clippy::disallowed_methods, reason = "bytes of a real socket travel in real time")]
fn read_chunks(mut from: TcpStream, sender: &mpsc::Sender<Chunk>) {
    let mut buffer = vec![0; 64 * 1024];
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        let chunk = Chunk { bytes: buffer[..count].to_vec(), arrived: Instant::now() };
        if sender.send(chunk).is_err() {
            return;
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "bytes of a real socket travel in real time")]
fn write_late(mut to: TcpStream, receiver: &mpsc::Receiver<Chunk>, delay: Duration) {
    for Chunk { bytes, arrived } in receiver {
        thread::sleep(delay.saturating_sub(arrived.elapsed()));
        if to.write_all(&bytes).is_err() {
            break;
        }
    }
    // it may be closed already
    to.shutdown(Shutdown::Both).unwrap_or_default();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delay_proxy_forwards_in_both_directions_and_closes_with_its_server() {
        let server = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = server.local_addr().unwrap().to_string();
        let proxy = DelayProxy::start(&address, Duration::from_millis(1)).unwrap();
        let mut client = TcpStream::connect(proxy.address()).unwrap();
        let (mut accepted, _) = server.accept().unwrap();
        client.write_all(b"question").unwrap();
        let mut question = [0; 8];
        accepted.read_exact(&mut question).unwrap();
        assert_eq!(&question, b"question");
        accepted.write_all(b"answer").unwrap();
        drop(accepted);
        let mut answer = String::new();
        client.read_to_string(&mut answer).unwrap();
        assert_eq!(answer, "answer");
    }
}
