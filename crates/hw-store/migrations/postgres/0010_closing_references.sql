-- closing references are read by id, apart from the listings, and stored for open pull requests only
alter table pull_requests add column closes_due boolean not null default false;
create index pull_requests_closes_due on pull_requests (host, id, repository_id) where closes_due;

-- digests that include closing references cannot be compared any more; zeros mark items that are read again
update cells set digest = decode(repeat('01', 32), 'hex')
 where kind = 'pull_request' and digest <> decode(repeat('00', 32), 'hex')
   and exists (select 1 from pull_requests
                where pull_requests.host = cells.host and pull_requests.id = cells.id
                  and pull_requests.closes <> '[]');
update pull_requests set closes = '[]' where state <> 'OPEN' and closes <> '[]';
