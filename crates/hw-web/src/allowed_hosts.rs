//! Checks the `Host` and `Origin` headers of requests against the names of this site.
//!
//! A foreign page can make a browser send requests here, under any name whose DNS record points to this machine.
//! It cannot forge the name itself, so only requests for our own names are answered.

use std::net::{IpAddr, SocketAddr};

/// The host names and addresses of this site.
#[derive(Debug, Clone)]
pub struct AllowedHosts {
    port: u16,
    /// The loopback names and the listening address.
    own_names: Vec<String>,
    /// Names that the user added. Each may belong to a proxy, or carry a port of its own.
    added_names: Vec<String>,
}

impl AllowedHosts {
    /// Allows the loopback names, the listening address, and the names that the user added.
    pub fn new(address: SocketAddr, added: &[String]) -> Self {
        let mut own_names: Vec<String> =
            ["localhost", "127.0.0.1", "[::1]"].map(str::to_owned).to_vec();
        own_names.push(format_host(address.ip()));
        let added_names = added.iter().map(|name| name.to_ascii_lowercase()).collect();
        Self { port: address.port(), own_names, added_names }
    }

    /// Checks a `Host` header: one of our names with our port, or a port that may be omitted.
    ///
    /// A browser omits port 80. An added name may be that of a proxy on another port, or include the port already.
    pub(crate) fn is_allowed(&self, host: &str) -> bool {
        let host = host.to_ascii_lowercase();
        self.own_names.iter().any(|name| self.is_name_with_port(&host, name, self.port == 80))
            || self.added_names.iter().any(|name| self.is_name_with_port(&host, name, true))
    }

    fn is_name_with_port(&self, host: &str, name: &str, can_omit_port: bool) -> bool {
        host.strip_prefix(name).is_some_and(|rest| {
            rest == format!(":{}", self.port) || (can_omit_port && rest.is_empty())
        })
    }

    /// Checks an `Origin` header.
    pub(crate) fn is_allowed_origin(&self, origin: &str) -> bool {
        let host = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
        host.is_some_and(|host| self.is_allowed(host))
    }
}

/// Formats an address as a URL contains it.
fn format_host(address: IpAddr) -> String {
    match address {
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(address) => format!("[{address}]"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn allowed_hosts_are_own_names_with_own_port() {
        let hosts = AllowedHosts::new(SocketAddr::from(([127, 0, 0, 1], 8080)), &[]);
        for host in ["localhost:8080", "LOCALHOST:8080", "127.0.0.1:8080", "[::1]:8080"] {
            assert!(hosts.is_allowed(host), "{host}");
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
            assert!(!hosts.is_allowed(host), "{host}");
        }
    }

    #[test]
    fn allowed_hosts_accept_added_names_without_port() {
        let added = ["Box.example".to_owned(), "other.example:9".to_owned()];
        let hosts = AllowedHosts::new(SocketAddr::from(([192, 0, 2, 7], 8080)), &added);
        for host in ["box.example", "box.example:8080", "other.example:9", "192.0.2.7:8080"] {
            assert!(hosts.is_allowed(host), "{host}");
        }
        assert!(!hosts.is_allowed("192.0.2.7") && !hosts.is_allowed("box.example:81"));
    }

    #[test]
    fn allowed_hosts_may_omit_port_80() {
        let hosts = AllowedHosts::new(SocketAddr::from(([127, 0, 0, 1], 80)), &[]);
        assert!(hosts.is_allowed("localhost") && hosts.is_allowed("localhost:80"));
    }

    #[test]
    fn allowed_origins_are_hosts_with_a_scheme() {
        let hosts = AllowedHosts::new(SocketAddr::from(([127, 0, 0, 1], 8080)), &[]);
        assert!(hosts.is_allowed_origin("http://localhost:8080"));
        for origin in ["null", "localhost:8080", "file://", "http://evil.example", ""] {
            assert!(!hosts.is_allowed_origin(origin), "{origin}");
        }
    }
}
