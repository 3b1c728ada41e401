// Cause: The prompt inserts `ingredients`, a `Vec<String>`, by `Display`, which a `Vec` does not have.
// Mend: write `{ingredients:list}` in the prompt.
// Token: {ingredients}
// Token: ingredients
use llmnode::prelude::*;

#[llm_output]
struct Recipe {
    /// What the dish is called.
    title: String,
    #[schemars(length(min = 1))]
    steps: Vec<String>,
}

#[llm_node(
    system = "You are a cook who wastes nothing.",
    prompt = "Invent a dish for {guests} guests from these:\n{ingredients}\nBe brief.",
    output = Recipe,
    retries = 1,
)]
struct Invent {
    ingredients: Vec<String>,
    guests: u8,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), NodeError> {
    let run = Run::new(ScriptedModel::new().reply(r#"{"title": "Leek pie", "steps": ["Chop.", "Bake."]}"#));
    let recipe = run.call(&Invent { ingredients: vec!["leek".into(), "flour".into()], guests: 4 }).await?;
    println!("{}: {} steps", recipe.title, recipe.steps.len());
    Ok(())
}
