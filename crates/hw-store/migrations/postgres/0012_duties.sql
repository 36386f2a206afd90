drop table leases;

-- what is done regularly or on request; whoever performs a duty owns its row
create table duties (
    name text primary key,
    -- what the run covers that requested or performs it
    detail text not null,
    due_ms bigint,
    requested_ms bigint,
    owner text,
    epoch bigint not null,
    taken_at_ms bigint,
    ended_epoch bigint,
    ended_ms bigint,
    last_error text,
    failures bigint not null
);

-- the processes that perform duties; each counts up its beat while it lives
create table workers (
    id text primary key,
    machine text not null,
    process bigint not null,
    version text not null,
    role text not null,
    started_ms bigint not null,
    beat bigint not null,
    beat_ms bigint not null
);
