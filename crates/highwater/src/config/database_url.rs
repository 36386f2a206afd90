//! Checks database URLs, and finds and masks the passwords in them.

/// The keywords that libpq accepts in `host=… dbname=…`. A text that starts with one of them is never
/// treated as a file name, because it may carry a password.
const POSTGRES_KEYWORDS: [&str; 36] = [
    "application_name",
    "channel_binding",
    "client_encoding",
    "connect_timeout",
    "dbname",
    "fallback_application_name",
    "gssdelegation",
    "gssencmode",
    "gsslib",
    "host",
    "hostaddr",
    "keepalives",
    "keepalives_count",
    "keepalives_idle",
    "keepalives_interval",
    "keepalives_retries",
    "krbsrvname",
    "load_balance_hosts",
    "options",
    "passfile",
    "password",
    "port",
    "replication",
    "require_auth",
    "requirepeer",
    "requiressl",
    "service",
    "sslcert",
    "sslkey",
    "sslmode",
    "sslnegotiation",
    "sslpassword",
    "sslrootcert",
    "target_session_attrs",
    "tcp_user_timeout",
    "user",
];

/// Checks that the text names a database that highwater can open.
pub(super) fn check_database_url(text: &str) -> Result<(), String> {
    if is_postgres(text) {
        return hw_store::check_postgres_url(text);
    }
    match text.split_once("://") {
        _ if text.is_empty() => Err("must not be empty".to_owned()),
        Some((scheme, _)) => {
            Err(format!("{scheme}:// is not supported; use a file or postgres://…"))
        }
        None => Ok(()),
    }
}

/// Returns true if the text names a PostgreSQL database, as a URL or as `host=… dbname=…`.
pub(crate) fn is_postgres(text: &str) -> bool {
    text.starts_with("postgres://") || text.starts_with("postgresql://") || is_keyword_string(text)
}

fn is_keyword_string(text: &str) -> bool {
    let Some((keyword, _)) = text.split_once('=') else { return false };
    POSTGRES_KEYWORDS.contains(&keyword.trim().to_ascii_lowercase().as_str())
}

/// Returns the passwords in a PostgreSQL URL, exactly as written.
pub(crate) fn find_passwords(text: &str) -> Vec<&str> {
    if is_keyword_string(text) {
        return find_keyword_passwords(text);
    }
    let Some((_, rest)) = text.split_once("://") else { return Vec::new() };
    let (authority, query) = rest.split_once('?').unwrap_or((rest, ""));
    let user = authority.rsplit_once('@').map(|(user, _)| user);
    let user_password = user.and_then(|user| Some(user.split_once(':')?.1));
    let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    let in_query = pairs.filter(|(name, _)| *name == "password").map(|(_, value)| value);
    user_password.into_iter().chain(in_query).filter(|password| !password.is_empty()).collect()
}

/// Returns the values of `password=…` and `sslpassword=…`, without their quotes.
pub(crate) fn find_keyword_passwords(text: &str) -> Vec<&str> {
    const KEYWORD: &str = "password";
    let lower = text.to_ascii_lowercase();
    let values = lower.match_indices(KEYWORD).filter_map(|(at, _)| {
        let value = text.get(at + KEYWORD.len()..)?.trim_start().strip_prefix('=')?;
        Some(first_value(value.trim_start()))
    });
    values.filter(|value| !value.is_empty()).collect()
}

/// Returns the text up to the first unescaped space, or the inside of its quotes if it is quoted.
fn first_value(text: &str) -> &str {
    let (text, end) = match text.strip_prefix('\'') {
        Some(quoted) => (quoted, '\''),
        None => (text, ' '),
    };
    let mut is_escaped = false;
    let length = text.find(|c: char| {
        let ends = !is_escaped && (c == end || (end == ' ' && c.is_whitespace()));
        is_escaped = !is_escaped && c == '\\';
        ends
    });
    &text[..length.unwrap_or(text.len())]
}

/// Returns the URL with each password replaced by `[masked]`.
pub(crate) fn mask_passwords(text: &str) -> String {
    let mut masked = text.to_owned();
    if is_keyword_string(text) {
        return find_passwords(text)
            .iter()
            .fold(masked, |masked, password| masked.replace(password, "[masked]"));
    }
    for password in find_passwords(text) {
        for (before, after) in [(":", "@"), ("password=", "")] {
            masked = masked.replace(
                &format!("{before}{password}{after}"),
                &format!("{before}[masked]{after}"),
            );
        }
    }
    masked
}

/// Returns the URL without its passwords, for another program that prompts for them itself.
pub(crate) fn strip_passwords(text: &str) -> String {
    let mut stripped = text.to_owned();
    for password in find_passwords(text) {
        let replacements = [
            (format!(":{password}@"), "@"),
            (format!("password='{password}'"), ""),
            (format!("password={password}&"), ""),
            (format!("&password={password}"), ""),
            (format!("password={password}"), ""),
        ];
        stripped = replacements
            .iter()
            .fold(stripped, |stripped, (with, without)| stripped.replace(with, without));
    }
    stripped.trim_end_matches([' ', '?']).to_owned()
}

/// Returns a password with its `%` escapes decoded.
pub(crate) fn decode_percent(password: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = password;
    while let Some(first) = rest.bytes().next() {
        let escaped = rest.get(1..3).filter(|_| first == b'%');
        match escaped.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &rest[3..];
            }
            None => {
                let length = rest.chars().next().map_or(1, char::len_utf8);
                bytes.extend_from_slice(&rest.as_bytes()[..length]);
                rest = &rest[length..];
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn database_url_with_another_scheme_is_rejected() {
        for fine in ["acme.db", "./a/b.db", "postgres://host/db", "postgresql://host/db"] {
            assert_eq!(check_database_url(fine), Ok(()), "{fine}");
        }
        for wrong in ["", "mysql://host/db", "sqlite://a.db", "POSTGRES://host/db", "postgres://"] {
            assert!(check_database_url(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn database_password_is_found_in_each_part_of_the_url() {
        assert_eq!(find_passwords("postgres://me:s3%40t@h:1/db"), ["s3%40t"]);
        assert_eq!(find_passwords("postgres://me@h/db?sslmode=x&password=b"), ["b"]);
        assert_eq!(find_passwords("postgres://me:p@ss@h/db"), ["p@ss"]);
        assert!(
            find_passwords("postgres://h:1/db").is_empty()
                && find_passwords("/a/b:c@d.db").is_empty()
        );
        assert_eq!(decode_percent("s3%40t%"), "s3@t%");
    }

    #[test]
    fn keyword_string_is_a_database_not_a_file() {
        for fine in ["host=localhost dbname=x password=s", "dbname = x host = h", "port=1 host=h"] {
            assert!(is_postgres(fine) && check_database_url(fine) == Ok(()), "{fine}");
        }
        for wrong in ["service=mine", "host=h nonsense=1", "host=h port=many", "HOST=h"] {
            assert!(is_postgres(wrong) && check_database_url(wrong).is_err(), "{wrong}");
        }
        for file in ["a=b.db", "./host=x.db", "my.db"] {
            assert!(!is_postgres(file) && check_database_url(file) == Ok(()), "{file}");
        }
    }

    #[test]
    fn password_in_a_keyword_string_is_found_with_and_without_quotes() {
        assert_eq!(find_passwords("host=h password=s3cret user=me"), ["s3cret"]);
        assert_eq!(find_passwords("password = 's3 c\\'ret' host=h"), ["s3 c\\'ret"]);
        assert_eq!(find_passwords("host=h sslpassword=k3y"), ["k3y"]);
        assert!(find_passwords("host=h user=me").is_empty());
    }

    #[test]
    fn database_url_is_masked_and_stripped_of_its_passwords() {
        assert_eq!(mask_passwords("postgres://me:s3@h:1/db"), "postgres://me:[masked]@h:1/db");
        assert_eq!(
            mask_passwords("postgres://h/db?password=s3"),
            "postgres://h/db?password=[masked]"
        );
        assert_eq!(mask_passwords("./some.db"), "./some.db");
        for (text, stripped) in [
            ("postgres://me:s3@h:1/db", "postgres://me@h:1/db"),
            ("postgres://h/db?password=s3", "postgres://h/db"),
            ("postgres://h/db?sslmode=disable&password=s3", "postgres://h/db?sslmode=disable"),
            ("host=h dbname=x password='s3 cret'", "host=h dbname=x"),
        ] {
            assert_eq!(strip_passwords(text), stripped);
        }
        let keywords = "host=h password='s3 cret' dbname=x";
        assert_eq!(mask_passwords(keywords), "host=h password='[masked]' dbname=x");
    }
}
