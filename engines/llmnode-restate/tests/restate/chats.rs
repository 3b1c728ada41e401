//! Flows that share a chat, in workers that die: each turn is in the chat once, and each answer is paid once.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use llmnode::chats::{Chat, ChatMessage, Conversations};
use llmnode::prelude::*;
use llmnode::stub_server::{LoggedRequest, StubReply};
use llmnode::{ScriptedModel, StubServer};
use llmnode_restate::{Client, Outcome};
use serde_json::json;

use crate::support::{Balancer, Process, Restate, port, spawn, unix_ms};
use crate::talk::{QUESTIONS, in_chat, patient, question, variables};
use crate::work::{Asked, Site, World, counts};

/// Of each question: the call of a tool, and the answer.
const REQUESTS: u64 = 2 * QUESTIONS as u64;

/// Calls a tool, and then answers. Counts what it is asked before it answers.
async fn model(delay: Duration) -> (StubServer, Asked) {
    let asked = Asked::default();
    let counted = Arc::clone(&asked);
    let reply = StubReply::for_request(move |request| {
        let asked_for = Question::last_in(request);
        let key = format!("{} / {}", asked_for.text, asked_for.has_result);
        *counted.lock().unwrap().entry(key).or_default() += 1;
        let reply = match asked_for.has_result {
            false => StubReply::call("look", json!({"word": "tea"})),
            true => StubReply::text(format!("answer to {}", asked_for.text)),
        };
        reply.after(delay)
    });
    let server = StubServer::builder().default_reply(reply);
    (server.start().await.unwrap(), asked)
}

struct Question {
    text: String,
    /// The tool's result stands behind it.
    has_result: bool,
}

impl Question {
    fn last_in(request: &LoggedRequest) -> Self {
        let messages = request.messages();
        let of_user = messages.iter().rposition(|(role, _)| role == "user");
        let place = of_user.unwrap();
        Question {
            text: messages[place].1.clone(),
            has_result: messages[place..].iter().any(|(role, _)| role == "tool"),
        }
    }
}

/// Restate, a chat's file, and workers that know it.
struct Desk {
    restate: Restate,
    site: Site,
    chats: PathBuf,
}

impl Desk {
    async fn new(name: &str, model: &StubServer) -> Self {
        let site = Site::new(name, model.base_url());
        let chats = site.effects.with_extension("db");
        let _ = std::fs::remove_file(&chats);
        Desk {
            restate: Restate::start().await,
            site,
            chats,
        }
    }

    fn worker(&self, port: u16, last_write: Option<u64>) -> Process {
        let mut command = self.site.command(port);
        command.envs(variables(&self.chats, last_write));
        spawn(command)
    }
}

async fn open(path: &Path, chat: &str) -> Chat {
    let chats = Conversations::sqlite(path).unwrap();
    patient(chats, chat).await.unwrap()
}

/// The run has its answers. Returns its outcome.
async fn answered(runs: &Client, run: &str) -> Outcome<World> {
    let outcome: Outcome<World> = runs.result("talking", run).await.unwrap();
    let expected = questions_of(run).map(|question| format!("answer to {question}"));
    assert_eq!(outcome.state.notes, expected, "{run}");
    outcome
}

fn questions_of(run: &str) -> [String; QUESTIONS] {
    std::array::from_fn(|number| question(run, number))
}

/// All turns are whole, and as many as the revision says. Returns their questions, in the order of the alphabet.
async fn questions_in(chat: &Chat) -> Vec<String> {
    // Reading a history checks that each call has one result, and each result its call.
    chat.history().await.unwrap();
    let messages = chat.messages(..).await.unwrap();
    let turns = messages.chunk_by(|one, next| one.turn == next.turn);
    let mut questions: Vec<String> = turns.map(whole_turn).collect();
    let revision = chat.info().await.unwrap().revision;
    assert_eq!(revision as usize, questions.len());
    questions.sort_unstable();
    questions
}

/// Returns the question.
fn whole_turn(turn: &[ChatMessage]) -> String {
    let texts: Vec<&str> = turn.iter().map(|one| &*one.message.content).collect();
    let answer = format!("answer to {}", texts[0]);
    match texts[0] {
        ASIDE => assert_eq!(texts, [ASIDE, &answer]),
        question => assert_eq!(texts, [question, "", "tea is there", &answer]),
    }
    texts[0].to_owned()
}

/// What somebody else says.
const ASIDE: &str = "Aside";

#[llm_node(prompt = "Aside")]
struct Aside;

/// Somebody else tries to write. Behind a whole turn that is possible; while a turn is under way it is not, although its worker is dead.
async fn aside(path: &Path, chat: &str) -> bool {
    let run = Run::new(ScriptedModel::new().reply(format!("answer to {ASIDE}")));
    let chats = Conversations::sqlite(path).unwrap();
    let chat = chats.open(chat).await.unwrap();
    match run.call(&Aside).conversation(&chat).await {
        Ok(_) => true,
        Err(error) => {
            assert_eq!(error.category(), Category::Conflict, "{error}");
            false
        }
    }
}

/// How a run went whose worker was to die.
struct Death {
    died: bool,
    /// Somebody else wrote, while no worker was there.
    has_aside: bool,
}

/// The worker dies behind this write into the chat, and another one goes on.
async fn death_behind(desk: &Desk, port: u16, write: u64, asked: &Asked) -> Death {
    let run = format!("w{write}");
    let mut worker = desk.worker(port, Some(write));
    desk.restate.register(port).await;
    let runs = desk.restate.client();
    let world = in_chat(&run, &run);
    runs.start("talking", &run, &world).await.unwrap();
    let died = tokio::select! {
        () = worker.ended() => true,
        _ = answered(&runs, &run) => false,
    };
    let has_aside = died && aside(&desk.chats, &run).await;
    let _next = died.then(|| desk.worker(port, None));
    let outcome = answered(&runs, &run).await;
    assert_eq!(counts(asked, &run), (REQUESTS, 0), "{run}: paid twice");
    let paid = (outcome.usage.requests, outcome.unknown);
    assert_eq!(paid, (REQUESTS, 0), "{run}");
    let chat = open(&desk.chats, &run).await;
    let mut expected = questions_of(&run).to_vec();
    if has_aside {
        expected.insert(0, ASIDE.to_owned());
    }
    assert_eq!(questions_in(&chat).await, expected, "{run}");
    Death { died, has_aside }
}

/// The worker dies behind its first write into the chat, its second and so on, until a run ends before that. Then the store has
/// committed, and neither the flow nor Restate has heard of it.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Restate's server: scripts/restate"]
async fn a_worker_that_dies_behind_a_commit_leaves_one_turn_that_is_paid_once() {
    let (model, asked) = model(Duration::ZERO).await;
    let desk = Desk::new("commit", &model).await;
    let port = port();
    let mut deaths = 0;
    let mut asides = 0;
    for write in 1.. {
        let death = death_behind(&desk, port, write, &asked).await;
        if !death.died {
            break;
        }
        deaths += 1;
        asides += usize::from(death.has_aside);
    }
    // Behind the last write of a question its turn is there, and the chat is free.
    assert!(asides >= QUESTIONS, "{asides} of {deaths}");
    assert!(deaths >= 2 * QUESTIONS, "{deaths}");
    println!("{deaths} deaths behind a commit, {asides} times others wrote before the run went on");
}

fn number(variable: &str, default: usize) -> usize {
    std::env::var(variable).map_or(default, |text| text.parse().unwrap())
}

/// Runs in two workers, one of which is killed again and again, share one chat.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Restate's server: scripts/restate"]
async fn whenever_workers_are_killed_each_turn_is_in_the_chat_once() {
    let kills = number("LLMNODE_KILLS", 20);
    let all = number("LLMNODE_RUNS", 10);
    let (model, asked) = model(Duration::from_millis(60)).await;
    let desk = Desk::new("chats", &model).await;
    let balancer = Balancer::start().await;
    let ports = [port(), port()];
    let mut workers = ports.map(|port| Some(desk.worker(port, None)));
    balancer.list(&ports);
    desk.restate.register(balancer.port).await;
    let runs = desk.restate.client();
    let ids: Vec<String> = (1..=all).map(|number| format!("c{number}")).collect();
    let mut started = ids.iter();
    let mut random = unix_ms() | 1;
    for turn in 0..kills {
        // Evenly over the kills.
        while started.len() * kills > all * (kills - turn - 1) {
            let id = started.next().unwrap();
            let world = in_chat(id, "desk");
            runs.start("talking", id, &world).await.unwrap();
        }
        // xorshift64
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        tokio::time::sleep(Duration::from_millis(100 + random % 900)).await;
        workers[turn % 2].take().unwrap().kill();
        workers[turn % 2] = Some(desk.worker(ports[turn % 2], None));
    }
    let mut repeats = 0;
    let mut unknown = 0;
    for id in &ids {
        let outcome = answered(&runs, id).await;
        let (requests, again) = counts(&asked, id);
        assert!(again <= outcome.unknown, "{id}: {again} again, {outcome:?}");
        assert_eq!(requests - again, REQUESTS, "{id}");
        repeats += again;
        unknown += outcome.unknown;
    }
    let chat = open(&desk.chats, "desk").await;
    let mut expected: Vec<String> = ids.iter().flat_map(|id| questions_of(id)).collect();
    expected.sort_unstable();
    assert_eq!(questions_in(&chat).await, expected, "each turn once");
    println!("{kills} kills, {all} runs: {repeats} requests again, {unknown} unknown");
}
