//! Long agents of a small model that speaks: summaries, and tools that are found.
//!
//! They need Qwen2.5-Coder-0.5B-Instruct (`scripts/real-components --instruct-all`). What such a model says is reported; what the library
//! promises whatever a model says is checked. The results are in docs/small-models.md.

use std::sync::{Arc, Mutex};

use llmnode::prelude::*;
use llmnode::{CompactionStep, FnModel, Message, OpenAi, Reply, Request, Toolset, Transcript};
use serde_json::{Value, json};

use crate::support::key;

/// Calls of tools, in order.
type Log = Arc<Mutex<Vec<String>>>;

/// `None`: the script was started without `--instruct-all`.
fn qwen() -> Option<OpenAi> {
    let url = std::env::var("LLMNODE_QWEN_URL").ok()?;
    let model = OpenAi::builder()
        .base_url(url)
        .api_key(key())
        .model("Qwen2.5-Coder-0.5B-Instruct");
    Some(model.build().unwrap())
}

/// Sums up.
#[llm_node(
    prompt = "Sum up this part of a conversation:\n{part:fence}",
    output = llmnode::Summary,
    model = "qwen",
    retries = 1,
    temperature = 0.0,
    max_tokens = 600
)]
struct Summarise {
    part: Transcript,
}

/// Binding facts of the program, and one that a tool has said.
const IN_SYSTEM: &str = "Prices are in euros, without taxes.";
const OF_USER: &str = "Never ship before Friday.";
const PINNED: &str = "The customer's number is 4711-b.";
const OF_OLDER_USER: &str = "Send bills to ann@example.com only.";
const OF_TOOL: &str = "The door code is 2208.";

/// Answers from a long history.
#[llm_node(
    system = "You are a clerk. Prices are in euros, without taxes.",
    prompt = "{question}",
    compact(keep = 1, at = 1_200, with = Summarise)
)]
struct Clerk<'a> {
    #[node(history)]
    history: &'a [Message],
    question: &'a str,
}

/// Some 1,500 tokens, in which the facts stand.
fn history(turns: usize) -> Vec<Message> {
    let mut history = vec![
        Message::user(format!("Good morning. {OF_OLDER_USER}")),
        Message::assistant("Good morning! I shall keep that in mind."),
        Message::user(PINNED).pinned(),
        Message::assistant("Thank you."),
    ];
    let call = llmnode::ToolCall::new("call_1", "look_up", "{}");
    history.push(Message::user("Look the address up."));
    history.push(Message::assistant("").calling([call]));
    history.push(Message::tool("call_1", format!("Main Street 5. {OF_TOOL}")));
    history.push(Message::assistant("It is Main Street 5."));
    for turn in 0..turns {
        let asked = if turn == turns / 2 {
            format!("About order {turn}: {OF_USER}")
        } else {
            format!("What about order {turn}?")
        };
        history.push(Message::user(asked));
        history.push(Message::assistant(format!(
            "Order {turn} has three parts: a lamp, ten metres of rope and a tent. The lamp is in stock, the rope comes on \
             Tuesday, and the tent is made to measure, which takes a week."
        )));
    }
    history
}

#[tokio::test]
#[ignore = "needs scripts/real-components --instruct-all"]
async fn a_small_model_sums_up_and_what_the_program_wrote_is_kept() {
    let Some(qwen) = qwen() else { return };
    for turns in [16, 24] {
        let clerk = FnModel::new(|_: &Request| Reply::text("Noted."));
        let run = Run::new(clerk.clone()).model("qwen", qwen.clone());
        let history = history(turns);
        let question = "Where were we?";
        let node = Clerk {
            history: &history,
            question,
        };
        let report = run.call(&node).report().await.unwrap();
        let summed_up = report
            .compacted
            .iter()
            .filter(|one| one.step == CompactionStep::Summary);
        let requests = clerk.requests();
        let sent: Vec<&str> = requests[0]
            .messages
            .iter()
            .map(|one| &*one.content)
            .collect();
        let sent = sent.join("\n");
        let kept = [IN_SYSTEM, OF_USER, PINNED, OF_OLDER_USER];
        let kept = kept.iter().filter(|fact| sent.contains(**fact)).count();
        // Where nothing of the program goes, it quotes what nobody wrote; the schema of its correction allows what was written alone.
        println!(
            "{turns} turns: {} summaries, {kept} of 4 facts of the program kept, the tool's: {}, {} of {} messages sent",
            summed_up.count(),
            sent.contains("2208"),
            requests[0].messages.len(),
            history.len() + 2
        );
        assert_eq!(kept, 4, "{sent}");
    }
}

/// A question, the tool that answers it, its argument, and the answer.
struct Case {
    question: &'static str,
    tool: &'static str,
    argument: &'static str,
    number: u32,
}

const fn case(
    question: &'static str,
    tool: &'static str,
    argument: &'static str,
    number: u32,
) -> Case {
    Case {
        question,
        tool,
        argument,
        number,
    }
}

/// The ten of `benches/models`.
const CASES: [Case; 10] = [
    case("What does the lamp cost, in cents?", "price", "lamp", 1250),
    case(
        "How many tents are in stock? The item is called tent.",
        "stock",
        "tent",
        3,
    ),
    case(
        "How many days does a delivery to Rome take?",
        "delivery",
        "Rome",
        4,
    ),
    case(
        "What is the price of the item knife in cents?",
        "price",
        "knife",
        1575,
    ),
    case(
        "How many pieces of the item lamp do you have?",
        "stock",
        "lamp",
        17,
    ),
    case(
        "How long does it take to deliver to Oslo, in days?",
        "delivery",
        "Oslo",
        6,
    ),
    case(
        "What is the price of the tent in cents?",
        "price",
        "tent",
        9900,
    ),
    case(
        "How many pieces of the item knife are in stock?",
        "stock",
        "knife",
        42,
    ),
    case(
        "In how many days is a parcel in Bern?",
        "delivery",
        "Bern",
        2,
    ),
    case(
        "What is the price of a rope in cents? The item is called rope.",
        "price",
        "rope",
        480,
    ),
];

/// Areas and things that have nothing to do with the questions.
const AREAS: [&str; 5] = ["mail", "calendar", "cloud", "files", "hr"];
const THINGS: [&str; 8] = [
    "draft", "event", "server", "document", "channel", "shift", "backup", "label",
];

/// The three tools of the shop among forty others.
fn shop(log: &Log) -> Toolset {
    let mut tools = Toolset::new();
    let own = [
        ("price", "item", "Returns the price of an item in cents."),
        (
            "stock",
            "item",
            "Returns how many pieces of an item are in stock.",
        ),
        (
            "delivery",
            "city",
            "Returns how many days the delivery to a city takes.",
        ),
    ];
    for (name, parameter, description) in own {
        let log = Arc::clone(log);
        let properties = json!({parameter: {"type": "string", "description": format!("The {parameter}'s name.")}});
        let schema = json!({"type": "object", "properties": properties, "required": [parameter]});
        tools = tools.json_function(name, description, schema, move |arguments: Value| {
            let argument = arguments[parameter].as_str().unwrap_or_default().to_owned();
            log.lock().unwrap().push(format!("{name} {argument}"));
            let case = CASES
                .iter()
                .find(|case| case.tool == name && case.argument == argument);
            let said = case.map_or_else(
                || format!("there is no {parameter} {argument:?}"),
                |case| case.number.to_string(),
            );
            async move { Ok::<_, BoxError>(said) }
        });
    }
    for area in AREAS {
        for thing in THINGS {
            let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]});
            let description = format!("Shows a {thing} of the {area}.");
            let run = |_: Value| async { Ok::<_, BoxError>("nothing") };
            tools = tools.json_function(format!("{area}_show_{thing}"), description, schema, run);
        }
    }
    tools.deferred()
}

#[llm_output]
struct Figure {
    /// The figure that was asked for.
    number: u32,
}

/// The question is in the prompt, so that the first request lists what fits it.
#[llm_node(
    system = "You answer questions of customers of a shop. Use the tools.",
    prompt = "{question}",
    output = Figure,
    turns = 6,
    retries = 2,
    temperature = 0.0,
    max_tokens = 200
)]
struct Listed {
    question: &'static str,
    #[node(tools)]
    tools: Toolset,
}

/// The question is in the system text, for which no tools are looked up: the model has to search.
#[llm_node(
    system = "You answer questions of customers of a shop. Use the tools. The question: {question}",
    prompt = "Answer it.",
    output = Figure,
    turns = 6,
    retries = 2,
    temperature = 0.0,
    max_tokens = 200
)]
struct Unlisted {
    question: &'static str,
    #[node(tools)]
    tools: Toolset,
}

/// What ten questions came to.
#[derive(Default)]
struct Score {
    right: usize,
    called: usize,
    tokens: u64,
    requests: u64,
}

async fn score(qwen: &OpenAi, is_listed: bool) -> Score {
    let mut score = Score::default();
    for case in &CASES {
        let log = Log::default();
        let run = Run::new(qwen.clone());
        let tools = shop(&log);
        let question = case.question;
        let answer = if is_listed {
            run.call(&Listed { question, tools }).await
        } else {
            run.call(&Unlisted { question, tools }).await
        };
        let wanted = format!("{} {}", case.tool, case.argument);
        let total = run.ledger().total();
        score.called += usize::from(log.lock().unwrap().contains(&wanted));
        score.right += usize::from(
            answer
                .as_ref()
                .is_ok_and(|figure| figure.number == case.number),
        );
        score.tokens += total.input.known;
        score.requests += total.requests;
        println!(
            "{question}: {:?}, {:?}",
            log.lock().unwrap(),
            answer
                .map(|figure| figure.number)
                .map_err(|error| error.category())
        );
    }
    score
}

#[tokio::test]
#[ignore = "needs scripts/real-components --instruct-all, and some minutes"]
async fn ten_questions_among_forty_three_tools() {
    let Some(qwen) = qwen() else { return };
    for is_listed in [true, false] {
        let Score {
            right,
            called,
            tokens,
            requests,
        } = score(&qwen, is_listed).await;
        println!(
            "the first five listed: {is_listed}: {right} right, {called} right calls, {requests} requests, {tokens} prompt tokens"
        );
    }
}
