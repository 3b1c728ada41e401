//! What a turn of an agent costs: llmnode's node with tools beside the same loop by hand over async-openai, on one server.
//!
//! Usage: `agent [ROUNDS]`; `agent serve [TURNS]` prints the URL of the server, for the other libraries in `benches/agent/`. The model
//! calls two tools in each response but the last, which is a text. What is measured is the processor time of the thread that asks; the
//! server has a thread of its own.

use std::time::Duration;

use async_openai::Client;
use async_openai::config::OpenAIConfig;
use async_openai::types::chat::{
    ChatCompletionMessageToolCalls, ChatCompletionRequestAssistantMessage,
    ChatCompletionRequestMessage, ChatCompletionRequestToolMessage,
    ChatCompletionRequestUserMessage, ChatCompletionTool, ChatCompletionTools,
    CreateChatCompletionRequestArgs, FunctionObject,
};
use llmnode::prelude::*;
use llmnode::stub_server::StubReply;
use llmnode::{Limits, StubServer};
use llmnode_benches::measure::median;
use nix::sys::resource::{UsageWho, getrusage};
use serde::Deserialize;
use serde_json::{Value, json};

const TURNS: usize = 20;
const KEY: &str = "sk-benchmark";
const QUESTION: &str = "What is 1 + 2, and which books are on rust?";
const ANSWER: &str = "It is 3, and there are two books.";

/// Adds two numbers.
#[tool]
fn add(
    /// The first number.
    a: i64,
    /// The second number.
    b: i64,
) -> i64 {
    a + b
}

/// Finds books by a word of their title.
#[tool]
fn search(
    /// A word of the title.
    word: String,
) -> Vec<String> {
    books(&word)
}

fn books(word: &str) -> Vec<String> {
    vec![format!("{word} in Action"), format!("Programming {word}")]
}

#[llm_node(prompt = "{question}", tools = [Add, Search], turns = 20)]
struct Work {
    question: &'static str,
}

/// The same for longer conversations, whose number of turns and of calls is above what an agent may do by default.
#[llm_node(prompt = "{question}", tools = [Add, Search], turns = 200)]
struct LongWork {
    question: &'static str,
}

/// The processor time of this thread.
fn cpu() -> Duration {
    let usage = getrusage(UsageWho::RUSAGE_THREAD).unwrap();
    let time = |time: nix::sys::time::TimeVal| {
        Duration::new(
            time.tv_sec().unsigned_abs(),
            1000 * u32::try_from(time.tv_usec()).unwrap(),
        )
    };
    time(usage.user_time()) + time(usage.system_time())
}

/// The response of this turn, made before.
fn response(turn: usize, turns: usize) -> Vec<u8> {
    let call = |at: usize, name: &str, arguments: Value| {
        let function = json!({"name": name, "arguments": arguments.to_string()});
        json!({"id": format!("call_{turn}_{at}"), "type": "function", "function": function})
    };
    let (message, finish) = if turn == turns {
        (
            json!({"role": "assistant", "content": ANSWER, "refusal": null}),
            "stop",
        )
    } else {
        let calls = [
            call(0, "add", json!({"a": 1, "b": 2})),
            call(1, "search", json!({"word": "rust"})),
        ];
        (
            json!({"role": "assistant", "content": null, "refusal": null, "tool_calls": calls}),
            "tool_calls",
        )
    };
    let body = json!({
        "id": format!("chatcmpl-{turn}"), "object": "chat.completion", "created": 1_735_689_600, "model": "m",
        "choices": [{"index": 0, "message": message, "logprobs": null, "finish_reason": finish}],
        "usage": {"prompt_tokens": 100 * turn, "completion_tokens": 40, "total_tokens": 100 * turn + 40},
    });
    body.to_string().into_bytes()
}

/// A server whose model answers at this turn, on a thread of its own. Which turn it is, it sees from the request.
fn serve(turns: usize) -> String {
    let responses: Vec<StubReply> = (1..=turns)
        .map(|turn| StubReply::raw(200, response(turn, turns)))
        .collect();
    let reply = StubReply::for_request(move |request| {
        let turn = request.body().matches("\"assistant\"").count();
        responses
            .get(turn)
            .cloned()
            .unwrap_or_else(|| StubReply::error(400, "stub", (), "too many turns"))
    });
    let (told, url) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            let server = StubServer::builder()
                .default_reply(reply)
                .log_limit(0)
                .start()
                .await
                .unwrap();
            told.send(server.base_url()).unwrap();
            std::future::pending::<()>().await;
        });
    });
    url.recv().unwrap()
}

fn run(url: &str) -> Run {
    Run::new(
        OpenAi::builder()
            .base_url(url)
            .api_key(KEY)
            .model("m")
            .build()
            .unwrap(),
    )
}

fn client(url: &str) -> Client<OpenAIConfig> {
    Client::build(
        reqwest::Client::new(),
        OpenAIConfig::new().with_api_base(url).with_api_key(KEY),
    )
}

async fn by_llmnode(run: &Run) -> String {
    run.call(&Work { question: QUESTION }).await.unwrap()
}

async fn long_by_llmnode(run: &Run, turns: usize) -> String {
    let limits = Limits::new()
        .requests(turns as u64)
        .tool_calls(2 * turns as u64);
    run.call(&LongWork { question: QUESTION })
        .limits(limits)
        .await
        .unwrap()
}

#[derive(Deserialize)]
struct Sum {
    a: i64,
    b: i64,
}

#[derive(Deserialize)]
struct Word {
    word: String,
}

/// The tools as llmnode lists them, so that the requests are the same.
fn tools() -> Vec<ChatCompletionTools> {
    let parameter = |kind: &str, what: &str| json!({"type": kind, "description": what});
    let function = |name: &str, what: &str, properties: Value, required: &[&str]| {
        let parameters = json!({"type": "object", "properties": properties, "required": required, "description": what});
        ChatCompletionTools::Function(ChatCompletionTool {
            function: FunctionObject {
                name: name.to_owned(),
                description: Some(what.to_owned()),
                parameters: Some(parameters),
                strict: None,
            },
        })
    };
    let numbers = json!({"a": parameter("integer", "The first number."), "b": parameter("integer", "The second number.")});
    let word = json!({"word": parameter("string", "A word of the title.")});
    vec![
        function("add", "Adds two numbers.", numbers, &["a", "b"]),
        function(
            "search",
            "Finds books by a word of their title.",
            word,
            &["word"],
        ),
    ]
}

fn executed(name: &str, arguments: &str) -> String {
    match name {
        "add" => {
            let Sum { a, b } = serde_json::from_str(arguments).unwrap();
            (a + b).to_string()
        }
        "search" => {
            let Word { word } = serde_json::from_str(arguments).unwrap();
            serde_json::to_string(&books(&word)).unwrap()
        }
        name => panic!("no tool is called {name}"),
    }
}

/// The loop as one writes it. `create` takes the request by value, so each turn clones what was said.
async fn by_hand(
    client: &Client<OpenAIConfig>,
    tools: &[ChatCompletionTools],
    turns: usize,
) -> String {
    let mut messages: Vec<ChatCompletionRequestMessage> =
        vec![ChatCompletionRequestUserMessage::from(QUESTION).into()];
    for _ in 0..turns {
        let request = CreateChatCompletionRequestArgs::default()
            .model("m")
            .messages(messages.clone())
            .tools(tools.to_vec())
            .build()
            .unwrap();
        let mut response = client.chat().create(request).await.unwrap();
        let message = response.choices.swap_remove(0).message;
        let Some(calls) = message.tool_calls else {
            return message.content.unwrap();
        };
        let results: Vec<_> = calls
            .iter()
            .map(|call| match call {
                ChatCompletionMessageToolCalls::Function(call) => {
                    ChatCompletionRequestToolMessage {
                        content: executed(&call.function.name, &call.function.arguments).into(),
                        tool_call_id: call.id.clone(),
                    }
                }
                ChatCompletionMessageToolCalls::Custom(_) => panic!("a call of no function"),
            })
            .collect();
        let said = ChatCompletionRequestAssistantMessage {
            content: message.content.map(Into::into),
            tool_calls: Some(calls),
            ..Default::default()
        };
        messages.push(said.into());
        messages.extend(results.into_iter().map(Into::into));
    }
    panic!("no answer within {turns} turns")
}

/// How the processor time of a turn in each way, in microseconds, comes out over rounds in turn.
async fn figures(url: &str, turns: usize, rounds: usize) -> [Vec<f64>; 2] {
    let (client, run, tools) = (client(url), run(url), tools());
    let mut figures: [Vec<f64>; 2] = Default::default();
    // The first round warms the connections up.
    for round in 0..=rounds {
        for way in (0..2).map(|way| (way + round) % 2) {
            let begun = cpu();
            let answer = match way {
                0 => by_hand(&client, &tools, turns).await,
                _ if turns == TURNS => by_llmnode(&run).await,
                _ => long_by_llmnode(&run, turns).await,
            };
            let time = (cpu() - begun).as_secs_f64() * 1e6 / turns as f64;
            assert_eq!(answer, ANSWER);
            if round > 0 {
                figures[way].push(time);
            }
        }
    }
    figures
}

fn ratio(ours: &[f64], other: &[f64]) -> f64 {
    median(
        ours.iter()
            .zip(other)
            .map(|(ours, other)| ours / other)
            .collect(),
    )
}

fn main() {
    rustls::crypto::ring::default_provider()
        .install_default()
        .unwrap();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.first().is_some_and(|first| first == "serve") {
        println!(
            "{}",
            serve(
                arguments
                    .get(1)
                    .map_or(TURNS, |turns| turns.parse().unwrap())
            )
        );
        std::thread::park();
        return;
    }
    let rounds = arguments
        .first()
        .map_or(200, |rounds| rounds.parse().unwrap());
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();

    let [by_hand, ours] = runtime.block_on(figures(&serve(TURNS), TURNS, rounds));
    println!("| an agent of {TURNS} turns | processor time a turn | ratio |\n|---|---|---|");
    println!(
        "| async-openai by hand | {:.1} µs | 1.00 |",
        median(by_hand.clone())
    );
    println!(
        "| llmnode | {:.1} µs | {:.2} |",
        median(ours.clone()),
        ratio(&ours, &by_hand)
    );

    println!("\n| turns | by hand, the agent | growth | llmnode, the agent | growth | ratio |");
    println!("|---|---|---|---|---|---|");
    let mut last: Option<[f64; 2]> = None;
    for turns in [50, 100, 200] {
        let figures = runtime.block_on(figures(&serve(turns), turns, (rounds / 8).max(5)));
        let ratio = ratio(&figures[1], &figures[0]);
        let times = figures.map(|figures| median(figures) * turns as f64 / 1e3);
        let growth = |way: usize| {
            last.map_or(String::new(), |last| {
                format!("{:.2}", times[way] / last[way])
            })
        };
        println!(
            "| {turns} | {:.2} ms | {} | {:.2} ms | {} | {ratio:.2} |",
            times[0],
            growth(0),
            times[1],
            growth(1),
        );
        last = Some(times);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bodies of all requests of an agent.
    async fn bodies(ask: impl AsyncFnOnce(&str) -> String) -> Vec<Value> {
        let responses = (1..=TURNS).map(|turn| StubReply::raw(200, response(turn, TURNS)));
        let server = StubServer::builder()
            .script(responses)
            .start()
            .await
            .unwrap();
        assert_eq!(ask(&server.base_url()).await, ANSWER);
        let mut bodies: Vec<Value> = server
            .requests()
            .iter()
            .map(|request| request.json().unwrap().clone())
            .collect();
        for message in bodies
            .iter_mut()
            .flat_map(|body| body["messages"].as_array_mut().unwrap())
        {
            // llmnode says that a message of calls has no content; async-openai's types leave it out.
            message
                .as_object_mut()
                .unwrap()
                .retain(|_, value| !value.is_null());
        }
        bodies
    }

    #[tokio::test]
    async fn both_send_the_same_tools_and_messages() {
        // Only one test of this program does so.
        rustls::crypto::ring::default_provider()
            .install_default()
            .unwrap();
        let ours = bodies(async |url| by_llmnode(&run(url)).await).await;
        let by_hand = bodies(async |url| by_hand(&client(url), &tools(), TURNS).await).await;
        for (turn, (ours, by_hand)) in ours.iter().zip(&by_hand).enumerate() {
            let messages = |body: &Value| body["messages"].as_array().unwrap().clone();
            let (mut messages, others) = (messages(ours), messages(by_hand));
            if turn + 1 == TURNS {
                let last = messages.pop().unwrap();
                assert_eq!(
                    (&last["role"], &ours["tool_choice"]),
                    (&json!("user"), &json!("none")),
                    "{last}"
                );
            }
            assert!(
                messages == others && ours["tools"] == by_hand["tools"],
                "request {turn}"
            );
        }
        assert_eq!((ours.len(), by_hand.len()), (TURNS, TURNS));
    }
}
