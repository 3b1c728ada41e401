// Cause: the run borrows the state, and the node reads the state itself.
// Mend: give the run the state, `with_state(rates)`, and read it by `run.state()`.
// Token: &rates
// Token: with_state
// Missed: the call is underlined, and not where the run gets its state.
use llmnode::prelude::*;

struct Rates {
    euro: f64,
}

#[llm_node(prompt = "What are {amount} dollars in euros? One dollar is {state.euro}.", output = f64, state = Rates)]
struct Convert {
    amount: f64,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), NodeError> {
    let rates = Rates { euro: 0.9 };
    let run = Run::new(ScriptedModel::new().reply("9")).with_state(&rates);
    println!("{}", run.call(&Convert { amount: 10.0 }).await?);
    Ok(())
}
