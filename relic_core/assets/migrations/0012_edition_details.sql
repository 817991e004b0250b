-- What a citation needs of an edition besides what works say of it. Appended with its time, and the last row of a work
-- counts; a work without a row is cited by what its source says.

CREATE TABLE edition_details (
    work_id VARCHAR NOT NULL,
    editor VARCHAR NOT NULL,
    collection VARCHAR NOT NULL,
    volume VARCHAR NOT NULL,
    volumes INTEGER,
    edition VARCHAR NOT NULL,
    publisher VARCHAR NOT NULL,
    place VARCHAR NOT NULL,
    year INTEGER,
    container VARCHAR NOT NULL,
    number VARCHAR NOT NULL,
    url VARCHAR NOT NULL,
    accessed DATE,
    language VARCHAR NOT NULL,
    created TIMESTAMP NOT NULL
);

CREATE VIEW latest_edition_details AS
SELECT * FROM edition_details
QUALIFY row_number() OVER (PARTITION BY work_id ORDER BY created DESC, rowid DESC) = 1;
