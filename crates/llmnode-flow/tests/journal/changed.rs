//! Journals of flows that have changed since.

use llmnode_flow::flow::{Outline, RunExt, RunFlow};
use llmnode_flow::private::{
    Arm, Edge, FlowCursor, FlowType, OnceLock, Progress, Runnable, Runner, Startable, Table, Target,
};
use llmnode_runtime::{Category, NodeError};

use crate::support::{
    Ask, Memory, Outcome, Research, World, fails_after, model, run, runs_by_hand,
};

/// `Research` in its next release: `Check` before `Publish`, no `Judge`.
struct Next;

impl FlowType<World> for Next {
    type Action = Outcome;

    fn table() -> &'static Table<World, Outcome> {
        static TABLE: OnceLock<Table<World, Outcome>> = OnceLock::new();
        TABLE.get_or_init(|| {
            Table::<World, Outcome>::new("research", None)
                .step::<Ask<0>>("Plan", [Edge::new("", Target::Step(1))], |_| Arm::to(0))
                .step::<Ask<1>>("Search", [Edge::new("", Target::Step(2))], |_| Arm::to(0))
                .step::<Ask<2>>("Read", [Edge::new("", Target::Step(3))], |_| Arm::to(0))
                .step::<Ask<4>>("Write", [Edge::new("", Target::Step(4))], |_| Arm::to(0))
                .step::<Ask<3>>("Check", [Edge::new("", Target::Step(5))], |_| Arm::to(0))
                .step::<Ask<5>>("Publish", [Edge::new("", Target::End)], |_| {
                    Arm::end(0, Outcome::Published("next".to_owned()))
                })
        })
    }
}

runs_by_hand!(Next, Outcome);

/// `Research` in another release: `Check` before `Search`, no `Judge`.
struct CheckFirst;

impl FlowType<World> for CheckFirst {
    type Action = Outcome;

    fn table() -> &'static Table<World, Outcome> {
        static TABLE: OnceLock<Table<World, Outcome>> = OnceLock::new();
        TABLE.get_or_init(|| {
            Table::<World, Outcome>::new("research", None)
                .step::<Ask<0>>("Plan", [Edge::new("", Target::Step(1))], |_| Arm::to(0))
                .step::<Ask<3>>("Check", [Edge::new("", Target::Step(2))], |_| Arm::to(0))
                .step::<Ask<1>>("Search", [Edge::new("", Target::Step(3))], |_| Arm::to(0))
                .step::<Ask<2>>("Read", [Edge::new("", Target::Step(4))], |_| Arm::to(0))
                .step::<Ask<4>>("Write", [Edge::new("", Target::Step(5))], |_| Arm::to(0))
                .step::<Ask<5>>("Publish", [Edge::new("", Target::End)], |_| {
                    Arm::end(0, Outcome::Published("next".to_owned()))
                })
        })
    }
}

runs_by_hand!(CheckFirst, Outcome);

#[tokio::test]
async fn a_changed_flow_is_refused_and_what_changed_is_named() {
    let journal = Memory::default();
    run(fails_after(2))
        .flow(Research)
        .journal(journal.clone())
        .await
        .unwrap_err();
    let idle = model();
    let error = run(idle.clone())
        .flow(Next)
        .resume(journal)
        .await
        .unwrap_err();
    assert_eq!(error.category(), Category::ConfigError);
    assert_eq!(
        error.message(),
        "the flow `research` has changed since the journal's run of it started (the step `Check`, the step `Judge`, the step \
         `Read`, the step `Write`); finish the run with the program that started it, start again with another journal, or \
         continue anyway with `.resume(..).allow_changes()`"
    );
    assert!(idle.requests().is_empty());
}

#[tokio::test]
async fn a_changed_flow_goes_on_where_that_is_allowed() {
    let journal = Memory::default();
    run(fails_after(2))
        .flow(Research)
        .journal(journal.clone())
        .await
        .unwrap_err();
    let mut second = run(model());
    let action = second
        .flow(Next)
        .resume(journal)
        .allow_changes()
        .await
        .unwrap();
    assert_eq!(action, Outcome::Published("next".to_owned()));
    assert_eq!(
        second.state().notes[2..],
        [
            "answer to 2 read",
            "answer to 3 write",
            "answer to 4 judge",
            "answer to 5 publish"
        ]
    );
}

#[tokio::test]
async fn a_step_that_was_added_before_the_place_of_a_run_is_left_out_of_it() {
    let journal = Memory::default();
    run(fails_after(2))
        .flow(Research)
        .journal(journal.clone())
        .await
        .unwrap_err();
    let mut second = run(model());
    second
        .flow(CheckFirst)
        .resume(journal)
        .allow_changes()
        .await
        .unwrap();
    assert_eq!(
        second.state().notes[2..],
        [
            "answer to 2 read",
            "answer to 3 write",
            "answer to 4 publish"
        ]
    );
}

#[tokio::test]
async fn a_step_that_is_gone_cannot_be_gone_on_from() {
    let journal = Memory::default();
    run(fails_after(3))
        .flow(Research)
        .journal(journal.clone())
        .await
        .unwrap_err();
    let error = run(model())
        .flow(Next)
        .resume(journal)
        .allow_changes()
        .await
        .unwrap_err();
    assert_eq!(error.category(), Category::ConfigError);
    assert!(
        error
            .message()
            .contains("the flow `research` has no step `Judge`"),
        "{error}"
    );
}
