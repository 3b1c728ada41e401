//! Programs: our own files and DSPy's, checked against the node that they are for.

use llmnode::prelude::*;
use llmnode::smart::{Demo, Form, Program, ProgramError, Provenance, Smart};
use serde_json::{Value, json};

use crate::support::*;

fn verdict() -> Verdict {
    Verdict {
        holds: true,
        score: 9,
    }
}

fn pointers(error: &ProgramError) -> Vec<&str> {
    error
        .faults()
        .iter()
        .map(|fault| fault.pointer.as_str())
        .collect()
}

/// What DSPy saves of a `ChainOfThought` with these fields.
fn thought(fields: &[&str], demos: Value) -> Value {
    let fields: Vec<_> = fields
        .iter()
        .map(|name| json!({"prefix": prefix(name), "description": format!("${{{name}}}")}))
        .collect();
    let signature = json!({"instructions": "Judge.", "fields": fields});
    json!({"predict": {"traces": [], "train": [], "demos": demos, "signature": signature, "lm": null}, "metadata": {}})
}

fn prefix(name: &str) -> String {
    let mut letters = name.chars();
    letters
        .next()
        .map(|c| c.to_uppercase().collect::<String>())
        .unwrap_or_default()
        + letters.as_str()
        + ":"
}

#[tokio::test]
async fn a_program_replaces_goal_descriptions_demos_and_settings() {
    let demo = Demo::of(&judge(), &verdict(), None).unwrap();
    let program = Program::<Judge>::new()
        .with_goal("Be strict.")
        .with_description("claim", "the claim itself")
        .unwrap()
        .with_description("score", "0: unsure")
        .unwrap()
        .with_demos([demo])
        .unwrap()
        .with_temperature(0.25)
        .with_max_tokens(99);
    let again = Program::<Judge>::parse(&program.to_json()).unwrap();
    assert_eq!(again, program);
    let model = ScriptedModel::new().reply(r#"{"holds": false, "score": 1}"#);
    let run = Run::new(model.clone()).with_program(again);
    run.call(&judge()).await.unwrap();
    let request = &model.requests()[0];
    assert_eq!(
        (request.temperature, request.max_tokens),
        (Some(0.25), Some(99))
    );
    let texts = texts(&model, 0);
    assert!(
        texts[0].starts_with("Be strict.\n") && texts[0].contains("- claim: the claim itself"),
        "{texts:?}"
    );
    assert_eq!(
        (texts.len(), texts[2].as_str()),
        (4, r#"{"holds":true,"score":9}"#)
    );
    let schema = request.output.as_ref().unwrap().plain().get();
    assert!(
        schema.contains("0: unsure") && !schema.contains("How sure"),
        "{schema}"
    );
    // Settings that are nearer win.
    let model = ScriptedModel::new().reply(r#"{"holds": false, "score": 1}"#);
    let run = Run::new(model.clone()).with_program(program);
    run.call(&judge()).temperature(0.5).await.unwrap();
    assert_eq!(model.requests()[0].temperature, Some(0.5));
}

#[tokio::test]
async fn a_program_holds_in_calls_within_and_the_last_one_counts() {
    let model = always(r#"{"holds": false, "score": 1}"#);
    let run = Run::new(model.clone());
    let strict = run
        .clone()
        .with_program(Program::<Judge>::new().with_goal("one"))
        .with_program(Program::<Judge>::new().with_goal("two"));
    strict.map([judge(), judge()]).await;
    run.call(&judge()).await.unwrap();
    let goals: Vec<_> = (0..3)
        .map(|at| texts(&model, at)[0].lines().next().unwrap().to_owned())
        .collect();
    assert_eq!(goals, ["two", "two", "Judge the claim."]);
}

#[tokio::test]
async fn incomplete_demos_come_first_and_say_so() {
    let whole = Demo::of(&judge(), &verdict(), None).unwrap();
    let part = Demo::from_values(
        json!({"claim": "x", "holds": true})
            .as_object()
            .unwrap()
            .clone(),
    );
    let model = ScriptedModel::new().reply(r#"{"holds": false, "score": 1}"#);
    let run = Run::new(model.clone())
        .with_program(Program::<Judge>::new().with_demos([whole, part]).unwrap());
    run.call(&judge()).await.unwrap();
    let texts = texts(&model, 0);
    assert!(texts[1].starts_with(
        "This is an example of the task, though some input or output fields are not supplied."
    ));
    assert_eq!((texts[2].as_str(), texts.len()), (r#"{"holds":true}"#, 6));
}

#[tokio::test]
async fn a_program_of_dspy_asks_in_its_form() {
    let file = thought(
        &["claim", "reasoning", "holds", "score"],
        json!([{"augmented": true, "claim": "a", "reasoning": "r", "holds": true, "score": 3}]),
    );
    let program = Program::<Ponder>::parse(&file.to_string()).unwrap();
    assert_eq!(
        (program.goal(), program.form(), program.demos().len()),
        ("Judge.", Form::Chat, 1)
    );
    let model = ScriptedModel::new().reply(
        "[[ ## reasoning ## ]]\nx\n[[ ## holds ## ]]\nFalse\n[[ ## score ## ]]\n4\n[[ ## completed ## ]]",
    );
    let run = Run::new(model.clone()).with_program(program);
    let verdict = run.call(&Ponder { claim: "b".into() }).await.unwrap();
    assert_eq!(
        verdict,
        Verdict {
            holds: false,
            score: 4
        }
    );
    assert!(texts(&model, 0)[0].starts_with("Your input fields are:\n1. `claim` (str):"));
}

/// Case 63.
#[test]
fn case_63_every_difference_is_a_fault_at_its_place() {
    let demos =
        json!([{"claim": "a", "holds": true, "score": "high"}, {"claim": "a", "colour": "red"}]);
    let file = thought(&["score", "reasoning", "holds", "claim"], demos).to_string();
    let error = Program::<Ponder>::parse(&file).unwrap_err();
    assert_eq!(
        pointers(&error),
        [
            "/predict/signature/fields/0",
            "/predict/signature/fields/3",
            "/predict/demos/0/score",
            "/predict/demos/1/colour"
        ]
    );
    assert!(
        error.to_string().contains(
            "/predict/demos/1/colour: the node has no field `colour`; it has `claim`, `reasoning`"
        ),
        "{error}"
    );

    // `ChainOfThought` for a node without `think`, and a field more.
    let error = Program::<Chat>::parse(
        &thought(&["claim", "reasoning", "holds", "score"], json!([])).to_string(),
    )
    .unwrap_err();
    assert_eq!(pointers(&error), ["/predict/signature/fields"]);
    assert!(
        error.to_string().contains("add `think` to the node"),
        "{error}"
    );
    let error = Program::<Ponder>::parse(
        &thought(&["claim", "why", "reasoning", "holds", "score"], json!([])).to_string(),
    )
    .unwrap_err();
    assert!(
        error.to_string().contains(
            "there are 5 fields, and the node has 4: `claim`, `reasoning`, `holds`, `score`"
        ),
        "{error}"
    );

    // A predictor that is not there.
    let state = thought(&["claim", "reasoning", "holds", "score"], json!([]))["predict"].clone();
    let file = json!({"plan.predict": state, "answer": state, "metadata": {}}).to_string();
    let error = Program::<Ponder>::parse(&file).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("the file has the predictors `plan.predict`, `answer`; name one of them"),
        "{error}"
    );
    let error = Program::<Ponder>::parse_predictor(&file, "plans").unwrap_err();
    assert!(
        error.to_string().contains("no predictor `plans`"),
        "{error}"
    );
    assert!(Program::<Ponder>::parse_predictor(&file, "plan").is_ok());
    assert!(Program::<Ponder>::parse_predictor(&file, "plan.predict").is_ok());
}

/// Case 63, for files of our own.
#[test]
fn case_63_differences_of_our_own_files() {
    let mut file: Value = serde_json::from_str(&Program::<Judge>::new().to_json()).unwrap();
    file["signature"]["inputs"] = json!({"claim": {"type": "integer"}, "fact": {"type": "string"}});
    file["signature"]["think"] = true.into();
    file["fields"] = json!({"clam": "x"});
    file["demos"] = json!([{"facts": ["a"], "claim": "b", "holds": true, "score": 1.5}, 3]);
    file["settings"] = json!({"temperature": -1, "api_base": "http://10.0.0.1"});
    file["form"] = "yaml".into();
    file["gaol"] = "x".into();
    let error = Program::<Judge>::parse(&file.to_string()).unwrap_err();
    assert_eq!(
        pointers(&error),
        [
            "/gaol",
            "/signature/think",
            "/signature/inputs/claim",
            "/signature/inputs/fact",
            "/signature/inputs",
            "/form",
            "/fields/clam",
            "/settings/temperature",
            "/settings/api_base",
            "/demos/1",
            "/demos/0/score"
        ]
    );
    let text = error.to_string();
    for said in [
        "did you mean `goal`?",
        "did you mean `facts`?",
        "did you mean `claim`?",
        "in the node it is {\"type\":\"string\"}",
    ] {
        assert!(text.contains(said), "{said}: {text}");
    }
    file = serde_json::from_str(&Program::<Judge>::new().to_json()).unwrap();
    file["signature"]["inputs"] = json!({"claim": {"type": "string"}, "facts": {"items": {"type": "string"}, "type": "array"}});
    let error = Program::<Judge>::parse(&file.to_string()).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("the order is `claim`, `facts`, and in the node it is `facts`, `claim`"),
        "{error}"
    );
}

/// Case 64.
#[tokio::test]
async fn case_64_where_to_ask_is_never_the_files() {
    let mut file = thought(&["claim", "reasoning", "holds", "score"], json!([]));
    file["predict"]["lm"] = json!({"model": "openai/evil", "api_base": "http://10.0.0.1/v1", "api_key": "k", "temperature": 0.7, "max_tokens": 99});
    let program = Program::<Ponder>::parse(&file.to_string()).unwrap();
    assert_eq!(
        (program.temperature(), program.max_tokens()),
        (Some(0.7), Some(99))
    );
    let json = program.to_json();
    assert!(
        !json.contains("10.0.0.1") && !json.contains("evil"),
        "{json}"
    );
    let model = ScriptedModel::new()
        .reply("[[ ## reasoning ## ]]\nx\n[[ ## holds ## ]]\nFalse\n[[ ## score ## ]]\n4");
    Run::new(model.clone())
        .with_program(program)
        .call(&Ponder { claim: "b".into() })
        .await
        .unwrap();
    let request = &model.requests()[0];
    assert_eq!(
        (
            &request.model,
            request.temperature,
            request.extra.is_empty()
        ),
        (&None, Some(0.7), true)
    );
}

/// A link that somebody put where the new file was written before it took its place.
#[cfg(unix)]
#[test]
fn a_program_is_not_saved_through_a_planted_link_and_keeps_its_mode() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("llmnode-planted-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (path, victim) = (folder.join("program.json"), folder.join("victim"));
    std::fs::write(&victim, "kept").unwrap();
    symlink(
        &victim,
        folder.join(format!("program.json.{}.new", std::process::id())),
    )
    .unwrap();
    let mode =
        |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let program = Program::<Judge>::new().with_goal("Saved.");
    program.save(&path).unwrap();
    assert_eq!(
        (
            mode(&path),
            std::fs::read_to_string(&victim).unwrap().as_str()
        ),
        (0o600, "kept")
    );

    let link = folder.join("link.json");
    symlink(&path, &link).unwrap();
    Program::<Judge>::new()
        .with_goal("Again.")
        .save(&link)
        .unwrap();
    assert!(link.is_symlink() && !path.is_symlink());
    assert_eq!(mode(&path), 0o600);
    assert!(std::fs::read_to_string(&path).unwrap().contains("Again."));
    std::fs::remove_dir_all(&folder).unwrap();
}

/// Case 65.
#[test]
fn case_65_a_pickle_is_refused_by_content() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("llmnode-programs-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("program.json");
    for pickle in [
        &b"\x80\x04\x95\x10\x00"[..],
        b"cos\nsystem\n(S'true'\ntR.",
        b"(dp0\nS'a'\n",
    ] {
        std::fs::write(&path, pickle).unwrap();
        let error = Program::<Judge>::open(&path).unwrap_err().to_string();
        assert!(
            error.contains("this is a pickle, which is code and never loaded")
                && error.contains("program.json"),
            "{error}"
        );
    }
    let error = Program::<Judge>::open(&folder).unwrap_err().to_string();
    assert!(error.contains("this is a folder"), "{error}");
    std::fs::write(&path, " ".repeat((1 << 20) + 1)).unwrap();
    assert!(
        Program::<Judge>::open(&path)
            .unwrap_err()
            .to_string()
            .contains("larger than 1 MiB")
    );
    std::fs::write(&path, "hello").unwrap();
    assert!(
        Program::<Judge>::open(&path)
            .unwrap_err()
            .to_string()
            .contains("it is no JSON")
    );
    assert!(
        Program::<Judge>::open(folder.join("none.json"))
            .unwrap_err()
            .to_string()
            .contains("it cannot be read")
    );
    let program = Program::<Judge>::new().with_goal("Saved.");
    program.save(&path).unwrap();
    assert_eq!(Program::<Judge>::open(&path).unwrap(), program);
    assert_eq!(
        std::fs::read_dir(&folder).unwrap().count(),
        1,
        "nothing is left beside it"
    );
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn caps_versions_and_foreign_files() {
    let demo = Demo::of(&judge(), &verdict(), None).unwrap();
    let error = Program::<Judge>::new()
        .with_demos(vec![demo; 65])
        .unwrap_err();
    assert!(
        error
            .to_string()
            .contains("there are 65 examples, and 64 are the most"),
        "{error}"
    );
    for (file, says) in [
        (
            json!({"format": "llmnode/program", "version": 3, "goal": 3}),
            "version 3 is newer than version 2",
        ),
        (
            json!({"format": "llmnode/graph", "version": 1}),
            "not a llmnode/program: its format is \"llmnode/graph\"",
        ),
        (
            json!({"format": "llmnode/program", "version": 0}),
            "/version: is no version",
        ),
        (json!({"a": 1}), "this is no program"),
        (json!([]), "this is no program"),
    ] {
        let error = Program::<Judge>::parse(&file.to_string())
            .unwrap_err()
            .to_string();
        assert!(error.contains(says), "{error}");
    }
}

/// Version 1 has `made` where version 2 has `provenance`.
#[test]
fn all_versions_are_read_and_the_newest_is_written() {
    let newest = include_str!("../data/program-v2.json");
    for text in [include_str!("../data/program-v1.json"), newest] {
        is_read(text, newest);
    }
}

fn is_read(text: &str, newest: &str) {
    let program = Program::<Judge>::parse(text).unwrap();
    assert_eq!(
        (program.goal(), program.demos().len(), program.form()),
        ("Be strict.", 1, Form::Own)
    );
    let provenance = program.provenance().unwrap();
    assert_eq!(
        (
            provenance.optimiser.as_str(),
            provenance.seed,
            provenance.tokens,
            provenance.score.unwrap().val
        ),
        ("bootstrap", 7, None, 0.75)
    );
    assert_eq!(program.to_json(), newest);
    assert_eq!(
        Program::<Judge>::new()
            .with_provenance(Provenance::default())
            .provenance(),
        Some(&Provenance::default())
    );
}

#[test]
fn only_forms_of_dspy_are_written_for_it() {
    let program = Program::<Judge>::new();
    assert!(
        program
            .to_dspy()
            .unwrap_err()
            .to_string()
            .contains("in which DSPy cannot ask")
    );
    let text = program.with_form(Form::Json).to_dspy().unwrap();
    let file: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        file["signature"]["fields"][0],
        json!({"prefix": "Facts:", "description": "what is known"})
    );
    assert_eq!(file["signature"]["instructions"], Judge::signature().goal());
}

#[test]
fn no_content_is_shown_by_debug() {
    let program = Program::<Judge>::new()
        .with_demos([Demo::of(&judge(), &verdict(), None).unwrap()])
        .unwrap();
    let shown = format!("{program:?}");
    assert!(!shown.contains("the sun"), "{shown}");
}

#[test]
fn a_demo_of_another_type_cannot_be_set() {
    let demo = Demo::from_values(
        json!({"claim": 3, "holds": "perhaps"})
            .as_object()
            .unwrap()
            .clone(),
    );
    let error = Program::<Judge>::new().with_demos([demo]).unwrap_err();
    assert_eq!(pointers(&error), ["/demos/0/claim", "/demos/0/holds"]);
}
