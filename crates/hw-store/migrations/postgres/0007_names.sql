-- names that explain themselves; nothing is refetched
alter table talks rename to comment_queue;
alter table sweep_rows rename to sweep_inventory;
alter table removed rename to removed_items;
alter table search_places rename to search_documents;
alter table pulls rename to last_pulls;

alter table lanes rename column through_ms to watermark_ms;
alter table lanes rename column failures to failure_count;
alter table lanes rename column sweep_began_at_ms to sweep_started_at_ms;
alter table lanes rename column sweep_began_request to sweep_started_request;
alter table lanes rename column etag_at_ms to etag_sent_at_ms;
alter table lanes rename column stored to object_count;

alter table cells rename column lane to lane_id;
alter table cells rename column seen_at_ms to observed_at_ms;
alter table cells rename column seen_request to observed_request;
alter table cells rename column gone_at_ms to tombstone_at_ms;
alter table cells rename column gone_request to tombstone_request;

alter table quarantine rename column lane to lane_id;
alter table quarantine rename column raw to raw_json;
alter table quarantine rename column tries to attempts;
alter table quarantine rename column seen_at_ms to observed_at_ms;
alter table quarantine rename column seen_request to observed_request;

alter table sweep_inventory rename column lane to lane_id;

alter table removed_items rename column seen_at_ms to observed_at_ms;
alter table removed_items rename column seen_request to observed_request;
alter table removed_items rename column item to item_json;

alter table search_documents rename column thread to thread_number;
alter table search_documents rename column length to token_count;
alter table search_documents rename column words to profile;

alter table leases rename column since_ms to taken_at_ms;

alter table principals rename column paused_why to pause_reason;
alter table principals rename column minute_ms to minute_started_ms;
alter table principals rename column reserved to reserved_requests;

drop view comments;
alter table issue_comments rename column thread to thread_number;
alter table review_comments rename column thread to thread_number;
alter table reviews rename column thread to thread_number;
alter table discussion_comments rename column thread to thread_number;
-- the comments of every kind
create view comments as
select 'issue_comment' as kind, host, id, node_id, repository_id, repository, thread_number, reply_to, review_id,
       url, body, state, path, line, author, author_id, created_at, updated_at from issue_comments
union all
select 'review_comment' as kind, host, id, node_id, repository_id, repository, thread_number, reply_to, review_id,
       url, body, state, path, line, author, author_id, created_at, updated_at from review_comments
union all
select 'review' as kind, host, id, node_id, repository_id, repository, thread_number, reply_to, review_id,
       url, body, state, path, line, author, author_id, created_at, updated_at from reviews
union all
select 'discussion_comment' as kind, host, id, node_id, repository_id, repository, thread_number, reply_to, review_id,
       url, body, state, path, line, author, author_id, created_at, updated_at from discussion_comments;

alter index talks_pkey rename to comment_queue_pkey;
alter index sweep_rows_pkey rename to sweep_inventory_pkey;
alter index removed_pkey rename to removed_items_pkey;
alter index search_places_pkey rename to search_documents_pkey;
alter index pulls_pkey rename to last_pulls_pkey;
alter index talks_repository_id rename to comment_queue_repository_id;
alter index removed_root rename to removed_items_root;
alter index removed_at rename to removed_items_removed_at;
-- cells_lane and cells_gone keep their names, as in SQLite, where an index cannot be renamed
