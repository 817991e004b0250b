-- What the splits were made of, as a digest: when it changes, they are old.
CREATE TABLE parted (
    digest VARCHAR NOT NULL,
    created TIMESTAMP NOT NULL
);
