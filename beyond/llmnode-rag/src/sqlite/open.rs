//! Opening the file: what is in it, and whether it is ours.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use llmnode_runtime::internal::files::{create_new, temp_path};
use rusqlite::{Connection, ErrorCode, OpenFlags, Transaction, TransactionBehavior};

use super::fault::Fault;

/// `llmn`
const APPLICATION: i64 = 0x6c6c_6d6e;
/// Of `llmnode/documents`.
const VERSION: i64 = 1;
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

const TABLES: &str = "
    CREATE TABLE collections (
        id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, embedder TEXT, dimensions INTEGER,
        generation INTEGER NOT NULL DEFAULT 0
    ) STRICT;
    CREATE TABLE sources (
        id INTEGER PRIMARY KEY, collection INTEGER NOT NULL, name TEXT NOT NULL, fingerprint TEXT NOT NULL,
        metadata TEXT NOT NULL, UNIQUE (collection, name)
    ) STRICT;
    CREATE TABLE facts (
        source INTEGER NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (source, name)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE chunks (
        id INTEGER PRIMARY KEY, collection INTEGER NOT NULL, hash TEXT NOT NULL, vector BLOB, text TEXT NOT NULL,
        UNIQUE (collection, hash)
    ) STRICT;
    CREATE TABLE places (
        source INTEGER NOT NULL, chunk INTEGER NOT NULL, PRIMARY KEY (source, chunk)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX places_of_chunk ON places (chunk, source);
";

pub(super) fn open(path: &Path) -> Result<Connection, Fault> {
    let name = path.to_string_lossy();
    if matches!(&*name, "" | ":memory:") || name.starts_with("file:") {
        return Err(Fault::config_error(format!(
            "{name:?} names no file, and SQLite may forget what is written there; name a file, or use `MemoryStore`"
        )));
    }
    if path.is_dir() {
        return Err(Fault::config_error(
            match path.join("chroma.sqlite3").exists() {
                true => format!(
                    "{} is a directory of Chroma, not a file of llmnode; start its server (`chroma run --path ..`) and use \
                 `ChromaStore`",
                    path.display()
                ),
                false => format!("{} is a directory; name a file in it", path.display()),
            },
        ));
    }
    create_private_file(path);
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    // In one transaction: another process may create the tables between two reads.
    let is_made = is_ours(path, &*connection.transaction()?)?;
    if !is_made {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        // Another process may have created them meanwhile.
        if !is_ours(path, &transaction)? {
            create_tables(&transaction)?;
        }
        transaction.commit()?;
    }
    // Readers continue while another process writes.
    let begun = Instant::now();
    while let Err(error) = connection.pragma_update(None, "journal_mode", "WAL") {
        // SQLite does not wait for this lock, which others hold for a moment as they open the file.
        if error.sqlite_error_code() != Some(ErrorCode::DatabaseBusy)
            || begun.elapsed() > BUSY_TIMEOUT
        {
            return Err(error.into());
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    connection.pragma_update(None, "synchronous", "FULL")?;
    Ok(connection)
}

/// Readable by its owner only. Created under another name, since closing a file that SQLite has open drops its locks.
fn create_private_file(path: &Path) {
    if !path.exists() {
        let beside = temp_path(path);
        if create_new(&beside, None).is_ok() {
            let _ = fs::hard_link(&beside, path);
            let _ = fs::remove_file(&beside);
        }
    }
}

/// Whether the file has our tables. `false`: it has none at all.
fn is_ours(path: &Path, connection: &Connection) -> Result<bool, Fault> {
    let application = number(connection, "application_id")?;
    let version = number(connection, "user_version")?;
    if application == APPLICATION {
        if version > VERSION {
            return Err(Fault::config_error(format!(
                "{}: llmnode/documents version {version} is newer than version {VERSION}, the newest supported by this version; use a \
                 newer one",
                path.display()
            )));
        }
        return Ok(true);
    }
    if application == 0 && !has_table(connection, "")? {
        return Ok(false);
    }
    let whose = if has_table(connection, "embeddings_queue")? {
        "of Chroma, not of llmnode; start its server (`chroma run --path ..`) and use `ChromaStore`"
    } else {
        "of another program; name another file"
    };
    Err(Fault::config_error(format!(
        "{} is an SQLite file {whose}",
        path.display()
    )))
}

fn number(connection: &Connection, pragma: &str) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, pragma, |row| row.get(0))
}

/// Whether there is a table of this name; of an empty name, any.
fn has_table(connection: &Connection, table: &str) -> rusqlite::Result<bool> {
    let tables = "SELECT count(*) FROM sqlite_master WHERE ?1 = '' OR name = ?1";
    let count: i64 = connection.query_row(tables, [table], |row| row.get(0))?;
    Ok(count > 0)
}

fn create_tables(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    transaction.execute_batch(TABLES)?;
    transaction.pragma_update(None, "application_id", APPLICATION)?;
    transaction.pragma_update(None, "user_version", VERSION)
}
