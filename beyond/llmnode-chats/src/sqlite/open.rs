//! Opens the file: whether it is ours, and of which version.

use std::path::Path;
use std::time::{Duration, Instant};

use llmnode_runtime::internal::files::{create_new, temp_path};
use llmnode_runtime::{Category, NodeError};
use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior};

use super::fault::fault;

/// `llmc`
const APPLICATION: i64 = 0x6c6c_6d63;

/// The tables of an empty file.
pub(crate) const TABLES: &str = concat!(include_str!("tables.sql"), include_str!("covers.sql"));

/// What each version of the tables adds to the one before. They run in one transaction.
const MIGRATIONS: &[&str] = &[include_str!("tables.sql"), include_str!("covers.sql")];

const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

pub(super) fn open(path: &Path) -> Result<Connection, NodeError> {
    let name = path.to_string_lossy();
    if matches!(&*name, "" | ":memory:") || name.starts_with("file:") || path.is_dir() {
        let why = format!("{name:?} names no file; name one, or use `Conversations::in_memory()`");
        return Err(NodeError::new(Category::ConfigError, why));
    }
    create_private_file(path);
    let mut connection = connect(path).map_err(|error| fault(path, error))?;
    let version = migrate(&mut connection, MIGRATIONS).map_err(|error| fault(path, error))?;
    match version {
        Version::Ours => Ok(connection),
        Version::Foreign => Err(NodeError::new(
            Category::ConfigError,
            format!(
                "{name} is the database of another program; name a file of its own for conversations"
            ),
        )),
        Version::Newer(version) => Err(NodeError::new(
            Category::ConfigError,
            format!(
                "{name}: its tables have version {version}, and this version of llmnode reads up to {}; use a newer one",
                MIGRATIONS.len()
            ),
        )),
    }
}

fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    // Readers go on while another process writes. SQLite does not wait for this lock, which others hold for a moment as they open
    // the file.
    let begun = Instant::now();
    while let Err(error) = connection.pragma_update(None, "journal_mode", "WAL") {
        let is_busy = error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy);
        if !is_busy || begun.elapsed() > BUSY_TIMEOUT {
            return Err(error);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok(connection)
}

enum Version {
    Ours,
    Foreign,
    Newer(i64),
}

/// Brings the tables to the newest version.
fn migrate(connection: &mut Connection, migrations: &[&str]) -> rusqlite::Result<Version> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let number =
        |name: &str| transaction.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let application = number("application_id")?;
    let version = number("user_version")?;
    let tables = "SELECT count(*) FROM sqlite_master";
    let tables: i64 = transaction.query_row(tables, [], |row| row.get(0))?;
    if application != APPLICATION && (application != 0 || tables > 0) {
        return Ok(Version::Foreign);
    }
    let done = usize::try_from(version).unwrap_or(0);
    if done > migrations.len() {
        return Ok(Version::Newer(version));
    }
    if done == migrations.len() {
        return Ok(Version::Ours);
    }
    for migration in migrations.iter().skip(done) {
        transaction.execute_batch(migration)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION)?;
    transaction.pragma_update(None, "user_version", migrations.len() as i64)?;
    transaction.commit()?;
    Ok(Version::Ours)
}

/// Readable by its owner only. Created under another name, since closing a file that SQLite has open drops its locks.
fn create_private_file(path: &Path) {
    if path.exists() {
        return;
    }
    let beside = temp_path(path);
    if create_new(&beside, None).is_ok() {
        let _ = std::fs::hard_link(&beside, path);
        let _ = std::fs::remove_file(&beside);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_older_file_is_migrated_at_once_and_only_once() {
        let mut connection = Connection::open_in_memory().unwrap();
        let next = "ALTER TABLE chat ADD COLUMN title TEXT";
        let mut all = MIGRATIONS.to_vec();
        all.push(next);
        for known in [&all[..1], MIGRATIONS, MIGRATIONS, &all, &all] {
            let version = migrate(&mut connection, known).unwrap();
            assert!(matches!(version, Version::Ours));
        }
        connection
            .execute("UPDATE chat SET title = 'a'", [])
            .unwrap();
        let version = migrate(&mut connection, MIGRATIONS).unwrap();
        assert!(matches!(version, Version::Newer(3)));
    }

    #[test]
    fn a_migration_that_fails_changes_nothing() {
        let mut connection = Connection::open_in_memory().unwrap();
        migrate(&mut connection, MIGRATIONS).unwrap();
        let broken = "ALTER TABLE chat ADD COLUMN title TEXT; SELECT nonsense FROM nowhere";
        let mut all = MIGRATIONS.to_vec();
        all.push(broken);
        assert!(migrate(&mut connection, &all).is_err());
        let version = migrate(&mut connection, MIGRATIONS).unwrap();
        assert!(matches!(version, Version::Ours));
    }
}
