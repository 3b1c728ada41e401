//! Requests of a server, such as pings, that have no response yet.
//!
//! A server may send them faster than it takes the responses, or take none at all.
//! rmcp keeps each response until it is sent. Of requests beyond a bound nobody
//! reads more than that they are there: they get no response. Nor does one whose
//! response would be long.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::model::{
    ClientJsonRpcMessage, JsonRpcMessage, RequestId, ServerJsonRpcMessage, ServerNotification,
    ServerRequest,
};
use serde_json::Value;

/// Honest servers have one or two, or one for each call that they work on.
const MOST: usize = 256;
/// Of a text that a response repeats.
const MAX_TEXT_BYTES: usize = 1024;

/// Shared by those who read and those who write.
#[derive(Clone, Default)]
pub(crate) struct Unanswered(Arc<Mutex<HashMap<RequestId, Response>>>);

#[derive(PartialEq)]
enum Response {
    ToBeMade,
    BeingSent,
}

impl Unanswered {
    /// Notes a request. Returns whether the message is to be read.
    pub(crate) fn takes(&self, message: &ServerJsonRpcMessage) -> bool {
        match message {
            JsonRpcMessage::Request(request) => {
                let mut ids = self.ids();
                let is_taken = ids.len() < MOST
                    && !ids.contains_key(&request.id)
                    && is_short(&request.id, &request.request);
                if is_taken {
                    ids.insert(request.id.clone(), Response::ToBeMade);
                }
                is_taken
            }
            JsonRpcMessage::Notification(notification) => {
                // To a request that the server gives up, rmcp sends no response, if it is not on its way.
                if let ServerNotification::CancelledNotification(cancelled) =
                    &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    let mut ids = self.ids();
                    if ids.get(id) == Some(&Response::ToBeMade) {
                        ids.remove(id);
                    }
                }
                true
            }
            _ => true,
        }
    }

    /// The same, before rmcp reads the message. Most are answers, and not read here.
    pub(crate) fn takes_json(&self, message: &Value) -> bool {
        if message.get("method").is_none() {
            return true;
        }
        let message = serde_json::from_value(message.clone());
        message.is_ok_and(|message| self.takes(&message))
    }

    /// The request that this message answers has its response when the guard is
    /// dropped, whether it could be sent or not.
    pub(crate) fn answering(&self, message: &ClientJsonRpcMessage) -> Option<Answering> {
        let id = match message {
            JsonRpcMessage::Response(response) => Some(response.id.clone()),
            JsonRpcMessage::Error(error) => error.id.clone(),
            _ => None,
        };
        let id = id?;
        if let Some(response) = self.ids().get_mut(&id) {
            *response = Response::BeingSent;
        }
        Some(Answering {
            id,
            unanswered: self.clone(),
        })
    }

    fn ids(&self) -> MutexGuard<'_, HashMap<RequestId, Response>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The response has the id, and the name of a method that nobody knows.
fn is_short(id: &RequestId, request: &ServerRequest) -> bool {
    let id = match id {
        RequestId::String(id) => id.len(),
        RequestId::Number(_) => 0,
    };
    let name = match request {
        ServerRequest::CustomRequest(request) => request.method.len(),
        _ => 0,
    };
    id <= MAX_TEXT_BYTES && name <= MAX_TEXT_BYTES
}

/// A response that is being sent.
pub(crate) struct Answering {
    id: RequestId,
    unanswered: Unanswered,
}

impl Drop for Answering {
    fn drop(&mut self) {
        self.unanswered.ids().remove(&self.id);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{from_value, json};

    use super::*;

    fn ping(id: usize) -> Value {
        json!({"jsonrpc": "2.0", "id": id, "method": "ping"})
    }

    #[test]
    fn requests_without_a_response_are_bounded() {
        let unanswered = Unanswered::default();
        let taken = (0..1000).filter(|id| unanswered.takes_json(&ping(*id)));
        assert_eq!(taken.count(), MOST);

        let pong = from_value(json!({"jsonrpc": "2.0", "id": 5, "result": {}})).unwrap();
        let answering = unanswered.answering(&pong);
        assert!(!unanswered.takes_json(&ping(1000)));
        drop(answering);
        assert!(unanswered.takes_json(&ping(1000)));
        assert!(!unanswered.takes_json(&ping(1001)));

        let cancelled = json!({
            "jsonrpc": "2.0",
            "method": "notifications/cancelled",
            "params": {"requestId": 7},
        });
        assert!(unanswered.takes_json(&cancelled));
        assert!(unanswered.takes_json(&ping(1001)));
    }

    #[test]
    fn a_response_that_would_be_long_is_not_made() {
        let unanswered = Unanswered::default();
        let long = "x".repeat(1 << 20);
        assert!(unanswered.takes_json(&json!({"jsonrpc": "2.0", "id": "x", "method": "ping"})));
        for message in [
            json!({"jsonrpc": "2.0", "id": long, "method": "ping"}),
            json!({"jsonrpc": "2.0", "id": 1, "method": long}),
        ] {
            assert!(!unanswered.takes_json(&message));
        }
    }

    #[test]
    fn a_response_that_is_being_sent_counts_though_its_request_is_given_up() {
        let unanswered = Unanswered::default();
        assert!(unanswered.takes_json(&ping(1)));
        let pong = from_value(json!({"jsonrpc": "2.0", "id": 1, "result": {}})).unwrap();
        let answering = unanswered.answering(&pong);
        let cancelled = json!({
            "jsonrpc": "2.0",
            "method": "notifications/cancelled",
            "params": {"requestId": 1},
        });
        assert!(unanswered.takes_json(&cancelled));
        assert!(!unanswered.takes_json(&ping(1)));
        drop(answering);
        assert!(unanswered.takes_json(&ping(1)));
    }
}
