//! Agents as streams.

use llmnode::{Event, Reply, ScriptedModel};
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
    assert_eq!(seen, ["I ", "look.", "calls count", "call_1 ok", r#"{"title":"#, r#" "Deep C"}"#]);
    assert_eq!(answer.partial(), Some(&json!({"title": "Deep C"})));
    assert_eq!(answer.finish().await.unwrap().title, "Deep C");
}

#[tokio::test]
async fn a_stream_comes_to_the_same_as_a_plain_call() {
    let model = || {
        ScriptedModel::new()
            .reply(Reply::text("").call("search", json!({"word": "Rust"})).call("fly", json!({})))
            .reply(json!({"title": "Perl"}))
            .reply(json!({"title": "Deep C"}))
    };
    let plain = run(model()).call(&RECOMMEND).report().await.unwrap();
    let streamed = run(model()).call(&RECOMMEND).stream().report().await.unwrap();
    assert_eq!(plain.value, streamed.value);
    assert_eq!(kinds(&plain.record), kinds(&streamed.record));
    assert_eq!(outcomes(&plain.record, 0), outcomes(&streamed.record, 0));
    assert_eq!(plain.record.usage().total, streamed.record.usage().total);
}
