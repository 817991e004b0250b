-- Works from EPUB and TEI files: speakers, numbered lines and notes, and the format of the file. When a work was last
-- written, apart from when it was added.

ALTER TABLE paragraphs ADD COLUMN speaker VARCHAR DEFAULT '';

-- -1 where there is none: columns are filled by arrays, which hold no NULL.
ALTER TABLE paragraphs ADD COLUMN line INTEGER DEFAULT -1;

ALTER TABLE paragraphs ADD COLUMN note_to INTEGER DEFAULT -1;

ALTER TABLE works ADD COLUMN format VARCHAR DEFAULT 'plain text';

-- NULL, of works from before this step, stands for the time at which the work was added: DuckDB updates no table in the
-- transaction that alters it.
ALTER TABLE works ADD COLUMN written TIMESTAMP;

DROP VIEW live_works;

CREATE VIEW live_works AS
SELECT * FROM works WHERE id NOT IN (SELECT id FROM tombstones WHERE kind = 'work');
