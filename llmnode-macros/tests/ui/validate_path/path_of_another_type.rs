// Cause: the function that checks the answer, named by a path, takes another type.
// Mend: take the output of the node by reference.
use llmnode::prelude::*;

mod rules {
    pub mod numbers {
        pub fn is_small(_: &u64, _: &llmnode::AttemptInfo) -> Result<(), llmnode::Invalid> {
            Ok(())
        }
    }
}

#[llm_node(
    prompt = "How urgent is this?\n{letter}",
    output = u8,
    validate = rules::numbers::is_small,
)]
struct Rate {
    letter: String,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), NodeError> {
    let run = Run::new(ScriptedModel::new());
    let answer = run.call(&Rate { letter: "Help!".into() }).await?;
    println!("{}", answer);
    Ok(())
}
