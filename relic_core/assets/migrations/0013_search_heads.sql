-- The first passages of each column of a search, for then and now; and whose a search is, where people sign in.

DROP VIEW latest_searches;

ALTER TABLE searches ADD COLUMN person VARCHAR DEFAULT '';

CREATE VIEW latest_searches AS
SELECT * FROM searches QUALIFY row_number() OVER (PARTITION BY id ORDER BY created DESC) = 1;

-- Appended, and only where what made them differs from the last of the same search and retriever. Of the lists, one
-- entry for each passage, best first: overlapping spans count as one, as on the page. Offsets count characters of the
-- work's text and are half-open.
CREATE TABLE search_heads (
    search_id VARCHAR NOT NULL,
    retriever VARCHAR NOT NULL,
    edition VARCHAR NOT NULL,
    maker VARCHAR NOT NULL,
    version VARCHAR NOT NULL,
    created TIMESTAMP NOT NULL,
    works VARCHAR[] NOT NULL,
    firsts INTEGER[] NOT NULL,
    ranks INTEGER[] NOT NULL,
    scores FLOAT[] NOT NULL,
    starts INTEGER[] NOT NULL,
    ends INTEGER[] NOT NULL
);
