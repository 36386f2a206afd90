-- a sweep that is requested while one is under way is due after it
alter table lanes add column sweep_request_ms integer;

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

-- the version of the rows that search reads; they are rebuilt from the stored texts
alter table schema_version add column search_index integer not null default 1;
