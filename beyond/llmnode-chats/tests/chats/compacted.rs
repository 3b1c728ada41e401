//! Chats that become too long: what one turn left out or summed up, the next one does not pay again.

use std::collections::HashSet;

use llmnode::chats::{Chat, Conversations};
use llmnode::prelude::*;
use llmnode::{
    Category, FnModel, Limits, Message, ModelError, Reply, Request, Settings, TokenUsage, Toolset,
    Transcript,
};
use serde_json::{Value, json};

use crate::support::{Folder, stores};

const WINDOW: u64 = 8_192;
const RULE: &str = "Never ship before Friday.";
const SUMMARY: &str = "[Summary of earlier messages]";

/// Reads pages.
#[llm_node(
    system = "Be brief.",
    prompt = "{question}",
    turns = 60,
    compact(keep = 2, with = Summarise),
    window = 8_192
)]
struct Read<'a> {
    question: &'a str,
    #[node(tools)]
    tools: Toolset,
}

/// The same with other instructions and examples before the conversation.
#[llm_node(
    system = "You are somebody else.",
    examples = [("Hello.", "Good day.")],
    prompt = "{question}",
    compact(keep = 2),
    window = 8_192
)]
struct Other<'a> {
    question: &'a str,
}

/// Sends all that there is.
#[llm_node(prompt = "{question}")]
struct Whole<'a> {
    question: &'a str,
}

/// Sums up.
#[llm_node(prompt = "Sum up:\n{part:fence}", output = llmnode::Summary)]
struct Summarise {
    part: Transcript,
}

fn tools() -> Toolset {
    let schema = json!({"type": "object", "properties": {"page": {"type": "integer"}}, "required": ["page"]});
    Toolset::new().json_function("read", "Reads a page.", schema, |page: Value| async move {
        Ok::<_, BoxError>(format!("page {}: {}", page["page"], "x".repeat(900)))
    })
}

fn is_summing_up(request: &Request) -> bool {
    request.messages[0].content.starts_with("Sum up:")
}

fn tokens(request: &Request) -> u64 {
    let bytes: usize = request.messages.iter().map(|one| one.content.len()).sum();
    bytes as u64 / 4
}

/// The page that the newest question has not read yet. The last rounds are always there.
fn next_page(request: &Request) -> u64 {
    let newest = request.messages.iter().rev();
    let of_turn = newest.take_while(|one| !one.content.starts_with("Read"));
    let pages = of_turn.flat_map(Message::calls).map(|call| {
        let arguments: Value = serde_json::from_str(&call.arguments).unwrap();
        arguments["page"].as_u64().unwrap()
    });
    pages.max().map_or(0, |page| page + 1)
}

/// Reads as many pages as the question says, and refuses what is longer than its window.
fn model(window: u64) -> FnModel {
    FnModel::new(move |request| {
        let input = tokens(request);
        if input > window {
            let said = "the request exceeds the available context size";
            return Reply::error(ModelError::new(Category::ContextLengthError, said));
        }
        let reply = if is_summing_up(request) {
            let data = json!({"binding": [RULE], "done": ["read pages"], "open": [], "facts": []});
            Reply::json(data)
        } else {
            let question = request.messages.iter().rev();
            let question = question
                .map(|one| &one.content)
                .find(|text| text.starts_with("Read"));
            let pages = question.and_then(|text| text.split(' ').nth(1)?.parse().ok());
            match next_page(request) {
                page if page < pages.unwrap_or(0) => {
                    Reply::text("").call("read", json!({"page": page}))
                }
                _ => Reply::text("Done."),
            }
        };
        reply.usage(TokenUsage::new(input, 20))
    })
}

async fn say(model: &FnModel, chat: &Chat, question: &str) {
    let tools = tools();
    let call = Run::new(model.clone());
    let node = Read { question, tools };
    let settings = Settings::new().limits(Limits::new().requests(1_000));
    let answer = call.call(&node).settings(settings).conversation(chat).await;
    assert_eq!(answer.unwrap(), "Done.", "{question}");
}

fn summaries(model: &FnModel) -> usize {
    let requests = model.requests();
    requests
        .iter()
        .filter(|request| is_summing_up(request))
        .count()
}

fn texts(messages: &[Message]) -> Vec<&str> {
    messages.iter().map(|message| &*message.content).collect()
}

fn summaries_in(request: &Request) -> usize {
    let texts = texts(&request.messages);
    texts
        .iter()
        .filter(|text| text.starts_with(SUMMARY))
        .count()
}

/// A chat whose first turn was summed up.
async fn summed_up(chats: &Conversations) -> Chat {
    let chat = chats.open("acme/42").await.unwrap();
    let first = model(WINDOW);
    say(&first, &chat, &format!("Read 40 pages. {RULE}")).await;
    assert!(summaries(&first) >= 1);
    chat
}

#[tokio::test]
async fn a_turn_pays_no_summary_that_an_earlier_one_has_paid() {
    let folder = Folder::new("covers");
    for (name, chats) in stores(&folder).await {
        let chat = summed_up(&chats).await;
        let whole = chat.history().await.unwrap();
        assert_eq!(whole.len(), 82, "{name}: the chat has all messages");
        assert!(texts(&whole).iter().all(|text| !text.starts_with(SUMMARY)));
        // This model gives each call of an answer the same id, and so it does when the call before is summed up.
        let calls = whole.iter().flat_map(Message::calls);
        let ids: HashSet<&str> = calls.map(|call| &*call.id).collect();
        assert_eq!(ids.len(), 40, "{name}: each call has an id of its own");
        for turn in 0..3 {
            // As in another process: nothing but the store knows of the turns before.
            let model = model(WINDOW);
            let chat = chats.open("acme/42").await.unwrap();
            say(&model, &chat, &format!("Read 1 page, {turn}.")).await;
            assert_eq!(summaries(&model), 0, "{name}, {turn}");
            let requests = model.requests();
            for request in &requests {
                assert_eq!(summaries_in(request), 1, "{name}, {turn}");
                assert!(texts(&request.messages).join("\n").contains(RULE));
            }
            assert_eq!(
                requests[0].messages.last().unwrap().content,
                format!("Read 1 page, {turn}.")
            );
        }
        let history = chat.history().await.unwrap();
        assert_eq!(history.len(), 82 + 3 * 4);
        assert_eq!(
            history[..82],
            whole,
            "{name}: what was stored is never changed"
        );
        // A long turn is summed up anew, behind what was summed up before.
        let long = model(WINDOW);
        say(&long, &chat, "Read 30 pages.").await;
        assert!(summaries(&long) >= 1, "{name}");
        let after = model(WINDOW);
        say(&after, &chat, "Read 0 pages.").await;
        assert_eq!(after.requests().len(), 1, "{name}");
    }
}

#[tokio::test]
async fn other_nodes_get_the_same_or_all() {
    let folder = Folder::new("covers-nodes");
    for (name, chats) in stores(&folder).await {
        let chat = summed_up(&chats).await;
        let small = model(WINDOW);
        let run = Run::new(small.clone());
        run.call(&Other {
            question: "And now?",
        })
        .conversation(&chat)
        .await
        .unwrap();
        let requests = small.requests();
        assert_eq!(requests.len(), 1, "{name}");
        let sent = texts(&requests[0].messages);
        assert_eq!(sent[..3], ["You are somebody else.", "Hello.", "Good day."]);
        assert_eq!(summaries_in(&requests[0]), 1);
        let large = model(100_000);
        let run = Run::new(large.clone());
        run.call(&Whole {
            question: "And now?",
        })
        .conversation(&chat)
        .await
        .unwrap();
        let requests = large.requests();
        assert_eq!(
            requests[0].messages.len(),
            82 + 3,
            "{name}: without `compact`, all is sent"
        );
        // The turns of both have changed nothing about what was summed up.
        let after = model(WINDOW);
        say(&after, &chat, "Read 0 pages.").await;
        assert_eq!(
            (after.requests().len(), summaries(&after)),
            (1, 0),
            "{name}"
        );
    }
}

#[tokio::test]
async fn a_fork_has_what_covers_its_messages_alone() {
    let folder = Folder::new("covers-forks");
    for (name, chats) in stores(&folder).await {
        let chat = chats.open("acme/42").await.unwrap();
        let first = model(WINDOW);
        say(&first, &chat, "Read 1 page.").await;
        say(&first, &chat, &format!("Read 40 pages. {RULE}")).await;
        let before = chat.fork_at(4).await.unwrap();
        let behind = chat.fork_at(4 + 82).await.unwrap();
        let of_fork = behind.fork_at(4 + 82).await.unwrap();
        for (fork, count) in [(before, 0), (behind, 1), (of_fork, 1)] {
            let model = model(WINDOW);
            say(&model, &fork, "Read 0 pages.").await;
            let requests = model.requests();
            assert_eq!(requests.len(), 1, "{name}");
            assert_eq!(summaries_in(&requests[0]), count, "{name}");
        }
    }
}
