//! A TCP proxy in front of PostgreSQL that stalls and cuts connections on command.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};

/// What happens to every connection when the client sends a given text.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Nothing is forwarded any more, in either direction; the connections stay open.
    Stall,
    /// The connections are closed, and the server never sees the text.
    CutBefore,
    /// The server sees the text, and the connections are closed before it can answer.
    CutAfter,
}

/// A proxy on a loopback port; it ends with the process.
#[derive(Clone)]
pub(crate) struct Proxy {
    port: u16,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    moved: Condvar,
}

#[derive(Default)]
struct State {
    is_stalled: bool,
    /// How many texts still pass before the fault fires.
    trigger: Option<(&'static str, usize, Fault)>,
    fired: usize,
    open: Vec<TcpStream>,
}

impl Proxy {
    pub(crate) fn before(url: &str) -> Self {
        let server = host_and_port(url).to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let proxy = Self { port, shared: Arc::default() };
        let shared = Arc::clone(&proxy.shared);
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let Ok(server) = TcpStream::connect(&server) else { continue };
                shared.forward(&client, &server);
            }
        });
        proxy
    }

    /// The same database, through the proxy.
    pub(crate) fn url(&self, url: &str) -> String {
        let here = url.replace(host_and_port(url), &format!("127.0.0.1:{}", self.port));
        format!("{here}?connect_timeout=1&sslmode=disable")
    }

    /// Lets `skip` more messages with this text pass, and fires at the next one.
    pub(crate) fn arm(&self, text: &'static str, skip: usize, fault: Fault) {
        self.shared.state.lock().unwrap().trigger = Some((text, skip, fault));
    }

    pub(crate) fn stall(&self) {
        self.shared.state.lock().unwrap().is_stalled = true;
    }

    pub(crate) fn resume(&self) {
        self.shared.state.lock().unwrap().is_stalled = false;
        self.shared.moved.notify_all();
    }

    /// How many faults fired.
    pub(crate) fn fired(&self) -> usize {
        self.shared.state.lock().unwrap().fired
    }
}

/// The address of `postgres://user@host:port/database`, which is how the tests' server is named.
fn host_and_port(url: &str) -> &str {
    let place = url.split_once("://").map_or(url, |(_, rest)| rest);
    let place = place.rsplit_once('@').map_or(place, |(_, rest)| rest);
    place.split('/').next().unwrap()
}

impl Shared {
    fn forward(self: &Arc<Self>, client: &TcpStream, server: &TcpStream) {
        let copy = |stream: &TcpStream| stream.try_clone().unwrap();
        self.state.lock().unwrap().open.extend([copy(client), copy(server)]);
        let (up, down) = ((copy(client), copy(server)), (copy(server), copy(client)));
        let shared = Arc::clone(self);
        std::thread::spawn(move || shared.pump(up, true));
        let shared = Arc::clone(self);
        std::thread::spawn(move || shared.pump(down, false));
    }

    fn pump(&self, (mut from, mut to): (TcpStream, TcpStream), is_client: bool) {
        let mut bytes = vec![0; 64 * 1024];
        while let Ok(count @ 1..) = from.read(&mut bytes) {
            let fault = if is_client { self.triggered(&bytes[..count]) } else { None };
            match fault {
                Some(Fault::CutBefore) => return self.cut(),
                Some(Fault::CutAfter) => {
                    to.write_all(&bytes[..count]).ok();
                    return self.cut_when_answered(&mut to);
                }
                Some(Fault::Stall) | None => {}
            }
            let state = self.state.lock().unwrap();
            drop(self.moved.wait_while(state, |state| state.is_stalled).unwrap());
            if to.write_all(&bytes[..count]).is_err() {
                break;
            }
        }
        from.shutdown(Shutdown::Both).ok();
        to.shutdown(Shutdown::Both).ok();
    }

    fn triggered(&self, bytes: &[u8]) -> Option<Fault> {
        let mut state = self.state.lock().unwrap();
        let (text, skip, fault) = state.trigger?;
        if !bytes.windows(text.len()).any(|window| window == text.as_bytes()) {
            return None;
        }
        state.trigger = skip.checked_sub(1).map(|skip| (text, skip, fault));
        if state.trigger.is_some() {
            return None;
        }
        state.fired += 1;
        state.is_stalled |= fault == Fault::Stall;
        Some(fault)
    }

    fn cut(&self) {
        for stream in self.state.lock().unwrap().open.drain(..) {
            stream.shutdown(Shutdown::Both).ok();
        }
    }

    /// Closes only the client's side: what the server has read, it does.
    fn cut_when_answered(&self, server: &mut TcpStream) {
        let server = server.peer_addr().ok();
        for stream in self.state.lock().unwrap().open.drain(..) {
            if stream.peer_addr().ok() != server {
                stream.shutdown(Shutdown::Both).ok();
            }
        }
    }
}
