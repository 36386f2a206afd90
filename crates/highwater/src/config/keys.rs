//! The table of settings. Parsing, `config show`, `init`, the example file and the documentation derive from it.

use hw_rules::bluesky::polling_settings::PollingSetting;
use hw_rules::runtime_settings::RuntimeSetting;

use super::value_kind::SettingKind;
use crate::api_endpoints;

/// One setting.
pub(crate) struct SettingKey {
    /// The name in `highwater.toml`: the table, a dot, the key.
    pub(crate) name: &'static str,
    /// The name in the environment and in `.env`.
    pub(crate) variable: &'static str,
    pub(crate) flag: Option<&'static str>,
    pub(crate) kind: SettingKind,
    pub(crate) default: SettingDefault,
    pub(crate) allowed_in: AllowedFiles,
    /// An example value in TOML syntax.
    pub(crate) example: &'static str,
    /// One sentence.
    pub(crate) description: &'static str,
}

/// Two settings are equal if they have the same name.
impl PartialEq for SettingKey {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

/// The default of a setting.
#[derive(Clone, Copy)]
pub(crate) enum SettingDefault {
    Value(&'static str),
    /// The default is computed; this text describes how.
    Description(&'static str),
}

/// The files in which a setting is allowed, in addition to flag and environment.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum AllowedFiles {
    BothFiles,
    /// A secret, which must not be in `highwater.toml`.
    DotenvOnly,
    /// The setting says where the files are.
    NoFile,
}

pub(crate) static HOME: SettingKey = SettingKey {
    name: "home",
    variable: "HIGHWATER_HOME",
    flag: Some("-m, --home"),
    kind: SettingKind::Folder,
    default: SettingDefault::Description("~/.highwater"),
    allowed_in: AllowedFiles::NoFile,
    example: "",
    description: "Home directory: settings, databases and logs.",
};

pub(crate) static WORKSPACE: SettingKey = SettingKey {
    name: "workspace",
    variable: "HIGHWATER_WORKSPACE",
    flag: Some("--workspace"),
    kind: SettingKind::Workspace,
    default: SettingDefault::Description(
        "the organization, else the only existing workspace, else `default`",
    ),
    allowed_in: AllowedFiles::BothFiles,
    example: "\"acme\"",
    description: "Workspace name: the name of its database file or PostgreSQL schema.",
};

pub(crate) static ORGANIZATION: SettingKey = SettingKey {
    name: "github.organization",
    variable: "ORGANIZATION",
    flag: Some("-o, --organization"),
    kind: SettingKind::Owner,
    default: SettingDefault::Description("none"),
    allowed_in: AllowedFiles::BothFiles,
    example: "\"acme\"",
    description: "Organization or user to pull.",
};

pub(crate) static TOKEN: SettingKey = SettingKey {
    name: "github.token",
    variable: "GITHUB_TOKEN",
    flag: Some("-t, --token"),
    kind: SettingKind::Token,
    default: SettingDefault::Description("the output of `gh auth token`"),
    allowed_in: AllowedFiles::DotenvOnly,
    example: "",
    description: "Token with read access to what is pulled.",
};

pub(crate) static EXCLUDED_REPOSITORIES: SettingKey = SettingKey {
    name: "github.excluded_repositories",
    variable: "EXCLUDED_REPOSITORIES",
    flag: Some("-e, --excluded-repositories"),
    kind: SettingKind::Repositories,
    default: SettingDefault::Value(""),
    allowed_in: AllowedFiles::BothFiles,
    example: "[\"sandbox\", \"acme/archive\"]",
    description: "Repositories whose items are skipped.",
};

pub(crate) static SOURCES: SettingKey = SettingKey {
    name: "pull.sources",
    variable: "HIGHWATER_SOURCES",
    flag: None,
    kind: SettingKind::Sources,
    default: SettingDefault::Value(""),
    allowed_in: AllowedFiles::BothFiles,
    example: "[\"rust-lang/cargo\", \"torvalds\"]",
    description: "Additional sources to follow in this workspace: logins, or single repositories as OWNER/REPOSITORY.",
};

pub(crate) static API_URL: SettingKey = SettingKey {
    name: "github.api_url",
    variable: "GITHUB_API_URL",
    flag: Some("--api-url"),
    kind: SettingKind::Address,
    default: SettingDefault::Description(api_endpoints::DEFAULT_API_URL),
    allowed_in: AllowedFiles::BothFiles,
    example: "\"https://ghe.example.com/api/v3\"",
    description: "GitHub's REST API; the token is sent only to this host.",
};

pub(crate) static GRAPHQL_URL: SettingKey = SettingKey {
    name: "github.graphql_url",
    variable: "GITHUB_GRAPHQL_URL",
    flag: Some("--graphql-url"),
    kind: SettingKind::Address,
    default: SettingDefault::Description("derived from the REST API"),
    allowed_in: AllowedFiles::BothFiles,
    example: "\"https://ghe.example.com/api/graphql\"",
    description: "GitHub's GraphQL API, on the same host.",
};

pub(crate) static PROXY: SettingKey = SettingKey {
    name: "github.proxy",
    variable: "HIGHWATER_GITHUB_PROXY",
    flag: None,
    kind: SettingKind::Proxy,
    default: SettingDefault::Description("none"),
    allowed_in: AllowedFiles::BothFiles,
    example: "\"http://proxy.example:3128\"",
    description: "HTTP proxy for all requests to GitHub and Bluesky, http:// or https://; HTTPS_PROXY and similar variables are ignored.",
};

pub(crate) static DATABASE: SettingKey = SettingKey {
    name: "database.url",
    variable: "HIGHWATER_DATABASE",
    flag: Some("--database"),
    kind: SettingKind::Database,
    default: SettingDefault::Description("a file in the home directory"),
    allowed_in: AllowedFiles::BothFiles,
    example: "\"postgres://highwater@localhost/highwater\"",
    description: "Database file, or postgres://… with one schema per workspace.",
};

pub(crate) static ITEMS: SettingKey = SettingKey {
    name: "pull.items",
    variable: "HIGHWATER_ITEMS",
    flag: Some("-i, --items"),
    kind: SettingKind::Items,
    default: SettingDefault::Value("repositories,discussions,issues,pull-requests"),
    allowed_in: AllowedFiles::BothFiles,
    example: "[\"repositories\", \"discussions\", \"issues\", \"pull-requests\"]",
    description: "Items to pull.",
};

pub(crate) static COMMENTS: SettingKey = SettingKey {
    name: "pull.comments",
    variable: "HIGHWATER_COMMENTS",
    flag: None,
    kind: SettingKind::Boolean,
    default: SettingDefault::Value("false"),
    allowed_in: AllowedFiles::BothFiles,
    example: "false",
    description: "Also pull comments; ignored when -i is given.",
};

pub(crate) static WINDOW_DAYS: SettingKey = SettingKey {
    name: "pull.window_days",
    variable: "HIGHWATER_WINDOW_DAYS",
    flag: Some("--window-days"),
    kind: SettingKind::Days,
    default: SettingDefault::Value("400"),
    allowed_in: AllowedFiles::BothFiles,
    example: "400",
    description: "Days of history to read for issues, pull requests and their comments; 0 means all.",
};

pub(crate) static PACE: SettingKey = SettingKey {
    name: "pull.pace",
    variable: "HIGHWATER_PACE",
    flag: Some("--pace"),
    kind: SettingKind::Pace,
    default: SettingDefault::Value("adaptive"),
    allowed_in: AllowedFiles::BothFiles,
    example: "\"adaptive\"",
    description: "Request pace: adaptive, or conservative with at least a second before each request.",
};

pub(crate) static RESERVE: SettingKey = SettingKey {
    name: "pull.reserve",
    variable: "HIGHWATER_RESERVE",
    flag: Some("--reserve"),
    kind: SettingKind::Percent,
    default: SettingDefault::Value("10"),
    allowed_in: AllowedFiles::BothFiles,
    example: "10",
    description: "Share of the hourly rate limit to leave for other tools, in percent.",
};

/// Returns a setting of the service that is a number.
const fn runtime_key(
    setting: RuntimeSetting,
    name: &'static str,
    variable: &'static str,
    default: &'static str,
    description: &'static str,
) -> SettingKey {
    SettingKey {
        name,
        variable,
        flag: None,
        kind: SettingKind::Runtime(setting),
        default: SettingDefault::Value(default),
        allowed_in: AllowedFiles::BothFiles,
        example: default,
        description,
    }
}

pub(crate) static PULL_INTERVAL: SettingKey = runtime_key(
    RuntimeSetting::PullIntervalMinutes,
    "pull.interval_minutes",
    "HIGHWATER_PULL_INTERVAL_MINUTES",
    "15",
    "Minutes between two pulls of `highwater service`.",
);

pub(crate) static RECONCILE_INTERVAL: SettingKey = runtime_key(
    RuntimeSetting::ReconcileIntervalHours,
    "reconcile.interval_hours",
    "HIGHWATER_RECONCILE_INTERVAL_HOURS",
    "24",
    "Hours in which `highwater service` compares every list with GitHub's once, to find deletions.",
);

pub(crate) static POLL_INTERVAL: SettingKey = runtime_key(
    RuntimeSetting::PollIntervalSeconds,
    "runtime.poll_interval_seconds",
    "HIGHWATER_POLL_INTERVAL_SECONDS",
    "60",
    "Seconds between two polls of a repository with watched threads.",
);

pub(crate) static INCREMENTAL_FETCH: SettingKey = SettingKey {
    name: "runtime.enable_incremental_comment_fetch",
    variable: "HIGHWATER_ENABLE_INCREMENTAL_COMMENT_FETCH",
    flag: None,
    kind: SettingKind::Boolean,
    default: SettingDefault::Value("true"),
    allowed_in: AllowedFiles::BothFiles,
    example: "true",
    description: "Read only new and changed comments of watched threads; false reads every thread whole at each poll.",
};

pub(crate) static FETCH_OVERLAP: SettingKey = runtime_key(
    RuntimeSetting::CommentFetchOverlapSeconds,
    "runtime.comment_fetch_overlap_seconds",
    "HIGHWATER_COMMENT_FETCH_OVERLAP_SECONDS",
    "60",
    "Seconds before the newest known comment from which lists are requested again.",
);

pub(crate) static SAFE_BACKFILL: SettingKey = runtime_key(
    RuntimeSetting::CommentFetchSafeBackfillSeconds,
    "runtime.comment_fetch_safe_backfill_seconds",
    "HIGHWATER_COMMENT_FETCH_SAFE_BACKFILL_SECONDS",
    "86400",
    "Seconds that are read again when a stored position is invalid.",
);

pub(crate) static SHADOW_COMPARE: SettingKey = SettingKey {
    name: "runtime.shadow_compare",
    variable: "HIGHWATER_SHADOW_COMPARE",
    flag: None,
    kind: SettingKind::Boolean,
    default: SettingDefault::Value("false"),
    allowed_in: AllowedFiles::BothFiles,
    example: "false",
    description: "Also read watched threads whole at each poll, and log every difference from the incremental result.",
};

pub(crate) static BOOTSTRAP_PER_POLL: SettingKey = runtime_key(
    RuntimeSetting::BootstrapPerPoll,
    "runtime.bootstrap_per_poll",
    "HIGHWATER_BOOTSTRAP_PER_POLL",
    "5",
    "Newly watched threads that one poll reads whole.",
);

/// The settings of the service that are numbers.
pub(crate) static RUNTIME_KEYS: [&SettingKey; 6] = [
    &PULL_INTERVAL,
    &RECONCILE_INTERVAL,
    &POLL_INTERVAL,
    &FETCH_OVERLAP,
    &SAFE_BACKFILL,
    &BOOTSTRAP_PER_POLL,
];

pub(crate) static BLUESKY_URL: SettingKey = SettingKey {
    name: "bluesky.url",
    variable: "BLUESKY_URL",
    flag: Some("--bluesky-url"),
    kind: SettingKind::Address,
    default: SettingDefault::Description(
        "https://public.api.bsky.app, or https://bsky.social with a handle",
    ),
    allowed_in: AllowedFiles::BothFiles,
    example: "\"https://public.api.bsky.app\"",
    description: "Server to read Bluesky from.",
};

pub(crate) static BLUESKY_HANDLE: SettingKey = SettingKey {
    name: "bluesky.handle",
    variable: "BLUESKY_HANDLE",
    flag: None,
    kind: SettingKind::Account,
    default: SettingDefault::Description("none: public posts need no account"),
    allowed_in: AllowedFiles::BothFiles,
    example: "\"alice.bsky.social\"",
    description: "Account to log in with, for servers that require it.",
};

pub(crate) static BLUESKY_APP_PASSWORD: SettingKey = SettingKey {
    name: "bluesky.app_password",
    variable: "BLUESKY_APP_PASSWORD",
    flag: None,
    kind: SettingKind::Token,
    default: SettingDefault::Description("none"),
    allowed_in: AllowedFiles::DotenvOnly,
    example: "",
    description: "App password of that account, from its settings on Bluesky.",
};

/// Returns a setting of polls.
const fn polling_key(
    setting: PollingSetting,
    name: &'static str,
    variable: &'static str,
    default: &'static str,
    description: &'static str,
) -> SettingKey {
    SettingKey {
        name,
        variable,
        flag: None,
        kind: SettingKind::Polling(setting),
        default: SettingDefault::Value(default),
        allowed_in: AllowedFiles::BothFiles,
        example: default,
        description,
    }
}

pub(crate) static POLLING_KEYS: [SettingKey; 6] = [
    polling_key(
        PollingSetting::IntervalMinutes,
        "bluesky.polling.interval_minutes",
        "BLUESKY_INTERVAL_MINUTES",
        "15",
        "Minutes between two polls of the service.",
    ),
    polling_key(
        PollingSetting::PostsPerPage,
        "bluesky.polling.posts_per_page",
        "BLUESKY_POSTS_PER_PAGE",
        "50",
        "Posts to request at once.",
    ),
    polling_key(
        PollingSetting::InitialLookbackHours,
        "bluesky.polling.initial_lookback_hours",
        "BLUESKY_INITIAL_LOOKBACK_HOURS",
        "24",
        "Hours of posts to read from a new account; edits and deletions are found among posts of this age.",
    ),
    polling_key(
        PollingSetting::MaxRetries,
        "bluesky.polling.max_retries",
        "BLUESKY_MAX_RETRIES",
        "3",
        "Number of times to retry a failed request.",
    ),
    polling_key(
        PollingSetting::RetryBackoffMs,
        "bluesky.polling.retry_backoff_ms",
        "BLUESKY_RETRY_BACKOFF_MS",
        "1000",
        "Milliseconds before the first retry; the delay doubles each time.",
    ),
    polling_key(
        PollingSetting::MaxPagesPerUser,
        "bluesky.polling.max_pages_per_user",
        "BLUESKY_MAX_PAGES_PER_USER",
        "100",
        "Most pages of a new account to read in one poll, and of a known one at most 10; the next poll continues there.",
    ),
];

pub(crate) static EVENTS_OWN_ACCOUNT: SettingKey = SettingKey {
    name: "events.own_account",
    variable: "HIGHWATER_EVENTS_OWN_ACCOUNT",
    flag: None,
    kind: SettingKind::OwnAccount,
    default: SettingDefault::Description("`bot` for the account of a bot, else `user`"),
    allowed_in: AllowedFiles::BothFiles,
    example: "\"bot\"",
    description: "What the token's account writes: with `bot`, none of its comments count as feedback.",
};

pub(crate) static EVENTS_ALLOW_BOTS: SettingKey = SettingKey {
    name: "events.allow_bots",
    variable: "HIGHWATER_EVENTS_ALLOW_BOTS",
    flag: None,
    kind: SettingKind::Boolean,
    default: SettingDefault::Value("false"),
    allowed_in: AllowedFiles::BothFiles,
    example: "true",
    description: "Whether comments of bots count as feedback.",
};

pub(crate) static EVENTS_AUTHORS: SettingKey = SettingKey {
    name: "events.authors",
    variable: "HIGHWATER_EVENTS_AUTHORS",
    flag: None,
    kind: SettingKind::Logins,
    default: SettingDefault::Value(""),
    allowed_in: AllowedFiles::BothFiles,
    example: "[\"ada\", \"dependabot\"]",
    description: "Logins whose comments count as feedback, bots by name included; everyone if empty.",
};

pub(crate) static MCP_TOKEN: SettingKey = SettingKey {
    name: "mcp.token",
    variable: "HIGHWATER_MCP_TOKEN",
    flag: None,
    kind: SettingKind::Token,
    default: SettingDefault::Description("none"),
    allowed_in: AllowedFiles::DotenvOnly,
    example: "",
    description: "Token that clients of `highwater mcp --http` must send; required when listening beyond this machine.",
};

pub(crate) static UI_PORT: SettingKey = SettingKey {
    name: "ui.port",
    variable: "UI_PORT",
    flag: Some("-p, --port"),
    kind: SettingKind::Port,
    default: SettingDefault::Value("8080"),
    allowed_in: AllowedFiles::BothFiles,
    example: "8080",
    description: "Port for the web page; 0 picks a free one.",
};

pub(crate) static LOG_LEVEL: SettingKey = SettingKey {
    name: "log.level",
    variable: "HIGHWATER_LOG",
    flag: None,
    kind: SettingKind::Levels,
    default: SettingDefault::Description("warn on stderr, info in files"),
    allowed_in: AllowedFiles::BothFiles,
    example: "\"info,hw_sync=debug\"",
    description: "Log level: off, error, warn, info, debug or trace, or target=level, comma-separated.",
};

pub(crate) static LOG_FORMAT: SettingKey = SettingKey {
    name: "log.format",
    variable: "HIGHWATER_LOG_FORMAT",
    flag: Some("--log-format"),
    kind: SettingKind::Format,
    default: SettingDefault::Value("text"),
    allowed_in: AllowedFiles::BothFiles,
    example: "\"text\"",
    description: "Log format: text, or json with one object per line.",
};

/// All settings, in the order of the documentation.
pub(crate) static ALL_KEYS: [&SettingKey; 39] = [
    &HOME,
    &WORKSPACE,
    &ORGANIZATION,
    &TOKEN,
    &EXCLUDED_REPOSITORIES,
    &API_URL,
    &GRAPHQL_URL,
    &PROXY,
    &DATABASE,
    &SOURCES,
    &ITEMS,
    &COMMENTS,
    &WINDOW_DAYS,
    &PACE,
    &RESERVE,
    &PULL_INTERVAL,
    &RECONCILE_INTERVAL,
    &POLL_INTERVAL,
    &INCREMENTAL_FETCH,
    &FETCH_OVERLAP,
    &SAFE_BACKFILL,
    &SHADOW_COMPARE,
    &BOOTSTRAP_PER_POLL,
    &BLUESKY_URL,
    &BLUESKY_HANDLE,
    &BLUESKY_APP_PASSWORD,
    &POLLING_KEYS[0],
    &POLLING_KEYS[1],
    &POLLING_KEYS[2],
    &POLLING_KEYS[3],
    &POLLING_KEYS[4],
    &POLLING_KEYS[5],
    &EVENTS_OWN_ACCOUNT,
    &EVENTS_ALLOW_BOTS,
    &EVENTS_AUTHORS,
    &MCP_TOKEN,
    &UI_PORT,
    &LOG_LEVEL,
    &LOG_FORMAT,
];
