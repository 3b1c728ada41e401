//! As much of Chroma's server as the store needs, on loopback.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use llmnode_rag::ChromaStore;
use serde_json::{Map, Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

#[derive(Default)]
struct Shared {
    collections: Mutex<BTreeMap<String, Shelf>>,
    /// How many requests are answered before the server fails.
    left: Mutex<Option<usize>>,
    status: AtomicUsize,
    /// So many requests are answered with 503.
    busy: AtomicUsize,
}

/// Document, vector and metadata.
type Record = (String, Vec<f32>, Map<String, Value>);

#[derive(Default)]
struct Shelf {
    metadata: Value,
    dimension: Option<usize>,
    records: BTreeMap<String, Record>,
}

pub(crate) struct Imitation {
    address: std::net::SocketAddr,
    shared: Arc<Shared>,
    task: tokio::task::JoinHandle<()>,
}

impl Imitation {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (address, shared) = (listener.local_addr().unwrap(), Arc::new(Shared::default()));
        let of_task = Arc::clone(&shared);
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, Arc::clone(&of_task)));
            }
        });
        Imitation {
            address,
            shared,
            task,
        }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn store(&self) -> ChromaStore {
        ChromaStore::open(&self.url()).unwrap()
    }

    /// Answers everything with this status from now on.
    pub(crate) fn fails(&self, status: usize) {
        self.shared.status.store(status, Ordering::Relaxed);
        self.fails_after(0);
    }

    pub(crate) fn fails_after(&self, requests: usize) {
        *self.shared.left.lock().unwrap() = Some(requests);
    }

    pub(crate) fn is_busy(&self, requests: usize) {
        self.shared.busy.store(requests, Ordering::Relaxed);
    }

    pub(crate) fn recovers(&self) {
        *self.shared.left.lock().unwrap() = None;
    }
}

impl Drop for Imitation {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(mut stream: TcpStream, shared: Arc<Shared>) {
    let mut buffer = Vec::new();
    loop {
        let head = loop {
            if let Some(end) = buffer.windows(4).position(|four| four == b"\r\n\r\n") {
                break String::from_utf8(buffer.drain(..end + 4).collect()).unwrap();
            }
            if stream.read_buf(&mut buffer).await.unwrap_or(0) == 0 {
                return;
            }
        };
        let length = head.lines().find_map(|line| {
            line.to_lowercase()
                .strip_prefix("content-length: ")?
                .parse()
                .ok()
        });
        let length: usize = length.unwrap_or(0);
        while buffer.len() < length {
            if stream.read_buf(&mut buffer).await.unwrap_or(0) == 0 {
                return;
            }
        }
        let body: Vec<u8> = buffer.drain(..length).collect();
        let path = head.split(' ').nth(1).unwrap();
        let method = head.split(' ').next().unwrap();
        let (status, answer) = answered(
            &shared,
            method,
            path,
            &serde_json::from_slice(&body).unwrap_or_default(),
        );
        let answer = answer.to_string();
        let head = format!(
            "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            answer.len()
        );
        if stream
            .write_all(format!("{head}{answer}").as_bytes())
            .await
            .is_err()
        {
            return;
        }
    }
}

fn answered(shared: &Shared, method: &str, path: &str, body: &Value) -> (usize, Value) {
    let busy = |left: usize| left.checked_sub(1);
    if shared
        .busy
        .fetch_update(Ordering::Relaxed, Ordering::Relaxed, busy)
        .is_ok()
    {
        return (503, json!({"error": "Busy", "message": "later"}));
    }
    if let Some(left) = &mut *shared.left.lock().unwrap() {
        if *left == 0 {
            let status = shared.status.load(Ordering::Relaxed).max(200);
            let status =
                if status == 200 && *left == 0 && shared.status.load(Ordering::Relaxed) == 0 {
                    503
                } else {
                    status
                };
            return (
                status,
                json!({"error": "SomeError", "message": "the server's words"}),
            );
        }
        *left -= 1;
    }
    let path = path
        .strip_prefix("/api/v2/tenants/default_tenant/databases/default_database/collections")
        .unwrap();
    let mut collections = shared.collections.lock().unwrap();
    if path.is_empty() {
        let name = body["name"].as_str().unwrap().to_owned();
        let made = || Shelf {
            metadata: body["metadata"].clone(),
            ..Shelf::default()
        };
        let shelf = collections.entry(name.clone()).or_insert_with(made);
        return (
            200,
            json!({"id": name, "name": name, "metadata": shelf.metadata, "dimension": shelf.dimension}),
        );
    }
    let mut parts = path[1..].split('/');
    let id = parts.next().unwrap();
    if method == "DELETE" {
        collections.remove(id);
        return (200, json!({}));
    }
    let Some(shelf) = collections.get_mut(id) else {
        return (
            404,
            json!({"error": "NotFoundError", "message": format!("Collection [{id}] does not exist.")}),
        );
    };
    match parts.next().unwrap() {
        "count" => (200, json!(shelf.records.len())),
        "get" => (200, shelf.get(body)),
        "query" => shelf.query(body),
        "upsert" => shelf.upsert(body),
        "update" => {
            for (id, metadata) in pairs(body, "metadatas") {
                if let Some((_, _, own)) = shelf.records.get_mut(id) {
                    merge(own, metadata);
                }
            }
            (200, json!({}))
        }
        "delete" => {
            for id in body["ids"].as_array().unwrap() {
                shelf.records.remove(id.as_str().unwrap());
            }
            (200, json!({}))
        }
        other => panic!("{other}"),
    }
}

fn pairs<'a>(body: &'a Value, column: &str) -> Vec<(&'a str, &'a Value)> {
    let ids = body["ids"]
        .as_array()
        .unwrap()
        .iter()
        .map(|id| id.as_str().unwrap());
    ids.zip(body[column].as_array().unwrap()).collect()
}

fn merge(own: &mut Map<String, Value>, with: &Value) {
    for (name, value) in with.as_object().unwrap() {
        match value {
            Value::Null => own.remove(name),
            value => own.insert(name.clone(), value.clone()),
        };
    }
}

impl Shelf {
    fn takes(&self, body: &Value, id: &str) -> bool {
        let (document, _, metadata) = &self.records[id];
        let of_ids = body["ids"]
            .as_array()
            .is_none_or(|ids| ids.iter().any(|one| one == id));
        let equal = |condition: &Value| {
            condition.as_object().unwrap().iter().all(|(name, wanted)| {
                metadata.get(name) == Some(wanted.get("$eq").unwrap_or(wanted))
            })
        };
        let filtered = match &body["where"] {
            Value::Null => true,
            condition if condition.get("$and").is_some() => {
                condition["$and"].as_array().unwrap().iter().all(equal)
            }
            condition => equal(condition),
        };
        let text = body["where_document"]["$regex"]
            .as_str()
            .is_none_or(|pattern| {
                let parts: Vec<_> = pattern
                    .strip_prefix("(?i)")
                    .unwrap()
                    .split(r"[^\p{L}\p{N}]+")
                    .collect();
                let words: Vec<_> = document
                    .split(|c: char| !c.is_alphanumeric())
                    .map(str::to_lowercase)
                    .collect();
                words.windows(parts.len()).any(|window| {
                    window
                        .iter()
                        .zip(&parts)
                        .all(|(word, part)| word.contains(part))
                })
            });
        of_ids && filtered && text
    }

    fn get(&self, body: &Value) -> Value {
        let page = |name: &str| body[name].as_u64().map(|figure| figure as usize);
        let ids = self.records.keys().filter(|id| self.takes(body, id));
        let ids: Vec<_> = ids
            .skip(page("offset").unwrap_or(0))
            .take(page("limit").unwrap_or(usize::MAX))
            .collect();
        let column = |name: &str, of: fn(&Record) -> Value| {
            let wanted = body["include"]
                .as_array()
                .unwrap()
                .iter()
                .any(|one| one == name);
            wanted.then(|| {
                ids.iter()
                    .map(|id| of(&self.records[*id]))
                    .collect::<Vec<_>>()
            })
        };
        json!({
            "ids": ids,
            "documents": column("documents", |(document, _, _)| json!(document)),
            "metadatas": column("metadatas", |(_, _, metadata)| json!(metadata)),
            "embeddings": column("embeddings", |(_, vector, _)| json!(vector)),
        })
    }

    fn wrong(&self, length: usize) -> Option<(usize, Value)> {
        let own = self.dimension.filter(|own| *own != length)?;
        let message =
            format!("Collection expecting embedding with dimension of {own}, got {length}");
        Some((
            400,
            json!({"error": "InvalidArgumentError", "message": message}),
        ))
    }

    fn query(&self, body: &Value) -> (usize, Value) {
        let vector: Vec<f32> = serde_json::from_value(body["query_embeddings"][0].clone()).unwrap();
        if let Some(wrong) = self.wrong(vector.len()) {
            return wrong;
        }
        let distance = |other: &[f32]| {
            1.0 - f64::from(vector.iter().zip(other).map(|(a, b)| a * b).sum::<f32>())
        };
        let mut found: Vec<_> = self
            .records
            .iter()
            .filter(|(id, _)| self.takes(body, id))
            .collect();
        found.sort_by(|(_, one), (_, other)| distance(&one.1).total_cmp(&distance(&other.1)));
        found.truncate(body["n_results"].as_u64().unwrap() as usize);
        let column = |of: &dyn Fn(&Record) -> Value| {
            vec![
                found
                    .iter()
                    .map(|(_, record)| of(record))
                    .collect::<Vec<_>>(),
            ]
        };
        let answer = json!({
            "ids": [found.iter().map(|(id, _)| id).collect::<Vec<_>>()],
            "documents": column(&|(document, _, _)| json!(document)),
            "metadatas": column(&|(_, _, metadata)| json!(metadata)),
            "distances": column(&|(_, vector, _)| json!(distance(vector))),
        });
        (200, answer)
    }

    fn upsert(&mut self, body: &Value) -> (usize, Value) {
        let documents = body["documents"].as_array().unwrap();
        let vectors: Vec<Vec<f32>> = serde_json::from_value(body["embeddings"].clone()).unwrap();
        if let Some(wrong) = vectors.iter().find_map(|vector| self.wrong(vector.len())) {
            return wrong;
        }
        for (((id, metadata), document), vector) in pairs(body, "metadatas")
            .into_iter()
            .zip(documents)
            .zip(vectors)
        {
            self.dimension = Some(vector.len());
            let record = self.records.entry(id.to_owned()).or_default();
            (record.0, record.1) = (document.as_str().unwrap().to_owned(), vector);
            merge(&mut record.2, metadata);
        }
        (200, json!({}))
    }
}
