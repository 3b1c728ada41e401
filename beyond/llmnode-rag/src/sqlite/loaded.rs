//! An open collection: its id in the file, and its vectors in memory.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};

use super::fault::Fault;
use crate::matrix::Matrix;
use crate::store::{CollectionSize, EmbeddingSpace, KnownSources, not_open};

pub(super) struct Inner {
    pub(super) connection: Connection,
    pub(super) collections: BTreeMap<String, LoadedCollection>,
}

pub(super) struct LoadedCollection {
    pub(super) id: i64,
    pub(super) matrix: Arc<Matrix>,
    /// Each transaction creates a new generation.
    pub(super) generation: i64,
}

impl LoadedCollection {
    pub(super) fn refresh(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        let generation = generation(connection, self.id)?;
        if generation != self.generation {
            (self.matrix, self.generation) = (Arc::new(vectors(connection, self.id)?), generation);
        }
        Ok(())
    }
}

fn generation(connection: &Connection, id: i64) -> rusqlite::Result<i64> {
    connection
        .prepare_cached("SELECT generation FROM collections WHERE id = ?1")?
        .query_row([id], |row| row.get(0))
}

fn vectors(connection: &Connection, id: i64) -> rusqlite::Result<Matrix> {
    let (count, bytes): (usize, Option<usize>) = connection.query_row(
        "SELECT count(vector), sum(length(vector)) FROM chunks WHERE collection = ?1",
        [id],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    let mut matrix = Matrix::default();
    matrix.reserve(count, bytes.unwrap_or(0) / 4);
    let mut select = connection
        .prepare("SELECT id, vector FROM chunks WHERE collection = ?1 AND vector IS NOT NULL")?;
    let mut rows = select.query([id])?;
    let mut vector = Vec::new();
    while let Some(row) = rows.next()? {
        decode_vector(row.get_ref(1)?.as_blob()?, &mut vector);
        // Each transaction checks that all have one length.
        matrix.insert(row.get(0)?, &vector);
    }
    Ok(matrix)
}

/// `f32`, little-endian.
pub(super) fn decode_vector(bytes: &[u8], to: &mut Vec<f32>) {
    to.clear();
    to.extend(
        bytes
            .as_chunks::<4>()
            .0
            .iter()
            .map(|four| f32::from_le_bytes(*four)),
    );
}

pub(super) fn written(vector: &[f32]) -> Vec<u8> {
    vector.iter().flat_map(|one| one.to_le_bytes()).collect()
}

impl Inner {
    pub(super) fn loaded(&self, collection: &str) -> Result<&LoadedCollection, Fault> {
        self.collections
            .get(collection)
            .ok_or_else(|| not_open(collection).into())
    }

    pub(super) fn open(&mut self, collection: &str, space: &EmbeddingSpace) -> Result<(), Fault> {
        let Inner {
            connection,
            collections,
        } = self;
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let found = transaction
            .query_row(
                "SELECT id, embedder, dimensions FROM collections WHERE name = ?1",
                [collection],
                |row| {
                    Ok((
                        row.get::<_, i64>(0)?,
                        EmbeddingSpace::new(row.get(1)?, row.get(2)?),
                    ))
                },
            )
            .optional()?;
        let id = match found {
            Some((id, stored)) => {
                stored.check(collection, space)?;
                id
            }
            None => {
                let EmbeddingSpace {
                    embedder,
                    dimensions,
                    ..
                } = space;
                let insert =
                    "INSERT INTO collections (name, embedder, dimensions) VALUES (?1, ?2, ?3)";
                transaction.execute(insert, params![collection, embedder, dimensions])?;
                let id = transaction.last_insert_rowid();
                let words = format!(
                    "CREATE VIRTUAL TABLE words_{id} USING fts5(text, content = '', contentless_delete = 1, \
                     tokenize = 'unicode61 remove_diacritics 2')"
                );
                transaction.execute_batch(&words)?;
                id
            }
        };
        transaction.commit()?;
        if !collections.contains_key(collection) {
            let generation = generation(connection, id)?;
            let matrix = Arc::new(vectors(connection, id)?);
            collections.insert(
                collection.to_owned(),
                LoadedCollection {
                    id,
                    matrix,
                    generation,
                },
            );
        }
        Ok(())
    }

    pub(super) fn known_sources(
        &self,
        collection: &str,
        sources: &[(String, String, Vec<String>)],
    ) -> Result<KnownSources, Fault> {
        let id = self.loaded(collection)?.id;
        let mut known_sources = KnownSources::default();
        let mut same = self.connection.prepare_cached(
            "SELECT (SELECT count(*) FROM places WHERE source = sources.id) FROM sources
                 WHERE collection = ?1 AND name = ?2 AND fingerprint = ?3",
        )?;
        // `CROSS JOIN` fixes the order, so that each id is looked up, whatever size SQLite assumes for the list.
        let mut vectors = self.connection.prepare_cached(
            "SELECT hash, vector FROM json_each(?2) CROSS JOIN chunks ON collection = ?1 AND hash = value
                 WHERE vector IS NOT NULL",
        )?;
        let mut found = HashMap::new();
        for (name, fingerprint, ids) in sources {
            let unchanged = same
                .query_row(params![id, name, fingerprint], |row| row.get(0))
                .optional()?;
            if unchanged.is_none() {
                let mut rows = vectors.query(params![id, serde_json::json!(ids).to_string()])?;
                while let Some(row) = rows.next()? {
                    let mut vector = Vec::new();
                    decode_vector(
                        row.get_ref(1)?.as_blob().map_err(rusqlite::Error::from)?,
                        &mut vector,
                    );
                    found.insert(row.get(0)?, vector);
                }
            }
            known_sources.unchanged.push(unchanged);
        }
        known_sources.vectors = found;
        Ok(known_sources)
    }

    pub(super) fn count(&self, collection: &str) -> Result<CollectionSize, Fault> {
        let id = self.loaded(collection)?.id;
        let count = "SELECT (SELECT count(*) FROM sources WHERE collection = ?1),
                            (SELECT count(*) FROM chunks WHERE collection = ?1)";
        Ok(self.connection.query_row(count, [id], |row| {
            Ok(CollectionSize::new(row.get(0)?, row.get(1)?))
        })?)
    }
}
