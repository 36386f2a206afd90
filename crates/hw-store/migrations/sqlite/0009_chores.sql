-- a sweep that is requested while one is under way is due after it
alter table lanes add column sweep_request_ms integer;
