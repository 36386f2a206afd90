//! A database's address, and the passwords in it.

/// Says what is wrong with a database's name, if anything is.
pub(super) fn check(text: &str) -> Result<(), String> {
    match text.split_once("://") {
        _ if text.is_empty() => Err("it is empty".to_owned()),
        Some((scheme, _)) if !matches!(scheme, "postgres" | "postgresql") => {
            Err(format!("{scheme}:// is no database of ours: name a file, or postgres://…"))
        }
        Some(_) | None => Ok(()),
    }
}

/// The passwords in a PostgreSQL address, as they stand there.
pub(crate) fn passwords(url: &str) -> Vec<&str> {
    let Some((_, rest)) = url.split_once("://") else { return Vec::new() };
    let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
    let user = place.rsplit_once('@').map(|(user, _)| user);
    let of_user = user.and_then(|user| Some(user.split_once(':')?.1));
    let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    let in_query = pairs.filter(|(name, _)| *name == "password").map(|(_, value)| value);
    of_user.into_iter().chain(in_query).filter(|password| !password.is_empty()).collect()
}

/// The address for people.
pub(crate) fn shown(url: &str) -> String {
    let mut shown = url.to_owned();
    for password in passwords(url) {
        for (before, after) in [(":", "@"), ("password=", "")] {
            shown = shown.replace(
                &format!("{before}{password}{after}"),
                &format!("{before}[masked]{after}"),
            );
        }
    }
    shown
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
    fn an_address_is_shown_without_it() {
        assert_eq!(shown("postgres://me:s3@h:1/db"), "postgres://me:[masked]@h:1/db");
        assert_eq!(shown("postgres://h/db?password=s3"), "postgres://h/db?password=[masked]");
        assert_eq!(shown("./some.db"), "./some.db");
    }
}
