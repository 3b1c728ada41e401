//! What a recording adds to a call, and how long a page of a thousand steps takes.

use std::time::Instant;

use llmnode::flow::Step;
use llmnode::prelude::*;
use llmnode::{
    BoxError, BoxFuture, ChatModel, Completion, ModelError, Recording, Request, Sink, StubServer,
};
use llmnode_benches::measure::{cpu, median};

const ROUNDS: usize = 9;
/// Few in a row, and many turns: what else the machine does meets all alike.
const CALLS: usize = 250;
const TURNS: usize = 201;
const STEPS: u64 = 1_000;

#[llm_node(prompt = "Step {n}: {text}", state = World)]
struct Ask {
    n: u64,
    text: String,
}

struct World {
    steps: u64,
}

impl Step<World> for Ask {
    type Output = String;
    type Action = bool;

    async fn prep(state: &World) -> Result<Self, BoxError> {
        Ok(Ask {
            n: state.steps,
            text: "what is in the shop window?".repeat(8),
        })
    }

    fn post(self, _: String, state: &mut World) -> Result<bool, BoxError> {
        state.steps += 1;
        Ok(state.steps < STEPS)
    }
}

flow! {
    Loop(World), steps = 1_000_000:
    Ask => match { true => Ask, false => end },
}

/// Answers at once.
struct Ready;

impl ChatModel for Ready {
    fn complete<'a>(
        &'a self,
        _: &'a Request,
        _: &'a mut dyn Sink,
    ) -> BoxFuture<'a, Result<Completion, ModelError>> {
        Box::pin(async { Ok(Completion::new("a lamp and a rope")) })
    }
}

#[llm_node(prompt = "Name {n}.")]
struct Name {
    n: usize,
}

/// Processor time of a call over a socket, in microseconds: the client's and the server's.
async fn calls(run: &Run, recording: Option<&Recording>) -> f64 {
    let before = cpu();
    for n in 0..CALLS {
        let node = Name { n };
        let call = run.call(&node);
        match recording {
            Some(recording) => call.record(recording).await.unwrap(),
            None => call.await.unwrap(),
        };
    }
    (cpu() - before).as_secs_f64() * 1e6 / CALLS as f64
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    for content in [false, true] {
        let recording = Recording::new().with_content(content);
        let mut run = Run::new(Ready).with_state(World { steps: 0 });
        run.flow(Loop).record(&recording).await.unwrap();
        let mut bytes = 0;
        let mut page = || {
            let begin = Instant::now();
            bytes = recording.page().len();
            begin.elapsed().as_secs_f64() * 1e3
        };
        let times = (0..ROUNDS).map(|_| page()).collect();
        let what = if content { "with content" } else { "figures" };
        println!(
            "page of {STEPS} steps, {what}: {:.1} ms, {} KiB",
            median(times),
            bytes / 1024
        );
    }

    let server = StubServer::start().await.unwrap();
    let model = OpenAi::builder()
        .base_url(server.base_url())
        .model("stub")
        .build()
        .unwrap();
    let run = Run::new(model);
    let (figures, contents) = (Recording::new(), Recording::new().with_content(true));
    let mut times = [const { Vec::new() }; 3];
    for _ in 0..TURNS {
        for (times, recording) in times
            .iter_mut()
            .zip([None, Some(&figures), Some(&contents)])
        {
            times.push(calls(&run, recording).await);
        }
    }
    let [without, figures, contents] = times.map(median);
    println!(
        "a call: {without:.1} µs, recorded {:.3} ×, with content {:.3} ×",
        figures / without,
        contents / without
    );
}
