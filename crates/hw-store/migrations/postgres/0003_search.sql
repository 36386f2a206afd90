-- its rows are made anew, with more facets and with literal words at the end, where they part no phrase
delete from search;

-- which thread a search row counts for and how often its words are there, looked up for each match of a query
create table search_places (
    rowid bigint primary key,
    host text collate "C" not null,
    repository_id bigint not null,
    thread bigint not null,
    created_ms bigint not null,
    length bigint not null,
    words bytea not null
);

-- whom a source's answers were for; where he has written something, search looks first
create table viewers (
    host text collate "C" primary key,
    login text not null
);

-- how the last pull of an organisation ended: nothing is wrong without an error
create table pulls (
    host text collate "C" not null,
    organization text collate "C" not null,
    ended_ms bigint not null,
    error text,
    primary key (host, organization)
);

-- names count in any case
create index discussions_author_created_at on discussions (lower(author), created_at);
create index issues_author_created_at on issues (lower(author), created_at);
create index pull_requests_author_created_at on pull_requests (lower(author), created_at);
