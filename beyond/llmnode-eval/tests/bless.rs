//! A baseline is written by the test that `LLMNODE_BLESS` names, and by no other. Each row is a process of its own.

#![allow(clippy::unwrap_used, missing_docs, reason = "tests")]

use std::path::PathBuf;
use std::process::Command;

use llmnode::evals::{Dataset, evaluate, exact};
use llmnode::prelude::*;
use llmnode::{BoxError, Exec, Node};

struct Double(u64);

impl Node for Double {
    type Output = u64;
    const NAME: &'static str = "double";
}

impl<S: ?Sized + Sync> Exec<S> for Double {
    async fn exec(&self, _: &Cx<'_, S>) -> Result<u64, BoxError> {
        Ok(self.0 * 2)
    }
}

/// Run by the test below, with a baseline of its own.
#[tokio::test]
#[ignore = "the other test runs it"]
async fn doubles() {
    let baseline = PathBuf::from(std::env::var_os("TEST_BASELINE").unwrap());
    let run = Run::new(ScriptedModel::new());
    let data = Dataset::new([(Double(1), 2), (Double(2), 4)]);
    let report = evaluate(&run, &data, exact()).repeats(2).await.unwrap();
    println!("{}", report.against(baseline).unwrap());
}

fn doubles_with(baseline: &str, variables: &[(&str, &str)]) -> (bool, String) {
    let mut test = Command::new(std::env::current_exe().unwrap());
    test.args(["doubles", "--exact", "--ignored", "--nocapture"])
        .env("TEST_BASELINE", baseline);
    test.env_remove("CI")
        .env_remove("LLMNODE_BLESS")
        .envs(variables.iter().copied());
    let output = test.output().unwrap();
    let text = [output.stdout, output.stderr]
        .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
        .concat();
    (output.status.success(), text)
}

#[test]
fn the_named_test_writes_it_with_three_times_the_repeats() {
    let baseline = format!(
        "{}/evals-{}/double.baseline.json",
        env!("CARGO_TARGET_TMPDIR"),
        std::process::id()
    );
    for (variables, succeeds, said) in [
        (&[][..], false, "there is no baseline"),
        (
            &[("LLMNODE_BLESS", "another")],
            false,
            "there is no baseline",
        ),
        (
            &[("LLMNODE_BLESS", "doubles"), ("CI", "true")],
            false,
            "is not written where CI is set",
        ),
        (
            &[("LLMNODE_BLESS", "doubles")],
            true,
            "is written, with 2 cases",
        ),
        (&[], true, "cannot tell: +0.000 over 2 cases"),
    ] {
        let (succeeded, text) = doubles_with(&baseline, variables);
        assert_eq!(succeeded, succeeds, "{variables:?}: {text}");
        assert!(text.contains(said), "{variables:?}: {text}");
    }
    assert!(
        std::fs::read_to_string(&baseline)
            .unwrap()
            .contains(r#""metric":"exact","repeats":6"#)
    );
    std::fs::remove_dir_all(std::path::Path::new(&baseline).parent().unwrap()).unwrap();
}

/// The file is that of one of them, and whole.
#[test]
fn two_that_write_at_once_leave_a_whole_file() {
    let folder = format!(
        "{}/evals-at-once-{}",
        env!("CARGO_TARGET_TMPDIR"),
        std::process::id()
    );
    // A name that a shell or a parser could trip over.
    let baseline = format!("{folder}/a b'\"{{x}} ü.json");
    let writes = (0..4).map(|_| {
        let baseline = baseline.clone();
        std::thread::spawn(move || doubles_with(&baseline, &[("LLMNODE_BLESS", "doubles")]))
    });
    let writes: Vec<_> = writes.collect();
    for write in writes {
        let (succeeded, text) = write.join().unwrap();
        assert!(succeeded, "{text}");
    }
    let (succeeded, text) = doubles_with(&baseline, &[]);
    assert!(succeeded && text.contains("over 2 cases"), "{text}");
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
    std::fs::remove_dir_all(&folder).unwrap();
}
