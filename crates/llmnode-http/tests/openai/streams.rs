//! Streamed answers.

use std::marker::PhantomData;
use std::time::Duration;

use llmnode_http::OpenAi;
use llmnode_runtime::{
    AttemptKind, BoxFuture, CallReport, CallStream, Category, ChatModel, Completion, Delta, Event,
    Flag, Limits, ModelError, NodeError, Request, ResponseFormat, Run, Sink, TokenUsage,
};
use llmnode_stub::{LoggedRequest, StubReply};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::Instant;

use crate::support::{Ask, Greet, builder, model, raw_server, request, sends, server};

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Form {
    name: String,
    age: u8,
}

const FORM: Ask<Form> = Ask(PhantomData);

/// The text of a stream, how often it restarted, and its outcome.
async fn streamed<T>(
    mut stream: CallStream<'_, T>,
) -> (String, Vec<Category>, Result<CallReport<T>, NodeError>) {
    let (mut text, mut restarts) = (String::new(), Vec::new());
    while let Some(event) = stream.next().await {
        match event {
            Event::Text(piece) => text += &piece,
            Event::Restarted { category, .. } => {
                text.clear();
                restarts.push(category);
            }
            _ => {}
        }
    }
    (text, restarts, stream.report().await)
}

fn events(events: &[&str]) -> StubReply {
    StubReply::stream(events.iter().map(|event| format!("data: {event}\n\n")))
}

const PIECE: &str = r#"{"choices":[{"delta":{"content":"Hel"}}]}"#;
const REST: &str = r#"{"choices":[{"delta":{"content":"lo"},"finish_reason":"stop"}]}"#;

#[tokio::test]
async fn a_typed_answer_grows_and_is_what_the_plain_call_gives() {
    let reply = || StubReply::pieces(["{\"name\": \"A", "da\", \"age\"", ": 36}"]).usage(12, 9);
    let server = server([reply(), reply()]).await;
    let run = Run::new(model(&server.base_url()));
    let mut stream = run.call(&FORM).stream();
    let mut partials = Vec::new();
    while stream.next().await.is_some() {
        partials.extend(stream.partial().cloned());
    }
    assert_eq!(partials.last(), Some(&json!({"name": "Ada", "age": 36})));
    let streamed = stream.report().await.unwrap();
    let plain = run.call(&FORM).report().await.unwrap();
    assert_eq!(streamed.value, plain.value);
    let [one, other] = [&streamed, &plain].map(|report| {
        let attempt = &report.record.attempts[0];
        (
            attempt.usage,
            attempt.flags.clone(),
            attempt.finish_reason.clone(),
            attempt.model.clone(),
            attempt.estimate,
        )
    });
    assert_eq!(one, other);
    assert_eq!(one.0.unwrap().total(), Some(21));
    let asked: Vec<_> = server
        .requests()
        .iter()
        .map(|request| request.json().unwrap()["stream"].clone())
        .collect();
    assert_eq!(asked, [json!(true), json!(null)]);
}

#[tokio::test]
async fn the_last_usage_counts_and_none_is_unknown() {
    let usage = |usage: &str| format!(r#"{{"choices":[],"usage":{usage}}}"#);
    let in_each = r#"{"choices":[{"delta":{"content":"a"}}],"usage":{"total_tokens":3}}"#;
    for (body, total) in [
        (
            vec![PIECE, REST, &usage("{\"total_tokens\":7}"), "[DONE]"],
            Some(7),
        ),
        (vec![in_each, REST, &usage("{\"total_tokens\":8}")], Some(8)),
        (vec![in_each, REST, "[DONE]"], Some(3)),
        (vec![PIECE, REST, &usage("null"), "[DONE]"], None),
    ] {
        let server = server([events(&body)]).await;
        let run = Run::new(model(&server.base_url()));
        let report = run.call(&Greet).stream().report().await.unwrap();
        let attempt = &report.record.attempts[0];
        assert_eq!(
            attempt.usage.and_then(|usage| usage.total()),
            total,
            "{body:?}"
        );
        assert_eq!(attempt.estimate.is_some(), total.is_none());
    }
}

#[tokio::test]
async fn failures_in_mid_stream_have_their_own_category() {
    let error =
        |code: &str| format!(r#"{{"error":{{"message":"no","type":"{code}","code":"{code}"}}}}"#);
    let in_choice = |code: u16, metadata: Value| {
        json!({"choices": [{"index": 0, "delta": {"content": ""}, "finish_reason": "error",
            "error": {"code": code, "message": "no", "metadata": metadata}}]})
        .to_string()
    };
    let plain = |json: &str| StubReply::stream([format!("data: {PIECE}\n\n{json}\n")]);
    for (reply, category, retried) in [
        // The connection ends without a reason.
        (events(&[PIECE]), Category::Network, true),
        (events(&[PIECE, "[DONE]"]), Category::Network, true),
        (events(&["[DONE]"]), Category::EmptyResponse, true),
        (
            events(&[PIECE, &error("rate_limit_exceeded")]),
            Category::RateLimitError,
            true,
        ),
        (
            events(&[PIECE, &error("context_length_exceeded")]),
            Category::ContextLengthError,
            false,
        ),
        // OpenRouter's, in the choice.
        (
            events(&[
                PIECE,
                &in_choice(403, json!({"flagged_input": "Hello"})),
                "[DONE]",
            ]),
            Category::ContentFilter,
            false,
        ),
        (
            events(&[PIECE, &in_choice(402, json!({})), "[DONE]"]),
            Category::QuotaError,
            false,
        ),
        (
            events(&[PIECE, &in_choice(429, json!({})), "[DONE]"]),
            Category::RateLimitError,
            true,
        ),
        (
            plain(&error("rate_limit_exceeded")),
            Category::RateLimitError,
            true,
        ),
        (
            plain(&format!("[{}\n]", error("context_length_exceeded"))),
            Category::ContextLengthError,
            false,
        ),
        (
            plain("{\"message\":\"no\",\"code\":\"rate_limit_exceeded\"}"),
            Category::Network,
            true,
        ),
        (
            events(&[PIECE, "{\"choices\":[{"]),
            Category::BadResponse,
            true,
        ),
        (
            StubReply::text("Hello").cut_short(),
            Category::Network,
            true,
        ),
        (
            StubReply::error(429, "requests", "rate_limit_exceeded", "slow down"),
            Category::RateLimitError,
            true,
        ),
        (
            StubReply::raw(200, error("rate_limit_exceeded")),
            Category::RateLimitError,
            true,
        ),
        (
            StubReply::raw(200, ": comment\n\n"),
            Category::Network,
            true,
        ),
    ] {
        let what = format!("{reply:?}");
        let server = server([reply, StubReply::text("Hello")]).await;
        let run = Run::new(model(&server.base_url()));
        let (text, restarts, report) =
            streamed(run.call(&Greet).wait(Duration::ZERO).stream()).await;
        if retried {
            assert_eq!(
                (text.as_str(), restarts),
                ("Hello", vec![category]),
                "{what}"
            );
            assert_eq!(report.unwrap().value, "Hello");
        } else {
            assert!(restarts.is_empty());
            assert_eq!(report.unwrap_err().category(), category, "{what}");
        }
    }
}

#[tokio::test]
async fn a_complete_answer_whose_stream_does_not_end_is_not_asked_for_again() {
    let usage = r#"{"choices":[],"usage":{"total_tokens":7}}"#;
    let body = |events: &[&str]| {
        events
            .iter()
            .map(|event| format!("data: {event}\n\n"))
            .collect::<String>()
    };
    let cut = |events: &[&str]| {
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
        format!("{head}{:x}\r\n{}\r\n", body(events).len(), body(events))
    };
    let silent = StubReply::stream([body(&[PIECE, REST, usage]), ": ping\n\n".to_owned()]);
    let silent = silent.pause(Duration::from_secs(20));
    let silent = server([silent.clone(), silent]).await;
    for (base_url, total) in [
        (sends(cut(&[PIECE, REST, usage])).await, Some(7)),
        (sends(cut(&[PIECE, REST])).await, None),
        (silent.base_url(), Some(7)),
    ] {
        let model = builder(&base_url)
            .idle_timeout(Duration::from_millis(200))
            .build()
            .unwrap();
        let run = Run::new(model).with_limits(Limits::new().tokens(100_000));
        // What llmnode could not read is estimated, so that the limit holds on.
        for _ in 0..2 {
            let report = run.call(&Greet).stream().report().await.unwrap();
            let attempts = &report.record.attempts;
            assert_eq!((&*report.value, attempts.len()), ("Hello", 1));
            assert_eq!(attempts[0].usage.and_then(|usage| usage.total()), total);
            assert_eq!(
                attempts[0].flags.contains(&Flag::EstimatedUsage),
                total.is_none()
            );
        }
    }
    for events in [
        &[PIECE][..],
        &[PIECE, "{\"choices\":[{"],
        &[PIECE, REST, "{\"error\":{\"message\":\"no\"}}"],
    ] {
        let run = Run::new(model(&sends(cut(events)).await));
        run.call(&Greet)
            .transport_retries(0)
            .stream()
            .finish()
            .await
            .unwrap_err();
    }
}

#[tokio::test]
async fn an_answer_that_is_no_stream_is_one_event() {
    let whole = json!({"choices": [{"message": {"content": "Hello"}, "finish_reason": "stop"}]})
        .to_string();
    for reply in [StubReply::raw(200, whole.clone()), events(&[&whole])] {
        let server = server([reply]).await;
        let run = Run::new(model(&server.base_url()));
        let mut stream = run.call(&Greet).stream();
        assert_eq!(stream.next().await, Some(Event::Text("Hello".to_owned())));
        assert_eq!(stream.next().await, None);
        assert_eq!(stream.finish().await.unwrap(), "Hello");
    }
}

#[tokio::test]
async fn refused_streams_are_learned() {
    for (field, message, sent) in [
        (
            "stream",
            "Streaming is not supported by this model.",
            [json!(true), json!(null), json!(null)],
        ),
        (
            "stream_options",
            "Unrecognized request argument: stream_options",
            [json!(true), json!(true), json!(true)],
        ),
    ] {
        let reply = move || {
            StubReply::for_request(move |request: &LoggedRequest| {
                if request.json().unwrap().get(field).is_some() {
                    StubReply::error(400, "invalid_request_error", (), message)
                } else {
                    StubReply::text("Hello")
                }
            })
        };
        let server = server([reply(), reply(), reply()]).await;
        let run = Run::new(model(&server.base_url()));
        let (text, _, report) = streamed(run.call(&Greet).transport_retries(0).stream()).await;
        let kinds: Vec<_> = report
            .unwrap()
            .record
            .attempts
            .iter()
            .map(|attempt| attempt.kind)
            .collect();
        assert_eq!(
            (text.as_str(), kinds),
            ("Hello", vec![AttemptKind::First, AttemptKind::Adapted])
        );
        let report = run.call(&Greet).stream().report().await.unwrap();
        assert_eq!(report.record.attempts.len(), 1);
        assert_eq!(report.record.attempts[0].refused, [field]);
        let asked: Vec<_> = server
            .requests()
            .iter()
            .map(|request| request.json().unwrap()["stream"].clone())
            .collect();
        assert_eq!(asked, sent);
    }
}

#[tokio::test]
async fn the_arguments_of_a_forced_function_are_the_answer() {
    let call = |request: &LoggedRequest| {
        let name = request.json().unwrap()["tool_choice"]["function"]["name"]
            .as_str()
            .unwrap()
            .to_owned();
        StubReply::call(name, json!({"name": "Ada", "age": 36}))
    };
    let server = server([StubReply::for_request(call)]).await;
    let run = Run::new(model(&server.base_url()));
    let (text, _, report) = streamed(
        run.call(&FORM)
            .response_format(ResponseFormat::Tool)
            .stream(),
    )
    .await;
    assert_eq!(serde_json::from_str::<Form>(&text).unwrap().age, 36);
    assert_eq!(
        report.unwrap().value,
        Form {
            name: "Ada".to_owned(),
            age: 36
        }
    );
}

#[tokio::test]
async fn reasoning_is_apart() {
    let thought =
        |word: &str| format!(r#"{{"choices":[{{"delta":{{"{word}":"hm","content":null}}}}]}}"#);
    for word in ["reasoning", "reasoning_content"] {
        let server = server([events(&[&thought(word), PIECE, REST])]).await;
        let run = Run::new(model(&server.base_url()));
        let mut stream = run.call(&Greet).stream();
        let mut reasoning = String::new();
        while let Some(event) = stream.next().await {
            if let Event::Reasoning(text) = event {
                reasoning += &text;
            }
        }
        assert_eq!(
            (reasoning.as_str(), stream.finish().await.unwrap().as_str()),
            ("hm", "Hello")
        );
    }
}

#[tokio::test]
async fn silence_is_a_timeout_and_comments_are_silence() {
    let ping = || std::iter::repeat_n(": ping\n\n".to_owned(), 500);
    let piece = format!("data: {PIECE}\n\n");
    for reply in [
        StubReply::stream(ping()).pause(Duration::from_millis(20)),
        StubReply::stream([piece.clone()].into_iter().chain(ping()))
            .pause(Duration::from_millis(20)),
        StubReply::stream([piece.clone(), piece]).pause(Duration::from_secs(20)),
    ] {
        let server = server([reply]).await;
        let model = builder(&server.base_url())
            .idle_timeout(Duration::from_millis(200))
            .build()
            .unwrap();
        let run = Run::new(model);
        let error = run
            .call(&Greet)
            .transport_retries(0)
            .stream()
            .finish()
            .await
            .unwrap_err();
        assert_eq!(error.category(), Category::Timeout);
        assert!(
            error
                .message()
                .contains("nothing of the answer came within 200ms (idle timeout"),
            "{error}"
        );
    }
    // The whole stream has its time as well.
    let server = server([StubReply::pieces(vec!["a"; 500]).pause(Duration::from_millis(20))]).await;
    let run = Run::new(
        builder(&server.base_url())
            .attempt_timeout(Duration::from_millis(300))
            .build()
            .unwrap(),
    );
    let error = run
        .call(&Greet)
        .transport_retries(0)
        .stream()
        .finish()
        .await
        .unwrap_err();
    assert!(error.message().contains("attempt timeout"), "{error}");
}

#[tokio::test]
async fn time_in_which_nobody_polls_is_not_idle() {
    let server =
        server([StubReply::pieces(["a", "b", "c"]).pause(Duration::from_millis(10))]).await;
    let model = builder(&server.base_url())
        .idle_timeout(Duration::from_millis(200))
        .build()
        .unwrap();
    let run = Run::new(model);
    let mut stream = run.call(&Greet).transport_retries(0).stream();
    assert!(stream.next().await.is_some());
    // The thread that reads the socket is blocked, too.
    std::thread::sleep(Duration::from_millis(1500));
    assert_eq!(stream.finish().await.unwrap(), "abc");
}

#[tokio::test]
async fn endless_answers_and_events_are_bounded() {
    let tokens = raw_server(|mut stream| async move {
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
        let _ = stream.write_all(head.as_bytes()).await;
        let token = format!("data: {}\n\n", PIECE.replace("Hel", &"x".repeat(1000)));
        while stream.write_all(token.as_bytes()).await.is_ok() {}
    })
    .await;
    let error = Run::new(model(&tokens))
        .call(&Greet)
        .stream()
        .finish()
        .await
        .unwrap_err();
    assert_eq!(error.category(), Category::TruncatedOutput);
    let error = Run::new(model(&tokens)).call(&Greet).await.unwrap_err();
    assert_eq!(
        error.category(),
        Category::TruncatedOutput,
        "nobody asked for a stream"
    );
    for (begin, rest) in [("data: ", "x"), (": plain JSON\n\n[\n", "1,\n")] {
        let url = raw_server(move |mut stream| async move {
            let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
            let _ = stream.write_all(format!("{head}{begin}").as_bytes()).await;
            while stream
                .write_all(rest.repeat(65_536).as_bytes())
                .await
                .is_ok()
            {}
        })
        .await;
        let error = Run::new(model(&url))
            .call(&Greet)
            .stream()
            .finish()
            .await
            .unwrap_err();
        assert_eq!(
            (error.category(), error.attempts().len()),
            (Category::BadResponse, 1)
        );
    }
}

#[tokio::test]
async fn a_stream_ends_after_white_space_behind_a_whole_document() {
    let (closed, mut is_closed) = tokio::sync::mpsc::channel(1);
    let url = raw_server(move |mut stream| {
        let closed = closed.clone();
        async move {
            let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
            let piece = |text: &str| {
                format!(
                    "data: {}\n\n",
                    json!({"choices": [{"delta": {"content": text}}]})
                )
            };
            let begin = format!(
                "{head}{}{}",
                piece("{\"name\": \"Ada\","),
                piece("\"age\": 36}")
            );
            let _ = stream.write_all(begin.as_bytes()).await;
            let mut written = 0;
            while stream.write_all(piece("\n   ").as_bytes()).await.is_ok() {
                written += 4;
                tokio::task::yield_now().await;
            }
            let _ = closed.send(written).await;
        }
    })
    .await;
    let run = Run::new(model(&url)).with_limits(Limits::new().tokens(100_000));
    let (text, _, report) = streamed(run.call(&FORM).stream()).await;
    let report = report.unwrap();
    assert_eq!(
        report.value,
        Form {
            name: "Ada".to_owned(),
            age: 36
        }
    );
    assert_eq!(text.len() - text.trim_end().len(), 64);
    assert!(is_closed.recv().await.unwrap() >= 64);
    let attempt = &report.record.attempts[0];
    assert_eq!(
        (attempt.usage, &attempt.flags[..]),
        (None, &[Flag::EstimatedUsage, Flag::LengthStop][..])
    );
    assert_eq!(attempt.estimate.unwrap().output, Some(22));
    // The limit counts that, and stays one.
    streamed(run.call(&FORM).stream()).await.2.unwrap();
    // White space within a document or a text is a part of it.
    let blank = " ".repeat(200);
    for pieces in [
        ["{\"name\": \"Ada\"", ",\"age\": 36}"],
        ["{\"name\":", "\"Ada\", \"age\": 36}"],
    ] {
        let server = server([StubReply::pieces([pieces[0], &blank, pieces[1]])]).await;
        assert_eq!(
            streamed(Run::new(model(&server.base_url())).call(&FORM).stream())
                .await
                .2
                .unwrap()
                .value
                .age,
            36
        );
    }
    let server = server([StubReply::pieces(["so {}", &blank, "and on"])]).await;
    let (text, ..) = streamed(Run::new(model(&server.base_url())).call(&Greet).stream()).await;
    assert!(text.ends_with("and on"));
}

#[tokio::test]
async fn a_stream_that_is_dropped_closes_the_connection() {
    let (closed, mut is_closed) = tokio::sync::mpsc::channel(1);
    let url = raw_server(move |mut stream| {
        let closed = closed.clone();
        async move {
            let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
            let _ = stream
                .write_all(format!("{head}data: {PIECE}\n\n").as_bytes())
                .await;
            while stream.read(&mut [0; 64]).await.is_ok_and(|read| read > 0) {}
            let _ = closed.send(()).await;
        }
    })
    .await;
    let run = Run::new(model(&url));
    let mut stream = run.call(&Greet).stream();
    assert_eq!(stream.next().await, Some(Event::Text("Hel".to_owned())));
    drop(stream);
    is_closed.recv().await.unwrap();
    assert_eq!(run.ledger().total().total.unreported_calls, 1);
}

#[tokio::test]
async fn what_nobody_polls_is_not_read() {
    let (sent, mut written) = tokio::sync::watch::channel(0_usize);
    let url = raw_server(move |mut stream| {
        let sent = sent.clone();
        async move {
            let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
            let _ = stream.write_all(head.as_bytes()).await;
            let token = format!("data: {}\n\n", PIECE.replace("Hel", &"x".repeat(60_000)));
            while stream.write_all(token.as_bytes()).await.is_ok() {
                sent.send_modify(|sent| *sent += token.len());
            }
        }
    })
    .await;
    let run = Run::new(model(&url));
    let mut stream = run.call(&Greet).stream();
    assert!(stream.next().await.is_some());
    // The sockets fill up, and then it blocks.
    let begun = Instant::now();
    while tokio::time::timeout(Duration::from_millis(500), written.changed())
        .await
        .is_ok()
    {
        assert!(
            begun.elapsed() < Duration::from_secs(20),
            "the server could write on and on"
        );
    }
    assert!(stream.next().await.is_some());
}

/// A sink that keeps the pieces.
#[derive(Default)]
struct Pieces(Vec<String>);

impl Sink for Pieces {
    fn request_id(&mut self, _: &str) {}
    fn usage(&mut self, _: TokenUsage) {}
    fn listens(&self) -> bool {
        true
    }
    fn delta(&mut self, delta: Delta<'_>) {
        if let Delta::Text(text) = delta {
            self.0.push(text.to_owned());
        }
    }
}

fn complete<'a>(
    model: &'a OpenAi,
    request: &'a Request,
    sink: &'a mut Pieces,
) -> BoxFuture<'a, Result<Completion, ModelError>> {
    model.complete(request, sink)
}

#[tokio::test]
async fn the_pieces_make_up_the_text_wherever_the_bytes_are_split() {
    let body = format!(
        "\u{feff}: hi\r\n\r\ndata: {PIECE}\r\n\r\ndata:{}\n\ndata: {REST}\n\ndata: {{\"choices\":[],\"usage\":{{\"total_tokens\":5}}}}",
        PIECE.replace("Hel", "\\ud83d\\ude00é ")
    );
    assert!(body.len() <= 512);
    let request = request();
    let splits = (0..body.len())
        .step_by(7)
        .map(|at| body.as_bytes().split_at(at));
    let replies: Vec<_> = splits
        .map(|(one, other)| StubReply::stream([one, other]))
        .collect();
    let (count, server) = (replies.len(), server(replies).await);
    let model = model(&server.base_url());
    for _ in 0..count {
        let mut pieces = Pieces::default();
        let completion = complete(&model, &request, &mut pieces).await.unwrap();
        assert_eq!(completion.text, "Hel\u{1F600}é lo");
        assert_eq!(pieces.0, ["Hel", "\u{1F600}é ", "lo"]);
        assert_eq!(completion.usage.unwrap().total, Some(5));
    }
}

#[tokio::test]
async fn the_choice_of_index_0_is_the_answer_and_others_are_flagged() {
    let piece = |choices: &[(u64, &str)]| {
        let choices: Vec<_> = choices
            .iter()
            .map(|(index, text)| {
                let stop = text.ends_with('.').then_some("stop");
                json!({"index": index, "delta": {"content": text}, "finish_reason": stop})
            })
            .collect();
        json!({ "choices": choices }).to_string()
    };
    let streams: [Vec<String>; 3] = [
        vec![piece(&[(1, "choice1.")]), piece(&[(0, "choice0.")])],
        vec![
            piece(&[(1, "choice"), (0, "choi")]),
            piece(&[(0, "ce0."), (1, "1.")]),
        ],
        vec![
            piece(&[(0, "choice")]),
            piece(&[(1, "choice1.")]),
            piece(&[(0, "0.")]),
        ],
    ];
    let others = json!(["fitted: other_choices"]);
    let flags = |report: &CallReport<String>| {
        let flags = report.record.attempts[0]
            .flags
            .iter()
            .map(ToString::to_string);
        json!(flags.collect::<Vec<_>>())
    };
    for events_of in streams {
        let events_of: Vec<_> = events_of
            .iter()
            .map(String::as_str)
            .chain(["[DONE]"])
            .collect();
        let server = server([events(&events_of), events(&events_of)]).await;
        let run = Run::new(model(&server.base_url()));
        let (text, _, outcome) = streamed(run.call(&Greet).stream()).await;
        let report = outcome.unwrap();
        assert_eq!(
            (&*text, &*report.value, flags(&report)),
            ("choice0.", "choice0.", others.clone())
        );
        // Events in answer to a plain request are read in the same way.
        let report = run.call(&Greet).report().await.unwrap();
        assert_eq!(
            (&*report.value, flags(&report)),
            ("choice0.", others.clone())
        );
    }
    let choice = |index, text| json!({"index": index, "message": {"content": text}, "finish_reason": "stop"});
    for (choices, answer, flagged) in [
        (
            json!([choice(1, "one"), choice(0, "zero")]),
            "zero",
            &others,
        ),
        (
            json!([choice(0, "zero"), choice(1, "one")]),
            "zero",
            &others,
        ),
        (
            json!([choice(1, "the only one")]),
            "the only one",
            &json!([]),
        ),
        (json!([choice(0, "zero")]), "zero", &json!([])),
    ] {
        let server = server([StubReply::raw(
            200,
            json!({ "choices": choices }).to_string(),
        )])
        .await;
        let report = Run::new(model(&server.base_url()))
            .call(&Greet)
            .report()
            .await
            .unwrap();
        assert_eq!((&*report.value, &flags(&report)), (answer, flagged));
    }
}
