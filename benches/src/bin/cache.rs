//! What prompts cost, with the cache of each provider and nothing set: four programs, three sets of rules, and an oracle beside them.
//!
//! Each program runs against the stub server, which stands in for the provider's own host. Its requests are then billed by the rules
//! of the provider's cache ([`CacheRules`]), on a clock of their own: a turn takes six seconds, the items of a map three
//! milliseconds. The *oracle* is the cheapest bill that was found for the same prompts, knowing all of them: it searches the places of
//! marks request by request, from four beginnings, until no place of one mark or two is cheaper, and none that is added, taken away
//! or moved, up to the four that providers take; of OpenAI's older models it chooses the key of each request. *Without* is the bill of
//! the same prompts with no field of the cache at all.
//!
//! `cargo run --release --manifest-path benches/Cargo.toml --bin cache` prints the table of docs/performance.md. With a Python that
//! has pydantic-ai as its argument, the bills of `cache_pydantic_ai.py` stand beside them: the same programs and texts, with its
//! settings for the cache switched on.

use std::collections::VecDeque;
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::time::Duration;

use llmnode::prelude::*;
use llmnode::stub_server::{CacheMeter, CachePrompt, CacheRules, Provider, StubReply};
use llmnode::{Anthropic, ChatModel, Message, OpenAi, StubServer};
use serde_json::{Value, json};

const TURN: Duration = Duration::from_secs(6);
const ITEM: Duration = Duration::from_millis(3);
const ANSWER: Duration = Duration::from_millis(2);

const ITEMS: usize = 1_000;
const CALLS: usize = 50;
const TURNS: usize = 30;
/// Providers take no more marks.
const MOST_MARKS: usize = 4;

/// About so many tokens of rules.
fn rules_text(tokens: usize) -> String {
    let mut text = String::new();
    for number in 1.. {
        if text.len() >= 4 * tokens {
            break;
        }
        text += &format!(
            "Rule {number}: letters about item {} go to desk {}.\n",
            number * 7 % 31,
            number % 9
        );
    }
    text
}

/// Set once: a node's text is its own.
struct Texts {
    long: String,
    short: String,
}

/// Looks a page up.
#[tool]
fn look(page: u32) -> String {
    rules_text(300) + &page.to_string()
}

#[llm_node(system = "{state.short}", prompt = "Sum the ledger up.", tools = [Look], turns = 20, state = Texts)]
struct Agent;

#[llm_node(system = "{state.long}", prompt = "Sort this letter: {letter}", state = Texts)]
struct Sort {
    letter: String,
}

#[llm_node(prompt = "Sum up in one sentence:\n{document}")]
struct Sum {
    document: String,
}

#[llm_node(system = "{state.short}", prompt = "{said}", state = Texts)]
struct Chat {
    #[node(history)]
    earlier: Vec<Message>,
    said: String,
}

#[derive(Clone, Copy, PartialEq)]
enum Program {
    Agent,
    Map,
    Single,
    Chat,
}

const PROGRAMS: [(Program, &str); 4] = [
    (Program::Agent, "an agent of 20 turns"),
    (
        Program::Map,
        "a map of 1,000 nodes, system text of 3,000 tokens",
    ),
    (Program::Single, "50 single calls of 1,500 tokens"),
    (Program::Chat, "a chat of 30 turns"),
];

#[derive(Clone, Copy, PartialEq)]
enum Rules {
    OpenAi,
    OlderOpenAi,
    Anthropic,
}

impl Program {
    /// As the peer's program knows it.
    fn word(self) -> &'static str {
        match self {
            Program::Agent => "agent",
            Program::Map => "map",
            Program::Single => "single",
            Program::Chat => "chat",
        }
    }
}

const RULES: [(Rules, &str); 3] = [
    (Rules::OpenAi, "OpenAI from gpt-5.6 on"),
    (Rules::OlderOpenAi, "OpenAI up to gpt-5.5"),
    (Rules::Anthropic, "Anthropic"),
];

impl Rules {
    fn of_cache(self) -> CacheRules {
        match self {
            Rules::OpenAi => CacheRules::openai(),
            Rules::OlderOpenAi => CacheRules::older_openai(),
            Rules::Anthropic => CacheRules::anthropic(),
        }
    }

    /// As the peer's program knows them.
    fn word(self) -> &'static str {
        match self {
            Rules::OpenAi => "openai",
            Rules::OlderOpenAi => "older_openai",
            Rules::Anthropic => "anthropic",
        }
    }

    fn provider(self) -> Provider {
        match self {
            Rules::OpenAi | Rules::OlderOpenAi => Provider::OpenAi,
            Rules::Anthropic => Provider::Anthropic,
        }
    }

    /// At the provider's own host, for which the stub stands in as a proxy.
    fn model(self, server: &StubServer) -> Box<dyn ChatModel> {
        let proxy = format!("http://{}", server.address());
        let openai = |model: &str| {
            let builder = OpenAi::builder()
                .base_url("http://api.openai.com/v1")
                .api_key("k");
            builder
                .model(model)
                .proxy(proxy.clone())
                .allow_plain_http()
                .build()
                .expect("a model")
        };
        match self {
            Rules::OpenAi => Box::new(openai("gpt-6-luna")),
            Rules::OlderOpenAi => Box::new(openai("gpt-5.5")),
            Rules::Anthropic => {
                let builder = Anthropic::builder()
                    .base_url("http://api.anthropic.com")
                    .api_key("k");
                let builder = builder
                    .model("claude-sonnet-5-5")
                    .proxy(proxy)
                    .allow_plain_http();
                Box::new(builder.build().expect("a model"))
            }
        }
    }
}

fn script(program: Program) -> Vec<StubReply> {
    match program {
        Program::Agent => (0..19)
            .map(|page| StubReply::call("look", json!({"page": page})))
            .collect(),
        _ => Vec::new(),
    }
}

async fn start_server(program: Program, rules: Rules) -> StubServer {
    StubServer::builder()
        .as_provider(rules.provider())
        .billing(rules.of_cache())
        .script(script(program))
        .default_reply(StubReply::text("It goes to desk 4."))
        .start()
        .await
        .expect("a server")
}

fn letter(number: usize) -> String {
    format!("{number}: {}", rules_text(200))
}

fn document(number: usize) -> String {
    format!("{number}: {}", rules_text(1_500))
}

fn said(turn: usize) -> String {
    format!("{turn}: {}", rules_text(100))
}

/// Returns the bodies of the requests that were answered.
async fn run(program: Program, rules: Rules) -> Vec<Value> {
    let server = start_server(program, rules).await;
    let texts = Texts {
        long: rules_text(3_000),
        short: rules_text(1_500),
    };
    let run = Run::new(rules.model(&server)).with_state(texts);
    match program {
        Program::Agent => drop(run.call(&Agent).await.expect("an answer")),
        Program::Map => {
            let nodes = (0..ITEMS).map(|number| Sort {
                letter: letter(number),
            });
            drop(run.map(nodes).try_all().await.expect("answers"));
        }
        Program::Single => {
            for number in 0..CALLS {
                let document = document(number);
                run.call(&Sum { document }).await.expect("an answer");
            }
        }
        Program::Chat => chat(&run).await,
    }
    answered(&server)
}

/// The same program by pydantic-ai.
async fn run_peer(python: &str, program: Program, rules: Rules) -> Vec<Value> {
    let server = start_server(program, rules).await;
    let texts = json!({
        "short": rules_text(1_500),
        "long": rules_text(3_000),
        "page": rules_text(300),
        "letters": (0..ITEMS).map(letter).collect::<Vec<_>>(),
        "documents": (0..CALLS).map(document).collect::<Vec<_>>(),
        "said": (0..TURNS).map(said).collect::<Vec<_>>(),
    });
    let mut peer = Command::new(python);
    peer.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/cache_pydantic_ai.py"))
        .args([program.word(), rules.word()])
        .arg(format!("http://{}", server.address()));
    // The server is in this process.
    tokio::task::spawn_blocking(move || told(peer, &texts.to_string()))
        .await
        .expect("an end");
    answered(&server)
}

/// Runs a program to its end, with this as its input.
fn told(mut program: Command, input: &str) {
    let mut child = program.stdin(Stdio::piped()).spawn().expect("Python");
    let mut to = child.stdin.take().expect("its input");
    to.write_all(input.as_bytes()).expect("texts");
    drop(to);
    assert!(child.wait().expect("an end").success());
}

fn answered(server: &StubServer) -> Vec<Value> {
    let requests = server.requests();
    let answered = requests
        .iter()
        .filter(|request| request.status() == Some(200));
    answered
        .filter_map(|request| request.json().cloned())
        .collect()
}

async fn chat(run: &Run<Texts>) {
    let mut earlier = Vec::new();
    for turn in 0..TURNS {
        let said = said(turn);
        let report = run
            .call(&Chat { earlier, said })
            .report()
            .await
            .expect("an answer");
        earlier = report.history().expect("a history");
    }
}

struct Bill {
    cost: f64,
}

/// `space`: between two requests.
fn bill(rules: CacheRules, prompts: &[CachePrompt], space: Duration) -> Bill {
    let mut meter = CacheMeter::new(rules);
    let mut at = Duration::ZERO;
    for prompt in prompts {
        meter.bill_prompt(prompt, at, at + ANSWER);
        at += space;
    }
    Bill { cost: meter.cost() }
}

/// The cheapest bill that is found for these prompts.
fn oracle(rules: Rules, prompts: &[CachePrompt], space: Duration) -> f64 {
    if rules == Rules::OlderOpenAi {
        return bill(rules.of_cache(), &with_best_keys(prompts, space), space).cost;
    }
    let beginnings = [
        placed(prompts, |_, _| Vec::new()),
        placed(prompts, |_, prompt| vec![prompt.blocks() - 1]),
        placed(prompts, |at, prompt| shared(prompts, at, prompt)),
        placed(prompts, |at, prompt| {
            let before = at
                .checked_sub(1)
                .map(|before| prompt.shared_with(&prompts[before]));
            let read = before.filter(|end| *end > 0).map(|end| end - 1);
            read.into_iter().chain([prompt.blocks() - 1]).collect()
        }),
    ];
    let costs = beginnings.map(|beginning| improved(rules.of_cache(), beginning, prompts, space));
    costs.into_iter().fold(f64::INFINITY, f64::min)
}

fn placed(
    prompts: &[CachePrompt],
    place: impl Fn(usize, &CachePrompt) -> Vec<usize>,
) -> Vec<Vec<usize>> {
    let numbered = prompts.iter().enumerate();
    numbered.map(|(at, prompt)| place(at, prompt)).collect()
}

/// Where the part ends that the next or the last prompt has, too.
fn shared(prompts: &[CachePrompt], at: usize, prompt: &CachePrompt) -> Vec<usize> {
    let beside = [at.wrapping_sub(1), at + 1];
    let ends = beside.iter().filter_map(|other| prompts.get(*other));
    let ends = ends.map(|other| prompt.shared_with(other));
    ends.max()
        .filter(|end| *end > 0)
        .map(|end| end - 1)
        .into_iter()
        .collect()
}

/// Tries other places for the marks of each request, until none is cheaper.
fn improved(
    rules: CacheRules,
    mut places: Vec<Vec<usize>>,
    prompts: &[CachePrompt],
    space: Duration,
) -> f64 {
    let placed = prompts.iter().zip(&places);
    let mut marked: Vec<CachePrompt> = placed.map(|(prompt, marks)| prompt.marked(marks)).collect();
    let mut best = bill(rules, &marked, space).cost;
    // In a long list all items are alike: one of a hundred is tried.
    let step = prompts.len().div_ceil(100);
    loop {
        let before = best;
        for at in (0..prompts.len()).step_by(step) {
            for marks in others(&places[at], prompts[at].blocks()) {
                let kept = std::mem::replace(&mut marked[at], prompts[at].marked(&marks));
                let cost = bill(rules, &marked, space).cost;
                if cost < best {
                    best = cost;
                    places[at] = marks;
                } else {
                    marked[at] = kept;
                }
            }
        }
        if best >= before {
            return best;
        }
    }
}

/// None, one or two marks anywhere; and these marks with one more, one less, or one elsewhere.
fn others(marks: &[usize], blocks: usize) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for one in 0..blocks {
        all.push(vec![one]);
        all.extend((0..one).map(|other| vec![other, one]));
    }
    let without = (0..marks.len()).map(|at| {
        let mut rest = marks.to_vec();
        rest.remove(at);
        rest
    });
    let rests: Vec<Vec<usize>> = without.chain([marks.to_vec()]).collect();
    for rest in &rests {
        let free = (0..blocks).filter(|one| !rest.contains(one));
        let more = free.map(|one| {
            let mut more = rest.clone();
            more.push(one);
            more.sort_unstable();
            more
        });
        // One mark or two are there.
        all.extend(more.filter(|more| (3..=MOST_MARKS).contains(&more.len())));
    }
    all.extend(rests.into_iter().filter(|rest| rest.len() > 2));
    all
}

/// As few keys as the rules allow: fifteen requests a minute each.
fn with_best_keys(prompts: &[CachePrompt], space: Duration) -> Vec<CachePrompt> {
    let mut lanes: Vec<VecDeque<Duration>> = Vec::new();
    let mut at = Duration::ZERO;
    let mut keyed = Vec::new();
    for prompt in prompts {
        for lane in &mut lanes {
            while lane
                .front()
                .is_some_and(|before| at - *before >= Duration::from_secs(60))
            {
                lane.pop_front();
            }
        }
        let free = lanes
            .iter()
            .position(|lane| lane.len() < 15)
            .unwrap_or(lanes.len());
        if free == lanes.len() {
            lanes.push(VecDeque::new());
        }
        lanes[free].push_back(at);
        keyed.push(prompt.keyed(&free.to_string()));
        at += space;
    }
    keyed
}

/// The same prompts by a client that knows nothing of caches.
fn without_fields(body: &Value) -> Value {
    match body {
        Value::Object(members) => {
            let kept = members
                .iter()
                .filter(|(name, _)| !name.starts_with("prompt_cache") && *name != "cache_control");
            kept.map(|(name, value)| (name.clone(), without_fields(value)))
                .collect::<serde_json::Map<_, _>>()
                .into()
        }
        Value::Array(items) => items.iter().map(without_fields).collect(),
        other => other.clone(),
    }
}

/// With the fields of the cache that they have.
fn prompts(bodies: &[Value]) -> Vec<CachePrompt> {
    bodies.iter().map(CachePrompt::of).collect()
}

fn keep(bodies: &[Value], name: &str) {
    let Some(folder) = std::env::args().nth(2) else {
        return;
    };
    let lines: String = bodies.iter().map(|body| format!("{body}\n")).collect();
    std::fs::write(format!("{folder}/{name}.jsonl"), lines).expect("a file");
}

#[tokio::main]
async fn main() {
    let python = std::env::args().nth(1);
    println!(
        "| | rules | input tokens | without | pydantic-ai | llmnode | oracle | llmnode / oracle |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    for (program, name) in PROGRAMS {
        for (rules, of) in RULES {
            let bodies = run(program, rules).await;
            keep(
                &bodies,
                &format!("{}-{}-llmnode", program.word(), rules.word()),
            );
            let space = if program == Program::Map { ITEM } else { TURN };
            let sent = prompts(&bodies);
            let plain: Vec<Value> = bodies.iter().map(without_fields).collect();
            let plain = prompts(&plain);
            let own = bill(rules.of_cache(), &sent, space).cost;
            let without = bill(rules.of_cache(), &plain, space).cost;
            let peer = match &python {
                Some(python) => {
                    let bodies = run_peer(python, program, rules).await;
                    keep(
                        &bodies,
                        &format!("{}-{}-peer", program.word(), rules.word()),
                    );
                    let cost = bill(rules.of_cache(), &prompts(&bodies), space).cost;
                    format!("{cost:.0}")
                }
                None => String::new(),
            };
            let best = oracle(rules, &sent, space).min(own);
            let input: f64 = plain.iter().map(|prompt| prompt.tokens() as f64).sum();
            println!(
                "| {name} | {of} | {input:.0} | {without:.0} | {peer} | {own:.0} | {best:.0} | {:.3} |",
                own / best
            );
        }
    }
}
