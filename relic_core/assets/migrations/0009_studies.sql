-- Studies of the proxy task. A study and its items never change; they are JSON, read whole. What may change (instructions,
-- annotators wanted, consent, privacy, whether right and wrong are shown) is appended with its time, and the last of a kind
-- counts. Answers are appended and never updated: number counts them within a study, and of several by one annotator to one
-- item the one with the highest number counts. A choice of 0 is "cannot decide".
--
-- Removing a study adds a tombstone of the kind 'study'. Removing an annotator deletes: no row keeps a name, a choice or a
-- word of theirs, and the file is written over where these stood. What stays is that somebody was removed, and when.

CREATE TABLE studies (
    id VARCHAR NOT NULL,
    name VARCHAR NOT NULL,
    version INTEGER NOT NULL,
    earlier VARCHAR NOT NULL,
    works VARCHAR NOT NULL,
    making VARCHAR NOT NULL,
    items INTEGER NOT NULL,
    created TIMESTAMP NOT NULL
);

CREATE TABLE study_items (
    study_id VARCHAR NOT NULL,
    position INTEGER NOT NULL,
    id VARCHAR NOT NULL,
    content VARCHAR NOT NULL
);

CREATE TABLE study_terms (
    study_id VARCHAR NOT NULL,
    kind VARCHAR NOT NULL,
    said VARCHAR NOT NULL,
    created TIMESTAMP NOT NULL
);

-- called is what names are compared by; id is drawn by chance. Before names and comments stand 64 dashes, since the first
-- characters of a column's least and greatest text go into statistics, which outlive the rows.
CREATE TABLE study_annotators (
    study_id VARCHAR NOT NULL,
    id VARCHAR NOT NULL,
    called VARCHAR NOT NULL,
    name VARCHAR NOT NULL,
    joined TIMESTAMP NOT NULL
);

CREATE TABLE study_answers (
    study_id VARCHAR NOT NULL,
    number INTEGER NOT NULL,
    item_id VARCHAR NOT NULL,
    annotator_id VARCHAR NOT NULL,
    choice INTEGER NOT NULL,
    seconds DOUBLE NOT NULL,
    comment VARCHAR NOT NULL,
    created TIMESTAMP NOT NULL
);

CREATE TABLE study_removals (
    study_id VARCHAR NOT NULL,
    answers INTEGER NOT NULL,
    removed TIMESTAMP NOT NULL
);

-- What retrievers answered: choices and ranks are JSON, by item. The last row of an id counts.
CREATE TABLE study_models (
    id VARCHAR NOT NULL,
    study_id VARCHAR NOT NULL,
    retriever VARCHAR NOT NULL,
    label VARCHAR NOT NULL,
    configuration VARCHAR NOT NULL,
    choices VARCHAR NOT NULL,
    ranks VARCHAR NOT NULL,
    code VARCHAR NOT NULL,
    created TIMESTAMP NOT NULL
);

CREATE VIEW live_studies AS
SELECT * FROM studies WHERE id NOT IN (SELECT id FROM tombstones WHERE kind = 'study');

CREATE VIEW latest_study_terms AS
SELECT * FROM study_terms
QUALIFY row_number() OVER (PARTITION BY study_id, kind ORDER BY created DESC, rowid DESC) = 1;

CREATE VIEW latest_study_answers AS
SELECT * FROM study_answers
QUALIFY row_number() OVER (PARTITION BY study_id, item_id, annotator_id ORDER BY number DESC) = 1;

CREATE VIEW latest_study_models AS
SELECT * FROM study_models
QUALIFY row_number() OVER (PARTITION BY id ORDER BY created DESC, rowid DESC) = 1;
