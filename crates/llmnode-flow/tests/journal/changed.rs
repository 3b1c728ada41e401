//! Flows that are not what they were.

use llmnode_flow::flow::{Outline, Place, RunExt, RunFlow, Starts};
use llmnode_flow::private::{Arm, Edge, FlowType, Flowing, Progress, Runner, Stop, Target, Visitor};
use llmnode_runtime::Category;
use llmnode_runtime::{BoxFuture, NodeError};

use crate::support::{Ask, Memory, Outcome, Research, World, fails_after, model, run, runs_by_hand};

/// `Research` in its next release: `Check` before `Publish`, no `Judge`.
struct Next;

impl FlowType<World> for Next {
    type Action = Outcome;
    const NAME: &'static str = "research";
    const STOPS: &'static [Stop] = &[
        Stop { label: "Plan", edges: &[Edge { action: "", to: Target::Step(1) }] },
        Stop { label: "Search", edges: &[Edge { action: "", to: Target::Step(2) }] },
        Stop { label: "Read", edges: &[Edge { action: "", to: Target::Step(3) }] },
        Stop { label: "Write", edges: &[Edge { action: "", to: Target::Step(4) }] },
        Stop { label: "Check", edges: &[Edge { action: "", to: Target::Step(5) }] },
        Stop { label: "Publish", edges: &[Edge { action: "", to: Target::End }] },
    ];

    fn visit<V: Visitor<World, Outcome>>(step: usize, visitor: V) -> V::Seen {
        match step {
            0 => visitor.step::<Ask<0>>(|_| Arm::to(0)),
            1 => visitor.step::<Ask<1>>(|_| Arm::to(0)),
            2 => visitor.step::<Ask<2>>(|_| Arm::to(0)),
            3 => visitor.step::<Ask<4>>(|_| Arm::to(0)),
            4 => visitor.step::<Ask<3>>(|_| Arm::to(0)),
            5 => visitor.step::<Ask<5>>(|_| Arm::end(0, Outcome::Published("next".to_owned()))),
            _ => visitor.none(),
        }
    }
}

runs_by_hand!(Next, Outcome);

#[tokio::test]
async fn a_changed_flow_is_refused_and_what_changed_is_named() {
    let journal = Memory::default();
    run(fails_after(2)).flow(Research).journal(journal.clone()).await.unwrap_err();
    let idle = model();
    let error = run(idle.clone()).flow(Next).resume(journal).await.unwrap_err();
    assert_eq!(error.category(), Category::ConfigError);
    assert_eq!(
        error.message(),
        "the flow `research` has changed since the journal's run of it started: `Read` led to `Judge`, and leads to \
         `Write`; the step `Judge` is gone; `Write` led to `Publish`, and leads to `Check`; the step `Check` is new; let the \
         program that started it end it, begin anew with another journal, or go on all the same with \
         `.resume(..).allow_changes()`"
    );
    assert!(idle.requests().is_empty());
}

#[tokio::test]
async fn a_changed_flow_goes_on_where_that_is_allowed() {
    let journal = Memory::default();
    run(fails_after(2)).flow(Research).journal(journal.clone()).await.unwrap_err();
    let mut second = run(model());
    let action = second.flow(Next).resume(journal).allow_changes().await.unwrap();
    assert_eq!(action, Outcome::Published("next".to_owned()));
    assert_eq!(
        second.state().notes[2..],
        ["answer to 2 read", "answer to 3 write", "answer to 4 judge", "answer to 5 publish"]
    );
}

#[tokio::test]
async fn a_step_that_is_gone_cannot_be_gone_on_from() {
    let journal = Memory::default();
    run(fails_after(3)).flow(Research).journal(journal.clone()).await.unwrap_err();
    let error = run(model()).flow(Next).resume(journal).allow_changes().await.unwrap_err();
    assert_eq!(error.category(), Category::ConfigError);
    assert!(error.message().contains("the flow `research` has no step `Judge`"), "{error}");
}
