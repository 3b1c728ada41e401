//! Chats that become too long: what one turn left out or summed up, the next one does not pay again.

use std::collections::HashSet;
use std::time::Duration;

use llmnode::chats::{BegunTurn, Chat, Conversations, Covers, NewTurn, TurnStore};
use llmnode::prelude::*;
use llmnode::{
    Approval, BoxFuture, Category, FnModel, Limits, Message, ModelError, Paused, Reply, Request,
    Settings, TokenUsage, Toolset, Transcript, Unfinished,
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

/// The same, with a tool that a person decides about.
#[llm_node(prompt = "{question}")]
struct Careful<'a> {
    question: &'a str,
    #[node(tools)]
    tools: Toolset,
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
    FnModel::new(move |request| answer(request, window))
}

fn answer(request: &Request, window: u64) -> Reply {
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

/// A chat of 82 messages, of which nothing is left out yet.
async fn long_chat(chats: &Conversations) -> Chat {
    let chat = chats.open("acme/43").await.unwrap();
    long_turn(&chat).await;
    chat
}

/// 82 messages more, of which nothing is left out.
async fn long_turn(chat: &Chat) {
    let settings = Settings::new().window(1_000_000);
    let settings = settings.limits(Limits::new().requests(1_000));
    let question = &format!("Read 40 pages. {RULE}");
    let tools = tools();
    let run = Run::new(model(1_000_000));
    let node = Read { question, tools };
    let call = run.call(&node).settings(settings);
    call.conversation(chat).await.unwrap();
}

/// Sums up, and has another reply to all else.
fn summing_up(reply: impl Fn() -> Reply + Send + Sync + 'static) -> FnModel {
    FnModel::new(move |request| match is_summing_up(request) {
        true => Reply::json(json!({"binding": [RULE], "done": ["read pages"]})),
        false => reply(),
    })
}

async fn fails(model: &FnModel, chat: &Chat, question: &str) -> NodeError {
    let tools = tools();
    let run = Run::new(model.clone());
    let node = Read { question, tools };
    run.call(&node).conversation(chat).await.unwrap_err()
}

/// The next turns ask something else, and none of them pays what the failed one has paid.
async fn assert_paid(chat: &Chat, name: &str) {
    let before = chat.history().await.unwrap().len();
    for turn in 0..3 {
        let model = model(WINDOW);
        say(&model, chat, &format!("Read 1 page, {turn}.")).await;
        assert_eq!(summaries(&model), 0, "{name}, {turn}");
        for request in model.requests() {
            assert_eq!(summaries_in(&request), 1, "{name}, {turn}");
            assert!(texts(&request.messages).join("\n").contains(RULE));
        }
    }
    let after = chat.history().await.unwrap().len();
    assert_eq!(after, before + 3 * 4, "{name}");
}

#[tokio::test]
async fn a_summary_before_a_first_request_that_fails_is_paid_once() {
    let folder = Folder::new("covers-failed");
    for (name, chats) in stores(&folder).await {
        let chat = long_chat(&chats).await;
        let failing = summing_up(|| Reply::failure(Category::BadRequest));
        let error = fails(&failing, &chat, "Read 5 pages.").await;
        assert_eq!(error.category(), Category::BadRequest);
        assert!(summaries(&failing) >= 1, "{name}");
        // Another question fails, too, and a chat that was pinned to meanwhile is none of their business.
        chat.pin("Be polite.").await.unwrap();
        let again = summing_up(|| Reply::failure(Category::BadRequest));
        let error = fails(&again, &chat, "Read 6 pages.").await;
        assert_eq!(summaries(&again), 0, "{name}");
        let resumed = model(WINDOW);
        let fork = chat.fork_at(82).await.unwrap();
        let run = Run::new(resumed.clone());
        let tools = tools();
        let question = "Read 6 pages.";
        let unfinished = error.unfinished().unwrap();
        let node = Read { question, tools };
        let call = run.call(&node).conversation(&chat);
        assert_eq!(call.resume(unfinished).await.unwrap(), "Done.");
        assert_eq!(summaries(&resumed), 0, "{name}");
        let after = model(WINDOW);
        say(&after, &chat, "Read 0 pages.").await;
        assert_eq!(summaries(&after), 0, "{name}");
        // A fork of what was there before has no part in it.
        let of_fork = model(WINDOW);
        say(&of_fork, &fork, "Read 0 pages.").await;
        assert!(summaries(&of_fork) >= 1, "{name}");
        let of_fork = model(WINDOW);
        say(&of_fork, &fork, "Read 0 pages.").await;
        assert_eq!(summaries(&of_fork), 0, "{name}");
    }
}

#[tokio::test]
async fn the_turn_behind_a_failed_one_has_what_that_one_paid() {
    let folder = Folder::new("covers-next");
    for (name, chats) in stores(&folder).await {
        let chat = long_chat(&chats).await;
        let failing = summing_up(|| Reply::failure(Category::BadRequest));
        fails(&failing, &chat, "Read 5 pages.").await;
        assert_paid(&chat, name).await;
    }
}

/// A chat whose newest turn has paid for a summary and failed. `has_row`: another summary is in the chat already.
async fn failed_behind_summary(chats: &Conversations, has_row: bool, name: &str) -> Chat {
    let chat = long_chat(chats).await;
    if has_row {
        say(&model(WINDOW), &chat, "Read 1 page.").await;
        long_turn(&chat).await;
    }
    let failing = summing_up(|| Reply::failure(Category::BadRequest));
    fails(&failing, &chat, "Read 5 pages.").await;
    assert!(summaries(&failing) >= 1, "{name}");
    chat
}

#[tokio::test]
async fn turns_without_compact_pass_on_what_a_failed_one_has_paid() {
    for has_row in [false, true] {
        let folder = Folder::new("covers-passed-on");
        for (name, chats) in stores(&folder).await {
            let chat = failed_behind_summary(&chats, has_row, name).await;
            let whole = chat.history().await.unwrap();
            let before = chat.fork_at(whole.len() as u64).await.unwrap();
            let node = Whole {
                question: "And now?",
            };
            let failing = FnModel::new(|_| Reply::failure(Category::BadRequest));
            let run = Run::new(failing);
            run.call(&node).conversation(&chat).await.unwrap_err();
            let large = model(1_000_000);
            let run = Run::new(large.clone());
            run.call(&node).conversation(&chat).await.unwrap();
            let sent = large.requests().remove(0);
            assert_eq!(sent.messages.len(), whole.len() + 1, "{name}");
            assert_eq!(summaries_in(&sent), 0, "{name}");
            assert_paid(&chat, name).await;
            let after = model(WINDOW);
            say(&after, &chat, "Read 0 pages.").await;
            let sent = after.requests().remove(0);
            let sent = texts(&sent.messages);
            let said = sent.iter().filter(|text| **text == "And now?").count();
            assert_eq!(said, 1, "{name}: what was said meanwhile is there once");
            // What had no answer is no business of a fork.
            let of_fork = model(WINDOW);
            say(&of_fork, &before, "Read 0 pages.").await;
            assert!(summaries(&of_fork) >= 1, "{name}");
        }
    }
}

/// Sends a letter, if a person says so.
fn letters() -> Toolset {
    let schema = json!({"type": "object"});
    let letters = Toolset::new().json_function("send", "Sends.", schema, |_: Value| async move {
        Ok::<_, BoxError>("sent".to_owned())
    });
    letters.require_approval()
}

#[tokio::test]
async fn a_pause_without_compact_passes_on_what_a_failed_turn_has_paid() {
    for has_row in [false, true] {
        let folder = Folder::new("covers-pause");
        for (name, chats) in stores(&folder).await {
            let chat = failed_behind_summary(&chats, has_row, name).await;
            let large = FnModel::new(|request| match request.messages.last() {
                Some(last) if last.content == "sent" => Reply::text("Done."),
                _ => Reply::text("").call("send", json!({})),
            });
            let run = Run::new(large.clone());
            let tools = letters();
            let question = "Send it.";
            let node = Careful { question, tools };
            let call = run.call(&node).conversation(&chat);
            assert_eq!(call.await.unwrap_err().category(), Category::Paused);
            let waiting = chat.paused().await.unwrap().unwrap().waiting();
            let decided = chat.decide(&waiting[0].id, Approval::yes()).await.unwrap();
            let call = run.call(&node).conversation(&chat).approve(decided);
            assert_eq!(call.await.unwrap(), "Done.", "{name}");
            for request in large.requests() {
                assert_eq!(summaries_in(&request), 0, "{name}");
            }
            assert_paid(&chat, name).await;
        }
    }
}

/// As a process that dies while the first request is under way: nothing of the call is left but what the store has.
#[tokio::test]
async fn a_turn_that_is_dropped_behind_its_summary_has_kept_it() {
    let folder = Folder::new("covers-dropped");
    for (name, chats) in stores(&folder).await {
        let chat = long_chat(&chats).await;
        let silent = summing_up(Reply::never);
        let tools = tools();
        let run = Run::new(silent.clone());
        let node = Read {
            question: "Read 5 pages.",
            tools,
        };
        let call = async { run.call(&node).conversation(&chat).await };
        let seen = async {
            while silent.requests().iter().all(is_summing_up) {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::select! {
            answer = call => panic!("{name}: {answer:?}"),
            () = seen => {}
        }
        assert!(summaries(&silent) >= 1, "{name}");
        let chat = chat.wait(Duration::from_secs(600));
        assert_paid(&chat, name).await;
    }
}

/// A chat of whose rows the first one is damaged, or was written by somebody else in another way.
struct Damaged {
    chat: Chat,
    body: fn(&str) -> String,
}

impl TurnStore for Damaged {
    fn id(&self) -> &str {
        self.chat.id()
    }

    fn begin<'a>(&'a self, turn: NewTurn<'a>) -> BoxFuture<'a, Result<BegunTurn, NodeError>> {
        Box::pin(async move {
            let mut begun = self.chat.begin(turn).await?;
            for one in begun.covers.iter_mut().take(1) {
                one.body = (self.body)(&one.body);
            }
            Ok(begun)
        })
    }

    fn renew<'a>(&'a self, turn: &'a BegunTurn) -> BoxFuture<'a, Result<(), NodeError>> {
        self.chat.renew(turn)
    }

    fn keep<'a>(
        &'a self,
        turn: &'a BegunTurn,
        so_far: &'a Unfinished,
    ) -> BoxFuture<'a, Result<(), NodeError>> {
        self.chat.keep(turn, so_far)
    }

    fn append<'a>(
        &'a self,
        turn: &'a BegunTurn,
        messages: &'a [Message],
        covers: &'a [Covers],
    ) -> BoxFuture<'a, Result<(), NodeError>> {
        self.chat.append(turn, messages, covers)
    }

    fn pause<'a>(
        &'a self,
        turn: &'a BegunTurn,
        paused: &'a Paused,
    ) -> BoxFuture<'a, Result<(), NodeError>> {
        self.chat.pause(turn, paused)
    }

    fn fail<'a>(
        &'a self,
        turn: &'a BegunTurn,
        so_far: Option<&'a Unfinished>,
    ) -> BoxFuture<'a, Result<(), NodeError>> {
        self.chat.fail(turn, so_far)
    }

    fn abandon(&self, turn: &BegunTurn) {
        self.chat.abandon(turn);
    }
}

/// Says something in each of six turns; returns how many pieces each of them had summed up.
async fn paid_by_turns(chat: &Damaged) -> Vec<usize> {
    let mut paid = Vec::new();
    for pages in [1, 1, 30, 1, 30, 1] {
        let model = model(WINDOW);
        let run = Run::new(model.clone());
        let question = &format!("Read {pages} pages.");
        let tools = tools();
        let settings = Settings::new().limits(Limits::new().requests(1_000));
        let node = Read { question, tools };
        let call = run.call(&node).settings(settings).conversation(chat);
        assert_eq!(call.await.unwrap(), "Done.");
        for request in model.requests() {
            assert!(is_summing_up(&request) || texts(&request.messages).join("\n").contains(RULE));
        }
        paid.push(summaries(&model));
    }
    paid
}

#[tokio::test]
async fn a_row_that_cannot_be_used_costs_one_summary_and_not_one_a_turn() {
    let folder = Folder::new("covers-damaged");
    for (name, chats) in stores(&folder).await {
        for (damage, body) in [
            ("none", str::to_owned as fn(&str) -> String),
            ("other JSON", |body| {
                let json: Value = serde_json::from_str(body).unwrap();
                serde_json::to_string_pretty(&json).unwrap()
            }),
            ("cut", |body| body[..body.len() / 2].to_owned()),
            ("of another chat", |body| {
                body.replacen("\"at\":", "\"at\":9", 1)
            }),
        ] {
            if name != "memory" && damage != "cut" {
                continue;
            }
            let first = summed_up(&chats).await;
            let chat = first.fork_at(82).await.unwrap();
            let paid = paid_by_turns(&Damaged { chat, body }).await;
            chats.delete_with_forks(first.id()).await.unwrap();
            let is_usable = matches!(damage, "none" | "other JSON");
            // A summary may be made in pieces.
            assert_eq!(paid[0] == 0, is_usable, "{name}, {damage}: {paid:?}");
            for turn in [1, 3, 5] {
                assert_eq!(paid[turn], 0, "{name}, {damage}: {paid:?}");
            }
        }
    }
}

/// The turn has what the row said, from before.
#[tokio::test]
async fn a_turn_goes_on_though_a_row_that_it_stands_on_was_damaged_meanwhile() {
    let folder = Folder::new("covers-goes-on");
    for (name, chats) in stores(&folder).await {
        let chat = summed_up(&chats).await;
        let failing = FnModel::new(|request| match next_page(request) {
            3 => Reply::failure(Category::BadRequest),
            _ => answer(request, WINDOW),
        });
        let error = fails(&failing, &chat, "Read 5 pages.").await;
        let unfinished = error.unfinished().unwrap();
        let body = |body: &str| body[..body.len() / 2].to_owned();
        let damaged = Damaged { chat, body };
        let resumed = model(WINDOW);
        let run = Run::new(resumed.clone());
        let node = Read {
            question: "Read 5 pages.",
            tools: tools(),
        };
        let call = run.call(&node).conversation(&damaged).resume(unfinished);
        assert_eq!(call.await.unwrap(), "Done.", "{name}");
        assert_eq!(resumed.requests().len(), 3, "{name}: two pages are left");
        for turn in 0..3 {
            let model = model(WINDOW);
            let run = Run::new(model.clone());
            let question = &format!("Read 1 page, {turn}.");
            let node = Read {
                question,
                tools: tools(),
            };
            let call = run.call(&node).conversation(&damaged);
            assert_eq!(call.await.unwrap(), "Done.", "{name}, {turn}");
            assert_eq!(summaries(&model), 0, "{name}, {turn}");
            for request in model.requests() {
                assert_eq!(summaries_in(&request), 1, "{name}, {turn}");
            }
        }
        let history = damaged.chat.history().await.unwrap();
        assert_eq!(history.len(), 82 + 12 + 3 * 4, "{name}");
    }
}
