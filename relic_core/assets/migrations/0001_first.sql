-- Works, the examples of the sample, searches, jobs. No foreign keys: they stand in the way of later migrations.
-- Times are in UTC. Offsets count characters of works.text and are half-open.

CREATE TABLE works (
    id VARCHAR NOT NULL,
    title VARCHAR NOT NULL,
    author VARCHAR NOT NULL,
    translator VARCHAR NOT NULL,
    source VARCHAR NOT NULL,
    year INTEGER,
    sha256 VARCHAR NOT NULL,
    segmenter VARCHAR NOT NULL,
    chapters INTEGER NOT NULL,
    sentences INTEGER NOT NULL,
    words INTEGER NOT NULL,
    added TIMESTAMP NOT NULL,
    text VARCHAR NOT NULL
);

CREATE TABLE chapters (
    work_id VARCHAR NOT NULL,
    position INTEGER NOT NULL,
    start_offset INTEGER NOT NULL,
    end_offset INTEGER NOT NULL,
    number VARCHAR NOT NULL,
    title VARCHAR NOT NULL,
    part VARCHAR NOT NULL
);

CREATE TABLE paragraphs (
    work_id VARCHAR NOT NULL,
    position INTEGER NOT NULL,
    start_offset INTEGER NOT NULL,
    end_offset INTEGER NOT NULL,
    chapter INTEGER NOT NULL,
    number INTEGER NOT NULL,
    kind VARCHAR NOT NULL
);

CREATE TABLE sentences (
    work_id VARCHAR NOT NULL,
    position INTEGER NOT NULL,
    start_offset INTEGER NOT NULL,
    end_offset INTEGER NOT NULL,
    chapter INTEGER NOT NULL,
    paragraph INTEGER NOT NULL
);

CREATE TABLE left_out (
    work_id VARCHAR NOT NULL,
    position INTEGER NOT NULL,
    start_offset INTEGER NOT NULL,
    end_offset INTEGER NOT NULL,
    kind VARCHAR NOT NULL
);

CREATE TABLE examples (
    split VARCHAR NOT NULL,
    position INTEGER NOT NULL,
    id VARCHAR NOT NULL,
    work_id VARCHAR NOT NULL,
    left_context VARCHAR NOT NULL,
    right_context VARCHAR NOT NULL,
    masked BOOLEAN NOT NULL,
    gold_start INTEGER NOT NULL,
    gold_length INTEGER NOT NULL,
    kind VARCHAR NOT NULL
);

-- Appended, never updated: the same question asked again is another row with the same id.
CREATE TABLE searches (
    id VARCHAR NOT NULL,
    work_id VARCHAR NOT NULL,
    claim_text VARCHAR NOT NULL,
    length INTEGER NOT NULL,
    retrievers VARCHAR[] NOT NULL,
    results INTEGER NOT NULL,
    created TIMESTAMP NOT NULL,
    made_with VARCHAR NOT NULL
);

-- Jobs that have ended, taken in from their journals.
CREATE TABLE jobs (
    id VARCHAR NOT NULL,
    kind VARCHAR NOT NULL,
    title VARCHAR NOT NULL,
    subject VARCHAR NOT NULL,
    state VARCHAR NOT NULL,
    done INTEGER NOT NULL,
    total INTEGER NOT NULL,
    note VARCHAR NOT NULL,
    created TIMESTAMP NOT NULL,
    updated TIMESTAMP NOT NULL
);

-- Removing a thing adds its tombstone, undo takes it away again; views hide what has one.
CREATE TABLE tombstones (
    kind VARCHAR NOT NULL,
    id VARCHAR NOT NULL,
    removed TIMESTAMP NOT NULL
);

CREATE VIEW live_works AS
SELECT * FROM works WHERE id NOT IN (SELECT id FROM tombstones WHERE kind = 'work');

CREATE VIEW latest_searches AS
SELECT * FROM searches QUALIFY row_number() OVER (PARTITION BY id ORDER BY created DESC) = 1;
