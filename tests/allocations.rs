//! How often llmnode allocates for a call, without the transport: `docs/performance.md` has the figures.
//!
//! Counts do not depend on the machine. When one of them falls, lower its bound; when one has to rise, write down why.

#![expect(clippy::unwrap_used, reason = "a test")]

use std::sync::Mutex;

use allocation_counter::measure;
use llmnode::{
    BoxFuture, ChatModel, Completion, Invalid, ModelError, Request, Run, Sink, TokenUsage,
    llm_node, llm_output, validate,
};

struct World {
    inventory: Vec<String>,
    #[expect(dead_code, reason = "it only makes the state large")]
    notes: String,
}

#[llm_output]
struct Choice {
    item: String,
    reasons: Vec<String>,
}

#[validate(state)]
impl Choice {
    fn item_is_available(&self, world: &World) -> Result<(), Invalid> {
        if world.inventory.contains(&self.item) {
            return Ok(());
        }
        Err(
            Invalid::at("item", format!("{:?} is not available", self.item))
                .allowed(&world.inventory),
        )
    }
}

#[llm_node(
    system = "You are careful.",
    prompt = "Goal: {goal}\nAvailable items:\n{state.inventory:list}\nChoose one.",
    output = Choice,
    state = World,
    retries = 1
)]
struct Choose {
    goal: String,
}

/// Gives back completions made before; the one allocation it makes itself is the box of its future.
struct Prebuilt(Mutex<Vec<Completion>>);

impl ChatModel for Prebuilt {
    fn complete<'a>(
        &'a self,
        _: &'a Request,
        _: &'a mut dyn Sink,
    ) -> BoxFuture<'a, Result<Completion, ModelError>> {
        Box::pin(async { Ok(self.0.lock().unwrap().pop().unwrap()) })
    }
}

fn completion(item: &str) -> Completion {
    let mut completion = Completion::new(format!(
        r#"{{"item": "{item}", "reasons": ["it is dark"]}}"#
    ));
    completion.usage = Some(TokenUsage::new(120, 25));
    completion.model = Some("gpt-4o-mini".to_owned());
    completion.request_id = Some("req_1".to_owned());
    completion
}

/// The allocations of a call that gets these answers, and their bytes, once the ledger's memory of calls is full.
fn allocations(answers: &[&str], state: usize) -> (u64, u64) {
    measured(answers, state, |call| call)
}

type ChoiceCall<'r> = llmnode::Call<'r, Choice>;

fn measured(
    answers: &[&str],
    state: usize,
    with: impl for<'r> Fn(ChoiceCall<'r>) -> ChoiceCall<'r>,
) -> (u64, u64) {
    const WARM_UP: usize = 300;
    let call = answers.iter().rev().copied();
    let completions = std::iter::repeat_n(call, WARM_UP + 1)
        .flatten()
        .map(completion)
        .collect();
    let inventory = ["lamp", "rope", "key"].map(str::to_owned).to_vec();
    let run = Run::new(Prebuilt(Mutex::new(completions))).with_state(World {
        inventory,
        notes: "x".repeat(state),
    });
    let node = Choose {
        goal: "open the door".to_owned(),
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let call = || {
        drop(
            runtime
                .block_on(async { with(run.call(&node)).await })
                .unwrap(),
        )
    };
    (0..WARM_UP).for_each(|_| call());
    let counted = measure(call);
    (counted.count_total, counted.bytes_total)
}

#[test]
fn a_call_and_a_correction_stay_within_their_bounds() {
    let (plain, bytes) = allocations(&["lamp"], 1000);
    // Five of them are boxes, so that most of a call is compiled once, and not for each node.
    assert!(plain <= 16, "a call allocates {plain} times");
    // Most of them are the call's future. One that is handed on by value is in each future that it goes through.
    // 6,900 until an attempt had a tier of prices, a place in a batch, room in its limits, and what a cache had.
    assert!(bytes <= 7_200, "a call allocates {bytes} bytes");
    assert_eq!(
        allocations(&["lamp"], 10_000_000),
        (plain, bytes),
        "allocations depend on the size of the state"
    );
    let (corrected, _) = allocations(&["axe", "lamp"], 1000);
    // Two of them are the stack of steps that a failure selects, and the count of those taken; one is the room of the
    // second record.
    assert!(
        corrected <= 41,
        "a call with one correction allocates {corrected} times"
    );
}

/// Into the same recording: it grows now and then.
#[cfg(feature = "page")]
#[test]
fn a_recording_of_figures_takes_two_allocations_for_each_call() {
    static RECORDING: std::sync::LazyLock<llmnode::Recording> =
        std::sync::LazyLock::new(|| llmnode::Recording::new().limit(100));
    let (plain, _) = allocations(&["lamp"], 1000);
    let (recorded, _) = measured(&["lamp"], 1000, |call| call.record(&*RECORDING));
    assert!(
        recorded <= plain + 2,
        "{recorded} with a recording, {plain} without"
    );
}
