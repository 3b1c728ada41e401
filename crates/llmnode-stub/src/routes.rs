//! Which reply a request gets.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::time::Duration;

use serde_json::{Value, json};

use super::check::check;
use super::completion;
use super::embedding;
use super::log::{Log, LoggedRequest, lock};
use super::reply::{Content, StubReply, bad_request};

/// A reply may be a function that returns another one.
const MAX_NESTED_RESPONDERS: usize = 16;

pub(super) type OnExchange = Box<dyn Fn(&LoggedRequest) + Send + Sync>;

pub(super) struct Shared {
    pub(super) api_key: Option<String>,
    pub(super) models: Vec<String>,
    pub(super) default_reply: StubReply,
    pub(super) script: Mutex<VecDeque<StubReply>>,
    pub(super) embeddings: Mutex<VecDeque<StubReply>>,
    pub(super) log: Log,
    pub(super) on_exchange: Option<OnExchange>,
    pub(super) max_body: usize,
    pub(super) idle_timeout: Duration,
}

impl Shared {
    /// The body of the next request is not logged, and its answer is known.
    pub(super) fn is_fixed(&self) -> bool {
        self.log.is_off()
            && self.on_exchange.is_none()
            && self.default_reply.is_fixed()
            && lock(&self.script).is_empty()
    }

    /// `parsed`: the body was parsed, so it is also checked.
    pub(super) fn reply_to(&self, request: &LoggedRequest, parsed: bool) -> StubReply {
        if !self.is_authorized(request) {
            let message = "Incorrect API key provided.";
            return StubReply::error(401, "invalid_request_error", "invalid_api_key", message)
                .header("www-authenticate", "Bearer");
        }
        match (request.method(), route(request.path())) {
            ("POST", "/v1/chat/completions") => match check(request) {
                Err(message) if parsed => bad_request(400, &message),
                _ => self.completion(request),
            },
            ("POST", "/v1/embeddings") => {
                let scripted = lock(&self.embeddings).pop_front();
                resolve_responders(scripted.unwrap_or_else(StubReply::embeddings), request)
            }
            ("GET", "/v1/models") => self.model_list(),
            (method, path) => {
                let message = format!(
                    "Invalid URL ({method} {path}): this server has chat completions, embeddings and the list of models"
                );
                StubReply::error(404, "invalid_request_error", "unknown_url", &message)
            }
        }
    }

    fn is_authorized(&self, request: &LoggedRequest) -> bool {
        let Some(key) = &self.api_key else { return true };
        let sent = request.header("authorization").and_then(|value| value.split_once(' '));
        sent.is_some_and(|(scheme, token)| scheme.eq_ignore_ascii_case("bearer") && token.trim() == key)
    }

    fn completion(&self, request: &LoggedRequest) -> StubReply {
        resolve_responders(
            lock(&self.script).pop_front().unwrap_or_else(|| self.default_reply.clone()),
            request,
        )
    }

    fn model_list(&self) -> StubReply {
        let model = |id| json!({"id": id, "object": "model", "created": 0, "owned_by": "stub"});
        let data: Vec<Value> = self.models.iter().map(model).collect();
        StubReply::raw(200, json!({"object": "list", "data": data}).to_string())
    }
}

fn resolve_responders(mut reply: StubReply, request: &LoggedRequest) -> StubReply {
    for _ in 0..MAX_NESTED_RESPONDERS {
        match &reply.content {
            Content::Respond(responder) => reply = (responder.0)(request),
            Content::FromSchema => return completion::from_schema(reply, request),
            Content::Embeddings => return StubReply { content: embedding::content(request), ..reply },
            _ => return reply,
        }
    }
    StubReply::error(500, "server_error", (), "StubReply::for_request returned itself too many times")
}

/// A target is an absolute URL when sent to a proxy.
fn route(target: &str) -> &str {
    let path = match target.split_once("://") {
        Some((scheme, rest)) if scheme.bytes().all(|b| b.is_ascii_alphanumeric()) => {
            rest.find('/').map_or("/", |at| &rest[at..])
        }
        _ => target,
    };
    path.split(['?', '#']).next().unwrap_or_default()
}
