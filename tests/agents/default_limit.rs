//! The limit of an answer that nobody set: of Anthropic's API, which has to be sent one.

use llmnode::prelude::*;
use llmnode::{AttemptKind, Category, Event, Reasoning};
use serde_json::{Value, json};

use crate::apis::{Api, Said, call, text};
use crate::recorded::{Answer, Asked, Recorded, json, refusal};

/// Says how much of it is in stock.
#[tool]
fn stock(item: String) -> usize {
    item.len()
}

#[llm_node(prompt = "Tell.")]
struct Tell;

#[llm_node(prompt = "How many?", output = u8)]
struct Count;

#[llm_node(prompt = "What is there?", tools = [Stock])]
struct Keep;

async fn says(answers: impl IntoIterator<Item = Said>) -> (Recorded, Run<()>) {
    let server = Api::Anthropic.says(answers).await;
    let run = Run::new(Api::Anthropic.model(&server.url));
    (server, run)
}

fn limits(server: &Recorded) -> Vec<u64> {
    server
        .bodies()
        .iter()
        .map(|body| body["max_tokens"].as_u64().unwrap())
        .collect()
}

#[tokio::test]
async fn an_answer_cut_by_the_default_is_asked_once_more_as_a_stream() {
    for (cut, then) in [
        (text("").cut(), text("Much.")),
        (text("Mu").cut(), text("Much.")),
    ] {
        let (server, run) = says([cut, then, text("Again.")]).await;
        let report = run.call(&Tell).report().await.unwrap();
        assert_eq!(report.value, "Much.");
        assert_eq!(limits(&server), [21_000, 32_000]);
        let streamed: Vec<bool> = server
            .bodies()
            .iter()
            .map(|body| body["stream"] == true)
            .collect();
        assert_eq!(streamed, [false, true]);
        let attempts = &report.record.attempts;
        assert_eq!(
            (attempts[0].kind, attempts[1].kind),
            (AttemptKind::First, AttemptKind::Adapted)
        );
        assert_eq!(attempts[0].category, Some(Category::TruncatedOutput));
        assert!(
            attempts[0].message.contains("the default of 21000 tokens"),
            "{}",
            attempts[0].message
        );
        assert_eq!(attempts[1].refused, ["default_limit"]);
        assert_eq!(
            attempts[0].usage.unwrap().output,
            Some(5),
            "it is paid for, and counted"
        );
        // Of this call alone.
        run.call(&Tell).await.unwrap();
        assert_eq!(limits(&server)[2], 21_000);
    }
}

#[tokio::test]
async fn it_is_asked_once_a_call_and_says_whose_limit_it_was() {
    let (server, run) = says([text("1, 2").cut(), text("1, 2, 3").cut()]).await;
    let error = run.call(&Count).await.unwrap_err();
    assert_eq!(
        (error.category(), limits(&server)),
        (Category::TruncatedOutput, vec![21_000, 32_000])
    );
    assert!(
        error
            .to_string()
            .contains("the default of 32000 tokens; set max_tokens"),
        "{error}"
    );

    let (server, run) = says([text("1, 2").cut()]).await;
    let error = run.call(&Count).max_tokens(9).await.unwrap_err();
    assert_eq!(limits(&server), [9]);
    assert!(
        error.to_string().contains("max_tokens = 9; raise it"),
        "{error}"
    );
}

/// A complete document that ends at the limit is an answer.
#[tokio::test]
async fn a_complete_answer_is_taken_as_it_is() {
    let (server, run) = says([text("3").cut()]).await;
    assert_eq!(run.call(&Count).await.unwrap(), 3);
    assert_eq!(limits(&server), [21_000]);
}

#[tokio::test]
async fn a_listener_hears_that_it_begins_anew() {
    let (server, run) = says([text("Mu").cut(), text("Much.")]).await;
    let mut stream = run.call(&Tell).stream();
    let mut heard = Vec::new();
    while let Some(event) = stream.next().await {
        match event {
            Event::Text(piece) => heard.push(piece),
            Event::Restarted { .. } => heard.push("restarted".to_owned()),
            _ => {}
        }
    }
    assert_eq!(heard, ["Mu", "restarted", "Much."]);
    assert_eq!(limits(&server), [21_000, 32_000]);
}

/// A turn with calls that is cut runs nothing, and is asked for again; what ran in turns before stays.
#[tokio::test]
async fn calls_that_are_cut_do_not_run() {
    let pen = || call("toolu_1", "stock", json!({"item": "pen"}));
    let ink = || call("toolu_2", "stock", json!({"item": "ink"}));
    let (server, run) = says([pen(), ink().cut(), ink(), text("Done.")]).await;
    let report = run.call(&Keep).report().await.unwrap();
    assert_eq!(report.value, "Done.");
    let ran: usize = report
        .record
        .attempts
        .iter()
        .map(|attempt| attempt.tools.len())
        .sum();
    assert_eq!(
        (ran, limits(&server)),
        (2, vec![21_000, 21_000, 32_000, 32_000])
    );
}

fn message(content: Value, stop: &str) -> Answer {
    json(
        json!({"type": "message", "model": "m", "content": content, "stop_reason": stop,
        "usage": {"input_tokens": 10, "output_tokens": 5}}),
    )
}

/// Anthropic's own tools would run once more.
#[tokio::test]
async fn a_turn_in_which_a_tool_of_the_provider_ran_is_not_asked_again() {
    let searched = json!([
        {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "pens"}},
        {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}]);
    let server = Recorded::start([message(searched, "max_tokens")]).await;
    let run = Run::new(Api::Anthropic.model(&server.url));
    let error = run.call(&Tell).await.unwrap_err();
    assert_eq!(
        (error.category(), server.bodies().len()),
        (Category::TruncatedOutput, 1)
    );
    assert!(
        error.to_string().contains("the default of 21000 tokens"),
        "{error}"
    );
}

#[tokio::test]
async fn a_full_window_is_not_asked_again() {
    let server = Recorded::start([message(json!([]), "model_context_window_exceeded")]).await;
    let run = Run::new(Api::Anthropic.model(&server.url));
    let error = run.call(&Tell).await.unwrap_err();
    assert_eq!(server.bodies().len(), 1);
    assert!(!error.to_string().contains("default"), "{error}");
}

/// A model that has said that it takes less.
#[tokio::test]
async fn a_maximum_of_the_model_caps_it() {
    let server = Recorded::answering(|asked: &Asked| match asked.body["max_tokens"].as_u64() {
        Some(given) if given > 24_000 => {
            let why = format!(
                "max_tokens: {given} > 24000, which is the maximum allowed number of output tokens for m"
            );
            refusal(400, "invalid_request_error", &why)
        }
        _ => Api::Anthropic.answer(asked, &text("Mu").cut()),
    })
    .await;
    let run = Run::new(Api::Anthropic.model(&server.url));
    assert_eq!(run.call(&Tell).await.unwrap(), "Mu");
    assert_eq!(limits(&server), [21_000, 32_000, 24_000]);
    let report = run.call(&Tell).report().await.unwrap();
    assert_eq!((&*report.value, report.record.attempts.len()), ("Mu", 2));
    assert_eq!(limits(&server)[3..], [21_000, 24_000]);
}

#[tokio::test]
async fn a_budget_of_thoughts_leaves_room_for_the_answer() {
    let (server, run) = says([text("a"), text("b"), text("c")]).await;
    for reasoning in [
        Reasoning::Low,
        Reasoning::Budget(2_000),
        Reasoning::Budget(30_000),
    ] {
        run.call(&Tell).reasoning(reasoning).await.unwrap();
    }
    assert_eq!(limits(&server), [21_000, 21_000, 38_192]);
    assert_eq!(server.bodies()[2]["stream"], true);
}
