//! `/v1/files` and `/v1/batches`.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::super::log::LoggedRequest;
use super::super::reply::{StubReply, bad_request};
use super::super::rules::keep;
use super::run::look;
use super::state::{
    Batches, Line, LineEnd, Order, Outcome, Server, State, behind, json, parsed, query_value,
};
use super::time::unix_seconds;

const MOST_LINES: usize = 50_000;

pub(super) fn reply(server: &dyn Server, request: &LoggedRequest) -> Option<StubReply> {
    if let Some(path) = behind(request, "/v1/files") {
        return Some(files(server, request, &path));
    }
    let path = behind(request, "/v1/batches")?;
    Some(orders(server, request, &path))
}

fn files(server: &dyn Server, request: &LoggedRequest, path: &[&str]) -> StubReply {
    let mut all = server.batches();
    match (request.method(), path) {
        ("POST", []) => match uploaded(request) {
            Ok(content) => {
                let bytes = content.len();
                let id = all.add_file(content);
                json(&json!({"id": id, "object": "file", "bytes": bytes, "purpose": "batch"}))
            }
            Err(message) => bad_request(400, &message),
        },
        ("GET", [id, "content"]) => match all.files.get(*id).filter(|file| !file.is_deleted) {
            Some(file) => StubReply::raw(200, file.content.clone()),
            None => not_found("No such File object"),
        },
        ("DELETE", [id]) => match all.files.get_mut(*id).filter(|file| !file.is_deleted) {
            Some(file) => {
                file.is_deleted = true;
                json(&json!({"id": id, "object": "file", "deleted": true}))
            }
            None => not_found("No such File object"),
        },
        _ => not_found("Unknown request URL"),
    }
}

fn not_found(message: &str) -> StubReply {
    StubReply::error(404, "invalid_request_error", (), message)
}

/// The file of a form, whose purpose has to be `batch`.
fn uploaded(request: &LoggedRequest) -> Result<String, String> {
    let kind = request.header("content-type").unwrap_or_default();
    let (_, boundary) = kind
        .split_once("boundary=")
        .filter(|_| kind.starts_with("multipart/form-data"))
        .ok_or("the file has to come as multipart/form-data")?;
    let mark = format!("--{boundary}");
    let mut fields = Map::new();
    let mut file = None;
    for part in request.body().split(&mark) {
        let Some((head, content)) = part.split_once("\r\n\r\n") else {
            continue;
        };
        let content = content.strip_suffix("\r\n").unwrap_or(content);
        match field_name(head) {
            Some("file") => file = Some(content.to_owned()),
            Some(name) => {
                fields.insert(name.to_owned(), json!(content));
            }
            None => {}
        }
    }
    let purpose = fields
        .get("purpose")
        .and_then(Value::as_str)
        .unwrap_or_default();
    if purpose != "batch" {
        return Err(format!("'{purpose}' is not one of ['batch'] - 'purpose'"));
    }
    let file = file.ok_or("'file' is a required property")?;
    keep("openai file", &Value::Object(fields));
    Ok(file)
}

/// The name in the head of a part of a form.
fn field_name(head: &str) -> Option<&str> {
    let (_, rest) = head.split_once(" name=\"")?;
    let (name, _) = rest.split_once('"')?;
    Some(name)
}

fn orders(server: &dyn Server, request: &LoggedRequest, path: &[&str]) -> StubReply {
    match (request.method(), path) {
        ("POST", []) => create(server, request),
        ("GET", []) => list(&server.batches(), request),
        ("GET", [id]) => {
            look(server, id);
            let all = &mut *server.batches();
            write_files(all, id);
            shown_or_missing(all, id)
        }
        ("POST", [id, "cancel"]) => {
            let all = &mut *server.batches();
            if let Some(order) = all.orders.get_mut(*id) {
                order.cancel();
            }
            shown_or_missing(all, id)
        }
        _ => not_found("Unknown request URL"),
    }
}

fn shown_or_missing(all: &Batches, id: &str) -> StubReply {
    match all.orders.get(id) {
        Some(order) => json(&shown(order)),
        None => not_found(&format!("No batch found with id '{id}'.")),
    }
}

fn create(server: &dyn Server, request: &LoggedRequest) -> StubReply {
    let body = parsed(request);
    let endpoint = body["endpoint"].as_str().unwrap_or_default();
    if !matches!(endpoint, "/v1/chat/completions" | "/v1/responses") {
        return bad_request(400, &format!("Invalid value: '{endpoint}' - 'endpoint'"));
    }
    if body["completion_window"] != "24h" {
        return bad_request(
            400,
            "Invalid value - 'completion_window': supported is '24h'",
        );
    }
    let seconds = body["output_expires_after"]["seconds"].as_u64();
    if seconds.is_some_and(|seconds| !(3_600..=2_592_000).contains(&seconds)) {
        return bad_request(400, "Invalid value - 'output_expires_after.seconds'");
    }
    let all = &mut *server.batches();
    let file = body["input_file_id"].as_str().unwrap_or_default();
    let Some(content) = all.files.get(file).filter(|file| !file.is_deleted) else {
        return not_found(&format!("No such File object: {file}"));
    };
    let mut faults = Vec::new();
    let lines = lines(&content.content, endpoint, &mut faults);
    faults.extend(all.queue_fault(lines.len()));
    keep("openai batch", &body);
    let order = all.add_order("batch", endpoint, lines);
    order.input_file = file.to_owned();
    order.metadata = body["metadata"].clone();
    faults.extend(order.way.refused.clone());
    order.faults = faults;
    json(&shown(order))
}

type Fault = (String, String, Option<u64>);

fn lines(content: &str, endpoint: &str, faults: &mut Vec<Fault>) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut ids = BTreeSet::new();
    let mut models = BTreeSet::new();
    let texts = content.lines().filter(|line| !line.trim().is_empty());
    for (at, text) in texts.enumerate() {
        match line(text, endpoint) {
            Ok(line) => {
                if !ids.insert(line.id.clone()) {
                    let message =
                        "The custom_id for this request is a duplicate of another request.";
                    faults.push((
                        "duplicate_custom_id".into(),
                        message.into(),
                        Some(at as u64 + 1),
                    ));
                }
                models.insert(line.body["model"].as_str().unwrap_or_default().to_owned());
                lines.push(line);
            }
            Err(message) => faults.push(("invalid_request".into(), message, Some(at as u64 + 1))),
        }
    }
    if lines.len() > MOST_LINES {
        faults.push((
            "too_many_tasks".into(),
            "The batch has over 50,000 requests.".into(),
            None,
        ));
    }
    if models.len() > 1 {
        let message = "The provided batch contains mixed model requests.";
        faults.push(("mismatched_model".into(), message.into(), None));
    }
    if lines.is_empty() && faults.is_empty() {
        faults.push(("empty_file".into(), "The input file is empty.".into(), None));
    }
    lines
}

fn line(text: &str, endpoint: &str) -> Result<Line, String> {
    let line: Value = serde_json::from_str(text)
        .map_err(|_| "This line is not parseable as valid JSON.".to_owned())?;
    let id = line["custom_id"].as_str().filter(|id| !id.is_empty());
    let id = id.ok_or("Missing required parameter: 'custom_id'.")?;
    if line["method"] != "POST" {
        return Err("Invalid value: 'method' has to be 'POST'.".to_owned());
    }
    if line["url"].as_str() != Some(endpoint) {
        return Err(
            "The URL provided for this request does not match the batch endpoint.".to_owned(),
        );
    }
    if !line["body"].is_object() {
        return Err("Missing required parameter: 'body'.".to_owned());
    }
    if line["body"]["stream"] == true {
        return Err("Streaming is not supported in the Batch API.".to_owned());
    }
    keep("openai line", &line);
    Ok(Line {
        id: id.to_owned(),
        body: line["body"].clone(),
    })
}

/// The newest first, as the API lists them.
fn list(all: &Batches, request: &LoggedRequest) -> StubReply {
    let mut orders: Vec<&Order> = all
        .orders
        .values()
        .filter(|order| order.id.starts_with("batch_"))
        .collect();
    orders.sort_by_key(|order| std::cmp::Reverse(order.number));
    let begin = query_value(request, "after")
        .and_then(|after| orders.iter().position(|order| order.id == after))
        .map_or(0, |at| at + 1);
    let rest = &orders[begin..];
    let limit = all.page(request, "limit");
    let page: Vec<Value> = rest.iter().take(limit).map(|order| shown(order)).collect();
    json(&json!({"object": "list", "data": page, "has_more": rest.len() > limit}))
}

fn shown(order: &Order) -> Value {
    let state = match order.state {
        State::UnderWay => "in_progress",
        State::Completed => "completed",
        State::Refused => "failed",
        State::Expired => "expired",
        State::Cancelling => "cancelling",
        State::Cancelled => "cancelled",
    };
    let errors: Vec<Value> = order
        .faults
        .iter()
        .map(|(code, message, line)| {
            json!({"code": code, "message": message, "line": line, "param": null})
        })
        .collect();
    let has_failed = order.state == State::Refused;
    let completed = order
        .results
        .iter()
        .filter(|outcome| is_answer(outcome))
        .count();
    let mut shown = json!({
        "id": order.id,
        "object": "batch",
        "endpoint": order.path,
        "input_file_id": order.input_file,
        "completion_window": "24h",
        "status": state,
        "errors": if has_failed { json!({"object": "list", "data": errors}) } else { Value::Null },
        "output_file_id": file_id(order, &order.output_file),
        "error_file_id": file_id(order, &order.error_file),
        "request_counts": {
            "total": order.lines.len(),
            "completed": completed,
            "failed": order.results.len() - completed,
        },
        "metadata": order.metadata,
    });
    if let Some(ended) = order.ended() {
        shown[format!("{state}_at")] = unix_seconds(ended).into();
    }
    shown
}

fn is_answer(outcome: &Outcome) -> bool {
    matches!(outcome.end, LineEnd::Response { status, .. } if status < 400)
}

/// Answers in one file, everything else in another; a file without lines does not exist.
fn write_files(all: &mut Batches, id: &str) {
    let Some(order) = all.orders.get_mut(id) else {
        return;
    };
    if order.results.is_empty() || order.output_file.is_some() || order.error_file.is_some() {
        return;
    }
    order.looks_since = order.looks_since.saturating_add(1);
    if order.looks_since <= order.way.without_files {
        return;
    }
    let mut answers = String::new();
    let mut errors = String::new();
    for outcome in &order.results {
        let to = if is_answer(outcome) {
            &mut answers
        } else {
            &mut errors
        };
        to.push_str(&result(order, outcome).to_string());
        to.push('\n');
    }
    let output_file = add_file(all, answers);
    let error_file = add_file(all, errors);
    if let Some(order) = all.orders.get_mut(id) {
        order.output_file = output_file;
        order.error_file = error_file;
    }
}

/// No file is made without lines.
fn add_file(all: &mut Batches, content: String) -> Option<String> {
    if content.is_empty() {
        return None;
    }
    Some(all.add_file(content))
}

fn file_id(order: &Order, id: &Option<String>) -> Value {
    match id {
        Some(id) => json!(id),
        None if order.way.empty_file_ids && order.state != State::UnderWay => json!(""),
        None => Value::Null,
    }
}

fn line_error(outcome: &Outcome, id: &str, code: &str, message: &str) -> Value {
    json!({
        "id": id, "custom_id": outcome.line, "response": null,
        "error": {"code": code, "message": message},
    })
}

/// The error of a response stands in its body, and `error` is null then.
fn result(order: &Order, outcome: &Outcome) -> Value {
    let id = format!("batch_req_{}", outcome.line);
    match &outcome.end {
        LineEnd::Response { status, body } => {
            let body = match order.way.as_texts {
                true => json!(body.to_string()),
                false => body.clone(),
            };
            json!({
                "id": id, "custom_id": outcome.line,
                "response": {"status_code": status, "request_id": format!("req-{}", outcome.line), "body": body},
                "error": null,
            })
        }
        LineEnd::Expired => line_error(
            outcome,
            &id,
            "batch_expired",
            "This request could not be executed before the completion window expired.",
        ),
        LineEnd::Cancelled => line_error(
            outcome,
            &id,
            "batch_cancelled",
            "This request was cancelled.",
        ),
    }
}
