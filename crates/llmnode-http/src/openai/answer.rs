//! Turns a response into a completion, or the reason why there is none.
//!
//! The same for a response in one piece and for one that was put together from
//! chunks (`chunks.rs`), so the two cannot differ. Servers of this API are many,
//! and put things in places of their own: reasoning in three members, refusals in
//! two, calls in two. All are looked at; where several are there, the one that says
//! more counts.

use std::borrow::Cow;

use llmnode_model::ext::CarriedPart;
use llmnode_model::{Category, Completion, ModelError, Retry, TokenUsage};
use llmnode_reader::Flag;
use llmnode_reader::text::one_line;

use super::calls::{self, AnswerCall, ToolCall, called};
use super::carried;
use super::response::{Choice, Choices, Message, Response};
use crate::api::ends;
use crate::api::expected_calls::ExpectedCalls;
use crate::api::read_answer::{OTHER_CHOICES, ReadAnswer, ReadResult, Unreadable, has_other_price};
use crate::api::unreadable::{broken_piece, no_json};
use crate::http::error_body;
use crate::http::reported;

/// What is no chat completion is told apart by its first byte.
pub(crate) fn read(body: &[u8], expected: ExpectedCalls<'_>) -> ReadResult {
    let body = body
        .strip_prefix(b"\xEF\xBB\xBF")
        .unwrap_or(body)
        .trim_ascii_start();
    match body.first() {
        None => return Err(failure("the response is empty", Retry::Transport)),
        Some(b'<') => return Err(Unreadable::WebPage),
        Some(b'[') => {
            let message = "the response is a JSON list, not a chat completion";
            return Err(failure(message, Retry::No));
        }
        Some(_) => {}
    }
    let response = match reported::read(body) {
        Ok(response) => response,
        Err(error) => {
            let broken = broken_text(body, expected);
            return Err(broken.unwrap_or_else(|| no_json(body, &error)));
        }
    };
    completion(response, || error_body::is_error(body), true, expected)
}

/// The answer's choice, and whether there are others beside it.
fn chosen<'a>(
    choices: Choices<'a>,
    is_error: impl Fn() -> bool,
    usage: Option<TokenUsage>,
) -> Result<(Choice<'a>, bool), Unreadable> {
    match choices {
        // OpenRouter's choice of a failure has no answer.
        Choices::Answer(choice, _) if choice.has_failed() && is_error() => {
            Err(Unreadable::ErrorObject)
        }
        Choices::Answer(choice, others) => Ok((choice, others)),
        _ if is_error() => Err(Unreadable::ErrorObject),
        Choices::Empty => {
            let empty = ModelError::new(Category::EmptyResponse, "the response has no choices");
            Err(Unreadable::failure(empty.retry(Retry::Transport), usage))
        }
        Choices::Absent => Err(failure(
            "the response is JSON without `choices`",
            Retry::Transport,
        )),
    }
}

/// Calls that are not calls fail the answer; stubs, which some servers write beside
/// a text, are dropped.
fn check_calls(message: &mut Message<'_>, expected: ExpectedCalls<'_>) -> Result<(), ModelError> {
    message.tool_calls.check(expected)?;
    message.drop_stubs();
    let calls = &message.tool_calls.calls;
    if calls.iter().any(ToolCall::lacks_function) {
        return Err(broken_piece("a call has no `function`"));
    }
    Ok(())
}

/// What the model thought: for the next turn as it came, and for the program as a text.
struct Thoughts {
    parts: Vec<CarriedPart>,
    reasoning: Option<String>,
}

impl Thoughts {
    /// Without `calls_tools`, a call is one of the function for the answer, which
    /// goes back as a text.
    fn take(message: &mut Message<'_>, calls_tools: bool) -> Self {
        let thought = message
            .reasoning_content
            .take()
            .filter(|thought| !thought.is_empty());
        let reasoning = message
            .reasoning
            .take()
            .filter(|reasoning| !reasoning.is_empty());
        let called = if calls_tools {
            &*message.tool_calls.calls
        } else {
            &[]
        };
        let lists = [
            message.reasoning_details.take(),
            message.thinking_blocks.take(),
        ];
        let parts = carried::parts(called, thought.as_deref(), lists, reasoning.as_deref());
        let reasoning = thought
            .or(reasoning)
            .or_else(|| message.content.thought.take())
            .map(Cow::into_owned);
        Thoughts { parts, reasoning }
    }
}

/// Reads the answer before it asks whether it is whole: an answer that cannot be
/// read fails with the better message, and what the model has used is known in any
/// case.
///
/// `has_ended`: the message came to the end that this API has for one.
pub(super) fn completion(
    response: Response<'_>,
    is_error: impl Fn() -> bool,
    has_ended: bool,
    expected: ExpectedCalls<'_>,
) -> ReadResult {
    let (usage, impossible) = match &response.usage {
        Some(usage) => usage.figures(),
        None => (None, false),
    };
    let (choice, others) = chosen(response.choices, is_error, usage)?;
    let Choice {
        finish_reason,
        message,
        ..
    } = choice;
    let mut message = message.unwrap_or_default();
    check_calls(&mut message, expected).map_err(|broken| Unreadable::failure(broken, usage))?;
    let refusal = message
        .refusal
        .take()
        .or_else(|| message.content.refusal.take())
        .map(Cow::into_owned);
    let calls = calls::collect_tool_calls(
        &message.tool_calls.calls,
        message.function_call.as_ref(),
        expected,
    );
    let Thoughts { parts, reasoning } = Thoughts::take(&mut message, !calls.is_empty());
    let function = expected.function.filter(|_| calls.is_empty());
    let has_call = !message.tool_calls.calls.is_empty() || message.function_call.is_some();
    let text = match text(message, function) {
        Ok(text) => text,
        Err(failure) => return Err(Unreadable::rejected(failure, parts, usage)),
    };
    if let Some(reason) = finish_reason.as_deref()
        && ends::is_malformed_call(reason)
    {
        let malformed = ends::malformed_call(reason, text);
        return Err(Unreadable::rejected(malformed, parts, usage));
    }
    let mut completion = Completion::new(text);
    completion.refusal = refusal;
    completion.reasoning = reasoning;
    completion.finish = finish_reason.and_then(|reason| ends::finish(&reason));
    completion.calls = calls;
    if let Some(doubt) = ends::doubt(&completion, has_ended) {
        return Err(Unreadable::failure(doubt, usage));
    }
    completion.model = response.model.map(Cow::into_owned);
    completion.response_id = response.id.map(Cow::into_owned);
    let mut read = ReadAnswer::new(completion, has_call, parts, (usage, impossible));
    if others {
        read.flags.push(OTHER_CHOICES);
    }
    if has_other_price(response.service_tier.as_deref()) {
        read.flags.push(Flag::OtherPrice);
    }
    Ok(read)
}

/// The answer's text: the arguments of its function, if the model called it.
fn text(message: Message<'_>, function: Option<&str>) -> Result<String, ModelError> {
    let words = message
        .content
        .text
        .map(Cow::into_owned)
        .unwrap_or_default();
    let Some(function) = function else {
        return Ok(words);
    };
    match called(message.tool_calls.calls, message.function_call, function) {
        AnswerCall::Arguments(arguments) => Ok(arguments),
        AnswerCall::Other(name) if words.trim().is_empty() => {
            let name = one_line(&name, 100);
            let message = format!("the model called {name:?} instead of {function:?}");
            Err(ModelError::new(Category::SchemaError, message).retry(Retry::Feedback))
        }
        AnswerCall::Other(_) | AnswerCall::Missing => Ok(words),
    }
}

/// The only fault may be invalid UTF-8 that the model wrote.
/// Bytes that are no UTF-8 within the answer's text: the model is told, as it has
/// written them.
fn broken_text(body: &[u8], expected: ExpectedCalls<'_>) -> Option<Unreadable> {
    let text = String::from_utf8_lossy(body);
    if text.as_bytes() == body {
        return None;
    }
    let ReadAnswer {
        completion, parts, ..
    } = read(text.as_bytes(), expected).ok()?;
    let message = format!(
        "the answer contains an invalid byte, which is not a character: shown here as {:?}",
        char::REPLACEMENT_CHARACTER
    );
    let mut failure = ModelError::new(Category::SchemaError, message).retry(Retry::Feedback);
    let is_the_answers = replacements(&completion.text) == replacements(&text);
    if !is_the_answers {
        return None;
    }
    failure.answer = Some(Box::new(llmnode_model::Message::assistant(completion.text)));
    Some(Unreadable::rejected(failure, parts, completion.usage))
}

fn replacements(text: &str) -> usize {
    text.matches(char::REPLACEMENT_CHARACTER).count()
}

/// Of the response as a whole.
fn failure(message: impl Into<String>, retry: Retry) -> Unreadable {
    let failure = ModelError::new(Category::BadResponse, message).retry(retry);
    Unreadable::Failure(Box::new(failure))
}

#[cfg(test)]
mod tests {
    use llmnode_model::{FinishReason, TokenUsage};

    use super::*;

    fn answer_of(function: &str) -> ExpectedCalls<'_> {
        ExpectedCalls {
            function: Some(function),
            tools: false,
            limit: None,
        }
    }

    fn ok(body: &str) -> Completion {
        match read(body.as_bytes(), ExpectedCalls::default()) {
            Ok(read) => read.completion,
            Err(Unreadable::Failure(error)) => panic!("{error}"),
            Err(_) => panic!("an error object or a page"),
        }
    }

    fn fails(body: &[u8]) -> ModelError {
        match read(body, ExpectedCalls::default()) {
            Err(Unreadable::Failure(error) | Unreadable::Rejected(error, _)) => *error,
            Err(_) => panic!("an error object or a page"),
            Ok(read) => panic!("{read:?}"),
        }
    }

    fn choice(message: &str) -> String {
        format!(
            r#"{{"id":"r1","model":"m","choices":[{{"message":{message},"finish_reason":"stop"}}]}}"#
        )
    }

    #[test]
    fn content_in_every_shape() {
        for (message, text) in [
            (r#"{"content":"a"}"#, "a"),
            (r#"{"content":"a\nb"}"#, "a\nb"),
            (
                r#"{"content":[{"type":"text","text":"a"},{"type":"image"},"b",{"text":"\u00e9"}]}"#,
                "abé",
            ),
            (r#"{"content":null}"#, ""),
            (r#"{"content":[]}"#, ""),
            (r#"{"role":"assistant"}"#, ""),
            (r#"{"content":"","reasoning_content":"thinking"}"#, ""),
            ("null", ""),
            ("[]", ""),
        ] {
            assert_eq!(ok(&choice(message)).text, text, "{message}");
        }
        assert_eq!(
            ok(&choice(r#"{"content":null,"refusal":"no"}"#))
                .refusal
                .as_deref(),
            Some("no")
        );
        assert_eq!(ok(&choice(r#"{"content":"a","refusal":""}"#)).refusal, None);
    }

    #[test]
    fn the_arguments_of_the_forced_call_are_the_answer() {
        let calls = |calls: &str, content: &str| {
            let body = format!(
                r#"{{"choices":[{{"message":{{"content":{content},"tool_calls":{calls}}},"finish_reason":"tool_calls"}}]}}"#
            );
            read(body.as_bytes(), answer_of("Choice"))
        };
        let one =
            r#"{"id":"c","type":"function","function":{"name":"Choice","arguments":"{\"n\":1}"}}"#;
        let same = r#"{"function":{"arguments":"{ \"n\": 1 }"}}"#;
        let object = r#"{"function":{"name":"Choice","arguments":{"n":12345678901234567890123}}}"#;
        let other = r#"{"function":{"name":"search","arguments":"{\"n\":2}"}}"#;
        let two = r#"{"function":{"name":"Choice","arguments":"{\"n\":2}"}}"#;
        for (calls_made, content, text) in [
            (format!("[{one}]"), "null", r#"{"n":1}"#),
            (format!("[{one}]"), r#""I'll call it.""#, r#"{"n":1}"#),
            (format!("[{one},{same}]"), "null", r#"{"n":1}"#),
            (
                format!("[{one},{other},{two}]"),
                "null",
                "{\"n\":1}\n{\"n\":2}",
            ),
            (
                format!("[{object}]"),
                "null",
                r#"{"n":12345678901234567890123}"#,
            ),
            ("[]".to_owned(), r#""{\"n\":3}""#, r#"{"n":3}"#),
            ("null".to_owned(), r#""{\"n\":3}""#, r#"{"n":3}"#),
            (format!("[{other}]"), r#""{\"n\":3}""#, r#"{"n":3}"#),
            (
                r#"[{"function":{"name":"Choice","arguments":""}},{}]"#.to_owned(),
                "null",
                "",
            ),
            (
                r#"[{"function":{"name":"Choice","arguments":null}}]"#.to_owned(),
                "null",
                "",
            ),
        ] {
            let Ok(ReadAnswer { completion, .. }) = calls(&calls_made, content) else {
                panic!("{calls_made}")
            };
            assert_eq!(completion.text, text, "{calls_made}");
            assert_eq!(completion.finish, Some(FinishReason::Stop));
        }
        let Err(Unreadable::Rejected(error, _)) = calls(&format!("[{other}]"), "null") else {
            panic!("an answer")
        };
        assert_eq!(
            (error.category, error.retry),
            (Category::SchemaError, Some(Retry::Feedback))
        );
        assert!(
            error.message.contains("search") && error.message.contains("Choice"),
            "{error}"
        );
        // The form of calls before there could be several; and a stop at the length
        // limit stays one.
        let older = br#"{"choices":[{"message":{"function_call":{"name":"Choice","arguments":"{}"}},"finish_reason":"length"}]}"#;
        let Ok(ReadAnswer { completion, .. }) = read(older, answer_of("Choice")) else {
            panic!("no answer")
        };
        assert_eq!(
            (completion.text.as_str(), completion.finish),
            ("{}", Some(FinishReason::Length))
        );
    }

    #[test]
    fn calls_that_cannot_be_read_fail_an_answer_that_may_have_some() {
        for calls in [
            "[7]",
            r#"{"0":{}}"#,
            r#""none""#,
            r#"[{"id":"a","function":"shout"}]"#,
            r#"[{"function":{"name":[]}}]"#,
        ] {
            let body = choice(&format!(r#"{{"content":"a","tool_calls":{calls}}}"#));
            assert_eq!(ok(&body).text, "a", "{calls}");
            let expected = ExpectedCalls {
                tools: true,
                ..ExpectedCalls::default()
            };
            let Err(Unreadable::Failure(error)) = read(body.as_bytes(), expected) else {
                panic!("{calls}")
            };
            assert_eq!(
                (error.category, error.retry),
                (Category::BadResponse, Some(Retry::Transport)),
                "{calls}"
            );
        }
    }

    #[test]
    fn a_call_that_nobody_asked_for_is_no_answer() {
        let message =
            r#"{"content":null,"tool_calls":[{"function":{"name":"Choice","arguments":"{}"}}]}"#;
        assert_eq!(ok(&choice(message)).text, "");
    }

    #[test]
    fn usage_is_known_or_unknown() {
        let usage = |json: &str| ok(&format!(r#"{{"choices":[{{}}],"usage":{json}}}"#)).usage;
        let known = |input, output, total| {
            let mut usage = TokenUsage::default();
            [usage.input, usage.output, usage.total] = [input, output, total];
            Some(usage)
        };
        for (json, expected) in [
            (
                r#"{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15}"#,
                known(Some(10), Some(5), Some(15)),
            ),
            (
                r#"{"prompt_tokens":10.0,"completion_tokens":5.0}"#,
                known(Some(10), Some(5), None),
            ),
            (
                r#"{"prompt_tokens":10,"completion_tokens":-5}"#,
                known(Some(10), None, None),
            ),
            (
                r#"{"prompt_tokens":10.5,"completion_tokens":5}"#,
                known(None, Some(5), None),
            ),
            (
                r#"{"prompt_tokens":18446744073709551615}"#,
                known(Some(u64::MAX), None, None),
            ),
            (
                r#"{"prompt_tokens":1e30,"completion_tokens":[1],"total_tokens":"7"}"#,
                None,
            ),
            (
                r#"{"prompt_tokens":0,"completion_tokens":0,"total_tokens":0}"#,
                None,
            ),
            ("{}", None),
            ("null", None),
            ("[3]", None),
            ("7", None),
        ] {
            assert_eq!(usage(json), expected, "{json}");
        }
        for (json, impossible) in [
            (r#"{"prompt_tokens":10,"completion_tokens":-5}"#, true),
            (r#"{"prompt_tokens":10.5}"#, true),
            (r#"{"prompt_tokens_details":{"cached_tokens":-1}}"#, true),
            (r#"{"prompt_tokens":"10","completion_tokens":null}"#, false),
            (r#"{"prompt_tokens":10}"#, false),
        ] {
            let body = format!(r#"{{"choices":[{{}}],"usage":{json}}}"#);
            let ReadAnswer { flags, .. } = read(body.as_bytes(), ExpectedCalls::default())
                .ok()
                .unwrap();
            assert_eq!(
                flags,
                if impossible {
                    vec![Flag::ImpossibleUsage]
                } else {
                    vec![]
                },
                "{json}"
            );
        }
        let details = r#"{"prompt_tokens":10,"prompt_tokens_details":{"cached_tokens":8},"completion_tokens_details":{"reasoning_tokens":3}}"#;
        let usage = usage(details).unwrap();
        assert_eq!((usage.cached, usage.reasoning), (Some(8), Some(3)));
    }

    /// Moonshot names cached tokens at the top, xAI leaves reasoning out of the
    /// output, OpenAI, LiteLLM and Alibaba count writes.
    #[test]
    fn usage_by_other_names() {
        let usage = |json: &str| {
            ok(&format!(r#"{{"choices":[{{}}],"usage":{json}}}"#))
                .usage
                .unwrap()
        };
        let moonshot = usage(
            r#"{"prompt_tokens":20,"completion_tokens":2,"total_tokens":22,"cached_tokens":16}"#,
        );
        assert_eq!((moonshot.input, moonshot.cached), (Some(20), Some(16)));
        let written = r#"{"prompt_tokens":20,"prompt_tokens_details":{"cached_tokens":4,"cache_write_tokens":9}}"#;
        assert_eq!(
            (usage(written).cached, usage(written).cache_write),
            (Some(4), Some(9))
        );
        for written in [
            r#"{"prompt_tokens":20,"prompt_tokens_details":{"cached_tokens":0},"cache_creation_input_tokens":9}"#,
            r#"{"prompt_tokens":20,"prompt_tokens_details":{"cache_creation_input_tokens":9,"cache_type":"ephemeral"}}"#,
        ] {
            assert_eq!(
                (usage(written).input, usage(written).cache_write),
                (Some(20), Some(9))
            );
        }
        for (total, output) in [(135, 103), (41, 9), (134, 9)] {
            let json = format!(
                r#"{{"prompt_tokens":32,"completion_tokens":9,"total_tokens":{total},"completion_tokens_details":{{"reasoning_tokens":94}}}}"#
            );
            assert_eq!(
                (usage(&json).output, usage(&json).reasoning),
                (Some(output), Some(94)),
                "{json}"
            );
        }
    }

    /// OpenRouter reports a provider's failure in the choice, or beside it in a stream.
    #[test]
    fn the_choice_of_a_failure_is_no_answer() {
        for body in [
            r#"{"choices":[{"message":{"content":"a"},"finish_reason":"error","error":{"code":402,"message":"no"}}]}"#,
            r#"{"error":{"code":402,"message":"no"},"choices":[{"delta":{"content":""},"finish_reason":"error"}]}"#,
        ] {
            let read = read(body.as_bytes(), ExpectedCalls::default());
            assert!(matches!(read, Err(Unreadable::ErrorObject)), "{body}");
            let error = error_body::ErrorBody::read(body.as_bytes());
            assert_eq!((error.status, &*error.message), (Some(402), "no"), "{body}");
        }
        assert_eq!(
            ok(&choice(r#"{"content":"a"}"#)).finish,
            Some(FinishReason::Stop)
        );
        for (reason, expected) in [
            ("model_length", FinishReason::Length),
            ("repetition", FinishReason::Length),
            ("abort", FinishReason::Error),
        ] {
            let cut = choice(r#"{"content":"a"}"#).replace(r#":"stop""#, &format!(":{reason:?}"));
            assert_eq!(ok(&cut).finish, Some(expected));
        }
    }

    #[test]
    fn unknown_shapes_beside_the_answer_do_no_harm() {
        let body = "\u{feff}\n\n".to_owned()
            + r#"{"id":null,"created":1.7e12,"model":7,"service_tier":"on_demand","system_fingerprint":{},
                "choices":[{"index":"0","logprobs":[],"finish_reason":"eos","message":{"content":"a","tool_calls":{}}},5],
                "timings":{"a":[1,2]},"error":null}"#;
        let completion = ok(&body);
        assert_eq!(
            (completion.text.as_str(), completion.model.as_deref()),
            ("a", Some("7"))
        );
        assert_eq!(completion.finish, Some(FinishReason::Stop));
        assert_eq!((completion.response_id, completion.usage), (None, None));
        assert_eq!(ok(&choice("{}")).response_id.as_deref(), Some("r1"));
        assert_eq!(
            ok(r#"{"id":"","model":-7,"choices":[{}]}"#).response_id,
            None
        );
        assert_eq!(
            ok(r#"{"model":-7,"choices":[{}]}"#).model.as_deref(),
            Some("-7")
        );
        for (word, finish) in [
            ("\"length\"", Some(FinishReason::Length)),
            ("null", None),
            ("\"\"", None),
        ] {
            assert_eq!(
                ok(&format!(r#"{{"choices":[{{"finish_reason":{word}}}]}}"#)).finish,
                finish
            );
        }
    }

    #[test]
    fn what_the_model_wrote_is_its_to_mend() {
        let error =
            fails(b"{\"usage\":{\"prompt_tokens\":3},\"choices\":[{\"message\":{\"content\":\"a\xFFb\"}}]}");
        assert_eq!(
            (error.category, error.retry),
            (Category::SchemaError, Some(Retry::Feedback))
        );
        assert_eq!(
            error.answer.as_deref().map(|answer| &*answer.content),
            Some("a\u{fffd}b")
        );
        assert_eq!(error.usage.unwrap().input, Some(3));
        let beside =
            fails(b"{\"id\":\"\xFF\",\"choices\":[{\"message\":{\"content\":\"a\xFF\"}}]}");
        assert_eq!(
            (beside.category, beside.retry),
            (Category::BadResponse, Some(Retry::Transport))
        );
    }

    #[test]
    fn what_is_no_answer() {
        let deep = "[".repeat(100_000);
        for (body, category, retry) in [
            (&b""[..], Category::BadResponse, Retry::Transport),
            (b" \n", Category::BadResponse, Retry::Transport),
            (br#"{"id":"x","choi"#, Category::BadResponse, Retry::Transport),
            (br#"{"choices":null}"#, Category::BadResponse, Retry::Transport),
            (br#"{"choices":{}}"#, Category::BadResponse, Retry::Transport),
            (b"null", Category::BadResponse, Retry::Transport),
            (b"[]", Category::BadResponse, Retry::No),
            (br#"{"choices":[]}"#, Category::EmptyResponse, Retry::Transport),
            (b"{\"model\":\"\xFF\"}", Category::BadResponse, Retry::Transport),
            (br#"{"model":"a","model":"b","choices":[]}"#, Category::BadResponse, Retry::Transport),
            (br#"{"choices":[{"message":"Hello"}]}"#, Category::BadResponse, Retry::Transport),
            (br#"{"choices":[{"message":[1]}]}"#, Category::BadResponse, Retry::Transport),
            (br#"{"choices":["Hello"]}"#, Category::BadResponse, Retry::Transport),
            (br#"{"choices":[{"message":{"content":{"text":"a"}}}]}"#, Category::BadResponse, Retry::Transport),
            (br#"{"choices":[{"message":{"content":["a",["b"]]}}]}"#, Category::BadResponse, Retry::Transport),
            (
                br#"{"choices":[{"message":{"content":[{"text":"please do "},{"text":["NOT"]},{"text":" deliver"}]}}]}"#,
                Category::BadResponse,
                Retry::Transport,
            ),
            (
                br#"{"choices":[{"message":{"tool_calls":[{"id":"a","type":"function"}]}}]}"#,
                Category::BadResponse,
                Retry::Transport,
            ),
            (br#"{"choices":[{}],"x":NaN}"#, Category::BadResponse, Retry::Transport),
            (deep.as_bytes(), Category::BadResponse, Retry::No),
        ] {
            let error = fails(body);
            assert_eq!((error.category, error.retry), (category, Some(retry)), "{error}");
        }
    }

    #[test]
    fn pages_and_error_objects_in_a_success() {
        assert!(matches!(
            read(b" \n<!DOCTYPE html><p>Login", ExpectedCalls::default()),
            Err(Unreadable::WebPage)
        ));
        for body in [
            r#"{"error":{"message":"busy","code":429}}"#,
            r#"{"error":"busy","choices":[]}"#,
        ] {
            assert!(matches!(
                read(body.as_bytes(), ExpectedCalls::default()),
                Err(Unreadable::ErrorObject)
            ));
        }
        // ... which is no error where there is an answer.
        assert_eq!(
            ok(r#"{"error":{},"choices":[{"message":{"content":"a"}}]}"#).text,
            "a"
        );
    }
}
