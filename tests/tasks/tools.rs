use llmnode::prelude::*;
use serde_json::json;

struct Library {
    shelf: Vec<String>,
}

/// Finds books by a word of their title.
#[tool]
fn search(
    /// One word of the title.
    word: String,
    state: &Library,
) -> Result<Vec<String>, String> {
    let found: Vec<String> = state
        .shelf
        .iter()
        .filter(|title| title.contains(&word))
        .cloned()
        .collect();
    if found.is_empty() {
        return Err(format!("no title has the word {word:?}"));
    }
    Ok(found)
}

#[llm_node(
    system = "You are a librarian. Answer with a title from the shelf.",
    prompt = "{question}",
    state = Library,
    tools = [Search],
    turns = 6,
)]
struct Librarian {
    question: String,
}

fn library() -> Library {
    Library {
        shelf: vec!["The Sea Around Us".into(), "Dune".into()],
    }
}

#[tokio::main]
async fn main() -> Result<(), NodeError> {
    let run = Run::new(OpenAi::from_env()?).with_state(library());
    let report = run
        .call(&Librarian {
            question: "Something on the sea?".into(),
        })
        .report()
        .await?;
    println!("{}", report.value);
    for tool in report
        .record
        .attempts
        .iter()
        .flat_map(|attempt| &attempt.tools)
    {
        println!("{}: {}", tool.name, tool.outcome);
    }
    Ok(())
}

#[tokio::test]
async fn a_search_without_a_result_is_told_to_the_model() -> Result<(), NodeError> {
    let model = ScriptedModel::new()
        .reply(Reply::text("").call("search", json!({"word": "ocean"})))
        .reply(Reply::text("").call("search", json!({"word": "Sea"})))
        .reply("The Sea Around Us");
    let run = Run::new(model.clone()).with_state(library());
    let answer = run
        .call(&Librarian {
            question: "Something on the sea?".into(),
        })
        .await?;
    assert_eq!(answer, "The Sea Around Us");
    // The model read the error and searched again.
    assert!(
        model.requests()[1]
            .messages
            .last()
            .unwrap()
            .content
            .contains("no title has the word")
    );
    Ok(())
}
