//! Parses requests.

/// The parts of a request that the simulated service uses.
#[derive(Debug)]
pub(crate) struct ReceivedRequest<'a> {
    pub(crate) method: &'a str,
    /// Without the query string, and without the prefix of an Enterprise Server.
    pub(crate) path: &'a str,
    prefix: &'a str,
    query: &'a str,
    headers: Vec<(&'a str, &'a [u8])>,
    pub(crate) body: &'a [u8],
}

impl<'a> ReceivedRequest<'a> {
    /// Parses a request; returns `None` if the bytes are not a complete HTTP/1.1 request.
    pub(crate) fn parse(bytes: &'a [u8]) -> Option<Self> {
        let mut headers = [httparse::EMPTY_HEADER; 64];
        let mut parsed = httparse::Request::new(&mut headers);
        let httparse::Status::Complete(start) = parsed.parse(bytes).ok()? else { return None };
        let target = parsed.path?;
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let stripped = strip_enterprise_prefix(path);
        Some(Self {
            method: parsed.method?,
            path: stripped,
            prefix: path.strip_suffix(stripped).filter(|prefix| *prefix == "/api/v3").unwrap_or(""),
            query,
            headers: parsed.headers.iter().map(|header| (header.name, header.value)).collect(),
            body: bytes.get(start..)?,
        })
    }

    pub(crate) fn header(&self, name: &str) -> Option<&'a str> {
        let mut headers = self.headers.iter();
        let (_, value) = headers.find(|(key, _)| key.eq_ignore_ascii_case(name))?;
        std::str::from_utf8(value).ok().map(str::trim)
    }

    pub(crate) fn is_graphql(&self) -> bool {
        self.path == "/graphql"
    }

    /// Returns the start of links in responses; a loopback server uses plain HTTP.
    pub(crate) fn base_url(&self) -> String {
        let host = self.header("host").unwrap_or("api.github.com");
        let is_local = host.starts_with("127.") || host.starts_with("localhost");
        format!("{}://{host}{}", if is_local { "http" } else { "https" }, self.prefix)
    }

    /// Returns a parameter of the query string, decoded.
    pub(crate) fn parameter(&self, name: &str) -> Option<String> {
        self.repeated_parameter(name).next()
    }

    /// Returns each value of a parameter that may be repeated, decoded.
    pub(crate) fn repeated_parameter(&self, name: &str) -> impl Iterator<Item = String> {
        let pairs = self.query.split('&').filter_map(|pair| pair.split_once('='));
        pairs.filter(move |(key, _)| *key == name).map(|(_, value)| decode_parameter(value))
    }

    /// Returns all parameters except the page, still encoded; a link to another page repeats them.
    pub(crate) fn query_without_page(&self) -> String {
        let pairs = self.query.split('&').filter(|pair| !pair.is_empty());
        pairs.filter(|pair| !pair.starts_with("page=")).collect::<Vec<_>>().join("&")
    }

    /// Returns a parameter that is a number.
    pub(crate) fn number_parameter(&self, name: &str) -> Option<usize> {
        self.parameter(name)?.parse().ok()
    }

    /// Returns path and query, for the log.
    pub(crate) fn path_and_query(&self) -> String {
        if self.query.is_empty() {
            self.path.to_owned()
        } else {
            format!("{}?{}", self.path, self.query)
        }
    }
}

fn strip_enterprise_prefix(path: &str) -> &str {
    match path.strip_prefix("/api/v3") {
        Some("") => "/",
        Some(rest) => rest,
        None if path == "/api/graphql" => "/graphql",
        None => path,
    }
}

fn decode_parameter(value: &str) -> String {
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
    fn request_parameters_are_decoded_and_the_page_is_left_out_of_links() {
        let bytes =
            b"GET /api/v3/user?since=2026-01-02T03%3A04%3A05Z&page=2&x=a+b HTTP/1.1\r\n\r\n";
        let request = ReceivedRequest::parse(bytes).unwrap();
        assert_eq!(request.path, "/user");
        assert_eq!(request.parameter("since").as_deref(), Some("2026-01-02T03:04:05Z"));
        assert_eq!(request.query_without_page(), "since=2026-01-02T03%3A04%3A05Z&x=a+b");
    }
}
