//! The vocabulary of rate limits: what a source counts, what a pause stops, and which requests come first.

/// One of GitHub's two APIs; each has a budget of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ApiKind {
    Rest,
    Graphql,
}

impl ApiKind {
    /// Returns the points that may be spent in a minute before the source treats it as abuse.
    pub fn points_per_minute(self) -> i64 {
        match self {
            Self::Rest => 900,
            Self::Graphql => 2_000,
        }
    }

    /// Returns the name of its budget, as in the source's own headers.
    pub fn bucket(self) -> &'static str {
        match self {
            Self::Rest => "core",
            Self::Graphql => "graphql",
        }
    }

    /// Returns its name in messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rest => "REST",
            Self::Graphql => "GraphQL",
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
    /// Only the reserve for the user's other tools is left. Requests that are free do not wait for it.
    Reserve,
}

/// The importance of a request. While many wait, the most important ones come first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RequestClass {
    /// What a person or a program is waiting for.
    Replies,
    WatchedThreads,
    Accounts,
    Mirror,
    Sweeps,
}
