-- Conversations of llmnode in Postgres. Version 1. llmnode runs this where the table `chats_version` is missing; run it yourself
-- if the role of the program may not create tables. The tables are made in the first schema of the search path.

CREATE TABLE chats_version (version BIGINT NOT NULL);
INSERT INTO chats_version VALUES (1);

-- One row for each conversation. `version` is another one after each write: whoever writes says which one was read.
CREATE TABLE chat (
    id TEXT COLLATE "C" PRIMARY KEY,
    version BIGINT NOT NULL,
    rev BIGINT NOT NULL,             -- how many turns were appended
    messages BIGINT NOT NULL,        -- how many messages there are, with those of the parent
    parent TEXT COLLATE "C" REFERENCES chat (id),
    parent_n BIGINT NOT NULL,        -- how many messages of the parent are shared
    format BIGINT NOT NULL,
    changed BIGINT NOT NULL          -- milliseconds since 1970, as all times
);
CREATE INDEX chat_forks ON chat (parent) WHERE parent IS NOT NULL;

-- The history. `n` begins with 1, or behind the shared messages of a fork. `body` is a message as JSON.
CREATE TABLE message (
    chat TEXT COLLATE "C" NOT NULL REFERENCES chat (id),
    n BIGINT NOT NULL,
    turn TEXT NOT NULL,              -- the messages of a turn have it in common
    pinned BOOLEAN NOT NULL,
    failed BOOLEAN NOT NULL,         -- the result of a tool that failed
    body TEXT NOT NULL,
    PRIMARY KEY (chat, n)
);
CREATE INDEX message_turns ON message (chat, turn);

-- The call that has the conversation, until then.
CREATE TABLE claim (
    chat TEXT COLLATE "C" PRIMARY KEY REFERENCES chat (id),
    owner TEXT NOT NULL,
    turn TEXT NOT NULL,
    until BIGINT NOT NULL
);

-- A turn whose calls wait for a decision. `body` is a `Paused` as JSON, without its first
-- messages, as many as `$history` says: they are the first ones of the chat.
CREATE TABLE pause (
    chat TEXT COLLATE "C" PRIMARY KEY REFERENCES chat (id),
    turn TEXT NOT NULL,
    pause TEXT NOT NULL,
    last_pin BIGINT NOT NULL,
    body TEXT NOT NULL
);

-- A turn that is under way, or has failed. `body` is an `Unfinished` as JSON.
CREATE TABLE unfinished (
    chat TEXT COLLATE "C" PRIMARY KEY REFERENCES chat (id),
    turn TEXT NOT NULL,
    last_pin BIGINT NOT NULL,
    body TEXT NOT NULL
);

-- What the program says with the next turn.
CREATE TABLE pin (
    chat TEXT COLLATE "C" NOT NULL REFERENCES chat (id),
    n BIGINT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (chat, n)
);

-- Attachments over 16 KB, each once, by its SHA-256, and the messages that have them.
CREATE TABLE blob (
    hash TEXT PRIMARY KEY,
    body TEXT NOT NULL
);
CREATE TABLE message_blob (
    chat TEXT COLLATE "C" NOT NULL,
    n BIGINT NOT NULL,
    hash TEXT NOT NULL REFERENCES blob (hash),
    PRIMARY KEY (chat, n, hash),
    FOREIGN KEY (chat, n) REFERENCES message (chat, n)
);
CREATE INDEX message_blob_uses ON message_blob (hash);
