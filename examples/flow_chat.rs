//! PocketFlow's chat loop: a step that listens, a step that answers, and a way out.
//!
//! ```text
//! cargo run --example flow_chat                  # no key needed: starts a server on loopback itself
//! OPENAI_BASE_URL=… OPENAI_API_KEY=… OPENAI_MODEL=… cargo run --example flow_chat
//! ```

use std::io::BufRead;

use llmnode::flow::Step;
use llmnode::prelude::*;
use llmnode::stub_server::{StubReply, StubServerBuilder};
use llmnode::{BoxError, StubServer};

mod common;

/// The shared store: a type of the program.
#[derive(Default)]
struct Talk {
    history: Vec<Message>,
    input: String,
}

#[derive(Action)]
enum Heard {
    Words,
    Nothing,
}

/// Reads a line. No model is asked, so the step is written by hand.
struct Listen;

#[llmnode::step]
impl Step<Talk> for Listen {
    type Output = Option<String>;
    type Action = Heard;

    async fn prep(_: &Talk) -> Result<Self, BoxError> {
        Ok(Listen)
    }

    async fn exec(&self, _: &Cx<'_, Talk>) -> Result<Option<String>, BoxError> {
        // Who waits for a person must not keep the other tasks of the runtime waiting.
        let read =
            tokio::task::spawn_blocking(|| std::io::stdin().lock().lines().next().transpose());
        let line = read
            .await
            .map_err(std::io::Error::other)
            .and_then(|line| line);
        Ok(line.map_err(|error| {
            NodeError::new(Category::Aborted, error.to_string()).with_source(error)
        })?)
    }

    fn post(self, line: Option<String>, state: &mut Talk) -> Result<Heard, BoxError> {
        let Some(line) = line else {
            return Ok(Heard::Nothing);
        };
        state.input = line;
        Ok(Heard::Words)
    }
}

/// Answers in a conversation.
#[llm_node(
    system = "You are a librarian who likes to talk. Answer in one or two sentences.",
    prompt = "{input}",
    max_tokens = 200,
    state = Talk,
    post = Answer::say
)]
struct Answer {
    #[node(history)]
    #[prep(state.history.clone())]
    history: Vec<Message>,
    #[prep(state.input.clone())]
    input: String,
}

impl Answer {
    fn say(self, answer: String, state: &mut Talk) {
        println!("{answer}");
        state
            .history
            .extend([Message::user(self.input), Message::assistant(answer)]);
    }
}

flow! { Chat(Talk), steps = 10_000:
    Listen => match { Heard::Words => Answer, Heard::Nothing => end },
    Answer => Listen,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    common::Arguments::read("");
    let (model, _server) = common::model(stub()).await?;
    let mut run = Run::new(model).with_state(Talk::default());
    run.flow(Chat).await?;
    println!("{} messages", run.state().history.len());
    Ok(())
}

/// A server that counts what it was told.
fn stub() -> StubServerBuilder {
    StubServer::builder().default_reply(StubReply::for_request(|request| {
        let messages = request.messages();
        let said = messages.iter().filter(|(role, _)| role == "user").count();
        let last = messages.last().map_or("", |(_, content)| content);
        StubReply::text(format!(
            "You told me {said} things, the last of them: {last}"
        ))
    }))
}
