//! Processor time of opening programs: 100 files and 1,000, ours and DSPy's, beside reading the same files as JSON.

use std::fs;
use std::hint::black_box;
use std::path::PathBuf;

use llmnode::prelude::*;
use llmnode::smart::{Demo, Form, Program};
use llmnode_benches::measure::{cpu_each, median};

const ROUNDS: usize = 5;

#[llm_output]
struct Verdict {
    /// Whether it holds.
    holds: bool,
    /// How sure.
    score: i64,
    facts: Vec<String>,
}

#[llm_node(goal = "Judge the claim.", think, output = Verdict)]
struct Judge {
    /// what is known
    facts: Vec<String>,
    /// what is claimed
    claim: String,
}

fn main() {
    let folder = std::env::temp_dir().join(format!("llmnode-programs-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let program = program();
    for (name, text) in [
        ("ours", program.to_json()),
        ("dspy", program.with_form(Form::Chat).to_dspy().unwrap()),
    ] {
        let paths: Vec<PathBuf> = (0..1_000)
            .map(|at| folder.join(format!("{name}{at}.json")))
            .collect();
        paths
            .iter()
            .for_each(|path| fs::write(path, &text).unwrap());
        let (mut few, mut many, mut json) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            few.push(opened(&paths[..100]));
            many.push(opened(&paths));
            json.push(parsed(&paths));
        }
        let (few, many, json) = (median(few), median(many), median(json));
        println!("programs.{name} {} bytes, {many:.1} µs each", text.len());
        println!(
            "programs.{name}.1000_over_100 {:.2}",
            many * 1_000.0 / (few * 100.0)
        );
        println!("programs.{name}.over_json {:.2}", many / json);
    }
    fs::remove_dir_all(&folder).unwrap();
}

/// A program with 16 examples.
fn program() -> Program<Judge> {
    let judge = Judge {
        facts: vec!["the sun is a star".into(); 3],
        claim: "the sun shines".into(),
    };
    let verdict = Verdict {
        holds: true,
        score: 9,
        facts: judge.facts.clone(),
    };
    let demo = Demo::of(&judge, &verdict, Some("Stars shine, and the sun is one.")).unwrap();
    Program::new().with_demos(vec![demo; 16]).unwrap()
}

/// Microseconds for each file.
fn opened(paths: &[PathBuf]) -> f64 {
    cpu_each(paths.len(), || {
        let all: Vec<_> = paths
            .iter()
            .map(|path| Program::<Judge>::open(path).unwrap())
            .collect();
        assert!(
            black_box(all)
                .iter()
                .all(|program| program.demos().len() == 16)
        );
    })
}

fn parsed(paths: &[PathBuf]) -> f64 {
    cpu_each(paths.len(), || {
        for path in paths {
            let value: serde_json::Value =
                serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
            black_box(value);
        }
    })
}
