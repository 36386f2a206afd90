//! Decides whose comments count.

use crate::event::IgnoredReason;
use crate::item::AuthorKind;

/// What the account of the token is used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OwnAccount {
    /// A person writes with it, too: only what carries our marker is our own.
    User,
    /// Only programs write with it: everything from it is our own.
    Bot,
}

impl OwnAccount {
    pub fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Bot => "bot",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        [Self::User, Self::Bot].into_iter().find(|account| account.name() == name)
    }
}

/// The settings that decide whose comments count.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EventPolicy {
    /// None: as GitHub says what kind of account it is.
    pub own_account: Option<OwnAccount>,
    pub allow_bots: bool,
    /// The logins of those whose comments count; empty for everyone.
    pub authors: Vec<String>,
}

/// The author of a comment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventSender<'a> {
    /// None if the account was deleted.
    pub login: Option<&'a str>,
    pub kind: Option<&'a AuthorKind>,
    /// True if it is the account of our token.
    pub is_own_account: bool,
}

const BOT_SUFFIX: &str = "[bot]";

impl EventSender<'_> {
    fn is_bot(&self) -> bool {
        self.kind == Some(&AuthorKind::Bot)
            || self.login.is_some_and(|login| login.ends_with(BOT_SUFFIX))
    }
}

impl EventPolicy {
    /// Returns true if a comment is our own.
    pub fn is_own(&self, sender: &EventSender<'_>) -> bool {
        let is_bot_account = match self.own_account {
            Some(account) => account == OwnAccount::Bot,
            None => sender.is_bot(),
        };
        sender.is_own_account && is_bot_account
    }

    /// Returns why a comment of this author does not count; none if it does. A bot that is listed by name counts.
    pub fn refusal(&self, sender: &EventSender<'_>) -> Option<IgnoredReason> {
        let is_listed =
            sender.login.is_some_and(|login| self.authors.iter().any(|a| is_same_login(a, login)));
        if is_listed {
            None
        } else if sender.is_bot() && !self.allow_bots {
            Some(IgnoredReason::Bot)
        } else if self.authors.is_empty() {
            None
        } else {
            Some(IgnoredReason::NotAllowed)
        }
    }
}

/// Compares logins in any case. The two APIs write those of bots with and without a suffix.
pub fn is_same_login(login: &str, other: &str) -> bool {
    let strip = |login| str::strip_suffix(login, BOT_SUFFIX).unwrap_or(login);
    strip(login).eq_ignore_ascii_case(strip(other))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn policy_ignores_bots_and_everyone_who_is_not_listed() {
        let (user, bot) = (AuthorKind::User, AuthorKind::Bot);
        let ada = EventSender { login: Some("Ada"), kind: Some(&user), is_own_account: false };
        let robot =
            EventSender { login: Some("robot[bot]"), kind: Some(&bot), is_own_account: false };
        let ghost = EventSender { login: None, kind: None, is_own_account: false };
        let everyone = EventPolicy::default();
        let bots = EventPolicy { allow_bots: true, ..EventPolicy::default() };
        let listed = EventPolicy {
            authors: vec!["ada".to_owned(), "robot".to_owned()],
            ..EventPolicy::default()
        };
        let cases = [
            (&everyone, ada, None),
            (&everyone, robot, Some(IgnoredReason::Bot)),
            (&everyone, ghost, None),
            (&bots, robot, None),
            (&listed, ada, None),
            (&listed, robot, None),
            (&listed, ghost, Some(IgnoredReason::NotAllowed)),
            (&listed, EventSender { login: Some("bob"), ..ada }, Some(IgnoredReason::NotAllowed)),
        ];
        for (policy, sender, expected) in cases {
            assert_eq!(policy.refusal(&sender), expected, "{policy:?} {sender:?}");
        }
    }

    #[test]
    fn policy_takes_comments_of_our_account_for_our_own_only_if_it_is_a_bot() {
        let (user, bot) = (AuthorKind::User, AuthorKind::Bot);
        for (kind, setting, expected) in [
            (&user, None, false),
            (&bot, None, true),
            (&user, Some(OwnAccount::Bot), true),
            (&bot, Some(OwnAccount::User), false),
        ] {
            let policy = EventPolicy { own_account: setting, ..EventPolicy::default() };
            let own = EventSender { login: Some("me"), kind: Some(kind), is_own_account: true };
            assert_eq!(policy.is_own(&own), expected, "{kind:?} {setting:?}");
            assert!(!policy.is_own(&EventSender { is_own_account: false, ..own }));
        }
        assert_eq!(OwnAccount::from_name("bot"), Some(OwnAccount::Bot));
        assert_eq!(OwnAccount::from_name(OwnAccount::User.name()), Some(OwnAccount::User));
    }
}
