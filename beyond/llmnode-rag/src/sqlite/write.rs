//! Writing and deleting sources, each time in one transaction.

use std::collections::BTreeSet;
use std::sync::Arc;

use rusqlite::{OptionalExtension, Transaction, TransactionBehavior, params};

use super::fault::Fault;
use super::loaded::{LoadedCollection, written as bytes_of};
use super::{Inner, MOST};
use crate::matrix::Matrix;
use crate::store::{Chunk, IngestReport, Source, not_open, wrong_length};

impl Inner {
    pub(super) fn upsert(
        &mut self,
        collection: &str,
        sources: Vec<Source>,
        dedup: Option<f32>,
    ) -> Result<IngestReport, Fault> {
        self.change(collection, |change| {
            let mut report = IngestReport::default();
            for source in sources {
                let old = change.detach_source(&source.name)?;
                report += change.put(source, dedup, &old)?;
                report.replaced += change.remove_orphans(old)?;
            }
            Ok(report)
        })
    }

    pub(super) fn delete(&mut self, collection: &str, source: &str) -> Result<usize, Fault> {
        self.change(collection, |change| {
            let old = change.detach_source(source)?;
            change.remove_orphans(old)
        })
    }

    /// The vectors in memory change only after the commit.
    fn change<T>(
        &mut self,
        collection: &str,
        work: impl FnOnce(&mut Change<'_>) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let Inner {
            connection,
            collections,
        } = self;
        let loaded = collections
            .get_mut(collection)
            .ok_or_else(|| not_open(collection))?;
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        loaded.refresh(&transaction)?;
        let mut change = Change::new(&transaction, loaded);
        let done = work(&mut change)?;
        let Change { added, removed, .. } = change;
        let count = loaded.matrix.len() + added.len() - removed.len();
        if count > MOST {
            let message = format!(
                "the collection {collection:?} would have {count} vectors, and a file holds {MOST}, since each search looks at all; \
                 use Chroma's server and `ChromaStore`, or several collections"
            );
            return Err(Fault::config_error(message));
        }
        let next = "UPDATE collections SET generation = generation + 1, dimensions = coalesce(dimensions, ?2) WHERE id = ?1";
        let dimensions = (added.len() > 0).then(|| added.columns());
        transaction.execute(next, params![loaded.id, dimensions])?;
        transaction.commit()?;
        let matrix = Arc::make_mut(&mut loaded.matrix);
        removed.iter().for_each(|row| matrix.remove(*row));
        for (row, vector) in added.iter() {
            matrix.insert(row, vector);
        }
        loaded.generation += 1;
        Ok(done)
    }
}

/// One transaction, and what it will change of the vectors in memory.
struct Change<'a> {
    transaction: &'a Transaction<'a>,
    collection: i64,
    matrix: &'a Matrix,
    added: Matrix,
    removed: BTreeSet<i64>,
    /// Chunks that only the replaced source had.
    orphans: BTreeSet<i64>,
}

impl<'a> Change<'a> {
    fn new(transaction: &'a Transaction<'a>, loaded: &'a LoadedCollection) -> Self {
        Change {
            transaction,
            collection: loaded.id,
            matrix: &loaded.matrix,
            added: Matrix::default(),
            removed: BTreeSet::new(),
            orphans: BTreeSet::new(),
        }
    }

    /// Removes a source, and returns its chunks. Those that no other source has are orphans, until they turn out to be needed.
    fn detach_source(&mut self, name: &str) -> Result<BTreeSet<i64>, Fault> {
        let find = "SELECT id FROM sources WHERE collection = ?1 AND name = ?2";
        let source: Option<i64> = self
            .transaction
            .prepare_cached(find)?
            .query_row(params![self.collection, name], |row| row.get(0))
            .optional()?;
        let Some(source) = source else {
            return Ok(BTreeSet::new());
        };
        let mut places = self
            .transaction
            .prepare_cached("SELECT chunk FROM places WHERE source = ?1")?;
        let old = places
            .query_map([source], |row| row.get(0))?
            .collect::<rusqlite::Result<BTreeSet<i64>>>()?;
        for table in [
            "DELETE FROM places WHERE source = ?1",
            "DELETE FROM facts WHERE source = ?1",
        ] {
            self.transaction.prepare_cached(table)?.execute([source])?;
        }
        self.transaction
            .prepare_cached("DELETE FROM sources WHERE id = ?1")?
            .execute([source])?;
        let mut has = self
            .transaction
            .prepare_cached("SELECT 1 FROM places WHERE chunk = ?1")?;
        for chunk in &old {
            if !has.exists([chunk])? {
                self.orphans.insert(*chunk);
            }
        }
        Ok(old)
    }

    /// Removes those of the chunks that are still orphans, and returns how many.
    fn remove_orphans(&mut self, old: BTreeSet<i64>) -> Result<usize, Fault> {
        let mut gone = 0;
        for chunk in old {
            if !self.orphans.remove(&chunk) {
                continue;
            }
            self.transaction
                .prepare_cached("DELETE FROM chunks WHERE id = ?1")?
                .execute([chunk])?;
            let words = format!("DELETE FROM words_{} WHERE rowid = ?1", self.collection);
            self.transaction.prepare_cached(&words)?.execute([chunk])?;
            if self.matrix.row(chunk).is_some() {
                self.removed.insert(chunk);
            }
            self.added.remove(chunk);
            gone += 1;
        }
        Ok(gone)
    }

    /// Stores a source, whose old version is detached. `old`: the chunks of that.
    fn put(
        &mut self,
        source: Source,
        dedup: Option<f32>,
        old: &BTreeSet<i64>,
    ) -> Result<IngestReport, Fault> {
        let source_row = self.insert_source(&source)?;
        let mut report = IngestReport::default();
        let mut seen = BTreeSet::new();
        for chunk in source.chunks {
            let stored = match self.of_hash(&chunk)? {
                Some(row) => Some(row),
                None => self.near_duplicate(&chunk, dedup),
            };
            let row = match stored {
                Some(row) if old.contains(&row) && !seen.contains(&row) => {
                    report.kept += 1;
                    row
                }
                Some(row) => {
                    report.duplicates += 1;
                    row
                }
                None => {
                    report.chunks += 1;
                    self.add(chunk)?
                }
            };
            self.orphans.remove(&row);
            if seen.insert(row) {
                let place = "INSERT INTO places (source, chunk) VALUES (?1, ?2)";
                self.transaction
                    .prepare_cached(place)?
                    .execute([source_row, row])?;
            }
        }
        Ok(report)
    }

    fn insert_source(&self, source: &Source) -> rusqlite::Result<i64> {
        let metadata = serde_json::json!(source.metadata).to_string();
        let insert =
            "INSERT INTO sources (collection, name, fingerprint, metadata) VALUES (?1, ?2, ?3, ?4)";
        self.transaction.prepare_cached(insert)?.execute(params![
            self.collection,
            source.name,
            source.fingerprint,
            metadata
        ])?;
        let source_id = self.transaction.last_insert_rowid();
        let mut fact = self
            .transaction
            .prepare_cached("INSERT INTO facts (source, name, value) VALUES (?1, ?2, ?3)")?;
        for (name, value) in &source.metadata {
            fact.execute(params![source_id, name, value.to_string()])?;
        }
        Ok(source_id)
    }

    /// The stored chunk with this text. Fails if another text has the same hash.
    fn of_hash(&self, chunk: &Chunk) -> Result<Option<i64>, Fault> {
        let find = "SELECT id, text = ?3 FROM chunks WHERE collection = ?1 AND hash = ?2";
        let mut find = self.transaction.prepare_cached(find)?;
        let found: Option<(i64, bool)> = find
            .query_row(params![self.collection, chunk.id, chunk.text], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })
            .optional()?;
        match found {
            Some((_, false)) => Err(chunk.clash().into()),
            Some((row, true)) => Ok(Some(row)),
            None => Ok(None),
        }
    }

    /// Ignores chunks that only the source's old version had: small changes count.
    fn near_duplicate(&self, chunk: &Chunk, dedup: Option<f32>) -> Option<i64> {
        let vector = chunk.vector.as_deref()?;
        let least = dedup?;
        let mut nearest: Option<(i64, f64)> = None;
        for matrix in [self.matrix, &self.added] {
            let found = matrix.nearest_above(least, vector, 1, |row| self.stays(row));
            let Some((row, cosine)) = found.into_iter().next() else {
                continue;
            };
            // Of two that are as near, the one that was written last.
            let is_nearer = match nearest {
                Some((_, other)) => cosine.total_cmp(&other).is_ge(),
                None => true,
            };
            if is_nearer {
                nearest = Some((row, cosine));
            }
        }
        let (row, cosine) = nearest?;
        (cosine >= f64::from(least)).then_some(row)
    }

    fn stays(&self, row: i64) -> bool {
        !self.removed.contains(&row) && !self.orphans.contains(&row)
    }

    fn add(&mut self, chunk: Chunk) -> Result<i64, Fault> {
        if let Some(vector) = &chunk.vector {
            let columns = [&self.added, self.matrix]
                .into_iter()
                .find(|of| of.len() > 0)
                .map(Matrix::columns);
            if let Some(columns) = columns.filter(|columns| *columns != vector.len()) {
                return Err(wrong_length(columns, vector.len()).into());
            }
        }
        let insert = "INSERT INTO chunks (collection, hash, text, vector) VALUES (?1, ?2, ?3, ?4)";
        let vector = chunk.vector.as_deref().map(bytes_of);
        self.transaction.prepare_cached(insert)?.execute(params![
            self.collection,
            chunk.id,
            chunk.text,
            vector
        ])?;
        let row = self.transaction.last_insert_rowid();
        let words = format!(
            "INSERT INTO words_{} (rowid, text) VALUES (?1, ?2)",
            self.collection
        );
        self.transaction
            .prepare_cached(&words)?
            .execute(params![row, chunk.text])?;
        if let Some(vector) = chunk.vector {
            self.added.insert(row, &vector);
        }
        Ok(row)
    }
}
