//! Random conversations: each request begins as the one before it, or `cache_lost` names why.
//!
//! Whether a request begins so is seen from the bodies that the server got, by the server's own reading of them; what `cache_lost`
//! says comes from the client's. The server bills by the provider's rules, so what is kept is also read.

use std::sync::{Arc, Mutex};

use llmnode::prelude::*;
use llmnode::stub_server::{CachePrompt, CacheRules, StubReply};
use llmnode::{Anthropic, Approval, CacheLost, ChatModel, Message, OpenAi, Paused, StubServer};
use proptest::prelude::*;
use serde_json::json;

#[llm_output]
struct Desk {
    number: u8,
}

/// Nobody sits at desk 9. What is asked for then has a narrower schema.
const UNSTAFFED: &str = r#"{"number": 9}"#;

#[validate]
impl Desk {
    fn is_staffed(&self) -> Result<(), Invalid> {
        match self.number {
            9 => Err(Invalid::at("number", "nobody sits there")
                .allowed([4, 5])
                .only()),
            _ => Ok(()),
        }
    }
}

#[derive(Default)]
struct Office {
    rules: String,
}

/// Looks a page up.
#[tool]
fn page(number: u32) -> String {
    format!("page {number}: {}", "letters ".repeat(20))
}

/// Sends a letter.
#[tool(require_approval)]
fn send(to: String) -> String {
    format!("sent to {to}")
}

#[llm_node(
    system = "{state.rules}",
    prompt = "{question}",
    state = Office,
    output = Desk,
    tools = [Page, Send],
    turns = 9,
    retries = 6,
)]
struct Sort {
    #[node(history)]
    earlier: Vec<Message>,
    question: String,
}

/// What one call of the conversation meets.
#[derive(Clone, Debug)]
struct Step {
    /// Rounds of tools, each with so many calls; `true`: the last call waits for a person.
    rounds: Vec<(usize, bool)>,
    /// Answers that are refused before the good one.
    bad_answers: usize,
    /// Another answer is refused, and a list of what is allowed narrows the schema of the next one.
    narrows: bool,
    before: Before,
}

/// What happens to the conversation before the call.
#[derive(Clone, Debug, PartialEq)]
enum Before {
    Nothing,
    /// Another process goes on with what was stored.
    Restart,
    /// Its oldest messages go.
    Cut,
    /// The system's text is another one.
    OtherRules,
    /// The history is written by hand, and has no record.
    ByHand,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let before = prop_oneof![
        4 => Just(Before::Nothing),
        2 => Just(Before::Restart),
        1 => Just(Before::Cut),
        1 => Just(Before::OtherRules),
        1 => Just(Before::ByHand),
    ];
    let rounds = prop::collection::vec((1_usize..4, prop::bool::weighted(0.3)), 0..4);
    let narrows = prop::bool::weighted(0.3);
    let step = (rounds, 0_usize..6, narrows, before);
    let step = step.prop_map(|(rounds, bad_answers, narrows, before)| Step {
        rounds,
        bad_answers: bad_answers.saturating_sub(usize::from(narrows)),
        narrows,
        before,
    });
    prop::collection::vec(step, 1..4)
}

fn script(step: &Step) -> Vec<StubReply> {
    let mut replies = Vec::new();
    for (calls, waits) in &step.rounds {
        let page = || json!({"number": 7});
        let first = StubReply::call("page", page());
        let mut reply = (1..*calls).fold(first, |reply, _| reply.and_call("page", page()));
        if *waits {
            reply = reply.and_call("send", json!({"to": "Ada"}));
        }
        replies.push(reply);
    }
    if step.narrows {
        replies.push(StubReply::text(UNSTAFFED));
    }
    for number in 0..step.bad_answers {
        replies.push(StubReply::text(format!("desk number {number}, I think")));
    }
    replies.push(StubReply::text(r#"{"number": 4}"#));
    replies
}

fn model(is_anthropic: bool, server: &StubServer) -> Arc<dyn ChatModel> {
    let proxy = format!("http://{}", server.address());
    if is_anthropic {
        let builder = Anthropic::builder()
            .base_url("http://api.anthropic.com")
            .api_key("k");
        return Arc::new(
            builder
                .model("m")
                .proxy(proxy)
                .allow_plain_http()
                .build()
                .unwrap(),
        );
    }
    let builder = OpenAi::builder()
        .base_url("http://api.openai.com/v1")
        .api_key("k");
    Arc::new(
        builder
            .model("m")
            .proxy(proxy)
            .allow_plain_http()
            .build()
            .unwrap(),
    )
}

type Said = Arc<Mutex<Vec<CacheLost>>>;

fn office(is_anthropic: bool, server: &StubServer, rules: &str, said: &Said) -> Run<Office> {
    let said = Arc::clone(said);
    Run::new(model(is_anthropic, server))
        .with_state(Office {
            rules: rules.repeat(200),
        })
        .on_attempt(move |_, attempt| said.lock().unwrap().push(attempt.cache_lost().clone()))
}

fn stored<T: serde::Serialize + serde::de::DeserializeOwned>(value: &T) -> T {
    serde_json::from_str(&serde_json::to_string(value).unwrap()).unwrap()
}

/// Returns the history behind the call, if it has an answer. Whatever waits is approved by another process.
async fn ask(run: &Run<Office>, earlier: Vec<Message>, question: String) -> Option<Vec<Message>> {
    let node = Sort { earlier, question };
    let mut outcome = run.call(&node).report().await;
    for _ in 0..9 {
        match outcome {
            Ok(report) => return Some(report.history().unwrap()),
            Err(error) => {
                let paused: Paused = stored(&error.paused()?);
                let waiting = paused.waiting();
                let decide = |paused: Paused, call: &llmnode::WaitingCall| {
                    paused.decide(&call.id, Approval::yes()).unwrap()
                };
                let decided = waiting.iter().fold(paused, decide);
                outcome = run.call(&node).approve(decided).report().await;
            }
        }
    }
    None
}

async fn check(is_anthropic: bool, steps: Vec<Step>) {
    let rules = if is_anthropic {
        CacheRules::anthropic()
    } else {
        CacheRules::openai()
    };
    let server = StubServer::builder().billing(rules).start().await.unwrap();
    let said = Said::default();
    let mut text = "Letters about roofs go to desk 4. ".to_owned();
    let mut run = office(is_anthropic, &server, &text, &said);
    let mut earlier = Vec::new();
    // Of which requests there is no record to compare with.
    let mut unrecorded = vec![0];
    for (at, step) in steps.iter().enumerate() {
        match step.before {
            Before::Nothing => {}
            Before::Restart => {
                run = office(is_anthropic, &server, &text, &said);
                earlier = stored(&earlier);
            }
            Before::Cut => drop(earlier.cut(2)),
            Before::OtherRules => {
                text = format!("Today is day {at}. {text}");
                run = office(is_anthropic, &server, &text, &said);
            }
            Before::ByHand => {
                earlier = vec![Message::user("Hello"), Message::assistant("Hello.")];
                unrecorded.push(said.lock().unwrap().len());
            }
        }
        script(step)
            .into_iter()
            .for_each(|reply| server.push(reply));
        let Some(history) = ask(&run, earlier, format!("Question {at}?")).await else {
            break;
        };
        earlier = history;
    }
    let bodies: Vec<CachePrompt> = server
        .requests()
        .iter()
        .map(|request| CachePrompt::of(request.json().unwrap()))
        .collect();
    let said = said.lock().unwrap();
    assert_eq!(said.len(), bodies.len());
    for (at, lost) in said.iter().enumerate() {
        if unrecorded.contains(&at) {
            assert_eq!(*lost, CacheLost::Unknown, "request {at} of {steps:?}");
            continue;
        }
        let before = &bodies[at - 1];
        let is_kept = bodies[at].shared_with(before) == before.blocks();
        match lost {
            CacheLost::Kept => assert!(is_kept, "request {at} of {steps:?}"),
            CacheLost::Changed { part } => assert!(!is_kept, "{part}: request {at} of {steps:?}"),
            other => panic!("{other}: request {at}, kept: {is_kept}, of {steps:?}"),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_prefix_is_kept_or_it_is_said_why(is_anthropic in any::<bool>(), steps in steps()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(check(is_anthropic, steps));
    }
}

#[tokio::test]
async fn a_schema_that_a_correction_narrows_is_named() {
    for is_anthropic in [false, true] {
        let server = StubServer::builder().start().await.unwrap();
        for answer in [UNSTAFFED, r#"{"number": 4}"#] {
            server.push(StubReply::text(answer));
        }
        let said = Said::default();
        let run = office(
            is_anthropic,
            &server,
            "Letters about roofs go to desk 4. ",
            &said,
        );
        let node = Sort {
            earlier: Vec::new(),
            question: "Which desk?".to_owned(),
        };
        let report = run.call(&node).report().await.unwrap();
        assert_eq!(report.record.attempts[1].narrowed, ["/number"]);
        let lost = &said.lock().unwrap()[1];
        let CacheLost::Changed { part } = lost else {
            panic!("{lost}");
        };
        assert_eq!(part, "the parameters of `Desk`", "{is_anthropic}");
    }
}
