-- the pages of the discovery in progress, for the worker that takes over
create table discovery_pages (
    host text not null,
    number integer not null,
    -- the claim of the pull that recorded it, or adopted it
    epoch integer not null,
    content text not null,
    primary key (host, number)
);
