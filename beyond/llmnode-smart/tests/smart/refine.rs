//! Guards, several tries, and the best of them.

use llmnode::prelude::*;
use llmnode::smart::{Guard, Refine};
use llmnode::{Category, Limits};

use crate::support::*;

#[llm_node(goal = "Write a slogan.")]
struct Slogan {
    product: String,
}

fn slogan() -> Slogan {
    Slogan {
        product: "bread".into(),
    }
}

#[expect(clippy::ptr_arg, reason = "the output is lent as it is")]
fn by_length(_: &Slogan, text: &String) -> f64 {
    text.len() as f64 / 10.0
}

/// Case 67.
#[tokio::test]
async fn case_67_met_in_the_first_try_is_one_request() {
    let model = ScriptedModel::new().reply("Bread, at last");
    let best = Run::new(model.clone())
        .refine(&slogan())
        .guard(Guard::max_chars(20))
        .advice()
        .await
        .unwrap();
    assert_eq!((best.met, best.tries, best.reward), (true, 1, 1.0));
    assert_eq!(model.requests().len(), 1);
}

/// Case 67.
#[tokio::test]
async fn case_67_never_met_is_the_best_and_ties_go_to_the_first() {
    let replies = ["four", "1234567", "7654321"];
    let model = replies
        .iter()
        .fold(ScriptedModel::new(), |model, reply| model.reply(*reply));
    let run = Run::new(model.clone());
    let best = run
        .refine(&slogan())
        .tries(3)
        .reward(by_length)
        .await
        .unwrap();
    assert_eq!(
        (best.value.as_str(), best.met, best.reward, best.tries),
        ("1234567", false, 0.7, 3)
    );
    assert_eq!(model.requests().len(), 3, "no advice was asked for");
    let second = texts(&model, 1).pop().unwrap();
    assert!(
        second.ends_with("its reward was 0.4, and at least 1 is wanted\n```"),
        "{second}"
    );
    let first = texts(&model, 0);
    assert!(!first.concat().contains("hint_"), "{first:?}");
}

/// Case 67.
#[tokio::test]
async fn case_67_advice_is_one_request_between_two_tries() {
    let model = ScriptedModel::new().reply("12").reply("123").reply("1234");
    let big = ScriptedModel::new()
        .reply("Write more.")
        .reply("Much more!");
    let run = Run::new(model.clone()).model("big", big.clone());
    let best = run
        .refine(&slogan())
        .tries(3)
        .reward(by_length)
        .advice_by("big")
        .await
        .unwrap();
    assert_eq!((best.value.as_str(), best.met), ("1234", false));
    assert_eq!(
        (model.requests().len(), big.requests().len()),
        (3, 2),
        "none after the last try"
    );
    assert!(
        texts(&model, 1)[1].ends_with("# hint_\nWrite more."),
        "{:?}",
        texts(&model, 1)
    );
    assert!(texts(&model, 2)[1].ends_with("# hint_\nMuch more!"));
    let asked = texts(&big, 0)[1].clone();
    assert!(
        asked.contains("\"product\": \"bread\"") && asked.contains("its reward was 0.2"),
        "{asked}"
    );
}

/// Case 68.
#[tokio::test]
async fn case_68_all_failed_is_the_last_error_each_time() {
    for tries in 1..=3 {
        let model = always("no JSON");
        let run = Run::new(model.clone());
        let node = Chat {
            claim: "2 is even".into(),
        };
        let refine = Refine::new(&node).tries(tries).check(|_, _| Ok(()));
        for again in 1..=2 {
            let error = run.call(&refine).retries(0).await.unwrap_err();
            assert_eq!(error.category(), Category::SchemaError, "{error}");
            assert_eq!(model.requests().len(), (again * tries) as usize);
        }
    }
}

#[tokio::test]
async fn a_failed_try_is_no_end() {
    let model = ScriptedModel::new()
        .reply("[[ ## holds ## ]]\ntrue\n[[ ## score ## ]]\n3")
        .reply("?")
        .reply("?");
    let run = Run::new(model);
    let node = Chat {
        claim: "2 is even".into(),
    };
    let refine = Refine::new(&node)
        .tries(3)
        .reward(|_, verdict: &Verdict| verdict.score as f64 / 10.0);
    let best = run.call(&refine).retries(0).await.unwrap();
    assert_eq!((best.met, best.value.score, best.tries), (false, 3, 1));
}

#[tokio::test]
async fn what_ends_a_run_ends_the_tries() {
    let model = always("12");
    let run = Run::new(model.clone()).with_limits(Limits::new().requests(2));
    let best = run
        .refine(&slogan())
        .tries(9)
        .reward(by_length)
        .await
        .unwrap();
    assert_eq!((best.met, model.requests().len()), (false, 2));
    let error = run
        .refine(&slogan())
        .tries(9)
        .reward(by_length)
        .await
        .unwrap_err();
    assert_eq!(error.category(), Category::LimitExceeded);
}

#[tokio::test]
async fn best_of_tells_nothing() {
    let model = ScriptedModel::new().reply("1").reply("333").reply("22");
    let run = Run::new(model.clone());
    let best = run.best_of(&slogan()).reward(by_length).await.unwrap();
    assert_eq!(
        (best.value.as_str(), best.met, best.tries),
        ("333", false, 3)
    );
    assert!(
        model
            .requests()
            .iter()
            .all(|request| request.messages == model.requests()[0].messages)
    );
}

#[tokio::test]
async fn rules_weigh_more_than_the_reward() {
    let model = ScriptedModel::new()
        .reply("123456789012")
        .reply("12")
        .reply("123");
    let run = Run::new(model.clone());
    let report = run
        .refine(&slogan())
        .guard(Guard::max_chars(5))
        .check(|_, text| {
            if text.contains('4') {
                Err("no fours".into())
            } else {
                Ok(())
            }
        })
        .reward(by_length)
        .report()
        .await
        .unwrap();
    assert_eq!(
        (report.value.value.as_str(), report.value.met),
        ("123", false)
    );
    assert!(report.value.broken.is_empty());
    assert_eq!(report.total.requests, 3);
    let second = texts(&model, 1).pop().unwrap();
    assert!(
        second.contains("- `value` has 12 characters, and 5 are the most\n- no fours"),
        "{second}"
    );
    let names: Vec<_> = run
        .ledger()
        .calls()
        .iter()
        .map(|call| call.node.to_string())
        .collect();
    assert_eq!(names, ["slogan", "slogan", "slogan", "refine"]);
}

#[llm_node(goal = "Send a letter.", state = String, idempotent = false)]
struct Send {
    #[prep(state.clone())]
    to: String,
}

#[tokio::test]
async fn what_runs_once_is_not_tried_twice() {
    let run = Run::new(ScriptedModel::new().reply("Sent.")).with_state(String::new());
    let node = Send { to: "Ann".into() };
    let error = run.refine(&node).guard(Guard::json()).await.unwrap_err();
    assert!(
        error
            .to_string()
            .contains("`send` says `idempotent = false`"),
        "{error}"
    );
    assert!(
        !run.best_of(&node)
            .tries(1)
            .guard(Guard::json())
            .await
            .unwrap()
            .met
    );
}

#[tokio::test]
async fn nonsense_is_refused_before_a_request() {
    let model = ScriptedModel::new();
    let run = Run::new(model.clone());
    let node = slogan();
    for (refine, says) in [
        (
            run.refine(&node),
            "nothing says which output is good enough; add `guard`, `check` or `reward`",
        ),
        (
            run.refine(&node).guard(Guard::json()).tries(0),
            "`tries` is 0",
        ),
        (
            run.refine(&node).guard(Guard::json().of("title")),
            "a guard is of the output `title`",
        ),
    ] {
        let error = refine.await.unwrap_err();
        assert_eq!(error.category(), Category::ConfigError);
        assert!(error.to_string().contains(says), "{error}");
    }
    assert!(model.requests().is_empty());
}
