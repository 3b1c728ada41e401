-- A run's journal. The number of a record is its key: who finds it taken has been taken over.
CREATE TABLE IF NOT EXISTS llmnode_journal (
    run text,
    n bigint,
    record text NOT NULL,
    PRIMARY KEY (run, n)
);

-- What a job of the queue needs beside the journal.
CREATE TABLE IF NOT EXISTS llmnode_run (
    run text PRIMARY KEY,
    input text NOT NULL,
    -- What waits for a person, or is decided, in the step after this many.
    paused text,
    steps bigint,
    decided boolean NOT NULL DEFAULT false,
    failure text
);
