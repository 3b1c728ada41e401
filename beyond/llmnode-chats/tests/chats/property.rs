//! Any order of turns, pauses, forks, edits, deletions and late owners leaves histories as a list would have them, and each API's
//! strict server takes them.

use std::collections::BTreeMap;

use llmnode::chats::{Chat, Conversations, NewTurn, TurnStore};
use llmnode::prelude::*;
use llmnode::stub_server::{Provider, StubReply};
use llmnode::{Anthropic, Gemini, ModelError, StubServer, TestClock};
use proptest::prelude::*;
use serde_json::json;

use crate::support::{Folder, stores};

/// What time it is.
#[tool]
fn now() -> String {
    "noon".to_owned()
}

/// Sends a letter.
#[tool(require_approval)]
fn send(to: String) -> String {
    format!("sent to {to}")
}

#[llm_node(system = "Be brief.", prompt = "{question}", tools = [Now, Send])]
struct Talk {
    question: String,
}

fn talk(number: usize) -> Talk {
    Talk {
        question: format!("Question {number}?"),
    }
}

/// What happens to the chat with this number, of those that there are.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// How many rounds of tools come before the answer.
    Turn(usize, usize),
    /// The call fails after so many rounds, and goes on or not.
    Failed(usize, usize, bool),
    /// A person decides about a call.
    Paused(usize, bool),
    Pinned(usize),
    /// How many turns are shared.
    Forked(usize, usize),
    /// It is deleted, with its forks.
    Deleted(usize),
    /// A process that was taken for dead writes after another one.
    Late(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => (0_usize..9, 0_usize..3).prop_map(|(chat, rounds)| Step::Turn(chat, rounds)),
        2 => (0_usize..9, 0_usize..3, any::<bool>())
            .prop_map(|(chat, rounds, goes_on)| Step::Failed(chat, rounds, goes_on)),
        2 => (0_usize..9, any::<bool>()).prop_map(|(chat, yes)| Step::Paused(chat, yes)),
        1 => (0_usize..9).prop_map(Step::Pinned),
        2 => (0_usize..9, 0_usize..4).prop_map(|(chat, turns)| Step::Forked(chat, turns)),
        1 => (0_usize..9).prop_map(Step::Deleted),
        1 => (0_usize..9).prop_map(Step::Late),
    ];
    prop::collection::vec(step, 1..14)
}

/// What a chat should have: its turns, each as texts.
#[derive(Clone, Default)]
struct Expected {
    turns: Vec<Vec<String>>,
    pins: Vec<String>,
    parent: Option<String>,
}

struct World {
    chats: Conversations,
    open: BTreeMap<String, (Chat, Expected)>,
    asked: usize,
}

fn now_called() -> Reply {
    Reply::text("").call("now", json!({}))
}

impl World {
    async fn new(chats: Conversations) -> Self {
        let mut world = World {
            chats,
            open: BTreeMap::new(),
            asked: 0,
        };
        world.begin().await;
        world
    }

    async fn begin(&mut self) {
        let id = format!("chat/{}", self.asked);
        let chat = self.chats.open(&*id).await.unwrap();
        self.open.insert(id, (chat, Expected::default()));
    }

    fn pick(&mut self, number: usize) -> &mut (Chat, Expected) {
        let count = self.open.len();
        self.open.values_mut().nth(number % count).unwrap()
    }

    async fn step(&mut self, step: Step) {
        self.asked += 1;
        let asked = self.asked;
        match step {
            Step::Turn(chat, rounds) => turn(self.pick(chat), asked, rounds).await,
            Step::Failed(chat, rounds, goes_on) => {
                failed(self.pick(chat), asked, rounds, goes_on).await;
            }
            Step::Paused(chat, yes) => paused(self.pick(chat), asked, yes).await,
            Step::Late(chat) => late(self.pick(chat), asked).await,
            Step::Pinned(chat) => {
                let (chat, expected) = self.pick(chat);
                let text = format!("Rule {asked}.");
                chat.pin(&*text).await.unwrap();
                expected.pins.push(text);
            }
            Step::Forked(chat, turns) => {
                let (chat, expected) = self.pick(chat);
                let turns: Vec<_> = expected.turns.iter().take(turns).cloned().collect();
                let messages = turns.iter().map(|turn| turn.len() as u64).sum();
                let fork = chat.fork_at(messages).await.unwrap();
                let expected = Expected {
                    turns,
                    pins: Vec::new(),
                    parent: (messages > 0).then(|| chat.id().to_owned()),
                };
                self.open.insert(fork.id().to_owned(), (fork, expected));
            }
            Step::Deleted(chat) => {
                let id = self.pick(chat).0.id().to_owned();
                self.chats.delete_with_forks(&id).await.unwrap();
                self.forget().await;
            }
        }
    }

    /// What was deleted is not there; what was never written is, all the same, as an empty chat.
    async fn forget(&mut self) {
        let mut left = BTreeMap::new();
        for (id, (chat, expected)) in std::mem::take(&mut self.open) {
            let listed = self.chats.list(&id, None).await.unwrap();
            let is_there = listed.iter().any(|info| info.id == id);
            let has_parent = expected.parent.is_none() || is_there;
            if is_there {
                left.insert(id, (chat, expected));
            } else if has_parent {
                assert!(chat.history().await.unwrap().is_empty());
            }
        }
        self.open = left;
        if self.open.is_empty() {
            self.asked += 1;
            self.begin().await;
        }
    }

    async fn check(&self) {
        for (id, (chat, expected)) in &self.open {
            let history = chat.history().await.unwrap();
            let texts: Vec<_> = history.into_iter().map(|one| one.content).collect();
            assert_eq!(texts, expected.turns.concat(), "{id}");
            let numbered = chat.messages(..).await.unwrap();
            assert!(
                (1..)
                    .zip(&numbered)
                    .all(|(number, one)| one.number == number)
            );
            self.chats.open(&**id).await.unwrap();
        }
    }
}

fn appended(expected: &mut Expected, asked: usize, rounds: &[&str], answer: &str) {
    let mut turn = std::mem::take(&mut expected.pins);
    turn.push(format!("Question {asked}?"));
    for result in rounds {
        turn.push(String::new());
        turn.push((*result).to_owned());
    }
    turn.push(answer.to_owned());
    expected.turns.push(turn);
}

async fn turn((chat, expected): &mut (Chat, Expected), asked: usize, rounds: usize) {
    let mut model = ScriptedModel::new();
    for _ in 0..rounds {
        model = model.reply(now_called());
    }
    let run = Run::new(model.reply("It is noon."));
    run.call(&talk(asked)).conversation(chat).await.unwrap();
    appended(expected, asked, &vec!["noon"; rounds], "It is noon.");
}

async fn failed(
    (chat, expected): &mut (Chat, Expected),
    asked: usize,
    rounds: usize,
    goes_on: bool,
) {
    let mut model = ScriptedModel::new();
    for _ in 0..rounds {
        model = model.reply(now_called());
    }
    let gone = ModelError::new(Category::BadRequest, "gone");
    let run = Run::new(model.reply(Reply::error(gone)).reply("It was noon."));
    let node = talk(asked);
    run.call(&node).conversation(chat).await.unwrap_err();
    let unfinished = chat.unfinished().await.unwrap().unwrap();
    if goes_on {
        let call = run.call(&node).conversation(chat).resume(unfinished);
        call.await.unwrap();
        appended(expected, asked, &vec!["noon"; rounds], "It was noon.");
    }
}

async fn paused((chat, expected): &mut (Chat, Expected), asked: usize, yes: bool) {
    let asks = Reply::text("").call("send", json!({"to": "Ann"}));
    let run = Run::new(ScriptedModel::new().reply(asks).reply("Done."));
    let node = talk(asked);
    let error = run.call(&node).conversation(chat).await.unwrap_err();
    let waiting = error.paused().unwrap().waiting();
    let refused = run.call(&talk(0)).conversation(chat).await.unwrap_err();
    assert_eq!(refused.category(), Category::Conflict);
    let approval = if yes {
        Approval::yes()
    } else {
        Approval::no("too far")
    };
    let decided = chat.decide(&waiting[0].id, approval).await.unwrap();
    let call = run.call(&node).conversation(chat).approve(decided);
    call.await.unwrap();
    let result = if yes {
        "sent to Ann"
    } else {
        "not allowed: too far"
    };
    appended(expected, asked, &[result], "Done.");
}

async fn late(pair: &mut (Chat, Expected), asked: usize) {
    let clock = TestClock::new();
    let dead = pair.0.clone().lease(std::time::Duration::ZERO);
    let begun = dead.begin(NewTurn::new(&clock)).await.unwrap();
    turn(pair, asked, 1).await;
    let messages = [Message::user("Late?"), Message::assistant("Late.")];
    let error = dead.append(&begun, &messages, &[]).await.unwrap_err();
    assert_eq!(error.category(), Category::Conflict);
}

async fn providers() -> Vec<(StubServer, Run)> {
    let mut servers = Vec::new();
    for (provider, model) in [
        (Provider::OpenAi, "gpt-4.1"),
        (Provider::OpenAi, "gpt-6-luna"),
        (Provider::Mistral, "mistral-large-latest"),
        (Provider::Anthropic, "claude-sonnet-5-5"),
        (Provider::Gemini, "gemini-3.8-flash"),
    ] {
        let server = StubServer::builder().as_provider(provider);
        let server = server.default_reply(StubReply::text("Noon."));
        let server = server.start().await.unwrap();
        let url = server.base_url();
        let run = match provider {
            Provider::Anthropic => {
                let model = Anthropic::builder().base_url(url).model(model);
                Run::new(model.build().unwrap())
            }
            Provider::Gemini => {
                let model = Gemini::builder().base_url(url).model(model);
                Run::new(model.build().unwrap())
            }
            _ => {
                let builder = OpenAi::builder().base_url(url).model(model);
                let builder = if model == "gpt-6-luna" {
                    builder.responses()
                } else {
                    builder
                };
                Run::new(builder.build().unwrap())
            }
        };
        servers.push((server, run));
    }
    servers
}

/// Two forks of each chat go to each provider, so that turns of one stand before those of another.
async fn are_taken(world: &World, providers: &[(StubServer, Run)]) {
    for (chat, _) in world.open.values().take(3) {
        let fork = chat
            .fork_at(chat.info().await.unwrap().messages)
            .await
            .unwrap();
        for (_, run) in providers {
            let answer = run.call(&talk(0)).conversation(&fork).await;
            let answer = answer.unwrap_or_else(|error| panic!("{}: {error}", chat.id()));
            assert_eq!(answer, "Noon.");
        }
    }
}

#[test]
fn histories_stay_valid_whatever_happens() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let providers = runtime.block_on(providers());
    let config = ProptestConfig {
        cases: 24,
        ..ProptestConfig::default()
    };
    proptest!(config, |(steps in steps())| {
        let folder = Folder::new("property");
        for (_, chats) in runtime.block_on(stores(&folder)) {
            runtime.block_on(async {
                let mut world = World::new(chats).await;
                for step in &steps {
                    world.step(*step).await;
                    world.check().await;
                }
                are_taken(&world, &providers).await;
            });
        }
    });
}
