-- watched threads, what was emitted about them, and who has read it; none of it can be fetched again

-- what people asked to be watched; an id is never used again
create table watches (
    id bigint generated always as identity primary key,
    host text collate "C" not null,
    owner text collate "C" not null,
    name text collate "C" not null,
    -- one thread, or the threads with a label
    number bigint,
    label text,
    -- null until it is resolved
    repository_id bigint,
    kind text collate "C",
    mode text not null,
    -- start, now or a time; null for the usual start of its kind
    start text,
    -- the earliest update that becomes an event, in the source's time
    floor_ms bigint,
    source_issue bigint,
    state text collate "C" not null,
    problem text,
    created_ms bigint not null,
    -- how far the threads that are stored were looked at; null when all of them were
    derive_cursor text
);
create unique index watches_subject on watches (host, lower(owner), lower(name), coalesce(number, 0),
    lower(coalesce(label, '')), (case when number is null then coalesce(source_issue, 0) else 0 end));
create index watches_repository on watches (host, repository_id);

create table watched_threads (
    watch_id bigint not null,
    host text collate "C" not null,
    repository_id bigint not null,
    number bigint not null,
    kind text collate "C" not null,
    -- null until the thread itself was seen
    node_id text,
    title text,
    -- awaiting_feedback, blocked, closed or merged, and since when
    status text collate "C" not null,
    status_at_ms bigint,
    blocked_reason text,
    -- what events about its state are about, as JSON, and its labels
    facts text,
    labels text not null,
    -- the floor of the thread where it is not that of the watch
    floor_ms bigint,
    -- the source issue, in its own row and in those of the pull requests that close it
    source_issue bigint,
    pre_pr_last_consumed_comment_id bigint not null default 0,
    post_pr_last_redirected_comment_id bigint not null default 0,
    -- how far what is stored of it was turned into events; null when all of it was
    derive_cursor text,
    bootstrap_cursor text,
    bootstrap_complete boolean not null default false,
    swept_ms bigint,
    -- the source's time of the last answer that changed the row
    seen_at_ms bigint,
    primary key (watch_id, repository_id, number)
);
create index watched_threads_place on watched_threads (host, repository_id, number);
create index watched_threads_derive on watched_threads (watch_id, number) where derive_cursor is not null;

-- threads that moved, until everything that may have changed in them was read
create table moved_threads (
    host text collate "C" not null,
    repository_id bigint not null,
    number bigint not null,
    kind text collate "C" not null,
    node_id text not null,
    updated_at_ms bigint not null,
    -- what was read of it since, by the source's time
    looked_at_ms bigint,
    reviews_read_at_ms bigint,
    primary key (host, repository_id, number)
);

-- numbered in the order of commits: there is one writer at a time
create table events (
    seq bigint generated always as identity primary key,
    id text collate "C" not null unique,
    watch_id bigint not null,
    host text collate "C" not null,
    repository_id bigint not null,
    -- owner and name at that time
    repository text collate "C" not null,
    number bigint not null,
    thread_kind text collate "C" not null,
    title text,
    object_kind text collate "C" not null,
    object_id bigint not null,
    key text collate "C" not null,
    change text collate "C" not null,
    state_change text collate "C",
    class text collate "C" not null,
    reason text collate "C",
    author text collate "C",
    author_id bigint,
    author_kind text,
    association text,
    body bytea not null,
    url text collate "C" not null,
    path text,
    line bigint,
    reply_to bigint,
    review_id bigint,
    state text,
    head_sha text,
    labels text not null,
    created_at text not null,
    updated_at text not null,
    updated_at_ms bigint not null,
    content bytea not null,
    -- the source's time of the answer that showed it
    observed_at_ms bigint not null,
    -- since when no consumer needs it
    settled_ms bigint
);
create index events_object on events (host, object_kind, object_id, seq);
create index events_thread on events (host, repository_id, number, seq);
create index events_unsettled on events (seq) where settled_ms is null;
create index events_settled on events (settled_ms) where settled_ms is not null;
create index events_delivered on events (seq) where class in ('feedback', 'followup');

-- what was last emitted for each object; it outlives the events
create table emitted_objects (
    host text collate "C" not null,
    kind text collate "C" not null,
    id bigint not null,
    repository_id bigint not null,
    number bigint not null,
    updated_at text not null,
    -- the time that orders it
    updated_at_ms bigint not null,
    observed_at_ms bigint not null,
    observed_request bigint not null,
    content bytea not null,
    is_withdrawn boolean not null,
    class text collate "C" not null,
    reason text collate "C",
    -- how many events of the object have its updated_at
    repeats bigint not null,
    primary key (host, kind, id)
);
create index emitted_objects_thread on emitted_objects (host, repository_id, number, kind, updated_at_ms, id);

-- the readers of events: each has acknowledged everything up to its floor but the deliveries below it
create table consumers (
    name text collate "C" primary key,
    floor_seq bigint not null,
    max_tries bigint not null,
    created_ms bigint not null
);

create table deliveries (
    consumer text collate "C" not null,
    seq bigint not null,
    -- leased, waiting, acknowledged or dead
    state text collate "C" not null,
    token text collate "C",
    tries bigint not null,
    -- when the lease or the wait ends
    until_ms bigint,
    error text,
    -- how a program ended that was run for it, and what it printed
    exit_code bigint,
    stdout bytea,
    ended_ms bigint,
    primary key (consumer, seq)
);
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
               case when watched_threads.bootstrap_complete and watched_threads.derive_cursor is null then 1 else 0 end
                   as bootstrap_complete,
               to_char(to_timestamp(coalesce(watched_threads.seen_at_ms, watches.created_ms) / 1000.0) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as updated_at
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
       case when exists (select 1 from consumers) then to_char(to_timestamp(events.settled_ms / 1000.0) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') end as processed_at,
       to_char(to_timestamp(events.observed_at_ms / 1000.0) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as created_at
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
       to_char(to_timestamp(coalesce(watched_threads.seen_at_ms, watches.created_ms) / 1000.0) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as updated_at
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
