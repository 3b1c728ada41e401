//! The same task on Anthropic's Messages with llmnode, rig and genai, as a new user would write it: prints a table in Markdown of
//! what each of them keeps. The answers are written after Anthropic's documentation, and served on loopback.

mod by_genai;
mod by_llmnode;
mod by_rig;
mod server;

use serde_json::{Value, json};
use server::{Answer, Server};

pub struct Outcome {
    pub answer: Result<String, String>,
    /// Input with what is cached, read from the cache, written to it, output.
    pub tokens: [u64; 4],
}

fn message(content: Value, stop: &str) -> Answer {
    let usage = json!({"input_tokens": 10, "cache_read_input_tokens": 80, "cache_creation_input_tokens": 10, "output_tokens": 7,
        "cache_creation": {"ephemeral_5m_input_tokens": 10, "ephemeral_1h_input_tokens": 0}});
    (
        200,
        json!({"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-haiku-4-5", "content": content,
        "stop_reason": stop, "stop_sequence": null, "usage": usage}),
    )
}

fn first() -> Value {
    let call = |id: &str, item: &str| json!({"type": "tool_use", "id": id, "name": "stock", "input": {"item": item}});
    json!([
        {"type": "thinking", "thinking": "Two things.", "signature": "c2lnbmVk"},
        {"type": "redacted_thinking", "data": "cmVkYWN0ZWQ="},
        call("toolu_1", "pen"),
        {"type": "thinking", "thinking": "And the other.", "signature": "YWxzbw=="},
        call("toolu_2", "chalk")
    ])
}

fn last() -> Answer {
    message(
        json!([{"type": "text", "text": "Three pens, five of chalk."}]),
        "end_turn",
    )
}

fn refused() -> Answer {
    let (_, mut answer) = message(json!([]), "refusal");
    answer["stop_details"] =
        json!({"type": "refusal", "category": "cyber", "explanation": "It was blocked."});
    (200, answer)
}

fn busy() -> Answer {
    (
        529,
        json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}),
    )
}

/// What the library does with these answers, and what the server saw of it.
async fn ask(who: &str, answers: Vec<Answer>) -> (Outcome, Vec<Value>) {
    let server = Server::start(answers).await;
    let question = "What is there?";
    let outcome = match who {
        "llmnode" => by_llmnode::run(&server.url, question).await,
        "rig" => by_rig::run(&server.url, question).await,
        _ => by_genai::run(&server.url, question).await,
    };
    (outcome, server.asked())
}

fn yes(holds: bool) -> String {
    (if holds { "yes" } else { "**no**" }).to_owned()
}

/// The cells of one library, in the order of the rows.
async fn column(who: &str, program: &str) -> Vec<String> {
    let code = |line: &&str| !line.trim().is_empty() && !line.trim().starts_with("//");
    let (outcome, asked) = ask(who, vec![message(first(), "tool_use"), last()]).await;
    let none = Value::Null;
    let second = asked.get(1).unwrap_or(&none);
    let turn = second["messages"][1]["content"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    let is = |block: &Value, kind: &str| block["type"] == kind;
    let kept = |kind: &str| {
        turn.iter()
            .filter(|block| is(block, kind))
            .cloned()
            .collect::<Vec<_>>()
    };
    let sent = |kind: &str| {
        first()
            .as_array()
            .unwrap()
            .iter()
            .filter(|one| is(one, kind))
            .cloned()
            .collect::<Vec<_>>()
    };
    let results = second["messages"][2]["content"]
        .as_array()
        .map_or(0, Vec::len);
    if std::env::var_os("SHOW").is_some() {
        eprintln!(
            "{who}: {:?} {:?}\n{second:#}",
            outcome.answer, outcome.tokens
        );
    }
    let [input, read, written, output] = outcome.tokens;
    let (withheld, _) = ask(who, vec![refused()]).await;
    let (failed, again) = ask(who, vec![message(first(), "tool_use"), busy(), last()]).await;
    if std::env::var_os("SHOW").is_some() {
        eprintln!("{who}, refused: {:?}", withheld.answer);
    }
    let said = match withheld.answer {
        Ok(text) => format!("the answer {text:?}"),
        Err(error) if error.contains("It was blocked.") && error.contains("cyber") => {
            "category and explanation".to_owned()
        }
        Err(error) if error.contains("ContentFilter") => "that it was filtered".to_owned(),
        Err(_) => "nothing".to_owned(),
    };
    vec![
        program.lines().filter(code).count().to_string(),
        yes(outcome.answer.is_ok()),
        yes(kept("thinking") == sent("thinking")),
        yes(kept("redacted_thinking") == sent("redacted_thinking")),
        yes(turn == *first().as_array().unwrap()),
        yes(second["messages"].as_array().map_or(0, Vec::len) == 3 && results == 2),
        format!("{input}, {read}, {written}, {output}"),
        said,
        format!(
            "{}; {} requests; {} tokens",
            yes(failed.answer.is_ok()),
            again.len(),
            failed.tokens[0] + failed.tokens[3]
        ),
    ]
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let rows = [
        "lines of code",
        "answered",
        "signed thoughts go back as they came",
        "redacted thoughts go back as they came",
        "in their places, between the calls",
        "both results in one message",
        "input, read from the cache, written to it, output (200, 160, 20, 14 were billed)",
        "a refusal says",
        "answers after a 529 in the second turn; requests (3); tokens (214)",
    ];
    let columns = [
        column("llmnode", include_str!("by_llmnode.rs")).await,
        column("rig", include_str!("by_rig.rs")).await,
        column("genai", include_str!("by_genai.rs")).await,
    ];
    println!("| | llmnode | rig 0.44.0 | genai 0.7.2 |\n|---|---|---|---|");
    for (at, row) in rows.iter().enumerate() {
        println!(
            "| {row} | {} | {} | {} |",
            columns[0][at], columns[1][at], columns[2][at]
        );
    }
}
