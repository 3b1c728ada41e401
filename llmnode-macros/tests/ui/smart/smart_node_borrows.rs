// Cause: `Judge` has a goal and borrows its input `claim`, but a node with a goal owns its data.
// Mend: write `claim: String` in `struct Judge`, without the lifetime, and `claim: "...".into()` in the call.
// Token: &'a str
// Token: 'a
// Token: <'a>
// Token: Judge<'a>
use llmnode::prelude::*;

#[llm_output]
struct Verdict {
    /// Whether the facts support the claim.
    holds: bool,
    /// The fact that decides, if there is one.
    fact: Option<String>,
}

/// Judges a claim.
#[llm_node(goal = "Judge the claim by the facts alone.", think, output = Verdict, retries = 1)]
struct Judge<'a> {
    /// what is known
    facts: Vec<String>,
    /// what is claimed
    claim: &'a str,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), NodeError> {
    let answer = r#"{"reasoning": "It says so.", "holds": true, "fact": "the sun is a star"}"#;
    let run = Run::new(ScriptedModel::new().reply(answer));
    let judge = Judge { facts: vec!["the sun is a star".into()], claim: "the sun shines" };
    let verdict = run.call(&judge).await?;
    assert!(verdict.holds);
    println!("{}", verdict.fact.unwrap_or_default());
    Ok(())
}
