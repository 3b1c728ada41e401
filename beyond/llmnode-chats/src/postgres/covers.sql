
-- Version 2. Where the tables have version 1, this part alone is missing.

-- What stands for messages that `compact` left out of the prompt or summed up, for histories that begin with `n` messages. `place`
-- orders those of the same `n`. The messages themselves stay.
CREATE TABLE covers (
    chat TEXT COLLATE "C" NOT NULL REFERENCES chat (id),
    n BIGINT NOT NULL,
    place BIGINT NOT NULL,
    first BIGINT NOT NULL,           -- the first message that is not sent as it is
    last BIGINT NOT NULL,            -- and the last one
    body TEXT NOT NULL,              -- what is sent for them, as JSON
    PRIMARY KEY (chat, n, place)
);
UPDATE chats_version SET version = 2;
