//! Records of the server. Each is a chunk; marks among its metadata name the sources that have it.

use llmnode_reader::ext::small_tree;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::document::Metadata;
use crate::hits::Hit;

/// How many records one request has.
pub(super) const BATCH: usize = 256;

/// How many records are asked for with their metadata, which is read as a tree.
pub(super) const PAGE: usize = 1_000;

/// `in:manual.md`: the source has the chunk; `fp:manual.md`: its complete fingerprint. Programs use no colon.
pub(super) fn mark(kind: &str, source: &str) -> String {
    format!("{kind}:{source}")
}

pub(super) fn source_of_mark<'n>(kind: &str, name: &'n str) -> Option<&'n str> {
    name.strip_prefix(kind)?.strip_prefix(':')
}

/// Which records are asked for, and what of them.
#[derive(Default)]
pub(super) struct GetRequest<'a> {
    pub(super) ids: Option<&'a [&'a str]>,
    pub(super) filter: Option<Value>,
    pub(super) text: Option<Value>,
    pub(super) include: &'a [&'a str],
    pub(super) page: Option<(usize, usize)>,
}

impl GetRequest<'_> {
    pub(super) fn json(self) -> Value {
        let mut body = json!({"include": self.include});
        if let Some(ids) = self.ids {
            body["ids"] = json!(ids);
        }
        if let Some(filter) = self.filter {
            body["where"] = filter;
        }
        if let Some(text) = self.text {
            body["where_document"] = text;
        }
        if let Some((offset, limit)) = self.page {
            body["offset"] = json!(offset);
            body["limit"] = json!(limit);
        }
        body
    }
}

/// Records as the server has them: a list for each of their parts.
#[derive(Default)]
pub(super) struct Records {
    pub(super) ids: Vec<String>,
    pub(super) documents: Vec<String>,
    pub(super) metadatas: Vec<Map<String, Value>>,
    pub(super) embeddings: Vec<Vec<f32>>,
    pub(super) distances: Vec<f64>,
}

/// The parts of an answer as they were written: vectors have too many numbers for a tree.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Columns<'a> {
    #[serde(borrow)]
    ids: Option<&'a RawValue>,
    #[serde(borrow)]
    documents: Option<&'a RawValue>,
    #[serde(borrow)]
    metadatas: Option<&'a RawValue>,
    #[serde(borrow)]
    embeddings: Option<&'a RawValue>,
    #[serde(borrow)]
    distances: Option<&'a RawValue>,
}

/// One part of the records. Of a `query`, the lists are in a list, one for each query. `None`: it has too many values.
fn column(written: Option<&RawValue>) -> Option<Value> {
    let Some(written) = written else {
        return Some(Value::Null);
    };
    let mut column = small_tree(written.get().as_bytes())?;
    Some(match &mut column {
        Value::Array(lists) if lists.len() == 1 && lists[0].is_array() => lists.swap_remove(0),
        _ => column,
    })
}

/// The vectors of so many records. Those of a server that writes other lists as well are none.
fn vectors(written: Option<&RawValue>, records: usize) -> Vec<Vec<f32>> {
    let written = written.map_or("null", RawValue::get);
    let lists = written.bytes().filter(|byte| *byte == b'[').count();
    if lists > records + 1 {
        return Vec::new();
    }
    serde_json::from_str(written).unwrap_or_default()
}

fn texts(column: &Value) -> Option<Vec<String>> {
    let mut texts = Vec::new();
    for text in column.as_array()? {
        texts.push(text.as_str().unwrap_or_default().to_owned());
    }
    Some(texts)
}

impl Records {
    /// Reads the records of a `get`, or those of the only query of a `query`. `None`: it has no ids, or too many values.
    pub(super) fn read(body: &[u8]) -> Option<Self> {
        let columns: Columns<'_> = serde_json::from_slice(body).ok()?;
        let ids = texts(&column(columns.ids)?)?;
        let documents = texts(&column(columns.documents)?).unwrap_or_default();
        let mut metadatas = Vec::new();
        if let Value::Array(list) = column(columns.metadatas)? {
            for metadata in list {
                metadatas.push(match metadata {
                    Value::Object(metadata) => metadata,
                    _ => Map::new(),
                });
            }
        }
        let distances = column(columns.distances)?;
        Some(Records {
            documents,
            metadatas,
            embeddings: vectors(columns.embeddings, ids.len()),
            distances: serde_json::from_value(distances).unwrap_or_default(),
            ids,
        })
    }

    /// The cosines. `None`: the server left out a distance.
    pub(super) fn scores(&self) -> Option<Vec<f64>> {
        if self.distances.len() != self.ids.len() {
            return None;
        }
        let scores = self.distances.iter().map(|distance| 1.0 - distance);
        Some(scores.collect())
    }

    /// The records as hits. One without a source is not llmnode's.
    pub(super) fn hits(self, scores: &[f64]) -> Vec<Hit> {
        let texts = self.ids.into_iter().zip(self.documents);
        let records = texts.zip(self.metadatas).zip(scores);
        let mut hits = Vec::new();
        for (((id, text), metadata), score) in records {
            let Some(source) = sources(&metadata).next().map(str::to_owned) else {
                continue;
            };
            let mut of_program = Metadata::new();
            for (name, value) in metadata {
                if !name.contains(':') {
                    of_program.insert(name, value);
                }
            }
            hits.push(Hit {
                id,
                text,
                source,
                metadata: of_program,
                score: *score,
                rank: 0,
            });
        }
        hits
    }
}

pub(super) fn sources(metadata: &Map<String, Value>) -> impl Iterator<Item = &str> {
    let mut sources: Vec<_> = metadata
        .keys()
        .filter_map(|name| source_of_mark("in", name))
        .collect();
    sources.sort_unstable();
    sources.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_distance_that_is_no_number_is_not_passed_over() {
        let scores = |distances: Value| {
            let found =
                json!({"ids": [["a", "b"]], "documents": [["x", "y"]], "distances": [distances]});
            Records::read(found.to_string().as_bytes())
                .unwrap()
                .scores()
        };
        assert_eq!(scores(json!([0.0, 1.0])), Some(vec![1.0, 0.0]));
        assert_eq!(
            (scores(json!([0.0, null])), scores(json!([0.0]))),
            (None, None)
        );
        assert!(Records::read(br#"{"ids": null}"#).is_none());
    }

    #[test]
    fn vectors_are_read_and_no_tree_of_many_values() {
        let embeddings = vec![vec![0.5; 3_072]; BATCH];
        let ids = vec!["a"; BATCH];
        let body = json!({"ids": ids, "embeddings": embeddings}).to_string();
        let records = Records::read(body.as_bytes()).unwrap();
        assert_eq!(records.embeddings.len(), BATCH);
        let one = Records::read(br#"{"ids": ["a"], "embeddings": [[0.5, 1]]}"#).unwrap();
        assert_eq!(one.embeddings, [[0.5, 1.0]]);
        let more = Records::read(br#"{"ids": ["a"], "embeddings": [[],[],[]]}"#).unwrap();
        assert!(more.embeddings.is_empty());
        let metadatas = vec![json!({}); 60_000];
        let body = json!({"ids": ["a"], "metadatas": metadatas}).to_string();
        assert!(Records::read(body.as_bytes()).is_none());
    }
}
