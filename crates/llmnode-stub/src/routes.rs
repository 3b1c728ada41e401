//! Which reply a request gets.

use std::collections::VecDeque;
use std::sync::atomic::AtomicUsize;
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use super::api::{Api, Route, route};
use super::batches::{self, Batches, Server};
use super::billing::Billing;
use super::completion;
use super::embedding;
use super::log::{Log, LoggedRequest, lock};
use super::reply::{Content, StubReply, bad_request, refused};
use super::rules::{self, Provider};
use super::wire::models;

/// A reply may be a function that returns another one.
const MAX_NESTED_RESPONDERS: usize = 16;

/// Of models that think before each answer, where the script has no thoughts.
const THOUGHT: &str = "The stub thinks.";

pub(super) type OnExchange = Box<dyn Fn(&LoggedRequest) + Send + Sync>;

pub(super) struct Shared {
    pub(super) provider: Option<Provider>,
    pub(super) api_key: Option<String>,
    pub(super) models: Vec<String>,
    pub(super) default_reply: StubReply,
    pub(super) script: Mutex<VecDeque<StubReply>>,
    pub(super) embeddings: Mutex<VecDeque<StubReply>>,
    pub(super) log: Log,
    pub(super) batches: Mutex<Batches>,
    pub(super) on_exchange: Option<OnExchange>,
    pub(super) max_body: usize,
    pub(super) idle_timeout: Duration,
    pub(super) billing: Option<Billing>,
    pub(super) open_connections: AtomicUsize,
}

impl Shared {
    /// The body of the next request is not logged, and its answer is known.
    pub(super) fn is_fixed(&self) -> bool {
        self.provider.is_none()
            && self.billing.is_none()
            && self.log.is_off()
            && self.on_exchange.is_none()
            && self.default_reply.is_fixed()
            && lock(&self.script).is_empty()
    }

    /// `parsed`: the body was parsed, so it is also checked.
    pub(super) fn reply_to(&self, request: &LoggedRequest, parsed: bool) -> StubReply {
        let served = route(request.method(), request.path());
        if !self.is_authorized(request) {
            let message = "Incorrect API key provided.";
            return StubReply::error(401, "invalid_request_error", "invalid_api_key", message)
                .header("www-authenticate", "Bearer");
        }
        if let Some(reply) = batches::reply(self, request) {
            return reply;
        }
        match served {
            Some(Route::Answer(api)) if parsed => self
                .refusal(api, request)
                .unwrap_or_else(|| self.completion(api, request)),
            Some(Route::Answer(api)) => self.completion(api, request),
            Some(Route::Embeddings) => {
                let scripted = lock(&self.embeddings).pop_front();
                resolve_responders(scripted.unwrap_or_else(StubReply::embeddings), request)
            }
            Some(Route::Models(api)) => {
                let is_anthropic = request.header("anthropic-version").is_some();
                let api = if is_anthropic { Api::Messages } else { api };
                StubReply::raw(200, models(api, &self.models).to_string())
            }
            None => {
                let method = request.method();
                let path = request.path();
                let message = format!(
                    "Invalid URL ({method} {path}): this server has chat completions, Responses, Messages, generateContent, \
                     embeddings and the list of models"
                );
                StubReply::error(404, "invalid_request_error", "unknown_url", &message)
            }
        }
    }

    /// As `Authorization: Bearer`, or in the header that Anthropic, Google and Azure have for it.
    fn is_authorized(&self, request: &LoggedRequest) -> bool {
        let Some(key) = &self.api_key else {
            return true;
        };
        let header_key = ["x-api-key", "x-goog-api-key", "api-key"]
            .iter()
            .find_map(|name| request.header(name));
        if header_key == Some(key) {
            return true;
        }
        let sent = request
            .header("authorization")
            .and_then(|value| value.split_once(' '));
        sent.is_some_and(|(scheme, token)| {
            scheme.eq_ignore_ascii_case("bearer") && token.trim() == key
        })
    }

    /// Refuses what the provider refuses, or what all refuse.
    fn refusal(&self, api: Api, request: &LoggedRequest) -> Option<StubReply> {
        let Some(body) = request.json().filter(|body| body.is_object()) else {
            let message =
                "We could not parse the JSON body of your request: it is not a JSON object.";
            return Some(bad_request(400, message));
        };
        let model = request.model().unwrap_or_default();
        let missing = self
            .provider
            .and_then(|provider| rules::no_such_path(provider, api, request.path()));
        let headers = Some(request.logged_headers());
        let refusal = missing.or_else(|| rules::refused(self.provider, api, model, body, headers));
        if refusal.is_none() {
            rules::keep(api.as_str(), body);
        }
        refusal.as_ref().map(refused)
    }

    fn completion(&self, api: Api, request: &LoggedRequest) -> StubReply {
        let scripted = lock(&self.script).pop_front();
        let mut reply = resolve_responders(
            scripted.unwrap_or_else(|| self.default_reply.clone()),
            request,
        );
        reply.short_ids = self.provider == Some(Provider::Mistral);
        if let (Some(billing), Some(body), true) =
            (&self.billing, request.json(), reply.is_answer())
        {
            reply.bill(billing.bill(body, reply.after));
        }
        let (Some(provider), Some(body)) = (self.provider, request.json()) else {
            return reply;
        };
        let model = request.model().unwrap_or_default();
        if reply.reasoning.is_none() && rules::thinks(provider, api, model, body) {
            return reply.reasoning(THOUGHT);
        }
        reply
    }
}

impl Server for Shared {
    fn batches(&self) -> MutexGuard<'_, Batches> {
        lock(&self.batches)
    }

    fn answer_line(&self, request: &LoggedRequest) -> StubReply {
        match route(request.method(), request.path()) {
            Some(Route::Answer(api)) => self
                .refusal(api, request)
                .unwrap_or_else(|| self.completion(api, request)),
            _ => bad_request(400, "a batch asks models only"),
        }
    }

    fn log(&self) -> &Log {
        &self.log
    }
}

fn resolve_responders(mut reply: StubReply, request: &LoggedRequest) -> StubReply {
    for _ in 0..MAX_NESTED_RESPONDERS {
        match &reply.content {
            Content::Respond(responder) => reply = (responder.0)(request),
            Content::FromSchema => return completion::from_schema(reply, request),
            Content::Embeddings => {
                return StubReply {
                    content: embedding::content(request),
                    ..reply
                };
            }
            _ => return reply,
        }
    }
    StubReply::error(
        500,
        "server_error",
        (),
        "StubReply::for_request returned itself too many times",
    )
}
