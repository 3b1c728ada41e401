use llmnode::{Recording, prelude::*};
use serde_json::json;

#[llm_output]
struct Summary {
    #[schemars(length(max = 80))]
    line: String,
}

#[llm_node(prompt = "Sum this up in one line.\n{text:fence}", output = Summary, retries = 2)]
struct SumUp<'a> {
    text: &'a str,
}

/// The summary, and what it took: one line for each request.
async fn sum_up(run: &Run, text: &str) -> Result<(Summary, Vec<String>), NodeError> {
    let report = run
        .call(&SumUp { text })
        .label("tenant", "acme")
        .report()
        .await?;
    let lines = report.record.attempts.iter().map(|attempt| {
        let tokens = attempt.usage.and_then(|usage| usage.total());
        let usage = tokens.map_or("usage unknown".into(), |tokens| format!("{tokens} tokens"));
        let end = attempt
            .category
            .map_or("accepted", |category| category.as_str());
        format!("{}: {usage}, {:?}, {end}", attempt.id, attempt.elapsed)
    });
    Ok((report.value, lines.collect()))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let run = Run::new(OpenAi::from_env()?).on_call(|record| {
        eprintln!(
            "{}: {:?} in {:?}",
            record.node, record.category, record.elapsed
        )
    });
    let recording = Recording::new().with_content(true);
    let text = std::fs::read_to_string("letter.txt")?;
    let outcome = run.call(&SumUp { text: &text }).record(&recording).await;
    std::fs::write("run.html", recording.page())?; // also after a failure
    println!("{}", outcome?.line);
    eprintln!("{}", run.ledger().total()); // of all calls of the run
    Ok(())
}

#[tokio::test]
async fn a_rejected_answer_has_its_line() -> Result<(), NodeError> {
    let long = json!({"line": "word ".repeat(40)});
    let run = Run::new(
        ScriptedModel::new()
            .reply(long)
            .reply(json!({"line": "The roof leaks."})),
    );
    let (summary, lines) = sum_up(&run, "The roof leaks, as I wrote on Monday.").await?;
    assert_eq!(summary.line, "The roof leaks.");
    assert!(
        lines[0].ends_with("schema_error") && lines[1].ends_with("accepted"),
        "{lines:?}"
    );
    Ok(())
}
