-- The code of who runs a study, salted and digested; it opens the study's results and its management. Appended with its
-- time, and the last row of a study counts; empty where the study is open to everybody.

CREATE TABLE study_owners (
    study_id VARCHAR NOT NULL,
    sealed VARCHAR NOT NULL,
    created TIMESTAMP NOT NULL
);

CREATE VIEW latest_study_owners AS
SELECT * FROM study_owners
QUALIFY row_number() OVER (PARTITION BY study_id ORDER BY created DESC, rowid DESC) = 1;
