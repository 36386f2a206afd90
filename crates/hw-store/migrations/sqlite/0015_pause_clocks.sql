-- a pause ends by the clock of the machine that stored it, and may stop only some classes of requests
create table earlier_pauses as select principal, bucket, cause, until_ms, reason from pauses;
drop table pauses;
create table pauses (
    principal text not null,
    bucket text not null,
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
insert into pauses (principal, bucket, cause, class, machine, until_ms, reason)
select principal, bucket, cause, 'replies', '', until_ms, reason from earlier_pauses;
drop table earlier_pauses;
