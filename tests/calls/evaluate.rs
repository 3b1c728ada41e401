//! Evaluation, with scripted models.

use std::sync::Mutex;
use std::time::Duration;

use llmnode::evals::{
    DataError, Dataset, Evaluation, Score, ScoredCase, contains, evaluate, exact, f1, judge,
};
use llmnode::journal::JournalFile;
use llmnode::prelude::*;
use llmnode::{BatchProgress, FnModel, Limits, Reply, TestClock, TokenUsage};

#[llm_output]
#[derive(Clone, Debug, PartialEq)]
struct Verdict {
    verdict: bool,
}

#[llm_node(prompt = "Is this true? {claim}", output = Verdict)]
#[derive(Clone)]
struct Check {
    claim: String,
}

fn check(claim: &str) -> Check {
    Check {
        claim: claim.into(),
    }
}

fn claims<const N: usize>(claims: [(&str, bool); N]) -> Dataset<Check, Verdict> {
    Dataset::new(claims.map(|(claim, verdict)| (check(claim), Verdict { verdict })))
}

fn yes() -> Reply {
    Reply::from(r#"{"verdict": true}"#)
}

#[tokio::test]
async fn case_74_an_error_scores_0_and_unknown_usage_stays_unknown() {
    let reported = TokenUsage::new(10, 2);
    let model = ScriptedModel::new()
        .reply(yes().usage(reported))
        .reply(Reply::text("perhaps").usage(None))
        .reply(yes().usage(None));
    let data = claims([
        ("water is wet", true),
        ("rain falls", true),
        ("snow is black", false),
    ]);
    let run = Run::new(model);
    let report = evaluate(&run, &data, exact()).concurrency(1).await.unwrap();

    assert_eq!(
        report
            .cases()
            .iter()
            .map(|case| case.score)
            .collect::<Vec<_>>(),
        [1.0, 0.0, 0.0]
    );
    assert_eq!(report.mean(), 1.0 / 3.0);
    let failures: Vec<_> = report
        .failures()
        .map(|(index, failure)| (index, failure.category))
        .collect();
    assert_eq!(failures, [(1, Category::SchemaError)]);
    assert_eq!(
        report.cases()[2].feedback,
        "verdict: expected false, got true"
    );
    let usage = report.usage();
    assert_eq!(
        (
            usage.requests,
            usage.total.known,
            usage.total.unreported_calls
        ),
        (3, 12, 2)
    );
    assert_eq!((usage.total.total(), usage.cost.total()), (None, None));

    let shown = report.to_string();
    let lines: Vec<_> = shown.lines().collect();
    assert_eq!(
        lines[0],
        "check: 0.333 (95 %: 0.061 to 0.792), 3 cases, 1 failed"
    );
    assert!(lines[1].starts_with(
        "3 requests, 12 tokens and those of 2 requests that did not report theirs, cost unknown, "
    ));
    assert!(
        lines[4].starts_with("     1  0.000         ?  ") && lines[4].contains("schema_error"),
        "{}",
        lines[4]
    );
    assert!(!shown.contains("perhaps"), "no raw answer: {shown}");
}

#[test]
fn case_74_both_bad_lines_of_a_dataset_are_named() {
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("llmnode-cases-{}.jsonl", std::process::id()));
    std::fs::write(
        &path,
        "{\"claim\": \"a\"}\n{\"claim\": 1}\n\n{\"claim\": \"c\"}\n{\n",
    )
    .unwrap();
    let read = || {
        Dataset::<Check, bool>::open_with(&path, |row| {
            let claim = row
                .get("claim")
                .and_then(|claim| claim.as_str())
                .ok_or("no text `claim`")?;
            Ok((check(claim), true))
        })
    };
    let error = read().unwrap_err();
    assert!(
        matches!(&error, DataError::Lines { lines, .. } if lines.len() == 2),
        "{error}"
    );
    let shown = error.to_string();
    assert!(
        shown.contains("2 lines are no case\nline 2: no text `claim`\nline 5: no JSON: EOF"),
        "{shown}"
    );

    std::fs::write(&path, "\n").unwrap();
    assert!(
        read()
            .unwrap_err()
            .to_string()
            .ends_with("no cases; write one JSON object a line")
    );
    std::fs::remove_file(&path).unwrap();
    assert!(matches!(read().unwrap_err(), DataError::File { .. }));
}

#[llm_output]
struct Grade {
    good: bool,
    why: String,
}

#[llm_node(prompt = "Is {got} a good answer to {claim:?}?", output = Grade)]
struct Grading {
    claim: String,
    got: bool,
}

impl From<ScoredCase<'_, Check, Verdict>> for Grading {
    fn from(judged: ScoredCase<'_, Check, Verdict>) -> Self {
        Grading {
            claim: judged.input.claim.clone(),
            got: judged.output.verdict,
        }
    }
}

impl From<Grade> for Score {
    fn from(grade: Grade) -> Self {
        Score::from((grade.good, grade.why))
    }
}

#[tokio::test]
async fn a_judge_is_a_node_and_its_requests_count() {
    let model = ScriptedModel::new()
        .reply(yes())
        .reply(r#"{"good": false, "why": "too bold"}"#);
    let run = Run::new(model.clone());
    let data = claims([("water is wet", true)]);
    let report = evaluate(&run, &data, judge::<Grading>()).await.unwrap();
    assert_eq!((report.mean(), report.usage().requests), (0.0, 2));
    assert_eq!(report.cases()[0].feedback, "too bold");
    assert_eq!(
        model.requests()[1].messages[0].content,
        "Is true a good answer to \"water is wet\"?"
    );

    // A judge that fails makes a failed case, which keeps what it used.
    let run = Run::new(ScriptedModel::new().reply(yes()).reply("hm"));
    let report = evaluate(&run, &data, judge::<Grading>()).await.unwrap();
    assert_eq!((report.failures().count(), report.usage().requests), (1, 2));
}

#[tokio::test]
async fn a_score_that_is_none_makes_a_failed_case() {
    let run = Run::new(ScriptedModel::new().reply(yes()).reply(yes()));
    let data = claims([("a", true), ("b", true)]);
    let odd =
        |input: &Check, _: &Verdict, _: &Verdict| if input.claim == "a" { f64::NAN } else { 1.0 };
    let report = evaluate(&run, &data, odd).await.unwrap();
    let (index, failure) = report.failures().next().unwrap();
    assert_eq!((index, report.mean()), (0, 0.5));
    assert!(
        failure
            .message
            .contains("the metric gave NaN; a score is a number from 0 to 1"),
        "{}",
        failure.message
    );
}

#[tokio::test]
async fn a_metric_that_panics_makes_a_failed_case() {
    let run = Run::new(ScriptedModel::new().reply(yes()).reply(yes()));
    let data = claims([("a", true), ("b", true)]);
    let metric = |input: &Check, _: &Verdict, _: &Verdict| input.claim != "a" || panic!("no score");
    let report = evaluate(&run, &data, metric).concurrency(1).await.unwrap();
    let failures: Vec<_> = report
        .failures()
        .map(|(index, failure)| (index, failure.category))
        .collect();
    assert_eq!((failures, report.mean()), (vec![(0, Category::Panic)], 0.5));
}

#[tokio::test]
async fn a_limit_ends_the_evaluation_and_no_case_is_a_config_error() {
    let model = ScriptedModel::new().reply(yes()).reply(yes()).reply(yes());
    let run = Run::new(model.clone());
    let data = claims([("a", true), ("b", true), ("c", true)]);
    let error = evaluate(&run, &data, exact())
        .limits(Limits::new().requests(2))
        .await
        .unwrap_err();
    assert_eq!(
        (error.category(), model.requests().len()),
        (Category::LimitExceeded, 2)
    );

    let error = evaluate(&run, &claims([]), exact()).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "config_error: there is no case to evaluate; add one to the dataset"
    );
}

#[tokio::test]
async fn progress_tells_of_each_case_and_of_failed_ones() {
    let told = Mutex::new(Vec::new());
    let run = Run::new(ScriptedModel::new().reply("no").reply(yes()));
    let data = claims([("a", true), ("b", true)]);
    let tell = |so_far: &BatchProgress| {
        told.lock()
            .unwrap()
            .push((so_far.done, so_far.failed, so_far.total))
    };
    evaluate(&run, &data, exact())
        .concurrency(1)
        .on_progress(tell)
        .await
        .unwrap();
    assert_eq!(
        told.into_inner().unwrap(),
        [(1, 1, Some(2)), (2, 1, Some(2))]
    );
}

#[tokio::test]
async fn an_evaluation_goes_on_where_it_was_stopped() {
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("llmnode-evaluation-{}.journal", std::process::id()));
    let data = claims([("a", true), ("b", true), ("c", true)]);

    let run = Run::new(ScriptedModel::new().reply(yes()).reply(yes()));
    let limits = Limits::new().requests(2);
    let journal = JournalFile::open(&path).unwrap();
    let stopped = evaluate(&run, &data, exact())
        .concurrency(1)
        .limits(limits)
        .resume(journal)
        .await;
    assert_eq!(stopped.unwrap_err().category(), Category::LimitExceeded);

    let model = ScriptedModel::new().reply(yes());
    let run = Run::new(model.clone());
    let journal = JournalFile::open(&path).unwrap();
    // What the first process spent counts for the limit.
    let limits = Limits::new().requests(3);
    let report = evaluate(&run, &data, exact())
        .concurrency(1)
        .limits(limits)
        .resume(journal)
        .await
        .unwrap();
    assert_eq!(
        (
            report.mean(),
            model.requests().len(),
            report.usage().requests
        ),
        (1.0, 1, 1)
    );
    let replayed: Vec<_> = report
        .cases()
        .iter()
        .map(|case| (case.replayed, case.replayed_usage.requests))
        .collect();
    assert_eq!(replayed, [(1, 1), (1, 1), (0, 0)]);
    assert!(
        report.to_string().contains("; 2 answers from the journal"),
        "{report}"
    );
    std::fs::remove_file(path).unwrap();
}

/// Answers `true` to claims that have one of these letters.
fn knows(letters: &'static str) -> FnModel {
    FnModel::new(move |request| {
        let claim = request
            .messages
            .last()
            .map_or("", |message| &message.content);
        let verdict = claim
            .rsplit(' ')
            .next()
            .is_some_and(|claim| letters.contains(claim));
        format!("{{\"verdict\": {verdict}}}")
    })
}

#[tokio::test]
async fn reports_are_compared_pair_by_pair() {
    let letters = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"];
    let data = claims(letters.map(|letter| (letter, true)));
    let on = async |known| {
        let run = Run::new(knows(known));
        evaluate(&run, &data, exact()).await.unwrap()
    };
    let (few, some, most) = (on("ab").await, on("abcde").await, on("acdefghi").await);
    let compared = some.compare(&few).unwrap();
    assert_eq!((compared.better, compared.worse), (3, 0));
    assert!((compared.p - 0.25).abs() < 1e-12);
    assert!(!compared.is_more_than_noise() && compared.interval.0 < compared.difference());
    assert!(
        compared
            .summary()
            .ends_with("3 better, 0 worse, p = 0.250: no more than noise"),
        "{compared}"
    );
    let compared = most.compare(&few).unwrap();
    assert_eq!((compared.better, compared.worse), (7, 1));
    assert!((compared.p - 0.070_312_5).abs() < 1e-12 && !compared.is_more_than_noise());
    let compared = on("acdefghij").await.compare(&on("b").await).unwrap();
    assert!(
        (compared.p - 0.021_484_375).abs() < 1e-12 && compared.is_more_than_noise(),
        "{compared}"
    );

    let read = Evaluation::from_json(&few.to_json()).unwrap();
    assert_eq!(
        (read.to_json(), read.to_string()),
        (few.to_json(), few.to_string())
    );
    let fewer = evaluate(&Run::new(knows("a")), &data.clone().first(2), exact())
        .await
        .unwrap();
    let error = fewer.compare(&few).unwrap_err();
    assert_eq!(
        error.to_string(),
        "config_error: the reports have 2 and 10 cases; compare reports on the same data"
    );
    let newer = few
        .to_json()
        .replacen("\"version\": 1", "\"version\": 2", 1);
    assert!(
        Evaluation::from_json(&newer)
            .unwrap_err()
            .to_string()
            .contains("newer")
    );
}

#[llm_node(prompt = "{question}")]
struct Ask {
    question: String,
}

#[tokio::test]
async fn texts_are_compared_by_words_and_parts() {
    let data = Dataset::new([(
        Ask {
            question: "Where?".into(),
        },
        "the old harbour",
    )]);
    let answer = || Run::new(ScriptedModel::new().reply("At the Old Harbour of Oslo."));
    assert_eq!(
        evaluate(&answer(), &data, contains()).await.unwrap().mean(),
        1.0
    );
    assert_eq!(
        evaluate(&answer(), &data, exact()).await.unwrap().mean(),
        0.0
    );
    let f1 = evaluate(&answer(), &data, f1()).await.unwrap();
    assert!((f1.mean() - 4.0 / 7.0).abs() < 1e-12);
    // One score says nothing of how far others spread.
    assert!(
        f1.interval().0 < 0.2 && f1.interval().1 > 0.9,
        "{:?}",
        f1.interval()
    );
}

/// Answers right, but fails for what is asked about in `out` with this category.
fn failing_for(out: &'static [&'static str], category: Category) -> Run {
    let model = FnModel::new(move |request: &llmnode::Request| {
        let asked = &request.messages[0].content;
        if out.iter().any(|claim| asked.ends_with(claim)) {
            Reply::failure(category)
        } else {
            yes()
        }
    });
    Run::new(model).with_clock(TestClock::new())
}

const OUTAGES: [Category; 7] = [
    Category::RateLimitError,
    Category::ServerError,
    Category::Network,
    Category::Timeout,
    Category::ApiKeyError,
    Category::QuotaError,
    Category::NotFound,
];

#[tokio::test]
async fn an_outage_is_no_score() {
    let data = claims([("a", true), ("b", false), ("c", true)]);
    for category in OUTAGES {
        let report = evaluate(&failing_for(&["c"], category), &data, exact())
            .await
            .unwrap();
        let left_out: Vec<_> = report
            .left_out()
            .map(|(index, failure)| (index, failure.category))
            .collect();
        assert_eq!(left_out, [(2, category)]);
        assert_eq!(
            (report.mean(), report.failures().count()),
            (0.5, 0),
            "{category}"
        );
        let (low, high) = report.interval();
        assert!(
            (low, high) == (0.09453120573423074, 0.9054687942657693),
            "of two cases: {low} to {high}"
        );
        let shown = report.to_string();
        let first = shown.lines().next().unwrap();
        assert!(
            first.ends_with(&format!("3 cases, 0 failed, 1 left out (1 {category})")),
            "{first}"
        );
        let read = Evaluation::from_json(&report.to_json()).unwrap();
        assert_eq!((read.mean(), read.left_out().count()), (0.5, 1));
    }
}

#[tokio::test]
async fn answers_that_the_model_got_wrong_are_scores() {
    let data = claims([("a", true), ("b", true)]);
    for category in [
        Category::Refusal,
        Category::ContentFilter,
        Category::BadRequest,
    ] {
        let report = evaluate(&failing_for(&["b"], category), &data, exact())
            .await
            .unwrap();
        assert_eq!(
            (
                report.mean(),
                report.failures().count(),
                report.left_out().count()
            ),
            (0.5, 1, 0)
        );
    }
}

#[tokio::test]
async fn an_outage_of_all_cases_is_the_error_of_the_evaluation() {
    let data = claims([("a", true), ("b", true)]);
    for category in OUTAGES {
        let error = evaluate(&failing_for(&["a", "b"], category), &data, exact())
            .await
            .unwrap_err();
        assert_eq!(error.category(), category);
    }
}

#[tokio::test(start_paused = true)]
async fn an_evaluation_gives_up_when_it_is_told_to() {
    // As many calls without an answer as make a map hold back.
    let data = claims(["a", "b", "c", "d"].map(|claim| (claim, true)));
    let down = Run::new(FnModel::new(|_: &llmnode::Request| {
        Reply::failure(Category::ServerError)
    }));
    let began = tokio::time::Instant::now();
    let error = evaluate(&down, &data, exact())
        .give_up_after(Duration::from_secs(60))
        .await
        .unwrap_err();
    assert_eq!(error.category(), Category::ServerError);
    let seconds = began.elapsed().as_secs();
    assert!((60..80).contains(&seconds), "{seconds}");
}

#[tokio::test]
async fn a_judge_that_is_down_leaves_the_case_out() {
    let model = ScriptedModel::new()
        .reply(yes())
        .reply(Reply::failure(Category::QuotaError))
        .reply(yes());
    let run = Run::new(model.reply(Reply::failure(Category::QuotaError)));
    let error = evaluate(&run, &claims([("a", true)]), judge::<Grading>())
        .await
        .unwrap_err();
    assert_eq!(error.category(), Category::QuotaError);
}

#[tokio::test]
async fn a_comparison_leaves_out_what_one_of_both_has_not() {
    let names: [&'static str; 20] =
        std::array::from_fn(|at| format!("claim {at:02}").leak() as &str);
    let data = Dataset::new(names.map(|name| (check(name), Verdict { verdict: true })));
    let whole = evaluate(&failing_for(&[], Category::Timeout), &data, exact())
        .await
        .unwrap();

    let two = failing_for(&["claim 03", "claim 11"], Category::QuotaError);
    let two = evaluate(&two.clone(), &data, exact()).concurrency(1).await;
    // A quota that is spent ends the taking of nodes: what follows is left out, too.
    let refused = two.unwrap().compare(&whole).unwrap_err();
    assert_eq!(refused.category(), Category::ConfigError);
    assert!(
        refused
            .to_string()
            .contains("outages left out 17 of 20 cases"),
        "{refused}"
    );

    let two = evaluate(
        &failing_for(&["claim 03", "claim 11"], Category::Timeout),
        &data,
        exact(),
    )
    .await
    .unwrap();
    let compared = two.compare(&whole).unwrap();
    assert_eq!(
        (compared.better, compared.worse, compared.left_out),
        (0, 0, 2)
    );
    assert_eq!((compared.mean, compared.other, compared.p), (1.0, 1.0, 1.0));
    assert!(
        compared
            .summary()
            .ends_with("p = 1.000: no more than noise; 2 left out by outages"),
        "{compared}"
    );
    assert_eq!(whole.compare(&two).unwrap().left_out, 2);

    let three = failing_for(&["claim 03", "claim 11", "claim 19"], Category::Timeout);
    let three = evaluate(&three, &data, exact()).await.unwrap();
    let refused = three.compare(&whole).unwrap_err().to_string();
    assert!(
        refused.contains("outages left out 3 of 20 cases, which is more than one in 10"),
        "{refused}"
    );
}
