-- limits belong to a budget of a principal, not to the principal
create table pauses (
    principal text not null,
    -- the budget as the source names it: core, graphql; * means all of them
    bucket text not null,
    -- limit: the source refused a request; reserve: the rest is left for the user's other tools
    cause text not null,
    until_ms integer not null,
    reason text not null,
    primary key (principal, bucket, cause)
);
insert into pauses (principal, bucket, cause, until_ms, reason)
select case when name like '%/reserve' then substr(name, 1, length(name) - 8) else name end, '*',
       case when name like '%/reserve' then 'reserve' else 'limit' end, paused_until_ms,
       coalesce(pause_reason, '')
  from principals where paused_until_ms is not null;

create table request_minutes (
    principal text not null,
    bucket text not null,
    started_ms integer not null,
    reserved_requests integer not null,
    primary key (principal, bucket)
);
drop table principals;
