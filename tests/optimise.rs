//! Optimisers, on tasks whose best program is known.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use llmnode::evaluate::{Dataset, Score, evaluate, exact};
use llmnode::journal::JournalFile;
use llmnode::optimise::{Bootstrap, Optimised, Reflect};
use llmnode::prelude::*;
use llmnode::{FnModel, Limits, Program, Reply, Request};

#[llm_output]
#[derive(Clone, Debug, PartialEq)]
struct Answer {
    answer: String,
}

/// Answers a question of a category, which has a rule that nobody can guess.
#[llm_node(goal = "Answer the question.", think, output = Answer)]
struct Ask {
    question: String,
}

type Data = Dataset<Ask, Answer>;

fn case(category: usize, kind: &str, number: usize) -> (Ask, Answer) {
    let question = format!("category {category}, {kind} {number}");
    (Ask { question }, Answer { answer: format!("{category}-{number}") })
}

/// SplitMix64, so that a seed gives the same order everywhere.
fn shuffled<T>(mut items: Vec<T>, seed: u64) -> Vec<T> {
    let mut state = seed;
    for at in (1..items.len()).rev() {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        items.swap(at, usize::try_from((mixed ^ (mixed >> 31)) % (at as u64 + 1)).unwrap());
    }
    items
}

/// Sixteen cases to learn from: of each category one that shows its rule to the teacher, and three that do not.
fn train(seed: u64) -> Data {
    let all = (0..4).flat_map(|category| {
        (0..4).map(move |number| case(category, if number == 0 { "key" } else { "item" }, number))
    });
    Dataset::new(shuffled(all.collect(), seed))
}

fn validation() -> Data {
    Dataset::new((0..4).flat_map(|category| [case(category, "item", 10), case(category, "item", 11)]))
}

fn category_of(question: &str) -> (String, String) {
    let category = question.split("category ").nth(1).unwrap_or_default();
    let number = category.rsplit(' ').next().unwrap_or_default();
    (category.split(',').next().unwrap_or_default().to_owned(), number.trim().to_owned())
}

fn answer(request: &Request, knows: impl Fn(&str, &str) -> bool) -> Reply {
    let asked = &request.messages.last().unwrap().content;
    let (category, number) = category_of(asked);
    let rule = format!("rule {category}");
    let (reasoning, answer) = match knows(asked, &rule) {
        true => (rule, format!("{category}-{number}")),
        false => ("I guess".to_owned(), "?".to_owned()),
    };
    Reply::json(serde_json::json!({"reasoning": reasoning, "answer": answer}))
}

/// Answers rightly where an example has the category's rule.
fn student() -> FnModel {
    FnModel::new(|request| {
        let shown: String = request.messages.iter().map(|message| message.content.as_str()).collect();
        answer(request, |_, rule| shown.contains(rule))
    })
}

/// Finds the rule where the question is a key.
fn teacher() -> FnModel {
    FnModel::new(|request| answer(request, |asked, _| asked.contains("key")))
}

#[tokio::test]
async fn bootstrap_finds_the_right_examples_within_the_budget_for_20_seeds() {
    let validation = validation();
    for seed in 0..20 {
        let train = train(seed);
        let (student, teacher) = (student(), teacher());
        let run = Run::new(student.clone()).model("teacher", teacher.clone());
        // Two evaluations, and each training case at most once.
        let limit = (2 * validation.len() + train.len()) as u64;
        let bootstrap = Bootstrap::new().teacher("teacher").seed(seed).limits(Limits::new().requests(limit));
        let optimised =
            bootstrap.optimise(&run, &Program::new(), &train, &validation, exact()).await.unwrap();

        let requests = student.requests().len() + teacher.requests().len();
        assert!(
            requests as u64 <= limit && requests as u64 == optimised.report().usage.requests,
            "seed {seed}"
        );
        let Some(program) = optimised.program() else { panic!("seed {seed}: {}", optimised.report()) };
        assert_eq!(program.demos().len(), 8);
        let mut found: Vec<_> =
            program.demos()[..4].iter().map(|demo| demo.values()["question"].as_str().unwrap()).collect();
        found.sort_unstable();
        let keys: Vec<_> = (0..4).map(|category| format!("category {category}, key 0")).collect();
        assert_eq!(found, keys, "seed {seed}");

        let made = program.made().unwrap();
        let score = made.score.unwrap();
        assert_eq!((made.optimiser.as_str(), made.seed, made.requests), ("bootstrap", seed, requests as u64));
        assert_eq!((score.val, score.n, optimised.report().start.mean()), (1.0, 8, 0.0), "seed {seed}");
    }
}

#[tokio::test]
async fn bootstrap_asks_about_no_more_cases_than_one_after_the_other_would() {
    for seed in 0..20 {
        let train = train(seed);
        let questions: Vec<_> = train.cases().map(|(ask, _)| ask.question.clone()).collect();
        let last_key = questions.iter().rposition(|question| question.contains("key")).unwrap();
        let teacher = teacher();
        let run = Run::new(student()).model("teacher", teacher.clone());
        let bootstrap = Bootstrap::new().teacher("teacher").limits(Limits::new().requests(100));
        bootstrap.optimise(&run, &Program::new(), &train, &validation(), exact()).await.unwrap();
        assert_eq!(teacher.requests().len(), last_key + 1, "seed {seed}");
        // No example has the label of what is asked.
        for request in teacher.requests() {
            let asked = &request.messages.last().unwrap().content;
            assert_eq!(
                request.messages.iter().filter(|message| message.content == *asked).count(),
                1,
                "seed {seed}"
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
            Bootstrap::new().optimise(&run, &program, &train, &validation, exact()).await,
            "an optimiser needs a limit of requests; set `.limits(Limits::new().requests(19))`, which affords three proposals, or more",
        ),
        (
            Bootstrap::new().limits(limits(18)).optimise(&run, &program, &train, &validation, exact()).await,
            "18 requests do not afford three proposals; allow 19 or more, or take fewer validation cases than 8",
        ),
        (
            Reflect::new().optimise(&run, &program, &train, &validation, exact()).await,
            "an optimiser needs a limit of requests; set `.limits(Limits::new().requests(53))`, which affords three proposals, or more",
        ),
        (
            Reflect::new().limits(limits(52)).optimise(&run, &program, &train, &validation, exact()).await,
            "52 requests do not afford three proposals; allow 53 or more, or take fewer validation cases than 8",
        ),
        (
            Bootstrap::new().limits(limits(99)).optimise(&run, &program, &train, &overlapping, exact()).await,
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
    let bootstrap = Bootstrap::new().teacher("teacher").bootstrapped(2).limits(Limits::new().requests(100));
    let optimised = bootstrap.optimise(&run, &Program::new(), &train, &validation, exact()).await.unwrap();
    let path = std::env::temp_dir().join(format!("llmnode-optimised-{}.json", std::process::id()));
    assert!(optimised.save(&path).unwrap());
    let program = Program::<Ask>::open(&path).unwrap();
    std::fs::remove_file(&path).unwrap();

    let written = program.made().unwrap().score.unwrap().val;
    let run = run.with_program(program);
    let fresh = evaluate(&run, &validation, exact()).await.unwrap();
    assert_eq!((written, fresh.mean()), (0.5, 0.5));
}

#[tokio::test]
async fn case_73_no_improvement_on_validation_writes_nothing() {
    // A student who learns nothing.
    let run = Run::new(FnModel::new(|request| answer(request, |_, _| false))).model("teacher", teacher());
    let bootstrap = Bootstrap::new().teacher("teacher").limits(Limits::new().requests(100));
    let (train, validation) = (train(1), validation());
    let optimised = bootstrap.optimise(&run, &Program::new(), &train, &validation, exact()).await.unwrap();
    assert!(matches!(optimised, Optimised::Unchanged { .. }));
    assert_eq!(optimised.report().best.as_ref().unwrap().mean(), 0.0);
    let path = std::env::temp_dir().join(format!("llmnode-unchanged-{}.json", std::process::id()));
    assert!(!optimised.save(&path).unwrap() && !path.exists());
}

#[tokio::test]
async fn a_judged_candidate_counts_where_the_limit_is_reached_by_corrections() {
    // Every answer needs a second request, so 30 requests do for 15 cases.
    let asked = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&asked);
    let model = FnModel::new(move |request| match counted.fetch_add(1, Ordering::Relaxed) % 2 {
        0 => Reply::text("hm"),
        _ => answer(request, |_, _| true),
    });
    let run = Run::new(model).with_settings(llmnode::Settings::new().retries(1));
    let bootstrap = Bootstrap::new().limits(Limits::new().requests(30));
    let (train, validation) = (train(1), validation());
    let optimised =
        bootstrap.optimise(&run, &Program::new(), &train, &validation, exact()).concurrency(1).await.unwrap();
    assert!(
        matches!(&optimised, Optimised::Unchanged { report } if report.best.is_none()),
        "{}",
        optimised.report()
    );
    assert!(asked.load(Ordering::Relaxed) <= 30);
}

/// A colour's name, in the way its family wants it.
#[llm_node(goal = "Name the colour.", output = Answer)]
struct Name {
    colour: String,
}

const RULES: [(&str, &str); 3] = [
    ("warm", "Rule of warm colours: write the name in capitals."),
    ("cold", "Rule of cold colours: write the name backwards."),
    ("grey", "Rule of grey colours: write the name twice."),
];

fn colours(numbers: std::ops::Range<usize>) -> Dataset<Name, Answer> {
    let names = numbers.flat_map(|number| {
        RULES.iter().map(move |(family, _)| {
            let colour = format!("{family} {number}");
            (Name { colour: colour.clone() }, Answer { answer: format!("right: {colour}") })
        })
    });
    Dataset::new(names)
}

fn rule_of(colour: &str) -> &'static str {
    RULES.iter().find(|(family, _)| colour.starts_with(family)).unwrap().1
}

/// The feedback has the rule.
fn graded(input: &Name, expected: &Answer, output: &Answer) -> Score {
    Score::from((expected == output, rule_of(&input.colour)))
}

/// A number that a text stands for.
fn hash(text: &str) -> u64 {
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Names a colour rightly where its rule stands in the goal, and proposes a rule that it reads in the feedback. Some proposals are
/// bad, by their material: they forget what the goal had, or are no instruction at all.
fn learner() -> FnModel {
    FnModel::new(learn)
}

fn learn(request: &Request) -> Reply {
    let [system, user] = [0, 1].map(|at| request.messages[at].content.as_str());
    if !system.starts_with("You improve the instruction") {
        let colour = user.lines().last().unwrap();
        let right = system.contains(rule_of(colour));
        let answer = if right { format!("right: {colour}") } else { colour.to_owned() };
        return Reply::json(Answer { answer });
    }
    let (before, cases) = user.split_once("Cases:").unwrap();
    let keeps = match hash(user) % 4 {
        0 => return Reply::json(serde_json::json!({"instruction": "Be nice."})),
        1 => "",
        _ => before,
    };
    // It learns one rule at a time.
    let known = |rule: &&str| keeps.contains(*rule);
    let all = || RULES.iter().map(|(_, rule)| *rule);
    let new = all().find(|rule| !known(rule) && cases.contains(rule));
    let rules: Vec<_> = all().filter(known).chain(new).collect();
    Reply::json(serde_json::json!({"instruction": format!("Name the colour. {}", rules.join(" "))}))
}

#[tokio::test]
async fn reflect_keeps_the_rules_of_the_feedback_and_is_never_worse_for_20_seeds() {
    let (train, validation) = (colours(0..5), colours(5..8));
    for seed in 0..20 {
        let model = learner();
        let run = Run::new(model.clone());
        let reflect = Reflect::new().seed(seed).limits(Limits::new().requests(200));
        let optimised = reflect.optimise(&run, &Program::new(), &train, &validation, graded).await.unwrap();
        let requests = model.requests().len();
        assert!(requests <= 200 && requests as u64 == optimised.report().usage.requests, "seed {seed}");
        let Some(program) = optimised.program() else { panic!("seed {seed}: {}", optimised.report()) };
        for (_, rule) in RULES {
            assert!(program.goal().contains(rule), "seed {seed}: {}", program.goal());
        }
        let fresh = evaluate(&run.clone().with_program(program.clone()), &validation, graded).await.unwrap();
        let report = optimised.report();
        assert!(
            fresh.mean() >= report.start.mean() && fresh.mean() == program.made().unwrap().score.unwrap().val
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
                return Reply::json(serde_json::json!({"instruction": format!("Goal {}", hash(user))}));
            }
            let colour = user.lines().last().unwrap();
            let right = hash(&format!("{system}{colour}")) % 2 == 0;
            Reply::json(Answer { answer: if right { format!("right: {colour}") } else { "?".into() } })
        });
        let run = Run::new(model);
        let reflect = Reflect::new().seed(seed).limits(Limits::new().requests(150));
        let optimised = reflect.optimise(&run, &Program::new(), &train, &validation, graded).await.unwrap();
        let start = optimised.report().start.mean();
        match optimised.program() {
            Some(program) => {
                let fresh =
                    evaluate(&run.clone().with_program(program.clone()), &validation, graded).await.unwrap();
                assert!(fresh.mean() > start, "seed {seed}");
            }
            None => assert!(
                optimised.report().best.as_ref().is_none_or(|best| best.mean() <= start),
                "seed {seed}"
            ),
        }
    }
}

#[tokio::test]
async fn a_start_that_is_perfect_takes_one_evaluation() {
    let model = FnModel::new(|request| {
        let colour = request.messages[1].content.lines().last().unwrap().to_owned();
        Reply::json(Answer { answer: format!("right: {colour}") })
    });
    let run = Run::new(model.clone());
    let (train, validation) = (colours(0..5), colours(5..8));
    let reflect = Reflect::new().limits(Limits::new().requests(200));
    let optimised = reflect.optimise(&run, &Program::new(), &train, &validation, graded).await.unwrap();
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
    let wanted = reflect.clone().optimise(&run, &Program::new(), &train, &validation, graded).await.unwrap();

    let path = std::env::temp_dir().join(format!("llmnode-optimising-{}.journal", std::process::id()));
    let mut requests = 0;
    let (third, wanted_requests) = (whole.requests().len() / 3, whole.requests().len());
    assert!(third > validation.len(), "the second kill comes after the start was judged");
    for killed_after in [third, third, usize::MAX] {
        // Dropped in the middle, as by a crash.
        let (asked, killed) = (Arc::new(AtomicUsize::new(0)), Arc::new(tokio::sync::Notify::new()));
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
            let [program, whole] = [&optimised, &wanted].map(|optimised| optimised.program().unwrap());
            assert_eq!(program.goal(), whole.goal());
            assert_eq!(optimised.report().proposals, wanted.report().proposals);
            let [made, whole] = [program, whole].map(|program| program.made().unwrap());
            assert_eq!((made.score, made.requests), (whole.score, whole.requests));
            // The journal does not have what its answers used.
            assert!(made.tokens.is_none() && whole.tokens.is_some());
        }
    }
    assert_eq!(requests, wanted_requests, "no answer was paid twice");
    std::fs::remove_file(path).unwrap();
}

#[tokio::test]
async fn progress_tells_requests_and_the_best_score() {
    let told = Mutex::new(Vec::new());
    let run = Run::new(student()).model("teacher", teacher());
    let (train, validation) = (train(1), validation());
    let bootstrap = Bootstrap::new().teacher("teacher").limits(Limits::new().requests(100));
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
async fn a_file_becomes_cases_of_a_node_with_a_goal() {
    let path = std::env::temp_dir().join(format!("llmnode-colours-{}.jsonl", std::process::id()));
    let rows = "{\"colour\": \"warm 1\", \"expected\": {\"answer\": \"a\"}}\n{\"colour\": \"cold 1\", \"answer\": \"b\"}\n";
    std::fs::write(&path, rows).unwrap();
    let data = Dataset::<Name, Answer>::open(&path).unwrap();
    let read: Vec<_> =
        data.cases().map(|(name, answer)| (name.colour.as_str(), answer.answer.as_str())).collect();
    assert_eq!(read, [("warm 1", "a"), ("cold 1", "b")]);

    std::fs::write(&path, format!("{rows}{{\"colour\": 3}}\n{{\"answer\": \"x\"}}\n")).unwrap();
    let shown = Dataset::<Name, Answer>::open(&path).unwrap_err().to_string();
    assert!(shown.contains("2 lines are no case\nline 3: ") && shown.contains("\nline 4: "), "{shown}");
    assert!(shown.contains("colour: is missing"), "{shown}");
    std::fs::remove_file(path).unwrap();
}

#[test]
fn cases_are_split_by_a_seed_and_equal_inputs_stay_together() {
    let twice = || {
        Dataset::new(
            colours(0..20)
                .cases()
                .chain(colours(0..20).cases())
                .map(|(name, answer)| (Name { colour: name.colour.clone() }, answer.clone()))
                .collect::<Vec<_>>(),
        )
    };
    let names =
        |data: &Dataset<Name, Answer>| data.cases().map(|(name, _)| name.colour.clone()).collect::<Vec<_>>();
    let (first, second) = twice().split(0.5, 7);
    assert_eq!((first.len(), second.len()), (60, 60));
    assert!(names(&first).iter().all(|name| !names(&second).contains(name)));
    assert_eq!(names(&twice().split(0.5, 7).0), names(&first));
    assert_ne!(names(&twice().split(0.5, 8).0), names(&first));
}
