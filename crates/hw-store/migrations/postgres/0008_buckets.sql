-- limits belong to a budget of a principal, not to the principal
create table pauses (
    principal text collate "C" not null,
    -- the budget as the source names it: core, graphql; * means all of them
    bucket text collate "C" not null,
    -- limit: the source refused a request; reserve: the rest is left for the user's other tools
    cause text collate "C" not null,
    until_ms bigint not null,
    reason text not null,
    primary key (principal, bucket, cause)
);
insert into pauses (principal, bucket, cause, until_ms, reason)
select case when name like '%/reserve' then substr(name, 1, length(name) - 8) else name end, '*',
       case when name like '%/reserve' then 'reserve' else 'limit' end, paused_until_ms,
       coalesce(pause_reason, '')
  from principals where paused_until_ms is not null;

create table request_minutes (
    principal text collate "C" not null,
    bucket text collate "C" not null,
    started_ms bigint not null,
    reserved_requests bigint not null,
    primary key (principal, bucket)
);
drop table principals;
