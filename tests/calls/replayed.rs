//! Steps that are repeated after a crash: an answered request is not sent again.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use llmnode::flow::{Batch, Step};
use llmnode::journal::JournalFile;
use llmnode::prelude::*;
use llmnode::{BoxError, Cx, FnModel, Reply};
use serde::{Deserialize, Serialize};

#[derive(Default, Serialize, Deserialize)]
struct Poll {
    votes: Vec<String>,
}

/// Says yes or no.
#[llm_node(prompt = "Yes or no?")]
struct Ask {}

/// Five votes on one question.
struct Vote;

#[llmnode::step]
impl Step<Poll> for Vote {
    type Output = Vec<String>;

    async fn prep(_: &Poll) -> Result<Self, BoxError> {
        Ok(Vote)
    }

    async fn exec(&self, cx: &Cx<'_, Poll>) -> Result<Vec<String>, BoxError> {
        Ok(cx.map((0..5).map(|_| Ask {})).try_all().await?)
    }

    fn post(self, votes: Vec<String>, poll: &mut Poll) -> Result<(), BoxError> {
        poll.votes = votes;
        Ok(())
    }
}

flow! { Voting(Poll): Vote => end }

/// Greets a town.
#[llm_node(prompt = "Greet {town}.", state = Poll, batch = Greet::all)]
struct Greet {
    town: &'static str,
}

impl Greet {
    fn all(_: &Poll) -> Vec<Greet> {
        ["Oslo", "Bergen", "Tromsø", "Bodø"]
            .map(|town| Greet { town })
            .into()
    }
}

flow! { Greeting(Poll): Batch<Greet> as Greet => end }

/// Answers the first requests with their number, and never the others.
fn answers(first: usize) -> (FnModel, Arc<AtomicUsize>) {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let model = FnModel::new(move |_| {
        let number = count.fetch_add(1, Ordering::SeqCst);
        let reply = Reply::text(format!("answer {number}"));
        if number < first {
            reply
        } else {
            reply.after(Duration::from_secs(3600))
        }
    });
    (model.named("voter"), asked)
}

fn journal(name: &str) -> PathBuf {
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("llmnode-replayed-{}-{name}", std::process::id()));
    let _ = std::fs::remove_file(&path);
    path
}

#[tokio::test]
async fn of_equal_requests_side_by_side_those_are_asked_that_had_no_answer() {
    let path = journal("vote");
    let (model, asked) = answers(3);
    let mut run = Run::new(model).with_state(Poll::default());
    let flow = run.flow(Voting).resume(JournalFile::open(&path).unwrap());
    // Dropped as by a crash: nothing is written on the way out but that the calls were cancelled.
    tokio::time::timeout(Duration::from_millis(200), flow)
        .await
        .unwrap_err();
    assert_eq!(asked.load(Ordering::SeqCst), 5);

    let (model, asked) = answers(5);
    let mut run = Run::new(model).with_state(Poll::default());
    run.flow(Voting)
        .resume(JournalFile::open(&path).unwrap())
        .await
        .unwrap();
    assert_eq!(asked.load(Ordering::SeqCst), 2);
    let mut votes = run.state().votes.clone();
    votes.sort();
    assert_eq!(
        votes,
        ["answer 0", "answer 0", "answer 1", "answer 1", "answer 2"]
    );
    let calls = run.ledger().calls();
    assert_eq!(calls.iter().map(|call| call.replayed).sum::<u32>(), 3);
}

#[tokio::test]
async fn of_a_batch_those_are_asked_that_had_no_answer() {
    let path = journal("batch");
    let (model, asked) = answers(2);
    let mut run = Run::new(model).with_state(Poll::default());
    let flow = run.flow(Greeting).resume(JournalFile::open(&path).unwrap());
    tokio::time::timeout(Duration::from_millis(200), flow)
        .await
        .unwrap_err();
    assert_eq!(asked.load(Ordering::SeqCst), 4);
    let (model, asked) = answers(4);
    let mut run = Run::new(model.clone()).with_state(Poll::default());
    run.flow(Greeting)
        .resume(JournalFile::open(&path).unwrap())
        .await
        .unwrap();
    assert_eq!(asked.load(Ordering::SeqCst), 2);
    let left: Vec<_> = model
        .requests()
        .iter()
        .map(|request| request.messages[0].content.clone())
        .collect();
    assert_eq!(left, ["Greet Tromsø.", "Greet Bodø."]);
}

#[cfg(feature = "openai")]
mod copied {
    use llmnode::stub_server::{StubReply, StubServer};
    use llmnode::{OpenAi, ResponseFormat};

    use super::*;

    #[llm_output]
    struct Named {
        name: String,
    }

    #[llm_node(prompt = "Who?", output = Named, state = Poll, batch = Who::all, retries = 1)]
    struct Who {}

    impl Who {
        fn all(_: &Poll) -> Vec<Who> {
            vec![Who {}]
        }
    }

    flow! { Naming(Poll): Batch<Who> as Who => end }

    #[tokio::test]
    async fn a_copied_form_is_refused_after_the_crash_as_before() {
        let path = journal("copied");
        let late = StubReply::text("{}").after(Duration::from_secs(3600));
        let replies = [
            StubReply::text(r#"{"name": "<text>"}"#),
            late,
            StubReply::text(r#"{"name": "Ada"}"#),
        ];
        let server = StubServer::builder().script(replies).start().await.unwrap();
        let builder = || OpenAi::builder().base_url(server.base_url()).model("m");
        let model = builder()
            .response_format(ResponseFormat::Prompt)
            .build()
            .unwrap();
        let mut run = Run::new(model.clone()).with_state(Poll::default());
        let flow = run.flow(Naming).resume(JournalFile::open(&path).unwrap());
        tokio::time::timeout(Duration::from_millis(300), flow)
            .await
            .unwrap_err();
        assert_eq!(server.requests().len(), 2);

        let mut run = Run::new(model).with_state(Poll::default());
        run.flow(Naming)
            .resume(JournalFile::open(&path).unwrap())
            .await
            .unwrap();
        let [_, before, after] = &server.requests()[..] else {
            panic!("three requests")
        };
        assert_eq!(before.json(), after.json());
        assert!(
            after
                .json()
                .unwrap()
                .to_string()
                .contains("repeats the form")
        );
    }
}
