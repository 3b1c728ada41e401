use std::io::Write as _;

use llmnode::chats::{Chat, Conversations};
use llmnode::prelude::*;

/// Finds books by a word of their title.
#[tool]
fn search(word: String) -> String {
    format!("The {word} Around Us")
}

#[llm_node(system = "Be brief.", prompt = "{question}", tools = [Search], deadline = 120s)]
struct Answer {
    question: String,
}

/// Shows the answer while it is written. `None` goes on with the last question, if it got no answer.
async fn answer(
    run: &Run,
    chat: &Chat,
    question: Option<String>,
    mut show: impl FnMut(&str),
) -> Result<(), NodeError> {
    let unfinished = match question {
        Some(_) => None,
        None => chat.unfinished().await?,
    };
    // The first message of a turn is its question.
    let asked = unfinished
        .as_ref()
        .map(|turn| turn.messages()[0].content.clone());
    let Some(question) = question.or(asked) else {
        return Ok(());
    };
    let node = Answer { question };
    let mut call = run.call(&node).conversation(chat);
    if let Some(unfinished) = unfinished {
        call = call.resume(unfinished);
    }
    let mut stream = call.stream();
    while let Some(event) = stream.next().await {
        match event {
            Event::Text(text) => show(&text),
            // The connection broke, say: the model begins the answer anew.
            Event::Restarted { .. } => show("\n(once more)\n"),
            _ => {}
        }
    }
    stream.finish().await.map(drop)
}

fn show(text: &str) {
    print!("{text}");
    // Standard output would wait for the end of the line.
    let _ = std::io::stdout().flush();
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let run = Run::new(OpenAi::from_env()?);
    let chat = Conversations::sqlite("chats.db")?.open("me/1").await?;
    for one in chat.messages(..).await? {
        println!("{:?}: {}", one.message.role, one.message.content);
    }
    for line in std::io::stdin().lines() {
        // Enter alone goes on with the last question.
        let question = Some(line?).filter(|line| !line.is_empty());
        match answer(&run, &chat, question, show).await {
            Ok(()) => println!(),
            Err(error) if error.category() == Category::Conflict => {
                println!("This chat is being answered in another window; ask again in a moment.");
            }
            Err(error) => println!("{error:#}\nEnter goes on; a new question discards this one."),
        }
    }
    Ok(())
}

#[tokio::test]
async fn an_error_in_the_middle_loses_nothing() -> Result<(), NodeError> {
    let model = ScriptedModel::new()
        .reply(Reply::text("").call("search", serde_json::json!({"word": "Sea"})))
        .reply(Reply::failure(Category::QuotaError))
        .reply("The Sea Around Us.");
    let run = Run::new(model.clone());
    let chat = Conversations::in_memory().open("me/1").await?;
    let question = Some("Something on the sea?".to_owned());
    answer(&run, &chat, question, |_| ()).await.unwrap_err();
    assert!(chat.history().await?.is_empty());
    answer(&run, &chat, None, |_| ()).await?;
    assert_eq!(chat.history().await?.len(), 4);
    assert_eq!(model.requests().len(), 3); // the round of the tool was not asked for again
    Ok(())
}
