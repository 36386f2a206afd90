//! Names whose rate limits apply.

use std::fmt;

/// The user whose token sends the requests, at one host.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Principal {
    host: String,
    /// Unknown until the first response names it.
    user_id: Option<i64>,
}

impl Principal {
    /// Returns the principal of a token whose user is not known yet.
    pub fn from_host(host: &str) -> Self {
        Self { host: host.to_owned(), user_id: None }
    }

    pub fn from_user(host: &str, user_id: i64) -> Self {
        Self { host: host.to_owned(), user_id: Some(user_id) }
    }

    /// Parses the output of [`Display`](fmt::Display).
    pub fn parse(text: &str) -> Self {
        let user = text.rsplit_once('/').and_then(|(host, id)| Some((host, id.parse().ok()?)));
        user.map_or_else(|| Self::from_host(text), |(host, id)| Self::from_user(host, id))
    }

    pub fn host(&self) -> &str {
        &self.host
    }
}

/// Formats the principal as it is stored and printed.
impl fmt::Display for Principal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.user_id {
            None => f.write_str(&self.host),
            Some(id) => write!(f, "{}/{id}", self.host),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn principal_round_trips_through_its_text() {
        for principal in [
            Principal::from_host("github.com"),
            Principal::from_user("github.com", 7),
            Principal::from_user("ghe.example:8443", 7),
        ] {
            assert_eq!(Principal::parse(&principal.to_string()), principal);
        }
        assert_eq!(Principal::parse("github.com/ada"), Principal::from_host("github.com/ada"));
    }
}
