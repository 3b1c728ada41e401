//! Records of the server. Each is a chunk; marks among its metadata name the sources that have it.

use serde_json::{Map, Value, json};

use crate::document::Metadata;
use crate::hits::Hit;

pub(super) const BATCH: usize = 256;

/// `in:manual.md`: the source has the chunk; `fp:manual.md`: its complete fingerprint. Programs use no colon.
pub(super) fn mark(kind: &str, source: &str) -> String {
    format!("{kind}:{source}")
}

pub(super) fn source_of_mark<'n>(kind: &str, name: &'n str) -> Option<&'n str> {
    name.strip_prefix(kind)?.strip_prefix(':')
}

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
        let GetRequest {
            ids,
            filter,
            text,
            include,
            page,
        } = self;
        let mut body = json!({"include": include});
        let parts = [
            ("ids", ids.map(|ids| json!(ids))),
            ("where", filter),
            ("where_document", text),
        ];
        for (name, part) in parts {
            if let Some(part) = part {
                body[name] = part;
            }
        }
        if let Some((offset, limit)) = page {
            (body["offset"], body["limit"]) = (json!(offset), json!(limit));
        }
        body
    }
}

#[derive(Default)]
pub(super) struct Records {
    pub(super) ids: Vec<String>,
    pub(super) documents: Vec<String>,
    pub(super) metadatas: Vec<Map<String, Value>>,
    pub(super) embeddings: Vec<Vec<f32>>,
    pub(super) distances: Vec<f64>,
}

impl Records {
    pub(super) fn read(mut from: Value) -> Option<Self> {
        let mut column = |name: &str| {
            let column = from[name].take();
            match column {
                Value::Array(mut lists)
                    if name == "ids" && lists.first().is_some_and(Value::is_array) =>
                {
                    lists.swap_remove(0)
                }
                Value::Array(mut lists)
                    if lists.len() == 1 && lists[0].is_array() && name != "embeddings" =>
                {
                    lists.swap_remove(0)
                }
                column => column,
            }
        };
        let texts = |column: Value| -> Option<Vec<String>> {
            let text = |one: &Value| one.as_str().unwrap_or_default().to_owned();
            Some(column.as_array()?.iter().map(text).collect())
        };
        let ids = texts(column("ids"))?;
        let metadata = |one: Value| {
            if let Value::Object(metadata) = one {
                metadata
            } else {
                Map::new()
            }
        };
        let list = |column: Value| {
            if let Value::Array(list) = column {
                list
            } else {
                Vec::new()
            }
        };
        Some(Records {
            ids,
            documents: texts(column("documents")).unwrap_or_default(),
            metadatas: list(column("metadatas"))
                .into_iter()
                .map(metadata)
                .collect(),
            embeddings: serde_json::from_value(column("embeddings")).unwrap_or_default(),
            distances: serde_json::from_value(column("distances")).unwrap_or_default(),
        })
    }

    /// `None`: the server left out a distance.
    pub(super) fn scores(&self) -> Option<Vec<f64>> {
        let scores = self.distances.iter().map(|distance| 1.0 - distance);
        (self.distances.len() == self.ids.len()).then(|| scores.collect())
    }

    pub(super) fn hits(self, scores: &[f64]) -> Vec<Hit> {
        let records = self
            .ids
            .into_iter()
            .zip(self.documents)
            .zip(self.metadatas)
            .zip(scores);
        let hits = records.filter_map(|(((id, text), metadata), score)| {
            let source = sources(&metadata).next()?.to_owned();
            let own = |(name, _): &(String, Value)| !name.contains(':');
            let metadata: Metadata = metadata.into_iter().filter(own).collect();
            Some(Hit {
                id,
                text,
                source,
                metadata,
                score: *score,
                rank: 0,
            })
        });
        hits.collect()
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
