//! Searches: words in the file, vectors in memory.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use rusqlite::types::Value as Sql;
use rusqlite::{Connection, Row, params_from_iter};

use super::fault::Fault;
use super::loaded::Inner;
use crate::document::Metadata;
use crate::hits::{Hit, best};
use crate::matrix::{Matrix, TIES};
use crate::store::not_open;

impl Inner {
    pub(super) fn by_words(
        &self,
        collection: &str,
        words: &[String],
        filter: &Metadata,
        k: usize,
    ) -> Result<Vec<Hit>, Fault> {
        let id = self.loaded(collection)?.id;
        // In quotes, nothing is syntax of FTS5.
        let quoted: Vec<_> = words
            .iter()
            .map(|word| format!("\"{}\"", word.replace(['"', '\0'], " ")))
            .collect();
        let most = i64::try_from(k.saturating_add(TIES)).unwrap_or(i64::MAX);
        let mut values = vec![Sql::Text(quoted.join(" OR ")), Sql::Integer(most)];
        let only = match filter.is_empty() {
            true => String::new(),
            false => format!(
                "AND words_{id}.rowid IN ({})",
                allowed(filter, id, &mut values)
            ),
        };
        let sql = format!(
            "SELECT rowid, -rank FROM words_{id} WHERE words_{id} MATCH ?1 {only} ORDER BY rank LIMIT ?2"
        );
        let mut select = self.connection.prepare_cached(&sql)?;
        let scored = select.query_map(params_from_iter(values), |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?;
        self.hits(
            collection,
            scored.collect::<rusqlite::Result<_>>()?,
            filter,
            k,
        )
    }

    pub(super) fn candidates(
        &mut self,
        collection: &str,
        filter: &Metadata,
    ) -> Result<(Arc<Matrix>, Option<HashSet<i64>>), Fault> {
        let Inner {
            connection,
            collections,
        } = self;
        let loaded = collections
            .get_mut(collection)
            .ok_or_else(|| not_open(collection))?;
        loaded.refresh(connection)?;
        let rows = if filter.is_empty() {
            None
        } else {
            Some(rows(connection, loaded.id, filter)?)
        };
        Ok((Arc::clone(&loaded.matrix), rows))
    }

    pub(super) fn hits(
        &self,
        collection: &str,
        scored: Vec<(i64, f64)>,
        filter: &Metadata,
        k: usize,
    ) -> Result<Vec<Hit>, Fault> {
        let id = self.loaded(collection)?.id;
        let scores: HashMap<i64, f64> = scored.iter().copied().collect();
        let listed =
            serde_json::json!(scored.iter().map(|(row, _)| row).collect::<Vec<_>>()).to_string();
        let mut values = vec![Sql::Text(listed)];
        let only = facts(filter, &mut values);
        // `min` picks the first source by name; SQLite takes `metadata` from the same row.
        let sql = format!(
            "SELECT chunks.id, hash, text, min(sources.name), metadata
                 FROM json_each(?1) CROSS JOIN chunks ON chunks.id = value
                 JOIN places ON chunk = chunks.id JOIN sources ON sources.id = source
                 WHERE chunks.collection = {id} {only} GROUP BY chunks.id"
        );
        let mut select = self.connection.prepare_cached(&sql)?;
        let hits = select.query_map(params_from_iter(values), |row| hit(row, &scores))?;
        Ok(best(hits.collect::<rusqlite::Result<_>>()?, k))
    }
}

fn hit(row: &Row<'_>, scores: &HashMap<i64, f64>) -> rusqlite::Result<Hit> {
    let metadata: String = row.get(4)?;
    Ok(Hit {
        id: row.get(1)?,
        text: row.get(2)?,
        source: row.get(3)?,
        metadata: serde_json::from_str(&metadata).unwrap_or_default(),
        score: scores.get(&row.get(0)?).copied().unwrap_or_default(),
        rank: 0,
    })
}

fn facts(filter: &Metadata, values: &mut Vec<Sql>) -> String {
    let mut only = String::new();
    for (name, value) in filter {
        values.extend([Sql::Text(name.clone()), Sql::Text(value.to_string())]);
        let at = values.len();
        only += &format!(
            " AND EXISTS (SELECT 1 FROM facts WHERE facts.source = sources.id AND facts.name = ?{} AND facts.value = ?{at})",
            at - 1
        );
    }
    only
}

fn allowed(filter: &Metadata, collection: i64, values: &mut Vec<Sql>) -> String {
    let only = facts(filter, values);
    format!(
        "SELECT chunk FROM places JOIN sources ON sources.id = places.source WHERE sources.collection = {collection} {only}"
    )
}

fn rows(
    connection: &Connection,
    collection: i64,
    filter: &Metadata,
) -> rusqlite::Result<HashSet<i64>> {
    let mut values = Vec::new();
    let sql = allowed(filter, collection, &mut values);
    let mut select = connection.prepare_cached(&sql)?;
    select
        .query_map(params_from_iter(values), |row| row.get(0))?
        .collect()
}
