-- What people say of a case: of an example of a run, with what that run put first. `codes` is JSON, the names of what they
-- said together. Appended; of each judge the last row counts, an empty list too.

CREATE TABLE case_judgements (
    run_id VARCHAR NOT NULL,
    example_id VARCHAR NOT NULL,
    codes VARCHAR NOT NULL,
    judge VARCHAR NOT NULL,
    created TIMESTAMP NOT NULL
);
