//! A database's address, and the passwords in it.

/// The words that PostgreSQL's own programs know in `host=… dbname=…`. A text that begins with one of them is never
/// taken for the name of a file: it may carry a password.
const KEYWORDS: [&str; 36] = [
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

/// Returns what is wrong with a database's name, if anything is.
pub(super) fn check(text: &str) -> Result<(), String> {
    if is_keyword_string(text) {
        return hw_store::check_postgres(text);
    }
    match text.split_once("://") {
        _ if text.is_empty() => Err("it is empty".to_owned()),
        Some((scheme, _)) if !matches!(scheme, "postgres" | "postgresql") => {
            Err(format!("{scheme}:// is no database of ours: name a file, or postgres://…"))
        }
        Some(_) | None => Ok(()),
    }
}

/// Whether it names a PostgreSQL database, as a URL or as `host=… dbname=…`.
pub(crate) fn is_postgres(text: &str) -> bool {
    text.starts_with("postgres://") || text.starts_with("postgresql://") || is_keyword_string(text)
}

fn is_keyword_string(text: &str) -> bool {
    let Some((keyword, _)) = text.split_once('=') else { return false };
    KEYWORDS.contains(&keyword.trim().to_ascii_lowercase().as_str())
}

/// The passwords in a PostgreSQL address, as they stand there.
pub(crate) fn passwords(text: &str) -> Vec<&str> {
    if is_keyword_string(text) {
        return passwords_by_keyword(text);
    }
    let Some((_, rest)) = text.split_once("://") else { return Vec::new() };
    let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
    let user = place.rsplit_once('@').map(|(user, _)| user);
    let of_user = user.and_then(|user| Some(user.split_once(':')?.1));
    let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    let in_query = pairs.filter(|(name, _)| *name == "password").map(|(_, value)| value);
    of_user.into_iter().chain(in_query).filter(|password| !password.is_empty()).collect()
}

/// The values of `password=…` and `sslpassword=…`, without their quotes.
pub(crate) fn passwords_by_keyword(text: &str) -> Vec<&str> {
    const SIGN: &str = "password";
    let lower = text.to_ascii_lowercase();
    let values = lower.match_indices(SIGN).filter_map(|(at, _)| {
        let value = text.get(at + SIGN.len()..)?.trim_start().strip_prefix('=')?;
        Some(first_value(value.trim_start()))
    });
    values.filter(|value| !value.is_empty()).collect()
}

/// A value ends with a space, or where its quotes end; a backslash hides either.
fn first_value(text: &str) -> &str {
    let (text, end) = match text.strip_prefix('\'') {
        Some(quoted) => (quoted, '\''),
        None => (text, ' '),
    };
    let mut is_hidden = false;
    let length = text.find(|c: char| {
        let ends = !is_hidden && (c == end || (end == ' ' && c.is_whitespace()));
        is_hidden = !is_hidden && c == '\\';
        ends
    });
    &text[..length.unwrap_or(text.len())]
}

/// The address for people.
pub(crate) fn shown(text: &str) -> String {
    let mut shown = text.to_owned();
    if is_keyword_string(text) {
        return passwords(text).iter().fold(shown, |shown, it| shown.replace(it, "[masked]"));
    }
    for password in passwords(text) {
        for (before, after) in [(":", "@"), ("password=", "")] {
            shown = shown.replace(
                &format!("{before}{password}{after}"),
                &format!("{before}[masked]{after}"),
            );
        }
    }
    shown
}

/// The address without its passwords, for another program that asks for them itself.
pub(crate) fn without_password(text: &str) -> String {
    let mut plain = text.to_owned();
    for password in passwords(text) {
        let ways = [
            (format!(":{password}@"), "@"),
            (format!("password='{password}'"), ""),
            (format!("password={password}&"), ""),
            (format!("&password={password}"), ""),
            (format!("password={password}"), ""),
        ];
        plain = ways.iter().fold(plain, |plain, (with, without)| plain.replace(with, without));
    }
    plain.trim_end_matches([' ', '?']).to_owned()
}

/// A password without its `%` escapes.
pub(crate) fn decoded(password: &str) -> String {
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
    fn an_address_of_another_database_is_no_file() {
        for fine in ["acme.db", "./a/b.db", "postgres://host/db", "postgresql://host/db"] {
            assert_eq!(check(fine), Ok(()), "{fine}");
        }
        for wrong in ["", "mysql://host/db", "sqlite://a.db", "POSTGRES://host/db"] {
            assert!(check(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_password_is_found_wherever_it_stands() {
        assert_eq!(passwords("postgres://me:s3%40t@h:1/db"), ["s3%40t"]);
        assert_eq!(passwords("postgres://me@h/db?sslmode=x&password=b"), ["b"]);
        assert_eq!(passwords("postgres://me:p@ss@h/db"), ["p@ss"]);
        assert!(passwords("postgres://h:1/db").is_empty() && passwords("/a/b:c@d.db").is_empty());
        assert_eq!(decoded("s3%40t%"), "s3@t%");
    }

    #[test]
    fn keyword_string_is_a_database_and_no_file() {
        for fine in ["host=localhost dbname=x password=s", "dbname = x host = h", "port=1 host=h"] {
            assert!(is_postgres(fine) && check(fine) == Ok(()), "{fine}");
        }
        for wrong in ["service=mine", "host=h nonsense=1", "host=h port=many", "HOST=h"] {
            assert!(is_postgres(wrong) && check(wrong).is_err(), "{wrong}");
        }
        for file in ["a=b.db", "./host=x.db", "my.db"] {
            assert!(!is_postgres(file) && check(file) == Ok(()), "{file}");
        }
    }

    #[test]
    fn password_in_a_keyword_string_is_found_with_and_without_quotes() {
        assert_eq!(passwords("host=h password=s3cret user=me"), ["s3cret"]);
        assert_eq!(passwords("password = 's3 c\\'ret' host=h"), ["s3 c\\'ret"]);
        assert_eq!(passwords("host=h sslpassword=k3y"), ["k3y"]);
        assert!(passwords("host=h user=me").is_empty());
    }

    #[test]
    fn an_address_is_shown_without_it() {
        assert_eq!(shown("postgres://me:s3@h:1/db"), "postgres://me:[masked]@h:1/db");
        assert_eq!(shown("postgres://h/db?password=s3"), "postgres://h/db?password=[masked]");
        assert_eq!(shown("./some.db"), "./some.db");
        for (text, plain) in [
            ("postgres://me:s3@h:1/db", "postgres://me@h:1/db"),
            ("postgres://h/db?password=s3", "postgres://h/db"),
            ("postgres://h/db?sslmode=disable&password=s3", "postgres://h/db?sslmode=disable"),
            ("host=h dbname=x password='s3 cret'", "host=h dbname=x"),
        ] {
            assert_eq!(without_password(text), plain);
        }
        let keywords = "host=h password='s3 cret' dbname=x";
        assert_eq!(shown(keywords), "host=h password='[masked]' dbname=x");
    }
}
