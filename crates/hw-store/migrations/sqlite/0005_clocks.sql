-- when the source sent the lane's newest page with this ETag, by its own time: after a day the page is read without it
alter table lanes add column etag_at_ms integer;
-- how many objects the lane gained less those it lost, compared with what its listing says of itself
alter table lanes add column stored integer not null default 0;
-- what is believed of a source's clock, as one machine has seen it
create table source_clocks (
    host text not null,
    machine text not null,
    clock text not null,
    primary key (host, machine)
);
