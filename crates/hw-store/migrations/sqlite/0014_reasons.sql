-- the uses of a lane: "never pulled" is said of a lane only to a use that lacks it
create table lane_uses (
    lane_id integer not null references lanes (id) on delete cascade,
    use text not null,
    primary key (lane_id, use)
);

-- the reasons to follow a repository; its texts are removed when none is left
create table follows (
    host text not null,
    repository_id integer not null,
    reason text not null,
    primary key (host, repository_id, reason)
);

insert into lane_uses (lane_id, use) select id, 'mirror' from lanes;
insert into follows (host, repository_id, reason) select host, id, 'mirror' from repositories;
