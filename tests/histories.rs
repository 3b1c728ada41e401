//! Any cut of any valid history is taken by the strict server of each API.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    missing_docs,
    reason = "tests"
)]

use llmnode::prelude::*;
use llmnode::stub_server::{Provider, StubReply};
use llmnode::{Anthropic, Gemini, Image, StubServer, ToolCall};
use proptest::prelude::*;

/// What time it is.
#[tool]
fn now() -> String {
    "noon".to_owned()
}

/// Talks.
#[llm_node(system = "Be brief.", prompt = "{question}", tools = [Now])]
struct Talk {
    #[node(history)]
    before: Vec<Message>,
    question: &'static str,
}

/// A part of a turn behind the user's message.
#[derive(Clone, Debug)]
enum Round {
    /// How many tools are called at once, whether the model says something, and whether the last call fails.
    Calls(usize, bool, bool),
    /// A turn that the provider paused.
    Paused,
}

#[derive(Clone, Debug)]
struct Turn {
    /// Before it, a message of the system.
    system: bool,
    /// The user's messages: with an image or not.
    asked: Vec<bool>,
    rounds: Vec<Round>,
    /// The answer's figure.
    tokens: Option<u64>,
}

fn turns() -> impl Strategy<Value = Vec<Turn>> {
    let round = prop_oneof![
        3 => (1_usize..4, any::<bool>(), any::<bool>())
            .prop_map(|(calls, says, fails)| Round::Calls(calls, says, fails)),
        1 => Just(Round::Paused),
    ];
    let turn = (
        prop::bool::weighted(0.1),
        prop::collection::vec(any::<bool>(), 1..3),
        prop::collection::vec(round, 0..3),
        prop::option::of(0_u64..300),
    );
    let turn = turn.prop_map(|(system, asked, rounds, tokens)| Turn {
        system,
        asked,
        rounds,
        tokens,
    });
    prop::collection::vec(turn, 0..5)
}

fn history(turns: &[Turn]) -> Vec<Message> {
    let mut history = Vec::new();
    let mut number = 0;
    for turn in turns {
        if turn.system {
            history.push(Message::system("The library is closed."));
        }
        for has_image in &turn.asked {
            let message = Message::user("What is this?");
            let image = || Image::bytes("image/png", b"\x89PNG\r\n\x1a\n").unwrap();
            history.push(if *has_image {
                message.attach(image())
            } else {
                message
            });
        }
        for round in &turn.rounds {
            let Round::Calls(calls, says, fails) = *round else {
                history.push(Message::assistant("I go on."));
                continue;
            };
            let ids: Vec<String> = (0..calls)
                .map(|at| format!("call_{}", number + at))
                .collect();
            number += calls;
            let asked = Message::assistant(if says { "I look." } else { "" });
            history.push(asked.calling(ids.iter().map(|id| ToolCall::new(id, "now", "{}"))));
            history.extend(ids.iter().map(|id| Message::tool(id, "noon")));
            if fails {
                let last = history.pop().unwrap();
                history.push(last.failed());
            }
        }
        history.push(Message::assistant("It is noon.").counted(turn.tokens));
    }
    history
}

async fn servers() -> Vec<(StubServer, Run)> {
    let mut servers = Vec::new();
    for (provider, model) in [
        (Provider::OpenAi, "gpt-4.1"),
        (Provider::OpenAi, "gpt-6-luna"),
        (Provider::Mistral, "mistral-large-latest"),
        (Provider::DeepSeek, "deepseek-v4-pro"),
        (Provider::Anthropic, "claude-sonnet-5-5"),
        (Provider::Gemini, "gemini-3.8-flash"),
    ] {
        let server = StubServer::builder()
            .as_provider(provider)
            .default_reply(StubReply::text("Noon."));
        let server = server.start().await.unwrap();
        let url = server.base_url();
        let run = match provider {
            Provider::Anthropic => Run::new(
                Anthropic::builder()
                    .base_url(url)
                    .model(model)
                    .build()
                    .unwrap(),
            ),
            Provider::Gemini => Run::new(
                Gemini::builder()
                    .base_url(url)
                    .model(model)
                    .build()
                    .unwrap(),
            ),
            _ if model == "gpt-6-luna" => Run::new(
                OpenAi::builder()
                    .base_url(url)
                    .model(model)
                    .responses()
                    .build()
                    .unwrap(),
            ),
            _ => Run::new(
                OpenAi::builder()
                    .base_url(url)
                    .model(model)
                    .build()
                    .unwrap(),
            ),
        };
        servers.push((server, run));
    }
    servers
}

async fn is_taken(run: &Run, before: Vec<Message>) -> Result<(), String> {
    let shown = format!("{before:?}");
    let outcome = run
        .call(&Talk {
            before,
            question: "And now?",
        })
        .await;
    outcome
        .map(drop)
        .map_err(|error| format!("{error}\n{shown}"))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn any_cut_of_any_history_is_taken(turns in turns(), most in prop::collection::vec(0_u64..600, 2)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let outcome: Result<(), String> = runtime.block_on(async {
            let whole = history(&turns);
            let stored: Vec<Message> = serde_json::from_str(&serde_json::to_string(&whole).unwrap()).unwrap();
            let by_number = (0..=whole.len()).map(|newest| {
                let mut some = stored.clone();
                let gone = some.cut(newest);
                assert_eq!(gone + some.len(), whole.len());
                some
            });
            let by_tokens = most.iter().map(|most| {
                let mut some = stored.clone();
                some.cut_to_tokens(*most);
                some
            });
            let mut cuts: Vec<Vec<Message>> = by_number.chain(by_tokens).collect();
            cuts.dedup();
            for (_server, run) in servers().await {
                for cut in &cuts {
                    is_taken(&run, cut.clone()).await?;
                }
            }
            Ok(())
        });
        prop_assert!(outcome.is_ok(), "{}", outcome.unwrap_err());
    }
}
