-- Trainings, and what each told step by step. Both are appended and never updated: a training writes a journal in its
-- own folder, and whoever opens the store next takes in the lines that are not here yet. A training that was removed has
-- a tombstone of the kind 'training'. What goes with an event (figures, words) is JSON; so are recipes.

CREATE TABLE trainings (
    id VARCHAR NOT NULL,
    name VARCHAR NOT NULL,
    recipe VARCHAR NOT NULL,
    asked VARCHAR NOT NULL,
    created TIMESTAMP NOT NULL
);

CREATE TABLE training_events (
    training_id VARCHAR NOT NULL,
    number INTEGER NOT NULL,
    happened TIMESTAMP NOT NULL,
    event VARCHAR NOT NULL,
    step INTEGER NOT NULL,
    said VARCHAR NOT NULL
);

CREATE VIEW live_trainings AS
SELECT * FROM trainings WHERE id NOT IN (SELECT id FROM tombstones WHERE kind = 'training');
