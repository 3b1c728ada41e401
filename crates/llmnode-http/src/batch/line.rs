//! A request as the line of an order, and the response to it.
//!
//! A line goes the same way as a request that is sent at once, up to the body and
//! from the response on. In between nothing is known: no connection, no head, no
//! listener. That is why a batch learns from refusals and records them like any
//! other attempt.

use http::{HeaderMap, StatusCode};
use llmnode_model::batch::{BatchLine, LineResponse};
use llmnode_model::internal::catch_panic;
use llmnode_model::{Category, Completion, ModelError, Request, Sink};
use llmnode_reader::Flag;

use crate::api::ask::{finish, unsent, without_secrets};
use crate::api::halves::read_body;
use crate::api::inner::Inner;
use crate::api::prepared_request::{PreparedRequest, RequestContext};
use crate::api::response_head::ResponseHead;
use crate::refusal::beliefs::begins;

impl Inner {
    /// The body is the one that would be sent at once, without a stream.
    pub(crate) fn batch_line(
        &self,
        request: &Request,
        context: RequestContext<'_>,
        api: &'static str,
        sink: &mut dyn Sink,
    ) -> Result<BatchLine, ModelError> {
        let of_api = request.on(self.wire.name);
        let request = of_api.as_deref().unwrap_or(request);
        sink.api(self.wire.name);
        if let Some(model) = self.model_of(request).filter(|_| begins(&request.messages)) {
            self.beliefs.begin(model, context.asker);
        }
        let prepared = self.prepared_line(request, context)?;
        if let Some((response_format, _)) = prepared.shape.schema {
            sink.response_format(response_format);
        }
        self.refused(&prepared, false)
            .for_each(|part| sink.refused(part));
        if prepared.leaves_carried() {
            sink.flag(Flag::CarriedLeft);
        }
        Ok(BatchLine {
            api,
            model: prepared.model.to_owned(),
            body: (self.wire.encode)(&prepared).map_err(unsent)?,
        })
    }

    /// Prepared twice: when the line is written and when its response is read, by
    /// what is believed then. The request itself is the same.
    fn prepared_line<'a>(
        &'a self,
        request: &'a Request,
        context: RequestContext<'a>,
    ) -> Result<PreparedRequest<'a>, ModelError> {
        let context = RequestContext {
            in_batch: true,
            ..context
        };
        let (mut prepared, _) = self
            .prepare(request, context, false)
            .map_err(|fault| without_secrets(unsent(fault), self.headers.secrets()))?;
        prepared.streams = false;
        // A cache of five minutes is gone before the next line is asked.
        prepared.cache.is_long = true;
        Ok(prepared)
    }

    /// Reads the response to a line as that of its request.
    pub(crate) fn batch_answer(
        &self,
        request: &Request,
        context: RequestContext<'_>,
        response: &LineResponse,
        sink: &mut dyn Sink,
    ) -> Result<Completion, ModelError> {
        let of_api = request.on(self.wire.name);
        let request = of_api.as_deref().unwrap_or(request);
        let prepared = self.prepared_line(request, context)?;
        let outcome = catch_panic(|| self.read_line(&prepared, response, sink));
        let outcome =
            outcome.unwrap_or_else(|message| Err(ModelError::new(Category::Panic, message)));
        if outcome.is_ok() {
            self.beliefs.answered(prepared.model, context.asker);
            context
                .switch
                .inspect(|switch| switch.answered(prepared.model, context.asker));
        }
        outcome.map_err(|error| without_secrets(error, &prepared.secrets))
    }

    /// A response of a line has a status and a body, and no headers.
    fn read_line(
        &self,
        prepared: &PreparedRequest<'_>,
        response: &LineResponse,
        sink: &mut dyn Sink,
    ) -> Result<Completion, ModelError> {
        let status = StatusCode::from_u16(response.status).unwrap_or(StatusCode::BAD_GATEWAY);
        let head = ResponseHead {
            status,
            request_id: prepared.clean_word(response.request_id.clone()),
            encoded: false,
            headers: HeaderMap::new(),
        };
        if let Some(id) = &head.request_id {
            sink.request_id(id);
        }
        if !status.is_success() {
            return Err(self.refusal(&head, &response.body, prepared, sink));
        }
        let read = read_body(
            &response.body,
            false,
            prepared.expected_calls(),
            self.wire.read,
        );
        let mut completion = self.completion(read, &response.body, &head, prepared, sink);
        finish(&mut completion, None, None, head, prepared);
        completion
    }
}

#[cfg(test)]
mod tests {
    use llmnode_model::ext::{CachePlan, Repeats};
    use llmnode_model::{ChatModel, Message, TokenUsage};

    use super::*;
    use crate::{Anthropic, OpenAi};

    struct Unseen;

    impl Sink for Unseen {
        fn request_id(&mut self, _: &str) {}
        fn usage(&mut self, _: TokenUsage) {}
    }

    /// A letter of a map, with the rules that all of them begin with.
    fn letter(number: usize) -> Request {
        let rules = "Sort letters by what they ask for. ".repeat(200);
        let messages = vec![
            Message::system(rules),
            Message::user(format!("letter {number}")),
        ];
        let mut request = Request::new(messages);
        request.question = Some(1);
        request.max_tokens = Some(50);
        request.cache = Some(CachePlan {
            repeats: Repeats::Items,
            ..CachePlan::default()
        });
        request
    }

    fn models() -> [(&'static str, Box<dyn ChatModel>); 3] {
        let openai = || OpenAi::builder().api_key("k").model("m").build().unwrap();
        let anthropic = Anthropic::builder().api_key("k").model("m").build();
        [
            (
                "prompt_cache_breakpoint",
                Box::new(openai().chat_completions()),
            ),
            ("prompt_cache_breakpoint", Box::new(openai().responses())),
            ("cache_control", Box::new(anthropic.unwrap())),
        ]
    }

    #[tokio::test]
    async fn every_line_is_marked_and_holds_up_no_request_at_once() {
        for (mark, model) in models() {
            let wire = model.batch_api().unwrap();
            for number in 0..3 {
                let line = wire.line(&letter(number), &mut Unseen).unwrap();
                let body = String::from_utf8(line.body).unwrap();
                assert_eq!(body.matches(mark).count(), 1, "{number} {body}");
            }
            // It is the first one that is sent at once, so it writes what the others read.
            assert!(model.shares_beginning(&letter(9)), "{mark}");
        }
    }
}
