//! A step whose `post` fails is not in the journal, whatever it wrote.

use llmnode_flow::flow::{Outline, RunExt, RunFlow, Step};
use llmnode_flow::private::{
    Arm, Edge, FlowCursor, FlowType, OnceLock, Progress, Runnable, Runner, Startable, Table, Target,
};
use llmnode_runtime::{BoxError, Category, Cx, Exec, Node, NodeError};

use crate::support::{Memory, World, model, run, runs_by_hand};

/// Notes its number; the second fails after that if the state has a handle.
struct Note<const NUMBER: usize>;

impl<const NUMBER: usize> Node for Note<NUMBER> {
    type Output = ();
    const NAME: &'static str = "note";
}

impl<const NUMBER: usize> Exec<World> for Note<NUMBER> {
    async fn exec(&self, _: &Cx<'_, World>) -> Result<(), BoxError> {
        Ok(())
    }
}

impl<const NUMBER: usize> Step<World> for Note<NUMBER> {
    type Output = <Self as Node>::Output;
    type Action = ();

    async fn prep(_: &World) -> Result<Self, BoxError> {
        Ok(Note)
    }

    fn post(self, (): (), state: &mut World) -> Result<(), BoxError> {
        state.notes.push(NUMBER.to_string());
        if NUMBER == 2 && state.handle.is_some() {
            return Err(NodeError::new(Category::Aborted, "no room").into());
        }
        Ok(())
    }
}

/// `flow! { Notes(World): First => Rest, (Note<1>, Note<2>, Note<3>) as Rest => end }`
struct Notes;

impl FlowType<World> for Notes {
    type Action = ();

    fn table() -> &'static Table<World, ()> {
        static TABLE: OnceLock<Table<World, ()>> = OnceLock::new();
        TABLE.get_or_init(|| {
            Table::<World, ()>::new("notes", None)
                .step::<Note<0>>("First", [Edge::new("", Target::Step(1))], |()| Arm::to(0))
                .step::<(Note<1>, Note<2>, Note<3>)>("Rest", [Edge::new("", Target::End)], |()| {
                    Arm::end(0, ())
                })
        })
    }
}

runs_by_hand!(Notes, ());

#[tokio::test]
async fn a_flow_goes_on_with_the_state_before_the_step_whose_post_failed() {
    let journal = Memory::default();
    let mut first = run(model());
    first.state_mut().handle = Some("full");
    let error = first
        .flow(Notes)
        .journal(journal.clone())
        .await
        .unwrap_err();
    assert_eq!(
        (error.category(), error.position().unwrap().to_string()),
        (Category::Aborted, "Rest".into())
    );
    assert_eq!(
        first.state().notes,
        ["0", "1", "2"],
        "in memory, what was written before it failed stays"
    );

    let mut second = run(model());
    second.flow(Notes).resume(journal).await.unwrap();
    assert_eq!(
        second.state().notes,
        ["0", "1", "2", "3"],
        "no note appears twice"
    );
}
