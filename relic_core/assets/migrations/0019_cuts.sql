-- What models leave out of a work's sentences, so that they read broken words whole: from and to, in characters.
-- NULL: it was added before, and nobody has looked through it.
DROP VIEW live_works;

ALTER TABLE works ADD COLUMN cuts INTEGER[2][];

CREATE VIEW live_works AS
SELECT * FROM works WHERE id NOT IN (SELECT id FROM tombstones WHERE kind = 'work');
