create table issue_comments (
    host text collate "C" not null,
    id bigint not null,
    node_id text not null,
    repository_id bigint not null,
    repository text collate "C" not null,
    thread bigint not null,
    reply_to bigint,
    review_id bigint,
    url text collate "C" not null,
    body bytea not null,
    state text,
    path text,
    line bigint,
    author text collate "C",
    author_id bigint,
    created_at text collate "C" not null,
    updated_at text collate "C" not null,
    primary key (host, id)
);
create index issue_comments_repository_id on issue_comments (host, repository_id, id);
create index issue_comments_thread on issue_comments (host, repository_id, thread);
create index issue_comments_author on issue_comments (author);
create index issue_comments_created_at on issue_comments (created_at);
create index issue_comments_repository_created_at on issue_comments (repository, created_at);

create table review_comments (
    host text collate "C" not null,
    id bigint not null,
    node_id text not null,
    repository_id bigint not null,
    repository text collate "C" not null,
    thread bigint not null,
    reply_to bigint,
    review_id bigint,
    url text collate "C" not null,
    body bytea not null,
    state text,
    path text,
    line bigint,
    author text collate "C",
    author_id bigint,
    created_at text collate "C" not null,
    updated_at text collate "C" not null,
    primary key (host, id)
);
create index review_comments_repository_id on review_comments (host, repository_id, id);
create index review_comments_thread on review_comments (host, repository_id, thread);
create index review_comments_author on review_comments (author);
create index review_comments_created_at on review_comments (created_at);
create index review_comments_repository_created_at on review_comments (repository, created_at);

create table reviews (
    host text collate "C" not null,
    id bigint not null,
    node_id text not null,
    repository_id bigint not null,
    repository text collate "C" not null,
    thread bigint not null,
    reply_to bigint,
    review_id bigint,
    url text collate "C" not null,
    body bytea not null,
    state text,
    path text,
    line bigint,
    author text collate "C",
    author_id bigint,
    created_at text collate "C" not null,
    updated_at text collate "C" not null,
    primary key (host, id)
);
create index reviews_repository_id on reviews (host, repository_id, id);
create index reviews_thread on reviews (host, repository_id, thread);
create index reviews_author on reviews (author);
create index reviews_created_at on reviews (created_at);
create index reviews_repository_created_at on reviews (repository, created_at);

create table discussion_comments (
    host text collate "C" not null,
    id bigint not null,
    node_id text not null,
    repository_id bigint not null,
    repository text collate "C" not null,
    thread bigint not null,
    reply_to bigint,
    review_id bigint,
    url text collate "C" not null,
    body bytea not null,
    state text,
    path text,
    line bigint,
    author text collate "C",
    author_id bigint,
    created_at text collate "C" not null,
    updated_at text collate "C" not null,
    primary key (host, id)
);
create index discussion_comments_repository_id on discussion_comments (host, repository_id, id);
create index discussion_comments_thread on discussion_comments (host, repository_id, thread);
create index discussion_comments_author on discussion_comments (author);
create index discussion_comments_created_at on discussion_comments (created_at);
create index discussion_comments_repository_created_at on discussion_comments (repository, created_at);

-- all that is said in threads, whatever sort of comment it is
create view comments as
select 'issue_comment' as kind, host, id, node_id, repository_id, repository, thread, reply_to, review_id,
       url, body, state, path, line, author, author_id, created_at, updated_at from issue_comments
union all
select 'review_comment' as kind, host, id, node_id, repository_id, repository, thread, reply_to, review_id,
       url, body, state, path, line, author, author_id, created_at, updated_at from review_comments
union all
select 'review' as kind, host, id, node_id, repository_id, repository, thread, reply_to, review_id,
       url, body, state, path, line, author, author_id, created_at, updated_at from reviews
union all
select 'discussion_comment' as kind, host, id, node_id, repository_id, repository, thread, reply_to, review_id,
       url, body, state, path, line, author, author_id, created_at, updated_at from discussion_comments;

create index discussions_number on discussions (host, repository_id, number);
create index issues_number on issues (host, repository_id, number);
create index pull_requests_number on pull_requests (host, repository_id, number);

-- threads whose talk is to be read: they moved since, or moved too shortly before
create table talks (
    host text collate "C" not null,
    kind text collate "C" not null,
    id bigint not null,
    repository_id bigint not null,
    primary key (host, kind, id)
);
create index talks_repository_id on talks (host, kind, repository_id, id);

-- what the source called the newest page of a listing, and whom it told so
alter table lanes add column etag text;
alter table lanes add column etag_principal text;
