-- a sweep that is requested while one is under way is due after it
alter table lanes add column sweep_request_ms bigint;

-- work on many rows that was decided in one transaction and is done in small ones
create table chores (
    id bigint generated always as identity primary key,
    kind text not null,
    -- what it is about; empty or zero where that is the whole workspace
    host text not null,
    repository_id bigint not null,
    lane_id bigint not null,
    -- a removal: the request that showed it, and the evidence
    observed_at_ms bigint,
    observed_request bigint,
    reason text,
    -- the position: everything up to this row of this stage is done
    stage bigint not null,
    after_host text not null,
    after_id bigint not null,
    unique (kind, host, repository_id, lane_id)
);

-- the version of the rows that search reads; they are rebuilt from the stored texts
alter table schema_version add column search_index bigint not null default 1;
