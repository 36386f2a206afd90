//! Under which names this site may be asked.
//!
//! A page elsewhere can have a browser send requests here, under any name that its owner lets point to this
//! machine. It cannot forge the name, so only ours are answered.

use std::net::{IpAddr, SocketAddr};

/// The names and addresses that are ours.
#[derive(Debug, Clone)]
pub struct Hosts {
    port: u16,
    names: Vec<String>,
}

impl Hosts {
    /// The loopback names, the address that is listened at, and these names besides.
    pub fn of(address: SocketAddr, also: &[String]) -> Self {
        let mut names: Vec<String> =
            ["localhost", "127.0.0.1", "[::1]"].map(str::to_owned).to_vec();
        names.push(shown(address.ip()));
        names.extend(also.iter().map(|name| name.to_ascii_lowercase()));
        Self { port: address.port(), names }
    }

    /// Whether a `Host` header is ours: one of the names with our port, or a name whose port is another one,
    /// because somebody in front of us forwards.
    pub(crate) fn is_ours(&self, host: &str) -> bool {
        let host = host.to_ascii_lowercase();
        let with_port = |name: &String| {
            host.strip_prefix(name.as_str())
                .is_some_and(|rest| rest == format!(":{}", self.port) || self.is_bare(name, rest))
        };
        self.names.iter().any(with_port)
    }

    /// Whether an `Origin` header is ours.
    pub(crate) fn is_our_origin(&self, origin: &str) -> bool {
        let host = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
        host.is_some_and(|host| self.is_ours(host))
    }

    /// A browser leaves the usual port out.
    fn is_bare(&self, name: &str, rest: &str) -> bool {
        rest.is_empty() && (self.port == 80 || self.is_added(name))
    }

    /// Names that a person added may be a proxy's, or carry a port of their own.
    fn is_added(&self, name: &str) -> bool {
        self.names.iter().skip(4).any(|added| added == name)
    }
}

/// An address as it stands in a URL.
fn shown(address: IpAddr) -> String {
    match address {
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(address) => format!("[{address}]"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_names_with_our_port_are_ours() {
        let hosts = Hosts::of(SocketAddr::from(([127, 0, 0, 1], 8080)), &[]);
        for host in ["localhost:8080", "LOCALHOST:8080", "127.0.0.1:8080", "[::1]:8080"] {
            assert!(hosts.is_ours(host), "{host}");
        }
        for host in [
            "",
            "localhost",
            "localhost:80",
            "localhost:80800",
            "evil.example:8080",
            "localhost.evil.example:8080",
            "127.0.0.1.evil.example:8080",
            "evil.example",
            "127.0.0.1:8080@evil.example",
        ] {
            assert!(!hosts.is_ours(host), "{host}");
        }
    }

    #[test]
    fn a_name_that_was_added_may_stand_behind_a_proxy() {
        let also = ["Box.example".to_owned(), "other.example:9".to_owned()];
        let hosts = Hosts::of(SocketAddr::from(([192, 0, 2, 7], 8080)), &also);
        for host in ["box.example", "box.example:8080", "other.example:9", "192.0.2.7:8080"] {
            assert!(hosts.is_ours(host), "{host}");
        }
        assert!(!hosts.is_ours("192.0.2.7") && !hosts.is_ours("box.example:81"));
    }

    #[test]
    fn the_usual_port_needs_no_saying() {
        let hosts = Hosts::of(SocketAddr::from(([127, 0, 0, 1], 80)), &[]);
        assert!(hosts.is_ours("localhost") && hosts.is_ours("localhost:80"));
    }

    #[test]
    fn an_origin_is_a_host_with_a_scheme() {
        let hosts = Hosts::of(SocketAddr::from(([127, 0, 0, 1], 8080)), &[]);
        assert!(hosts.is_our_origin("http://localhost:8080"));
        for origin in ["null", "localhost:8080", "file://", "http://evil.example", ""] {
            assert!(!hosts.is_our_origin(origin), "{origin}");
        }
    }
}
