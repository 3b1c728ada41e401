//! A journal in a table.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use deadpool_postgres::Pool;
use llmnode::BoxFuture;
use llmnode::journal::{Journal, JournalError, Record};

/// The journal of one run: a row for each record, with its number as the key. Of
/// two processes that go on with a run, one adds the next record; the other one
/// finds it taken, and its flow ends as `aborted` before it sends a request.
#[derive(Clone)]
pub struct TableJournal {
    pool: Pool,
    run: String,
    records: Arc<AtomicI64>,
}

impl TableJournal {
    pub fn new(pool: &Pool, run: &str) -> Self {
        TableJournal {
            pool: pool.clone(),
            run: run.to_owned(),
            records: Arc::default(),
        }
    }

    /// How many records this process knows of. If the table has more, another one
    /// has taken the run over.
    pub fn records(&self) -> i64 {
        self.records.load(Ordering::Acquire)
    }
}

impl Journal for TableJournal {
    fn read<'j>(
        &'j mut self,
        each: &'j mut (dyn FnMut(Record) + Send),
    ) -> BoxFuture<'j, Result<(), JournalError>> {
        Box::pin(async move {
            let all = "SELECT record FROM llmnode_journal WHERE run = $1 ORDER BY n";
            let rows = self
                .pool
                .get()
                .await
                .map_err(other)?
                .query(all, &[&self.run])
                .await
                .map_err(other)?;
            for row in &rows {
                each(serde_json::from_str(row.get(0)).map_err(other)?);
            }
            self.records
                .store(i64::try_from(rows.len()).map_err(other)?, Ordering::Release);
            Ok(())
        })
    }

    fn append<'j>(&'j mut self, record: &'j Record) -> BoxFuture<'j, Result<(), JournalError>> {
        Box::pin(async move {
            let json = serde_json::to_string(record).map_err(other)?;
            let add = "INSERT INTO llmnode_journal VALUES ($1, $2, $3) ON CONFLICT DO NOTHING";
            let db = self.pool.get().await.map_err(other)?;
            if db
                .execute(add, &[&self.run, &self.records(), &json])
                .await
                .map_err(other)?
                == 0
            {
                // Or an insert of this process was dropped after it was sent: then,
                // too, the journal has to be read again.
                return Err(JournalError::Other(
                    "another process has taken the run over".into(),
                ));
            }
            self.records.fetch_add(1, Ordering::AcqRel);
            Ok(())
        })
    }
}

fn other(error: impl Into<llmnode::BoxError>) -> JournalError {
    JournalError::Other(error.into())
}
