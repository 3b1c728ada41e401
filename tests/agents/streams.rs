//! Agents as streams.

use std::sync::{Arc, Mutex};

use llmnode::prelude::*;
use llmnode::{Approval, Event, Reply, ScriptedModel, WaitingCall};
use serde_json::json;

use super::library::*;

#[tokio::test]
async fn text_calls_text() {
    let model = ScriptedModel::new()
        .reply(Reply::pieces(["I ", "look."]).call("count", json!({})))
        .reply(Reply::pieces([r#"{"title":"#, r#" "Deep C"}"#]));
    let run = run(model);
    let mut answer = run.call(&RECOMMEND).stream();
    let mut seen = Vec::new();
    while let Some(event) = answer.next().await {
        seen.push(match &event {
            Event::Text(text) => text.clone(),
            Event::ToolCalls(calls) => {
                assert_eq!(answer.partial(), None);
                format!("calls {}", calls[0].name)
            }
            Event::ToolResult { id, outcome, .. } => format!("{id} {outcome}"),
            other => panic!("{other:?}"),
        });
    }
    assert_eq!(
        seen,
        [
            "I ",
            "look.",
            "calls count",
            "call_1 ok",
            r#"{"title":"#,
            r#" "Deep C"}"#
        ]
    );
    assert_eq!(answer.partial(), Some(&json!({"title": "Deep C"})));
    assert_eq!(answer.finish().await.unwrap().title, "Deep C");
}

#[tokio::test]
async fn a_stream_comes_to_the_same_as_a_plain_call() {
    let model = || {
        ScriptedModel::new()
            .reply(
                Reply::text("")
                    .call("search", json!({"word": "Rust"}))
                    .call("fly", json!({})),
            )
            .reply(json!({"title": "Perl"}))
            .reply(json!({"title": "Deep C"}))
    };
    let plain = run(model()).call(&RECOMMEND).report().await.unwrap();
    let streamed = run(model())
        .call(&RECOMMEND)
        .stream()
        .report()
        .await
        .unwrap();
    assert_eq!(plain.value, streamed.value);
    assert_eq!(kinds(&plain.record), kinds(&streamed.record));
    assert_eq!(outcomes(&plain.record, 0), outcomes(&streamed.record, 0));
    assert_eq!(plain.record.usage().total, streamed.record.usage().total);
}

/// What a tool saw of the stream of its call.
#[derive(Clone, Default)]
struct Screen {
    shown: Arc<Mutex<String>>,
    when_it_ran: Arc<Mutex<Vec<String>>>,
}

/// Looks at the screen.
#[tool]
fn look(screen: &Screen) -> usize {
    let shown = screen.shown.lock().unwrap().clone();
    screen.when_it_ran.lock().unwrap().push(shown);
    1
}

/// Wipes the screen.
#[tool(require_approval)]
fn wipe(screen: &Screen) -> usize {
    let shown = screen.shown.lock().unwrap().clone();
    screen.when_it_ran.lock().unwrap().push(shown);
    0
}

#[llm_node(prompt = "Look.", state = Screen, tools = [Look, Wipe])]
struct Watch {}

async fn shows_calls_before_tools(model: impl llmnode::ChatModel + 'static) {
    let screen = Screen::default();
    let asked = Arc::new(Mutex::new(Vec::new()));
    let (asks, shown) = (Arc::clone(&asked), Arc::clone(&screen.shown));
    let run = Run::new(model)
        .with_state(screen.clone())
        .with_approval(move |_: WaitingCall| {
            asks.lock().unwrap().push(shown.lock().unwrap().clone());
            async { Approval::yes() }
        });
    let mut answer = run.call(&Watch {}).stream();
    while let Some(event) = answer.next().await {
        let word = match event {
            Event::Text(text) => text,
            Event::ToolCalls(calls) => format!(" [{}] ", calls[0].name),
            Event::ToolResult { outcome, .. } => format!("{outcome}. "),
            other => panic!("{other:?}"),
        };
        screen.shown.lock().unwrap().push_str(&word);
    }
    let (first, then) = ("I look. [look] ", "I look. [look] ok. I wipe. [wipe] ");
    assert_eq!(*screen.when_it_ran.lock().unwrap(), [first, then]);
    assert_eq!(*asked.lock().unwrap(), [then]);
    assert_eq!(*screen.shown.lock().unwrap(), format!("{then}ok. Done."));
}

#[tokio::test]
async fn calls_are_shown_before_the_first_tool_runs_or_an_approval_asks() {
    let model = ScriptedModel::new()
        .reply(Reply::text("I look.").call("look", json!({})))
        .reply(Reply::text("I wipe.").call("wipe", json!({})))
        .reply("Done.");
    shows_calls_before_tools(model).await;
}

#[cfg(all(feature = "openai", feature = "stub-server"))]
#[tokio::test]
async fn calls_are_shown_before_the_first_tool_runs_over_sockets() {
    use llmnode::stub_server::{StubReply, StubServer};
    let server = StubServer::builder().script([
        StubReply::text("I look.").and_call("look", json!({})),
        StubReply::text("I wipe.").and_call("wipe", json!({})),
        StubReply::text("Done."),
    ]);
    let server = server.start().await.unwrap();
    let model = llmnode::OpenAi::builder()
        .base_url(server.base_url())
        .api_key("sk-test")
        .model("m");
    shows_calls_before_tools(model.build().unwrap()).await;
}
