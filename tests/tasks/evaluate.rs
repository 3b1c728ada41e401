use llmnode::evals::{Dataset, Evaluation, evaluate, exact};
use llmnode::prelude::*;
use serde::Deserialize;
use serde_json::json;

#[llm_output]
struct Label {
    team: Team,
}

#[llm_output]
enum Team {
    Billing,
    Repairs,
}

/// Sends a letter to a team.
#[llm_node(prompt = "Which team reads this letter?\n{letter:fence}", output = Label)]
#[derive(Deserialize)]
struct Sort {
    letter: String,
}

/// Each case three times, for half a dollar at most.
async fn measured(run: &Run, data: &Dataset<Sort, Label>) -> Result<Evaluation, NodeError> {
    evaluate(run, data, exact())
        .repeats(3)
        .limits(Limits::new().money(0.50))
        .await
}

#[tokio::test]
#[ignore = "asks a model"]
async fn letters_are_sorted() -> Result<(), Box<dyn std::error::Error>> {
    let data = Dataset::open("evals/letters.jsonl")?;
    let run = Run::new(OpenAi::from_env()?).with_prices(Prices::catalog());
    let report = measured(&run, &data).await?;
    println!(
        "{report}\n{}",
        report.against("evals/letters.baseline.json")?
    );
    Ok(())
}

#[tokio::test]
async fn a_wrong_team_scores_0() -> Result<(), NodeError> {
    let model = ScriptedModel::new()
        .named("test")
        .otherwise(|_| Reply::from(json!({"team": "Repairs"})));
    let run =
        Run::new(model).with_prices(Prices::new().model("test", Price::per_million(1.0, 1.0)));
    let letters = [
        ("The roof leaks!", Team::Repairs),
        ("Your bill is wrong.", Team::Billing),
    ];
    let data = Dataset::new(letters.map(|(letter, team)| {
        (
            Sort {
                letter: letter.into(),
            },
            Label { team },
        )
    }));
    let report = measured(&run, &data).await?;
    assert_eq!(report.mean(), 0.5);
    assert_eq!(report.usage().requests, 6);
    Ok(())
}
