//! Tools that are listed only when they are found.

use std::sync::{Arc, Mutex};

use llmnode::prelude::*;
use llmnode::{
    Approval, Category, DynNode, FnModel, Limits, Message, ModelError, Paused, Reply, Request,
    ScriptedModel, Toolset, Unfinished,
};
use serde_json::{Value, json};

use super::library::results;

/// What tools did, in order.
pub(crate) type Log = Arc<Mutex<Vec<String>>>;

const VERBS: [(&str, &str); 4] = [
    ("create", "Creates"),
    ("get", "Returns"),
    ("update", "Changes"),
    ("delete", "Deletes"),
];

const THINGS: [(&str, &str); 12] = [
    ("shop_order", "an order of a customer"),
    ("shop_refund", "a refund of a payment"),
    ("shop_coupon", "a discount code"),
    ("mail_draft", "a draft of an email"),
    ("mail_label", "a label of the mailbox"),
    ("mail_filter", "a filter for incoming email"),
    ("cloud_server", "a virtual machine"),
    ("cloud_bucket", "a bucket for objects"),
    ("cloud_domain", "a record of a domain"),
    ("hr_vacation", "the vacation of an employee"),
    ("hr_applicant", "an applicant for a job"),
    ("hr_shift", "a working shift"),
];

/// 48 tools of four servers, such as `shop_create_refund`.
pub(crate) fn many(log: &Log) -> Toolset {
    let mut tools = Toolset::new();
    for (thing, gloss) in THINGS {
        let (server, thing) = thing.split_once('_').unwrap();
        for (verb, says) in VERBS {
            let name = format!("{server}_{verb}_{thing}");
            let noted = (Arc::clone(log), name.clone());
            let run = move |arguments: Value| {
                let (log, name) = &noted;
                let number = &arguments["number"];
                log.lock().unwrap().push(format!("{name} {number}"));
                let said = format!("{name} is done");
                async move { Ok::<_, BoxError>(said) }
            };
            let schema = json!({
                "type": "object",
                "properties": {"number": {"type": "integer", "description": "Its number."}},
                "required": ["number"]
            });
            let description = format!("{says} {gloss}. It takes a moment.");
            tools = tools.json_function(name, description, schema, run);
        }
    }
    tools
}

/// Helps.
#[llm_node(prompt = "{question}", turns = 8)]
struct Help<'a> {
    question: &'a str,
    #[node(tools)]
    tools: Toolset,
}

fn help<'a>(question: &'a str, log: &Log) -> Help<'a> {
    Help {
        question,
        tools: many(log).deferred(),
    }
}

const REFUND: &str = "I want a refund.";
const GREETING: &str = "Hello!";

fn listed(request: &Request) -> Vec<&str> {
    request.tools.iter().map(|tool| &*tool.name).collect()
}

fn search(query: &str) -> Reply {
    Reply::text("").call("search_tools", json!({"query": query}))
}

fn number(name: &str, number: i64) -> Reply {
    Reply::text("").call(name, json!({"number": number}))
}

fn done(log: &Log) -> Vec<String> {
    log.lock().unwrap().clone()
}

#[tokio::test]
async fn the_first_request_has_the_tools_that_fit_the_question() {
    let log = Log::default();
    let model = ScriptedModel::new()
        .reply(number("shop_create_refund", 7))
        .reply("Done.");
    let report = Run::new(model.clone())
        .call(&help(REFUND, &log))
        .report()
        .await
        .unwrap();
    assert_eq!(report.value, "Done.");
    assert_eq!(done(&log), ["shop_create_refund 7"]);
    let requests = model.requests();
    let first = listed(&requests[0]);
    assert_eq!(first[..2], ["search_tools", "call_tool"]);
    assert_eq!(first.len(), 2 + 4, "{first:?}");
    assert!(first[2..].iter().all(|name| name.ends_with("_refund")));
    // Nothing was found since, so the prompt begins as before.
    assert_eq!(listed(&requests[1]), first);
    let about = &requests[0].tools[0].description;
    assert!(
        about.contains("There are 48 more, about: cloud (12), hr (12), mail (12), shop (12)."),
        "{about}"
    );
}

#[tokio::test]
async fn a_few_tools_and_small_ones_are_listed_all() {
    let log = Log::default();
    let few: Vec<&str> = vec!["shop_create_refund", "mail_get_draft"];
    let mut small = Toolset::new();
    for at in 0..30 {
        let run = |_: Value| async { Ok::<_, BoxError>("") };
        small = small.json_function(format!("t{at}"), "Is.", json!({"type": "object"}), run);
    }
    for tools in [many(&log).only(few), small, many(&log)] {
        let number = tools.names().count();
        let not_deferred = number == 48;
        let tools = if not_deferred {
            tools
        } else {
            tools.deferred()
        };
        let model = ScriptedModel::new().reply("Done.");
        let question = GREETING;
        Run::new(model.clone())
            .call(&Help { question, tools })
            .await
            .unwrap();
        assert_eq!(model.requests()[0].tools.len(), number);
    }
}

/// Models choose badly from more than fifty, however many would fit.
#[tokio::test]
async fn more_than_fifty_tools_are_deferred_in_a_window_of_any_size() {
    for (count, is_deferred) in [(50, false), (51, true)] {
        let mut tools = Toolset::new();
        for at in 0..count {
            let run = |_: Value| async { Ok::<_, BoxError>("") };
            tools = tools.json_function(format!("t{at}"), "Is.", json!({"type": "object"}), run);
        }
        let model = ScriptedModel::new().reply("Done.");
        let settings = Settings::new().window(1_000_000);
        let run = Run::new(model.clone()).with_defaults(settings);
        let tools = tools.deferred();
        let question = GREETING;
        run.call(&Help { question, tools }).await.unwrap();
        let requests = model.requests();
        let listed = listed(&requests[0]);
        assert_eq!(listed.contains(&"search_tools"), is_deferred, "{listed:?}");
        assert_eq!(listed.len() == count, !is_deferred);
    }
}

#[tokio::test]
async fn a_search_lists_up_to_five_for_the_rest_of_the_conversation() {
    let log = Log::default();
    let tools = many(&log).deferred().always(["hr_get_shift"]);
    let model = ScriptedModel::new()
        .reply(search("delete label"))
        .reply(number("mail_delete_label", 3))
        .reply("Done.");
    let run = Run::new(model.clone());
    let question = GREETING;
    let report = run
        .call(&Help { question, tools })
        .limits(Limits::new().tool_calls(1))
        .report()
        .await
        .unwrap();
    let requests = model.requests();
    let fixed = ["hr_get_shift", "search_tools", "call_tool"];
    assert_eq!(listed(&requests[0]), fixed);
    let found = listed(&requests[1]);
    assert_eq!(found[..3], fixed);
    assert_eq!(found.len(), 3 + 5);
    assert_eq!(found[3], "mail_delete_label");
    assert_eq!(listed(&requests[2]), found);
    let said = results(&requests[1])[0];
    assert!(
        said.starts_with("These tools fit, and can be called now:\n- mail_delete_label: Deletes a label of the mailbox.\n"),
        "{said}"
    );
    assert!(!said.contains("It takes a moment"), "{said}");
    assert_eq!(said.lines().count(), 6);
    // A search is a turn, and no call of a tool.
    assert_eq!(report.record.attempts.len(), 3);
    let outcomes: Vec<_> = report
        .record
        .attempts
        .iter()
        .flat_map(|attempt| &attempt.tools)
        .map(|tool| (&*tool.name, &*tool.outcome, tool.call.is_some()))
        .collect();
    assert_eq!(
        outcomes,
        [
            ("search_tools", "ok", false),
            ("mail_delete_label", "ok", true)
        ]
    );
}

#[tokio::test]
async fn a_tool_that_is_not_listed_runs_at_once() {
    let log = Log::default();
    let model = ScriptedModel::new()
        .reply(
            Reply::text("")
                .call("cloud_create_server", json!({"number": "x"}))
                .call("cloud_delete_bucket", json!({"number": 1})),
        )
        .reply(number("cloud_create_server", 2))
        .reply("Done.");
    Run::new(model.clone())
        .call(&help(GREETING, &log))
        .await
        .unwrap();
    assert_eq!(
        done(&log),
        ["cloud_delete_bucket 1", "cloud_create_server 2"]
    );
    let requests = model.requests();
    assert!(results(&requests[1])[0].contains("These arguments were not accepted"));
    assert_eq!(
        listed(&requests[1])[2..],
        ["cloud_create_server", "cloud_delete_bucket"]
    );
}

#[tokio::test]
async fn a_name_that_no_tool_has_is_what_is_searched_for() {
    let log = Log::default();
    // Small models invent a name, and more than once.
    let model = ScriptedModel::new()
        .reply(number("refund_order", 1))
        .reply(number("remove_bucket", 1))
        .reply(number("hr_get_shfit", 1))
        .reply(number("hr_get_shift", 1))
        .reply("Done.");
    let report = Run::new(model.clone())
        .call(&help(GREETING, &log))
        .report()
        .await
        .unwrap();
    assert_eq!(done(&log), ["hr_get_shift 1"]);
    let requests = model.requests();
    let told = results(&requests[3]);
    assert!(told[0].starts_with("there is no tool \"refund_order\". These tools fit"));
    assert!(told[0].contains("shop_create_refund"), "{}", told[0]);
    assert!(told[1].contains("cloud_delete_bucket"), "{}", told[1]);
    assert!(told[2].contains("hr_get_shift"), "{}", told[2]);
    assert!(listed(&requests[1]).contains(&"shop_create_refund"));
    assert_eq!(
        report.record.attempts[0].tools[0].outcome, "unknown_tool",
        "as where all tools are listed"
    );
}

#[tokio::test]
async fn where_nothing_fits_the_groups_are_named_and_then_all_names() {
    let log = Log::default();
    let model = ScriptedModel::new()
        .reply(search("weather"))
        .reply(search("temperature"))
        .reply("I cannot do that.");
    Run::new(model.clone())
        .call(&help(GREETING, &log))
        .await
        .unwrap();
    let requests = model.requests();
    let told = results(&requests[2]);
    assert_eq!(
        told[0],
        "No tool fits; these groups of tools exist: cloud (12), hr (12), mail (12), shop (12). Search in other words."
    );
    assert!(told[1].starts_with("No tool fits. All tools are: shop_create_order, "));
    assert_eq!(told[1].matches(',').count(), 47);
    assert_eq!(listed(&requests[2]).len(), 2);
}

fn stored(paused: &Paused) -> Paused {
    serde_json::from_str(&serde_json::to_string(paused).unwrap()).unwrap()
}

#[tokio::test]
async fn an_approval_is_of_the_tool_and_the_conversation_goes_on_with_what_was_found() {
    let log = Log::default();
    let guarded = || Help {
        question: REFUND,
        tools: many(&log).deferred().require_approval(),
    };
    let model = ScriptedModel::new()
        .reply(search("delete label"))
        .reply(number("cloud_create_server", 5));
    let error = Run::new(model.clone()).call(&guarded()).await.unwrap_err();
    assert_eq!(error.category(), Category::Paused, "{error}");
    let paused = stored(&error.paused().unwrap());
    let waiting = paused.waiting();
    assert_eq!(waiting[0].name, "cloud_create_server");
    let before = model.requests();

    let second = ScriptedModel::new().reply("Done.");
    let decided = paused.decide(&waiting[0].id, Approval::yes()).unwrap();
    let run = Run::new(second.clone());
    let answer = run.call(&guarded()).approve(decided).await.unwrap();
    assert_eq!(answer, "Done.");
    assert_eq!(done(&log), ["cloud_create_server 5"]);
    let requests = second.requests();
    let mut expected = listed(&before[1]);
    expected.push("cloud_create_server");
    assert_eq!(listed(&requests[0]), expected);
}

#[tokio::test]
async fn what_failed_goes_on_with_what_was_found() {
    let log = Log::default();
    let model = ScriptedModel::new()
        .reply(search("delete label"))
        .reply(Reply::error(ModelError::new(Category::BadRequest, "no")));
    let error = Run::new(model.clone())
        .call(&help(REFUND, &log))
        .await
        .unwrap_err();
    let json = serde_json::to_string(&error.unfinished().unwrap()).unwrap();
    let unfinished: Unfinished = serde_json::from_str(&json).unwrap();
    let second = ScriptedModel::new().reply("Done.");
    // Another index would find other tools: those of the conversation count.
    let other = json.replace("shop_get_refund", "hr_get_shift");
    let other: Unfinished = serde_json::from_str(&other).unwrap();
    for unfinished in [unfinished, other] {
        Run::new(second.clone().reply("Done."))
            .call(&help(REFUND, &log))
            .resume(unfinished)
            .await
            .unwrap();
    }
    let requests = second.requests();
    assert_eq!(listed(&requests[0]), listed(&model.requests()[1]));
    assert!(listed(&requests[1]).contains(&"hr_get_shift"));
    assert!(!listed(&requests[1]).contains(&"shop_get_refund"));
}

/// Of more than 4,000 tokens.
fn long_question() -> String {
    format!("{} Hello!", "lorem ".repeat(3_000))
}

#[tokio::test]
async fn a_long_prompt_stays_and_call_tool_calls_what_is_found() {
    let log = Log::default();
    let question = long_question();
    let through = |name: &str, arguments: Value| {
        Reply::text("").call("call_tool", json!({"name": name, "arguments": arguments}))
    };
    let model = ScriptedModel::new()
        .reply(search("delete label"))
        .reply(through("mail_delete_label", json!("{\"number\": \"x\"}")))
        .reply(through("mail_delete_label", json!({"number": 4})))
        .reply(through("no_such_shift", json!("{}")))
        .reply(number("hr_get_shift", 1))
        .reply("Done.");
    let report = Run::new(model.clone())
        .call(&help(&question, &log))
        .report()
        .await
        .unwrap();
    assert_eq!(done(&log), ["mail_delete_label 4", "hr_get_shift 1"]);
    let requests = model.requests();
    for request in &requests {
        assert_eq!(listed(request), listed(&requests[0]));
    }
    let told = results(&requests[5]);
    assert!(
        told[0].contains("Call those that are not listed by `call_tool`"),
        "{}",
        told[0]
    );
    assert!(
        told[0].contains(r#""description":"Its number.""#),
        "{}",
        told[0]
    );
    assert!(told[1].contains("These arguments were not accepted"));
    assert!(told[1].contains("Their schema: {"), "{}", told[1]);
    assert_eq!(told[2], "mail_delete_label is done");
    assert!(told[3].contains("there is no tool \"no_such_shift\""));
    // The model sees its calls as it wrote them, and the record has the tools.
    let calls: Vec<_> = requests[5]
        .messages
        .iter()
        .flat_map(Message::calls)
        .map(|call| (&*call.name, &*call.arguments))
        .collect();
    assert_eq!(calls[2].0, "call_tool");
    let written: Value = serde_json::from_str(calls[2].1).unwrap();
    assert_eq!(
        written,
        json!({"name": "mail_delete_label", "arguments": {"number": 4}})
    );
    let tool = &report.record.attempts[2].tools[0];
    assert_eq!((&*tool.name, &*tool.outcome), ("mail_delete_label", "ok"));
}

#[tokio::test]
async fn an_approval_of_a_call_by_call_tool_shows_the_tool() {
    let log = Log::default();
    let question = long_question();
    let guarded = || Help {
        question: &question,
        tools: many(&log).deferred().require_approval(),
    };
    let call = json!({"name": "hr_get_shift", "arguments": {"number": 4}});
    let model = ScriptedModel::new().reply(Reply::text("").call("call_tool", call.clone()));
    let error = Run::new(model).call(&guarded()).await.unwrap_err();
    let paused = stored(&error.paused().unwrap());
    let waiting = paused.waiting();
    assert_eq!(waiting[0].name, "hr_get_shift");
    assert_eq!(waiting[0].arguments, r#"{"number":4}"#);
    let decided = paused.decide(&waiting[0].id, Approval::yes()).unwrap();
    let second = ScriptedModel::new().reply("Done.");
    let run = Run::new(second.clone());
    run.call(&guarded()).approve(decided).await.unwrap();
    assert_eq!(done(&log), ["hr_get_shift 4"]);
    let requests = second.requests();
    let asked = requests[0].messages[1].calls();
    assert_eq!(asked[0].name, "call_tool");
    let written: Value = serde_json::from_str(&asked[0].arguments).unwrap();
    assert_eq!(written, call);
}

/// A server with a small window: about four bytes are a token.
fn small_window() -> FnModel {
    FnModel::new(|request| {
        let tools = request.tools.iter();
        let bytes: usize = tools
            .map(|tool| tool.name.len() + tool.description.len() + tool.schema.plain().get().len())
            .sum();
        if bytes / 4 > 8_192 {
            let why = "the request exceeds the available context size";
            return Reply::error(ModelError::new(Category::ContextLengthError, why));
        }
        match request.messages.len() {
            1 => search("mend the pipe of number 377"),
            3 => number("plumber_377_mend", 1),
            _ => Reply::text("Done."),
        }
    })
}

#[tokio::test]
async fn four_hundred_tools_work_in_a_small_window() {
    let mut tools = Toolset::new();
    for at in 0..400 {
        let schema = json!({"type": "object", "properties": {"number": {"type": "integer"}}});
        let description = format!("Mends the pipe of the house with the number {at}.");
        let run = |_: Value| async { Ok::<_, BoxError>("mended") };
        tools = tools.json_function(format!("plumber_{at}_mend"), description, schema, run);
    }
    let question = GREETING;
    let run = Run::new(small_window());
    let all = Help {
        question,
        tools: tools.clone(),
    };
    let error = run.call(&all).await.unwrap_err();
    assert_eq!(error.category(), Category::ContextLengthError);
    let tools = tools.deferred();
    let answer = run.call(&Help { question, tools }).await.unwrap();
    assert_eq!(answer, "Done.");
}

#[tokio::test]
async fn names_of_the_search_are_refused_before_the_first_request() {
    let log = Log::default();
    for name in ["search_tools", "call_tool"] {
        let run = |_: Value| async { Ok::<_, BoxError>("") };
        let own = Toolset::new().json_function(name, "Is.", json!({"type": "object"}), run);
        let model = ScriptedModel::new();
        let tools = many(&log).deferred().with(own);
        let question = GREETING;
        let error = Run::new(model.clone())
            .call(&Help { question, tools })
            .await
            .unwrap_err();
        assert_eq!(error.category(), Category::ConfigError);
        assert!(error.to_string().contains(name), "{error}");
        assert!(model.requests().is_empty());
    }
}

#[tokio::test]
async fn nodes_built_at_run_time_search_too() {
    let log = Log::default();
    let agent = DynNode::builder("agent")
        .text()
        .tools(many(&log).deferred())
        .build()
        .unwrap();
    let model = ScriptedModel::new()
        .reply(search("working shifts"))
        .reply(number("hr_get_shift", 1))
        .reply("Done.");
    let answer = Run::new(model).call(&agent.ask(GREETING)).await.unwrap();
    assert_eq!(answer, "Done.");
    assert_eq!(done(&log), ["hr_get_shift 1"]);
}

/// Helps in a chat.
#[llm_node(prompt = "{question}")]
struct Chat<'a> {
    #[node(history)]
    history: &'a [Message],
    question: &'a str,
    #[node(tools)]
    tools: Toolset,
}

fn chat<'a>(history: &'a [Message], question: &'a str, log: &Log) -> Chat<'a> {
    Chat {
        history,
        question,
        tools: many(log).deferred(),
    }
}

#[tokio::test]
async fn a_later_turn_of_a_chat_has_what_the_earlier_ones_found() {
    let log = Log::default();

    let model = ScriptedModel::new()
        .reply(search("delete label"))
        .reply("Which one?");
    let run = Run::new(model.clone());
    let report = run.call(&chat(&[], REFUND, &log)).report().await.unwrap();
    let kept = serde_json::to_string(&report.history().unwrap()).unwrap();
    let history: Vec<Message> = serde_json::from_str(&kept).unwrap();
    let second = ScriptedModel::new().reply("Done.");
    let run = Run::new(second.clone());
    run.call(&chat(&history, "The newest shift.", &log))
        .await
        .unwrap();
    let mut expected: Vec<String> = Vec::new();
    let before = model.requests();
    expected.extend(listed(&before[1]).iter().map(ToString::to_string));
    let now = second.requests();
    let now = listed(&now[0]);
    assert_eq!(now[..expected.len()], expected);
    assert!(
        now[expected.len()..]
            .iter()
            .all(|name| name.ends_with("_shift")),
        "{now:?}"
    );
}

#[cfg(all(feature = "anthropic", feature = "gemini", feature = "openai"))]
mod over_sockets {
    use super::*;
    use crate::apis::{Api, call, text};

    /// Plain and streamed.
    #[tokio::test]
    async fn every_api_lists_what_was_found() {
        for api in Api::ALL {
            for streams in [false, true] {
                let log = Log::default();
                let server = api
                    .says([
                        call("a", "search_tools", json!({"query": "delete label"})),
                        call("b", "refund_order", json!({})),
                        call("c", "cloud_get_server", json!({"number": 1})),
                        text("Done."),
                    ])
                    .await;
                let run = Run::new(api.model(&server.url));
                let node = help(GREETING, &log);
                let report = match streams {
                    true => run
                        .call(&node)
                        .stream()
                        .report()
                        .await
                        .map(|report| report.value),
                    false => run.call(&node).report().await.map(|report| report.value),
                };
                assert_eq!(report.unwrap(), "Done.", "{api:?}");
                assert_eq!(done(&log), ["cloud_get_server 1"], "{api:?}");
                let asked = server.asked();
                let names = |at: usize| api.functions(&asked[at].body);
                assert_eq!(names(0), ["search_tools", "call_tool"], "{api:?}");
                let bound = api == Api::Anthropic;
                let expected = if bound { 0 } else { 5 };
                assert_eq!(names(1).len(), 2 + expected, "{api:?}");
                assert_eq!(
                    names(3).last().map(String::as_str),
                    Some(match bound {
                        true => "call_tool",
                        false => "cloud_get_server",
                    })
                );
                let told = api.results(&asked[3].body);
                assert!(told[0].1.contains("mail_delete_label"), "{api:?}");
                assert!(told[1].1.contains("shop_create_refund"), "{api:?}");
            }
        }
    }
}
