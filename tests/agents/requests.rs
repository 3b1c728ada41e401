//! However a model behaves, an agent makes a bounded number of requests.

use llmnode::prelude::*;
use llmnode::{Category, Reply, ScriptedModel};
use proptest::prelude::*;
use serde_json::json;

use super::library::*;

#[derive(Clone, Debug)]
enum Act {
    Call(usize),
    Unknown,
    BadArguments,
    Fail,
    BadAnswer,
    Empty,
    Answer,
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        (1_usize..4).prop_map(Act::Call),
        Just(Act::Unknown),
        Just(Act::BadArguments),
        Just(Act::Fail),
        Just(Act::BadAnswer),
        Just(Act::Empty),
        Just(Act::Answer),
    ]
}

fn reply(act: &Act) -> Reply {
    match act {
        Act::Call(times) => {
            (0..*times).fold(Reply::text("hm"), |reply, _| reply.call("count", json!({})))
        }
        Act::Unknown => Reply::text("").call("fly", json!({})),
        Act::BadArguments => Reply::text("").call("search", json!({"x": 1})),
        Act::Fail => Reply::failure(Category::ServerError),
        Act::BadAnswer => Reply::json(json!({"title": "Perl"})),
        Act::Empty => Reply::text(""),
        Act::Answer => Reply::json(json!({"title": "Deep C"})),
    }
}

#[llm_node(
    prompt = "?", output = Advice, state = Library, tools = [Search, Count], turns = 3, retries = 2, transport_retries = 1,
    wait = 0s
)]
struct Bounded;

proptest! {
    #[test]
    fn requests_are_bounded(acts in prop::collection::vec(act(), 0..24)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let script = acts.iter().fold(ScriptedModel::new(), |model, act| model.reply(reply(act)));
            let model = script.otherwise(|_| Reply::text("").call("count", json!({})));
            let run = run(model.clone());
            let outcome = run.call(&Bounded).report().await;
            let (turns, transport_retries, retries) = (3, 1, 2);
            let bound = turns * (1 + transport_retries) + retries;
            prop_assert!(model.requests().len() <= bound, "{} requests: {acts:?}", model.requests().len());
            let usage = run.ledger().total();
            prop_assert_eq!(usage.requests, model.requests().len() as u64);
            if let Ok(report) = outcome {
                prop_assert_eq!(report.value.title, "Deep C");
            }
            Ok(())
        })?;
    }
}
