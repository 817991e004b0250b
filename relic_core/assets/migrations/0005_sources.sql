-- Secondary sources and what was mined from them. Sentences of a context are parted by line feeds, stretches are JSON.
-- What a mining found takes the place of what was found before in the same source (and the same works); judgements are
-- appended, never updated, and hang on the id of a window, which stays the same for the same place. Columns filled by
-- arrays hold no NULL: a number of 0 stands for none.

CREATE TABLE sources (
    id VARCHAR NOT NULL,
    title VARCHAR NOT NULL,
    author VARCHAR NOT NULL,
    name VARCHAR NOT NULL,
    sha256 VARCHAR NOT NULL,
    characters INTEGER NOT NULL,
    number INTEGER NOT NULL,
    origin VARCHAR NOT NULL,
    licence VARCHAR NOT NULL,
    language VARCHAR NOT NULL,
    problem VARCHAR NOT NULL,
    added TIMESTAMP NOT NULL
);

-- One row for each time a source was mined: under which rules, and for which works (their fingerprints' first digits).
-- `file` is the sha256 of its file, by which it is known before it is read; `root` is what was named by whoever had it
-- mined (a file, a folder, an archive); `pairs` says whether its pairs were made.
CREATE TABLE mined (
    source_id VARCHAR NOT NULL,
    file VARCHAR NOT NULL,
    root VARCHAR NOT NULL,
    rules VARCHAR NOT NULL,
    works VARCHAR[] NOT NULL,
    pairs BOOLEAN NOT NULL,
    dropped VARCHAR NOT NULL,
    seconds DOUBLE NOT NULL,
    code VARCHAR NOT NULL,
    mined TIMESTAMP NOT NULL
);

CREATE TABLE pairs (
    id VARCHAR NOT NULL,
    source_id VARCHAR NOT NULL,
    kind VARCHAR NOT NULL,
    left_context VARCHAR NOT NULL,
    quotation VARCHAR NOT NULL,
    right_context VARCHAR NOT NULL,
    at_start INTEGER NOT NULL,
    at_end INTEGER NOT NULL,
    passage_start INTEGER NOT NULL,
    passage_end INTEGER NOT NULL
);

CREATE TABLE windows (
    id VARCHAR NOT NULL,
    source_id VARCHAR NOT NULL,
    work_id VARCHAR NOT NULL,
    segmenter VARCHAR NOT NULL,
    kind VARCHAR NOT NULL,
    left_context VARCHAR NOT NULL,
    quotation VARCHAR NOT NULL,
    right_context VARCHAR NOT NULL,
    gold_start INTEGER NOT NULL,
    gold_length INTEGER NOT NULL,
    at_start INTEGER NOT NULL,
    at_end INTEGER NOT NULL,
    passage_start INTEGER NOT NULL,
    passage_end INTEGER NOT NULL,
    lit VARCHAR NOT NULL,
    lit_in_work VARCHAR NOT NULL,
    score DOUBLE NOT NULL
);

-- Why a window is left out; written anew whenever the thresholds have looked over all windows.
CREATE TABLE window_reasons (
    window_id VARCHAR NOT NULL,
    reason VARCHAR NOT NULL
);

CREATE TABLE judgements (
    window_id VARCHAR NOT NULL,
    question VARCHAR NOT NULL,
    answer VARCHAR NOT NULL,
    judge VARCHAR NOT NULL,
    comment VARCHAR NOT NULL,
    created TIMESTAMP NOT NULL
);

CREATE TABLE splits (
    kind VARCHAR NOT NULL,
    id VARCHAR NOT NULL,
    split VARCHAR NOT NULL,
    reason VARCHAR NOT NULL,
    created TIMESTAMP NOT NULL
);

CREATE VIEW live_sources AS
SELECT * FROM sources WHERE id NOT IN (SELECT id FROM tombstones WHERE kind = 'source');

-- A reprint holds the same pairs: the source whose id comes first has them.
CREATE VIEW live_pairs AS
SELECT pairs.* FROM pairs
JOIN (
    SELECT id, min(source_id) AS source_id FROM pairs WHERE source_id IN (SELECT id FROM live_sources) GROUP BY id
) AS holders ON holders.id = pairs.id AND holders.source_id = pairs.source_id;

-- The last answer of each judge, an answer taken back (an empty one) not counted; across judges the last.
CREATE VIEW latest_judgements AS
SELECT * EXCLUDE (number) FROM (
    SELECT *, rowid AS number FROM judgements
    QUALIFY row_number() OVER (PARTITION BY window_id, question, judge ORDER BY created DESC, rowid DESC) = 1
)
WHERE answer <> ''
QUALIFY row_number() OVER (PARTITION BY window_id, question ORDER BY created DESC, number DESC) = 1;

-- A window stands on sentences: it goes with its work, and where the work was cut into sentences anew. `reason` is empty
-- where it is kept.
CREATE VIEW live_windows AS
SELECT windows.*, live_works.title AS work_title,
    CASE WHEN wrong.window_id IS NOT NULL THEN 'judged no quotation of this passage'
        ELSE coalesce(window_reasons.reason, '') END AS reason
FROM windows
JOIN live_works ON live_works.id = windows.work_id AND live_works.segmenter = windows.segmenter
LEFT JOIN window_reasons ON window_reasons.window_id = windows.id
LEFT JOIN (
    SELECT window_id FROM latest_judgements WHERE question = 'match' AND answer = 'wrong'
) AS wrong ON wrong.window_id = windows.id
WHERE windows.source_id IN (SELECT id FROM live_sources);
