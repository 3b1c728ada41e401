//! `Bootstrap`.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use llmnode::evals::{Dataset, ScoredCase, evaluate, exact, judge};
use llmnode::journal::JournalFile;
use llmnode::prelude::*;
use llmnode::smart::Program;
use llmnode::smart::optimise::{Bootstrap, Optimised, Reflect};
use llmnode::{FnModel, Limits, Reply, Request};

use super::questions::{Ask, answer, case, student, teacher, train, validation};

#[tokio::test]
async fn bootstrap_finds_the_right_examples_within_the_budget_for_20_seeds() {
    let validation = validation();
    for seed in 0..20 {
        let train = train(seed);
        let (student, teacher) = (student(), teacher());
        let run = Run::new(student.clone()).model("teacher", teacher.clone());
        // Two evaluations, and each training case at most once.
        let limit = (2 * validation.len() + train.len()) as u64;
        let bootstrap = Bootstrap::new()
            .teacher("teacher")
            .seed(seed)
            .limits(Limits::new().requests(limit));
        let optimised = bootstrap
            .optimise(&run, &Program::new(), &train, &validation, exact())
            .await
            .unwrap();

        let requests = student.requests().len() + teacher.requests().len();
        assert!(
            requests as u64 <= limit && requests as u64 == optimised.report().usage.requests,
            "seed {seed}"
        );
        let Some(program) = optimised.program() else {
            panic!("seed {seed}: {}", optimised.report())
        };
        assert_eq!(program.demos().len(), 8);
        let mut found: Vec<_> = program.demos()[..4]
            .iter()
            .map(|demo| demo.values()["question"].as_str().unwrap())
            .collect();
        found.sort_unstable();
        let keys: Vec<_> = (0..4)
            .map(|category| format!("category {category}, key 0"))
            .collect();
        assert_eq!(found, keys, "seed {seed}");

        let provenance = program.provenance().unwrap();
        let score = provenance.score.unwrap();
        assert_eq!(
            (
                provenance.optimiser.as_str(),
                provenance.seed,
                provenance.requests
            ),
            ("bootstrap", seed, requests as u64)
        );
        assert_eq!(
            (score.val, score.n, optimised.report().start.mean()),
            (1.0, 8, 0.0),
            "seed {seed}"
        );
    }
}

#[tokio::test]
async fn bootstrap_asks_about_no_more_cases_than_one_after_the_other_would() {
    for seed in 0..20 {
        let train = train(seed);
        let questions: Vec<_> = train.cases().map(|(ask, _)| ask.question.clone()).collect();
        let last_key = questions
            .iter()
            .rposition(|question| question.contains("key"))
            .unwrap();
        let teacher = teacher();
        let run = Run::new(student()).model("teacher", teacher.clone());
        let bootstrap = Bootstrap::new()
            .teacher("teacher")
            .limits(Limits::new().requests(100));
        bootstrap
            .optimise(&run, &Program::new(), &train, &validation(), exact())
            .await
            .unwrap();
        assert_eq!(teacher.requests().len(), last_key + 1, "seed {seed}");
        // No other message has the question, so no example has its label.
        for request in teacher.requests() {
            let asked = request
                .messages
                .last()
                .unwrap()
                .content
                .lines()
                .last()
                .unwrap();
            let all: Vec<_> = request
                .messages
                .iter()
                .map(|message| message.content.as_str())
                .collect();
            assert_eq!(
                all.join("\n").lines().filter(|line| *line == asked).count(),
                1,
                "seed {seed}: {all:?}"
            );
        }
    }
}

#[tokio::test]
async fn case_71_what_cannot_be_done_is_refused_before_a_request() {
    let model = student();
    let run = Run::new(model.clone());
    let (train, validation) = (train(0), validation());
    let program = Program::new();
    let overlapping = Dataset::new([case(0, "item", 10), case(2, "key", 0)]);
    let limits = |requests| Limits::new().requests(requests);
    let refused = [
        (
            Bootstrap::new()
                .optimise(&run, &program, &train, &validation, exact())
                .await,
            "an optimiser needs a limit of requests; set `.limits(Limits::new().requests(19))`, which affords three proposals, or more",
        ),
        (
            Bootstrap::new()
                .limits(limits(18))
                .optimise(&run, &program, &train, &validation, exact())
                .await,
            "18 requests do not afford three proposals; allow 19 or more, or take fewer validation cases than 8",
        ),
        (
            Reflect::new()
                .optimise(&run, &program, &train, &validation, exact())
                .await,
            "an optimiser needs a limit of requests; set `.limits(Limits::new().requests(53))`, which affords three proposals, or more",
        ),
        (
            Reflect::new()
                .limits(limits(52))
                .optimise(&run, &program, &train, &validation, exact())
                .await,
            "52 requests do not afford three proposals; allow 53 or more, or take fewer validation cases than 8",
        ),
        (
            Bootstrap::new()
                .limits(limits(99))
                .optimise(&run, &program, &train, &overlapping, exact())
                .await,
            "1 of 2 validation cases have the inputs of a training case, the first being case 1, with those of training case ",
        ),
        (
            Reflect::new()
                .limits(limits(99))
                .optimise(&run, &program, &train, &Dataset::new([]), exact())
                .await,
            "there is no validation case; add one",
        ),
        (
            Bootstrap::new()
                .labelled(65)
                .limits(limits(99))
                .optimise(&run, &program, &train, &validation, exact())
                .await,
            "a program has 64 examples at most, and 65 are asked for; ask for fewer",
        ),
    ];
    for (result, message) in refused {
        let error = result.unwrap_err();
        assert_eq!(error.category(), Category::ConfigError);
        assert!(error.message().starts_with(message), "{error}");
    }
    assert_eq!(model.requests().len(), 0);
}

#[tokio::test]
async fn case_73_the_written_score_is_that_of_a_fresh_evaluation() {
    let (train, validation) = (train(3), validation());
    let run = Run::new(student()).model("teacher", teacher());
    let bootstrap = Bootstrap::new()
        .teacher("teacher")
        .bootstrapped(2)
        .limits(Limits::new().requests(100));
    let optimised = bootstrap
        .optimise(&run, &Program::new(), &train, &validation, exact())
        .await
        .unwrap();
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("llmnode-optimised-{}.json", std::process::id()));
    assert!(optimised.save(&path).unwrap());
    let program = Program::<Ask>::open(&path).unwrap();
    std::fs::remove_file(&path).unwrap();

    let written = program.provenance().unwrap().score.unwrap().val;
    let run = run.with_program(program);
    let fresh = evaluate(&run, &validation, exact()).await.unwrap();
    assert_eq!((written, fresh.mean()), (0.5, 0.5));
}

#[tokio::test]
async fn case_73_no_improvement_on_validation_writes_nothing() {
    // A student who learns nothing.
    let run =
        Run::new(FnModel::new(|request| answer(request, |_, _| false))).model("teacher", teacher());
    let bootstrap = Bootstrap::new()
        .teacher("teacher")
        .limits(Limits::new().requests(100));
    let (train, validation) = (train(1), validation());
    let optimised = bootstrap
        .optimise(&run, &Program::new(), &train, &validation, exact())
        .await
        .unwrap();
    assert!(matches!(optimised, Optimised::Unchanged { .. }));
    assert_eq!(optimised.report().best.as_ref().unwrap().mean(), 0.0);
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("llmnode-unchanged-{}.json", std::process::id()));
    assert!(!optimised.save(&path).unwrap() && !path.exists());
}

#[tokio::test]
async fn a_judged_candidate_counts_where_the_limit_is_reached_by_corrections() {
    // Every answer needs a second request, so 30 requests do for 15 cases.
    let asked = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&asked);
    let model = FnModel::new(
        move |request| match counted.fetch_add(1, Ordering::Relaxed) % 2 {
            0 => Reply::text("hm"),
            _ => answer(request, |_, _| true),
        },
    );
    let run = Run::new(model).with_settings(llmnode::Settings::new().retries(1));
    let bootstrap = Bootstrap::new().limits(Limits::new().requests(30));
    let (train, validation) = (train(1), validation());
    let optimised = bootstrap
        .optimise(&run, &Program::new(), &train, &validation, exact())
        .concurrency(1)
        .await
        .unwrap();
    assert!(
        matches!(&optimised, Optimised::Unchanged { report } if report.best.is_none()),
        "{}",
        optimised.report()
    );
    assert!(asked.load(Ordering::Relaxed) <= 30);
}

#[tokio::test]
async fn progress_tells_requests_and_the_best_score() {
    let told = Mutex::new(Vec::new());
    let run = Run::new(student()).model("teacher", teacher());
    let (train, validation) = (train(1), validation());
    let bootstrap = Bootstrap::new()
        .teacher("teacher")
        .limits(Limits::new().requests(100));
    bootstrap
        .optimise(&run, &Program::new(), &train, &validation, exact())
        .on_progress(|so_far| told.lock().unwrap().push((so_far.requests, so_far.best)))
        .await
        .unwrap();
    let told = told.into_inner().unwrap();
    assert_eq!(told[1], (8, Some(0.0)));
    assert_eq!(told.last().unwrap().1, Some(1.0));
    assert!(told.is_sorted_by_key(|(requests, _)| *requests));
}

#[tokio::test]
async fn labels_that_cannot_be_shown_are_all_named_before_a_request() {
    let model = student();
    let run = Run::new(model.clone());
    let cases = |label: fn(usize) -> serde_json::Value| {
        Dataset::new(
            (0..4)
                .map(|number| (case(0, "item", number).0, label(number)))
                .collect::<Vec<_>>(),
        )
    };
    let train = cases(|number| {
        if number % 2 == 0 {
            7.into()
        } else {
            "a".into()
        }
    });
    let validation = Dataset::new([(case(1, "item", 0).0, "a".into())]);
    let bootstrap = Bootstrap::new().limits(Limits::new().requests(100));
    let metric = |_: &Ask, _: &serde_json::Value, _: &super::Answer| true;
    let error = bootstrap
        .optimise(&run, &Program::new(), &train, &validation, metric)
        .await
        .unwrap_err();
    assert_eq!(
        (error.category(), model.requests().len()),
        (Category::ConfigError, 0)
    );
    let lines: Vec<_> = error.message().lines().collect();
    assert_eq!(lines.len(), 2, "{error}");
    assert!(
        lines[0].starts_with("training case 0: ") && lines[1].starts_with("training case 2: "),
        "{error}"
    );
}

#[tokio::test]
async fn a_function_for_progress_that_panics_changes_nothing() {
    let run = Run::new(student()).model("teacher", teacher());
    let (train, validation) = (train(1), validation());
    let bootstrap = Bootstrap::new()
        .teacher("teacher")
        .limits(Limits::new().requests(100));
    let optimised = bootstrap
        .optimise(&run, &Program::new(), &train, &validation, exact())
        .on_progress(|_| panic!("no bar"));
    assert!(optimised.await.unwrap().program().is_some());
}

#[llm_node(prompt = "Is {given:?} the answer {wanted:?}?", output = bool)]
struct Grade {
    given: String,
    wanted: String,
}

impl From<ScoredCase<'_, Ask, super::Answer>> for Grade {
    fn from(judged: ScoredCase<'_, Ask, super::Answer>) -> Self {
        Grade {
            given: judged.output.answer.clone(),
            wanted: judged.expected.answer.clone(),
        }
    }
}

/// Judges by the prompt of `Grade`, and answers as a student.
fn judging(request: &Request) -> Reply {
    let asked = &request.messages.last().unwrap().content;
    let shown: String = request
        .messages
        .iter()
        .map(|message| message.content.as_str())
        .collect();
    match asked
        .strip_prefix("Is ")
        .and_then(|asked| asked.trim_end_matches('?').split_once(" the answer "))
    {
        Some((given, wanted)) => Reply::json(given == wanted),
        None => answer(request, |_, rule| shown.contains(rule)),
    }
}

#[tokio::test]
async fn the_plan_counts_what_a_case_takes_with_a_judge_also_after_a_crash() {
    let keys = (0..4).map(|category| case(category, "key", 0));
    let (train, validation) = (
        Dataset::new(keys.chain((0..4).map(|category| case(category, "item", 1)))),
        validation(),
    );
    // 16 requests to judge the start, 16 for the candidate: 12 are left, for six lessons.
    let bootstrap = || {
        Bootstrap::new()
            .teacher("teacher")
            .seed(1)
            .limits(Limits::new().requests(44))
    };
    let (model, teacher) = (FnModel::new(judging), teacher());
    let run = Run::new(model.clone()).model("teacher", teacher.clone());
    let start = Program::new();
    let whole = bootstrap()
        .optimise(&run, &start, &train, &validation, judge::<Grade>())
        .await
        .unwrap();
    assert!(
        whole.report().best.is_some(),
        "the candidate was judged: {}",
        whole.report()
    );
    let asked = model.requests().len() + teacher.requests().len();
    assert!(asked <= 44 && (1..=6).contains(&teacher.requests().len()));

    // Cut off by a mistake of the program, and started again.
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("llmnode-judged-{}.journal", std::process::id()));
    let (first, second) = (AtomicUsize::new(0), FnModel::new(judging));
    let first = FnModel::new(
        move |request| match first.fetch_add(1, Ordering::Relaxed) < 20 {
            true => judging(request),
            false => Reply::failure(Category::ConfigError),
        },
    );
    for (model, ends) in [(first, false), (second.clone(), true)] {
        let run = Run::new(model).model("teacher", teacher.clone());
        let journal = JournalFile::open(&path).unwrap();
        let going = bootstrap().optimise(&run, &start, &train, &validation, judge::<Grade>());
        let ended = going.concurrency(1).resume(journal).await;
        assert_eq!(ended.is_ok(), ends);
        if let Ok(optimised) = ended {
            assert_eq!(
                optimised.program().unwrap().demos(),
                whole.program().unwrap().demos()
            );
            let [provenance, whole] = [&optimised, &whole]
                .map(|optimised| optimised.program().unwrap().provenance().unwrap());
            assert_eq!(
                (provenance.requests, provenance.score),
                (whole.requests, whole.score)
            );
        }
    }
    std::fs::remove_file(path).unwrap();
}

#[tokio::test]
async fn a_teacher_that_is_down_stops_the_search() {
    let down = FnModel::new(|_| Reply::failure(Category::ApiKeyError));
    let run = Run::new(student()).model("teacher", down);
    let bootstrap = Bootstrap::new()
        .teacher("teacher")
        .limits(Limits::new().requests(100));
    let stopped = bootstrap
        .optimise(&run, &Program::new(), &train(0), &validation(), exact())
        .await;
    assert_eq!(stopped.unwrap_err().category(), Category::ApiKeyError);
}
