//! `/v1/messages/batches`.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::super::log::LoggedRequest;
use super::super::reply::{StubReply, bad_request};
use super::super::rules::keep;
use super::run::look;
use super::state::{
    Batches, Line, LineEnd, Order, Outcome, Server, State, behind, json, parsed, query_value,
};
use super::time::rfc3339;

const MOST_LINES: usize = 100_000;

pub(super) fn reply(server: &dyn Server, request: &LoggedRequest) -> Option<StubReply> {
    let path = behind(request, "/v1/messages/batches")?;
    Some(match (request.method(), &*path) {
        ("POST", []) => create(server, request),
        ("GET", []) => list(&server.batches(), request),
        ("GET", [id]) => {
            look(server, id);
            shown_or_missing(&server.batches(), id)
        }
        ("GET", [id, "results"]) => results(&server.batches(), id),
        ("POST", [id, "cancel"]) => {
            let all = &mut *server.batches();
            if let Some(order) = all.orders.get_mut(*id) {
                order.cancel();
            }
            shown_or_missing(all, id)
        }
        _ => missing("Not found"),
    })
}

fn missing(message: &str) -> StubReply {
    let body = json!({"type": "error", "error": {"type": "not_found_error", "message": message}});
    StubReply::raw(404, body.to_string())
}

fn shown_or_missing(all: &Batches, id: &str) -> StubReply {
    match all.orders.get(id) {
        Some(order) => json(&shown(order)),
        None => missing(&format!("Batch {id} not found.")),
    }
}

fn create(server: &dyn Server, request: &LoggedRequest) -> StubReply {
    let body = parsed(request);
    let requests = body["requests"].as_array().cloned().unwrap_or_default();
    if requests.is_empty() || requests.len() > MOST_LINES {
        return bad_request(400, "requests: the list should have 1 to 100000 items");
    }
    let mut ids = BTreeSet::new();
    let mut lines = Vec::new();
    for (at, request) in requests.iter().enumerate() {
        match line(request) {
            Ok(line) if ids.insert(line.id.clone()) => lines.push(line),
            Ok(line) => {
                let message = format!("requests.{at}.custom_id: '{}' is not unique", line.id);
                return bad_request(400, &message);
            }
            Err(message) => return bad_request(400, &format!("requests.{at}.{message}")),
        }
    }
    keep("messages batch", &body);
    let all = &mut *server.batches();
    let order = all.add_order("msgbatch", "/v1/messages", lines);
    json(&shown(order))
}

fn line(request: &Value) -> Result<Line, String> {
    let id = request["custom_id"].as_str().unwrap_or_default();
    if id.is_empty()
        || id.len() > 64
        || !id
            .chars()
            .all(|letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_'))
    {
        return Err("custom_id: String should match pattern '^[a-zA-Z0-9_-]{1,64}$'".to_owned());
    }
    let params = &request["params"];
    if !params.is_object() {
        return Err("params: Field required".to_owned());
    }
    if params["stream"] == true {
        return Err("params.stream: streaming is not supported in batches".to_owned());
    }
    if params["max_tokens"]
        .as_u64()
        .is_none_or(|tokens| tokens == 0)
    {
        return Err("params.max_tokens: should be greater than or equal to 1".to_owned());
    }
    Ok(Line {
        id: id.to_owned(),
        body: params.clone(),
    })
}

/// The newest first.
fn list(all: &Batches, request: &LoggedRequest) -> StubReply {
    let mut orders: Vec<&Order> = all
        .orders
        .values()
        .filter(|order| order.id.starts_with("msgbatch"))
        .collect();
    orders.sort_by_key(|order| std::cmp::Reverse(order.number));
    let begin = query_value(request, "after_id")
        .and_then(|after| orders.iter().position(|order| order.id == after))
        .map_or(0, |at| at + 1);
    let rest = &orders[begin..];
    let page = all.page(request, "limit");
    let data: Vec<Value> = rest.iter().take(page).map(|order| shown(order)).collect();
    json(&json!({
        "data": data,
        "has_more": rest.len() > page,
        "first_id": data.first().map(|batch| batch["id"].clone()),
        "last_id": data.last().map(|batch| batch["id"].clone()),
    }))
}

fn shown(order: &Order) -> Value {
    let state = match order.state {
        State::UnderWay => "in_progress",
        State::Cancelling => "canceling",
        State::Completed | State::Refused | State::Expired | State::Cancelled => "ended",
    };
    let url = (state == "ended").then(|| format!("/v1/messages/batches/{}/results", order.id));
    let processing = match state {
        "ended" => 0,
        _ => order.lines.len(),
    };
    json!({
        "id": order.id,
        "type": "message_batch",
        "processing_status": state,
        "request_counts": {
            "processing": processing,
            "succeeded": count(order, |end| matches!(end, LineEnd::Response { status, .. } if *status < 400)),
            "errored": count(order, |end| matches!(end, LineEnd::Response { status, .. } if *status >= 400)),
            "canceled": count(order, |end| matches!(end, LineEnd::Cancelled)),
            "expired": count(order, |end| matches!(end, LineEnd::Expired)),
        },
        "created_at": rfc3339(order.created),
        "ended_at": order.ended().map(rfc3339),
        "results_url": url,
    })
}

fn results(all: &Batches, id: &str) -> StubReply {
    let Some(order) = all.orders.get(id) else {
        return missing(&format!("Batch {id} not found."));
    };
    if matches!(order.state, State::UnderWay | State::Cancelling) {
        return bad_request(400, "the batch has no results yet");
    }
    let mut lines = String::new();
    for outcome in &order.results {
        lines.push_str(&result(outcome).to_string());
        lines.push('\n');
    }
    StubReply::raw(200, lines)
}

fn result(outcome: &Outcome) -> Value {
    let result = match &outcome.end {
        LineEnd::Response { status, body } if *status < 400 => {
            json!({"type": "succeeded", "message": body})
        }
        LineEnd::Response { body, .. } => json!({"type": "errored", "error": body}),
        LineEnd::Expired => json!({"type": "expired"}),
        LineEnd::Cancelled => json!({"type": "canceled"}),
    };
    json!({"custom_id": outcome.line, "result": result})
}

fn count(order: &Order, is_counted: fn(&LineEnd) -> bool) -> usize {
    order
        .results
        .iter()
        .filter(|result| is_counted(&result.end))
        .count()
}
