//! The one table of settings. Reading, `config show`, `init`, the example file and the documents follow from it.

use super::kinds::Kind;
use crate::address;

/// One setting.
pub(crate) struct Key {
    /// Its name in `highwater.toml`, a dot behind the table it stands in.
    pub(crate) name: &'static str,
    /// Its name in the environment and in `.env`.
    pub(crate) variable: &'static str,
    pub(crate) flag: Option<&'static str>,
    pub(crate) kind: Kind,
    pub(crate) otherwise: Otherwise,
    pub(crate) stands: Stands,
    /// A value as it stands in `highwater.toml`.
    pub(crate) example: &'static str,
    /// One sentence.
    pub(crate) about: &'static str,
}

/// What holds when nobody says anything.
#[derive(Clone, Copy)]
pub(crate) enum Otherwise {
    Value(&'static str),
    /// No value of its own: these words say what follows.
    Words(&'static str),
}

/// Where it may stand, besides flag and environment.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stands {
    /// In both files.
    Anywhere,
    /// A secret that has no place among settings.
    DotenvOnly,
    /// It leads to the files.
    Outside,
}

pub(crate) static HOME: Key = Key {
    name: "home",
    variable: "HIGHWATER_HOME",
    flag: Some("-m, --home"),
    kind: Kind::Folder,
    otherwise: Otherwise::Words("~/.highwater"),
    stands: Stands::Outside,
    example: "",
    about: "The home directory: settings, databases and logs.",
};

pub(crate) static WORKSPACE: Key = Key {
    name: "workspace",
    variable: "HIGHWATER_WORKSPACE",
    flag: Some("--workspace"),
    kind: Kind::Workspace,
    otherwise: Otherwise::Words("the organisation, else the only one there, else `default`"),
    stands: Stands::Anywhere,
    example: "\"acme\"",
    about: "Which workspace: the name of its database, or of its PostgreSQL schema.",
};

pub(crate) static ORGANIZATION: Key = Key {
    name: "github.organization",
    variable: "ORGANIZATION",
    flag: Some("-o, --organization"),
    kind: Kind::Owner,
    otherwise: Otherwise::Words("none"),
    stands: Stands::Anywhere,
    example: "\"acme\"",
    about: "The organisation that is pulled.",
};

pub(crate) static TOKEN: Key = Key {
    name: "github.token",
    variable: "GITHUB_TOKEN",
    flag: Some("-t, --token"),
    kind: Kind::Token,
    otherwise: Otherwise::Words("what `gh auth token` says"),
    stands: Stands::DotenvOnly,
    example: "",
    about: "The token that may read the organisation.",
};

pub(crate) static EXCLUDED_REPOSITORIES: Key = Key {
    name: "github.excluded_repositories",
    variable: "EXCLUDED_REPOSITORIES",
    flag: Some("-e, --excluded-repositories"),
    kind: Kind::Repositories,
    otherwise: Otherwise::Value(""),
    stands: Stands::Anywhere,
    example: "[\"sandbox\", \"acme/archive\"]",
    about: "Repositories whose items are not pulled.",
};

pub(crate) static API_URL: Key = Key {
    name: "github.api_url",
    variable: "GITHUB_API_URL",
    flag: Some("--api-url"),
    kind: Kind::Address,
    otherwise: Otherwise::Words(address::API_URL),
    stands: Stands::Anywhere,
    example: "\"https://ghe.example.com/api/v3\"",
    about: "GitHub's REST API; the token is sent to this host alone.",
};

pub(crate) static GRAPHQL_URL: Key = Key {
    name: "github.graphql_url",
    variable: "GITHUB_GRAPHQL_URL",
    flag: Some("--graphql-url"),
    kind: Kind::Address,
    otherwise: Otherwise::Words("the one beside the REST API"),
    stands: Stands::Anywhere,
    example: "\"https://ghe.example.com/api/graphql\"",
    about: "GitHub's GraphQL API, on the same host.",
};

pub(crate) static PROXY: Key = Key {
    name: "github.proxy",
    variable: "HIGHWATER_GITHUB_PROXY",
    flag: None,
    kind: Kind::Proxy,
    otherwise: Otherwise::Words("none"),
    stands: Stands::Anywhere,
    example: "\"http://proxy.example:3128\"",
    about: "The HTTP proxy that all requests to GitHub pass through, http:// or https://; HTTPS_PROXY and the like are ignored.",
};

pub(crate) static DATABASE: Key = Key {
    name: "database.url",
    variable: "HIGHWATER_DATABASE",
    flag: Some("--database"),
    kind: Kind::Database,
    otherwise: Otherwise::Words("a file in the home directory"),
    stands: Stands::Anywhere,
    example: "\"postgres://highwater@localhost/highwater\"",
    about: "A database file, or postgres://… with a schema for each workspace.",
};

pub(crate) static ITEMS: Key = Key {
    name: "pull.items",
    variable: "HIGHWATER_ITEMS",
    flag: Some("-i, --items"),
    kind: Kind::Items,
    otherwise: Otherwise::Value("repositories,discussions,issues,pull-requests"),
    stands: Stands::Anywhere,
    example: "[\"repositories\", \"discussions\", \"issues\", \"pull-requests\"]",
    about: "What is pulled.",
};

pub(crate) static COMMENTS: Key = Key {
    name: "pull.comments",
    variable: "HIGHWATER_COMMENTS",
    flag: None,
    kind: Kind::Switch,
    otherwise: Otherwise::Value("false"),
    stands: Stands::Anywhere,
    example: "false",
    about: "Whether comments are pulled, too, unless -i says otherwise.",
};

pub(crate) static WINDOW_DAYS: Key = Key {
    name: "pull.window_days",
    variable: "HIGHWATER_WINDOW_DAYS",
    flag: Some("--window-days"),
    kind: Kind::Days,
    otherwise: Otherwise::Value("400"),
    stands: Stands::Anywhere,
    example: "400",
    about: "How many days back issues, pull requests and their comments are read; 0 reads all.",
};

pub(crate) static PACE: Key = Key {
    name: "pull.pace",
    variable: "HIGHWATER_PACE",
    flag: Some("--pace"),
    kind: Kind::Pace,
    otherwise: Otherwise::Value("adaptive"),
    stands: Stands::Anywhere,
    example: "\"adaptive\"",
    about: "How fast to ask: adaptive, or conservative with a second and more before each request.",
};

pub(crate) static RESERVE: Key = Key {
    name: "pull.reserve",
    variable: "HIGHWATER_RESERVE",
    flag: Some("--reserve"),
    kind: Kind::Percent,
    otherwise: Otherwise::Value("10"),
    stands: Stands::Anywhere,
    example: "10",
    about: "How much of the hour's budget is left for your other tools, in percent.",
};

pub(crate) static MCP_TOKEN: Key = Key {
    name: "mcp.token",
    variable: "HIGHWATER_MCP_TOKEN",
    flag: None,
    kind: Kind::Token,
    otherwise: Otherwise::Words("none"),
    stands: Stands::DotenvOnly,
    example: "",
    about: "The token that callers of `highwater mcp --http` must know; needed beyond this machine.",
};

pub(crate) static UI_PORT: Key = Key {
    name: "ui.port",
    variable: "UI_PORT",
    flag: Some("-p, --port"),
    kind: Kind::Port,
    otherwise: Otherwise::Value("8080"),
    stands: Stands::Anywhere,
    example: "8080",
    about: "The port of the page in the browser; 0 takes any that is free.",
};

pub(crate) static LOG_LEVEL: Key = Key {
    name: "log.level",
    variable: "HIGHWATER_LOG",
    flag: None,
    kind: Kind::Levels,
    otherwise: Otherwise::Words("warn on stderr, info in files"),
    stands: Stands::Anywhere,
    example: "\"info,hw_sync=debug\"",
    about: "What is logged: off, error, warn, info, debug or trace, or target=level, comma separated.",
};

pub(crate) static LOG_FORMAT: Key = Key {
    name: "log.format",
    variable: "HIGHWATER_LOG_FORMAT",
    flag: Some("--log-format"),
    kind: Kind::Format,
    otherwise: Otherwise::Value("text"),
    stands: Stands::Anywhere,
    example: "\"text\"",
    about: "How logs are written: text, or json with one object a line.",
};

/// All settings, in the order of the documents.
pub(crate) static ALL: [&Key; 18] = [
    &HOME,
    &WORKSPACE,
    &ORGANIZATION,
    &TOKEN,
    &EXCLUDED_REPOSITORIES,
    &API_URL,
    &GRAPHQL_URL,
    &PROXY,
    &DATABASE,
    &ITEMS,
    &COMMENTS,
    &WINDOW_DAYS,
    &PACE,
    &RESERVE,
    &MCP_TOKEN,
    &UI_PORT,
    &LOG_LEVEL,
    &LOG_FORMAT,
];
