//! Tools that are known at run time, and images in results.

use std::sync::Arc;

use llmnode::prelude::*;
use llmnode::{
    Approval, Category, DynNode, Image, OutputSchema, Reply, ScriptedModel, ToolReply, ToolSpec,
    Toolset,
};
use serde_json::{Value, json};

use super::library::results;

#[llm_output]
struct Sum {
    /// The first number.
    a: i64,
    b: i64,
}

fn tools() -> Toolset {
    let add = |Sum { a, b }| async move { a.checked_add(b).ok_or("too large") };
    let shout = |text: String| async move { Ok::<_, BoxError>(text.to_uppercase()) };
    Toolset::new()
        .function("add", "Adds.", add)
        .function("shout", "Shouts.", shout)
}

/// Counts the letters of a text.
#[tool]
fn letters(text: &str) -> usize {
    text.chars().count()
}

/// Calculates.
#[llm_node(prompt = "{question}", tools = [Letters], turns = 3)]
struct Calculate {
    question: &'static str,
    #[node(tools)]
    more: Toolset,
}

#[tokio::test]
async fn functions_stand_beside_tools_that_the_compiler_knows() {
    let calls = Reply::text("")
        .call("add", json!({"a": 1, "b": 2}))
        .call("add", json!({"a": "x"}))
        .call("add", json!({"a": i64::MAX, "b": 1}))
        .call("shout", json!({"value": "hi"}))
        .call("letters", json!({"text": "four"}))
        .call("shout", json!(7));
    let model = ScriptedModel::new().reply(calls).reply("3");
    let run = Run::new(model.clone());
    let node = Calculate {
        question: "What is 1 + 2?",
        more: tools(),
    };
    let report = run.call(&node).report().await.unwrap();
    assert_eq!(report.value, "3");
    let requests = model.requests();
    let listed: Vec<_> = requests[0]
        .tools
        .iter()
        .map(|tool| (&*tool.name, &*tool.description))
        .collect();
    assert_eq!(
        listed,
        [
            ("letters", "Counts the letters of a text."),
            ("add", "Adds."),
            ("shout", "Shouts.")
        ]
    );
    assert!(
        requests[0].tools[1]
            .schema
            .plain()
            .get()
            .contains("The first number.")
    );
    let told = results(&requests[1]);
    assert_eq!(
        (told[0], told[2], told[3], told[4]),
        ("3", "too large", "HI", "4")
    );
    assert!(
        told[1].contains("These arguments were not accepted") && told[1].contains('b'),
        "{}",
        told[1]
    );
    assert!(told[5].contains("not a JSON object"), "{}", told[5]);
    // Each has a call of its own.
    let calls: Vec<_> = run
        .ledger()
        .calls()
        .iter()
        .map(|call| call.node.to_string())
        .collect();
    assert_eq!(calls.iter().filter(|node| *node == "add").count(), 2);
}

#[tokio::test]
async fn two_tools_of_one_name_are_refused_before_the_first_request() {
    let model = ScriptedModel::new();
    let more = tools().with(
        Toolset::new().function("letters", "Letters.", |_: Sum| async { Ok::<_, String>(1) }),
    );
    let error = Run::new(model.clone())
        .call(&Calculate {
            question: "?",
            more,
        })
        .await
        .unwrap_err();
    assert_eq!(
        (error.category(), model.requests().len()),
        (Category::ConfigError, 0)
    );
    assert!(
        error
            .message()
            .contains(r#"two tools are called "letters""#),
        "{error}"
    );
}

#[tokio::test]
async fn a_function_may_need_an_approval() {
    let model = ScriptedModel::new()
        .reply(Reply::text("").call("add", json!({"a": 1, "b": 2})))
        .reply("3");
    let run = Run::new(model.clone())
        .with_approval(|_| async { Approval::edit(json!({"a": 2, "b": 2})) });
    let node = Calculate {
        question: "?",
        more: tools().require_approval(),
    };
    run.call(&node).await.unwrap();
    assert_eq!(results(&model.requests()[1]), ["4"]);
}

/// A set says so of all its tools, whatever each is made of.
#[tokio::test]
async fn a_tool_of_a_type_needs_the_approval_of_its_set() {
    let model = ScriptedModel::new()
        .reply(Reply::text("").call("letters", json!({"text": "abc"})))
        .reply("2");
    let run =
        Run::new(model.clone()).with_approval(|_| async { Approval::edit(json!({"text": "ab"})) });
    let counting = Toolset::new().tool::<Letters>();
    let agent = DynNode::builder("agent")
        .text()
        .tools(counting.require_approval())
        .build()
        .unwrap();
    run.call(&agent.ask("?")).await.unwrap();
    assert_eq!(results(&model.requests()[1]), ["2"]);
}

#[tokio::test]
async fn the_program_answers_a_tool_without_a_body() {
    let schema = json!({"type": "object", "properties": {"question": {"type": "string"}}});
    let spec = ToolSpec::new(
        "ask_user",
        "Asks.",
        Arc::new(OutputSchema::from_value("ask_user", schema)),
    );
    let node = Calculate {
        question: "?",
        more: Toolset::new().external(spec),
    };
    let calls = Reply::text("")
        .call("ask_user", json!({"question": "Who?"}))
        .call("letters", json!({"text": "a"}));
    let error = Run::new(ScriptedModel::new().reply(calls))
        .call(&node)
        .await
        .unwrap_err();
    let paused = error.paused().unwrap();
    let waiting = &paused.waiting()[0];
    assert!(waiting.wants_result);
    assert_eq!(
        (&*waiting.name, &*waiting.arguments),
        ("ask_user", r#"{"question":"Who?"}"#)
    );
    assert_eq!(
        paused
            .clone()
            .decide("call_1", Approval::yes())
            .unwrap_err()
            .category(),
        Category::ConfigError
    );
    for (answer, read) in [
        (json!("Ada"), "Ada"),
        (json!({"name": "Ada"}), r#"{"name":"Ada"}"#),
    ] {
        let model = ScriptedModel::new().reply("Ada.");
        let answered = paused.clone().answer("call_1", answer).unwrap();
        Run::new(model.clone())
            .call(&node)
            .approve(answered)
            .await
            .unwrap();
        assert_eq!(results(&model.requests()[0]), [read, "1"]);
    }
}

#[tokio::test]
async fn a_primitive_has_tools_and_turns() {
    let agent = DynNode::builder("agent")
        .output::<Value>()
        .tools(tools())
        .turns(2)
        .build()
        .unwrap();
    let call = || Reply::text("").call("add", json!({"a": 1, "b": 2}));
    let model = ScriptedModel::new().reply(call()).reply("3");
    assert_eq!(
        Run::new(model.clone()).call(&agent.ask("?")).await.unwrap(),
        json!(3)
    );
    assert!(model.requests()[1].answer_now, "the second of two turns");
    for (builder, why) in [
        (
            DynNode::builder("a").output::<Value>().turns(3),
            "there are none",
        ),
        (
            DynNode::builder("a")
                .output::<Value>()
                .tools(tools())
                .turns(0),
            "`turns` is 0",
        ),
    ] {
        let error = builder.build().unwrap_err();
        assert!(error.message().contains(why), "{error}");
    }
}

const PIXEL: &str = "data:image/png;base64,iVBORw0KGgo=";

/// Draws.
#[tool]
fn draw(how: &str) -> ToolReply {
    let image = Image::bytes("image/png", b"\x89PNG\r\n\x1a\n").unwrap();
    match how {
        "url" => ToolReply::new("").image(image),
        "often" => std::iter::repeat_n(image, 20).fold(ToolReply::new("Many:"), ToolReply::image),
        _ => ToolReply::new("Two:").image(image.clone()).image(image),
    }
}

/// Shows what was seen.
#[tool]
fn camera(words: bool) -> String {
    if words {
        format!("see {PIXEL}")
    } else {
        PIXEL.to_owned()
    }
}

/// Looks.
#[llm_node(prompt = "Look.", tools = [Draw, Camera])]
struct Look {}

#[tokio::test]
async fn images_are_attached_to_results() {
    let calls = Reply::text("")
        .call("draw", json!({"how": "twice"}))
        .call("camera", json!({"words": false}))
        .call("camera", json!({"words": true}));
    let model = ScriptedModel::new().reply(calls).reply("Seen.");
    let report = Run::new(model.clone())
        .call(&Look {})
        .report()
        .await
        .unwrap();
    let requests = model.requests();
    let images: Vec<_> = requests[1]
        .messages
        .iter()
        .map(|message| message.attachments().count())
        .collect();
    // A text is no image, whatever it says: it may come from anywhere.
    assert_eq!(images, [0, 0, 2, 0, 0]);
    assert_eq!(
        results(&requests[1]),
        ["Two:", PIXEL, &format!("see {PIXEL}")]
    );
    // What the report has is the history of a next call, and comes back from JSON.
    let kept = serde_json::to_string(&report.messages).unwrap();
    assert_eq!(
        serde_json::from_str::<Vec<Message>>(&kept).unwrap(),
        report.messages
    );
}

#[tokio::test]
async fn images_of_a_result_are_bounded() {
    let model = ScriptedModel::new()
        .reply(Reply::text("").call("draw", json!({"how": "often"})))
        .reply("Seen.");
    Run::new(model.clone()).call(&Look {}).await.unwrap();
    let result = &model.requests()[1].messages[2];
    assert_eq!(result.attachments().count(), 16);
    assert_eq!(
        result.content,
        "Many:\n[4 images left out: a result shows 16 of 8 MiB together at most]"
    );
}

#[cfg(all(feature = "openai", feature = "stub-server"))]
#[tokio::test]
async fn over_the_wire_images_follow_the_last_result() {
    use llmnode::{StubServer, stub_server};
    let calls = stub_server::StubReply::text("")
        .and_call("draw", json!({"how": "url"}))
        .and_call("draw", json!({"how": "url"}));
    let server = StubServer::builder()
        .script(vec![calls, stub_server::StubReply::text("Seen.")])
        .start()
        .await
        .unwrap();
    let model = OpenAi::builder()
        .base_url(server.base_url())
        .api_key("sk-test")
        .model("m")
        .build()
        .unwrap();
    assert_eq!(Run::new(model).call(&Look {}).await.unwrap(), "Seen.");
    let body = server.requests()[1].json().unwrap().clone();
    let messages = body["messages"].as_array().unwrap();
    let roles: Vec<_> = messages
        .iter()
        .map(|message| message["role"].as_str().unwrap())
        .collect();
    assert_eq!(roles, ["user", "assistant", "tool", "tool", "user"]);
    assert_eq!(messages[2]["content"], "The image follows.");
    let parts = messages[4]["content"].as_array().unwrap();
    assert_eq!(parts.len(), 2);
    assert_eq!(parts[1]["image_url"]["url"], PIXEL);
}

#[tokio::test]
async fn the_report_has_the_conversation_and_all_usage() {
    use llmnode::TokenUsage;
    let usage = TokenUsage::new(1, 10);
    let model = ScriptedModel::new()
        .reply(
            Reply::text("")
                .call("letters", json!({"text": "a"}))
                .usage(usage),
        )
        .reply(Reply::text("One.").usage(usage));
    let node = Calculate {
        question: "How many?",
        more: Toolset::new(),
    };
    let report = Run::new(model).call(&node).report().await.unwrap();
    assert_eq!((report.total.requests, report.total.total.known), (2, 22));
    let said: Vec<_> = report
        .messages
        .iter()
        .map(|message| message.content.as_str())
        .collect();
    assert_eq!(said, ["How many?", "", "1"]);
}

#[test]
fn a_history_is_cut_at_whole_turns() {
    use llmnode::{ToolCall, prompt::History};
    let calls = ["1", "2"].map(|id| ToolCall::new(id, "letters", "{}"));
    let whole = vec![
        Message::user("?"),
        Message::assistant("").calling(calls),
        Message::tool("1", "a"),
        Message::tool("2", "b"),
        Message::assistant("Both."),
        Message::user("And?"),
    ];
    for (newest, left) in [(0, 1), (1, 1), (2, 1), (4, 1), (5, 1), (6, 6), (99, 6)] {
        let mut history = whole.clone();
        assert_eq!(history.cut(newest), whole.len() - left);
        assert_eq!(history, whole[whole.len() - left..], "{newest}");
    }
}

/// Models write `null` for what may be left out, and other people's servers refuse it.
#[tokio::test]
async fn null_for_an_argument_that_may_be_left_out_is_left_out() {
    let schema = json!({
        "type": "object",
        "properties": {
            "a": {"type": "integer"},
            "b": {"type": "boolean"},
            "c": {"type": ["boolean", "null"]},
        },
        "required": ["a"],
    });
    let echo = |arguments: Value| async move { Ok::<_, BoxError>(arguments.to_string()) };
    let tools = Toolset::new().json_function("echo", "Echoes.", schema, echo);
    let calls = Reply::text("")
        .call("echo", json!({"a": 1, "b": null, "c": null}))
        .call("echo", json!({"a": 1, "b": true}))
        .call("echo", json!({"a": null, "b": null}))
        .call("echo", json!({"a": 1, "b": null, "d": 2, "c": "x"}));
    let model = ScriptedModel::new().reply(calls).reply("Done.");
    let agent = DynNode::builder("agent").text().tools(tools);
    let ask = agent.build().unwrap().ask("Go.");
    Run::new(model.clone()).call(&ask).await.unwrap();
    let requests = model.requests();
    let messages = requests.last().unwrap().messages.iter();
    let told: Vec<&str> = messages
        .filter(|message| message.answers().is_some())
        .map(|message| &*message.content)
        .collect();
    assert_eq!(told[..2], [r#"{"a":1,"c":null}"#, r#"{"a":1,"b":true}"#]);
    assert!(told[2].contains("- a: is null"), "{}", told[2]);
    assert!(told[3].contains("- c: "), "{}", told[3]);
}
