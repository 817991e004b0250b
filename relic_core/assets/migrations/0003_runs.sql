-- Runs: one retriever measured on one benchmark, example by example. Appended, never updated; ranks of 0 stand for none,
-- since columns that are filled by arrays hold no NULL. Offsets count characters of the pool's text.
--
-- A run whose ranks have moved is added again under its id with the next version, and so are its outcomes; the last
-- version is the one that counts.

CREATE TABLE runs (
    id VARCHAR NOT NULL,
    version INTEGER NOT NULL,
    benchmark VARCHAR NOT NULL,
    split VARCHAR NOT NULL,
    pool VARCHAR NOT NULL,
    data_hash VARCHAR NOT NULL,
    retriever VARCHAR NOT NULL,
    label VARCHAR NOT NULL,
    shape VARCHAR NOT NULL,
    configuration VARCHAR NOT NULL,
    books VARCHAR NOT NULL,
    examples INTEGER NOT NULL,
    code VARCHAR NOT NULL,
    machine VARCHAR NOT NULL,
    seconds DOUBLE NOT NULL,
    index_bytes BIGINT NOT NULL,
    created TIMESTAMP NOT NULL
);

CREATE TABLE outcomes (
    run_id VARCHAR NOT NULL,
    version INTEGER NOT NULL,
    position INTEGER NOT NULL,
    example_id VARCHAR NOT NULL,
    book VARCHAR NOT NULL,
    length INTEGER NOT NULL,
    kind VARCHAR NOT NULL,
    candidates INTEGER NOT NULL,
    gold_rank INTEGER NOT NULL,
    overlap_rank INTEGER NOT NULL,
    gold_start INTEGER NOT NULL,
    gold_end INTEGER NOT NULL,
    first_hits VARCHAR NOT NULL
);

-- The tags of a run are those of its last row, so that taking one away is an addition too.
CREATE TABLE run_tags (
    run_id VARCHAR NOT NULL,
    tags VARCHAR[] NOT NULL,
    created TIMESTAMP NOT NULL
);

CREATE VIEW live_runs AS
SELECT runs.*, coalesce(latest.tags, []) AS tags
FROM runs
LEFT JOIN (
    SELECT run_id, tags FROM run_tags QUALIFY row_number() OVER (PARTITION BY run_id ORDER BY created DESC) = 1
) AS latest ON latest.run_id = runs.id
WHERE runs.id NOT IN (SELECT id FROM tombstones WHERE kind = 'run')
QUALIFY row_number() OVER (PARTITION BY runs.id ORDER BY runs.version DESC) = 1;
