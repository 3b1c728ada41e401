//! In a flow whose journal an engine keeps, such as Restate, and whose process ends just behind a commit of the store: one turn, and
//! each answer is paid once.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use llmnode::chats::Conversations;
use llmnode::flow::{RunExt, Step};
use llmnode::journal::{Entry, Replay, ReplayStep};
use llmnode::prelude::*;
use llmnode::{BoxError, Cx, FnModel};
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::sync::Notify;

use crate::support::{Moment, seen, texts};

/// A store that commits, and does not come back from the write of this number.
struct Stopping {
    chats: Conversations,
    writes: AtomicUsize,
    last: AtomicUsize,
    stopped: Notify,
}

static STORE: LazyLock<Stopping> = LazyLock::new(|| Stopping {
    chats: Conversations::in_memory(),
    writes: AtomicUsize::new(0),
    last: AtomicUsize::new(0),
    stopped: Notify::new(),
});

/// All processes have this one.
fn shared() -> Conversations {
    seen(STORE.chats.clone(), |moment| Box::pin(stop_at_last(moment)))
}

async fn stop_at_last(moment: Moment) {
    if moment != Moment::Wrote {
        return;
    }
    let writes = STORE.writes.fetch_add(1, Ordering::Relaxed) + 1;
    if writes == STORE.last.load(Ordering::Relaxed) {
        STORE.stopped.notify_one();
        std::future::pending::<()>().await;
    }
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Desk {
    chat: String,
    answer: String,
}

/// What time it is.
#[tool]
fn now() -> String {
    "noon".to_owned()
}

#[llm_node(prompt = "What time is it?", tools = [Now])]
struct Ask;

/// Asks in the chat.
struct Turn {
    chat: String,
}

#[llmnode::step]
impl Step<Desk> for Turn {
    type Output = String;

    async fn prep(desk: &Desk) -> Result<Self, BoxError> {
        Ok(Turn {
            chat: desk.chat.clone(),
        })
    }

    async fn exec(&self, cx: &Cx<'_, Desk>) -> Result<String, BoxError> {
        let chat = shared().open(&self.chat).await?;
        Ok(cx.call(&Ask).conversation(&chat).await?)
    }

    fn post(self, answer: String, desk: &mut Desk) -> Result<(), BoxError> {
        desk.answer = answer;
        Ok(())
    }
}

flow! { Talk(Desk): Turn => end }

fn model() -> FnModel {
    FnModel::new(|request| match request.messages.last() {
        Some(last) if last.answers().is_some() => Reply::text("It is noon."),
        _ => Reply::text("").call("now", json!({})),
    })
}

/// A process of the engine: what it has kept is given back, and then the flow goes on. `None`: the process ended in a write.
async fn process(kept: &mut Vec<Entry>, chat: &str, model: &FnModel) -> Option<Desk> {
    let desk = Desk {
        chat: chat.to_owned(),
        ..Desk::default()
    };
    let model = model.clone();
    let mut replay = Replay::new(move |start| {
        let mut run = Run::new(model.clone()).with_state(desk.clone());
        async move {
            start.resume(run.flow(Talk))?.await?;
            Ok(run.into_state())
        }
    });
    for entry in kept.iter().cloned() {
        replay.take(entry).unwrap();
    }
    loop {
        let entry = tokio::select! {
            biased;
            () = STORE.stopped.notified() => return None,
            entry = replay.next() => entry.unwrap(),
        };
        kept.push(entry.clone());
        match replay.take(entry).unwrap() {
            ReplayStep::On { .. } => {}
            ReplayStep::Ended(outcome) => return Some(outcome.unwrap()),
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_process_that_ends_behind_a_commit_leaves_one_turn_that_is_paid_once() {
    let mut ends = 0;
    loop {
        let chat = format!("desk/{ends}");
        STORE.writes.store(0, Ordering::Relaxed);
        STORE.last.store(ends + 1, Ordering::Relaxed);
        let model = model();
        let mut kept = Vec::new();
        let first = process(&mut kept, &chat, &model).await;
        STORE.last.store(0, Ordering::Relaxed);
        let has_ended = first.is_none();
        let desk = match first {
            Some(desk) => desk,
            None => process(&mut kept, &chat, &model).await.unwrap(),
        };
        assert_eq!(desk.answer, "It is noon.", "{ends}");
        assert_eq!(model.requests().len(), 2, "{ends}: each is paid once");
        let chat = STORE.chats.open(&chat).await.unwrap();
        let turn = ["What time is it?", "", "noon", "It is noon."];
        assert_eq!(texts(&chat).await, turn, "{ends}: one turn");
        assert_eq!(chat.info().await.unwrap().revision, 1, "{ends}");
        if !has_ended {
            break;
        }
        ends += 1;
    }
    // The claim, the calls of the tool, their results, the turn.
    assert!(ends >= 4, "{ends}");
}
