create table schema_version (
    guid text not null,
    number bigint not null
);

create table lanes (
    id bigint generated always as identity primary key,
    name text collate "C" not null unique,
    host text not null,
    organization text,
    repository_id bigint,
    surface text not null,
    coverage text not null,
    through_ms bigint,
    due_ms bigint not null default 0,
    failures bigint not null default 0,
    page_size bigint not null,
    checked_at_ms bigint,
    last_error text,
    sweep_due_ms bigint,
    sweep_began_at_ms bigint,
    sweep_began_request bigint,
    sweep_cursor text,
    sweep_complete boolean not null default false
);

create table cells (
    host text collate "C" not null,
    kind text collate "C" not null,
    id bigint not null,
    lane bigint not null references lanes (id),
    updated_at_ms bigint,
    updated_at text,
    seen_at_ms bigint,
    seen_request bigint,
    digest bytea,
    gone_at_ms bigint,
    gone_request bigint,
    search_rowid bigint,
    primary key (host, kind, id)
);
create index cells_lane on cells (lane, id);
create unique index cells_search_rowid on cells (search_rowid) where search_rowid is not null;

create table repositories (
    host text collate "C" not null,
    id bigint not null,
    node_id text not null,
    owner text collate "C" not null,
    name text collate "C" not null,
    url text collate "C" not null,
    is_archived boolean not null,
    is_fork boolean not null,
    has_discussions_enabled boolean not null,
    has_issues_enabled boolean not null,
    created_at text collate "C" not null,
    updated_at text collate "C" not null,
    primary key (host, id),
    unique (host, owner, name),
    unique (host, url)
);
create index repositories_updated_at on repositories (updated_at);

create table discussions (
    host text collate "C" not null,
    id bigint not null,
    node_id text not null,
    number bigint not null,
    repository_id bigint not null,
    repository text collate "C" not null,
    url text collate "C" not null,
    title text not null,
    body bytea not null,
    state text not null,
    state_reason text,
    labels text not null,
    author text collate "C",
    author_id bigint,
    created_at text collate "C" not null,
    updated_at text collate "C" not null,
    closed_at text collate "C",
    category text not null,
    is_answered boolean,
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
    host text collate "C" not null,
    id bigint not null,
    node_id text not null,
    number bigint not null,
    repository_id bigint not null,
    repository text collate "C" not null,
    url text collate "C" not null,
    title text not null,
    body bytea not null,
    state text not null,
    state_reason text,
    labels text not null,
    author text collate "C",
    author_id bigint,
    created_at text collate "C" not null,
    updated_at text collate "C" not null,
    closed_at text collate "C",
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
    host text collate "C" not null,
    id bigint not null,
    node_id text not null,
    number bigint not null,
    repository_id bigint not null,
    repository text collate "C" not null,
    url text collate "C" not null,
    title text not null,
    body bytea not null,
    state text not null,
    state_reason text,
    labels text not null,
    author text collate "C",
    author_id bigint,
    created_at text collate "C" not null,
    updated_at text collate "C" not null,
    closed_at text collate "C",
    is_draft boolean not null,
    merged_at text collate "C",
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

create table search (
    rowid bigint primary key,
    words tsvector not null,
    facets tsvector not null,
    created_at text collate "C" not null,
    state text not null,
    boost double precision not null
);
create index search_words on search using gin (words);
create index search_facets on search using gin (facets);

create table quarantine (
    lane bigint not null references lanes (id),
    subject text collate "C" not null,
    reason text not null,
    raw text not null,
    tries bigint not null,
    seen_at_ms bigint not null,
    seen_request bigint not null,
    updated_at text,
    updated_at_ms bigint,
    primary key (lane, subject)
);
create index quarantine_subject on quarantine (subject);

create table sweep_rows (
    lane bigint not null references lanes (id),
    id bigint not null,
    node_id text not null,
    updated_at_ms bigint not null,
    primary key (lane, id)
);

create table leases (
    name text primary key,
    owner text,
    epoch bigint not null,
    since_ms bigint not null,
    expires_ms bigint not null
);

create table principals (
    name text primary key,
    paused_until_ms bigint,
    paused_why text,
    minute_ms bigint,
    reserved bigint not null default 0
);

create table counters (
    name text primary key,
    value bigint not null
);
