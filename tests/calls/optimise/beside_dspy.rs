//! `Bootstrap` compared with DSPy's `BootstrapFewShot`: the same cases, the same stub server, the same messages. Run by
//! `scripts/dspy-bootstrap`.

use std::process::Command;

use llmnode::evals::{Dataset, exact};
use llmnode::prelude::*;
use llmnode::smart::Program;
use llmnode::smart::optimise::Bootstrap;
use llmnode::stub_server::StubReply;
use llmnode::{Limits, OpenAi, StubServer};
use serde_json::{Value, json};

use super::Answer;
use super::questions::{case, category_of, shuffled};

/// The same question in DSPy's form.
#[llm_node(goal = "Answer the question.", think, form = chat, output = Answer)]
struct Talk {
    question: String,
}

const SEEDS: u64 = 20;

/// Of each category a case that shows its rule to the teacher, and three that do not. In the second task there are four more that
/// teach nothing, and that the teacher gets right.
fn questions(seed: u64, with_useless: bool) -> Vec<(String, String)> {
    let useful = (0..4).flat_map(|category| (0..4).map(move |number| (category, number)));
    let useful = useful
        .map(|(category, number)| case(category, if number == 0 { "key" } else { "item" }, number));
    let useless = (0..if with_useless { 4 } else { 0 }).map(|number| case(9, "key", number));
    let all: Vec<_> = useful
        .chain(useless)
        .map(|(ask, answer)| (ask.question, answer.answer))
        .collect();
    shuffled(all, seed)
}

fn validation() -> Vec<(String, String)> {
    let all = (0..4).flat_map(|category| [case(category, "item", 10), case(category, "item", 11)]);
    all.map(|(ask, answer)| (ask.question, answer.answer))
        .collect()
}

fn dataset(questions: &[(String, String)]) -> Dataset<Talk, Answer> {
    let case = |(question, answer): &(String, String)| {
        (
            Talk {
                question: question.clone(),
            },
            Answer {
                answer: answer.clone(),
            },
        )
    };
    Dataset::new(questions.iter().map(case))
}

/// A teacher knows the rule where the question is a key, a student where an example has it.
fn reply(request: &llmnode::stub_server::LoggedRequest) -> StubReply {
    let teaches = model(request).starts_with("teacher");
    let messages = request.messages();
    let (_, asked) = messages.last().unwrap();
    let question = asked
        .split("[[ ## question ## ]]")
        .nth(1)
        .unwrap()
        .trim()
        .lines()
        .next()
        .unwrap();
    let (category, number) = category_of(question);
    let rule = format!("rule {category}");
    let shown = messages.iter().any(|(_, content)| content.contains(&rule));
    let knows = if teaches {
        question.contains("key")
    } else {
        shown
    };
    let (reasoning, answer) = if knows {
        (rule, format!("{category}-{number}"))
    } else {
        ("I guess".into(), "?".into())
    };
    StubReply::text(format!(
        "[[ ## reasoning ## ]]\n{reasoning}\n\n[[ ## answer ## ]]\n{answer}\n\n[[ ## completed ## ]]"
    ))
}

fn model(request: &llmnode::stub_server::LoggedRequest) -> String {
    request
        .json()
        .and_then(|body| body["model"].as_str())
        .unwrap_or_default()
        .to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs DSPy: scripts/dspy-bootstrap"]
async fn at_least_the_score_of_dspy_at_no_more_requests() {
    let python =
        std::env::var("LLMNODE_DSPY_PYTHON").expect("LLMNODE_DSPY_PYTHON names a Python with DSPy");
    let server = StubServer::builder()
        .default_reply(StubReply::for_request(reply))
        .log_limit(10_000)
        .start()
        .await
        .unwrap();
    for with_useless in [false, true] {
        let tag = if with_useless { "useless" } else { "known" };
        let tasks: Vec<_> = (0..SEEDS).map(|seed| json!({"name": format!("dspy-{tag}-{seed}"), "train": questions(seed, with_useless), "validation": validation()})).collect();
        let input = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"))
            .join(format!("llmnode-dspy-{tag}-{}.json", std::process::id()));
        std::fs::write(
            &input,
            json!({"base_url": server.base_url(), "tasks": tasks}).to_string(),
        )
        .unwrap();
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/scripts/dspy/bootstrap.py");
        let (python, path) = (python.clone(), input.clone());
        let output = tokio::task::spawn_blocking(move || {
            Command::new(python).arg(script).arg(path).output().unwrap()
        })
        .await
        .unwrap();
        std::fs::remove_file(input).unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        let last = String::from_utf8(output.stdout).unwrap();
        let theirs: Value = serde_json::from_str(last.lines().last().unwrap()).unwrap();

        let mut sums = [0.0; 4];
        for seed in 0..SEEDS {
            let name = format!("{tag}-{seed}");
            let model = |of: &str| {
                OpenAi::builder()
                    .base_url(server.base_url())
                    .model(format!("{of}-{name}"))
                    .build()
                    .unwrap()
            };
            let run = Run::new(model("student")).model("teacher", model("teacher"));
            let (train, validation) = (
                dataset(&questions(seed, with_useless)),
                dataset(&validation()),
            );
            let bootstrap = Bootstrap::new()
                .teacher("teacher")
                .seed(seed)
                .limits(Limits::new().requests(100));
            let optimised = bootstrap
                .optimise(&run, &Program::new(), &train, &validation, exact())
                .await
                .unwrap();
            let score = optimised
                .program()
                .map_or(optimised.report().start.mean(), |program| {
                    program.provenance().unwrap().score.unwrap().val
                });

            // What each asked, by the name of its models.
            let asked = |prefix: &str| {
                let of = |request: &llmnode::stub_server::LoggedRequest| {
                    model_is(request, &format!("teacher-{prefix}{name}"))
                        || model_is(request, &format!("student-{prefix}{name}"))
                };
                server
                    .requests()
                    .iter()
                    .filter(|request| of(request))
                    .count()
            };
            let (ours, dspys) = (asked(""), asked("dspy-"));
            let dspy_score = theirs[format!("dspy-{name}")].as_f64().unwrap();
            assert!(score >= dspy_score, "{name}: {score} and {dspy_score}");
            assert!(ours <= dspys, "{name}: {ours} and {dspys} requests");
            assert_eq!(optimised.report().usage.requests, ours as u64);
            for (sum, one) in sums
                .iter_mut()
                .zip([score, dspy_score, ours as f64, dspys as f64])
            {
                *sum += one / SEEDS as f64;
            }
        }
        println!(
            "{tag}: score {:.3}, DSPy {:.3}; requests {:.2}, DSPy {:.2}; means of {SEEDS} seeds",
            sums[0], sums[1], sums[2], sums[3]
        );
    }
}

fn model_is(request: &llmnode::stub_server::LoggedRequest, name: &str) -> bool {
    model(request) == name
}
