//! Calls that need an approval, which a handler gives at once, or another process later.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use llmnode::prelude::*;
use llmnode::{Approval, BoxError, Category, Cx, Paused, Reply, ScriptedModel, WaitingCall};
use serde_json::json;

use super::library::results;

/// A shelf whose books can be thrown away.
#[derive(Default)]
struct Shelf {
    listed: AtomicUsize,
    removed: std::sync::Mutex<Vec<String>>,
    locked: bool,
}

impl Shelf {
    fn removed(&self) -> Vec<String> {
        self.removed.lock().unwrap().clone()
    }
}

/// Lists the titles.
#[tool]
fn titles(shelf: &Shelf) -> usize {
    shelf.listed.fetch_add(1, Ordering::SeqCst) + 1
}

/// Throws a book away.
#[tool(require_approval)]
async fn remove(
    /// Its title.
    title: String,
    cx: &Cx<'_, Shelf>,
) -> Result<String, BoxError> {
    let shelf = cx.state();
    shelf.removed.lock().unwrap().push(title.clone());
    Ok(format!(
        "{title} is gone, by {}",
        cx.call_id().unwrap().rsplit('/').next().unwrap()
    ))
}

#[validate(state)]
impl Remove {
    fn title_is_long(&self, shelf: &Shelf) -> Result<(), Invalid> {
        if self.title.len() > 2 && !shelf.locked {
            Ok(())
        } else {
            Err(Invalid::new("cannot be removed"))
        }
    }
}

/// Tidies up.
#[llm_node(tool, prompt = "Tidy {place} up.", state = Shelf, tools = [Titles, Remove], turns = 4)]
struct Tidy {
    place: String,
}

/// Has the house tidied up.
#[llm_node(prompt = "Tidy the house up.", state = Shelf, tools = [Tidy, Titles])]
struct Household {}

fn attic() -> Tidy {
    Tidy {
        place: "the attic".into(),
    }
}

fn title(title: &str) -> serde_json::Value {
    json!({"title": title})
}

fn three_calls() -> Reply {
    Reply::text("")
        .call("remove", title("Dune"))
        .call("titles", json!({}))
        .call("remove", title("Emma"))
}

async fn paused(run: &Run<Shelf>, node: &Tidy) -> Paused {
    let error = run.call(node).await.unwrap_err();
    assert_eq!(error.category(), Category::Paused);
    error.paused().unwrap()
}

/// As another process reads it.
fn stored(paused: &Paused) -> Paused {
    serde_json::from_str(&serde_json::to_string(paused).unwrap()).unwrap()
}

#[tokio::test]
async fn what_waits_is_decided_in_another_process_and_nothing_is_repeated() {
    let model = ScriptedModel::new().reply(three_calls());
    let run = Run::new(model.clone()).with_state(Shelf::default());
    let error = run.call(&attic()).await.unwrap_err();
    assert_eq!(
        error.to_string().lines().next().unwrap(),
        "tidy: paused after 1 request: `remove` (call_1), `remove` (call_3) wait; `error.paused()` returns the conversation; decide, then continue with `approve`"
    );
    let outcomes: Vec<_> = error.attempts()[0]
        .tools
        .iter()
        .map(|tool| &*tool.outcome)
        .collect();
    assert_eq!(outcomes, ["waiting", "ok", "waiting"]);
    // The tool that needs no approval has run, the others have not.
    assert_eq!(
        (
            run.state().listed.load(Ordering::SeqCst),
            run.state().removed()
        ),
        (1, vec![])
    );

    let paused = stored(&error.paused().unwrap());
    let waiting = paused.waiting();
    let ids: Vec<_> = waiting
        .iter()
        .map(|call| (&*call.id, &*call.name, &*call.node))
        .collect();
    assert_eq!(
        ids,
        [("call_1", "remove", "tidy"), ("call_3", "remove", "tidy")]
    );
    assert_eq!(waiting[0].arguments, r#"{"title":"Dune"}"#);
    let decided = paused.decide("call_1", Approval::yes()).unwrap();
    let decided = decided
        .decide("call_3", Approval::no("it is a gift"))
        .unwrap();
    assert!(decided.waiting().is_empty());

    let second = ScriptedModel::new().reply("Tidy.");
    let other = Run::new(second.clone()).with_state(Shelf::default());
    let report = other
        .call(&attic())
        .approve(stored(&decided))
        .report()
        .await
        .unwrap();
    assert_eq!(report.value, "Tidy.");
    assert_eq!(
        (
            other.state().listed.load(Ordering::SeqCst),
            other.state().removed()
        ),
        (0, vec!["Dune".into()])
    );
    let request = &second.requests()[0];
    assert_eq!(
        results(request),
        ["Dune is gone, by call_1", "1", "not allowed: it is a gift"]
    );
    assert!(request.messages[4].is_failure());
    // The request begins with what the first one was asked.
    assert_eq!(request.messages[..1], model.requests()[0].messages);
    let resumed: Vec<_> = report
        .record
        .resumed_tools
        .iter()
        .map(|tool| &*tool.outcome)
        .collect();
    assert_eq!(resumed, ["ok", "replayed", "denied"]);
    assert_eq!(
        report.record.attempts.len(),
        1,
        "the first request belongs to the call that made it"
    );
}

#[tokio::test]
async fn what_is_not_decided_runs_nothing() {
    let run = Run::new(ScriptedModel::new().reply(three_calls())).with_state(Shelf::default());
    let paused = paused(&run, &attic()).await;
    let half = paused.clone().decide("call_3", Approval::yes()).unwrap();
    let error = run.call(&attic()).approve(half).await.unwrap_err();
    assert_eq!(error.category(), Category::ConfigError);
    assert!(
        error
            .message()
            .contains(r#"the call "call_1" of `remove` is not decided"#),
        "{error}"
    );
    // `later` takes a decision back.
    let later = paused.clone().decide("call_1", Approval::yes()).unwrap();
    assert_eq!(
        later
            .decide("call_1", Approval::later())
            .unwrap()
            .waiting()
            .len(),
        2
    );
    for (id, why) in [
        (
            "call_9",
            r#"no call "call_9" is waiting; these are: call_1, call_3"#,
        ),
        ("call_2", "is not waiting"),
    ] {
        let error = paused.clone().decide(id, Approval::yes()).unwrap_err();
        assert!(error.message().contains(why), "{error}");
    }
    assert!(
        paused
            .clone()
            .answer("call_1", 7)
            .unwrap_err()
            .message()
            .contains("waits for another decision")
    );
    assert_eq!(run.state().removed(), Vec::<String>::new());
}

#[tokio::test]
async fn another_node_and_another_prompt_are_refused() {
    let run = Run::new(ScriptedModel::new().reply(three_calls())).with_state(Shelf::default());
    let paused = paused(&run, &attic()).await;
    let decided = paused
        .decide("call_1", Approval::yes())
        .unwrap()
        .decide("call_3", Approval::yes())
        .unwrap();
    let cellar = Tidy {
        place: "the cellar".into(),
    };
    let error = run
        .call(&cellar)
        .approve(decided.clone())
        .await
        .unwrap_err();
    assert_eq!(error.category(), Category::ConfigError);
    assert!(
        error.message().contains("changed since the pause"),
        "{error}"
    );
    let error = run.call(&Household {}).approve(decided).await.unwrap_err();
    assert!(
        error
            .message()
            .contains("the pause belongs to the node `tidy`, and this is `household`"),
        "{error}"
    );
    assert_eq!(run.state().removed(), Vec::<String>::new());
    for (change, why) in [
        (
            ("\"version\":4", "\"version\":5"),
            "conversation version 5 is newer",
        ),
        (
            ("llmnode/conversation", "llmnode/graph"),
            "not a llmnode/conversation",
        ),
    ] {
        let json = serde_json::to_string(&self::paused(&again(), &attic()).await)
            .unwrap()
            .replace(change.0, change.1);
        let error = serde_json::from_str::<Paused>(&json)
            .unwrap_err()
            .to_string();
        assert!(error.contains(why), "{error}");
    }
}

fn again() -> Run<Shelf> {
    Run::new(ScriptedModel::new().reply(three_calls())).with_state(Shelf::default())
}

#[tokio::test]
async fn nobody_is_asked_about_arguments_that_are_not_accepted() {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let model = ScriptedModel::new()
        .reply(Reply::text("").call("remove", title("It")))
        .reply("Nothing done.");
    let run = Run::new(model.clone())
        .with_state(Shelf::default())
        .with_approval(move |_| {
            count.fetch_add(1, Ordering::SeqCst);
            async { Approval::yes() }
        });
    run.call(&attic()).await.unwrap();
    assert_eq!(
        results(&model.requests()[1]),
        ["These arguments were not accepted:\n- cannot be removed"]
    );
    assert_eq!(asked.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn a_handler_decides_at_once() {
    let decide = |call: WaitingCall| async move {
        assert_eq!(call.node, "tidy");
        match call.arguments.as_str() {
            r#"{"title":"Dune"}"# => Approval::yes(),
            r#"{"title":"Emma"}"# => Approval::no("it is\na gift"),
            r#"{"title":"Ulysses"}"# => Approval::edit(title("The Odyssey")),
            r#"{"title":"Faust"}"# => Approval::edit(title("X")),
            _ => Approval::later(),
        }
    };
    let calls = ["Dune", "Emma", "Ulysses", "Faust"]
        .iter()
        .fold(Reply::text(""), |reply, title| {
            reply.call("remove", super::approval::title(title))
        });
    let later = Reply::text("").call("remove", title("Middlemarch"));
    let model = ScriptedModel::new().reply(calls).reply(later);
    let run = Run::new(model.clone())
        .with_state(Shelf::default())
        .with_approval(decide);
    let error = run.call(&attic()).await.unwrap_err();
    assert_eq!(run.state().removed(), ["Dune", "The Odyssey"]);
    assert_eq!(
        results(&model.requests()[1]),
        [
            "Dune is gone, by call_1",
            "not allowed: it is a gift",
            "The Odyssey is gone, by call_3",
            "These arguments were not accepted:\n- cannot be removed",
        ]
    );
    let said: Vec<_> = error.attempts()[0]
        .tools
        .iter()
        .map(|tool| (&*tool.outcome, tool.edited))
        .collect();
    assert_eq!(
        said,
        [
            ("ok", false),
            ("denied", false),
            ("ok", true),
            ("invalid_arguments", true)
        ]
    );
    assert_eq!(error.paused().unwrap().waiting().len(), 1);
}

#[tokio::test]
async fn an_edit_is_read_and_validated_again_and_so_is_what_the_state_has_made_invalid() {
    let run = again();
    let paused = paused(&run, &attic()).await;
    let decided = paused.decide("call_1", Approval::edit(title("X"))).unwrap();
    let decided = decided
        .decide("call_3", Approval::edit(json!({"name": "Emma"})))
        .unwrap();
    let model = ScriptedModel::new().reply("Nothing.");
    let run = Run::new(model.clone()).with_state(Shelf::default());
    let report = run.call(&attic()).approve(decided).report().await.unwrap();
    let requests = model.requests();
    let results = results(&requests[0]);
    assert!(
        results[0].contains("cannot be removed") && results[2].contains("title"),
        "{results:?}"
    );
    let resumed: Vec<_> = report
        .record
        .resumed_tools
        .iter()
        .map(|tool| (&*tool.outcome, tool.edited))
        .collect();
    assert_eq!(
        resumed,
        [
            ("invalid_arguments", true),
            ("replayed", false),
            ("invalid_arguments", true)
        ]
    );
    assert_eq!(run.state().removed(), Vec::<String>::new());

    // What was approved, and may not be any more.
    let paused = self::paused(&again(), &attic()).await;
    let decided = paused
        .decide("call_1", Approval::yes())
        .unwrap()
        .decide("call_3", Approval::yes())
        .unwrap();
    let model = ScriptedModel::new().reply("Nothing.");
    let run = Run::new(model.clone()).with_state(Shelf {
        locked: true,
        ..Shelf::default()
    });
    run.call(&attic()).approve(decided).await.unwrap();
    assert!(super::library::results(&model.requests()[0])[0].contains("cannot be removed"));
    assert_eq!(run.state().removed(), Vec::<String>::new());
}

#[tokio::test]
async fn two_pauses_of_one_conversation_ask_each_once_and_turns_count_on() {
    let first = ScriptedModel::new().reply(Reply::text("").call("remove", title("Dune")));
    let paused = paused(&Run::new(first).with_state(Shelf::default()), &attic()).await;
    let second = ScriptedModel::new().reply(Reply::text("").call("remove", title("Emma")));
    let run = Run::new(second).with_state(Shelf::default());
    let decided = paused.decide("call_1", Approval::yes()).unwrap();
    let paused = run
        .call(&attic())
        .approve(decided)
        .await
        .unwrap_err()
        .paused()
        .unwrap();
    assert_eq!(
        paused.waiting()[0].id,
        "call_2",
        "unique in its conversation"
    );
    let decided = stored(&paused).decide("call_2", Approval::yes()).unwrap();
    // The third of four responses; the fourth has to be the answer.
    let third = ScriptedModel::new()
        .reply(Reply::text("").call("titles", json!({})))
        .reply("Done.");
    let run = Run::new(third.clone()).with_state(Shelf::default());
    assert_eq!(run.call(&attic()).approve(decided).await.unwrap(), "Done.");
    let requests = third.requests();
    assert_eq!(
        results(&requests[1])[..2],
        ["Dune is gone, by call_1", "Emma is gone, by call_2"]
    );
    assert!(!requests[0].answer_now && requests[1].answer_now);
    assert_eq!(run.state().removed(), ["Emma"]);
}

#[tokio::test]
async fn an_agent_within_an_agent_waits_and_goes_on() {
    let model = ScriptedModel::new()
        .reply(
            Reply::text("")
                .call("tidy", json!({"place": "the attic"}))
                .call("titles", json!({})),
        )
        .reply(Reply::text("").call("remove", title("Dune")));
    let run = Run::new(model.clone()).with_state(Shelf::default());
    let error = run.call(&Household {}).await.unwrap_err();
    let paused = stored(&error.paused().unwrap());
    let waiting = paused.waiting();
    assert_eq!(
        (&*waiting[0].id, &*waiting[0].node),
        ("call_1/call_1", "tidy")
    );
    let decided = paused.decide("call_1/call_1", Approval::yes()).unwrap();
    let second = ScriptedModel::new()
        .reply("The attic is tidy.")
        .reply("All is tidy.");
    let run = Run::new(second.clone()).with_state(Shelf::default());
    let report = run
        .call(&Household {})
        .approve(stored(&decided))
        .report()
        .await
        .unwrap();
    assert_eq!(report.value, "All is tidy.");
    assert_eq!(
        (
            run.state().listed.load(Ordering::SeqCst),
            run.state().removed()
        ),
        (0, vec!["Dune".into()])
    );
    let requests = second.requests();
    assert_eq!(results(&requests[0]), ["Dune is gone, by call_1"]);
    assert_eq!(results(&requests[1]), ["The attic is tidy.", "1"]);
}

/// Tidies the attic, by a function.
#[tool]
async fn delegate(cx: &Cx<'_, Shelf>) -> Result<String, NodeError> {
    cx.call(&attic()).await
}

/// The same, and must not run twice.
#[tool(idempotent = false)]
async fn delegate_once(cx: &Cx<'_, Shelf>) -> Result<String, NodeError> {
    cx.call(&attic()).await
}

/// Runs a household by functions.
#[llm_node(prompt = "Keep house.", state = Shelf, tools = [Delegate, DelegateOnce])]
struct Butler {}

#[tokio::test]
async fn a_function_around_a_paused_agent_runs_again_from_its_start_unless_it_must_not() {
    let paused_in = |tool: &str| {
        let model = ScriptedModel::new()
            .reply(Reply::text("").call(tool, json!({})))
            .reply(Reply::text("").call("remove", title("Dune")));
        Run::new(model).with_state(Shelf::default())
    };
    let error = paused_in("delegate").call(&Butler {}).await.unwrap_err();
    let decided = error
        .paused()
        .unwrap()
        .decide("call_1/call_1", Approval::yes())
        .unwrap();
    let run = Run::new(ScriptedModel::new().reply("It is tidy.").reply("Done."))
        .with_state(Shelf::default());
    assert_eq!(
        run.call(&Butler {}).approve(decided).await.unwrap(),
        "Done."
    );
    assert_eq!(run.state().removed(), ["Dune"]);

    let run = paused_in("delegate_once");
    let error = run.call(&Butler {}).await.unwrap_err();
    assert_eq!(error.category(), Category::ConfigError);
    assert!(
        error
            .message()
            .contains("`delegate_once` must not run twice"),
        "{error}"
    );
    assert!(error.paused().is_none(), "{error}");
    assert_eq!(run.state().removed(), Vec::<String>::new());
}

#[tokio::test]
async fn an_id_of_a_call_is_the_same_after_the_pause() {
    #[derive(Default)]
    struct Seen(std::sync::Mutex<Vec<String>>);
    /// Pays.
    #[tool(require_approval, attempts = 2, wait = 0s)]
    fn pay(cx: &Cx<'_, Seen>) -> Result<(), String> {
        let mut seen = cx.state().0.lock().unwrap();
        seen.push(cx.call_id().unwrap());
        if seen.len() == 1 {
            Err("try again".into())
        } else {
            Ok(())
        }
    }
    /// Shops.
    #[llm_node(prompt = "Shop.", state = Seen, tools = [Pay])]
    struct Shop {}
    let calls = || ScriptedModel::new().reply(Reply::text("").call("pay", json!({})));
    let error = Run::new(calls())
        .with_state(Seen::default())
        .call(&Shop {})
        .await
        .unwrap_err();
    let paused = error.paused().unwrap();
    // The second attempt has the id of the first.
    let run = Run::new(ScriptedModel::new().reply("Done.")).with_state(Seen::default());
    run.call(&Shop {})
        .approve(paused.decide("call_1", Approval::yes()).unwrap())
        .await
        .unwrap();
    let ids = run.state().0.lock().unwrap().clone();
    assert_eq!(ids.len(), 2);
    assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");
    let other = Run::new(calls())
        .with_state(Seen::default())
        .call(&Shop {})
        .await
        .unwrap_err()
        .paused()
        .unwrap();
    let run = Run::new(ScriptedModel::new().reply("Done.")).with_state(Seen::default());
    run.call(&Shop {})
        .approve(other.decide("call_1", Approval::yes()).unwrap())
        .await
        .unwrap();
    assert_ne!(
        run.state().0.lock().unwrap()[0],
        ids[0],
        "another conversation"
    );
}

#[tokio::test]
async fn debug_shows_no_argument_and_no_result() {
    let run = again();
    let error = run.call(&attic()).await.unwrap_err();
    let paused = error.paused().unwrap();
    let decided = paused
        .clone()
        .decide("call_1", Approval::edit(title("Dune")))
        .unwrap();
    let shown = format!(
        "{paused:?} {decided:?} {error:?} {:?} {:?}",
        paused.waiting(),
        Approval::edit(title("Dune"))
    );
    assert!(
        !shown.contains("Dune") && !shown.contains("attic"),
        "{shown}"
    );
    assert!(shown.contains("remove"), "{shown}");
}

#[tokio::test]
async fn a_handler_that_panics_ends_the_call() {
    let ask = |_| async { panic!("no terminal") };
    let run = Run::new(ScriptedModel::new().reply(three_calls()))
        .with_state(Shelf::default())
        .with_approval(ask);
    let error = run.call(&attic()).await.unwrap_err();
    assert_eq!(error.category(), Category::Panic);
    assert!(
        error
            .message()
            .contains("the handler of `with_approval` panicked"),
        "{error}"
    );
    assert_eq!(run.state().removed(), Vec::<String>::new());
}
