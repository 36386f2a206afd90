create table schema_version (
    guid text not null,
    number integer not null
);

create table lanes (
    id integer primary key,
    name text not null unique,
    host text not null,
    organization text,
    repository_id integer,
    surface text not null,
    coverage text not null,
    through_ms integer,
    due_ms integer not null default 0,
    failures integer not null default 0,
    page_size integer not null,
    checked_at_ms integer,
    last_error text,
    sweep_due_ms integer,
    sweep_began_at_ms integer,
    sweep_began_request integer,
    sweep_cursor text,
    sweep_complete integer not null default 0
);

create table cells (
    host text not null,
    kind text not null,
    id integer not null,
    lane integer not null references lanes (id),
    updated_at_ms integer,
    updated_at text,
    seen_at_ms integer,
    seen_request integer,
    digest blob,
    gone_at_ms integer,
    gone_request integer,
    search_rowid integer,
    primary key (host, kind, id)
) without rowid;
create index cells_lane on cells (lane, id);
create unique index cells_search_rowid on cells (search_rowid) where search_rowid is not null;

create table repositories (
    host text not null,
    id integer not null,
    node_id text not null,
    owner text not null,
    name text not null,
    url text not null,
    is_archived integer not null,
    is_fork integer not null,
    has_discussions_enabled integer not null,
    has_issues_enabled integer not null,
    created_at text not null,
    updated_at text not null,
    primary key (host, id),
    unique (host, owner, name),
    unique (host, url)
);
create index repositories_updated_at on repositories (updated_at);

create table discussions (
    host text not null,
    id integer not null,
    node_id text not null,
    number integer not null,
    repository_id integer not null,
    repository text not null,
    url text not null,
    title text not null,
    body text not null,
    state text not null,
    state_reason text,
    labels text not null,
    author text,
    author_id integer,
    created_at text not null,
    updated_at text not null,
    closed_at text,
    category text not null,
    is_answered integer,
    primary key (host, id),
    unique (host, url)
);
create index discussions_repository_id on discussions (host, repository_id, id);
create index discussions_repository on discussions (repository);
create index discussions_author on discussions (author);
create index discussions_created_at on discussions (created_at);
create index discussions_updated_at on discussions (updated_at);
create index discussions_repository_created_at on discussions (repository, created_at);

create table issues (
    host text not null,
    id integer not null,
    node_id text not null,
    number integer not null,
    repository_id integer not null,
    repository text not null,
    url text not null,
    title text not null,
    body text not null,
    state text not null,
    state_reason text,
    labels text not null,
    author text,
    author_id integer,
    created_at text not null,
    updated_at text not null,
    closed_at text,
    primary key (host, id),
    unique (host, url)
);
create index issues_repository_id on issues (host, repository_id, id);
create index issues_repository on issues (repository);
create index issues_author on issues (author);
create index issues_created_at on issues (created_at);
create index issues_updated_at on issues (updated_at);
create index issues_closed_at on issues (closed_at);
create index issues_repository_created_at on issues (repository, created_at);

create table pull_requests (
    host text not null,
    id integer not null,
    node_id text not null,
    number integer not null,
    repository_id integer not null,
    repository text not null,
    url text not null,
    title text not null,
    body text not null,
    state text not null,
    state_reason text,
    labels text not null,
    author text,
    author_id integer,
    created_at text not null,
    updated_at text not null,
    closed_at text,
    is_draft integer not null,
    merged_at text,
    head_ref text not null,
    closes text not null,
    primary key (host, id),
    unique (host, url)
);
create index pull_requests_repository_id on pull_requests (host, repository_id, id);
create index pull_requests_repository on pull_requests (repository);
create index pull_requests_author on pull_requests (author);
create index pull_requests_created_at on pull_requests (created_at);
create index pull_requests_updated_at on pull_requests (updated_at);
create index pull_requests_merged_at on pull_requests (merged_at);
create index pull_requests_closed_at on pull_requests (closed_at);
create index pull_requests_repository_created_at on pull_requests (repository, created_at);

-- it is fed our own tokens with a space between each: no other character is looked at
create virtual table search using fts5 (
    type, title, body, url, repository, author, facets,
    created_at unindexed, state unindexed, boost unindexed,
    content = '', contentless_delete = 1, contentless_unindexed = 1,
    tokenize = 'ascii'
);
-- every page is a segment of the index: twice the usual number may gather before they are merged
insert into search (search, rank) values ('automerge', 8);

create table quarantine (
    lane integer not null references lanes (id),
    subject text not null,
    reason text not null,
    raw text not null,
    tries integer not null,
    seen_at_ms integer not null,
    seen_request integer not null,
    updated_at text,
    updated_at_ms integer,
    primary key (lane, subject)
);
create index quarantine_subject on quarantine (subject);

create table sweep_rows (
    lane integer not null references lanes (id),
    id integer not null,
    node_id text not null,
    updated_at_ms integer not null,
    primary key (lane, id)
) without rowid;

create table leases (
    name text primary key,
    owner text,
    epoch integer not null,
    since_ms integer not null,
    expires_ms integer not null
);

create table principals (
    name text primary key,
    paused_until_ms integer,
    paused_why text,
    minute_ms integer,
    reserved integer not null default 0
);

create table counters (
    name text primary key,
    value integer not null
);
