//! `Reflect`.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use llmnode::evals::evaluate;
use llmnode::journal::JournalFile;
use llmnode::prelude::*;
use llmnode::smart::Program;
use llmnode::smart::optimise::{Optimised, Reflect};
use llmnode::{FnModel, Limits, Reply};

use super::Answer;
use super::colours::{RULES, colours, graded, hash, learn, learner};

#[tokio::test]
async fn reflect_keeps_the_rules_of_the_feedback_and_is_never_worse_for_20_seeds() {
    let (train, validation) = (colours(0..5), colours(5..8));
    for seed in 0..20 {
        let model = learner();
        let run = Run::new(model.clone());
        let reflect = Reflect::new()
            .seed(seed)
            .limits(Limits::new().requests(200));
        let optimised = reflect
            .optimise(&run, &Program::new(), &train, &validation, graded)
            .await
            .unwrap();
        let requests = model.requests().len();
        assert!(
            requests <= 200 && requests as u64 == optimised.report().usage.requests,
            "seed {seed}"
        );
        let Some(program) = optimised.program() else {
            panic!("seed {seed}: {}", optimised.report())
        };
        for (_, rule) in RULES {
            assert!(
                program.goal().contains(rule),
                "seed {seed}: {}",
                program.goal()
            );
        }
        let fresh = evaluate(
            &run.clone().with_program(program.clone()),
            &validation,
            graded,
        )
        .await
        .unwrap();
        let report = optimised.report();
        assert!(
            fresh.mean() >= report.start.mean()
                && fresh.mean() == program.provenance().unwrap().score.unwrap().val
        );
    }
}

#[tokio::test]
async fn reflect_is_never_worse_where_proposals_are_worth_nothing_for_20_seeds() {
    let (train, validation) = (colours(0..5), colours(5..8));
    for seed in 0..20 {
        // Half of the answers are right, whatever the goal says.
        let model = FnModel::new(|request| {
            let [system, user] = [0, 1].map(|at| request.messages[at].content.as_str());
            if system.starts_with("You improve the instruction") {
                return Reply::json(
                    serde_json::json!({"instruction": format!("Goal {}", hash(user))}),
                );
            }
            let colour = user.lines().last().unwrap();
            let right = hash(&format!("{system}{colour}")).is_multiple_of(2);
            Reply::json(Answer {
                answer: if right {
                    format!("right: {colour}")
                } else {
                    "?".into()
                },
            })
        });
        let run = Run::new(model);
        let reflect = Reflect::new()
            .seed(seed)
            .limits(Limits::new().requests(150));
        let optimised = reflect
            .optimise(&run, &Program::new(), &train, &validation, graded)
            .await
            .unwrap();
        let start = optimised.report().start.mean();
        match optimised.program() {
            Some(program) => {
                let fresh = evaluate(
                    &run.clone().with_program(program.clone()),
                    &validation,
                    graded,
                )
                .await
                .unwrap();
                assert!(fresh.mean() > start, "seed {seed}");
            }
            None => assert!(
                optimised
                    .report()
                    .best
                    .as_ref()
                    .is_none_or(|best| best.mean() <= start),
                "seed {seed}"
            ),
        }
    }
}

#[tokio::test]
async fn a_start_that_is_perfect_takes_one_evaluation() {
    let model = FnModel::new(|request| {
        let colour = request.messages[1]
            .content
            .lines()
            .last()
            .unwrap()
            .to_owned();
        Reply::json(Answer {
            answer: format!("right: {colour}"),
        })
    });
    let run = Run::new(model.clone());
    let (train, validation) = (colours(0..5), colours(5..8));
    let reflect = Reflect::new().limits(Limits::new().requests(200));
    let optimised = reflect
        .optimise(&run, &Program::new(), &train, &validation, graded)
        .await
        .unwrap();
    assert!(matches!(&optimised, Optimised::Unchanged { report } if report.best.is_none()));
    assert_eq!(model.requests().len(), validation.len());
    assert_eq!(
        optimised.report().to_string(),
        "validation 1.000, and no candidate was judged; 0 proposals, 9 requests"
    );
}

#[tokio::test]
async fn an_optimisation_goes_on_where_it_was_stopped_and_comes_to_the_same_end() {
    let (train, validation) = (colours(0..5), colours(5..8));
    let limits = Limits::new().requests(200);
    let whole = learner();
    let run = Run::new(whole.clone());
    let reflect = Reflect::new().seed(4).limits(limits);
    let wanted = reflect
        .clone()
        .optimise(&run, &Program::new(), &train, &validation, graded)
        .await
        .unwrap();

    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("llmnode-optimising-{}.journal", std::process::id()));
    let mut requests = 0;
    let (third, wanted_requests) = (whole.requests().len() / 3, whole.requests().len());
    assert!(
        third > validation.len(),
        "the second kill comes after the start was judged"
    );
    for killed_after in [third, third, usize::MAX] {
        // Dropped in the middle, as by a crash.
        let (asked, killed) = (
            Arc::new(AtomicUsize::new(0)),
            Arc::new(tokio::sync::Notify::new()),
        );
        let (counted, kill) = (Arc::clone(&asked), Arc::clone(&killed));
        let model = FnModel::new(move |request| {
            if counted.fetch_add(1, Ordering::Relaxed) < killed_after {
                return learn(request);
            }
            kill.notify_one();
            Reply::never()
        });
        let run = Run::new(model);
        let journal = JournalFile::open(&path).unwrap();
        let going = reflect
            .clone()
            .optimise(&run, &Program::new(), &train, &validation, graded)
            .concurrency(1)
            .resume(journal);
        let ended = tokio::select! {
            ended = async { going.await } => Some(ended),
            () = killed.notified() => None,
        };
        requests += asked.load(Ordering::Relaxed).min(killed_after);
        assert_eq!(ended.is_some(), killed_after == usize::MAX);
        if let Some(optimised) = ended {
            let optimised = optimised.unwrap();
            let [program, whole] =
                [&optimised, &wanted].map(|optimised| optimised.program().unwrap());
            assert_eq!(program.goal(), whole.goal());
            assert_eq!(optimised.report().proposals, wanted.report().proposals);
            let [provenance, whole] = [program, whole].map(|program| program.provenance().unwrap());
            assert_eq!(
                (provenance.score, provenance.requests),
                (whole.score, whole.requests)
            );
            assert_eq!(provenance.tokens, whole.tokens);
        }
    }
    assert_eq!(requests, wanted_requests, "no answer was paid twice");
    std::fs::remove_file(path).unwrap();
}

/// Answers these colours rightly by the goal, and proposes this goal for another.
fn scripted(knows: fn(&str, &str) -> bool, proposes: fn(&str) -> String) -> FnModel {
    FnModel::new(move |request| {
        let [system, user] = [0, 1].map(|at| request.messages[at].content.as_str());
        if system.starts_with("You improve the instruction") {
            return Reply::json(serde_json::json!({"instruction": proposes(user)}));
        }
        let colour = user.lines().last().unwrap();
        let right = knows(system, colour);
        Reply::json(Answer {
            answer: if right {
                format!("right: {colour}")
            } else {
                "?".into()
            },
        })
    })
}

#[tokio::test]
async fn a_proposal_that_is_no_better_on_its_cases_is_not_judged_on_the_others() {
    let (train, validation) = (colours(0..5), colours(5..8));
    let model = scripted(|_, _| false, |user| format!("Goal {}", hash(user)));
    let run = Run::new(model.clone());
    // 9 to judge the start, then 7 for each proposal while 16 are left: the last one may be judged.
    let reflect = Reflect::new().limits(Limits::new().requests(60));
    let optimised = reflect
        .optimise(&run, &Program::new(), &train, &validation, graded)
        .await
        .unwrap();
    let report = optimised.report();
    assert!(optimised.program().is_none() && report.best.is_none());
    assert_eq!((model.requests().len(), report.proposals), (9 + 6 * 7, 6));
}

#[tokio::test]
async fn the_best_on_validation_is_kept_not_the_last() {
    let (train, validation) = (colours(0..5), colours(5..8));
    // B is right on all training cases, and on fewer others than A.
    let knows = |goal: &str, colour: &str| match goal {
        "A" => !colour.starts_with("grey"),
        "B" => {
            colour.starts_with("warm")
                || colour
                    .split(' ')
                    .next_back()
                    .is_some_and(|number| number < "5")
        }
        _ => false,
    };
    let model = scripted(knows, |user| {
        if user.contains("\"A\"") {
            "B".into()
        } else {
            "A".into()
        }
    });
    let run = Run::new(model.clone());
    let reflect = Reflect::new().limits(Limits::new().requests(120));
    let optimised = reflect
        .optimise(&run, &Program::new(), &train, &validation, graded)
        .await
        .unwrap();
    assert!(
        model
            .requests()
            .iter()
            .any(|request| request.messages[0].content == "B")
    );
    assert_eq!(optimised.program().unwrap().goal(), "A");
    assert_eq!(
        optimised
            .program()
            .unwrap()
            .provenance()
            .unwrap()
            .score
            .unwrap()
            .val,
        6.0 / 9.0
    );
}

/// An answer that an outage replaces is no score: candidates that were judged on fewer cases would look better or worse.
#[tokio::test]
async fn an_outage_stops_the_search_and_a_journal_goes_on_after_it() {
    let (train, validation) = (colours(0..5), colours(5..8));
    let reflect = || Reflect::new().seed(1).limits(Limits::new().requests(200));
    let whole = learner();
    let run = Run::new(whole.clone());
    let whole = reflect()
        .optimise(&run, &Program::new(), &train, &validation, graded)
        .await
        .unwrap();

    for after in [0, 5, 11, 40] {
        let asked = Arc::new(AtomicUsize::new(0));
        let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"))
            .join(format!("outage-{}-{after}.journal", std::process::id()));
        let count = asked.clone();
        let down =
            FnModel::new(
                move |request| match count.fetch_add(1, Ordering::SeqCst) < after {
                    true => learn(request),
                    false => Reply::failure(Category::QuotaError),
                },
            );
        let journal = JournalFile::open(&path).unwrap();
        let run = Run::new(down);
        let stopped = reflect()
            .optimise(&run, &Program::new(), &train, &validation, graded)
            .resume(journal)
            .await;
        assert_eq!(
            stopped.unwrap_err().category(),
            Category::QuotaError,
            "{after}"
        );

        let journal = JournalFile::open(&path).unwrap();
        let run = Run::new(learner());
        let resumed = reflect()
            .optimise(&run, &Program::new(), &train, &validation, graded)
            .resume(journal);
        let resumed = resumed.await.unwrap();
        let goal =
            |optimised: &Optimised<_>| optimised.program().map(|program| program.goal().to_owned());
        assert_eq!(goal(&resumed), goal(&whole), "{after}");
        std::fs::remove_file(&path).unwrap();
    }
}

/// A proposal that is refused is no reason to search anew: all answers would be paid for again.
#[tokio::test(start_paused = true)]
async fn a_refused_proposal_ends_the_search_with_a_journal_too() {
    let (train, validation) = (colours(0..5), colours(5..8));
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("refused-{}.journal", std::process::id()));
    let small = learner();
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    // Refuses the second proposal on all its attempts, and none later.
    let big = FnModel::new(move |request| match count.fetch_add(1, Ordering::SeqCst) {
        1..=8 => Reply::failure(Category::RateLimitError),
        _ => learn(request),
    });
    let run = Run::new(small.clone()).model("big", big);
    let reflect = Reflect::new()
        .model("big")
        .seed(1)
        .limits(Limits::new().requests(200));
    let ended = reflect
        .optimise(&run, &Program::new(), &train, &validation, graded)
        .resume(JournalFile::open(&path).unwrap())
        .await;
    std::fs::remove_file(&path).unwrap();
    let fault = ended.map(|_| ()).unwrap_err();
    assert_eq!(fault.category(), Category::RateLimitError);
    // The start on all validation cases, two minibatches with their parents, and one accepted proposal.
    assert!(small.requests().len() <= 9 + 3 + 3 + 9 + 3);
}
