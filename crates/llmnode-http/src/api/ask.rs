//! One call is one request. Every failure gets its category from the raw response (status, headers, body).

use std::sync::Arc;

use http::{HeaderMap, HeaderValue, StatusCode};
use llmnode_model::internal::{AnswerLimit, CarriedPart, LimitSetter, Secret, check_request, redact};
use llmnode_model::{
    Carried, Category, Completion, FinishReason, Message, ModelError, Reasoning, Request, ResponseFormat,
    Retry, Sink,
};
use llmnode_reader::internal::{has_choices, with_remedy, without_choices};
use llmnode_reader::{Flag, OutputSchema};

use super::inner::Inner;
use super::names::RenamingSink;
use super::prepared_request::{PreparedRequest, max_tokens, temperature};
use super::read_answer::{CutBy, ReadAnswer, ReadResult, Unreadable};
use super::receive::ResponseBody;
use super::response_head::ResponseHead;
use super::sent_calls::IdForm;
use super::wire::Wire;
use crate::http::capabilities::{Quirks, RequestShape};
use crate::http::client::Response;
use crate::http::headers::RequestHeaders;
use crate::http::reasoning::{Refused, Thinking};
use crate::http::refused_turns::TurnPart;
use crate::http::service::Outgoing;
use crate::http::unsupported::UnsupportedFeature;
use crate::http::url::Url;
use crate::http::usage::larger;
use crate::http::{endpoint, response_formats};

/// An answer of more tokens may take longer than ten minutes, so that it is asked for as a stream.
const MOST_TOKENS_AT_ONCE: u32 = 21_333;

const BETA: &str = "anthropic-beta";
/// With it, Anthropic can be asked to leave out thoughts that are bound to another beginning of the conversation.
const BINDING_CONTROLS: &str = "thinking-binding-controls-2026-08-01";

impl Inner {
    pub(crate) fn unenforced(&self, request: &Request) {
        if let (Some(model), Some(attempt)) = (self.model_of(request), request.correlation)
            && let Ok(RequestShape {
                schema: Some((ResponseFormat::Strict | ResponseFormat::Schema, _)), ..
            }) = self.shape(request, model)
        {
            self.capabilities.unenforced(model, attempt.call());
        }
    }

    /// A model that can call natively does not need calls in text.
    pub(crate) fn calls_in_text(&self, request: &Request) -> bool {
        let has_called = |model| self.capabilities.of(model, None).calls_natively;
        let host = self.service.endpoint.url.host();
        let is_providers = self.wire.hosts.iter().any(|end| host.ends_with(end));
        !is_providers && !self.model_of(request).is_some_and(has_called)
    }

    /// Thoughts included.
    pub(crate) fn max_tokens(&self, request: &Request) -> Option<u32> {
        match self.wire.limit {
            None => request.max_tokens,
            Some(_) => self.limit_to_be_sent(request).map(|limit| limit.tokens),
        }
    }

    pub(crate) fn has_default_limit(&self, request: &Request) -> bool {
        self.limit_to_be_sent(request).is_some_and(|limit| limit.by == LimitSetter::Default)
    }

    fn limit_to_be_sent(&self, request: &Request) -> Option<AnswerLimit> {
        let limit = self.wire.limit?;
        let own = request.on(self.wire.name);
        let request = own.as_deref().unwrap_or(request);
        let quirks = self.capabilities.of(self.model_of(request)?, None);
        let thinking = self.thinking(request, quirks).ok().flatten();
        Some(limit(request, quirks, thinking.map(|(_, way)| way)))
    }

    /// Of an API that has to be sent no limit: the program's, unless the model allows less.
    fn limit_of(&self, asked: &PreparedRequest<'_>) -> Option<AnswerLimit> {
        let PreparedRequest { request, shape, .. } = asked;
        if let Some(limit) = self.wire.limit {
            return Some(limit(request, shape.quirks, asked.thinking()));
        }
        let by = match shape.quirks.most_tokens {
            Some(most) if request.max_tokens.is_some_and(|set| set > most) => LimitSetter::Model,
            _ => LimitSetter::Program,
        };
        asked.limit().map(|tokens| AnswerLimit { tokens, by, rises: false })
    }

    pub(crate) async fn complete(
        &self,
        request: &Request,
        sink: &mut dyn Sink,
    ) -> Result<Completion, ModelError> {
        let own = request.on(self.wire.name);
        let request = own.as_deref().unwrap_or(request);
        let prepared = self.prepare(request, sink.listens());
        let (asked, headers) =
            prepared.map_err(|fault| without_secrets(unsent(fault), self.headers.secrets()))?;
        let outcome = self.ask(&asked, headers, sink).await;
        outcome.map_err(|error| without_secrets(error, &asked.secrets))
    }

    async fn ask(
        &self,
        asked: &PreparedRequest<'_>,
        headers: HeaderMap,
        sink: &mut dyn Sink,
    ) -> Result<Completion, ModelError> {
        if let Some((response_format, _)) = asked.shape.schema {
            sink.response_format(response_format);
        }
        self.refused(asked, sink.listens()).for_each(|part| sink.refused(part));
        if asked.leaves_carried() {
            sink.flag(Flag::CarriedLeft);
        }
        let body = (self.wire.encode)(asked).map_err(unsent)?;
        let base = self.redirects.current(&self.service.endpoint.url);
        let url = match self.wire.url {
            Some(url) => url(&base, asked.model, asked.streams)
                .map_err(|why| unsent(format!("the URL for the model {:?} {why}", asked.model)))?,
            None => base,
        };
        let PreparedRequest { request, deadline, streams, .. } = asked;
        let outgoing = Outgoing { url: &url, headers, body, id: request.correlation, streams: *streams };
        let mut response = self.service.send(outgoing, *deadline, sink).await?;
        if let Some(target) = self.service.redirect_target(&url, &response) {
            return Err(self.redirected(&url, &target?, response.status()));
        }
        let Some(renamer) = asked.answer_from_wire() else {
            return self.receive(&mut response, asked, sink).await;
        };
        let mut sink = RenamingSink::new(renamer, sink);
        let outcome = self.receive(&mut response, asked, &mut sink).await;
        sink.end();
        outcome
    }

    pub(crate) fn redirected(&self, asked: &Url, target: &Url, status: StatusCode) -> ModelError {
        let (from, to) = (endpoint::shown(asked), endpoint::shown(target));
        let mut failure = if self.wire.url.is_some() {
            let message = format!("{from} redirects to {to}; make that the base URL");
            ModelError::new(Category::BadRequest, message)
        } else if self.redirects.learn(&self.service.endpoint.url, asked, target) {
            let message = format!("{from} redirects to {to}, which is asked from now on");
            ModelError::new(Category::BadRequest, message).retry(Retry::Adapted)
        } else {
            let message = format!("{from} redirects to {to}, and so in a circle; check the base URL");
            ModelError::new(Category::BadRequest, message)
        };
        failure.status = Some(status.as_u16());
        failure
    }

    fn prepare<'a>(
        &'a self,
        request: &'a Request,
        listens: bool,
    ) -> Result<(PreparedRequest<'a>, HeaderMap), String> {
        check_request(self.service.is_local, || self.service.endpoint.host())?;
        let model = self.model_of(request).ok_or_else(|| {
            let variable = self.wire.model;
            format!(
                "no model is named: set {variable}, `model` on the builder, or `model` on the node or call"
            )
        })?;
        if let Some(fault) = request.reserved_fields_in_extra(self.wire.own).next() {
            return Err(fault);
        }
        let shape = self.shape(request, model)?;
        let RequestHeaders { mut headers, secrets } = self.headers.for_request()?;
        if shape.drops_bound_thoughts {
            add_beta(&mut headers, BINDING_CONTROLS);
        }
        let deadline = self.service.deadline(request.attempt_timeout);
        let thinking = shape.thinking.map(|(_, way)| way);
        let limit = self.wire.limit.map(|limit| limit(request, shape.quirks, thinking));
        // Without an event for minutes, something on the way may give up.
        let is_long =
            limit.is_some_and(|limit| limit.by == LimitSetter::Default && limit.tokens > MOST_TOKENS_AT_ONCE);
        let streams = (listens || is_long) && !shape.quirks.no_stream;
        Ok((
            PreparedRequest {
                request,
                model,
                tag: self.wire.tag,
                joined: self.wire.joined,
                id_form: self.id_form(shape.quirks),
                names: self.wire.names,
                shape,
                deadline,
                streams,
                cache_for_an_hour: self.cache_for_an_hour,
                secrets,
            },
            headers,
        ))
    }

    fn id_form(&self, quirks: Quirks) -> IdForm {
        match quirks.nine_letter_ids {
            true => IdForm::Nine,
            false => self.id_form.unwrap_or(self.wire.id_form),
        }
    }

    fn model_of<'a>(&'a self, request: &'a Request) -> Option<&'a str> {
        request.model.as_deref().or(self.model.as_deref())
    }

    fn shape<'a>(&'a self, request: &'a Request, model: &str) -> Result<RequestShape<'a>, String> {
        let own = request.extra.contains_key("response_format");
        let takes = |field: &&str| request.extra.contains_key(*field) && !self.wire.joined.contains(field);
        let taken = ["tools", "tool_choice"].into_iter().find(takes);
        let tools = !request.tools.is_empty();
        let in_tools = request.tools.iter().any(|tool| has_choices(&tool.schema));
        if let Some(field) = taken.filter(|_| tools) {
            return Err(format!("the node has tools, and `extra` has `{field}`, too; leave it out"));
        }
        let call = request.correlation.map(|attempt| attempt.call());
        let shown = |message: &Message| message.carried().is_some();
        let leaves_out = |part| self.capabilities.leaves_out(model, call, part);
        let output = request.output.as_deref().filter(|_| !own);
        let quirks = self.capabilities.of(model, output.map(OutputSchema::name));
        let is_left = quirks.no_reasoning_in_turns || leaves_out(UnsupportedFeature::Carried);
        let carries = request.messages.iter().any(shown) && !is_left;
        let no_thinking = leaves_out(UnsupportedFeature::Thinking);
        let mut shape = RequestShape { tools, carries, no_thinking, call, ..RequestShape::default() };
        shape.drops_bound_thoughts = carries && leaves_out(UnsupportedFeature::Turn(TurnPart::BoundThoughts));
        shape.thinking = self.thinking(request, quirks)?.filter(|_| !no_thinking);
        let asked = shape.thinking.map(|(_, way)| way.thinks());
        shape.thinks = !no_thinking && asked.unwrap_or(self.wire.efforts.is_in(&request.extra));
        let quirks = if shape.thinks { quirks.in_thought(tools) } else { quirks };
        (shape.quirks, shape.choices) = (quirks, in_tools && !quirks.no_choices);
        let Some(schema) = output else { return Ok(shape) };
        let schema = if quirks.no_choices { without_choices(schema) } else { schema };
        let chosen = self.chosen(request, quirks);
        self.check_chosen(chosen, schema)?;
        let format = response_formats::response_format(self.wire.formats, chosen, schema, quirks.refused)
            .map_err(with_remedy)?;
        if let Some(field) = taken.filter(|_| format == ResponseFormat::Tool) {
            return Err(format!(
                "the response format `tool` makes the request's `{field}`, and `extra` has one, too; leave it out, or \
                 choose another response format"
            ));
        }
        shape.schema = Some((format, schema.name()));
        shape.keeps_function = self.cannot_force_answer(request, quirks);
        let has_schema = !matches!(format, ResponseFormat::JsonObject | ResponseFormat::Prompt);
        shape.choices |= has_schema && has_choices(schema);
        Ok(shape)
    }

    fn thinking(&self, request: &Request, quirks: Quirks) -> Result<Option<(Reasoning, Thinking)>, String> {
        let Wire { title, efforts, .. } = self.wire;
        let Some(reasoning) = request.reasoning.filter(|_| !efforts.is_in(&request.extra)) else {
            return Ok(None);
        };
        match reasoning {
            Reasoning::Budget(tokens) if !efforts.budgets => Err(format!(
                "reasoning is a budget of {tokens} tokens, and {title} takes a word: set Reasoning::Off, Low, Medium, High or Max"
            )),
            Reasoning::Budget(tokens) if request.max_tokens.is_some_and(|most| most <= tokens) => {
                Err(format!(
                    "reasoning may take {tokens} tokens, and max_tokens, which counts them too, is {}; raise it, or lower the budget",
                    request.max_tokens.unwrap_or_default()
                ))
            }
            reasoning => {
                let way = efforts.way(reasoning, limit(request, quirks), quirks.reasoning);
                Ok(way.map(|way| (reasoning, way)))
            }
        }
    }

    fn check_chosen(&self, chosen: Option<ResponseFormat>, schema: &OutputSchema) -> Result<(), String> {
        let Wire { title, formats, .. } = self.wire;
        match chosen {
            Some(chosen) if !formats.order.contains(&chosen) => {
                let others: Vec<&str> = formats.order.iter().map(|one| one.as_str()).collect();
                Err(format!("{title} has no `{}`; choose one of {}", chosen.as_str(), others.join(", ")))
            }
            Some(ResponseFormat::Strict) if schema.strict().is_ok() && !(formats.expresses)(schema) => {
                Err(format!(
                    "{title}'s structured outputs cannot express the type, which is recursive or has too many unions; choose `tool`"
                ))
            }
            _ => Ok(()),
        }
    }

    /// With tools, the default is a function for the answer: some servers silently ignore tools beside a response format. If the
    /// model cannot be forced to call it, the last turn uses the response format if the server enforces one, else the form of
    /// the answer at the end. So it is where a format changes what Anthropic binds thoughts to.
    fn chosen(&self, request: &Request, quirks: Quirks) -> Option<ResponseFormat> {
        let enforced = [ResponseFormat::Strict, ResponseFormat::Schema];
        let is_enforced = quirks.unenforced.is_none()
            && self.wire.name != llmnode_model::Wire::Anthropic
            && enforced.iter().any(|format| !quirks.refused.contains(*format));
        let beside_tools = match self.cannot_force_answer(request, quirks) {
            _ if request.tools.is_empty() => None,
            true if is_enforced => None,
            true => Some(ResponseFormat::Prompt),
            false => Some(ResponseFormat::Tool),
        };
        request.response_format.or(self.response_format).or(beside_tools)
    }

    /// In the last turn of a model that cannot be forced to call the function for the answer.
    fn cannot_force_answer(&self, request: &Request, quirks: Quirks) -> bool {
        let is_ours = request.response_format.or(self.response_format).is_none();
        let has_function = !request.tools.is_empty() && !quirks.refused.contains(ResponseFormat::Tool);
        is_ours && has_function && request.answer_now && quirks.no_forced_tool
    }

    fn refused<'a>(
        &self,
        asked: &PreparedRequest<'a>,
        listens: bool,
    ) -> impl Iterator<Item = &'static str> + use<'a> {
        let (PreparedRequest { request, shape, .. }, chosen) =
            (asked, self.chosen(asked.request, asked.shape.quirks));
        let schema = request.output.as_deref().filter(|_| shape.schema.is_some());
        let (refused, formats) = (shape.quirks.refused, self.wire.formats);
        let response_formats = schema
            .into_iter()
            .flat_map(move |schema| response_formats::passed_over(formats, chosen, schema, refused));
        let quirks = shape.quirks;
        let temperature = quirks.no_temperature && temperature(request).is_some();
        let max_tokens = quirks.max_completion_tokens && max_tokens(request).is_some();
        let has_risen = self.wire.limit.is_some() && request.raised;
        let (stream, options) = (listens && quirks.no_stream, asked.streams && quirks.no_stream_options);
        let best = |reasoning| self.wire.efforts.way(reasoning, limit(request, quirks), Refused::default());
        let reasoning = request.reasoning.filter(|_| !self.wire.efforts.is_in(&request.extra));
        let reasoning = reasoning.is_some_and(|reasoning| best(reasoning) != asked.thinking());
        let has_lists = request.output.as_deref().is_some_and(has_choices)
            || request.tools.iter().any(|tool| has_choices(&tool.schema));
        let fields = [
            ("choices", quirks.no_choices && has_lists),
            ("temperature", temperature),
            ("max_tokens", max_tokens),
            ("default_limit", has_risen),
            ("reasoning", reasoning),
            ("stream", stream),
            ("stream_options", options),
            ("include", quirks.no_include),
            ("parametersJsonSchema", quirks.no_json_schema_parameters && shape.tools),
            ("tool_choice", quirks.no_forced_tool && shape.tools),
            ("thinking", shape.no_thinking),
            ("tool_call_id", quirks.nine_letter_ids && request.messages.iter().any(has_id)),
            ("includeServerSideToolInvocations", quirks.no_server_tools_mark && has_own_tools(request)),
            ("bound_thoughts", shape.drops_bound_thoughts),
            ("carried", !shape.carries && request.messages.iter().any(|message| message.carried().is_some())),
        ];
        let fields = fields.into_iter().filter(|(_, is_refused)| *is_refused).map(|(field, _)| field);
        fields.chain(response_formats.map(ResponseFormat::as_str))
    }

    async fn receive(
        &self,
        response: &mut Response,
        asked: &PreparedRequest<'_>,
        sink: &mut dyn Sink,
    ) -> Result<Completion, ModelError> {
        let mut head = ResponseHead::of(response);
        head.request_id = asked.clean(head.request_id);
        if let Some(id) = &head.request_id {
            sink.request_id(id);
        }
        let received = self.body(response.body_mut(), asked, sink).await;
        let (outcome, reported_usage) = match received {
            Ok(ResponseBody::Events(written)) => {
                let reported_usage = written.usage();
                (Ok(Ok(written.finish(asked.wanted()))), reported_usage)
            }
            Ok(ResponseBody::Full(body, reported_usage)) => (Ok(Err(body)), reported_usage),
            Err(failure) => (Err(failure), None),
        };
        if !head.status.is_success() {
            let body = outcome.ok().and_then(Result::err).unwrap_or_default();
            return Err(self.refusal(&head, &body, asked, sink));
        }
        let completion = match outcome {
            Ok(Ok(joined)) => self.completion(joined, &[], &head, asked, sink),
            Ok(Err(body)) => {
                self.completion((self.wire.read)(&body, asked.wanted()), &body, &head, asked, sink)
            }
            Err(failure) => Err(failure),
        };
        match completion {
            Ok(mut completion) => {
                completion.usage = larger(completion.usage, reported_usage);
                completion.refusal = asked.clean(completion.refusal);
                completion.finish = completion.finish.map(|finish| asked.clean_finish(finish));
                completion.model = asked.clean(completion.model);
                completion.response_id = asked.clean(completion.response_id);
                // Without a request id, the answer's id helps to find it.
                completion.request_id = head.request_id.or_else(|| completion.response_id.clone());
                Ok(completion)
            }
            Err(mut failure) => {
                failure.usage = larger(failure.usage.as_deref().copied(), reported_usage).map(Box::new);
                failure.status = Some(head.status.as_u16());
                failure.request_id = head.request_id;
                Err(failure)
            }
        }
    }
}

impl Inner {
    fn completion(
        &self,
        read: ReadResult,
        body: &[u8],
        head: &ResponseHead,
        asked: &PreparedRequest<'_>,
        sink: &mut dyn Sink,
    ) -> Result<Completion, ModelError> {
        match read {
            Ok(ReadAnswer { mut completion, has_call, parts, flags, cut }) => {
                if asked.forces_a_call() && !has_call && !completion.text.trim().is_empty() {
                    self.capabilities.unforced(asked.model);
                    sink.flag(Flag::FreeChoice);
                }
                if has_call && asked.shape.tools {
                    self.capabilities.called(asked.model);
                }
                flags.into_iter().for_each(|flag| sink.flag(flag));
                asked.restore_names(&mut completion);
                completion.carried = self.carried(parts, asked);
                if completion.finish == Some(FinishReason::Length) && cut != CutBy::Other {
                    let limit = self.limit_of(asked);
                    // What the provider's own tools did would be done again.
                    let rises = |limit: AnswerLimit| limit.rises && cut == CutBy::Limit;
                    completion.limit = limit.map(|limit| AnswerLimit { rises: rises(limit), ..limit });
                }
                Ok(completion)
            }
            Err(_) if head.encoded => Err(self.encoded(body)),
            Err(Unreadable::ErrorObject) => Err(self.refusal(head, body, asked, sink)),
            #[cfg(feature = "gemini")]
            Err(Unreadable::ErrorEvent(event, usage)) => {
                let mut failure = self.refusal(head, &event, asked, sink);
                failure.usage = failure.usage.or(usage);
                Err(failure)
            }
            Err(Unreadable::WebPage) => Err(self.web_page(body, asked)),
            Err(Unreadable::Failure(failure)) => Err(*failure),
            Err(Unreadable::Rejected(mut failure, parts)) => {
                let carried = self.carried(parts, asked);
                if failure.answer.is_some() || carried.is_some() {
                    let answer =
                        failure.answer.take().map_or_else(|| Message::assistant(""), |answer| *answer);
                    failure.answer = Some(Box::new(answer.carrying(carried)));
                }
                Err(*failure)
            }
        }
    }

    fn carried(&self, parts: Vec<CarriedPart>, asked: &PreparedRequest<'_>) -> Option<Arc<Carried>> {
        match parts.is_empty() {
            true => None,
            false => Some(Arc::new(Carried::new(self.wire.tag, asked.model, parts))),
        }
    }
}

/// Beside those that the program sends.
fn add_beta(headers: &mut HeaderMap, beta: &'static str) {
    let given = headers.get(BETA).map(|given| [given.as_bytes(), b",", beta.as_bytes()].concat());
    let all = given.and_then(|all| HeaderValue::from_bytes(&all).ok());
    headers.insert(BETA, all.unwrap_or(HeaderValue::from_static(beta)));
}

/// The provider's own.
fn has_own_tools(request: &Request) -> bool {
    request.extra.get("tools").and_then(serde_json::Value::as_array).is_some_and(|list| !list.is_empty())
}

fn has_id(message: &Message) -> bool {
    !message.calls().is_empty() || message.answers().is_some()
}

fn limit(request: &Request, quirks: Quirks) -> u32 {
    [request.max_tokens, quirks.most_tokens].into_iter().flatten().min().unwrap_or(u32::MAX)
}

pub(crate) fn without_secrets(mut error: ModelError, secrets: &[Secret]) -> ModelError {
    error.message = redact(&error.message, secrets);
    error
}

pub(crate) fn unsent(message: impl Into<String>) -> ModelError {
    ModelError::unsent(Category::ConfigError, message)
}
