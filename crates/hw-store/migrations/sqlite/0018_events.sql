-- watched threads, what was emitted about them, and who has read it; none of it can be fetched again

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

-- threads that moved, until everything that may have changed in them was read
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
