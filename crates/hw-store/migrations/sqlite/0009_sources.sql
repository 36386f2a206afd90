-- What the workspace follows: an owner's login, or one repository as OWNER/REPOSITORY, as the user wrote it.
create table sources (
    host text not null,
    name text not null,
    -- the repository that was found under the name of a single repository
    repository_id integer,
    added_ms integer not null,
    primary key (host, name)
);

-- names ignore case
create unique index sources_name on sources (host, lower(name));

alter table last_pulls rename column organization to source;

-- so far every list of repositories was one that the user wanted to follow
insert into sources (host, name, added_ms)
select lanes.host, coalesce(min(last_pulls.source), min(lanes.organization)), 0
  from lanes left join last_pulls
       on last_pulls.host = lanes.host and lower(last_pulls.source) = lower(lanes.organization)
 where lanes.surface = 'repositories' and lanes.organization is not null
 group by lanes.host, lower(lanes.organization);
