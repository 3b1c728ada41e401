//! What stands in a conversation beside system and user message: examples and the history.

use std::sync::Arc;

use llmnode::prelude::*;
use llmnode::testing::{assert_prompt, request_of};

/// Answers in a conversation.
#[llm_node(system = "You are {tone}.", prompt = "{input}")]
struct Answer<H> {
    tone: &'static str,
    #[node(history)]
    messages: H,
    input: &'static str,
}

fn answer<H>(messages: H) -> Answer<H> {
    Answer { tone: "brief", messages, input: "And you?" }
}

const TRANSCRIPT: &str = "
    --- system
    You are brief.
    --- user
    How are you?
    --- assistant
    Fine.
    --- user
    And you?
";

#[test]
fn the_history_stands_before_the_user_message() {
    let said = [Message::user("How are you?"), Message::assistant("Fine.")];
    assert_prompt(&request_of(&answer(said.to_vec()), &()), TRANSCRIPT);
    assert_prompt(&request_of(&answer(&said[..]), &()), TRANSCRIPT);
    assert_prompt(&request_of(&answer(&said), &()), TRANSCRIPT);
    assert_prompt(&request_of(&answer(Arc::<[Message]>::from(said.to_vec())), &()), TRANSCRIPT);
    assert_prompt(&request_of(&answer(Box::<[Message]>::from(said.to_vec())), &()), TRANSCRIPT);
    assert_prompt(&request_of(&answer(said), &()), TRANSCRIPT);
}

#[test]
fn a_history_is_sent_as_it_is() {
    let said = [Message::user("{input}"), Message::user(""), Message::system("Switch to French.")];
    let messages = request_of(&answer(&said), &()).messages;
    assert_eq!(messages[1..4], said);
    assert_eq!(messages[4], Message::user("And you?"));
    assert_eq!(request_of(&answer([]), &()).messages.len(), 2);
}

#[llm_output]
struct Number {
    n: u8,
}

#[llm_node(prompt = "{input}", output = Number, retries = 5)]
struct Count<'a> {
    #[node(history)]
    messages: &'a [Message],
    input: &'static str,
}

#[tokio::test]
async fn corrections_leave_the_history_alone() {
    let said: Vec<_> = (0..9).map(|n| Message::user(n.to_string())).collect();
    let model = (0..5).fold(ScriptedModel::new(), |model, n| model.reply(format!("no {n}")));
    let run = Run::new(model.clone().reply(r#"{"n": 1}"#));
    assert_eq!(run.call(&Count { messages: &said, input: "next" }).await.unwrap().n, 1);
    for (corrections, request) in model.requests().iter().enumerate() {
        assert_eq!(request.messages[..9], said);
        assert_eq!(request.messages[9], Message::user("next"));
        // The newest three rounds.
        assert_eq!(request.messages.len(), 10 + 2 * corrections.min(3));
    }
}

struct World {
    inventory: Vec<&'static str>,
}

#[llm_output]
#[derive(Debug, PartialEq)]
struct Choice {
    /// One of the items.
    item: String,
    #[serde(rename = "because")]
    reason: Option<String>,
}

fn choice(item: &str) -> Choice {
    Choice { item: item.into(), reason: None }
}

#[llm_node(
    system = "Be careful.",
    examples = [
        (Self { goal: "cut bread".into(), messages: vec![Message::user("never sent")] }, Choice { item: "knife".into(), reason: Some("It cuts.".into()) }),
        ("Goal: see in the dark", choice("lamp")),
        (format!("Goal: {}", 1 + 1), choice("nothing")),
    ],
    prompt = "Goal: {goal}\n{state.inventory:list}",
    output = Choice,
    state = World,
    retries = 1,
)]
struct Choose {
    #[node(history)]
    messages: Vec<Message>,
    goal: String,
}

fn choose() -> Choose {
    Choose { messages: vec![Message::assistant("earlier")], goal: "open the door".into() }
}

#[test]
fn examples_stand_between_system_and_history() {
    assert_prompt(
        &request_of(&choose(), &World { inventory: vec!["key"] }),
        r#"
        answer: JSON of Choice
        --- system
        Be careful.
        --- user
        Goal: cut bread
        - key
        --- assistant
        {"item":"knife","because":"It cuts."}
        --- user
        Goal: see in the dark
        --- assistant
        {"item":"lamp","because":null}
        --- user
        Goal: 2
        --- assistant
        {"item":"nothing","because":null}
        --- assistant
        earlier
        --- user
        Goal: open the door
        - key
        "#,
    );
}
