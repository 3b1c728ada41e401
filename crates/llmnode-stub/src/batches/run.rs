//! The end of a batch: its lines are answered, as far as it comes.

use llmnode_model::TokenUsage;
use serde_json::Value;

use super::super::headers::LoggedHeaders;
use super::super::log::LoggedRequest;
use super::super::request::Head;
use super::super::response::{Body, Response};
use super::state::{BilledLine, Line, LineEnd, Order, Outcome, Server, State};

/// One more look at the order. At the one that ends it, its lines are answered.
pub(super) fn look(server: &dyn Server, id: &str) {
    let Some((path, lines, answered, state)) = next_end(server, id) else {
        return;
    };
    // No lock is held here: an answer may be a function of the test's.
    let mut results = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let end = match (at < answered, state) {
            (true, _) => answer(server, id, &path, line),
            (false, State::Expired) => LineEnd::Expired,
            (false, _) => LineEnd::Cancelled,
        };
        results.push(Outcome {
            line: line.id.clone(),
            end,
        });
    }
    let all = &mut *server.batches();
    let Some(order) = all.orders.get_mut(id) else {
        return;
    };
    order.state = state;
    order.results = arranged(order, results);
}

/// `None`: it has not ended, or had before.
fn next_end(server: &dyn Server, id: &str) -> Option<(String, Vec<Line>, usize, State)> {
    let all = &mut *server.batches();
    let order = all.orders.get_mut(id)?;
    if order.is_ending || !matches!(order.state, State::UnderWay | State::Cancelling) {
        return None;
    }
    order.looks = order.looks.saturating_add(1);
    if !order.faults.is_empty() {
        order.state = State::Refused;
        return None;
    }
    let count = order.lines.len();
    let (answered, state) = if let Some(cancel) = &mut order.cancel {
        cancel.looks = cancel.looks.saturating_add(1);
        if cancel.looks <= order.way.cancelling {
            return None;
        }
        (order.way.cancelled_after.unwrap_or(0), State::Cancelled)
    } else if order.looks <= order.way.in_progress {
        return None;
    } else if let Some(lines) = order.way.expires_after {
        (lines, State::Expired)
    } else if let Some(lines) = order.way.cancelled_after {
        (lines, State::Cancelled)
    } else {
        (count, State::Completed)
    };
    // Looked at once more meanwhile, it does not end twice.
    order.is_ending = true;
    Some((order.path.clone(), order.lines.clone(), answered, state))
}

fn answer(server: &dyn Server, batch: &str, path: &str, line: &Line) -> LineEnd {
    let head = Head {
        method: "POST".to_owned(),
        target: path.to_owned(),
        headers: LoggedHeaders::default(),
        ..Head::default()
    };
    let number = server.log().next_number();
    let body = line.body.to_string().into_bytes();
    let mut request = LoggedRequest::new(number, head, body, true);
    let reply = server.answer_line(&request);
    let Some(response) = Response::new(&reply, &request) else {
        return LineEnd::Response {
            status: 500,
            body: serde_json::json!({"error": {"message": "the server failed", "type": "server_error", "code": null}}),
        };
    };
    let bytes = match &response.body {
        Body::Bytes(bytes) => bytes.to_vec(),
        Body::Filler(_) | Body::Pieces(_) => Vec::new(),
    };
    let body = serde_json::from_slice(&bytes).unwrap_or(Value::Null);
    let status = response.status;
    let usage = response.usage;
    request.record_response(status, usage, None, reply.refused_by);
    request.complete = true;
    server.log().add_usage(usage);
    server.log().keep(&request);
    server.batches().billed.push(BilledLine {
        batch: batch.to_owned(),
        line: line.id.clone(),
        status,
        usage: usage.map(TokenUsage::from),
    });
    LineEnd::Response { status, body }
}

fn arranged(order: &Order, results: Vec<Outcome>) -> Vec<Outcome> {
    let mut arranged = Vec::new();
    for (at, outcome) in results.into_iter().enumerate() {
        if order.way.lost.contains(&at) {
            continue;
        }
        if order.way.doubled {
            arranged.push(outcome.clone());
        }
        arranged.push(outcome);
    }
    if order.way.reversed {
        arranged.reverse();
    }
    arranged
}

#[cfg(test)]
mod tests {
    use std::sync::{Mutex, MutexGuard};

    use super::super::super::log::Log;
    use super::super::super::reply::StubReply;
    use super::super::state::Batches;
    use super::*;

    /// Looks at the batch whenever it answers one of its lines.
    struct Looking {
        batches: Mutex<Batches>,
        log: Log,
        id: String,
        seen: Mutex<Vec<(State, usize)>>,
    }

    impl Server for Looking {
        fn batches(&self) -> MutexGuard<'_, Batches> {
            self.batches.lock().unwrap()
        }

        fn answer_line(&self, _: &LoggedRequest) -> StubReply {
            look(self, &self.id);
            let order = &self.batches().orders[&self.id];
            let seen = (order.state, order.results.len());
            self.seen.lock().unwrap().push(seen);
            StubReply::text("a")
        }

        fn log(&self) -> &Log {
            &self.log
        }
    }

    /// A client that saw an end without results would take its lines for lost.
    #[test]
    fn a_batch_has_its_end_and_its_results_at_once() {
        let mut batches = Batches::default();
        let line = |id: &str| Line {
            id: id.to_owned(),
            body: Value::Null,
        };
        let lines = vec![line("a"), line("b")];
        let order = batches.add_order("msgbatch", "/v1/messages", lines);
        let id = order.id.clone();
        let server = Looking {
            batches: Mutex::new(batches),
            log: Log::new(10),
            id,
            seen: Mutex::default(),
        };
        while server.batches().orders[&server.id].state == State::UnderWay {
            look(&server, &server.id);
        }
        assert_eq!(*server.seen.lock().unwrap(), [(State::UnderWay, 0); 2]);
        assert_eq!(server.batches().orders[&server.id].results.len(), 2);
    }
}
