//! The vocabulary of rate limits: what a source counts, what a pause stops, and which requests come first.

/// The longest wait that is believed when a source requests it: GitHub's longest window is an hour.
pub const MAX_WAIT_MS: i64 = 2 * 3_600_000;

/// One API of a source; each has a budget of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ApiKind {
    /// GitHub's.
    Rest,
    /// GitHub's.
    Graphql,
    /// Bluesky's.
    Xrpc,
}

impl ApiKind {
    pub const ALL: [Self; 3] = [Self::Rest, Self::Graphql, Self::Xrpc];

    /// Returns the points that may be spent in a minute before the source treats it as abuse.
    pub fn points_per_minute(self) -> i64 {
        match self {
            Self::Rest => 900,
            Self::Graphql => 2_000,
            // 3,000 in five minutes; most servers do not say how many are left
            Self::Xrpc => 600,
        }
    }

    /// Returns the word for the length of its budget's window.
    pub fn window_name(self) -> &'static str {
        match self {
            Self::Rest | Self::Graphql => "hourly",
            Self::Xrpc => "five-minute",
        }
    }

    /// Returns the name of its budget: GitHub's headers use the same.
    pub fn bucket(self) -> &'static str {
        match self {
            Self::Rest => "core",
            Self::Graphql => "graphql",
            Self::Xrpc => "xrpc",
        }
    }

    /// Returns its name in messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rest => "REST",
            Self::Graphql => "GraphQL",
            Self::Xrpc => "XRPC",
        }
    }
}

/// The requests that a pause stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PauseScope {
    /// All requests of the principal.
    Everything,
    /// Those that draw on the budget of one API.
    Api(ApiKind),
}

impl PauseScope {
    pub fn covers(self, api: ApiKind) -> bool {
        match self {
            Self::Everything => true,
            Self::Api(paused) => paused == api,
        }
    }
}

/// The cause of a pause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PauseCause {
    /// The source refused a request.
    SourceLimit,
    /// Only what requests of this class have to leave is left: the reserve for the user's other tools, and the shares of
    /// more important requests. Requests that are free do not wait for it.
    Reserve(RequestClass),
}

impl PauseCause {
    /// Returns true if requests of this class have to wait; more important ones may go on.
    pub fn stops(self, class: RequestClass) -> bool {
        match self {
            Self::SourceLimit => true,
            Self::Reserve(first) => class >= first,
        }
    }

    /// Returns the purpose of the requests that it stops, for the words after "requests"; empty if it stops all.
    pub fn stopped_purpose(self) -> &'static str {
        match self {
            Self::SourceLimit
            | Self::Reserve(RequestClass::Replies | RequestClass::WatchedThreads) => "",
            Self::Reserve(RequestClass::Accounts) => " for accounts and pulls",
            Self::Reserve(RequestClass::Mirror) => " for pulls",
            Self::Reserve(RequestClass::Sweeps) => " for deleted items",
        }
    }
}

/// The importance of a request, the most important first. It waits while a more important one waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RequestClass {
    /// What a person or a program is waiting for.
    Replies,
    WatchedThreads,
    Accounts,
    Mirror,
    Sweeps,
}

impl RequestClass {
    /// All classes, the most important first.
    pub const ALL: [Self; 5] =
        [Self::Replies, Self::WatchedThreads, Self::Accounts, Self::Mirror, Self::Sweeps];

    /// Returns its name in the database.
    pub fn name(self) -> &'static str {
        match self {
            Self::Replies => "replies",
            Self::WatchedThreads => "watched threads",
            Self::Accounts => "accounts",
            Self::Mirror => "mirror",
            Self::Sweeps => "sweeps",
        }
    }

    /// Parses a [`name`](Self::name).
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|class| class.name() == name)
    }
}
