//! Starting a flow, and resuming it.

use llmnode_flow::flow::RunExt;
use llmnode_flow::journal::{JournalFile, Record};
use llmnode_runtime::{Category, NodeError, Run};
use serde::{Deserialize, Serialize};

use crate::support::{
    Memory, Outcome, Research, STEPS, World, fails_after, model, path, run, undisturbed,
};

fn published() -> Outcome {
    Outcome::Published("done".to_owned())
}

#[tokio::test]
async fn a_flow_without_a_crash_does_what_it_does_without_a_journal() {
    let journal = JournalFile::open(path("whole")).unwrap();
    let mut run = run(model());
    assert_eq!(
        run.flow(Research).journal(journal.clone()).await.unwrap(),
        published()
    );
    assert_eq!(*run.state(), undisturbed().await);
    let history = journal.history().unwrap();
    assert_eq!(
        (history.flow(), history.steps(), history.has_ended()),
        ("research", STEPS, true)
    );
    assert!(history.unknown().is_empty());
    assert_eq!(history.ledger().tokens_used(), run.ledger().tokens_used());
}

#[tokio::test]
async fn another_run_goes_on_from_the_last_completed_step() {
    for steps in 0..STEPS as usize {
        let path = path(&format!("goes-on-{steps}"));
        let mut first = run(fails_after(steps));
        let error = first
            .flow(Research)
            .journal(JournalFile::open(&path).unwrap())
            .await
            .unwrap_err();
        assert_eq!(error.category(), Category::Refusal);

        let rest = model();
        let mut second = run(rest.clone());
        let action = second
            .flow(Research)
            .resume(JournalFile::open(&path).unwrap())
            .await
            .unwrap();
        assert_eq!(action, published());
        assert_eq!(
            rest.requests().len(),
            STEPS as usize - steps,
            "completed steps are not run again"
        );
        assert_eq!(*second.state(), undisturbed().await);
    }
}

#[tokio::test]
async fn resume_starts_what_has_not_started() {
    let mut run = run(model());
    assert_eq!(
        run.flow(Research).resume(Memory::default()).await.unwrap(),
        published()
    );
    assert_eq!(*run.state(), undisturbed().await);
}

#[tokio::test]
async fn a_journal_that_has_ended_gives_its_action_and_state_again() {
    let journal = Memory::default();
    run(model())
        .flow(Research)
        .journal(journal.clone())
        .await
        .unwrap();
    let (idle, records) = (model(), journal.records.lock().unwrap().len());
    let mut again = run(idle.clone());
    assert_eq!(
        again.flow(Research).resume(journal.clone()).await.unwrap(),
        published()
    );
    assert_eq!(*again.state(), undisturbed().await);
    assert_eq!(
        (idle.requests().len(), journal.records.lock().unwrap().len()),
        (0, records)
    );
    assert_eq!(again.ledger().total().requests, STEPS);
}

#[tokio::test]
async fn a_journal_that_has_a_run_is_refused_to_another_start() {
    let journal = Memory::default();
    run(fails_after(2))
        .flow(Research)
        .journal(journal.clone())
        .await
        .unwrap_err();
    let error = run(model())
        .flow(Research)
        .journal(journal)
        .await
        .unwrap_err();
    assert_eq!(error.category(), Category::ConfigError);
    assert_eq!(
        error.message(),
        "the journal has a run of the flow `research` already, which stands at `Read` after 2 steps; use `resume` to \
         continue it, or another journal for another run"
    );
}

#[tokio::test]
async fn a_flow_that_is_given_two_journals_is_refused() {
    let (first, second) = (Memory::default(), Memory::default());
    let mut run = run(model());
    let resumed = run
        .flow(Research)
        .journal(first.clone())
        .resume(second.clone())
        .await
        .unwrap_err();
    let started = run
        .flow(Research)
        .journal(first.clone())
        .journal(second.clone())
        .await
        .unwrap_err();
    for error in [resumed, started] {
        assert_eq!(error.category(), Category::ConfigError);
        assert_eq!(
            error.message(),
            "the flow has more than one journal; leave out `.journal(..)` before `.resume(..)`, which also \
             starts a run if the journal is empty"
        );
    }
    assert!(first.records.lock().unwrap().is_empty() && second.records.lock().unwrap().is_empty());
    assert_eq!(*run.state(), World::default());
}

#[tokio::test]
async fn a_start_elsewhere_than_where_the_journal_stands_is_refused() {
    let journal = JournalFile::open(path("from")).unwrap();
    run(fails_after(2))
        .flow(Research)
        .journal(journal.clone())
        .await
        .unwrap_err();
    let from = journal.history().unwrap().position().clone();
    run(fails_after(1))
        .flow(Research)
        .resume(journal.clone())
        .await
        .unwrap_err();
    let before = journal.history().unwrap().steps();
    let error = run(model())
        .flow(Research)
        .from(from)
        .resume(journal.clone())
        .await
        .unwrap_err();
    assert_eq!(error.category(), Category::ConfigError);
    assert_eq!(
        error.message(),
        "the flow starts at `Read`, but the journal has a run that stands at `Judge`; leave out `from` to continue it, \
         or use another journal to start at `Read`"
    );
    assert_eq!(journal.history().unwrap().steps(), before);
}

#[tokio::test]
async fn a_program_that_starts_at_a_step_says_so_again_when_it_resumes() {
    let (reached, journal) = (
        Memory::default(),
        JournalFile::open(path("from-again")).unwrap(),
    );
    let watch = run(fails_after(4))
        .flow(Research)
        .journal(reached)
        .await
        .unwrap_err();
    let from = watch.position().unwrap().clone();
    run(fails_after(1))
        .flow(Research)
        .from(from.clone())
        .resume(journal.clone())
        .await
        .unwrap_err();
    let mut second = run(model());
    assert_eq!(
        second
            .flow(Research)
            .from(from)
            .resume(journal.clone())
            .await
            .unwrap(),
        published()
    );
    assert_eq!(
        u64::from(second.state().done),
        journal.history().unwrap().steps()
    );
}

#[tokio::test]
async fn a_journal_that_cannot_be_written_ends_the_flow_with_the_state_of_the_last_step() {
    // The start, and for each step the start and the end of the request, the end of the call, and the step.
    for full_at in 0..1 + 4 * STEPS as usize {
        let journal = Memory {
            full_at: Some(full_at),
            ..Memory::default()
        };
        let mut first = run(model());
        let error = first
            .flow(Research)
            .journal(journal.clone())
            .await
            .unwrap_err();
        assert_eq!(
            (error.category(), error.message()),
            (Category::Aborted, "no space left")
        );
        let executed = full_at.saturating_sub(1).div_ceil(4);
        assert!(first.state().done as usize <= executed, "{full_at}");

        let mut second = run(model());
        let emptied = Memory {
            full_at: None,
            ..journal
        };
        assert_eq!(
            second.flow(Research).resume(emptied).await.unwrap(),
            published()
        );
        assert_eq!(*second.state(), undisturbed().await);
    }
}

#[tokio::test]
async fn steps_of_all_processes_count_for_the_step_limit() {
    let journal = Memory::default();
    run(fails_after(5))
        .flow(Research)
        .journal(journal.clone())
        .await
        .unwrap_err();
    let rest = model();
    let error = run(rest.clone())
        .flow(Research)
        .max_steps(7)
        .resume(journal)
        .await
        .unwrap_err();
    assert_eq!(
        (error.category(), rest.requests().len()),
        (Category::LimitExceeded, 2)
    );
}

#[tokio::test]
async fn what_a_state_does_not_write_is_carried_over() {
    let journal = Memory::default();
    run(fails_after(2))
        .flow(Research)
        .journal(journal.clone())
        .await
        .unwrap_err();
    let mut second = Run::new(model()).with_state(World {
        handle: Some("database"),
        ..World::default()
    });
    let carry = |state: &mut World, given: World| state.handle = given.handle;
    second
        .flow(Research)
        .resume(journal)
        .carry_over(carry)
        .await
        .unwrap();
    assert_eq!(
        (second.state().handle, second.state().done),
        (Some("database"), STEPS as u32)
    );
}

#[test]
fn records_show_no_content_in_their_debug_form() {
    let json = r#"{"stepped": {"left": [], "at": ["A"], "state": {"secret": 7}}}"#;
    let record: Record = serde_json::from_str(json).unwrap();
    assert!(!format!("{record:?}").contains("secret"));
    assert_eq!(record.kind(), "stepped");
    let written: serde_json::Value = serde_json::to_value(&record).unwrap();
    assert_eq!(
        written["stepped"]["state"],
        serde_json::json!({"secret": 7})
    );
}

/// A state that is written, and cannot be read.
#[derive(Default, Serialize, Deserialize)]
struct OneWay {
    #[serde(serialize_with = "as_text")]
    figure: f64,
}

fn as_text<S: serde::Serializer>(figure: &f64, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(figure)
}

#[tokio::test]
async fn a_state_that_cannot_be_read_back_is_an_error_before_anything_runs() {
    use llmnode_flow::flow::{Outline, RunFlow};
    use llmnode_flow::private as flow;
    use llmnode_flow::private::{FlowCursor, Progress, Runnable, Runner};

    struct Nothing;
    impl flow::FlowType<OneWay> for Nothing {
        type Action = ();
        fn table() -> &'static flow::Table<OneWay, ()> {
            static TABLE: flow::OnceLock<flow::Table<OneWay, ()>> = flow::OnceLock::new();
            TABLE.get_or_init(|| flow::Table::new("nothing", None))
        }
    }
    impl Runnable<OneWay> for Nothing {
        type Action = ();
        fn advance<'f>(
            at: FlowCursor<'f, OneWay>,
            prepared: Option<Self>,
        ) -> impl Future<Output = Result<Progress<()>, NodeError>> + Send {
            flow::advance(at, prepared)
        }
        fn outline_within(around: llmnode_flow::private::OuterFlows<'_>) -> Outline {
            flow::outline::<Self, OneWay>(around)
        }
    }
    impl<'r> RunFlow<'r, OneWay> for Nothing {
        type Action = ();
        fn runner(self) -> Runner<'r, OneWay, ()> {
            flow::runner(self)
        }
    }
    let journal = Memory::default();
    let mut run = Run::new(model()).with_state(OneWay::default());
    let error = run
        .flow(Nothing)
        .journal(journal.clone())
        .await
        .unwrap_err();
    assert_eq!(error.category(), Category::ConfigError);
    assert!(
        error
            .message()
            .starts_with("the state that was just written cannot be read as `"),
        "{error}"
    );
    assert!(
        error
            .message()
            .contains("invalid type: string \"0\", expected f64"),
        "{error}"
    );
    assert!(journal.records.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_state_whose_serialization_panics_is_an_error() {
    let mut run = Run::new(model()).with_state(World {
        handle: Some("panic"),
        ..World::default()
    });
    let error = run
        .flow(Research)
        .journal(Memory::default())
        .await
        .unwrap_err();
    assert_eq!(
        (error.category(), error.message()),
        (Category::Panic, "writing the state panicked: a bug")
    );
}
