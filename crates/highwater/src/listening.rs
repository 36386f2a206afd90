//! What `ui` and `mcp` have in common where they listen: names of hosts, and what helps when it cannot be done.

use std::io::{Error, ErrorKind};

/// A host's name, with or without a port.
pub(crate) fn host(text: &str) -> Result<String, String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-._:[]".contains(c);
    if text.is_empty() || !text.chars().all(plain) {
        return Err("not a host's name, such as box.example or box.example:8765".to_owned());
    }
    Ok(text.to_owned())
}

/// What helps when an address cannot be listened at; `port` and `address` are the options that name them.
pub(crate) fn hint(error: &Error, port: &str, address: &str) -> String {
    let kind = error.kind();
    if kind == ErrorKind::AddrInUse {
        format!(
            "another program has that port: choose one with {port}, or any that is free with {port} 0"
        )
    } else if kind == ErrorKind::AddrNotAvailable {
        format!("{address} takes an address of this machine")
    } else if kind == ErrorKind::PermissionDenied {
        format!("ports below 1024 are often kept for the system: choose another one with {port}")
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
    fn a_name_is_no_address_of_a_page() {
        for name in ["box.example", "box.example:80", "[::1]:80", "192.0.2.1"] {
            assert_eq!(host(name).as_deref(), Ok(name));
        }
        for text in ["", "http://box.example", "box.example/", "a b", "*"] {
            assert!(host(text).is_err(), "{text}");
        }
    }

    #[test]
    fn an_address_of_another_machine_is_no_port_that_is_taken() {
        let elsewhere = Error::from(ErrorKind::AddrNotAvailable);
        assert_eq!(hint(&elsewhere, "--http", "--http"), "--http takes an address of this machine");
        let taken = hint(&Error::from(ErrorKind::AddrInUse), "--http", "--http");
        assert!(taken.ends_with("or any that is free with --http 0"), "{taken}");
    }
}
