//! An agent that failed goes on after the turns that it paid for, and no tool runs twice.

use std::time::Duration;

use llmnode::prelude::*;
use llmnode::{Group, ModelError, Request, Unfinished};
use serde_json::json;

use super::library::*;

fn two_rounds() -> ScriptedModel {
    ScriptedModel::new()
        .reply(
            Reply::text("I look.")
                .call("search", json!({"word": "Rust"}))
                .call("count", json!({})),
        )
        .reply(Reply::text("").call("search", json!({"word": "Go"})))
}

fn failure(category: Category) -> Reply {
    Reply::error(ModelError::new(category, "no"))
}

fn stored(unfinished: &Unfinished) -> Unfinished {
    serde_json::from_str(&serde_json::to_string(unfinished).unwrap()).unwrap()
}

const RAN: [&str; 3] = ["search Rust", "count", "search Go"];
const RESULTS: [&str; 3] = [r#"["Rust in Action"]"#, "3", r#"["The Go Book"]"#];

#[tokio::test]
async fn an_agent_that_failed_in_its_third_turn_goes_on_whatever_the_category() {
    let groups = [Group::Transport, Group::Final];
    for category in Category::ALL
        .iter()
        .copied()
        .filter(|category| groups.contains(&category.group()))
    {
        let model = two_rounds().reply(failure(category));
        let first = run(model.clone());
        let error = first.call(&ASK).transport_retries(0).await.unwrap_err();
        assert_eq!(error.category(), category);
        let unfinished = stored(&error.unfinished().unwrap());
        assert_eq!(unfinished.node(), "ask");
        // The prompt, and two rounds.
        assert_eq!(unfinished.messages().len(), 1 + 3 + 2, "{category}");

        let second = ScriptedModel::new().reply("Rust in Action.");
        let other = run(second.clone());
        let report = other.call(&ASK).resume(unfinished).report().await.unwrap();
        assert_eq!(report.value, "Rust in Action.");
        assert_eq!(
            (first.state().log(), other.state().log()),
            (RAN.map(String::from).into(), vec![])
        );
        let requests = second.requests();
        assert_eq!(requests.len(), 1, "{category}");
        assert_eq!(results(&requests[0]), RESULTS);
        // What the failed request was asked is what the next one is asked.
        assert_eq!(requests[0].messages, model.requests()[2].messages);
        // Together they have all requests.
        assert_eq!(error.usage().requests + report.total.requests, 4);
        assert_eq!(report.messages.len(), 1 + 3 + 2);
    }
}

#[tokio::test]
async fn a_limit_keeps_the_turns_that_it_left_room_for() {
    let model = two_rounds();
    let first = run(model);
    let error = first
        .call(&ASK)
        .limits(Limits::new().requests(2))
        .await
        .unwrap_err();
    assert_eq!(error.category(), Category::LimitExceeded);
    let second = ScriptedModel::new().reply("Rust in Action.");
    let other = run(second.clone());
    other
        .call(&ASK)
        .resume(error.unfinished().unwrap())
        .await
        .unwrap();
    assert_eq!(results(&second.requests()[0]), RESULTS);
    assert_eq!(other.state().log(), Vec::<String>::new());

    // A round whose tools had no room is asked for once, too.
    let first = run(two_rounds());
    let error = first
        .call(&ASK)
        .limits(Limits::new().tool_calls(1))
        .await
        .unwrap_err();
    assert_eq!(error.category(), Category::LimitExceeded);
    assert_eq!(first.state().log(), Vec::<String>::new());
    let second = ScriptedModel::new().reply("Rust in Action.");
    let other = run(second.clone());
    other
        .call(&ASK)
        .resume(stored(&error.unfinished().unwrap()))
        .await
        .unwrap();
    assert_eq!(other.state().log(), ["search Rust", "count"]);
    assert_eq!(results(&second.requests()[0]), &RESULTS[..2]);
}

#[tokio::test(start_paused = true)]
async fn a_deadline_within_a_round_loses_no_result() {
    let round = || {
        Reply::text("")
            .call("count", json!({}))
            .call("wait", json!({"milliseconds": 100}))
            .call("lend", json!({"title": "Deep C", "days": 3}))
    };
    // The first deadline passes while one tool waits, the second while another lends.
    for (deadline, log, repeated, lent) in [
        (
            50,
            vec!["count", "wait 100 begins"],
            vec!["wait 100", "lend Deep C"],
            "done",
        ),
        (
            103,
            vec![
                "count",
                "wait 100 begins",
                "wait 100 ends",
                "lend Deep C begins",
            ],
            vec![],
            "the tool was interrupted after it had begun",
        ),
    ] {
        let first = run(ScriptedModel::new().reply(round()));
        let call = first.call(&ASK).deadline(Duration::from_millis(deadline));
        let error = call.await.unwrap_err();
        assert_eq!(error.category(), Category::Timeout, "{error}");
        assert_eq!(first.state().log(), log);
        let second = ScriptedModel::new().reply("Three.");
        let other = run(second.clone());
        other
            .call(&ASK)
            .resume(stored(&error.unfinished().unwrap()))
            .await
            .unwrap();
        let ends = |log: Vec<String>| log.into_iter().filter(|one| one.ends_with("ends")).count();
        assert_eq!(ends(other.state().log()), repeated.len());
        assert!(
            !other.state().log().contains(&"count".to_owned()),
            "it has its result"
        );
        let requests = second.requests();
        assert!(
            results(&requests[0])[2].starts_with(lent),
            "{:?}",
            results(&requests[0])
        );
    }
}

#[tokio::test]
async fn it_goes_on_with_another_model_and_may_fail_again() {
    let first = run(two_rounds().reply(failure(Category::ContextLengthError)));
    let error = first.call(&ASK).await.unwrap_err();
    let second = ScriptedModel::new().reply(failure(Category::QuotaError));
    let error = run(second)
        .call(&ASK)
        .resume(error.unfinished().unwrap())
        .await
        .unwrap_err();
    assert_eq!(error.category(), Category::QuotaError);
    let third = ScriptedModel::new()
        .reply(Reply::text("").call("count", json!({})))
        .reply(failure(Category::QuotaError));
    let large = run(ScriptedModel::new()).model("large", third);
    let error = large
        .call(&ASK)
        .model("large")
        .resume(error.unfinished().unwrap())
        .await
        .unwrap_err();
    assert_eq!(large.state().log(), ["count"]);
    assert_eq!(error.unfinished().unwrap().messages().len(), 1 + 3 + 2 + 2);
}

/// Talks with a history.
#[llm_node(system = "Be brief.", examples = [("Hi", "Hello")], prompt = "{question}", state = Library, tools = [Count], turns = 3)]
struct Talk {
    #[node(history)]
    before: Vec<Message>,
    question: &'static str,
}

#[tokio::test]
async fn the_prompt_is_the_nodes_own_with_a_shorter_history() {
    let before = vec![
        Message::user("One?"),
        Message::assistant("Two."),
        Message::user("Three?"),
        Message::assistant("Four."),
    ];
    let failing = ScriptedModel::new()
        .reply(Reply::text("").call("count", json!({})))
        .reply(failure(Category::ContextLengthError));
    let talk = Talk {
        before: before.clone(),
        question: "How many?",
    };
    let unfinished = run(failing)
        .call(&talk)
        .await
        .unwrap_err()
        .unfinished()
        .unwrap();
    assert_eq!(unfinished.messages()[..4], before);
    let model = ScriptedModel::new().otherwise(|request: &Request| {
        if request.answer_now {
            Reply::text("Three.")
        } else {
            Reply::text("").call("count", json!({}))
        }
    });
    let shorter = Talk {
        before: before[2..].to_vec(),
        question: "How many?",
    };
    let report = run(model.clone())
        .call(&shorter)
        .resume(unfinished)
        .report()
        .await
        .unwrap();
    let said: Vec<_> = model.requests()[0]
        .messages
        .iter()
        .map(|one| one.content.clone())
        .collect();
    assert_eq!(
        said,
        [
            "Be brief.",
            "Hi",
            "Hello",
            "Three?",
            "Four.",
            "How many?",
            "",
            "3"
        ]
    );
    // The third of three turns has to be the answer.
    assert_eq!(model.requests().len(), 2);
    assert_eq!(
        report.messages[..3],
        [
            before[2].clone(),
            before[3].clone(),
            Message::user("How many?")
        ]
    );
}

#[tokio::test]
async fn what_cannot_go_on_is_refused_or_is_not_there() {
    let failing = run(two_rounds().reply(failure(Category::NotFound)));
    let unfinished = failing.call(&ASK).await.unwrap_err().unfinished().unwrap();
    let error = run(ScriptedModel::new())
        .call(&RECOMMEND)
        .resume(unfinished)
        .await
        .unwrap_err();
    assert_eq!(error.category(), Category::ConfigError);
    assert!(
        error
            .message()
            .contains("the conversation belongs to the node `ask`, and this is `recommend`"),
        "{error}"
    );
    // Nothing was paid for.
    let at_once = run(ScriptedModel::new().reply(failure(Category::NotFound)));
    assert!(at_once.call(&ASK).await.unwrap_err().unfinished().is_none());
    let newer =
        serde_json::from_value::<Unfinished>(json!({"format": "llmnode/unfinished", "version": 3}));
    assert!(
        newer
            .unwrap_err()
            .to_string()
            .contains("version 3 is newer")
    );
}
