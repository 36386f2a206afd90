-- the kind of each author, the author's relation to the repository, and the head commit of a pull request; they are
-- null until the item is read again
drop view comments;
alter table discussions add column author_kind text;
alter table discussions add column association text;
alter table issues add column author_kind text;
alter table issues add column association text;
alter table pull_requests add column author_kind text;
alter table pull_requests add column association text;
alter table issue_comments add column author_kind text;
alter table issue_comments add column association text;
alter table review_comments add column author_kind text;
alter table review_comments add column association text;
alter table reviews add column author_kind text;
alter table reviews add column association text;
alter table discussion_comments add column author_kind text;
alter table discussion_comments add column association text;
alter table pull_requests add column head_sha text;

-- the comments of every kind
create view comments as
select 'issue_comment' as kind, host, id, node_id, repository_id, repository, thread_number, reply_to, review_id,
       url, body, state, path, line, author, author_id, author_kind, association,
       created_at, updated_at from issue_comments
union all
select 'review_comment' as kind, host, id, node_id, repository_id, repository, thread_number, reply_to, review_id,
       url, body, state, path, line, author, author_id, author_kind, association,
       created_at, updated_at from review_comments
union all
select 'review' as kind, host, id, node_id, repository_id, repository, thread_number, reply_to, review_id,
       url, body, state, path, line, author, author_id, author_kind, association,
       created_at, updated_at from reviews
union all
select 'discussion_comment' as kind, host, id, node_id, repository_id, repository, thread_number, reply_to, review_id,
       url, body, state, path, line, author, author_id, author_kind, association,
       created_at, updated_at from discussion_comments;

-- threads whose association was never read: a sweep reads them again
create index discussions_unfilled on discussions (host, repository_id, id) where association is null;
create index issues_unfilled on issues (host, repository_id, id) where association is null;
create index pull_requests_unfilled on pull_requests (host, repository_id, id) where association is null;
