//! Names that a model made up, and ids of any origin, in what is sent next: on all APIs, plain and streamed.

use std::collections::HashSet;

use llmnode::prelude::*;
use llmnode::{Category, Message, OpenAi, Paused, ToolCall};
use serde_json::{Value, json};

use crate::apis::{Api, Said, call, text};
use crate::recorded::{Recorded, refusal};

/// Shouts.
#[tool]
fn shout(value: String) -> String {
    value.to_uppercase()
}

/// Sells.
#[tool(require_approval)]
fn sell(value: String) -> String {
    format!("sold {value}")
}

/// Speaks.
#[llm_node(prompt = "Speak.", tools = [Shout, Sell])]
struct Speak;

#[llm_node(prompt = "Go on.")]
struct GoOn {
    #[node(history)]
    before: Vec<Message>,
}

const MADE_UP: [&str; 7] = [
    "multi_tool_use.parallel",
    "shout<|channel|>commentary",
    "$READFILE",
    "run shell cmd",
    "",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "крик",
];

fn shouts(id: &str, name: &str) -> Said {
    call(id, name, json!({"value": "hi"}))
}

fn is_name(name: &str) -> bool {
    (1..=64).contains(&name.len())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

fn is_nine(id: &str) -> bool {
    id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// Each call has one result, with its id, and no id stands twice.
fn paired(api: Api, body: &Value) -> Vec<String> {
    let calls: Vec<String> = api.calls(body).into_iter().map(|(id, _)| id).collect();
    let results: Vec<String> = api.results(body).into_iter().map(|(id, _)| id).collect();
    assert_eq!(calls, results, "{api:?}: {body}");
    assert_eq!(
        calls.iter().collect::<HashSet<_>>().len(),
        calls.len(),
        "{api:?}: {calls:?}"
    );
    calls
}

#[tokio::test]
async fn a_made_up_name_is_kept_and_told_and_sent_as_a_name() {
    for api in Api::ALL {
        for made_up in MADE_UP {
            for streams in [false, true] {
                let server = api
                    .says([shouts("call_a", made_up), text("done"), text("on")])
                    .await;
                let run = Run::new(api.model(&server.url));
                let call = run.call(&Speak);
                let report = if streams {
                    call.stream().report().await
                } else {
                    call.report().await
                }
                .unwrap();
                assert_eq!(report.value, "done");
                let records: Vec<_> = report
                    .record
                    .attempts
                    .iter()
                    .flat_map(|one| &one.tools)
                    .collect();
                assert_eq!(
                    (&*records[0].name, &*records[0].outcome),
                    (made_up, "unknown_tool")
                );
                let before = report.messages.clone();
                run.call(&GoOn { before }).await.unwrap();
                let bodies = server.bodies();
                for body in &bodies[1..] {
                    let calls = api.calls(body);
                    assert!(
                        calls.iter().all(|(_, name)| is_name(name)),
                        "{api:?} {made_up:?}: {calls:?}"
                    );
                    assert_eq!(paired(api, body), ["call_a"]);
                    let told = &api.results(body)[0].1;
                    assert!(
                        told.contains(made_up) && told.contains("the tools are shout"),
                        "{api:?}: {told}"
                    );
                }
                assert_eq!(
                    api.calls(&bodies[1]),
                    api.calls(&bodies[2]),
                    "the same each time"
                );
                if api == Api::Gemini {
                    let parts = bodies[1]["contents"][2]["parts"].as_array().unwrap();
                    assert_eq!(
                        parts[0]["functionResponse"]["name"],
                        api.calls(&bodies[1])[0].1
                    );
                }
            }
        }
    }
}

/// As a program, another library or an older journal wrote it.
#[tokio::test]
async fn ids_that_are_empty_or_stand_twice_become_ids_of_their_own() {
    let round = || {
        let calls = [
            ("a", "shout"),
            ("a", "run it"),
            ("", "shout"),
            ("", "shout"),
        ];
        let calls = calls.map(|(id, name)| ToolCall::new(id, name, "{}"));
        let results = ["a", "a", "", ""].map(|id| Message::tool(id, "HI"));
        [
            Message::user("Speak."),
            Message::assistant("").calling(calls),
        ]
        .into_iter()
        .chain(results)
    };
    let before: Vec<Message> = round().chain(round()).collect();
    for api in Api::ALL {
        let server = api.says([text("a"), text("b")]).await;
        let run = Run::new(api.model(&server.url));
        run.call(&GoOn {
            before: before.clone(),
        })
        .await
        .unwrap();
        let longer = before
            .iter()
            .cloned()
            .chain([Message::assistant("a"), Message::user("And?")])
            .collect();
        run.call(&GoOn { before: longer }).await.unwrap();
        let bodies = server.bodies();
        assert_eq!(paired(api, &bodies[0]).len(), 8);
        assert_eq!(
            paired(api, &bodies[0]),
            paired(api, &bodies[1]),
            "{api:?}: the same all conversation long"
        );
        assert!(api.calls(&bodies[0]).iter().all(|(_, name)| is_name(name)));
    }
}

#[tokio::test]
async fn a_pause_with_made_up_names_go_on() {
    for api in Api::ALL {
        let asks = || shouts("call|1", "run shell cmd").and(shouts("call|2", "sell"));
        let server = api.says([asks(), text("done"), text("done")]).await;
        let run = Run::new(api.model(&server.url));
        let paused = run.call(&Speak).await.unwrap_err().paused().unwrap();
        let stored = serde_json::to_string(&paused).unwrap();
        let paused: Paused = serde_json::from_str(&stored).unwrap();
        let id = paused.waiting()[0].id.clone();
        let decided = paused.decide(&id, llmnode::Approval::yes()).unwrap();
        assert_eq!(run.call(&Speak).approve(decided).await.unwrap(), "done");
        let body = &server.bodies()[1];
        assert_eq!(paired(api, body).len(), 2);
        assert!(
            api.calls(body).iter().all(|(_, name)| is_name(name)),
            "{api:?}"
        );
    }
}

/// Mistral's own words, and those of other servers.
#[tokio::test]
async fn an_id_that_is_refused_for_its_form_becomes_nine_letters() {
    for refused in [
        "Tool call id was call_1 but must be a-z, A-Z, 0-9, with a length of 9.",
        "messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'",
        "Invalid 'messages[1].tool_calls[0].id': string too long. Expected a string with maximum length 40, but got a string with length 41 instead.",
    ] {
        for streams in [false, true] {
            let server = Recorded::answering(move |asked| {
                let body = asked.body.to_string();
                match (body.contains("call_1"), body.contains("\"tool\"")) {
                    (true, _) => refusal(400, "invalid_request_error", refused),
                    (_, false) => Api::Chat.answer(asked, &shouts("call_1", "shout")),
                    (_, true) => Api::Chat.answer(asked, &text("done")),
                }
            })
            .await;
            let run = Run::new(Api::Chat.model(&server.url));
            let call = run.call(&Speak);
            let report = if streams {
                call.stream().report().await
            } else {
                call.report().await
            }
            .unwrap();
            assert_eq!(
                (&*report.value, report.record.attempts.len()),
                ("done", 3),
                "{refused}"
            );
            assert_eq!(report.record.attempts[2].refused, ["tool_call_id"]);
            assert!(
                paired(Api::Chat, &server.bodies()[2])
                    .iter()
                    .all(|id| is_nine(id))
            );
            // From then on without a refusal, and with the same ids.
            run.call(&GoOn {
                before: report.messages,
            })
            .await
            .unwrap();
            let bodies = server.bodies();
            assert_eq!(
                (bodies.len(), paired(Api::Chat, &bodies[3])),
                (4, paired(Api::Chat, &bodies[2]))
            );
        }
    }
}

#[tokio::test]
async fn a_result_that_is_missing_is_no_matter_of_an_ids_form() {
    let missing = "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'.";
    let server = Recorded::answering(move |_| refusal(400, "invalid_request_error", missing)).await;
    let run = Run::new(Api::Chat.model(&server.url));
    let error = run.call(&Speak).await.unwrap_err();
    assert_eq!(
        (error.category(), server.bodies().len()),
        (Category::BadRequest, 1)
    );
}

/// After a fallback from another provider: nine letters and digits from the first request on.
#[tokio::test]
async fn mistral_gets_its_form_unasked() {
    let before = vec![
        Message::user("Speak."),
        Message::assistant("").calling([
            ToolCall::new("toolu_01A", "shout", "{}"),
            ToolCall::new("Ab3Ab3Ab3", "shout", "{}"),
        ]),
        Message::tool("toolu_01A", "HI"),
        Message::tool("Ab3Ab3Ab3", "HI"),
    ];
    let server = Api::Chat.says([text("done")]).await;
    let model = OpenAi::mistral()
        .base_url(&server.url)
        .api_key("k")
        .model("m")
        .build()
        .unwrap();
    Run::new(model).call(&GoOn { before }).await.unwrap();
    let ids = paired(Api::Chat, &server.bodies()[0]);
    assert!(
        ids.iter().all(|id| is_nine(id)) && ids[1] == "Ab3Ab3Ab3",
        "{ids:?}"
    );
}
