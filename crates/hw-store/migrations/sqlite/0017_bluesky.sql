-- accounts on Bluesky, their posts, and the links in them
alter table lanes add column account text;

-- the names of all accounts that were seen; an account that lost its name to another has none
create table account_names (
    host text not null,
    did text not null,
    handle text,
    primary key (host, did),
    unique (host, handle)
);

-- the accounts that are followed
create table accounts (
    host text not null,
    did text not null,
    added_ms integer not null,
    -- active, gone, suspended, deactivated, blocked, private or refused
    state text not null default 'active',
    state_reason text,
    -- how many times in a row it was unavailable, and the last time, by our own clock
    failures integer not null default 0,
    failed_ms integer,
    -- the profile's count of posts when its feed was last read
    posts_count integer,
    -- when its feed was last read to the end of a walk, and down to the look-back
    read_ms integer,
    daily_read_ms integer,
    -- the time after which its feed is read without a sign
    interval_ms integer not null default 86400000,
    -- the time of the newest item of its feed when that was last read
    head_at text,
    -- when a poll last asked about it
    polled_at_ms integer,
    posts_fetched integer not null default 0,
    -- why its last poll failed
    last_error text,
    -- a user asked for its feed, or for a poll that starts over
    is_requested integer not null default 0,
    is_reset integer not null default 0,
    primary key (host, did)
);

create table posts (
    host text not null,
    id integer not null,
    uri text not null,
    cid text not null,
    -- the author of the text
    did text not null,
    -- the account in whose feed the item is
    sharer text not null,
    text blob not null,
    langs text not null,
    created_at text,
    indexed_at text not null,
    sort_at text not null,
    sort_ms integer not null,
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
    host text not null,
    post_id integer not null,
    position integer not null,
    normal text not null,
    sharer text not null,
    sort_ms integer not null,
    primary key (host, post_id, position)
) without rowid;
create index post_links_sort_ms on post_links (sort_ms, normal, sharer);
create index post_links_normal on post_links (normal, sort_ms);

-- the last polls of all accounts
create table poll_rounds (
    host text not null,
    began_ms integer not null,
    took_ms integer not null,
    accounts integer not null,
    -- feeds that were read, and those among them with new posts, or read for the first time
    feeds integer not null,
    active integer not null,
    initial integer not null,
    -- accounts that are unavailable, and those that failed
    skipped integer not null,
    failed integer not null,
    posts integer not null,
    links integer not null,
    removed integer not null,
    requests integer not null,
    primary key (host, began_ms)
);

create view poll_state as
select coalesce(account_names.handle, accounts.did) as user_handle,
       case when accounts.is_reset <> 0 then null else accounts.head_at end as last_cursor,
       strftime('%Y-%m-%d %H:%M:%S', accounts.polled_at_ms / 1000, 'unixepoch') as last_polled_at,
       accounts.posts_fetched as posts_fetched_count
  from accounts
  left join account_names on account_names.host = accounts.host and account_names.did = accounts.did;

create trigger poll_state_delete instead of delete on poll_state
begin
    update accounts set is_reset = 1
     where (host, did) in (select accounts.host, accounts.did from accounts
                             left join account_names on account_names.host = accounts.host
                                                    and account_names.did = accounts.did
                            where coalesce(account_names.handle, accounts.did) = old.user_handle);
end;
