//! Host names and hints for the commands that listen on a port, `ui` and `mcp`.

use std::io::{Error, ErrorKind};
use std::net::IpAddr;

use crate::api_endpoints::is_host_char;

/// Parses a host name, with or without a port.
pub(crate) fn parse_host_name(text: &str) -> Result<String, String> {
    if text.is_empty() || !text.chars().all(|c| is_host_char(c) || c == '_') {
        return Err("expected a host name, such as box.example or box.example:8765".to_owned());
    }
    Ok(text.to_owned())
}

/// Parses the address of a network interface.
pub(crate) fn parse_ip_address(text: &str) -> Result<IpAddr, String> {
    text.parse().map_err(|_| format!("expected an IP address, got {text:?}"))
}

/// Returns the hint for a failed bind; `port` and `address` are the flags that set them.
pub(crate) fn listen_hint(error: &Error, port: &str, address: &str) -> String {
    let kind = error.kind();
    if kind == ErrorKind::AddrInUse {
        format!(
            "another program uses that port; choose another one with {port}, or any free one with {port} 0"
        )
    } else if kind == ErrorKind::AddrNotAvailable {
        format!("{address} must be an address of this machine")
    } else if kind == ErrorKind::PermissionDenied {
        format!("ports below 1024 are often reserved; choose another one with {port}")
    } else if port == address {
        format!("choose another address with {address}")
    } else {
        format!("choose another port with {port}, or another address with {address}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn host_name_is_not_a_url() {
        for name in ["box.example", "box.example:80", "[::1]:80", "192.0.2.1"] {
            assert_eq!(parse_host_name(name).as_deref(), Ok(name));
        }
        for text in ["", "http://box.example", "box.example/", "a b", "*"] {
            assert!(parse_host_name(text).is_err(), "{text}");
        }
    }

    #[test]
    fn listen_hint_depends_on_the_error() {
        let not_local = Error::from(ErrorKind::AddrNotAvailable);
        assert_eq!(
            listen_hint(&not_local, "--http", "--http"),
            "--http must be an address of this machine"
        );
        let in_use = listen_hint(&Error::from(ErrorKind::AddrInUse), "--http", "--http");
        assert!(in_use.ends_with("or any free one with --http 0"), "{in_use}");
    }
}
