//! One call is one request. Every failure gets its category from the raw response
//! (status, headers, body).
//!
//! The way of a request, in the order of `complete` and `ask`: prepare (what is
//! sent, given what is believed of the model), encode (the API's own code), send
//! once, then read. There is no retry here. A refusal that taught something returns
//! an error with `Retry::Adapted`, and the attempt loop of the runtime, which
//! counts attempts and money, comes back with the same request; what was learned
//! changes how it is written.
//!
//! The order in `receive` matters: the status decides whether a body is an answer
//! or an error, but the body is read by the same code in both cases, since servers
//! send errors in events and answers with strange statuses.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::SystemTime;

use http::{HeaderMap, HeaderValue, StatusCode};
use llmnode_model::ext::{
    AnswerLimit, CarriedPart, LimitSetter, Repeats, Secret, check_request, redact,
};
use llmnode_model::{
    ApiKind, Category, Completion, FinishReason, Message, ModelError, ProviderState, Request,
    ResponseFormat, Retry, Sink, TokenUsage,
};
use llmnode_reader::Flag;

use super::halves::{read_body, resolve};
use super::inner::Inner;
use super::names::RenamingSink;
use super::prepared_request::{PreparedRequest, RequestContext};
use super::prompt_parts::{LEAST_BYTES, prompt_parts};
use super::read_answer::{CutBy, ReadAnswer, ReadResult, Unreadable};
use super::receive::ResponseBody;
use super::request_shape::RequestShape;
use super::response_head::ResponseHead;
use super::sent_calls::IdForm;
use crate::http::client::Response;
use crate::http::endpoint;
use crate::http::headers::RequestHeaders;
use crate::http::rate_headers::rate_limits;
use crate::http::service::Outgoing;
use crate::http::url::Url;
use crate::http::usage::larger;
use crate::refusal::beliefs::{Asker, begins};
use crate::refusal::parts::{Part, Situation};
use crate::refusal::quirks::Quirks;

/// An answer of more tokens may take longer than ten minutes, so that it is asked for as a stream.
/// Source: Anthropic's SDKs refuse such a request without a stream.
const MOST_TOKENS_AT_ONCE: u32 = 21_333;

/// The header that switches on what is not general yet; its values are joined by
/// commas.
const BETA: &str = "anthropic-beta";
/// With it, Anthropic can be asked to leave out thoughts that are bound to another
/// beginning of the conversation.
const BINDING_CONTROLS: &str = "thinking-binding-controls-2026-08-01";

/// Tells the memory of the cache that a request has ended, also where its call is dropped.
struct CacheEnding<'a> {
    inner: &'a Inner,
    prepared: &'a PreparedRequest<'a>,
    is_answered: bool,
}

impl Drop for CacheEnding<'_> {
    fn drop(&mut self) {
        let PreparedRequest { cache, model, .. } = self.prepared;
        self.inner.cache_ended(cache, model, self.is_answered);
    }
}

impl Inner {
    /// The reader found an answer that a server with an enforced schema could not
    /// have given: it does not enforce it. Known from now on for this model.
    pub(crate) fn unenforced(&self, request: &Request) {
        let Some(model) = self.model_of(request) else {
            return;
        };
        let Some(attempt) = request.correlation else {
            return;
        };
        let shape = self.shape(request, model, Asker::of(request), false);
        if let Ok(RequestShape {
            schema: Some((ResponseFormat::Strict | ResponseFormat::Schema, _)),
            ..
        }) = shape
        {
            self.beliefs.unenforced(model, attempt.call());
        }
    }

    /// A model that can call natively does not need calls in text.
    /// At a provider's own host calls are native, whatever the text looks like.
    pub(crate) fn calls_in_text(&self, request: &Request) -> bool {
        let host = self.service.endpoint.url.host();
        if self.is_providers(host) {
            return false;
        }
        let Some(model) = self.model_of(request) else {
            return true;
        };
        let asker = Asker::of(request);
        let quirks = self.beliefs.quirks(model, asker, Situation::default());
        !quirks.calls_natively
    }

    /// Whether what this request shares with others is going to be kept, and is not yet.
    pub(crate) fn shares_beginning(&self, request: &Request) -> bool {
        let of_api = request.on(self.wire.name);
        let request = of_api.as_deref().unwrap_or(request);
        let Some(model) = self.model_of(request) else {
            return false;
        };
        let context = RequestContext::of(request);
        let situation = Situation {
            tools: !request.tools.is_empty(),
            ..Situation::default()
        };
        let quirks = self.beliefs.quirks(model, context.asker, situation);
        let cache = self.cache_fields(request, model, quirks, context);
        cache.writes_shared()
    }

    /// Whether the provider finds the tools that this request does not list.
    pub(crate) fn searches_tools(&self, request: &Request) -> bool {
        let Some(model) = self.model_of(request) else {
            return false;
        };
        let situation = Situation {
            tools: true,
            ..Situation::default()
        };
        let quirks = self.beliefs.quirks(model, Asker::of(request), situation);
        self.may_search_tools(request) && !quirks.leaves_out(Part::ToolSearch)
    }

    /// The tokens of the model's window, if a refusal has named it.
    pub(crate) fn window(&self, request: &Request) -> Option<u64> {
        self.beliefs.window(self.model_of(request)?)
    }

    /// From the refusal of a request that was too long.
    pub(crate) fn learn_window(&self, request: &Request, tokens: u64) {
        if let Some(model) = self.model_of(request) {
            self.beliefs.learn_window(model, tokens);
        }
    }

    /// At the host of the API's maker alone: others ignore the field, and list all tools.
    fn may_search_tools(&self, request: &Request) -> bool {
        let has_search = matches!(self.wire.name, ApiKind::Anthropic | ApiKind::Responses);
        has_search && request.all_tools.is_some() && self.is_own_host
    }

    /// By the end of the host's name: regions and accounts stand before it.
    pub(crate) fn is_providers(&self, host: &str) -> bool {
        self.wire.hosts.iter().any(|end| host.ends_with(end))
    }

    /// Thoughts included.
    pub(crate) fn max_tokens(&self, request: &Request) -> Option<u32> {
        if self.wire.limit.is_none() {
            return request.max_tokens;
        }
        let limit = self.limit_to_be_sent(request)?;
        Some(limit.tokens)
    }

    /// Whether nobody has chosen the limit: then reserving all of it would block
    /// others for nothing.
    pub(crate) fn has_default_limit(&self, request: &Request) -> bool {
        match self.limit_to_be_sent(request) {
            Some(limit) => limit.by == LimitSetter::Default,
            None => false,
        }
    }

    /// Before the request is prepared: limits of tokens reserve room for the
    /// answer.
    fn limit_to_be_sent(&self, request: &Request) -> Option<AnswerLimit> {
        let limit = self.wire.limit?;
        let of_api = request.on(self.wire.name);
        let request = of_api.as_deref().unwrap_or(request);
        let situation = Situation {
            tools: !request.tools.is_empty(),
            ..Situation::default()
        };
        let model = self.model_of(request)?;
        let quirks = self.beliefs.quirks(model, Asker::of(request), situation);
        let thinking = self.thinking(request, quirks).ok().flatten();
        Some(limit(request, quirks, thinking.map(|(_, way)| way)))
    }

    /// Of an API that has to be sent no limit: the program's, unless the model allows less.
    fn limit_of(&self, prepared: &PreparedRequest<'_>) -> Option<AnswerLimit> {
        let PreparedRequest { request, shape, .. } = prepared;
        if let Some(limit) = self.wire.limit {
            return Some(limit(request, shape.quirks, prepared.thinking()));
        }
        let by = match shape.quirks.most_tokens {
            Some(most) if request.max_tokens.is_some_and(|set| set > most) => LimitSetter::Model,
            _ => LimitSetter::Program,
        };
        let tokens = prepared.limit()?;
        Some(AnswerLimit {
            tokens,
            by,
            rises: false,
        })
    }

    /// Makes one request, and reads its answer. What the program has set for this API
    /// alone (`on`) is added first, since all that follows is about the request as it
    /// goes out.
    pub(crate) async fn complete(
        &self,
        request: &Request,
        context: RequestContext<'_>,
        sink: &mut dyn Sink,
    ) -> Result<Completion, ModelError> {
        let of_api = request.on(self.wire.name);
        let request = of_api.as_deref().unwrap_or(request);
        sink.api(self.wire.name);
        if let Some(model) = self.model_of(request)
            && begins(&request.messages)
        {
            self.beliefs.begin(model, context.asker);
        }
        let prepared = self.prepare(request, context, sink.listens());
        let (prepared, headers) =
            prepared.map_err(|fault| without_secrets(unsent(fault), self.headers.secrets()))?;
        // The memory of caches has to hear of the end in all cases, or others would
        // wait for a writer that is gone.
        let mut ending = CacheEnding {
            inner: self,
            prepared: &prepared,
            is_answered: false,
        };
        let outcome = self.ask(&prepared, headers, sink).await;
        ending.is_answered = outcome.is_ok();
        drop(ending);
        if outcome.is_ok() {
            self.beliefs.answered(prepared.model, context.asker);
            if let Some(switch) = context.switch {
                switch.answered(prepared.model, context.asker);
            }
        }
        outcome.map_err(|error| without_secrets(error, &prepared.secrets))
    }

    /// From a prepared request to an answer. The sink hears of everything that a
    /// record shows: what was refused before, the form of the answer, the parts of
    /// the prompt.
    async fn ask(
        &self,
        prepared: &PreparedRequest<'_>,
        headers: HeaderMap,
        sink: &mut dyn Sink,
    ) -> Result<Completion, ModelError> {
        if let Some((response_format, _)) = prepared.shape.schema {
            sink.response_format(response_format);
        }
        for part in self.refused(prepared, sink.listens()) {
            sink.refused(part);
        }
        if prepared.leaves_carried() {
            sink.flag(Flag::CarriedLeft);
        }
        let body = (self.wire.encode)(prepared).map_err(unsent)?;
        if sink.wants_prompt() && body.len() >= self.least_kept_bytes(prepared.request) {
            let before = sink.prompt_before();
            let parts = prompt_parts(&body, self.wire.name, prepared.model, before);
            if let Some(parts) = parts {
                sink.prompt(parts, prepared.cache.ttl);
            }
        }
        // A redirect that was learned is used at once; see `redirected`.
        let base = self.redirects.current(&self.service.endpoint.url);
        let url = match self.wire.url {
            Some(url) => {
                let model = prepared.model;
                let url = url(&base, model, prepared.streams);
                let url =
                    url.map_err(|why| unsent(format!("the URL for the model {model:?} {why}")))?;
                Cow::Owned(url)
            }
            None => base,
        };
        let PreparedRequest {
            request,
            deadline,
            streams,
            ..
        } = prepared;
        let outgoing = Outgoing {
            url: &url,
            headers,
            body,
            id: request.correlation,
            streams: *streams,
        };
        let mut response = self.service.send(outgoing, *deadline, sink).await?;
        if let Some(target) = self.service.redirect_target(&url, &response) {
            return Err(self.redirected(&url, &target?, response.status()));
        }
        // Names of members that the API refuses are changed back on the way, so
        // that a listener sees those of the type.
        let Some(renamer) = prepared.answer_from_wire() else {
            return self.receive(&mut response, prepared, sink).await;
        };
        let mut sink = RenamingSink::new(renamer, sink);
        let outcome = self.receive(&mut response, prepared, &mut sink).await;
        sink.end();
        outcome
    }

    /// A provider keeps no shorter prompt. A server on this machine keeps what it
    /// has last read, however short, and the next turn begins with it.
    fn least_kept_bytes(&self, request: &Request) -> usize {
        let repeats = request.cache.unwrap_or_default().repeats;
        match self.service.is_local && repeats == Repeats::Turns {
            true => 0,
            false => LEAST_BYTES,
        }
    }

    /// Redirects are not followed: a POST that follows becomes a GET with some
    /// statuses, and a key would go to another host. The target is learned and
    /// asked by the next attempt, if it is the same server.
    pub(crate) fn redirected(&self, source: &Url, target: &Url, status: StatusCode) -> ModelError {
        let from = endpoint::shown(source);
        let to = endpoint::shown(target);
        let mut failure = if self.wire.url.is_some() {
            let message = format!("{from} redirects to {to}; make that the base URL");
            ModelError::new(Category::BadRequest, message)
        } else if self
            .redirects
            .learn(&self.service.endpoint.url, source, target)
        {
            let message = format!("{from} redirects to {to}, which is asked from now on");
            ModelError::new(Category::BadRequest, message).retry(Retry::Adapted)
        } else {
            let message =
                format!("{from} redirects to {to}, and so in a circle; check the base URL");
            ModelError::new(Category::BadRequest, message)
        };
        failure.status = Some(status.as_u16());
        failure
    }

    /// All that can be refused without sending is refused here.
    pub(crate) fn prepare<'a>(
        &'a self,
        request: &'a Request,
        context: RequestContext<'a>,
        listens: bool,
    ) -> Result<(PreparedRequest<'a>, HeaderMap), String> {
        check_request(self.service.is_local, || self.service.endpoint.host())?;
        let model = self.model_of(request).ok_or_else(|| {
            let variable = self.wire.model;
            format!(
                "no model is named: set {variable}, `model` on the builder, or `model` on the node \
                 or call"
            )
        })?;
        if let Some(fault) = request
            .reserved_fields_in_extra(self.wire.reserved_fields)
            .next()
        {
            return Err(fault);
        }
        let shape = self.shape(request, model, context.asker, context.without_thoughts)?;
        let RequestHeaders {
            mut headers,
            secrets,
        } = self.headers.for_request()?;
        if shape.drops_bound_thoughts {
            add_beta(&mut headers, BINDING_CONTROLS);
        }
        let cache = self.cache_fields(request, model, shape.quirks, context);
        let deadline = self.service.deadline(request.attempt_timeout);
        let thinking = shape.thinking.map(|(_, way)| way);
        let limit = self
            .wire
            .limit
            .map(|limit| limit(request, shape.quirks, thinking));
        // Without an event for minutes, something on the way may give up.
        let is_long = match limit {
            Some(AnswerLimit { by, tokens, .. }) => {
                by == LimitSetter::Default && tokens > MOST_TOKENS_AT_ONCE
            }
            None => false,
        };
        // A stream if somebody listens, or if the answer may take long; some models
        // take nothing else.
        let wants_stream = (listens || is_long) && !shape.quirks.leaves_out(Part::Stream);
        let streams = wants_stream || shape.quirks.only_streams;
        let prepared = PreparedRequest {
            request,
            context,
            model,
            tag: self.wire.tag,
            joined: self.wire.joined,
            id_form: self.id_form(shape.quirks),
            names: self.wire.names,
            shape,
            deadline,
            streams,
            cache,
            secrets,
            may_search_tools: self.may_search_tools(request),
        };
        Ok((prepared, headers))
    }

    /// Some servers refuse ids of calls that are not nine letters.
    fn id_form(&self, quirks: Quirks) -> IdForm {
        match quirks.leaves_out(Part::CallIds) {
            true => IdForm::Nine,
            false => self.id_form.unwrap_or(self.wire.id_form),
        }
    }

    /// The call's, or the handle's.
    pub(crate) fn model_of<'a>(&'a self, request: &'a Request) -> Option<&'a str> {
        request.model.as_deref().or(self.model.as_deref())
    }

    /// Reads the head, then the body, and only then decides what it was.
    ///
    /// What the head says is told at once: a call that is dropped while the body comes
    /// has its request id in the record, and others of a map read the cache that this
    /// request has written. A body that broke off is no error yet, if the status was
    /// one: what came of it may say why.
    async fn receive(
        &self,
        response: &mut Response,
        prepared: &PreparedRequest<'_>,
        sink: &mut dyn Sink,
    ) -> Result<Completion, ModelError> {
        let mut head = ResponseHead::of(response);
        head.request_id = prepared.clean_word(head.request_id);
        if sink.wants_rate_limits() && head.status.is_success() {
            let is_providers = self.is_providers(self.service.endpoint.url.host());
            sink.rate_limits(rate_limits(&head.headers, is_providers, SystemTime::now()));
        }
        if head.status.is_success() {
            // From now on, others read what it has marked.
            self.cache_memory.begun(prepared.cache.share);
            sink.begins();
        }
        if let Some(id) = &head.request_id {
            sink.request_id(id);
        }
        let received = self.body(response.body_mut(), prepared, sink).await;
        let mut reported_usage = None;
        // About how many tokens were written before it broke: they are billed.
        let mut answered = None;
        let outcome = match received {
            Ok(ResponseBody::Events { written, has_marks }) => {
                reported_usage = written.usage();
                answered = written.answered();
                let read = written.finish(prepared.expected_calls());
                Ok(Ok(if has_marks { resolve(read) } else { read }))
            }
            Ok(ResponseBody::Full {
                body,
                usage,
                answered: before,
                has_marks,
            }) => {
                reported_usage = usage;
                answered = before;
                Ok(Err((body, has_marks)))
            }
            Err(failure) => Err(failure),
        };
        if !head.status.is_success() {
            let (body, _) = outcome.ok().and_then(Result::err).unwrap_or_default();
            return Err(self.refusal(&head, &body, prepared, sink));
        }
        let mut completion = match outcome {
            Ok(Ok(joined)) => self.completion(joined, &[], &head, prepared, sink),
            Ok(Err((body, has_marks))) => {
                let read = read_body(&body, has_marks, prepared.expected_calls(), self.wire.read);
                self.completion(read, &body, &head, prepared, sink)
            }
            Err(failure) => Err(failure),
        };
        finish(&mut completion, reported_usage, answered, head, prepared);
        completion
    }
}

/// Adds to the outcome what the head of the response says, and what was reported on the way. In its place, since it is long.
pub(crate) fn finish(
    outcome: &mut Result<Completion, ModelError>,
    reported_usage: Option<TokenUsage>,
    answered: Option<u64>,
    head: ResponseHead,
    prepared: &PreparedRequest<'_>,
) {
    match outcome {
        Ok(completion) => {
            completion.usage = larger(completion.usage, reported_usage);
            completion.refusal = prepared.clean(completion.refusal.take());
            let finish = completion.finish.take();
            completion.finish = finish.map(|finish| prepared.clean_finish(finish));
            completion.model = prepared.clean_word(completion.model.take());
            completion.response_id = prepared.clean_word(completion.response_id.take());
            // Without a request id, the answer's id helps to find it.
            completion.request_id = head.request_id.or_else(|| completion.response_id.clone());
        }
        Err(failure) => {
            let answered = failure.answered().or(answered);
            failure.set_answered(answered);
            let usage = larger(failure.usage.as_deref().copied(), reported_usage);
            failure.usage = usage.map(|usage| Box::new(believed(usage, answered)));
            failure.status = Some(head.status.as_u16());
            failure.request_id = head.request_id;
        }
    }
}

impl Inner {
    /// What the API's code read, with what all APIs have in common: names, carried
    /// parts, flags, and what the answer tells about the model.
    pub(crate) fn completion(
        &self,
        read: ReadResult,
        body: &[u8],
        head: &ResponseHead,
        prepared: &PreparedRequest<'_>,
        sink: &mut dyn Sink,
    ) -> Result<Completion, ModelError> {
        match read {
            Ok(ReadAnswer {
                mut completion,
                has_call,
                parts,
                flags,
                cut,
            }) => {
                self.learn_from_calls(&completion, has_call, prepared, sink);
                for flag in flags {
                    sink.flag(flag);
                }
                prepared.restore_names(&mut completion);
                completion.carried = self.carried(parts, prepared);
                if completion.finish == Some(FinishReason::Length) && cut != CutBy::Other {
                    let limit = self.limit_of(prepared);
                    // What the provider's own tools did would be done again.
                    completion.limit = limit.map(|limit| AnswerLimit {
                        rises: limit.rises && cut == CutBy::Limit,
                        ..limit
                    });
                }
                Ok(completion)
            }
            // A compressed body cannot be read, whatever else is wrong with it.
            Err(_) if head.encoded => Err(self.encoded(body)),
            Err(Unreadable::ErrorObject) => Err(self.refusal(head, body, prepared, sink)),
            #[cfg(feature = "gemini")]
            Err(Unreadable::ErrorEvent(event, usage)) => {
                let mut failure = self.refusal(head, &event, prepared, sink);
                failure.usage = failure.usage.or(usage);
                Err(failure)
            }
            Err(Unreadable::WebPage) => Err(self.web_page(body, prepared)),
            Err(Unreadable::Failure(failure)) => Err(*failure),
            Err(Unreadable::Rejected(mut failure, parts)) => {
                let carried = self.carried(parts, prepared);
                if failure.answer.is_some() || carried.is_some() {
                    let answer = match failure.answer.take() {
                        Some(answer) => *answer,
                        None => Message::assistant(""),
                    };
                    failure.answer = Some(Box::new(answer.carrying(carried)));
                }
                Err(*failure)
            }
        }
    }

    /// What an answer tells about the calls of its model. `has_call`: one of the
    /// answer's function, too.
    fn learn_from_calls(
        &self,
        completion: &Completion,
        has_call: bool,
        prepared: &PreparedRequest<'_>,
        sink: &mut dyn Sink,
    ) {
        // The model was forced to call and wrote text: its server ignores the
        // choice. Learned, so that the text may be the answer the next time.
        let has_text = !completion.text.trim().is_empty();
        if prepared.forces_a_call() && !has_call && has_text {
            self.beliefs.unforced(prepared.model);
            sink.flag(Flag::FreeChoice);
        }
        if prepared.named_another(&completion.calls) {
            self.beliefs.unnamed(prepared.model);
            sink.flag(Flag::FreeChoice);
        }
        if has_call && prepared.shape.tools {
            self.beliefs.called(prepared.model);
        }
    }

    /// Parts are bound to the API and the model that wrote them.
    fn carried(
        &self,
        parts: Vec<CarriedPart>,
        prepared: &PreparedRequest<'_>,
    ) -> Option<Arc<ProviderState>> {
        if parts.is_empty() {
            return None;
        }
        let state = ProviderState::new(self.wire.tag, prepared.model, parts);
        Some(Arc::new(state))
    }
}

/// An error that reports no tokens of an answer, after some of it had come, says
/// what the prompt took at most.
fn believed(usage: TokenUsage, answered: Option<u64>) -> TokenUsage {
    let reported = usage.output.or(usage.total);
    let is_reported = reported > Some(0);
    let has_answered = answered > Some(0);
    if has_answered && !is_reported {
        usage.of_the_prompt()
    } else {
        usage
    }
}

/// Beside those that the program sends.
fn add_beta(headers: &mut HeaderMap, beta: &'static str) {
    let mut value = HeaderValue::from_static(beta);
    if let Some(earlier) = headers.get(BETA) {
        let all = [earlier.as_bytes(), b",", beta.as_bytes()].concat();
        if let Ok(all) = HeaderValue::from_bytes(&all) {
            value = all;
        }
    }
    headers.insert(BETA, value);
}

/// Messages of servers quote keys, headers and URLs.
pub(crate) fn without_secrets(mut error: ModelError, secrets: &[Secret]) -> ModelError {
    error.message = redact(&error.message, secrets);
    error
}

/// An error from before anything was sent: it costs nothing, and nothing has to be
/// undone.
pub(crate) fn unsent(message: impl Into<String>) -> ModelError {
    ModelError::unsent(Category::ConfigError, message)
}
