-- what was confirmed gone, kept for a while so that it can be brought back; the source cannot send it again
create table removed (
    host text not null,
    kind text not null,
    id integer not null,
    -- the object that was confirmed gone: itself, or the thread or repository that took it along
    root_kind text not null,
    root_id integer not null,
    repository_id integer not null,
    repository text not null,
    number integer,
    title text not null,
    url text not null,
    reason text not null,
    removed_at_ms integer not null,
    seen_at_ms integer not null,
    seen_request integer not null,
    item text not null,
    primary key (host, kind, id)
);
create index removed_root on removed (host, root_kind, root_id, kind, id);
create index removed_at on removed (removed_at_ms);

-- removals of a run that has not ended, or that the brake stopped
create table removal_tallies (
    host text primary key,
    threads integer not null,
    comments integer not null
);
