//! What is asked of a provider's cache: by API, host and kind of call, and what is learned from refusals.

use llmnode::prelude::*;
use llmnode::{Anthropic, Cache, Message, OpenAi};
use serde_json::{Value, json};

use crate::apis::{Api, call, text};
use crate::recorded::{Answer, Asked, Recorded};
use crate::sinks;

/// About 1,500 tokens, which all calls share.
const RULES: &str = include_str!("cache_rules.md");

#[llm_node(system_file = "cache_rules.md", prompt = "Sort: {letter}")]
struct Sort {
    letter: String,
}

/// The same for all up to the letter, without a system's text.
#[llm_node(prompt_file = "cache_prompt.md")]
struct Judge {
    letter: String,
}

#[llm_node(prompt = "{letter}")]
struct Read {
    letter: String,
}

#[llm_node(system_file = "cache_rules.md", prompt = "{said}")]
struct Chat {
    #[node(history)]
    earlier: Vec<Message>,
    said: String,
}

#[llm_node(system_file = "cache_rules.md", prompt = "Sort: {letter}", cache = 1h)]
struct SortForAnHour {
    letter: String,
}

/// Looks into the ledger.
#[tool]
fn look(page: u32) -> String {
    format!("page {page}")
}

#[llm_node(system_file = "cache_rules.md", prompt = "Sum up.", tools = [Look], turns = 4)]
struct Sum;

fn sort(number: usize) -> Sort {
    Sort {
        letter: format!("letter {number}"),
    }
}

fn api_of(asked: &Asked) -> Api {
    let path = asked.head.lines().next().unwrap_or_default();
    if path.contains("/responses") {
        Api::Responses
    } else if path.contains("/messages") {
        Api::Anthropic
    } else {
        Api::Chat
    }
}

fn greets(asked: &Asked) -> Answer {
    api_of(asked).answer(asked, &text("Hello."))
}

fn openai(host: &str, server: &Recorded) -> OpenAi {
    let builder = OpenAi::builder()
        .base_url(format!("http://{host}/v1"))
        .api_key("k-1")
        .model("m")
        .proxy(server.url.clone())
        .allow_plain_http();
    builder.build().unwrap()
}

fn anthropic(host: &str, server: &Recorded) -> Anthropic {
    let builder = Anthropic::builder()
        .base_url(format!("http://{host}"))
        .api_key("k-1")
        .model("m")
        .proxy(server.url.clone())
        .allow_plain_http();
    builder.build().unwrap()
}

const OPENAI: &str = "api.openai.com";
const ANTHROPIC: &str = "api.anthropic.com";

/// The names of all fields of caches, wherever they stand.
fn fields(body: &Value) -> Vec<String> {
    let mut found = Vec::new();
    collect(body, &mut found);
    found.sort();
    found
}

fn collect(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                if name.starts_with("prompt_cache") || name == "cache_control" {
                    found.push(name.clone());
                }
                collect(value, found);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, found)),
        _ => {}
    }
}

fn explicit() -> Value {
    json!({"mode": "explicit"})
}

#[tokio::test]
async fn a_map_at_openai_marks_what_its_items_share() {
    let server = Recorded::answering(greets).await;
    let run = Run::new(openai(OPENAI, &server));
    run.map((0..12).map(sort))
        .concurrency(1)
        .try_all()
        .await
        .unwrap();
    for body in server.bodies() {
        assert_eq!(body["prompt_cache_options"], explicit());
        assert_eq!(body["instructions"], Value::Null);
        let system = &body["input"][0];
        assert_eq!(system["role"], "developer");
        assert_eq!(system["content"][0]["text"], RULES);
        assert_eq!(system["content"][0]["prompt_cache_breakpoint"], explicit());
        assert_eq!(fields(&body).len(), 2, "{body}");
    }
    let chat = openai(OPENAI, &server).chat_completions();
    Run::new(chat)
        .map((0..12).map(sort))
        .concurrency(1)
        .try_all()
        .await
        .unwrap();
    let body = server.bodies().pop().unwrap();
    let part =
        json!({"type": "text", "text": RULES, "prompt_cache_breakpoint": {"mode": "explicit"}});
    assert_eq!(body["messages"][0]["content"], json!([part]));
    assert_eq!(fields(&body).len(), 2, "{body}");
}

#[tokio::test]
async fn what_is_shared_ends_before_the_first_value() {
    let server = Recorded::answering(greets).await;
    let nodes = || {
        (0..12).map(|number| Judge {
            letter: format!("letter {number}"),
        })
    };
    Run::new(openai(OPENAI, &server))
        .map(nodes())
        .concurrency(1)
        .try_all()
        .await
        .unwrap();
    Run::new(anthropic(ANTHROPIC, &server))
        .map(nodes())
        .concurrency(1)
        .try_all()
        .await
        .unwrap();
    for body in server.bodies() {
        let is_openai = body["input"].is_array();
        let message = if is_openai {
            &body["input"][0]
        } else {
            &body["messages"][0]
        };
        let parts = message["content"].as_array().unwrap();
        let mark = if is_openai {
            "prompt_cache_breakpoint"
        } else {
            "cache_control"
        };
        assert!(
            parts[0][mark].is_object() && parts[1][mark].is_null(),
            "{message}"
        );
        let rest = parts[1]["text"].as_str().unwrap();
        assert!(rest.starts_with("letter "), "{rest}");
    }
}

#[tokio::test]
async fn parallel_items_do_not_all_write() {
    let server = Recorded::answering(greets).await;
    let run = Run::new(anthropic(ANTHROPIC, &server));
    run.map((0..20).map(sort))
        .warm_cache(false)
        .try_all()
        .await
        .unwrap();
    let marked = server
        .bodies()
        .iter()
        .filter(|body| !fields(body).is_empty())
        .count();
    // The first one writes. Those that were under way beside it do not, and all later ones read.
    assert!((12..=13).contains(&marked), "{marked}");
}

/// How many requests of a map reach a server that never answers: those that wait for no other.
async fn sent_at_once(items: usize, wanted: u64) -> u64 {
    let server = llmnode::StubServer::builder()
        .default_reply(llmnode::stub_server::StubReply::never())
        .start()
        .await
        .unwrap();
    let model = Anthropic::builder()
        .base_url(format!("http://{ANTHROPIC}"))
        .api_key("k-1")
        .model("m")
        .proxy(format!("http://{}", server.address()))
        .allow_plain_http()
        .build()
        .unwrap();
    let run = Run::new(model);
    let map = run.map((0..items).map(sort)).report();
    let seen = async {
        while server.requests_seen() < wanted {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
        // Whoever comes beside the wanted ones comes now.
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    };
    tokio::select! {
        _ = map => panic!("nothing was answered"),
        seen = tokio::time::timeout(std::time::Duration::from_secs(60), seen) => seen.unwrap(),
    }
    server.requests_seen()
}

/// A first item that goes alone would make a map of one round take two.
#[tokio::test]
async fn a_map_of_eight_waits_for_nobody_and_a_long_one_for_its_first_item() {
    assert_eq!(sent_at_once(8, 8).await, 8);
    assert_eq!(sent_at_once(79, 8).await, 8);
    assert_eq!(sent_at_once(80, 1).await, 1);
}

#[tokio::test]
async fn single_calls_at_openai_pay_for_no_writing_once_there_are_many() {
    let server = Recorded::answering(greets).await;
    let run = Run::new(openai(OPENAI, &server));
    for number in 0..12 {
        let letter = format!("{number}: {RULES}");
        run.call(&Read { letter }).await.unwrap();
    }
    let bodies = server.bodies();
    for body in &bodies[..10] {
        assert_eq!(fields(body), [""; 0]);
    }
    for body in &bodies[10..] {
        assert_eq!(body["prompt_cache_options"], explicit());
        assert_eq!(fields(body).len(), 1, "no mark: nothing is written");
    }
}

#[tokio::test]
async fn a_second_call_of_a_node_marks_what_both_share() {
    let server = Recorded::answering(greets).await;
    let run = Run::new(anthropic(ANTHROPIC, &server));
    for number in 0..3 {
        run.call(&sort(number)).await.unwrap();
    }
    let bodies = server.bodies();
    assert_eq!(fields(&bodies[0]), [""; 0]);
    for body in &bodies[1..] {
        assert_eq!(
            body["system"][0]["cache_control"],
            json!({"type": "ephemeral"})
        );
        assert_eq!(fields(body).len(), 1);
    }
}

#[tokio::test]
async fn older_models_of_openai_get_keys_and_their_refusal_is_learned() {
    let server = Recorded::answering(|asked| {
        if asked.body.get("prompt_cache_options").is_some() {
            let message = "prompt_cache_options is not supported on this model";
            let error = json!({"error": {"message": message, "type": "invalid_request_error",
                "param": "prompt_cache_options", "code": "invalid_parameter"}});
            return (400, "application/json", error.to_string());
        }
        greets(asked)
    })
    .await;
    let run = Run::new(openai(OPENAI, &server));
    run.map((0..40).map(sort))
        .concurrency(1)
        .try_all()
        .await
        .unwrap();
    let bodies = server.bodies();
    assert_eq!(bodies.len(), 41, "one refusal");
    let keys: Vec<&str> = bodies[1..]
        .iter()
        .map(|body| {
            assert_eq!(fields(body), ["prompt_cache_key"]);
            assert_eq!(body["instructions"], RULES);
            body["prompt_cache_key"].as_str().unwrap()
        })
        .collect();
    let mut lanes = keys.clone();
    lanes.sort_unstable();
    lanes.dedup();
    assert_eq!(lanes.len(), 3, "15 requests a minute each: {lanes:?}");
    let (node, _) = keys[0].split_once('-').unwrap();
    assert!(keys.iter().all(|key| key.starts_with(node)), "{keys:?}");
}

#[tokio::test]
async fn a_conversation_keeps_its_key_and_its_form() {
    let server = Recorded::answering(greets).await;
    let run = Run::new(openai(OPENAI, &server));
    let mut earlier = Vec::new();
    for said in ["Hello", "And then?", "Is that so?"] {
        let node = Chat {
            earlier,
            said: said.to_owned(),
        };
        earlier = run.call(&node).report().await.unwrap().history().unwrap();
    }
    let bodies = server.bodies();
    for body in &bodies {
        assert_eq!(fields(body), ["prompt_cache_key"]);
        assert_eq!(body["prompt_cache_key"], bodies[0]["prompt_cache_key"]);
        assert_eq!(body["instructions"], RULES);
    }
}

/// Calls a tool so often in its first answer.
fn looks(calls: u32) -> impl FnMut(&Asked) -> Answer + Send + 'static {
    let mut turns = 0;
    move |asked| {
        turns += 1;
        let said = if turns == 1 {
            (0..calls).fold(text(""), |said, page| {
                said.and(call(&format!("call_{page}"), "look", json!({"page": page})))
            })
        } else {
            text("Done.")
        };
        api_of(asked).answer(asked, &said)
    }
}

#[tokio::test]
async fn an_agent_at_anthropic_marks_its_end_and_the_system() {
    for (calls, marks) in [(2, 2), (9, 3)] {
        let server = Recorded::answering(looks(calls)).await;
        Run::new(anthropic(ANTHROPIC, &server))
            .call(&Sum)
            .await
            .unwrap();
        let bodies = server.bodies();
        let mark = json!({"type": "ephemeral"});
        for body in &bodies {
            assert_eq!(body["cache_control"], mark);
            assert_eq!(body["system"][0]["cache_control"], mark);
        }
        assert_eq!(fields(&bodies[0]).len(), 2);
        // The API looks back 20 blocks from a mark: a turn with more leaves one at the end of the last request.
        assert_eq!(fields(&bodies[1]).len(), marks);
        if marks == 3 {
            assert_eq!(
                bodies[1]["messages"][0]["content"][0]["cache_control"],
                mark
            );
        }
    }
}

#[tokio::test]
async fn elsewhere_and_for_short_prompts_only_what_was_set_by_hand_is_sent() {
    let server = Recorded::answering(greets).await;
    let elsewhere = Run::new(openai("models.example.com", &server));
    elsewhere
        .map((0..12).map(sort))
        .concurrency(1)
        .try_all()
        .await
        .unwrap();
    let gateway = Run::new(anthropic("gateway.example.com", &server));
    gateway
        .map((0..12).map(sort))
        .concurrency(1)
        .try_all()
        .await
        .unwrap();
    let own = Run::new(openai(OPENAI, &server));
    let short = |number: usize| Read {
        letter: number.to_string(),
    };
    own.map((0..12).map(short))
        .concurrency(1)
        .try_all()
        .await
        .unwrap();
    own.map((0..12).map(sort))
        .cache(Cache::Off)
        .concurrency(1)
        .try_all()
        .await
        .unwrap();
    for body in server.bodies() {
        assert_eq!(fields(&body), [""; 0]);
    }
    let before = server.bodies().len();
    let letter = "x".to_owned();
    elsewhere
        .call(&sort(1))
        .cache(Cache::Minutes5)
        .await
        .unwrap();
    gateway.call(&SortForAnHour { letter }).await.unwrap();
    let bodies = server.bodies();
    let options = json!({"mode": "explicit", "ttl": "30m"});
    assert_eq!(bodies[before]["prompt_cache_options"], options);
    assert_eq!(fields(&bodies[before]).len(), 2);
    let mark = json!({"type": "ephemeral", "ttl": "1h"});
    assert_eq!(bodies[before + 1]["system"][0]["cache_control"], mark);
}

#[tokio::test]
async fn the_nearest_level_says_it_and_the_programs_own_fields_come_first() {
    let server = Recorded::answering(greets).await;
    let run = Run::new(openai(OPENAI, &server)).with_settings(Settings::new().cache(Cache::Off));
    let letter = || "x".to_owned();
    run.call(&SortForAnHour { letter: letter() }).await.unwrap();
    run.call(&SortForAnHour { letter: letter() })
        .cache(Cache::Hour1)
        .await
        .unwrap();
    run.call(&sort(1))
        .cache(Cache::Hour1)
        .extra("prompt_cache_key", "mine")
        .await
        .unwrap();
    let bodies = server.bodies();
    assert_eq!(
        fields(&bodies[0]),
        [""; 0],
        "the run is nearer than the node"
    );
    let options = json!({"mode": "explicit", "ttl": "12h"});
    assert_eq!(bodies[1]["prompt_cache_options"], options);
    assert_eq!(fields(&bodies[2]), ["prompt_cache_key"]);
}

/// As many tokens as letters / 4, of which so many came from the cache.
fn counted(asked: &Asked, said: &crate::apis::Said, cached: u64, written: u64) -> Answer {
    let (status, kind, body) = api_of(asked).answer(asked, said);
    let mut body: Value = serde_json::from_str(&body).unwrap();
    body["usage"] = if api_of(asked) == Api::Anthropic {
        json!({"input_tokens": 100, "output_tokens": 5, "cache_read_input_tokens": cached,
            "cache_creation_input_tokens": written})
    } else {
        json!({"input_tokens": 2_000, "output_tokens": 5, "total_tokens": 2_005,
            "input_tokens_details": {"cached_tokens": cached, "cache_write_tokens": written}})
    };
    (status, kind, body.to_string())
}

/// What a provider reads of each request, one after the other.
fn reads(cached: impl IntoIterator<Item = u64>) -> impl FnMut(&Asked) -> Answer + Send + 'static {
    let mut cached = cached.into_iter().collect::<Vec<_>>().into_iter();
    move |asked| {
        let cached = cached.next().unwrap_or(0);
        counted(asked, &text("Hello."), cached, 1_500)
    }
}

fn lost(report: &llmnode::CallReport<String>) -> String {
    report.record.cache_lost().to_string()
}

async fn chat(run: &Run, earlier: Vec<Message>, said: &str) -> llmnode::CallReport<String> {
    let said = said.to_owned();
    run.call(&Chat { earlier, said }).report().await.unwrap()
}

#[tokio::test]
async fn a_chat_says_what_became_of_its_cache() {
    for is_anthropic in [true, false] {
        let server = Recorded::answering(reads([0, 1_500, 1_500, 0])).await;
        let run = if is_anthropic {
            Run::new(anthropic(ANTHROPIC, &server))
        } else {
            Run::new(openai(OPENAI, &server))
        };
        let first = chat(&run, Vec::new(), "Hello").await;
        assert_eq!(lost(&first), "unknown");
        let history = first.history().unwrap();
        // As it is stored between the calls.
        let stored = serde_json::to_string(&history).unwrap();
        assert!(
            !stored.contains("shipping company"),
            "never the text of a prompt: {stored}"
        );
        let history: Vec<Message> = serde_json::from_str(&stored).unwrap();
        let second = chat(&run, history, "And then?").await;
        assert_eq!(lost(&second), "kept");
        let mut history = second.history().unwrap();
        // A message that the program has changed since.
        history[0] = Message::user("Good morning");
        let third = chat(&run, history, "Why?").await;
        assert_eq!(lost(&third), "changed: message 1");
        let fourth = chat(&run, third.history().unwrap(), "Really?").await;
        assert_eq!(lost(&fourth), "evicted");
        let ledger = run.ledger().to_json().to_string();
        assert!(
            ledger.contains(r#""cache_lost":{"changed":{"part":"message 1"}}"#),
            "{ledger}"
        );
        // Without a record, as in a history by hand.
        let by_hand = vec![Message::user("Hello"), Message::assistant("Hello.")];
        assert_eq!(lost(&chat(&run, by_hand, "And?").await), "unknown");
    }
}

#[tokio::test]
async fn a_cache_that_has_expired_is_told_from_one_that_was_evicted() {
    let server = Recorded::answering(reads([0, 0])).await;
    let run = Run::new(anthropic(ANTHROPIC, &server));
    let first = chat(&run, Vec::new(), "Hello").await;
    // As if it had been stored twelve minutes ago.
    let mut stored = serde_json::to_value(first.history().unwrap()).unwrap();
    let at = &mut stored[1]["sent"]["at"];
    *at = json!(at.as_u64().unwrap() - 720_000);
    let history: Vec<Message> = serde_json::from_value(stored).unwrap();
    let second = chat(&run, history, "And then?").await;
    let llmnode::CacheLost::Expired { idle, ttl } = second.record.cache_lost() else {
        panic!("{}", second.record.cache_lost());
    };
    assert_eq!((idle.as_secs() / 60, ttl.as_secs()), (12, 300));
}

/// A variable before a text of 1,500 tokens.
#[llm_node(prompt = "{question}\n{rules}")]
struct Late {
    question: String,
    rules: &'static str,
}

#[llm_node(prompt_file = "cache_late.md")]
struct Early {
    question: String,
}

#[tokio::test]
async fn a_map_says_once_which_variable_stands_in_the_way() {
    let log = sinks::Log::default();
    let _listening = tracing::subscriber::set_default(log.clone());
    let run = Run::new(llmnode::ScriptedModel::new().otherwise(|_| llmnode::Reply::text("4")));
    let early = |number: usize| Early {
        question: number.to_string(),
    };
    run.map((0..9).map(early)).try_all().await.unwrap();
    let late = |number: usize| Late {
        question: number.to_string(),
        rules: RULES,
    };
    run.map((0..12).map(late)).try_all().await.unwrap();
    assert!(!log.text().contains("behind it"), "{}", log.text());
    run.map((0..12).map(early)).try_all().await.unwrap();
    let said = log.text();
    let hint = "move {question} behind it: 1";
    assert_eq!(said.matches(hint).count(), 1, "{said}");
}
