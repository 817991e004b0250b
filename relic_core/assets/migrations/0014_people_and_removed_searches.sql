-- Who has signed in, so that what was kept before can be handed over to them by the address that an operator knows: a
-- person's id beside a digest of their address, appended when the two are first seen together. No name, no address.

CREATE TABLE people (
    person VARCHAR NOT NULL,
    address VARCHAR NOT NULL,
    seen TIMESTAMP NOT NULL
);

-- Removing a search adds a tombstone of the kind 'search' whose id says whose and which: person/id, with nothing before
-- the stroke where nobody signs in. Each person has a list of their own, and the same question has the same id.

CREATE VIEW live_searches AS
SELECT * FROM searches
WHERE concat(coalesce(person, ''), '/', id) NOT IN (SELECT id FROM tombstones WHERE kind = 'search');

DROP VIEW latest_searches;

CREATE VIEW latest_searches AS
SELECT * FROM live_searches QUALIFY row_number() OVER (PARTITION BY id ORDER BY created DESC) = 1;
