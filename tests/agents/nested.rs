//! Nodes as tools, tools as nodes, and the ledgers of both.

use llmnode::prelude::*;
use llmnode::{Category, Limits, Reply, ScriptedModel, TokenUsage};
use serde_json::json;

use super::library::*;

/// Researches a subject on its own.
#[llm_node(tool, system = "You research.", prompt = "About {subject}.", state = Library, tools = [Search, Count], turns = 2, retries = 0)]
struct Research {
    /// What to research.
    subject: String,
}

/// Writes an article.
#[llm_node(tool, prompt = "An article on {title}.", state = Library, tools = [Research, Review])]
struct Write {
    title: String,
}

/// Reviews an article.
#[llm_node(tool, prompt = "A review of {text}.", state = Library, tools = [Write])]
struct Review {
    text: String,
}

#[tokio::test]
async fn an_agent_as_a_tool_sees_its_arguments_alone() {
    let model = ScriptedModel::new()
        .reply(Reply::text("").call("research", json!({"subject": "Rust"})))
        .reply(Reply::text("").call("search", json!({"word": "Rust"})))
        .reply("Rust is in action.")
        .reply("The article.");
    let run = run(model.clone());
    let report = run
        .call(&Write {
            title: "Rust".into(),
        })
        .report()
        .await
        .unwrap();
    assert_eq!(report.value, "The article.");
    let requests = model.requests();
    let said: Vec<_> = requests[1]
        .messages
        .iter()
        .map(|message| message.content.as_str())
        .collect();
    assert_eq!(said, ["You research.", "About Rust."]);
    // Its own `turns` hold: its second response has to be the answer, and the caller's is not the last yet.
    assert!(requests[2].answer_now && !requests[3].answer_now);
    assert_eq!(results(&requests[3]), ["Rust is in action."]);
    assert_eq!(requests[3].messages[2].answers(), Some("call_1"));
    // The call of the tool is a child.
    let calls = run.ledger().calls();
    let child = calls.iter().find(|call| call.node == "research").unwrap();
    assert_eq!(child.parent, Some(report.record.id));
    assert_eq!(report.record.attempts[0].tools[0].call, Some(child.id));
    assert_eq!((child.attempts.len(), report.record.attempts.len()), (2, 2));
}

#[tokio::test]
async fn usage_is_counted_once() {
    let usage = |output| TokenUsage::new(1, output);
    let model = ScriptedModel::new()
        .reply(
            Reply::text("")
                .call("research", json!({"subject": "Rust"}))
                .usage(usage(10)),
        )
        .reply(Reply::text("Found.").usage(usage(100)))
        .reply(Reply::text("The article.").usage(usage(1000)));
    let run = run(model);
    let report = run
        .call(&Write {
            title: "Rust".into(),
        })
        .report()
        .await
        .unwrap();
    assert_eq!(report.record.usage().total.known, 1012);
    assert_eq!(
        (report.total.total.known, report.total.requests),
        (1113, 3),
        "with the calls within"
    );
    assert_eq!(run.ledger().total().total.known, 1113);
}

#[tokio::test]
async fn an_agent_on_the_path_is_not_called_again() {
    let model = ScriptedModel::new()
        .reply(Reply::text("").call("review", json!({"text": "t"})))
        .reply(Reply::text("").call("write", json!({"title": "u"})))
        .reply("A good text.")
        .reply("The article.");
    let run = run(model.clone());
    assert_eq!(
        run.call(&Write { title: "t".into() }).await.unwrap(),
        "The article."
    );
    assert_eq!(
        results(&model.requests()[2]),
        ["not executed: it is already working on this; try another way"]
    );
}

#[tokio::test]
async fn the_model_reads_the_category_of_a_failure_within() {
    let model = ScriptedModel::new()
        .reply(Reply::text("").call("research", json!({"subject": "Rust"})))
        .reply(Reply::error(llmnode::ModelError::new(
            Category::ApiKeyError,
            "the key sk-123 is wrong",
        )))
        .reply("I could not.");
    let run = run(model.clone());
    let report = run
        .call(&Write {
            title: "Rust".into(),
        })
        .report()
        .await
        .unwrap();
    assert_eq!(
        results(&model.requests()[2]),
        ["the tool failed (api_key_error)"]
    );
    assert_eq!(outcomes(&report.record, 0), ["api_key_error"]);
}

#[tokio::test]
async fn a_limit_of_the_run_that_is_reached_within_ends_the_next_request() {
    let model = ScriptedModel::new()
        .reply(Reply::text("").call("research", json!({"subject": "Rust"})))
        .reply(Reply::text("").call("count", json!({})));
    let run = run(model).with_limits(Limits::new().requests(2));
    let error = run
        .call(&Write {
            title: "Rust".into(),
        })
        .await
        .unwrap_err();
    assert_eq!(error.category(), Category::LimitExceeded);
    assert_eq!(outcomes(error.record().unwrap(), 0), ["limit_exceeded"]);
}

#[tokio::test]
async fn a_tool_is_a_node_and_its_function_a_function() {
    let run = run(ScriptedModel::new());
    assert_eq!(
        run.call(&Search { word: "Go".into() }).await.unwrap(),
        ["The Go Book"]
    );
    assert_eq!(
        search("Go".into(), run.state()).await.unwrap(),
        ["The Go Book"]
    );
    let error = run
        .call(&Search {
            word: "Perl".into(),
        })
        .await
        .unwrap_err();
    assert_eq!(error.category(), Category::ExecError);
    assert!(
        error.to_string().contains("no title has the word"),
        "{error}"
    );
}

#[tokio::test]
async fn a_thousand_agents_side_by_side_add_up() {
    let model = ScriptedModel::new().otherwise(|request| {
        if results(request).is_empty() {
            Reply::text("").call("count", json!({}))
        } else {
            Reply::text("three")
        }
    });
    let run = run(model.clone());
    let all = run
        .map((0..1000).map(|_| ASK))
        .concurrency(64)
        .try_all()
        .await
        .unwrap();
    assert!(all.iter().all(|answer| answer == "three"));
    assert_eq!(
        (model.requests().len(), run.state().log().len()),
        (2000, 1000)
    );
    let usage = run.ledger().total();
    assert_eq!((usage.requests, usage.total.unreported_calls), (2000, 0));
}

/// Says under which id it was called.
#[tool]
async fn called_as(cx: &Cx<'_, ()>) -> String {
    cx.call_id().unwrap_or_default()
}

struct Garden;

#[llm_node(prompt = "Call it.", tools = [CalledAs])]
struct WithoutState;

#[llm_node(prompt = "Call it.", tools = [CalledAs], state = Garden)]
struct WithState;

#[tokio::test]
async fn a_tool_whose_context_has_no_state_fits_every_node() {
    let model = ScriptedModel::new()
        .reply(Reply::text("").call("called_as", json!({})))
        .reply("Done.")
        .reply(Reply::text("").call("called_as", json!({})))
        .reply("Done.");
    let run = Run::new(model.clone());
    run.call(&WithoutState).await.unwrap();
    run.with_state(Garden).call(&WithState).await.unwrap();
    let requests = model.requests();
    for request in [1, 3] {
        let id = &requests[request].messages.last().unwrap().content;
        assert!(id.ends_with("/call_1"), "{id}");
    }
}
