
-- Version 2.

-- What stands for messages that `compact` left out of the prompt or summed up, for histories that
-- begin with `n` messages. `place` orders those of the same `n`. The messages themselves stay.
CREATE TABLE covers (
    chat TEXT NOT NULL REFERENCES chat (id),
    n INTEGER NOT NULL,
    place INTEGER NOT NULL,
    first INTEGER NOT NULL,          -- the first message that is not sent as it is
    last INTEGER NOT NULL,           -- and the last one
    body TEXT NOT NULL,              -- what is sent for them, as JSON
    PRIMARY KEY (chat, n, place)
) STRICT;
