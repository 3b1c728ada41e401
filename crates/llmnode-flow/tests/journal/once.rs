//! Nodes that must not be executed again.

use std::sync::Arc;

use llmnode_flow::flow::{Outline, RunExt, RunFlow, Step};
use llmnode_flow::private::{
    Arm, Edge, FlowCursor, FlowType, OnceLock, Progress, Runnable, Runner, Startable, Table, Target,
};
use llmnode_runtime::{BoxError, Category, Cx, Exec, Node, NodeError, NodeFacts, Run};

use crate::support::{Ask, Memory, World, fails_after, model, run, runs_by_hand};

/// Sends a mail, which nobody wants twice.
struct Send;

impl Node for Send {
    type Output = ();
    const NAME: &'static str = "send_mail";
    // As `idempotent = false` of `#[llm_node]` states it; by hand, `FACTS` itself does.
    const FACTS: NodeFacts = NodeFacts::new().idempotent(false);
}

impl Exec<World> for Send {
    async fn exec(&self, _: &Cx<'_, World>) -> Result<(), BoxError> {
        Ok(())
    }
}

impl Step<World> for Send {
    type Output = <Self as Node>::Output;
    type Action = ();

    async fn prep(_: &World) -> Result<Self, BoxError> {
        Ok(Send)
    }

    fn post(self, (): (), state: &mut World) -> Result<(), BoxError> {
        state.notes.push("sent".to_owned());
        Ok(())
    }
}

/// `flow! { Mail(World): Plan => Send, Send => Write, Write => end }`
struct Mail;

impl FlowType<World> for Mail {
    type Action = ();

    fn table() -> &'static Table<World, ()> {
        static TABLE: OnceLock<Table<World, ()>> = OnceLock::new();
        TABLE.get_or_init(|| {
            Table::<World, ()>::new("mail", None)
                .step::<Ask<0>>("Plan", [Edge::new("", Target::Step(1))], |_| Arm::to(0))
                .step::<Send>("Send", [Edge::new("", Target::Step(2))], |()| Arm::to(0))
                .step::<Ask<4>>("Write", [Edge::new("", Target::End)], |_| Arm::end(0, ()))
        })
    }
}

runs_by_hand!(Mail, ());

/// How many mails were sent, or about to be, over all processes.
fn sent(journal: &Memory) -> usize {
    journal
        .records
        .lock()
        .unwrap()
        .iter()
        .filter(|record| record.kind() == "call_began")
        .count()
}

#[tokio::test]
async fn a_step_that_may_have_taken_effect_is_refused_until_told_otherwise() {
    let whole = Memory::default();
    run(model())
        .flow(Mail)
        .journal(whole.clone())
        .await
        .unwrap();
    assert_eq!(sent(&whole), 1);
    let records = whole.records.lock().unwrap().clone();
    let begun = records
        .iter()
        .position(|record| record.kind() == "call_began")
        .unwrap();
    // Killed right after the call began, and after it ended but before the step was completed.
    for killed in [begun + 1, begun + 2] {
        let journal = Memory {
            records: Arc::new(records[..killed].to_vec().into()),
            full_at: None,
        };
        let error = run(model())
            .flow(Mail)
            .resume(journal.clone())
            .await
            .unwrap_err();
        assert_eq!(error.category(), Category::ConfigError);
        assert_eq!(
            error.message(),
            "the node `send_mail` was called in the step at `Send`, which was not completed; it has `idempotent = false`, so \
             it is not executed again. Check whether it took effect: if it did, continue with its output, \
             `.resume(..).happened::<Node>(output)`; if not, execute it again, `.resume(..).rerun()`"
        );
        assert_eq!(sent(&journal), 1, "it was not executed again");
        run(model())
            .flow(Mail)
            .resume(journal.clone())
            .rerun()
            .await
            .unwrap();
        assert_eq!(sent(&journal), 2);
    }
}

#[tokio::test]
async fn a_step_that_was_completed_or_not_begun_is_no_obstacle() {
    let whole = Memory::default();
    run(model())
        .flow(Mail)
        .journal(whole.clone())
        .await
        .unwrap();
    let records = whole.records.lock().unwrap().clone();
    let begun = records
        .iter()
        .position(|record| record.kind() == "call_began")
        .unwrap();
    for killed in [begun, begun + 3] {
        let journal = Memory {
            records: Arc::new(records[..killed].to_vec().into()),
            full_at: None,
        };
        run(model()).flow(Mail).resume(journal).await.unwrap();
    }
    // Told once, it holds: the next process is refused only by a call that began since.
    let journal = Memory {
        records: Arc::new(records[..=begun].to_vec().into()),
        full_at: None,
    };
    let mut second = Run::new(fails_after(0)).with_state(World::default());
    second
        .flow(Mail)
        .resume(journal.clone())
        .rerun()
        .await
        .unwrap_err();
    run(model()).flow(Mail).resume(journal).await.unwrap();
}
