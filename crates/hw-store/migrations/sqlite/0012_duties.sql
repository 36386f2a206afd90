drop table leases;

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
