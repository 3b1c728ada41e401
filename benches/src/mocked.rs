//! llmnode's own share of a call: the transport is replaced by answers that were made before.

use std::sync::Mutex;

use llmnode::{BoxFuture, ChatModel, Completion, ModelError, Request, Run, Sink, TokenUsage};
use tokio::runtime::Runtime;

use crate::task::{BAD, Choose, GOOD, World};

/// Gives back completions that were made before, so that none of its cost is in the measured part except one
/// box, which the trait asks of every model.
pub(crate) struct Prebuilt(Mutex<Vec<Completion>>);

impl Prebuilt {
    /// The answers come from the back.
    fn answers<'a>(texts: impl DoubleEndedIterator<Item = &'a str>) -> Prebuilt {
        Prebuilt::completions(texts.map(completion))
    }

    /// The same of whole completions.
    pub(crate) fn completions(
        completions: impl DoubleEndedIterator<Item = Completion>,
    ) -> Prebuilt {
        Prebuilt(Mutex::new(completions.rev().collect()))
    }
}

fn completion(text: &str) -> Completion {
    let mut completion = Completion::new(text);
    completion.usage = Some(TokenUsage::new(120, 25));
    completion.model = Some("gpt-5.6-luna-2026-07-18".to_owned());
    completion.request_id = Some("req_0123456789abcdef".to_owned());
    completion
}

impl ChatModel for Prebuilt {
    fn complete<'a>(
        &'a self,
        _: &'a Request,
        _: &'a mut dyn Sink,
    ) -> BoxFuture<'a, Result<Completion, ModelError>> {
        Box::pin(async { Ok(self.0.lock().unwrap().pop().unwrap()) })
    }
}

/// A run with enough answers for some calls, and a runtime to make them on.
pub struct Calls {
    run: Run<World>,
    runtime: Runtime,
}

impl Calls {
    /// `calls` calls that go well at once, with so many bytes in the state.
    pub fn plain(calls: usize, state: usize) -> Calls {
        Calls::answered(std::iter::repeat_n(GOOD, calls), state)
    }

    /// `calls` calls whose first answer is bad.
    pub fn corrected(calls: usize, state: usize) -> Calls {
        Calls::answered(
            (0..2 * calls).map(|request| if request % 2 == 0 { BAD } else { GOOD }),
            state,
        )
    }

    fn answered<'a>(texts: impl DoubleEndedIterator<Item = &'a str>, state: usize) -> Calls {
        let run = Run::new(Prebuilt::answers(texts)).with_state(World::of_bytes(state));
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        Calls { run, runtime }
    }

    /// Makes some of the calls, one after the other.
    pub fn make(&self, calls: usize) {
        self.runtime.block_on(async {
            for door in 0..calls {
                let choice = self.run.call(&Choose::door(door)).await.unwrap();
                assert_eq!(choice.chosen_item, "lamp");
            }
        });
    }
}
