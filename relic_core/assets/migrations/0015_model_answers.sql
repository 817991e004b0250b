-- What language models have answered, so that nothing is asked twice: the digest of the model and of every word asked, the
-- answer with the marks of its parts numbered, and the tokens that it took. Appended, never updated.

CREATE TABLE model_answers (
    digest VARCHAR NOT NULL,
    model VARCHAR NOT NULL,
    answer VARCHAR NOT NULL,
    tokens BIGINT NOT NULL,
    created TIMESTAMP NOT NULL
);

-- What is decided for a claim that a model reads passages beside: the objective and the criteria, in the words of a scholar
-- or of the model. Appended; the last row of a kind and a claim counts.

CREATE TABLE reading_texts (
    kind VARCHAR NOT NULL,
    claim VARCHAR NOT NULL,
    text VARCHAR NOT NULL,
    created TIMESTAMP NOT NULL
);
