//! A TCP proxy in front of PostgreSQL that stalls and cuts connections on command.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};

/// The fault of every connection when the client sends a given text.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProxyFault {
    /// The connections stay open, but nothing is forwarded in either direction.
    Stall,
    /// The connections are closed before the server receives the text.
    CutBefore,
    /// The connections are closed after the server receives the text, and before it can answer.
    CutAfter,
}

/// A proxy on a loopback port. It runs until the process ends.
#[derive(Clone)]
pub(crate) struct FaultProxy {
    port: u16,
    shared: Arc<ProxyShared>,
}

#[derive(Default)]
struct ProxyShared {
    state: Mutex<ProxyState>,
    resumed: Condvar,
}

#[derive(Default)]
struct ProxyState {
    is_stalled: bool,
    trigger: Option<FaultTrigger>,
    fired_faults: usize,
    open_streams: Vec<TcpStream>,
}

/// A fault that fires at the next message with a text, after `skip` such messages have passed.
#[derive(Clone, Copy)]
struct FaultTrigger {
    text: &'static str,
    skip: usize,
    fault: ProxyFault,
}

/// The direction in which a connection is forwarded.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    ToServer,
    ToClient,
}

impl FaultProxy {
    pub(crate) fn in_front_of(url: &str) -> Self {
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

    /// Returns the URL of the same database through the proxy.
    pub(crate) fn url(&self, url: &str) -> String {
        let proxied = url.replace(host_and_port(url), &format!("127.0.0.1:{}", self.port));
        format!("{proxied}?connect_timeout=1&sslmode=disable")
    }

    /// Lets `skip` more messages with this text pass, and fires at the next one.
    pub(crate) fn arm_fault(&self, text: &'static str, skip: usize, fault: ProxyFault) {
        self.shared.state.lock().unwrap().trigger = Some(FaultTrigger { text, skip, fault });
    }

    pub(crate) fn stall(&self) {
        self.shared.state.lock().unwrap().is_stalled = true;
    }

    pub(crate) fn resume(&self) {
        self.shared.state.lock().unwrap().is_stalled = false;
        self.shared.resumed.notify_all();
    }

    /// Returns the number of faults that fired.
    pub(crate) fn fired_faults(&self) -> usize {
        self.shared.state.lock().unwrap().fired_faults
    }
}

/// Returns the address in `postgres://user@host:port/database`, the format of the test server's URL.
fn host_and_port(url: &str) -> &str {
    let address = url.split_once("://").map_or(url, |(_, rest)| rest);
    let address = address.rsplit_once('@').map_or(address, |(_, rest)| rest);
    address.split('/').next().unwrap()
}

impl ProxyShared {
    fn forward(self: &Arc<Self>, client: &TcpStream, server: &TcpStream) {
        for stream in [client, server] {
            self.state.lock().unwrap().open_streams.push(stream.try_clone().unwrap());
        }
        for (from, to, direction) in
            [(client, server, Direction::ToServer), (server, client, Direction::ToClient)]
        {
            let shared = Arc::clone(self);
            let (from, to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
            std::thread::spawn(move || shared.copy_bytes(from, to, direction));
        }
    }

    fn copy_bytes(&self, mut from: TcpStream, mut to: TcpStream, direction: Direction) {
        let mut bytes = vec![0; 64 * 1024];
        while let Ok(count @ 1..) = from.read(&mut bytes) {
            let fault = match direction {
                Direction::ToServer => self.take_fault(&bytes[..count]),
                Direction::ToClient => None,
            };
            match fault {
                Some(ProxyFault::CutBefore) => return self.cut_connections(),
                Some(ProxyFault::CutAfter) => {
                    // the client first: an answer must not overtake the cut
                    self.cut_clients_of(&to);
                    to.write_all(&bytes[..count]).ok();
                    return;
                }
                Some(ProxyFault::Stall) | None => {}
            }
            let state = self.state.lock().unwrap();
            drop(self.resumed.wait_while(state, |state| state.is_stalled).unwrap());
            if to.write_all(&bytes[..count]).is_err() {
                break;
            }
        }
        from.shutdown(Shutdown::Both).ok();
        to.shutdown(Shutdown::Both).ok();
    }

    fn take_fault(&self, bytes: &[u8]) -> Option<ProxyFault> {
        let mut state = self.state.lock().unwrap();
        let FaultTrigger { text, skip, fault } = state.trigger?;
        if !bytes.windows(text.len()).any(|window| window == text.as_bytes()) {
            return None;
        }
        state.trigger = skip.checked_sub(1).map(|skip| FaultTrigger { text, skip, fault });
        if state.trigger.is_some() {
            return None;
        }
        state.fired_faults += 1;
        state.is_stalled |= fault == ProxyFault::Stall;
        Some(fault)
    }

    fn cut_connections(&self) {
        for stream in self.state.lock().unwrap().open_streams.drain(..) {
            stream.shutdown(Shutdown::Both).ok();
        }
    }

    /// Closes only the client's side, so that the server still processes what it has received.
    fn cut_clients_of(&self, server: &TcpStream) {
        let server = server.peer_addr().ok();
        for stream in self.state.lock().unwrap().open_streams.drain(..) {
            if stream.peer_addr().ok() != server {
                stream.shutdown(Shutdown::Both).ok();
            }
        }
    }
}
