//! `models/{model}:batchGenerateContent`, and what it returns.

use serde_json::{Value, json};

use super::super::log::LoggedRequest;
use super::super::reply::{StubReply, bad_request};
use super::super::rules::keep;
use super::run::look;
use super::state::{
    Batches, Line, LineEnd, Order, Outcome, Server, State, json, parsed, query_value,
};
use super::time::rfc3339;

pub(super) fn reply(server: &dyn Server, request: &LoggedRequest) -> Option<StubReply> {
    let path = request.path().split('?').next().unwrap_or_default();
    if let Some(base) = path.strip_suffix(":batchGenerateContent") {
        return Some(create(server, request, base));
    }
    let (_, rest) = path.split_once("/batches")?;
    if !path.starts_with("/v1beta/") {
        return None;
    }
    let id = rest.trim_start_matches('/');
    Some(match (request.method(), id.split_once(':')) {
        ("GET", None) if id.is_empty() => list(&server.batches(), request),
        ("GET", None) => {
            look(server, id);
            shown_or_missing(&server.batches(), id)
        }
        ("POST", Some((id, "cancel"))) => {
            if let Some(order) = server.batches().orders.get_mut(id) {
                order.cancel();
            }
            json(&json!({}))
        }
        _ => missing(id),
    })
}

fn missing(id: &str) -> StubReply {
    let message = format!("batches/{id} is not found");
    let body = json!({"error": {"code": 404, "message": message, "status": "NOT_FOUND"}});
    StubReply::raw(404, body.to_string())
}

fn shown_or_missing(all: &Batches, id: &str) -> StubReply {
    match all.orders.get(id) {
        Some(order) => json(&shown(order)),
        None => missing(id),
    }
}

fn create(server: &dyn Server, request: &LoggedRequest, base: &str) -> StubReply {
    let body = parsed(request);
    let batch = &body["batch"];
    let requests = batch["inputConfig"]["requests"]["requests"].as_array();
    let Some(requests) = requests.filter(|requests| !requests.is_empty()) else {
        return bad_request(400, "batch.input_config.requests is required");
    };
    let lines = requests.iter().map(|one| Line {
        id: one["metadata"]["key"]
            .as_str()
            .unwrap_or_default()
            .to_owned(),
        body: one["request"].clone(),
    });
    keep("gemini batch", &body);
    let path = format!("{base}:generateContent");
    let all = &mut *server.batches();
    let order = all.add_order("gemini", &path, lines.collect());
    order.metadata = batch["displayName"].clone();
    json(&shown(order))
}

fn list(all: &Batches, request: &LoggedRequest) -> StubReply {
    let mut orders: Vec<&Order> = all
        .orders
        .values()
        .filter(|order| order.id.starts_with("gemini"))
        .collect();
    orders.sort_by_key(|order| std::cmp::Reverse(order.number));
    let begin: usize = query_value(request, "pageToken")
        .and_then(|token| token.parse().ok())
        .unwrap_or(0);
    let page = all.page(request, "pageSize");
    let rest = orders.get(begin..).unwrap_or_default();
    let data: Vec<Value> = rest.iter().take(page).map(|order| shown(order)).collect();
    let next = (rest.len() > page).then(|| (begin + page).to_string());
    json(&json!({"operations": data, "nextPageToken": next}))
}

fn shown(order: &Order) -> Value {
    let state = match order.state {
        State::UnderWay | State::Cancelling => "BATCH_STATE_RUNNING",
        State::Completed => "BATCH_STATE_SUCCEEDED",
        State::Refused => "BATCH_STATE_FAILED",
        State::Expired => "BATCH_STATE_EXPIRED",
        State::Cancelled => "BATCH_STATE_CANCELLED",
    };
    let has_ended = !matches!(order.state, State::UnderWay | State::Cancelling);
    let results: Vec<Value> = order.results.iter().filter_map(result).collect();
    json!({
        "name": format!("batches/{}", order.id),
        "metadata": {
            "displayName": order.metadata,
            "state": state,
            "endTime": order.ended().map(rfc3339),
        },
        "done": has_ended,
        "response": {"inlinedResponses": {"inlinedResponses": results}},
    })
}

fn result(outcome: &Outcome) -> Option<Value> {
    let metadata = json!({"key": outcome.line});
    match &outcome.end {
        LineEnd::Response { status, body } if *status < 400 => {
            Some(json!({"response": body, "metadata": metadata}))
        }
        LineEnd::Response { body, .. } => {
            Some(json!({"error": body["error"], "metadata": metadata}))
        }
        LineEnd::Expired | LineEnd::Cancelled => None,
    }
}
