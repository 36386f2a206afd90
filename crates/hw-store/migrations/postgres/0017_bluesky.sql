-- accounts on Bluesky, their posts, and the links in them
alter table lanes add column account text collate "C";

-- the names of all accounts that were seen; an account that lost its name to another has none
create table account_names (
    host text collate "C" not null,
    did text collate "C" not null,
    handle text collate "C",
    primary key (host, did),
    unique (host, handle)
);

-- the accounts that are followed
create table accounts (
    host text collate "C" not null,
    did text collate "C" not null,
    added_ms bigint not null,
    -- active, gone, suspended, deactivated, blocked, private or refused
    state text not null default 'active',
    state_reason text,
    -- how many times in a row it was unavailable, and the last time, by our own clock
    failures bigint not null default 0,
    failed_ms bigint,
    -- the profile's count of posts when its feed was last read
    posts_count bigint,
    -- when its feed was last read to the end of a walk, and down to the look-back
    read_ms bigint,
    daily_read_ms bigint,
    -- the time after which its feed is read without a sign
    interval_ms bigint not null default 86400000,
    -- the time of the newest item of its feed when that was last read
    head_at text,
    -- when a poll last asked about it
    polled_at_ms bigint,
    posts_fetched bigint not null default 0,
    -- why its last poll failed
    last_error text,
    -- a user asked for its feed, or for a poll that starts over
    is_requested boolean not null default false,
    is_reset boolean not null default false,
    primary key (host, did)
);

create table posts (
    host text collate "C" not null,
    id bigint not null,
    uri text collate "C" not null,
    cid text collate "C" not null,
    -- the author of the text
    did text collate "C" not null,
    -- the account in whose feed the item is
    sharer text collate "C" not null,
    text bytea not null,
    langs text not null,
    created_at text,
    indexed_at text not null,
    sort_at text not null,
    sort_ms bigint not null,
    reply_parent text,
    reply_root text,
    quote text,
    repost_of text,
    links text not null,
    primary key (host, id),
    unique (uri, host)
);
create index posts_sort_ms on posts (sort_ms, host, id);
create index posts_sharer on posts (sharer, sort_ms, host, id);
create index posts_repost_of on posts (repost_of) where repost_of is not null;

-- one row for each link of each post
create table post_links (
    host text collate "C" not null,
    post_id bigint not null,
    position bigint not null,
    normal text collate "C" not null,
    sharer text collate "C" not null,
    sort_ms bigint not null,
    primary key (host, post_id, position)
);
create index post_links_sort_ms on post_links (sort_ms, normal, sharer);
create index post_links_normal on post_links (normal, sort_ms);

-- the last polls of all accounts
create table poll_rounds (
    host text collate "C" not null,
    began_ms bigint not null,
    took_ms bigint not null,
    accounts bigint not null,
    -- feeds that were read, and those among them with new posts, or read for the first time
    feeds bigint not null,
    active bigint not null,
    initial bigint not null,
    -- accounts that are unavailable, and those that failed
    skipped bigint not null,
    failed bigint not null,
    posts bigint not null,
    links bigint not null,
    removed bigint not null,
    requests bigint not null,
    primary key (host, began_ms)
);

create view poll_state as
select coalesce(account_names.handle, accounts.did) as user_handle,
       case when accounts.is_reset then null else accounts.head_at end as last_cursor,
       to_timestamp(accounts.polled_at_ms / 1000) at time zone 'UTC' as last_polled_at,
       accounts.posts_fetched as posts_fetched_count
  from accounts
  left join account_names on account_names.host = accounts.host and account_names.did = accounts.did;

create or replace function reset_poll_state() returns trigger language plpgsql as $$
begin
    update accounts set is_reset = true
     where (host, did) in (select accounts.host, accounts.did from accounts
                             left join account_names on account_names.host = accounts.host
                                                    and account_names.did = accounts.did
                            where coalesce(account_names.handle, accounts.did) = old.user_handle);
    return old;
end;
$$;
create trigger poll_state_delete instead of delete on poll_state
    for each row execute function reset_poll_state();
