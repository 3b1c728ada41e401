//! What a person decides: texts as they were typed, and what a restart keeps.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use llmnode_graph::Registry;
use llmnode_runtime::ext::{AskedReplies, AskedReply, Asks};
use llmnode_runtime::{BoxError, OutputSchema, Question, Reply, ScriptedModel, ToolSpec, Toolset};
use llmnode_serve::{Serve, ServerHandle, serve};
use serde_json::{Value, json};

use crate::client::{Events, Folder, post};

/// An agent with a tool that waits for an approval.
fn bank(folder: &Folder) -> Serve {
    bank_with(folder, paying().require_approval())
}

fn paying() -> Toolset {
    Toolset::new().json_function(
        "pay",
        "Pays.",
        json!({"type": "object", "properties": {"account": {"type": "integer"}, "to": {"type": "string"}}, "required": ["account"]}),
        |arguments: Value| async move { Ok::<_, BoxError>(format!("paid {arguments}")) },
    )
}

fn bank_with(folder: &Folder, tools: Toolset) -> Serve {
    let graph = json!({
        "format": "llmnode/graph", "version": 1, "name": "bank",
        "inputs": {"question": {"type": "string"}, "number": {"type": "integer"}},
        "nodes": [{"id": "payer", "type": "agent", "data": {"prompt": "{{ question }} {{ number }}", "tools": ["pay"], "save_as": "answer"}}],
        "edges": [{"source": "payer", "target": "END"}],
    });
    let registry = Registry::new().tools(tools).build().unwrap();
    serve(registry).file(folder.write(&graph.to_string()))
}

const ACCOUNT: u64 = 90_071_992_547_409_931;

fn asks() -> ScriptedModel {
    let arguments = json!({"account": ACCOUNT, "to": "rent\u{202e}yadot"});
    ScriptedModel::new()
        .reply(Reply::text("").call("pay", arguments))
        .reply("Done.")
}

async fn begun(served: &ServerHandle) -> Events {
    let mut events = Events::open(served).await;
    let inputs = json!({"question": "Pay the rent.", "number": "9007199254740993"});
    let body = json!({"file": 0, "inputs": inputs, "requests": "9"});
    assert_eq!(post(served, "/api/run", &body).await.0, 200);
    events.waiting("data-decide").await;
    events
}

/// The id of the call that waits.
fn call(form: &str) -> String {
    form.split("data-decide=\"")
        .nth(1)
        .unwrap()
        .split('"')
        .next()
        .unwrap()
        .to_owned()
}

async fn decided(served: &ServerHandle, body: Value) -> (u16, String) {
    let form = Events::open(served).await.waiting("data-decide").await;
    let pause = form
        .split("data-pause=\"")
        .nth(1)
        .unwrap()
        .split('"')
        .next()
        .unwrap();
    let mut body = body;
    (body["pause"], body["id"]) = (json!(pause), json!(call(&form)));
    post(served, "/api/decide", &body).await
}

#[tokio::test]
async fn what_stands_in_the_field_is_what_yes_means() {
    let folder = Folder::new("field");
    let model = asks();
    let served = bank(&folder).model(model.clone()).start().await.unwrap();
    let mut events = begun(&served).await;
    let form = Events::open(&served).await.waiting("data-decide").await;
    // Hidden characters are shown, and the number is as it was.
    assert!(
        form.contains("\"account\": 90071992547409931") && form.contains("rent\\u202eyadot"),
        "{form}"
    );
    assert!(
        form.contains("Pay the rent. 9007199254740993"),
        "the conversation stands beside it: {form}"
    );
    // Nothing answers to Enter but No, and all buttons are dead at first.
    assert!(
        form.contains("type=\"button\" value=\"yes\" disabled")
            && form.contains("type=\"submit\" value=\"no\" disabled")
    );
    assert_eq!(form.matches("type=\"submit\"").count(), 1);
    for (text, why) in [
        ("{\"account\": 1", "no JSON"),
        ("[1]", "no JSON object"),
        ("", "no JSON"),
        ("{\"account\": 123456789012345678901}", "more digits"),
        ("{\"account\": 1, \"account\": 99999}", "twice"),
    ] {
        let (status, told) = decided(&served, json!({"answer": "yes", "arguments": text})).await;
        assert!(
            status == 409 && told.contains("nothing is decided") && told.contains(why),
            "{status} {told}"
        );
    }
    let with_reason = json!({"answer": "yes", "arguments": "{\"account\": 5}", "why": "too dear"});
    let (status, told) = decided(&served, with_reason).await;
    assert!(status == 409 && told.contains("belongs to No"), "{told}");
    assert_eq!(model.requests().len(), 1);

    let edit = json!({"answer": "yes", "arguments": format!("{{\"account\": {}}}", ACCOUNT + 2)});
    assert_eq!(decided(&served, edit).await.0, 200);
    events.panel("outcome", "completed").await;
    let told = model.requests()[1].messages.last().unwrap().shown();
    assert!(
        told.contains("paid {\"account\":90071992547409933}"),
        "{told}"
    );
}

/// All that the fields of a form may hold, with each button: what is taken is what stands there, and nothing else.
#[tokio::test]
async fn fields_and_buttons_decide_together() {
    let folder = Folder::new("together");
    let served = bank(&folder).model(asks()).start().await.unwrap();
    begun(&served).await;
    let texts = [
        ("", "no JSON"),
        (" ", "no JSON"),
        ("null", "no JSON object"),
        ("\"yes\"", "no JSON object"),
        ("[{\"account\": 1}]", "no JSON object"),
        ("{\"account\": 1", "no JSON"),
        ("{\"account\": 1} {\"account\": 2}", "no JSON"),
        ("{\"account\": 1,}", "no JSON"),
        ("{'account': 1}", "no JSON"),
        ("{\"account\": 01}", "no JSON"),
        ("{\"account\": NaN}", "no JSON"),
        ("{\"account\": 1e400}", "out of range"),
        ("{\"account\": 18446744073709551616}", "digits"),
        ("{\"account\": 1.00000000000000000001}", "digits"),
        ("{\"account\": 1, \"account\": 99999}", "twice"),
        ("{\"account\": 1, \"acco\\u0075nt\": 99999}", "twice"),
        ("{\"account\": \"one\"}", "does not take that"),
        ("{\"account\": [1, 2]}", "does not take that"),
        ("{\"account\": {}}", "does not take that"),
        ("{\"account\": 1.5}", "does not take that"),
        ("{\"to\": \"x\"}", "does not take that"),
        ("{}", "does not take that"),
        ("// {\"account\": 1}", "no JSON"),
        ("\u{feff}{\"account\": 1", "no JSON"),
    ];
    for answer in ["yes", "edit"] {
        for (text, why) in texts {
            let (status, told) =
                decided(&served, json!({"answer": answer, "arguments": text})).await;
            let is_kept = told.contains("nothing is decided") && told.contains(why);
            assert!(status == 409 && is_kept, "{answer} {text}: {status} {told}");
            // The field of a form is read before the reason, and both are refused.
            let with_reason = json!({"answer": answer, "arguments": text, "why": "too dear"});
            let (status, told) = decided(&served, with_reason).await;
            assert!(
                status == 409 && told.contains("belongs to No"),
                "{answer} {text}: {status} {told}"
            );
        }
    }
    // A result is for a tool without a body.
    for result in ["", "paid", "{\"paid\": true}"] {
        let (status, told) = decided(&served, json!({"answer": "result", "result": result})).await;
        assert_eq!(status, 409, "{told}");
    }
    // With a reason, No is what counts, whatever stands in the arguments.
    let no = json!({"answer": "no", "arguments": "{\"account\": 99999", "why": "too dear"});
    assert_eq!(decided(&served, no).await.0, 200);
    let outcome = Events::open(&served)
        .await
        .panel("outcome", "completed")
        .await;
    assert!(outcome.contains("Done."), "{outcome}");
}

#[tokio::test]
async fn a_result_is_written_and_a_reason_belongs_to_no() {
    let folder = Folder::new("result");
    let model = ScriptedModel::new()
        .reply(Reply::text("").call("ask", json!({"what": "the code"})))
        .reply("Done.");
    let schema = json!({"type": "object", "properties": {"what": {"type": "string"}}});
    let schema = Arc::new(OutputSchema::from_value("ask", schema));
    let ask = Toolset::new().external(ToolSpec::new("ask", "Asks a person.", schema));
    let graph = json!({
        "nodes": [{"id": "asker", "type": "agent", "data": {"prompt": "Go.", "tools": ["ask"], "save_as": "answer"}}],
        "edges": [{"source": "asker", "target": "END"}],
    });
    let registry = Registry::new().tools(ask).build().unwrap();
    let file = folder.write(&graph.to_string());
    let served = serve(registry)
        .file(file)
        .model(model.clone())
        .start()
        .await
        .unwrap();
    let mut events = Events::open(&served).await;
    post(
        &served,
        "/api/run",
        &json!({"file": 0, "inputs": {}, "requests": 9}),
    )
    .await;
    let form = events.waiting("data-decide").await;
    assert!(
        form.contains("type=\"button\" value=\"result\" disabled"),
        "{form}"
    );
    for (body, why) in [
        (
            json!({"answer": "result", "result": ""}),
            "the result is empty",
        ),
        (
            json!({"answer": "result", "result": " \n"}),
            "the result is empty",
        ),
        (
            json!({"answer": "result", "result": "1234", "why": "I will not say"}),
            "belongs to No",
        ),
        (json!({"answer": "yes"}), "another decision"),
        (
            json!({"answer": "yes", "arguments": "{\"what\": \"x\"}"}),
            "another decision",
        ),
    ] {
        let (status, told) = decided(&served, body.clone()).await;
        assert!(
            status == 409 && told.contains(why),
            "{body}: {status} {told}"
        );
    }
    let long = json!({"answer": "result", "result": "123456789012345678901"});
    assert_eq!(decided(&served, long).await.0, 200);
    events.panel("outcome", "completed").await;
    assert_eq!(
        model.requests()[1].messages.last().unwrap().shown(),
        "123456789012345678901"
    );
}

/// They go back as they stand in the field.
#[tokio::test]
async fn long_arguments_are_decided_about() {
    let folder = Folder::new("long");
    let to = "\u{202e}x".repeat(300_000);
    let call = Reply::text("").call("pay", json!({"account": ACCOUNT, "to": to}));
    let model = ScriptedModel::new().reply(call).reply("Done.");
    let served = bank(&folder).model(model.clone()).start().await.unwrap();
    let mut events = begun(&served).await;
    let arguments = format!(
        "{{\n  \"account\": {ACCOUNT},\n  \"to\": \"{}\"\n}}",
        "\\u202ex".repeat(300_000)
    );
    assert_eq!(
        decided(&served, json!({"answer": "yes", "arguments": arguments}))
            .await
            .0,
        200
    );
    events.panel("outcome", "completed").await;
    let told = model.requests()[1].messages.last().unwrap().shown();
    assert!(
        told.starts_with("paid {\"account\":90071992547409931") && told.contains('\u{202e}'),
        "{told}"
    );
}

#[tokio::test]
async fn an_edit_that_is_not_taken_stays_in_the_field() {
    let folder = Folder::new("draft");
    let pay = Toolset::new().function("pay", "Pays.", |amount: u32| async move {
        Ok::<_, BoxError>(format!("{amount} paid"))
    });
    let data = json!({"tool_name": "pay", "arguments": {"value": 5}, "save_as": "paid", "require_approval": true});
    let graph = json!({"nodes": [{"id": "pay-it", "type": "tool", "data": data}], "edges": [{"source": "pay-it", "target": "END"}]});
    let registry = Registry::new().tools(pay).build().unwrap();
    let served = serve(registry)
        .file(folder.write(&graph.to_string()))
        .model(ScriptedModel::new())
        .start()
        .await
        .unwrap();
    let mut events = Events::open(&served).await;
    post(
        &served,
        "/api/run",
        &json!({"file": 0, "inputs": {}, "requests": 9}),
    )
    .await;
    events.waiting("data-pause=\"1.1\"").await;
    assert_eq!(
        decided(
            &served,
            json!({"answer": "yes", "arguments": "{\"value\": \"much\"}"})
        )
        .await
        .0,
        200
    );
    let form = events.waiting("data-pause=\"1.2\"").await;
    assert!(
        form.contains("decide anew") && form.contains("much"),
        "{form}"
    );
    // Yes never means what was there before the edit.
    assert_eq!(decided(&served, json!({"answer": "yes"})).await.0, 409);
    assert_eq!(
        decided(
            &served,
            json!({"answer": "yes", "arguments": "{\"value\": 7}"})
        )
        .await
        .0,
        200
    );
    let outcome = events.panel("outcome", "completed").await;
    assert!(outcome.contains("7 paid"), "{outcome}");
}

#[tokio::test]
async fn inputs_are_read_by_their_schemas() {
    let folder = Folder::new("typed");
    let model = ScriptedModel::new().reply("a").reply("b");
    let served = bank(&folder).model(model.clone()).start().await.unwrap();
    let mut events = Events::open(&served).await;
    for (number, why) in [
        ("123456789012345678901", "more digits"),
        ("five", "number: it is no JSON"),
        ("1.5", "number"),
    ] {
        let body =
            json!({"file": 0, "inputs": {"question": "5", "number": number}, "requests": "9"});
        let (status, told) = post(&served, "/api/run", &body).await;
        assert!(status == 409 && told.contains(why), "{told}");
    }
    for requests in [json!("none"), json!("0"), json!("")] {
        let body =
            json!({"file": 0, "inputs": {"question": "5", "number": "1"}, "requests": requests});
        assert_eq!(post(&served, "/api/run", &body).await.0, 409);
    }
    let body = json!({"file": 0, "inputs": {"question": "5", "number": "9007199254740993"}, "requests": "9"});
    assert_eq!(post(&served, "/api/run", &body).await.0, 200);
    events.panel("outcome", "Run 1").await;
    assert_eq!(post(&served, "/api/run", &json!({"again": 1})).await.0, 200);
    events.panel("outcome", "Run 2").await;
    for request in model.requests() {
        assert_eq!(
            request.messages.last().unwrap().shown(),
            "5 9007199254740993"
        );
    }
}

#[cfg(unix)]
fn mode(path: &Path) -> u32 {
    std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(path).unwrap().permissions()) & 0o777
}

#[tokio::test]
async fn a_run_that_waits_is_there_after_a_restart() {
    let folder = Folder::new("restart");
    let kept = folder.0.join("kept");
    let model = asks().reply("never");
    let first = bank(&folder)
        .model(model.clone())
        .keep(&kept)
        .start()
        .await
        .unwrap();
    let mut events = begun(&first).await;
    // A second server beside it keeps nothing, and says so.
    let second = bank(&folder)
        .model(ScriptedModel::new())
        .keep(&kept)
        .start()
        .await
        .unwrap();
    Events::open(&second)
        .await
        .panel("history", "another server keeps its runs there")
        .await;
    drop((second, first));
    assert!(events.closed().await);
    #[cfg(unix)]
    assert_eq!(
        (mode(&kept), mode(&kept.join("run-1.json"))),
        (0o700, 0o600)
    );

    let again = bank(&folder)
        .model(model.clone())
        .keep(&kept)
        .start()
        .await
        .unwrap();
    let mut events = Events::open(&again).await;
    let form = events.waiting("data-pause=\"1.1\"").await;
    assert!(
        form.contains("90071992547409931") && form.contains("Pay the rent."),
        "{form}"
    );
    assert_eq!(model.requests().len(), 1, "nothing is asked again");
    let yes = json!({"answer": "yes"});
    assert_eq!(decided(&again, yes).await.0, 200);
    let outcome = events.panel("outcome", "completed").await;
    assert!(outcome.contains("Done."), "{outcome}");
    assert_eq!(model.requests().len(), 2);
    drop(again);
    assert!(events.closed().await);

    // It is listed, and nothing waits.
    let last = bank(&folder)
        .model(model.clone())
        .keep(&kept)
        .start()
        .await
        .unwrap();
    let mut events = Events::open(&last).await;
    events
        .until(|event| event["waiting"].as_array().is_some_and(Vec::is_empty))
        .await;
    let history = events.panel("history", "completed").await;
    assert!(history.contains("/pages/"), "{history}");
    let event = Events::open(&last)
        .await
        .until(|event| event.get("now").is_some())
        .await;
    assert!(event["now"].is_null(), "it ended before: {event}");
}

/// Killed between a decision and the end, it must not ask again: the tool may have been executed.
#[tokio::test]
async fn what_was_decided_is_not_asked_again_after_a_restart() {
    let folder = Folder::new("decided-once");
    let kept = folder.0.join("kept");
    let arguments = json!({"account": ACCOUNT});
    let model = ScriptedModel::new()
        .reply(Reply::text("").call("pay", arguments))
        .reply(Reply::never());
    let served = bank(&folder)
        .model(model.clone())
        .keep(&kept)
        .start()
        .await
        .unwrap();
    let mut events = begun(&served).await;
    assert_eq!(decided(&served, json!({"answer": "yes"})).await.0, 200);
    events
        .until(|event| event["append"] == 0 && event["text"].as_str().unwrap().contains("← pay"))
        .await;
    drop(served);
    assert!(events.closed().await);
    let again = bank(&folder)
        .model(model)
        .keep(&kept)
        .start()
        .await
        .unwrap();
    let mut events = Events::open(&again).await;
    events
        .until(|event| event["waiting"].as_array().is_some_and(Vec::is_empty))
        .await;
    events.panel("history", "interrupted").await;
}

#[tokio::test]
async fn a_run_that_waited_over_a_restart_has_the_limit_of_now() {
    let folder = Folder::new("lowered");
    let kept = folder.0.join("kept");
    let model = asks();
    let serve = || bank(&folder).model(model.clone()).keep(&kept);
    let first = serve().start().await.unwrap();
    let mut events = begun(&first).await;
    drop(first);
    assert!(events.closed().await);
    let again = serve().requests(1).start().await.unwrap();
    let mut events = Events::open(&again).await;
    events.waiting("data-decide").await;
    assert_eq!(decided(&again, json!({"answer": "yes"})).await.0, 200);
    // Nothing is left, so nothing runs, and a server with a higher limit goes on.
    events.waiting("requests is 0").await;
    assert_eq!(model.requests().len(), 1);
}

/// As on a full disk: what a run was before its decision must not come back.
#[tokio::test]
async fn a_decision_that_cannot_be_kept_is_not_asked_again_after_a_restart() {
    let folder = Folder::new("full");
    let kept = folder.0.join("kept");
    let model = asks();
    let serve = || bank(&folder).model(model.clone()).keep(&kept);
    let served = serve().start().await.unwrap();
    let mut events = begun(&served).await;
    std::fs::create_dir(kept.join("run-1.json.new")).unwrap();
    assert_eq!(decided(&served, json!({"answer": "yes"})).await.0, 200);
    events.panel("history", "Runs are not kept").await;
    events.panel("outcome", "completed").await;
    drop(served);
    assert!(events.closed().await);
    let again = serve().start().await.unwrap();
    let mut events = Events::open(&again).await;
    events
        .until(|event| event["waiting"].as_array().is_some_and(Vec::is_empty))
        .await;
}

#[tokio::test]
async fn a_decision_runs_nothing_while_a_restart_would_ask_for_it_again() {
    let folder = Folder::new("neither");
    let kept = folder.0.join("kept");
    let model = asks();
    let served = bank(&folder)
        .model(model.clone())
        .keep(&kept)
        .start()
        .await
        .unwrap();
    let mut events = begun(&served).await;
    let file = kept.join("run-1.json");
    std::fs::remove_file(&file).unwrap();
    std::fs::create_dir(&file).unwrap();
    let (status, told) = decided(&served, json!({"answer": "yes"})).await;
    assert!(status == 409 && told.contains("nothing runs"), "{told}");
    assert_eq!(model.requests().len(), 1);
    std::fs::remove_dir(&file).unwrap();
    assert_eq!(decided(&served, json!({"answer": "yes"})).await.0, 200);
    events.panel("outcome", "completed").await;
    assert_eq!(model.requests().len(), 2);
}

#[tokio::test]
async fn a_chain_is_drawn_a_few_times_and_not_for_each_step() {
    let folder = Folder::new("chain");
    let node = |n: usize| json!({"id": format!("n{n}"), "type": "router", "data": {"source": "q", "routes": []}});
    let to = |n: usize| {
        if n < 199 {
            format!("n{}", n + 1)
        } else {
            "END".to_owned()
        }
    };
    let edges: Vec<Value> = (0..200)
        .map(|n| json!({"source": format!("n{n}"), "target": to(n)}))
        .collect();
    let nodes: Vec<Value> = (0..200).map(node).collect();
    let graph = json!({"format": "llmnode/graph", "version": 1, "inputs": {"q": {"type": "string"}}, "nodes": nodes, "edges": edges});
    let registry = Registry::new().build().unwrap();
    let served = serve(registry)
        .file(folder.write(&graph.to_string()))
        .start()
        .await
        .unwrap();
    let mut events = Events::open(&served).await;
    events.panel("graph-0", "no mistakes").await;
    post(
        &served,
        "/api/run",
        &json!({"file": 0, "inputs": {"q": "x"}, "requests": 1}),
    )
    .await;
    let drawn = std::cell::Cell::new(0);
    events
        .until(|event| {
            drawn.set(drawn.get() + u32::from(event["panel"] == "graph-0"));
            event["panel"] == "outcome" && event["html"].as_str().unwrap().contains("completed")
        })
        .await;
    assert!(drawn.get() < 100, "{} drawings of 200 steps", drawn.get());
}

/// What fails behind a tool that has run is no decision that was not taken.
#[tokio::test]
async fn a_failure_behind_what_was_approved_does_not_ask_again() {
    let folder = Folder::new("behind");
    let paid = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&paid);
    let pay = Toolset::new().function("pay", "Pays.", move |amount: u32| {
        counted.fetch_add(1, Ordering::SeqCst);
        async move { Ok::<_, BoxError>(format!("{amount} paid")) }
    });
    let graph = json!({
        "nodes": [
            {"id": "pay-it", "type": "tool", "data": {"tool_name": "pay", "arguments": {"value": 5}, "require_approval": true}},
            {"id": "thank", "type": "agent", "data": {"prompt": "Thank them."}},
        ],
        "edges": [{"source": "pay-it", "target": "thank"}, {"source": "thank", "target": "END"}],
    });
    let registry = Registry::new().tools(pay).build().unwrap();
    // Without a model, which the agent finds out.
    let served = serve(registry)
        .file(folder.write(&graph.to_string()))
        .start()
        .await
        .unwrap();
    let mut events = Events::open(&served).await;
    post(
        &served,
        "/api/run",
        &json!({"file": 0, "inputs": {}, "requests": 9}),
    )
    .await;
    events.waiting("data-pause=\"1.1\"").await;
    assert_eq!(decided(&served, json!({"answer": "yes"})).await.0, 200);
    let is_next = |event: &Value| {
        let waits = event["waiting"]
            .as_array()
            .is_some_and(|all| !all.is_empty());
        waits
            || event["html"]
                .as_str()
                .is_some_and(|html| html.contains("config_error"))
    };
    let next = events.until(is_next).await;
    assert!(next["waiting"].is_null(), "{next}");
    assert_eq!(paid.load(Ordering::SeqCst), 1);
}

/// A tool that asks for an amount before it pays.
fn asking() -> Toolset {
    let schema = json!({
        "type": "object",
        "properties": {
            "euros": {"type": "integer", "maximum": 50, "description": "How much at most."},
            "note": {"type": "string"},
            "receipt": {"type": "boolean"},
        },
        "required": ["euros"],
    });
    Toolset::new().asking_function(
        "pay",
        "Pays.",
        json!({"type": "object"}),
        move |_, replies: Option<AskedReplies>| {
            let schema = schema.clone();
            async move {
                let Some(replies) = replies else {
                    let question = Question::new("How much, <b>please</b>?", schema);
                    let asks = Asks {
                        questions: [("amount".to_owned(), question)].into(),
                        memory: Some("sealed".to_owned()),
                    };
                    return Err(BoxError::from(asks.into_error()));
                };
                Ok(match &replies.replies["amount"] {
                    AskedReply::Answer(answer) => format!("paid by {answer}"),
                    AskedReply::Declined => "not paid".to_owned(),
                })
            }
        },
    )
}

#[tokio::test]
async fn what_a_tool_asks_is_a_form() {
    let folder = Folder::new("asks");
    for (decision, expected) in [
        (
            json!({"answer": "result", "typed": {"euros": "20", "note": "", "receipt": true}}),
            r#"paid by {"euros":20,"receipt":true}"#,
        ),
        (json!({"answer": "no", "why": "too dear"}), "not paid"),
    ] {
        let model = asks();
        let served = bank_with(&folder, asking()).model(model.clone());
        let served = served.start().await.unwrap();
        let mut events = begun(&served).await;
        let form = Events::open(&served).await.waiting("data-decide").await;
        for part in [
            "Asks you: ",
            "How much, &lt;b&gt;please&lt;/b&gt;?",
            "data-name=\"euros\"",
            "How much at most.",
            "data-name=\"receipt\" type=\"checkbox\"",
            "value=\"result\" disabled",
        ] {
            assert!(form.contains(part), "{part}: {form}");
        }
        assert!(!form.contains("sealed"));
        let dear = json!({"answer": "result", "typed": {"euros": "51", "receipt": false}});
        let (status, told) = decided(&served, dear).await;
        assert!(status == 409 && told.contains("schema"), "{status} {told}");
        assert_eq!(model.requests().len(), 1);
        assert_eq!(decided(&served, decision).await.0, 200);
        events.panel("outcome", "completed").await;
        let told = model.requests()[1].messages.last().unwrap().shown();
        assert_eq!(told, expected);
    }
}
