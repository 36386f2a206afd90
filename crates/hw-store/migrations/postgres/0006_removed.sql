-- what was confirmed gone, kept for a while so that it can be brought back; the source cannot send it again
create table removed (
    host text collate "C" not null,
    kind text collate "C" not null,
    id bigint not null,
    -- the object that was confirmed gone: itself, or the thread or repository that took it along
    root_kind text collate "C" not null,
    root_id bigint not null,
    repository_id bigint not null,
    repository text collate "C" not null,
    number bigint,
    title text not null,
    url text collate "C" not null,
    reason text not null,
    removed_at_ms bigint not null,
    seen_at_ms bigint not null,
    seen_request bigint not null,
    item text not null,
    primary key (host, kind, id)
);
create index removed_root on removed (host, root_kind, root_id, kind, id);
create index removed_at on removed (removed_at_ms);

-- removals of a run that has not ended, or that the brake stopped
create table removal_tallies (
    host text collate "C" primary key,
    threads bigint not null,
    comments bigint not null
);
