-- the pages of the discovery in progress, for the worker that takes over
create table discovery_pages (
    host text collate "C" not null,
    number bigint not null,
    -- the claim of the pull that recorded it, or adopted it
    epoch bigint not null,
    content text not null,
    primary key (host, number)
);
