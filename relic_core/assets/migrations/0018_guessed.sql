-- Which of author and year were guessed and confirmed by nobody: "author, year".
DROP VIEW live_works;

ALTER TABLE works ADD COLUMN guessed VARCHAR DEFAULT '';

CREATE VIEW live_works AS
SELECT * FROM works WHERE id NOT IN (SELECT id FROM tombstones WHERE kind = 'work');
