-- the schema of a new database: what all migrations together create

create table schema_version (
    guid text not null,
    number integer not null,
    -- the version of the rows that search reads; they are rebuilt from the stored texts
    search_index integer not null default 1
);

create table lanes (
    id integer primary key,
    name text not null unique,
    host text not null,
    organization text,
    repository_id integer,
    surface text not null,
    coverage text not null,
    watermark_ms integer,
    due_ms integer not null default 0,
    failure_count integer not null default 0,
    page_size integer not null,
    checked_at_ms integer,
    last_error text,
    sweep_due_ms integer,
    sweep_started_at_ms integer,
    sweep_started_request integer,
    sweep_cursor text,
    sweep_complete integer not null default 0,
    -- the ETag of the listing's newest page, and the principal that received it
    etag text,
    etag_principal text,
    -- when the source sent it, by its own clock: after a day the page is requested without it
    etag_sent_at_ms integer,
    -- the number of stored objects, to compare with the listing's own count
    object_count integer not null default 0,
    -- the due time of the request that the sweep under way serves; sweep_due_ms is that of a later request
    sweep_request_ms integer,
    -- the account whose feed it is
    account text
);

create table cells (
    host text not null,
    kind text not null,
    id integer not null,
    lane_id integer not null references lanes (id),
    updated_at_ms integer,
    updated_at text,
    observed_at_ms integer,
    observed_request integer,
    digest blob,
    tombstone_at_ms integer,
    tombstone_request integer,
    search_rowid integer,
    primary key (host, kind, id)
) without rowid;
create index cells_lane on cells (lane_id, id);
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
    author_kind text,
    association text,
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
    author_kind text,
    association text,
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
    author_kind text,
    association text,
    created_at text not null,
    updated_at text not null,
    closed_at text,
    is_draft integer not null,
    merged_at text,
    head_ref text not null,
    head_sha text,
    closes text not null,
    -- true while they have not been read since the row changed
    closes_due integer not null default 0,
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
create index pull_requests_closes_due on pull_requests (host, id, repository_id) where closes_due;

-- it indexes our own tokens, separated by spaces
create virtual table search using fts5 (
    type, title, body, url, repository, author, facets,
    created_at unindexed, state unindexed, boost unindexed,
    content = '', contentless_delete = 1, contentless_unindexed = 1,
    tokenize = 'ascii'
);

-- each page becomes a segment of the index: twice the usual number may accumulate before they are merged
insert into search (search, rank) values ('automerge', 8);

create table quarantine (
    lane_id integer not null references lanes (id),
    subject text not null,
    reason text not null,
    raw_json text not null,
    attempts integer not null,
    observed_at_ms integer not null,
    observed_request integer not null,
    updated_at text,
    updated_at_ms integer,
    primary key (lane_id, subject)
);
create index quarantine_subject on quarantine (subject);

create table sweep_inventory (
    lane_id integer not null references lanes (id),
    id integer not null,
    node_id text not null,
    updated_at_ms integer not null,
    primary key (lane_id, id)
) without rowid;

-- what is done regularly or on request; whoever performs a duty owns its row
create table duties (
    name text primary key,
    -- what the run covers that requested or performs it
    detail text not null,
    due_ms integer,
    requested_ms integer,
    owner text,
    epoch integer not null,
    taken_at_ms integer,
    ended_epoch integer,
    ended_ms integer,
    last_error text,
    failures integer not null
);

-- the processes that perform duties; each counts up its beat while it lives
create table workers (
    id text primary key,
    machine text not null,
    process integer not null,
    version text not null,
    role text not null,
    started_ms integer not null,
    beat integer not null,
    beat_ms integer not null
);

create table counters (
    name text primary key,
    value integer not null
);

create table issue_comments (
    host text not null,
    id integer not null,
    node_id text not null,
    repository_id integer not null,
    repository text not null,
    thread_number integer not null,
    reply_to integer,
    review_id integer,
    url text not null,
    body text not null,
    state text,
    path text,
    line integer,
    author text,
    author_id integer,
    author_kind text,
    association text,
    created_at text not null,
    updated_at text not null,
    primary key (host, id)
);
create index issue_comments_repository_id on issue_comments (host, repository_id, id);
create index issue_comments_thread on issue_comments (host, repository_id, thread_number);
create index issue_comments_author on issue_comments (author);
create index issue_comments_created_at on issue_comments (created_at);
create index issue_comments_repository_created_at on issue_comments (repository, created_at);

create table review_comments (
    host text not null,
    id integer not null,
    node_id text not null,
    repository_id integer not null,
    repository text not null,
    thread_number integer not null,
    reply_to integer,
    review_id integer,
    url text not null,
    body text not null,
    state text,
    path text,
    line integer,
    author text,
    author_id integer,
    author_kind text,
    association text,
    created_at text not null,
    updated_at text not null,
    primary key (host, id)
);
create index review_comments_repository_id on review_comments (host, repository_id, id);
create index review_comments_thread on review_comments (host, repository_id, thread_number);
create index review_comments_author on review_comments (author);
create index review_comments_created_at on review_comments (created_at);
create index review_comments_repository_created_at on review_comments (repository, created_at);

create table reviews (
    host text not null,
    id integer not null,
    node_id text not null,
    repository_id integer not null,
    repository text not null,
    thread_number integer not null,
    reply_to integer,
    review_id integer,
    url text not null,
    body text not null,
    state text,
    path text,
    line integer,
    author text,
    author_id integer,
    author_kind text,
    association text,
    created_at text not null,
    updated_at text not null,
    primary key (host, id)
);
create index reviews_repository_id on reviews (host, repository_id, id);
create index reviews_thread on reviews (host, repository_id, thread_number);
create index reviews_author on reviews (author);
create index reviews_created_at on reviews (created_at);
create index reviews_repository_created_at on reviews (repository, created_at);

create table discussion_comments (
    host text not null,
    id integer not null,
    node_id text not null,
    repository_id integer not null,
    repository text not null,
    thread_number integer not null,
    reply_to integer,
    review_id integer,
    url text not null,
    body text not null,
    state text,
    path text,
    line integer,
    author text,
    author_id integer,
    author_kind text,
    association text,
    created_at text not null,
    updated_at text not null,
    primary key (host, id)
);
create index discussion_comments_repository_id on discussion_comments (host, repository_id, id);
create index discussion_comments_thread on discussion_comments (host, repository_id, thread_number);
create index discussion_comments_author on discussion_comments (author);
create index discussion_comments_created_at on discussion_comments (created_at);
create index discussion_comments_repository_created_at on discussion_comments (repository, created_at);

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

create index discussions_number on discussions (host, repository_id, number);
create index issues_number on issues (host, repository_id, number);
create index pull_requests_number on pull_requests (host, repository_id, number);

-- threads whose comments are due: they changed since, or shortly before, their comments were read
create table comment_queue (
    host text not null,
    kind text not null,
    id integer not null,
    repository_id integer not null,
    primary key (host, kind, id)
);
create index comment_queue_repository_id on comment_queue (host, kind, repository_id, id);

-- the thread of each search row, and how often it contains each word; read for each match of a query
create table search_documents (
    rowid integer primary key,
    host text not null,
    repository_id integer not null,
    thread_number integer not null,
    created_ms integer not null,
    token_count integer not null,
    profile blob not null
);

-- the user of the token; search ranks repositories where this user writes first
create table viewers (
    host text primary key,
    login text not null
);

-- how the last pull of each source ended; it succeeded if there is no error
create table last_pulls (
    host text not null,
    source text not null,
    ended_ms integer not null,
    error text,
    primary key (host, source)
);

-- logins ignore case
create index discussions_author_created_at on discussions (lower(author), created_at);
create index issues_author_created_at on issues (lower(author), created_at);
create index pull_requests_author_created_at on pull_requests (lower(author), created_at);

-- tombstones are counted without reading every cell
create index cells_gone on cells (lane_id, id) where tombstone_at_ms is not null;

-- the state of a source's clock, as observed by one machine
create table source_clocks (
    host text not null,
    machine text not null,
    clock text not null,
    primary key (host, machine)
);

-- removed items, kept for a while so that they can be restored: the source no longer has them
create table removed_items (
    host text not null,
    kind text not null,
    id integer not null,
    -- the object that was removed: itself, or its thread or repository
    root_kind text not null,
    root_id integer not null,
    repository_id integer not null,
    repository text not null,
    number integer,
    title text not null,
    url text not null,
    reason text not null,
    removed_at_ms integer not null,
    observed_at_ms integer not null,
    observed_request integer not null,
    item_json text not null,
    primary key (host, kind, id)
);
create index removed_items_root on removed_items (host, root_kind, root_id, kind, id);
create index removed_items_removed_at on removed_items (removed_at_ms);

-- removals of a run that has not ended, or that the brake stopped
create table removal_tallies (
    host text primary key,
    threads integer not null,
    comments integer not null
);

-- pauses of requests; each belongs to a budget of a principal
create table pauses (
    principal text not null,
    -- the budget as the source names it: core, graphql; * means all of them
    bucket text not null,
    -- limit: the source refused a request; reserve: the rest is left for other tools and for more important requests
    cause text not null,
    -- the most important class of requests that it stops
    class text not null,
    -- the machine that stored it, whose clock the next two columns are of; empty if an older version stored it
    machine text not null,
    stored_ms integer,
    until_ms integer not null,
    -- the same end by the source's clock, if the machine knew it
    source_until_ms integer,
    reason text not null,
    primary key (principal, bucket, cause, class, machine)
);

create table request_minutes (
    principal text not null,
    bucket text not null,
    started_ms integer not null,
    reserved_requests integer not null,
    primary key (principal, bucket)
);

-- what the workspace follows: an owner's login, or one repository as OWNER/REPOSITORY, as the user wrote it
create table sources (
    host text not null,
    name text not null,
    -- the repository that was found under the name of a single repository
    repository_id integer,
    added_ms integer not null,
    primary key (host, name)
);

-- names ignore case
create unique index sources_name on sources (host, lower(name));

-- work on many rows that was decided in one transaction and is done in small ones
create table chores (
    id integer primary key,
    kind text not null,
    -- what it is about; empty or zero where that is the whole workspace
    host text not null,
    repository_id integer not null,
    lane_id integer not null,
    -- a removal: the request that showed it, and the evidence
    observed_at_ms integer,
    observed_request integer,
    reason text,
    -- the position: everything up to this row of this stage is done
    stage integer not null,
    after_host text not null,
    after_id integer not null,
    unique (kind, host, repository_id, lane_id)
);

-- threads whose association was never read: a sweep reads them again
create index discussions_unfilled on discussions (host, repository_id, id) where association is null;
create index issues_unfilled on issues (host, repository_id, id) where association is null;
create index pull_requests_unfilled on pull_requests (host, repository_id, id) where association is null;

-- the uses of a lane: "never pulled" is said of a lane only to a use that lacks it
create table lane_uses (
    lane_id integer not null references lanes (id) on delete cascade,
    use text not null,
    primary key (lane_id, use)
);

-- the reasons to follow a repository; its texts are removed when none is left
create table follows (
    host text not null,
    repository_id integer not null,
    reason text not null,
    primary key (host, repository_id, reason)
);

-- the pages of the discovery in progress, for the worker that takes over
create table discovery_pages (
    host text not null,
    number integer not null,
    -- the claim of the pull that recorded it, or adopted it
    epoch integer not null,
    content text not null,
    primary key (host, number)
);

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

-- what people asked to be watched; an id is never used again
create table watches (
    id integer primary key autoincrement,
    host text not null,
    owner text not null,
    name text not null,
    -- one thread, or the threads with a label
    number integer,
    label text,
    -- null until it is resolved
    repository_id integer,
    kind text,
    mode text not null,
    -- start, now or a time; null for the usual start of its kind
    start text,
    -- the earliest update that becomes an event, in the source's time
    floor_ms integer,
    source_issue integer,
    state text not null,
    problem text,
    created_ms integer not null,
    -- how far the threads that are stored were looked at; null when all of them were
    derive_cursor text
);
create unique index watches_subject on watches (host, lower(owner), lower(name), coalesce(number, 0),
    lower(coalesce(label, '')), (case when number is null then coalesce(source_issue, 0) else 0 end));
create index watches_repository on watches (host, repository_id);

create table watched_threads (
    watch_id integer not null,
    host text not null,
    repository_id integer not null,
    number integer not null,
    kind text not null,
    -- null until the thread itself was seen
    node_id text,
    title text,
    -- awaiting_feedback, blocked, closed or merged, and since when
    status text not null,
    status_at_ms integer,
    blocked_reason text,
    -- what events about its state are about, as JSON, and its labels
    facts text,
    labels text not null,
    -- the floor of the thread where it is not that of the watch
    floor_ms integer,
    -- the source issue, in its own row and in those of the pull requests that close it
    source_issue integer,
    pre_pr_last_consumed_comment_id integer not null default 0,
    post_pr_last_redirected_comment_id integer not null default 0,
    -- how far what is stored of it was turned into events; null when all of it was
    derive_cursor text,
    bootstrap_cursor text,
    bootstrap_complete integer not null default 0,
    swept_ms integer,
    -- the source's time of the last answer that changed the row
    seen_at_ms integer,
    primary key (watch_id, repository_id, number)
);
create index watched_threads_place on watched_threads (host, repository_id, number);
create index watched_threads_derive on watched_threads (watch_id, number) where derive_cursor is not null;

-- threads that moved and were not looked at since
create table moved_threads (
    host text not null,
    repository_id integer not null,
    number integer not null,
    kind text not null,
    node_id text not null,
    updated_at_ms integer not null,
    -- what was read of it since, by the source's time
    looked_at_ms integer,
    reviews_read_at_ms integer,
    primary key (host, repository_id, number)
);

-- numbered in the order of commits: there is one writer at a time
create table events (
    seq integer primary key autoincrement,
    id text not null unique,
    watch_id integer not null,
    host text not null,
    repository_id integer not null,
    -- owner and name at that time
    repository text not null,
    number integer not null,
    thread_kind text not null,
    title text,
    object_kind text not null,
    object_id integer not null,
    key text not null,
    change text not null,
    state_change text,
    class text not null,
    reason text,
    author text,
    author_id integer,
    author_kind text,
    association text,
    body blob not null,
    url text not null,
    path text,
    line integer,
    reply_to integer,
    review_id integer,
    state text,
    head_sha text,
    labels text not null,
    created_at text not null,
    updated_at text not null,
    updated_at_ms integer not null,
    content blob not null,
    -- the source's time of the answer that showed it
    observed_at_ms integer not null,
    -- since when no consumer needs it
    settled_ms integer
);
create index events_object on events (host, object_kind, object_id, seq);
create index events_thread on events (host, repository_id, number, seq);
create index events_unsettled on events (seq) where settled_ms is null;
create index events_settled on events (settled_ms) where settled_ms is not null;
create index events_delivered on events (seq) where class in ('feedback', 'followup');

-- what was last emitted for each object; it outlives the events
create table emitted_objects (
    host text not null,
    kind text not null,
    id integer not null,
    repository_id integer not null,
    number integer not null,
    updated_at text not null,
    -- the time that orders it
    updated_at_ms integer not null,
    observed_at_ms integer not null,
    observed_request integer not null,
    content blob not null,
    is_withdrawn integer not null,
    class text not null,
    reason text,
    -- how many events of the object have its updated_at
    repeats integer not null,
    primary key (host, kind, id)
) without rowid;
create index emitted_objects_thread on emitted_objects (host, repository_id, number, kind, updated_at_ms, id);

-- the readers of events: each has acknowledged everything up to its floor but the deliveries below it
create table consumers (
    name text primary key,
    floor_seq integer not null,
    max_tries integer not null,
    created_ms integer not null
);

create table deliveries (
    consumer text not null,
    seq integer not null,
    -- leased, waiting, acknowledged or dead
    state text not null,
    token text,
    tries integer not null,
    -- when the lease or the wait ends
    until_ms integer,
    error text,
    -- how a program ended that was run for it, and what it printed
    exit_code integer,
    stdout blob,
    ended_ms integer,
    primary key (consumer, seq)
) without rowid;
create index deliveries_due on deliveries (consumer, state, until_ms);
create index deliveries_seq on deliveries (seq);

-- the tables of seed 000, read-only

create view github_comment_poll_cursors as
select places.repo_full_name, places.surface, places.number as scope_number,
       coalesce((select newest.updated_at from emitted_objects as newest
                  where newest.host = places.host and newest.repository_id = places.repository_id
                    and newest.number = places.number and newest.kind = places.object_kind
                  order by newest.updated_at_ms desc, newest.id desc limit 1),
                '1970-01-01T00:00:00Z') as last_updated_at,
       coalesce((select newest.id from emitted_objects as newest
                  where newest.host = places.host and newest.repository_id = places.repository_id
                    and newest.number = places.number and newest.kind = places.object_kind
                  order by newest.updated_at_ms desc, newest.id desc limit 1), 0) as last_comment_id,
       places.bootstrap_complete, places.updated_at
  from (select coalesce(repositories.owner || '/' || repositories.name, watches.owner || '/' || watches.name)
                   as repo_full_name,
               watched_threads.host, watched_threads.repository_id, watched_threads.number,
               surfaces.surface, surfaces.object_kind,
               case when watched_threads.bootstrap_complete <> 0 and watched_threads.derive_cursor is null then 1 else 0 end
                   as bootstrap_complete,
               strftime('%Y-%m-%dT%H:%M:%fZ', coalesce(watched_threads.seen_at_ms, watches.created_ms) / 1000.0, 'unixepoch') as updated_at
          from watched_threads
          join watches on watches.id = watched_threads.watch_id
          left join repositories on repositories.host = watched_threads.host
                                and repositories.id = watched_threads.repository_id
          join (select 'pr_review_comments' as surface, 'review_comment' as object_kind, 'talk' as purpose
                union all select 'pr_issue_comments', 'issue_comment', 'talk'
                union all select 'pr_reviews', 'review', 'talk'
                union all select 'issue_pre_pr_followups', 'issue_comment', 'followups'
                union all select 'issue_post_pr_redirects', 'issue_comment', 'redirects'
                union all select 'issue_operator_commands', 'issue_comment', 'commands') as surfaces
            on surfaces.purpose =
               case when watches.mode = 'commands' then 'commands'
                    when coalesce(watched_threads.source_issue, 0) <> watched_threads.number then 'talk'
                    when exists (select 1 from watched_threads as closing
                                  where closing.watch_id = watched_threads.watch_id
                                    and closing.repository_id = watched_threads.repository_id
                                    and closing.source_issue = watched_threads.number
                                    and closing.number <> watched_threads.number) then 'redirects'
                    else 'followups' end
           and (watched_threads.kind = 'pull_request' or surfaces.object_kind = 'issue_comment')
         where not exists (select 1 from watched_threads as other
                            where other.host = watched_threads.host
                              and other.repository_id = watched_threads.repository_id
                              and other.number = watched_threads.number
                              and other.watch_id < watched_threads.watch_id)) as places;

create view feedback_events as
select coalesce(repositories.owner || '/' || repositories.name, events.repository) as repo_full_name,
       events.key as event_key,
       case when events.thread_kind = 'pull_request' then events.number end as pr_number,
       case when events.thread_kind <> 'pull_request' then events.number
            else (select max(watched_threads.source_issue) from watched_threads
                   where watched_threads.host = events.host
                     and watched_threads.repository_id = events.repository_id
                     and watched_threads.number = events.number) end as issue_number,
       events.object_kind as kind, events.object_id as comment_id, events.updated_at,
       case when exists (select 1 from consumers) then strftime('%Y-%m-%dT%H:%M:%fZ', events.settled_ms / 1000.0, 'unixepoch') end as processed_at,
       strftime('%Y-%m-%dT%H:%M:%fZ', events.observed_at_ms / 1000.0, 'unixepoch') as created_at
  from events
  left join repositories on repositories.host = events.host and repositories.id = events.repository_id
 where events.class in ('feedback', 'followup') and events.change in ('created', 'edited')
   and not exists (select 1 from events as later
                    where later.host = events.host and later.object_kind = events.object_kind
                      and later.object_id = events.object_id and later.seq > events.seq
                      and later.key = events.key and later.change in ('created', 'edited'));

create view issue_comment_cursors as
select coalesce(repositories.owner || '/' || repositories.name, watches.owner || '/' || watches.name)
           as repo_full_name,
       watched_threads.number as issue_number, watched_threads.pre_pr_last_consumed_comment_id,
       watched_threads.post_pr_last_redirected_comment_id,
       strftime('%Y-%m-%dT%H:%M:%fZ', coalesce(watched_threads.seen_at_ms, watches.created_ms) / 1000.0, 'unixepoch') as updated_at
  from watched_threads
  join watches on watches.id = watched_threads.watch_id
  left join repositories on repositories.host = watched_threads.host
                        and repositories.id = watched_threads.repository_id
 where watched_threads.source_issue = watched_threads.number
   and not exists (select 1 from watched_threads as other
                    where other.host = watched_threads.host
                      and other.repository_id = watched_threads.repository_id
                      and other.number = watched_threads.number
                      and other.source_issue = other.number
                      and other.watch_id < watched_threads.watch_id);
