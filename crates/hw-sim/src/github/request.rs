//! A request, as its bytes say.

/// What the simulated service looks at in a request.
#[derive(Debug)]
pub(crate) struct Request<'a> {
    pub(crate) method: &'a str,
    /// Without the query string, and without the prefix of an Enterprise Server.
    pub(crate) path: &'a str,
    prefix: &'a str,
    query: &'a str,
    headers: Vec<(&'a str, &'a [u8])>,
    pub(crate) body: &'a [u8],
}

impl<'a> Request<'a> {
    /// The request in these bytes; `None` if they are not a whole HTTP/1.1 request.
    pub(crate) fn parse(bytes: &'a [u8]) -> Option<Self> {
        let mut headers = [httparse::EMPTY_HEADER; 64];
        let mut parsed = httparse::Request::new(&mut headers);
        let httparse::Status::Complete(start) = parsed.parse(bytes).ok()? else { return None };
        let target = parsed.path?;
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let stripped = strip_prefix(path);
        Some(Self {
            method: parsed.method?,
            path: stripped,
            prefix: path.strip_suffix(stripped).filter(|it| *it == "/api/v3").unwrap_or(""),
            query,
            headers: parsed.headers.iter().map(|header| (header.name, header.value)).collect(),
            body: bytes.get(start..)?,
        })
    }

    pub(crate) fn header(&self, name: &str) -> Option<&'a str> {
        let mut headers = self.headers.iter();
        let (_, value) = headers.find(|(held, _)| held.eq_ignore_ascii_case(name))?;
        std::str::from_utf8(value).ok().map(str::trim)
    }

    pub(crate) fn is_graphql(&self) -> bool {
        self.path == "/graphql"
    }

    /// What links in answers begin with; a loopback server speaks plain HTTP.
    pub(crate) fn base(&self) -> String {
        let host = self.header("host").unwrap_or("api.github.com");
        let local = host.starts_with("127.") || host.starts_with("localhost");
        format!("{}://{host}{}", if local { "http" } else { "https" }, self.prefix)
    }

    /// A parameter of the query string, decoded.
    pub(crate) fn parameter(&self, name: &str) -> Option<String> {
        let pairs = self.query.split('&').filter_map(|pair| pair.split_once('='));
        pairs.into_iter().find(|(key, _)| *key == name).map(|(_, value)| decode(value))
    }

    /// All parameters but the page, as they came; a link to another page repeats them.
    pub(crate) fn parameters_but_page(&self) -> String {
        let kept = self.query.split('&').filter(|pair| !pair.is_empty());
        kept.filter(|pair| !pair.starts_with("page=")).collect::<Vec<_>>().join("&")
    }

    /// A number among the parameters.
    pub(crate) fn number(&self, name: &str) -> Option<usize> {
        self.parameter(name)?.parse().ok()
    }

    /// Path and query, for the log.
    pub(crate) fn target(&self) -> String {
        if self.query.is_empty() {
            self.path.to_owned()
        } else {
            format!("{}?{}", self.path, self.query)
        }
    }
}

fn strip_prefix(path: &str) -> &str {
    match path.strip_prefix("/api/v3") {
        Some("") => "/",
        Some(rest) => rest,
        None if path == "/api/graphql" => "/graphql",
        None => path,
    }
}

fn decode(value: &str) -> String {
    let mut bytes = Vec::with_capacity(value.len());
    let mut rest = value.as_bytes();
    while let [first, tail @ ..] = rest {
        rest = tail;
        match (first, tail) {
            (b'+', _) => bytes.push(b' '),
            (b'%', [high, low, after @ ..]) => {
                let digits = [*high, *low];
                let digits = std::str::from_utf8(&digits).unwrap_or("");
                if let Ok(byte) = u8::from_str_radix(digits, 16) {
                    bytes.push(byte);
                    rest = after;
                } else {
                    bytes.push(b'%');
                }
            }
            (byte, _) => bytes.push(*byte),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parameter_is_decoded_and_the_page_left_out_of_links() {
        let bytes =
            b"GET /api/v3/user?since=2026-01-02T03%3A04%3A05Z&page=2&x=a+b HTTP/1.1\r\n\r\n";
        let request = Request::parse(bytes).unwrap();
        assert_eq!(request.path, "/user");
        assert_eq!(request.parameter("since").as_deref(), Some("2026-01-02T03:04:05Z"));
        assert_eq!(request.parameters_but_page(), "since=2026-01-02T03%3A04%3A05Z&x=a+b");
    }
}
