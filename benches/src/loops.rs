//! An agent of ten turns and a flow of ten steps, whose parts do nothing: what is measured is the loop around them.

use llmnode::flow::{RunExt, Step};
use llmnode::journal::{Fsync, JournalFile};
use llmnode::prelude::*;
use llmnode::{BoxError, Completion, Cx, Exec, Node, TokenUsage, ToolCall};

use crate::mocked::Prebuilt;

/// The turns of an agent, of which the last has no calls, and the steps of a flow.
pub const ROUNDS: usize = 10;

/// What an agent answers at last, where nothing is between it and its model.
const ANSWER: &str = "It is 3, and there are two books.";

/// Adds two numbers.
#[tool]
fn add(
    /// The first number.
    a: i64,
    /// The second number.
    b: i64,
) -> i64 {
    a + b
}

/// Finds books by a word of their title.
#[tool]
fn search(
    /// A word of the title.
    word: String,
) -> Vec<String> {
    vec![format!("{word} in Action"), format!("Programming {word}")]
}

/// An agent that calls two tools in each turn but the last.
#[llm_node(prompt = "{question}", tools = [Add, Search], turns = 10)]
pub struct Work {
    /// What it is asked.
    pub question: &'static str,
}

impl Work {
    /// The agent that every figure is of.
    pub fn example() -> Work {
        Work {
            question: "What is 1 + 2, and which books are on rust?",
        }
    }
}

/// The arguments of the two calls of a turn, by the tool's name.
pub const CALLS: [(&str, &str); 2] = [
    ("add", r#"{"a": 1, "b": 2}"#),
    ("search", r#"{"word": "rust"}"#),
];

/// What the model answers in this turn of an agent.
fn completion(turn: usize) -> Completion {
    let last = turn + 1 == ROUNDS;
    let mut completion = Completion::new(if last { ANSWER } else { "" });
    if !last {
        completion.calls = CALLS
            .map(|(name, arguments)| ToolCall::new(format!("{name}_{turn}"), name, arguments))
            .to_vec();
    }
    completion.usage = Some(TokenUsage::new(120, 25));
    completion.model = Some("gpt-5.6-luna-2026-07-18".to_owned());
    completion
}

/// So many agents, one after the other, over a transport that is scripted.
pub async fn agents(count: usize) -> Result<(), BoxError> {
    let answers = (0..count).flat_map(|_| (0..ROUNDS).map(completion));
    let run = Run::new(Prebuilt::completions(answers));
    for _ in 0..count {
        agent(&run).await?;
    }
    Ok(())
}

/// One agent.
pub async fn agent(run: &Run) -> Result<(), BoxError> {
    let answer = run.call(&Work::example()).await?;
    assert!(!answer.is_empty());
    Ok(())
}

/// The state of the flow.
#[derive(Default, serde::Serialize, serde::Deserialize)]
struct Counter {
    steps: usize,
}

/// Whether the flow takes another step.
#[derive(Action)]
enum Decision {
    More,
    Enough,
}

/// The only step. It counts itself.
struct Count {
    steps: usize,
}

impl Node for Count {
    type Output = usize;
    const NAME: &'static str = "count";
}

impl Exec<Counter> for Count {
    async fn exec(&self, _: &Cx<'_, Counter>) -> Result<usize, BoxError> {
        Ok(self.steps + 1)
    }
}

impl Step<Counter> for Count {
    type Output = <Self as Node>::Output;
    type Action = Decision;

    async fn prep(state: &Counter) -> Result<Self, BoxError> {
        Ok(Count { steps: state.steps })
    }

    fn post(self, steps: usize, state: &mut Counter) -> Result<Decision, BoxError> {
        state.steps = steps;
        Ok(match steps < ROUNDS {
            true => Decision::More,
            false => Decision::Enough,
        })
    }
}

flow! { Counting(Counter): Count => match { Decision::More => Count, Decision::Enough => end } }

/// So many flows, one after the other.
pub async fn flows(count: usize) -> Result<(), BoxError> {
    let run = Run::new(ScriptedModel::new());
    for _ in 0..count {
        let mut run = run.with_state(Counter::default());
        run.flow(Counting).await?;
        assert_eq!(run.state().steps, ROUNDS);
    }
    Ok(())
}

/// So many flows, each with a journal in a file that is not synced.
pub async fn journals(count: usize) -> Result<(), BoxError> {
    let file = std::env::temp_dir().join(format!("instructions-{}.journal", std::process::id()));
    let run = Run::new(ScriptedModel::new());
    for _ in 0..count {
        let mut run = run.with_state(Counter::default());
        let journal = JournalFile::open(&file)?.fsync(Fsync::Never);
        run.flow(Counting).journal(journal).await?;
        assert_eq!(run.state().steps, ROUNDS);
        std::fs::remove_file(&file)?;
    }
    Ok(())
}
