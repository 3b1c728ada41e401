//! What goes back with each message of the assistant, and what stays the same in all turns: on all APIs, plain and streamed.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use llmnode::journal::JournalFile;
use llmnode::prelude::*;
use llmnode::{
    Anthropic, ApiKind, BoxFuture, ChatModel, Completion, Message, ModelError, Request, Sink,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::apis::{Api, SIGNATURE, Said, call, text};
use crate::recorded::{Asked, Recorded, refusal};

/// Says how much of it is in stock.
#[tool]
fn stock(item: String) -> usize {
    item.len()
}

#[llm_output]
#[derive(Debug, PartialEq)]
struct Count {
    count: u8,
}

/// Keeps a shop.
#[llm_node(prompt = "What is there?", tools = [Stock], turns = 2)]
struct Keep;

/// Counts.
#[llm_node(prompt = "How many?", tools = [Stock], output = Count, turns = 2)]
struct CountThem;

#[llm_node(prompt = "How many?", output = u8, retries = 1)]
struct Guess;

#[llm_node(prompt = "Go on.")]
struct GoOn {
    #[node(history)]
    before: Vec<Message>,
}

#[llm_node(prompt = "Greet.")]
struct Greet;

fn stock_of(item: &str) -> Said {
    call("call_a", "stock", json!({"item": item}))
}

async fn report<T: 'static>(call: llmnode::Call<'_, T>, streams: bool) -> llmnode::CallReport<T> {
    if streams {
        call.stream().report().await.unwrap()
    } else {
        call.report().await.unwrap()
    }
}

#[tokio::test]
async fn a_final_answer_keeps_its_thoughts_in_a_history() {
    for api in Api::ALL {
        for streams in [false, true] {
            let server = api
                .says([
                    text("Hello."),
                    stock_of("pen"),
                    text("Three."),
                    text("a"),
                    text("b"),
                ])
                .await;
            let run = Run::new(api.model(&server.url));
            let greeted = report(run.call(&Greet), streams).await;
            let kept = report(run.call(&Keep), streams).await;
            let first = vec![Message::user("Greet."), greeted.message().unwrap()];
            let mut second = kept.messages.clone();
            second.push(kept.message().unwrap());
            // As stored and read again.
            let second: Vec<Message> =
                serde_json::from_str(&serde_json::to_string(&second).unwrap()).unwrap();
            run.call(&GoOn { before: first }).await.unwrap();
            run.call(&GoOn { before: second }).await.unwrap();
            let bodies = server.bodies();
            assert!(
                api.has_thought_at(&bodies[3], "Hello."),
                "{api:?} {streams}: {}",
                bodies[3]
            );
            assert!(
                api.has_thought_at(&bodies[4], "Three."),
                "{api:?} {streams}: {}",
                bodies[4]
            );
        }
    }
}

#[tokio::test]
async fn a_typed_answer_written_anew_keeps_its_thoughts() {
    #[llm_node(prompt = "How many?", output = Count)]
    struct Plain;

    for api in Api::ALL {
        let server = api.says([text(r#"{ "count": 3 }"#), text("on")]).await;
        let run = Run::new(api.model(&server.url));
        let answer = run.call(&Plain).report().await.unwrap().message().unwrap();
        assert_eq!(answer.content, r#"{"count":3}"#);
        run.call(&GoOn {
            before: vec![Message::user("How many?"), answer],
        })
        .await
        .unwrap();
        let body = &server.bodies()[1];
        assert!(
            api.has_thought_at(body, r#"{"count":3}"#),
            "{api:?}: {body}"
        );
    }
}

#[tokio::test]
async fn a_rejected_answer_goes_back_with_its_thoughts() {
    for api in Api::ALL {
        for streams in [false, true] {
            let server = api.says([text("many"), text("3")]).await;
            let run = Run::new(api.model(&server.url));
            assert_eq!(report(run.call(&Guess), streams).await.value, 3);
            let body = &server.bodies()[1];
            assert!(
                api.has_thought_at(body, "many"),
                "{api:?} {streams}: {body}"
            );
        }
    }
}

/// DeepSeek: the answer by its function goes back as a text, and the model's reasoning with it.
#[tokio::test]
async fn an_answer_by_its_function_that_is_rejected_keeps_its_thoughts() {
    let wrong = || call("call_a", "Count", json!({"count": 3000}));
    for (api, has_thought) in [
        (Api::Chat, r#""reasoning_content":"Hm.""#),
        (Api::Anthropic, SIGNATURE),
    ] {
        let server = api
            .says([wrong(), call("call_b", "Count", json!({"count": 3}))])
            .await;
        let run = Run::new(api.model(&server.url));
        assert_eq!(run.call(&CountThem).retries(1).await.unwrap().count, 3);
        let body = server.bodies()[1].to_string();
        assert!(body.contains(has_thought), "{api:?}: {body}");
    }
}

/// A server that wants the reasoning back, as DeepSeek does: a second turn without it is refused.
#[tokio::test]
async fn deepseek_takes_the_second_turn() {
    let server = Recorded::answering(|asked| {
        let turns = asked.body["messages"].as_array().unwrap();
        let mut own = turns.iter().filter(|turn| turn["role"] == "assistant");
        match own.all(|turn| turn["reasoning_content"] == "Hm.") {
            true => Api::Chat.answer(asked, &text("Hello.")),
            false => {
                let why =
                    "The `reasoning_content` in the thinking mode must be passed back to the API.";
                refusal(400, "invalid_request_error", why)
            }
        }
    })
    .await;
    let run = Run::new(Api::Chat.model(&server.url));
    let mut history = vec![
        Message::user("Greet."),
        run.call(&Greet).report().await.unwrap().message().unwrap(),
    ];
    for _ in 0..2 {
        let next = run
            .call(&GoOn {
                before: history.clone(),
            })
            .report()
            .await
            .unwrap();
        history.extend([Message::user("Go on."), next.message().unwrap()]);
    }
    assert_eq!(server.bodies().len(), 3);
}

/// Cerebras and Mistral, where the conversation came through another host: learned once for the model.
#[tokio::test]
async fn a_server_that_refuses_reasoning_in_turns_gets_none() {
    let server = Recorded::answering(|asked| {
        if asked.body.to_string().contains("reasoning_content") {
            let why = "body.messages.1.assistant.reasoning_content: Extra inputs are not permitted";
            return refusal(422, "invalid_request_error", why);
        }
        Api::Chat.answer(asked, &text("Hello."))
    })
    .await;
    let run = Run::new(Api::Chat.model(&server.url));
    let before = vec![
        Message::user("Greet."),
        run.call(&Greet).report().await.unwrap().message().unwrap(),
    ];
    for requests in [2, 1] {
        let report = run
            .call(&GoOn {
                before: before.clone(),
            })
            .report()
            .await
            .unwrap();
        assert_eq!(report.record.attempts.len(), requests);
        assert_eq!(report.record.attempts.last().unwrap().refused, ["carried"]);
    }
}

/// A call that a server did not recognise: what was thought before it goes back with it.
#[tokio::test]
async fn a_call_in_text_keeps_the_thoughts_before_it() {
    let written = text(r#"<tool_call>{"name": "stock", "arguments": {"item": "pen"}}</tool_call>"#);
    let server = Api::Chat.says([written, text("Three.")]).await;
    let run = Run::new(Api::Chat.model(&server.url));
    assert_eq!(run.call(&Keep).await.unwrap(), "Three.");
    let turn = &server.bodies()[1]["messages"][1];
    assert_eq!(
        (
            &turn["reasoning_content"],
            turn["tool_calls"].as_array().unwrap().len()
        ),
        (&json!("Hm."), 1)
    );
}

#[derive(Default, Serialize, Deserialize)]
struct World {
    guessed: u8,
}

#[llm_node(prompt = "How many?", output = u8, retries = 1, transport_retries = 0, state = World, store = guessed)]
struct GuessForFlow {}

flow! { Guessing(World): GuessForFlow => end }

/// Answers once, and then never.
struct Halting {
    model: Arc<dyn ChatModel>,
    asked: AtomicUsize,
    halted: Arc<Notify>,
}

impl ChatModel for Halting {
    fn complete<'a>(
        &'a self,
        request: &'a Request,
        sink: &'a mut dyn Sink,
    ) -> BoxFuture<'a, Result<Completion, ModelError>> {
        if self.asked.fetch_add(1, Ordering::Relaxed) == 0 {
            return self.model.complete(request, sink);
        }
        self.halted.notify_one();
        Box::pin(std::future::pending())
    }

    fn model(&self) -> Option<&str> {
        self.model.model()
    }
}

/// The process ends between a bad answer and its correction.
#[tokio::test]
async fn a_rejected_answer_from_a_journal_goes_back_with_its_thoughts() {
    for api in Api::ALL {
        let journal = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"))
            .join(format!("llmnode-rejected-{api:?}-{}", std::process::id()));
        let _ = std::fs::remove_file(&journal);
        let server = api.says([text("many"), text("3")]).await;
        let halted = Arc::new(Notify::new());
        let model = Halting {
            model: api.model(&server.url),
            asked: AtomicUsize::new(0),
            halted: halted.clone(),
        };
        let mut first = Run::new(model).with_state(World::default());
        tokio::select! {
            ended = first.flow(Guessing).resume(JournalFile::open(&journal).unwrap()) => {
                panic!("{:?}", ended.map(|_| ()).unwrap_err())
            }
            () = halted.notified() => {}
        }
        drop(first);
        let mut again = Run::new(api.model(&server.url)).with_state(World::default());
        again
            .flow(Guessing)
            .resume(JournalFile::open(&journal).unwrap())
            .await
            .unwrap();
        assert_eq!(again.state().guessed, 3);
        let bodies = server.bodies();
        assert_eq!(bodies.len(), 2);
        assert!(
            api.has_thought_at(&bodies[1], "many"),
            "{api:?}: {}",
            bodies[1]
        );
        std::fs::remove_file(journal).unwrap();
    }
}

/// What stands before the conversation: instructions and functions, for Claude also how types are asked for.
fn beginning(api: Api, body: &Value) -> Value {
    let names: &[&str] = match api {
        Api::Chat => &["tools"],
        Api::Responses => &["tools", "instructions"],
        Api::Anthropic => &["tools", "system", "output_config", "thinking"],
        Api::Gemini => &["tools", "systemInstruction"],
    };
    let own = names
        .iter()
        .map(|name| ((*name).to_owned(), body[*name].clone()));
    let mut beginning: serde_json::Map<String, Value> = own.collect();
    if api == Api::Chat {
        beginning.insert("first".to_owned(), body["messages"][0].clone());
    }
    Value::Object(beginning)
}

fn is_forced(api: Api, body: &Value, function: &str) -> bool {
    match api {
        Api::Chat => body["tool_choice"]["function"]["name"] == function,
        Api::Responses | Api::Anthropic => body["tool_choice"]["name"] == function,
        Api::Gemini => {
            body["toolConfig"]["functionCallingConfig"]["allowedFunctionNames"] == json!([function])
        }
    }
}

fn may_not_call(api: Api, body: &Value) -> bool {
    match api {
        Api::Chat | Api::Responses => body["tool_choice"] == "none",
        Api::Anthropic => body["tool_choice"]["type"] == "none",
        Api::Gemini => body["toolConfig"]["functionCallingConfig"]["mode"] == "NONE",
    }
}

#[tokio::test]
async fn the_last_turn_lists_what_the_others_list_and_forces_the_answer() {
    for api in Api::ALL {
        for streams in [false, true] {
            let answer = call("call_b", "Count", json!({"count": 3}));
            let server = api.says([stock_of("pen"), answer]).await;
            let run = Run::new(api.model(&server.url));
            assert_eq!(report(run.call(&CountThem), streams).await.value.count, 3);
            let bodies = server.bodies();
            assert_eq!(api.functions(&bodies[0]), ["stock", "Count"], "{api:?}");
            assert_eq!(
                beginning(api, &bodies[1]),
                beginning(api, &bodies[0]),
                "{api:?}"
            );
            let before = api.conversation(&bodies[0]);
            assert_eq!(
                api.conversation(&bodies[1])[..before.len()],
                before[..],
                "{api:?}"
            );
            assert!(
                is_forced(api, &bodies[1], "Count"),
                "{api:?}: {}",
                bodies[1]
            );
        }
    }
}

/// A model that cannot be forced is asked by a response format, Claude in words at the end.
#[tokio::test]
async fn the_last_turn_of_a_model_that_is_not_forced_keeps_its_beginning_too() {
    for api in Api::ALL {
        let mut answers = 0;
        let server = Recorded::answering(move |asked| {
            let choice =
                asked.body["tool_choice"].to_string() + &asked.body["toolConfig"].to_string();
            if ["required", "\"any\"", "ANY", "\"tool\"", "\"function\""]
                .iter()
                .any(|forced| choice.contains(forced))
            {
                return refusal(
                    400,
                    "invalid_request_error",
                    "tool_choice is not supported with this model",
                );
            }
            answers += 1;
            let said = if answers == 1 {
                stock_of("pen")
            } else {
                text(r#"{"count": 3}"#)
            };
            api.answer(asked, &said)
        })
        .await;
        let run = Run::new(api.model(&server.url));
        let report = run.call(&CountThem).report().await.unwrap();
        assert_eq!(report.value.count, 3);
        let bodies = server.bodies();
        assert_eq!(bodies.len(), 3, "{api:?}");
        assert_eq!(api.functions(&bodies[2]), ["stock", "Count"], "{api:?}");
        assert_eq!(
            beginning(api, &bodies[2]),
            beginning(api, &bodies[1]),
            "{api:?}"
        );
        assert!(may_not_call(api, &bodies[2]), "{api:?}: {}", bodies[2]);
        let last = api.conversation(&bodies[2]).last().unwrap().to_string();
        assert!(last.contains("Answer now"), "{api:?}: {last}");
        assert_eq!(last.contains("count"), api == Api::Anthropic, "{last}");
    }
}

const BOUND: &str = "messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation. Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to \"drop_block\". That setting requires the `thinking-binding-controls-2026-08-01` value in the `anthropic-beta` header. The `system` prompt differs from the one this block was created with.";

fn drops_block(asked: &Asked) -> bool {
    asked.body["thinking"]["block_binding"]["prefix_mismatch_behavior"] == "drop_block"
        && asked.head.contains("thinking-binding-controls-2026-08-01")
}

/// A server whose thoughts are bound to another beginning. `takes`: whether it knows the remedy.
async fn bound(takes: bool) -> Recorded {
    Recorded::answering(move |asked| {
        let is_bound = asked.body.to_string().contains(SIGNATURE);
        match (is_bound, drops_block(asked)) {
            (true, true) if takes => Api::Anthropic.answer(asked, &text("on")),
            (true, _) => refusal(400, "invalid_request_error", BOUND),
            (false, _) => Api::Anthropic.answer(asked, &text("on")),
        }
    })
    .await
}

fn with_thought() -> Vec<Message> {
    let stored = json!([
        {"role": "user", "content": "Greet."},
        {"role": "assistant", "content": "Hello.", "carried": {"from": "anthropic/m", "parts": [
            {"other": json!({"type": "thinking", "thinking": "Hm.", "signature": SIGNATURE}).to_string()},
            {"text": {"bytes": 6}}]}},
    ]);
    serde_json::from_value(stored).unwrap()
}

#[tokio::test]
async fn thoughts_bound_to_another_beginning_are_dropped_by_the_provider() {
    for streams in [false, true] {
        let server = bound(true).await;
        let model = Anthropic::builder()
            .base_url(&server.url)
            .model("m")
            .header("anthropic-beta", "mine")
            .build();
        let run = Run::new(model.unwrap());
        let report = report(
            run.call(&GoOn {
                before: with_thought(),
            }),
            streams,
        )
        .await;
        assert_eq!((&*report.value, report.record.attempts.len()), ("on", 2));
        assert_eq!(report.record.attempts[1].refused, ["bound_thoughts"]);
        let asked = server.asked();
        assert!(
            asked[0].body.get("thinking").is_none() && !asked[0].head.contains("binding"),
            "only on refusal"
        );
        assert!(
            asked[1]
                .head
                .contains("anthropic-beta: mine,thinking-binding-controls-2026-08-01"),
            "{}",
            asked[1].head
        );
        assert_eq!(asked[1].body["thinking"]["type"], "adaptive");
        assert!(
            asked[1].body.to_string().contains(SIGNATURE),
            "the provider drops what is stale, and no more"
        );
    }
}

#[tokio::test]
async fn where_that_is_refused_too_all_thoughts_are_left_out() {
    let server = bound(false).await;
    let run = Run::new(Api::Anthropic.model(&server.url));
    let report = run
        .call(&GoOn {
            before: with_thought(),
        })
        .report()
        .await
        .unwrap();
    assert_eq!((&*report.value, report.record.attempts.len()), ("on", 3));
    assert!(!server.bodies()[2].to_string().contains(SIGNATURE));
    assert!(!drops_block(&server.asked()[2]));
}

#[llm_node(prompt = "What is there?", tools = [Stock])]
struct Search;

/// Google's own tools, and functions, in one request.
#[tokio::test]
async fn googles_own_tools_stand_beside_functions() {
    for streams in [false, true] {
        let server = Recorded::answering(|asked| {
            let marked = asked.body["toolConfig"]["includeServerSideToolInvocations"] == true;
            let (own, functions) = (asked.body.to_string().contains("googleSearch"), asked.body["tools"].to_string());
            match own && functions.contains("functionDeclarations") && !marked {
                false => Api::Gemini.answer(asked, &text("Three.")),
                true => refusal(400, "INVALID_ARGUMENT", "Please enable tool_config.include_server_side_tool_invocations to use Built-in tools with Function calling."),
            }
        })
        .await;
        let run = Run::new(Api::Gemini.model(&server.url));
        let search = json!([{"googleSearch": {}}]);
        let beside = run
            .call(&Search)
            .extra_on(ApiKind::Gemini, "tools", search.clone());
        assert_eq!(report(beside, streams).await.record.attempts.len(), 1);
        let alone = run
            .call(&Greet)
            .extra_on(ApiKind::Gemini, "tools", search.clone());
        assert_eq!(report(alone, streams).await.record.attempts.len(), 1);
        report(run.call(&Search), streams).await;
        let marks = server
            .bodies()
            .into_iter()
            .map(|body| body["toolConfig"].clone())
            .collect::<Vec<_>>();
        assert_eq!(
            marks,
            [
                json!({"includeServerSideToolInvocations": true}),
                Value::Null,
                Value::Null
            ]
        );
    }
}

#[tokio::test]
async fn a_server_that_does_not_know_the_mark_gets_none() {
    let server = Recorded::answering(|asked| match asked.body.to_string().contains("includeServerSide") {
        false => Api::Gemini.answer(asked, &text("Three.")),
        true => refusal(400, "INVALID_ARGUMENT", "Invalid JSON payload received. Unknown name \"includeServerSideToolInvocations\" at 'tool_config': Cannot find field."),
    })
    .await;
    let run = Run::new(Api::Gemini.model(&server.url));
    for requests in [2, 1] {
        let call =
            run.call(&Search)
                .extra_on(ApiKind::Gemini, "tools", json!([{"googleSearch": {}}]));
        let report = call.report().await.unwrap();
        assert_eq!(report.record.attempts.len(), requests);
        assert_eq!(
            report.record.attempts.last().unwrap().refused,
            ["includeServerSideToolInvocations"]
        );
    }
}
