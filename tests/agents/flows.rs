//! Agents as steps of flows.

use std::sync::atomic::{AtomicUsize, Ordering};

use llmnode::prelude::*;
use llmnode::{Approval, Category, Paused, Reply, ScriptedModel};
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(Default, Serialize, Deserialize)]
struct Desk {
    letters: Vec<String>,
    summary: String,
    #[serde(skip)]
    sent: AtomicUsize,
    #[serde(skip)]
    counted: AtomicUsize,
}

/// Sends a letter.
#[tool(require_approval)]
fn send(letter: String, desk: &Desk) -> String {
    desk.sent.fetch_add(1, Ordering::SeqCst);
    format!("sent: {letter}")
}

/// Counts the letters.
#[tool]
fn letters(desk: &Desk) -> usize {
    desk.counted.fetch_add(1, Ordering::SeqCst);
    desk.letters.len()
}

/// Writes a letter.
#[llm_node(prompt = "Write a letter.", state = Desk, post = Draft::keep)]
struct Draft {}

impl Draft {
    fn keep(self, letter: String, desk: &mut Desk) {
        desk.letters.push(letter);
    }
}

/// Sends what was written.
#[llm_node(prompt = "Send {letters:list}.", state = Desk, tools = [Send, Letters], store = summary)]
struct Office {
    #[prep(state.letters.clone())]
    letters: Vec<String>,
}

flow! { Post(Desk): Draft => Office, Office => end }

#[tokio::test]
async fn a_flow_that_paused_goes_on_at_its_step_with_the_state_as_it_was() {
    let model = ScriptedModel::new().reply("Dear Emma").reply(
        Reply::text("")
            .call("send", json!({"letter": "Dear Emma"}))
            .call("letters", json!({})),
    );
    let mut run = Run::new(model).with_state(Desk::default());
    let error = run.flow(Post).await.unwrap_err();
    assert_eq!(
        (
            error.category(),
            error.position().unwrap().to_string().as_str()
        ),
        (Category::Paused, "Office")
    );
    let desk = run.into_state();
    assert_eq!((desk.letters.len(), desk.summary.as_str()), (1, ""));
    assert_eq!(
        (
            desk.sent.load(Ordering::SeqCst),
            desk.counted.load(Ordering::SeqCst)
        ),
        (0, 1)
    );

    // As another process reads it.
    let paused: Paused =
        serde_json::from_str(&serde_json::to_string(&error.paused().unwrap()).unwrap()).unwrap();
    let desk: Desk = serde_json::from_str(&serde_json::to_string(&desk).unwrap()).unwrap();
    let model = ScriptedModel::new().reply("All is sent.");
    let mut run = Run::new(model.clone()).with_state(desk);
    let undecided = run.flow(Post).approve(paused.clone()).await.unwrap_err();
    assert_eq!(undecided.category(), Category::ConfigError);
    run.flow(Post)
        .approve(paused.decide("call_1", Approval::yes()).unwrap())
        .await
        .unwrap();
    assert_eq!(
        super::library::results(&model.requests()[0]),
        ["sent: Dear Emma", "1"]
    );
    let desk = run.state();
    assert_eq!(
        (desk.letters.len(), desk.summary.as_str()),
        (1, "All is sent."),
        "nothing was written twice"
    );
    assert_eq!(
        (
            desk.sent.load(Ordering::SeqCst),
            desk.counted.load(Ordering::SeqCst)
        ),
        (1, 0)
    );
}

/// The same flow after a deployment that changed what its tool does.
mod later {
    use super::*;

    /// Sends a letter by a courier, for 40 euros.
    #[tool(require_approval)]
    pub(super) fn send(letter: String, desk: &Desk) -> String {
        desk.sent.fetch_add(1, Ordering::SeqCst);
        format!("by courier: {letter}")
    }

    /// Sends what was written.
    #[llm_node(prompt = "Send {letters:list}.", state = Desk, tools = [Send, Letters], store = summary)]
    pub(super) struct Office {
        #[prep(state.letters.clone())]
        letters: Vec<String>,
    }

    flow! { pub(super) Post(Desk): Draft => Office, Office => end }
}

#[tokio::test]
async fn an_approved_tool_that_changed_runs_in_a_flow_only_where_that_is_allowed() {
    let model = ScriptedModel::new()
        .reply("Dear Emma")
        .reply(Reply::text("").call("send", json!({"letter": "Dear Emma"})));
    let mut run = Run::new(model).with_state(Desk::default());
    let paused = run.flow(Post).await.unwrap_err().paused().unwrap();
    let paused = paused.decide("call_1", Approval::yes()).unwrap();

    let model = ScriptedModel::new().reply("All is sent.");
    let mut run = Run::new(model.clone()).with_state(run.into_state());
    let refused = run
        .flow(later::Post)
        .approve(paused.clone())
        .await
        .unwrap_err();
    assert_eq!(refused.category(), Category::ConfigError);
    assert!(
        refused
            .message()
            .contains("`send` of the approved call \"call_1\" has another description"),
        "{refused}"
    );
    assert_eq!(
        (
            run.state().sent.load(Ordering::SeqCst),
            model.requests().len()
        ),
        (0, 0)
    );

    run.flow(later::Post)
        .approve(paused)
        .allow_changed_tool()
        .await
        .unwrap();
    assert_eq!(
        super::library::results(&model.requests()[0]),
        ["by courier: Dear Emma"]
    );
    assert_eq!(run.state().sent.load(Ordering::SeqCst), 1);
}
