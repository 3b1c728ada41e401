//! The same over sockets.

use llmnode::prelude::*;
use llmnode::stub_server::{StubReply, StubServer};
use llmnode::{Category, OpenAi, ResponseFormat};
use serde_json::{Value, json};

use super::apis::{Api, Said, call as said_call, text as said_text};
use super::library::{ASK, Advice, Library, RECOMMEND, kinds, outcomes};
use super::recorded::Recorded;

async fn library(replies: Vec<StubReply>) -> (StubServer, Run<Library>) {
    let server = StubServer::builder().script(replies);
    let server = server.start().await.unwrap();
    let model = OpenAi::builder()
        .base_url(server.base_url())
        .api_key("sk-test")
        .model("m")
        .build()
        .unwrap();
    let books = vec!["Rust in Action".to_owned(), "Deep C".to_owned()];
    (
        server,
        Run::new(model).with_state(Library {
            books,
            ..Library::default()
        }),
    )
}

fn bodies(server: &StubServer) -> Vec<Value> {
    server
        .requests()
        .iter()
        .map(|request| request.json().unwrap().clone())
        .collect()
}

fn names(body: &Value) -> Vec<&str> {
    body["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["function"]["name"].as_str().unwrap())
        .collect()
}

#[tokio::test]
async fn text_beside_tools() {
    for streams in [false, true] {
        let replies = vec![
            StubReply::text("I look.")
                .and_call("search", json!({"word": "Rust"}))
                .and_call("count", json!({})),
            StubReply::text("Rust in Action."),
        ];
        let (server, run) = library(replies).await;
        let report = if streams {
            run.call(&ASK).stream().report().await
        } else {
            run.call(&ASK).report().await
        };
        let report = report.unwrap();
        assert_eq!(report.value, "Rust in Action.");
        assert_eq!(outcomes(&report.record, 0), ["ok", "ok"]);
        assert_eq!(report.record.usage().total.unreported_calls, 0);
        let [first, second] = &bodies(&server)[..] else {
            panic!("two requests")
        };
        assert_eq!(
            names(first),
            [
                "search", "count", "lend", "wait", "hang", "explode", "echo", "close", "shaky"
            ]
        );
        assert_eq!(first["tools"], second["tools"]);
        assert_eq!(
            (&first["tool_choice"], &first["response_format"]),
            (&Value::Null, &Value::Null)
        );
        let search = &first["tools"][0]["function"];
        assert_eq!(
            search["description"],
            "Finds books by a word of their title."
        );
        assert_eq!(
            search["parameters"]["properties"]["word"]["description"],
            "A word of the title."
        );
        assert_eq!(search["parameters"]["required"], json!(["word"]));
        assert_eq!(
            second["messages"],
            json!([
                {"role": "user", "content": "What is good?"},
                {"role": "assistant", "content": "I look.", "tool_calls": [
                    {"type": "function", "id": "call_1", "function": {"name": "search", "arguments": r#"{"word":"Rust"}"#}},
                    {"type": "function", "id": "call_2", "function": {"name": "count", "arguments": "{}"}},
                ]},
                {"role": "tool", "content": r#"["Rust in Action"]"#, "tool_call_id": "call_1"},
                {"role": "tool", "content": "2", "tool_call_id": "call_2"},
            ])
        );
    }
}

#[tokio::test]
async fn a_typed_answer_is_one_more_function() {
    for streams in [false, true] {
        let replies = vec![
            StubReply::call("count", json!({})),
            StubReply::call("count", json!({})),
            StubReply::call("count", json!({})),
            StubReply::call("Advice", json!({"title": "Deep C"})),
        ];
        let (server, run) = library(replies).await;
        let report = if streams {
            run.call(&RECOMMEND).stream().report().await
        } else {
            run.call(&RECOMMEND).report().await
        };
        let report = report.unwrap();
        assert_eq!(
            report.value,
            Advice {
                title: "Deep C".into()
            }
        );
        assert_eq!(
            report.record.attempts[0].response_format,
            Some(ResponseFormat::Tool)
        );
        let bodies = bodies(&server);
        for body in &bodies[..3] {
            assert_eq!(
                (names(body), &body["tool_choice"]),
                (vec!["search", "count", "Advice"], &json!("required"))
            );
        }
        // The last turn.
        let forced = json!({"type": "function", "function": {"name": "Advice"}});
        assert_eq!(
            (&bodies[3]["tools"], &bodies[3]["tool_choice"]),
            (&bodies[0]["tools"], &forced)
        );
        assert!(
            bodies
                .iter()
                .all(|body| body.get("response_format").is_none())
        );
    }
}

#[tokio::test]
async fn an_answer_that_is_not_called_is_taken_as_text() {
    let (_server, run) = library(vec![StubReply::json(json!({"title": "Deep C"}))]).await;
    assert_eq!(run.call(&RECOMMEND).await.unwrap().title, "Deep C");
}

#[tokio::test]
async fn an_endpoint_that_refuses_tools_says_so() {
    let refusal = StubReply::error(
        400,
        "invalid_request_error",
        (),
        "registry.ollama.ai/library/gemma does not support tools",
    );
    let (server, run) = library(vec![refusal]).await;
    let error = run.call(&ASK).await.unwrap_err();
    assert_eq!(
        (error.category(), server.requests().len()),
        (Category::BadRequest, 1)
    );
    assert!(error.to_string().contains("takes no tools"), "{error}");
}

#[tokio::test]
async fn a_refused_tool_choice_is_learned() {
    let refusal = StubReply::error(
        400,
        "invalid_request_error",
        (),
        "tool_choice 'required' is not supported",
    );
    let (server, run) = library(vec![
        refusal,
        StubReply::call("Advice", json!({"title": "Deep C"})),
        StubReply::call("Advice", json!({"title": "Deep C"})),
    ])
    .await;
    let report = run.call(&RECOMMEND).report().await.unwrap();
    assert_eq!(report.record.attempts[1].refused, ["tool_choice"]);
    run.call(&RECOMMEND).await.unwrap();
    let choices: Vec<_> = bodies(&server)
        .iter()
        .map(|body| body["tool_choice"].clone())
        .collect();
    assert_eq!(choices, [json!("required"), Value::Null, Value::Null]);
}

#[tokio::test]
async fn a_call_that_the_server_could_not_read_is_fed_back() {
    let groq = StubReply::raw(
        400,
        json!({"error": {
            "message": "Failed to call a function. Please adjust your prompt. See 'failed_generation' for more details.",
            "type": "invalid_request_error",
            "code": "tool_use_failed",
            "failed_generation": "<function=search>{\"word\" Rust}",
        }})
        .to_string(),
    );
    let (_server, run) = library(vec![
        groq,
        StubReply::call("Advice", json!({"title": "Deep C"})),
    ])
    .await;
    let report = run.call(&RECOMMEND).report().await.unwrap();
    assert_eq!(
        report.record.attempts[0].category,
        Some(Category::SchemaError)
    );
    assert_eq!(kinds(&report.record)[1].as_str(), "correction");
}

#[tokio::test]
async fn tools_in_extra_beside_those_of_the_node_are_refused() {
    let (server, run) = library(vec![]).await;
    let error = run.call(&ASK).extra("tools", json!([])).await.unwrap_err();
    assert_eq!(
        (error.category(), server.requests().len()),
        (Category::ConfigError, 0)
    );
}

#[tokio::test]
async fn of_a_thousand_agents_the_ledger_is_the_servers_log() {
    let server = StubServer::builder()
        .log_limit(0)
        .default_reply(StubReply::for_request(|request| {
            let results = request
                .messages()
                .iter()
                .filter(|(role, _)| role == "tool")
                .count() as u64;
            let reply = match results {
                0 => StubReply::text("")
                    .and_call("search", json!({"word": "Rust"}))
                    .and_call("count", json!({})),
                2 => StubReply::call("nothing", json!({})),
                _ => StubReply::text("Rust in Action."),
            };
            reply.usage(100 + results, 10)
        }));
    let server = server.start().await.unwrap();
    let model = OpenAi::builder()
        .base_url(server.base_url())
        .api_key("sk-test")
        .model("m")
        .build()
        .unwrap();
    let books = vec!["Rust in Action".to_owned()];
    let run = Run::new(model).with_state(Library {
        books,
        ..Library::default()
    });
    let reports = run
        .map((0..1000).map(|_| ASK))
        .concurrency(64)
        .report()
        .await;
    let (total, logged) = (run.ledger().total(), server.usage_totals());
    assert_eq!((total.requests, server.requests_seen()), (3000, 3000));
    assert_eq!(
        (Some(total.input.known), Some(total.output.known)),
        (logged.input, logged.output)
    );
    assert_eq!(total.total.unreported_calls, 0);
    assert_eq!(run.state().log().len(), 2000);
    let each: u64 = reports
        .iter()
        .map(|report| report.as_ref().unwrap().total.total.known)
        .sum();
    assert_eq!(each, total.total.known);
}

/// A server that ignores `required`: what it is asked, and what was run, in the end.
#[tokio::test]
async fn a_model_that_writes_text_where_it_has_to_call_is_free_to_from_then_on() {
    for streams in [false, true] {
        let (server, run) = library(vec![
            StubReply::text("The best book is Deep C."),
            StubReply::text(r#"{"name": "search", "arguments": {"word": "C"}}"#),
            StubReply::text("I found it for you."),
            StubReply::json(json!({"title": "Deep C"})),
        ])
        .await;
        let call = run.call(&RECOMMEND);
        let report = if streams {
            call.stream().report().await
        } else {
            call.report().await
        }
        .unwrap();
        assert_eq!(report.value.title, "Deep C");
        use llmnode::AttemptKind::{Adapted, First, Turn};
        assert_eq!(kinds(&report.record), [First, Adapted, Turn, Adapted]);
        assert_eq!(outcomes(&report.record, 1), ["ok"]);
        assert_eq!(report.record.attempts[0].flags, [llmnode::Flag::FreeChoice]);
        assert_eq!(report.record.attempts[1].refused, ["tool_choice"]);
        let asked: Vec<_> = bodies(&server)
            .iter()
            .map(|body| {
                (
                    names(body).len(),
                    body["tool_choice"].clone(),
                    body.get("response_format").is_some(),
                )
            })
            .collect();
        // Behind the tool's result, the answer is asked for by the response format, with the tools still listed.
        assert_eq!(
            asked,
            [
                (3, json!("required"), false),
                (3, Value::Null, false),
                (3, Value::Null, false),
                (3, json!("none"), true)
            ]
        );
    }
}

#[tokio::test]
async fn of_a_model_that_is_free_the_last_turn_is_a_response_format() {
    let search = || StubReply::text(r#"{"name": "search", "arguments": {"word": "C"}}"#);
    let (server, run) = library(vec![
        StubReply::text("Well."),
        search(),
        search(),
        search(),
        StubReply::json(json!({"title": "Deep C"})),
    ])
    .await;
    assert_eq!(run.call(&RECOMMEND).await.unwrap().title, "Deep C");
    let formats: Vec<_> = bodies(&server)
        .iter()
        .map(|body| body["response_format"]["type"].clone())
        .collect();
    assert_eq!(
        formats,
        [
            Value::Null,
            Value::Null,
            Value::Null,
            Value::Null,
            json!("json_schema")
        ]
    );
}

/// A server that reads no choice but a word takes the name of the answer's function for none, such as llama.cpp.
#[tokio::test]
async fn of_a_server_that_ignores_a_name_the_last_turn_is_a_response_format() {
    for streams in [false, true] {
        let search = || StubReply::call("search", json!({"word": "C"}));
        let answer = || StubReply::json(json!({"title": "Deep C"}));
        let first = [search(), search(), search(), search(), answer()];
        let second = [search(), search(), search(), answer()];
        let (server, run) = library(first.into_iter().chain(second).collect()).await;
        for _ in 0..2 {
            let call = run.call(&RECOMMEND);
            let report = if streams {
                call.stream().report().await
            } else {
                call.report().await
            };
            assert_eq!(report.unwrap().value.title, "Deep C");
        }
        assert_eq!(
            run.state().log().len(),
            6,
            "what the last turn called did not run"
        );
        let asked: Vec<_> = bodies(&server)
            .iter()
            .map(|body| {
                let choice = &body["tool_choice"];
                let choice = choice.as_str().unwrap_or("by name").to_owned();
                (
                    names(body).len(),
                    choice,
                    body.get("response_format").is_some(),
                )
            })
            .collect();
        let turn = || (3, "required".to_owned(), false);
        let by_name = (3, "by name".to_owned(), false);
        let by_format = || (3, "none".to_owned(), true);
        // The tools stay listed, so that the conversation begins as it did.
        assert_eq!(asked[..5], [turn(), turn(), turn(), by_name, by_format()]);
        assert_eq!(asked[5..], [turn(), turn(), turn(), by_format()]);
    }
}

/// What a server answers that reads of a choice only whether something has to be called: a search, until it is asked for text.
fn ignoring_names(api: Api, body: &Value) -> Said {
    let has_format = match api {
        Api::Chat => body.get("response_format").is_some(),
        Api::Responses => body["text"].get("format").is_some(),
        Api::Anthropic => body["output_config"].get("format").is_some(),
        Api::Gemini => !body["generationConfig"]["responseJsonSchema"].is_null(),
    };
    let is_off = match api {
        Api::Chat | Api::Responses => body["tool_choice"] == "none",
        Api::Anthropic => body["tool_choice"]["type"] == "none",
        Api::Gemini => body["toolConfig"]["functionCallingConfig"]["mode"] == "NONE",
    };
    let may_call = !api.functions(body).is_empty() && !has_format && !is_off;
    if may_call {
        said_call("call_1", "search", json!({"word": "C"}))
    } else {
        said_text(r#"{"title": "Deep C"}"#)
    }
}

/// The same on each API: the second call knows it, and asks at once by what the server can be held to.
#[tokio::test]
async fn a_name_that_is_ignored_is_learned_on_each_api() {
    for api in Api::ALL {
        for streams in [false, true] {
            let server = Recorded::answering(move |asked| {
                api.answer(asked, &ignoring_names(api, &asked.body))
            })
            .await;
            let books = vec!["Deep C".to_owned()];
            let run = Run::new(api.model(&server.url)).with_state(Library {
                books,
                ..Library::default()
            });
            let mut requests = Vec::new();
            for _ in 0..2 {
                let call = run.call(&RECOMMEND);
                let report = if streams {
                    call.stream().report().await
                } else {
                    call.report().await
                };
                let report = report.unwrap_or_else(|error| panic!("{api:?}: {error}"));
                assert_eq!(report.value.title, "Deep C");
                requests.push(report.total.requests);
            }
            let searches = run.state().log().len();
            eprintln!("{api:?} {streams} {requests:?} {searches}");
            assert_eq!(
                searches, 6,
                "{api:?}: what the last turn called did not run"
            );
            assert_eq!(requests, [5, 4], "{api:?}");
        }
    }
}

/// Once, out of `retries`; calls of the answer that was cut never run.
#[tokio::test]
async fn an_answer_of_a_node_with_tools_that_was_cut_is_asked_for_once_more() {
    let cut = || StubReply::call("search", json!({"word": "Rust"})).finish_reason("length");
    let (server, run) = library(vec![
        StubReply::call("search", json!({"word": "C"})),
        cut(),
        StubReply::call("Advice", json!({"title": "Deep C"})),
    ])
    .await;
    assert_eq!(run.call(&RECOMMEND).await.unwrap().title, "Deep C");
    let messages = &bodies(&server)[2]["messages"];
    assert_eq!(run.state().log(), ["search C"]);
    assert!(
        messages[4]["content"]
            .as_str()
            .unwrap()
            .contains("was cut at the length limit"),
        "{messages}"
    );

    let (server, run) = library(vec![StubReply::call("search", json!({"word": "C"})), cut()]).await;
    let error = run.call(&RECOMMEND).retries(0).await.unwrap_err();
    assert_eq!(
        (error.category(), server.requests().len()),
        (Category::TruncatedOutput, 2)
    );
}

/// The function for the answer is a call like any other.
#[tokio::test]
async fn an_answer_by_its_function_leaves_the_choice_forced() {
    let answer = || StubReply::text("").and_call("Advice", json!({"title": "Deep C"}));
    let (server, run) = library(vec![answer(), answer()]).await;
    for _ in 0..2 {
        let report = run.call(&RECOMMEND).report().await;
        let record = report
            .as_ref()
            .map_or_else(|error| error.record().unwrap(), |report| &report.record);
        assert!(
            !record.attempts[0]
                .flags
                .contains(&llmnode::Flag::FreeChoice),
            "{:?}",
            record.attempts[0].flags
        );
    }
    let choices: Vec<_> = bodies(&server)
        .iter()
        .map(|body| body["tool_choice"].clone())
        .collect();
    assert!(
        choices.iter().all(|choice| choice == "required"),
        "{choices:?}"
    );
}

#[tokio::test]
async fn a_model_that_has_called_is_not_read_for_calls_in_text() {
    let in_text = json!({"name": "count", "arguments": {}}).to_string();
    let replies = vec![
        StubReply::text(in_text.as_str()),
        StubReply::call("count", json!({})),
        StubReply::text(in_text.as_str()),
        StubReply::text("three"),
    ];
    let (server, run) = library(replies).await;
    assert_eq!(run.call(&ASK).await.unwrap(), in_text);
    assert_eq!(run.state().log(), ["count", "count"]);
    assert_eq!(server.requests().len(), 3);
}
