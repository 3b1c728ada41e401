-- Conversations of llmnode in SQLite. llmnode runs this when it opens an empty database, and what a version adds when it opens
-- an older one. Version 1.

-- One row for each conversation. `version` is another one after each write: whoever writes says which one was read.
CREATE TABLE chat (
    id TEXT PRIMARY KEY,
    version INTEGER NOT NULL,
    rev INTEGER NOT NULL,            -- how many turns were appended
    messages INTEGER NOT NULL,       -- how many messages there are, with those of the parent
    parent TEXT REFERENCES chat (id),
    parent_n INTEGER NOT NULL,       -- how many messages of the parent are shared
    format INTEGER NOT NULL,
    changed INTEGER NOT NULL         -- milliseconds since 1970, as all times
) STRICT;
CREATE INDEX chat_forks ON chat (parent) WHERE parent IS NOT NULL;

-- The history. `n` begins with 1, or behind the shared messages of a fork. `body` is a message as JSON.
CREATE TABLE message (
    chat TEXT NOT NULL REFERENCES chat (id),
    n INTEGER NOT NULL,
    turn TEXT NOT NULL,              -- the messages of a turn have it in common
    pinned INTEGER NOT NULL,
    failed INTEGER NOT NULL,         -- the result of a tool that failed
    body TEXT NOT NULL,
    PRIMARY KEY (chat, n)
) STRICT;
CREATE INDEX message_turns ON message (chat, turn);

-- The call that has the conversation, until then.
CREATE TABLE claim (
    chat TEXT PRIMARY KEY REFERENCES chat (id),
    owner TEXT NOT NULL,
    turn TEXT NOT NULL,
    until INTEGER NOT NULL
) STRICT;

-- A turn whose calls wait for a decision. `body` is a `Paused` as JSON, without its first
-- messages, as many as `$history` says: they are the first ones of the chat.
CREATE TABLE pause (
    chat TEXT PRIMARY KEY REFERENCES chat (id),
    turn TEXT NOT NULL,
    pause TEXT NOT NULL,
    last_pin INTEGER NOT NULL,
    body TEXT NOT NULL
) STRICT;

-- A turn that is under way, or has failed. `body` is an `Unfinished` as JSON.
CREATE TABLE unfinished (
    chat TEXT PRIMARY KEY REFERENCES chat (id),
    turn TEXT NOT NULL,
    last_pin INTEGER NOT NULL,
    body TEXT NOT NULL
) STRICT;

-- What the program says with the next turn.
CREATE TABLE pin (
    chat TEXT NOT NULL REFERENCES chat (id),
    n INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (chat, n)
) STRICT;

-- Attachments over 16 KB, each once, by its SHA-256, and the messages that have them.
CREATE TABLE blob (
    hash TEXT PRIMARY KEY,
    body TEXT NOT NULL
) STRICT;
CREATE TABLE message_blob (
    chat TEXT NOT NULL,
    n INTEGER NOT NULL,
    hash TEXT NOT NULL REFERENCES blob (hash),
    PRIMARY KEY (chat, n, hash),
    FOREIGN KEY (chat, n) REFERENCES message (chat, n)
) STRICT;
CREATE INDEX message_blob_uses ON message_blob (hash);
