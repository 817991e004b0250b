-- The notebook. What was kept never changes and is written once, as JSON; collections and notes are appended version by
-- version, numbered from 1, and the highest number of an id counts (clocks of several machines meet in one notebook).
-- person is whose a row is where people sign in, and empty where nobody does. Removing adds a tombstone of the kind 'note'
-- or 'collection'; the notes of a removed collection are hidden with it.

CREATE TABLE collections (
    id VARCHAR NOT NULL,
    number INTEGER NOT NULL,
    person VARCHAR NOT NULL,
    name VARCHAR NOT NULL,
    created TIMESTAMP NOT NULL,
    written TIMESTAMP NOT NULL
);

CREATE TABLE kept_passages (
    note_id VARCHAR NOT NULL,
    person VARCHAR NOT NULL,
    content VARCHAR NOT NULL,
    created TIMESTAMP NOT NULL
);

-- tags are a JSON list; verdict is empty where none was given.
CREATE TABLE notes (
    id VARCHAR NOT NULL,
    number INTEGER NOT NULL,
    collection_id VARCHAR NOT NULL,
    words VARCHAR NOT NULL,
    tags VARCHAR NOT NULL,
    verdict VARCHAR NOT NULL,
    position DOUBLE NOT NULL,
    updated TIMESTAMP NOT NULL
);

CREATE VIEW latest_collections AS
SELECT * FROM collections
QUALIFY row_number() OVER (PARTITION BY id ORDER BY number DESC) = 1;

CREATE VIEW live_collections AS
SELECT * FROM latest_collections WHERE id NOT IN (SELECT id FROM tombstones WHERE kind = 'collection');

CREATE VIEW latest_notes AS
SELECT notes.*, kept_passages.person, kept_passages.content, kept_passages.created
FROM notes JOIN kept_passages ON kept_passages.note_id = notes.id
QUALIFY row_number() OVER (PARTITION BY notes.id ORDER BY notes.number DESC) = 1;

CREATE VIEW live_notes AS
SELECT * FROM latest_notes
WHERE id NOT IN (SELECT id FROM tombstones WHERE kind = 'note')
AND collection_id IN (SELECT id FROM live_collections);
