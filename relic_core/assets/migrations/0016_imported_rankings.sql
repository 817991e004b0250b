-- What another system ranked for a claim of an imported run, so that a search with that claim can show it: digests of the
-- claim's words and of the work's text, and where in the text the passages stand, best first. Appended; the last row counts.

CREATE TABLE imported_rankings (
    run_id VARCHAR NOT NULL,
    claim VARCHAR NOT NULL,
    work VARCHAR NOT NULL,
    places VARCHAR NOT NULL,
    created TIMESTAMP NOT NULL
);
