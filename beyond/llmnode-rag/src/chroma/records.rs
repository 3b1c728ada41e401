//! Records of the server. Each is a chunk; marks among its metadata name the sources that have it.

use serde_json::{Map, Value, json};

use crate::document::Metadata;
use crate::hits::Hit;

/// How many records one request has.
pub(super) const BATCH: usize = 256;

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

/// One part of the records. Of a `query`, the lists are in a list, one for each query.
fn column(from: &mut Value, name: &str) -> Value {
    let mut column = from[name].take();
    let Value::Array(lists) = &mut column else {
        return column;
    };
    let holds_lists = lists.first().is_some_and(Value::is_array);
    // An embedding is a list itself, and a `get` may have one of them.
    let is_of_query = match name {
        "ids" => holds_lists,
        "embeddings" => false,
        _ => holds_lists && lists.len() == 1,
    };
    if is_of_query {
        return lists.swap_remove(0);
    }
    column
}

fn texts(column: &Value) -> Option<Vec<String>> {
    let mut texts = Vec::new();
    for text in column.as_array()? {
        texts.push(text.as_str().unwrap_or_default().to_owned());
    }
    Some(texts)
}

impl Records {
    /// Reads the records of a `get`, or those of the only query of a `query`. `None`: it has no ids.
    pub(super) fn read(mut from: Value) -> Option<Self> {
        let ids = texts(&column(&mut from, "ids"))?;
        let documents = texts(&column(&mut from, "documents")).unwrap_or_default();
        let mut metadatas = Vec::new();
        if let Value::Array(list) = column(&mut from, "metadatas") {
            for metadata in list {
                metadatas.push(match metadata {
                    Value::Object(metadata) => metadata,
                    _ => Map::new(),
                });
            }
        }
        let embeddings = column(&mut from, "embeddings");
        let distances = column(&mut from, "distances");
        Some(Records {
            ids,
            documents,
            metadatas,
            embeddings: serde_json::from_value(embeddings).unwrap_or_default(),
            distances: serde_json::from_value(distances).unwrap_or_default(),
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
            Records::read(found).unwrap().scores()
        };
        assert_eq!(scores(json!([0.0, 1.0])), Some(vec![1.0, 0.0]));
        assert_eq!(
            (scores(json!([0.0, null])), scores(json!([0.0]))),
            (None, None)
        );
        assert!(Records::read(json!({"ids": null})).is_none());
    }
}
