//! Turns that wait for a person: kept, decided once, run once.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use llmnode::chats::{NewTurn, TurnStore};
use llmnode::prelude::*;
use llmnode::{ModelError, TestClock};
use serde_json::json;

use crate::support::{Folder, ask, stores, texts};

#[derive(Default)]
struct Bank {
    paid: AtomicU32,
}

/// Pays money back.
#[tool(require_approval, idempotent = false)]
fn refund(euros: u32, state: &Bank) -> String {
    state.paid.fetch_add(euros, Ordering::Relaxed);
    format!("{euros} euros are paid back")
}

#[llm_node(prompt = "{question}", tools = [Refund], state = Bank)]
struct Support {
    question: String,
}

fn support() -> Support {
    Support {
        question: "The lamp is broken.".to_owned(),
    }
}

fn calls_refund() -> Reply {
    Reply::text("").call("refund", json!({"euros": 20}))
}

#[tokio::test]
async fn a_pause_is_kept_with_its_turn_and_runs_once() {
    let folder = Folder::new("pause");
    for (name, chats) in stores(&folder).await {
        let chat = chats.open("acme/42").await.unwrap();
        let model = ScriptedModel::new().reply(calls_refund()).reply("Done.");
        let run = Run::new(model.clone()).with_state(Bank::default());
        let node = support();
        let error = run.call(&node).conversation(&chat).await.unwrap_err();
        assert_eq!(error.category(), Category::Paused, "{name}: {error}");
        assert!(texts(&chat).await.is_empty());
        assert!(chat.info().await.unwrap().is_paused);
        assert!(chat.unfinished().await.unwrap().is_none());
        // A new question has to wait, and is told for what.
        let error = run
            .call(&ask("Hello?"))
            .conversation(&chat)
            .await
            .unwrap_err();
        assert_eq!(error.category(), Category::Conflict);
        assert!(error.to_string().contains("`refund`"), "{error}");
        // Undecided, it does not go on, and stays.
        let paused = chat.paused().await.unwrap().unwrap();
        let undecided = run
            .call(&node)
            .conversation(&chat)
            .approve(paused.clone())
            .await;
        assert_eq!(undecided.unwrap_err().category(), Category::ConfigError);
        let id = paused.waiting()[0].id.clone();
        let decided = chat.decide(&id, Approval::yes()).await.unwrap();
        assert!(decided.waiting().is_empty());
        let kept = chat.paused().await.unwrap().unwrap();
        assert!(kept.waiting().is_empty(), "{name}: the decision is stored");
        run.call(&node)
            .conversation(&chat)
            .approve(kept.clone())
            .await
            .unwrap();
        assert_eq!(run.state().paid.load(Ordering::Relaxed), 20);
        let all = ["The lamp is broken.", "", "20 euros are paid back", "Done."];
        assert_eq!(texts(&chat).await, all);
        // Another process that has the pause, too, comes too late.
        let again = run.call(&node).conversation(&chat).approve(kept).await;
        assert_eq!(again.unwrap_err().category(), Category::Conflict, "{name}");
        assert_eq!(run.state().paid.load(Ordering::Relaxed), 20);
        let late = chat.decide(&id, Approval::yes()).await.unwrap_err();
        assert_eq!(late.category(), Category::Conflict);
    }
}

/// However long the chat is, its pause is as long as its turn.
#[tokio::test]
async fn a_pause_has_its_turn_alone_and_reads_as_the_whole_conversation() {
    let folder = Folder::new("long");
    for (name, chats) in stores(&folder).await {
        let chat = chats.open("acme/42").await.unwrap();
        let model = ScriptedModel::new().reply(Reply::text("An old answer. ".repeat(500)));
        let run = Run::new(model.reply(calls_refund()).reply("Done.")).with_state(Bank::default());
        let old = ask("An old question?");
        run.call(&old).conversation(&chat).await.unwrap();
        chat.pin("Be kind.").await.unwrap();
        let node = support();
        let error = run.call(&node).conversation(&chat).await.unwrap_err();
        let paused = error.paused().unwrap();
        let row = chats.store().read("acme/42").await.unwrap().unwrap();
        let body = row.pause.unwrap().body;
        assert!(!body.contains("old"), "{name}: {body}");
        let kept = chat.paused().await.unwrap().unwrap();
        assert_eq!(kept.messages(), paused.messages(), "{name}");
        assert_eq!(kept.id(), paused.id());
        let id = kept.waiting()[0].id.clone();
        let decided = chat.decide(&id, Approval::yes()).await.unwrap();
        assert_eq!(decided.messages(), paused.messages(), "{name}");
        // As another process does it, which knows the store alone.
        let kept = chat.paused().await.unwrap().unwrap();
        assert!(kept.waiting().is_empty());
        run.call(&node)
            .conversation(&chat)
            .approve(kept)
            .await
            .unwrap();
        let history = texts(&chat).await;
        let turn = [
            "Be kind.",
            "The lamp is broken.",
            "",
            "20 euros are paid back",
            "Done.",
        ];
        assert_eq!(history[2..], turn, "{name}");
    }
}

#[tokio::test]
async fn an_approved_call_that_fails_later_keeps_the_result_of_its_tool() {
    let folder = Folder::new("approved");
    for (name, chats) in stores(&folder).await {
        let chat = chats.open("acme/42").await.unwrap();
        let down = ModelError::new(Category::BadRequest, "gone");
        let model = ScriptedModel::new()
            .reply(calls_refund())
            .reply(Reply::error(down))
            .reply("Done.");
        let run = Run::new(model.clone()).with_state(Bank::default());
        let node = support();
        let error = run.call(&node).conversation(&chat).await.unwrap_err();
        let id = error.paused().unwrap().waiting()[0].id.clone();
        let decided = chat.decide(&id, Approval::yes()).await.unwrap();
        let error = run
            .call(&node)
            .conversation(&chat)
            .approve(decided)
            .await
            .unwrap_err();
        assert_eq!(error.category(), Category::BadRequest, "{name}");
        assert!(chat.paused().await.unwrap().is_none());
        let unfinished = chat.unfinished().await.unwrap().unwrap();
        run.call(&node)
            .conversation(&chat)
            .resume(unfinished)
            .await
            .unwrap();
        assert_eq!(run.state().paid.load(Ordering::Relaxed), 20, "paid once");
        assert_eq!(texts(&chat).await.len(), 4);
    }
}

#[tokio::test]
async fn a_refused_call_ends_the_turn_without_its_tool() {
    let folder = Folder::new("refused");
    for (name, chats) in stores(&folder).await {
        let chat = chats.open("acme/42").await.unwrap();
        chat.pin("Be kind.").await.unwrap();
        let model = ScriptedModel::new().reply(calls_refund()).reply("Sorry.");
        let run = Run::new(model.clone()).with_state(Bank::default());
        let node = support();
        let error = run.call(&node).conversation(&chat).await.unwrap_err();
        // A pin that comes meanwhile goes with the next turn.
        chat.pin("Be brief.").await.unwrap();
        let id = error.paused().unwrap().waiting()[0].id.clone();
        let decided = chat.decide(&id, Approval::no("too dear")).await.unwrap();
        run.call(&node)
            .conversation(&chat)
            .approve(decided)
            .await
            .unwrap();
        let kept = [
            "Be kind.",
            "The lamp is broken.",
            "",
            "not allowed: too dear",
            "Sorry.",
        ];
        assert_eq!(texts(&chat).await, kept, "{name}");
        assert_eq!(run.state().paid.load(Ordering::Relaxed), 0);
    }
}

/// Of two processes that approve at once, one runs the tool.
#[tokio::test(flavor = "multi_thread")]
async fn two_that_approve_at_once_pay_once() {
    let folder = Folder::new("twice");
    for (name, chats) in stores(&folder).await {
        let chat = chats.open("acme/42").await.unwrap();
        let model = ScriptedModel::new().reply(calls_refund());
        let run = Run::new(model.otherwise(|_| Reply::text("Done."))).with_state(Bank::default());
        let node = support();
        let error = run.call(&node).conversation(&chat).await.unwrap_err();
        let id = error.paused().unwrap().waiting()[0].id.clone();
        let decided = chat.decide(&id, Approval::yes()).await.unwrap();
        let one = run.call(&node).conversation(&chat).approve(decided.clone());
        let two = run.call(&node).conversation(&chat).approve(decided);
        let (one, two) = tokio::join!(one, two);
        assert_ne!(one.is_ok(), two.is_ok(), "{name}");
        assert_eq!(run.state().paid.load(Ordering::Relaxed), 20);
        assert_eq!(texts(&chat).await.len(), 4);
    }
}

/// Of two decisions about a call, the later one counts, whatever the program has in hand.
#[tokio::test]
async fn a_call_that_was_declined_does_not_run_by_an_older_yes() {
    let folder = Folder::new("declined");
    for (name, chats) in stores(&folder).await {
        let chat = chats.open("acme/42").await.unwrap();
        let model = ScriptedModel::new().reply(calls_refund()).reply("Sorry.");
        let run = Run::new(model).with_state(Bank::default());
        let node = support();
        let error = run.call(&node).conversation(&chat).await.unwrap_err();
        let id = error.paused().unwrap().waiting()[0].id.clone();
        let yes = chat.decide(&id, Approval::yes()).await.unwrap();
        let no = chat.decide(&id, Approval::no("fraud")).await.unwrap();
        let outcome = run.call(&node).conversation(&chat).approve(yes).await;
        assert_eq!(run.state().paid.load(Ordering::Relaxed), 0, "{name}");
        let error = outcome.unwrap_err();
        assert_eq!(error.category(), Category::Conflict, "{name}: {error}");
        assert!(error.to_string().contains("decided otherwise"), "{error}");
        run.call(&node)
            .conversation(&chat)
            .approve(no)
            .await
            .unwrap();
        assert_eq!(run.state().paid.load(Ordering::Relaxed), 0, "{name}");
        assert_eq!(texts(&chat).await[2], "not allowed: fraud");
    }
}

/// Between the claim of an approved call and its first row, the pause is still there.
#[tokio::test]
async fn a_decision_about_a_call_that_goes_on_already_is_refused() {
    let folder = Folder::new("goes-on");
    for (name, chats) in stores(&folder).await {
        let chat = chats.open("acme/42").await.unwrap();
        let model = ScriptedModel::new().reply(calls_refund());
        let run = Run::new(model).with_state(Bank::default());
        let node = support();
        let error = run.call(&node).conversation(&chat).await.unwrap_err();
        let id = error.paused().unwrap().waiting()[0].id.clone();
        let yes = chat.decide(&id, Approval::yes()).await.unwrap();
        let clock = TestClock::new();
        let claimed = chat.begin(NewTurn::new(&clock).approving(&yes)).await;
        let claimed = claimed.unwrap();
        let error = chat.decide(&id, Approval::no("fraud")).await.unwrap_err();
        assert_eq!(error.category(), Category::Conflict, "{name}: {error}");
        assert!(error.to_string().contains("goes on"), "{name}: {error}");
        // Its process is dead, as far as anybody knows: the decision counts, and whoever had the claim comes too late.
        let dead = chat.clone().lease(Duration::ZERO);
        dead.renew(&claimed).await.unwrap();
        chat.decide(&id, Approval::no("fraud")).await.unwrap();
        let late = dead.renew(&claimed).await.unwrap_err();
        assert_eq!(late.category(), Category::Conflict, "{name}: {late}");
    }
}
