-- a pause ends by the clock of the machine that stored it, and may stop only some classes of requests
create table earlier_pauses as select principal, bucket, cause, until_ms, reason from pauses;
drop table pauses;
create table pauses (
    principal text collate "C" not null,
    bucket text collate "C" not null,
    cause text collate "C" not null,
    -- the most important class of requests that it stops
    class text collate "C" not null,
    -- the machine that stored it, whose clock the next two columns are of; empty if an older version stored it
    machine text collate "C" not null,
    stored_ms bigint,
    until_ms bigint not null,
    -- the same end by the source's clock, if the machine knew it
    source_until_ms bigint,
    reason text not null,
    primary key (principal, bucket, cause, class, machine)
);
insert into pauses (principal, bucket, cause, class, machine, until_ms, reason)
select principal, bucket, cause, 'replies', '', until_ms, reason from earlier_pauses;
drop table earlier_pauses;
