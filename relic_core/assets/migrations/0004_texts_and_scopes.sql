-- Texts in pieces, in a table of their own: DuckDB reads a column of long texts whole to give one of them. Searches in
-- some chapters, over the whole library, and for passages like another.

CREATE TABLE texts (
    work_id VARCHAR NOT NULL,
    position INTEGER NOT NULL,
    piece VARCHAR NOT NULL
);

INSERT INTO texts
SELECT id, position, substring(text, position * 8192 + 1, 8192)
FROM (SELECT id, text, unnest(range(CAST(ceil(length(text) / 8192.0) AS BIGINT))) AS position FROM works)
ORDER BY id, position;

DROP VIEW live_works;

ALTER TABLE works DROP COLUMN text;

CREATE VIEW live_works AS
SELECT * FROM works WHERE id NOT IN (SELECT id FROM tombstones WHERE kind = 'work');

-- What is asked beside the work, the claim and the length, as JSON; empty where it is nothing.
DROP VIEW latest_searches;

ALTER TABLE searches ADD COLUMN further VARCHAR DEFAULT '';

CREATE VIEW latest_searches AS
SELECT * FROM searches QUALIFY row_number() OVER (PARTITION BY id ORDER BY created DESC) = 1;
