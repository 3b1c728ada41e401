//! Random walks through a flow, compared with a table of the same edges.

use llmnode_flow::flow::{EdgeTarget, FlowWatch, Outline, RunExt, Step, outline_of};
use llmnode_flow::private::{Arm, Target};
use llmnode_runtime::{BoxError, Cx, Exec, Node, Run, ScriptedModel};
use proptest::prelude::*;

/// What each step of the walk decides; 2 when it is used up.
struct Tape(Vec<usize>);

/// Decides what the tape says.
struct Read;

impl Node for Read {
    type Output = ();
    const NAME: &'static str = "read";
}

impl Exec<Tape> for Read {
    async fn exec(&self, _: &Cx<'_, Tape>) -> Result<(), BoxError> {
        Ok(())
    }
}

impl Step<Tape> for Read {
    type Output = <Self as Node>::Output;
    type Action = usize;

    async fn prep(_: &Tape) -> Result<Self, BoxError> {
        Ok(Read)
    }

    fn post(self, (): (), tape: &mut Tape) -> Result<usize, BoxError> {
        Ok(if tape.0.is_empty() {
            2
        } else {
            tape.0.remove(0)
        })
    }
}

/// Two steps that lead to each other; each may end it.
struct Inner;
typed_flow! { Inner over Tape => usize:
    "P" Read, [("0", Target::Step(1)), ("1", Target::Step(0)), ("2", Target::End)], |action| match action {
        0 => Arm::to(0),
        1 => Arm::to(1),
        _ => Arm::end(2, 2),
    };
    "Q" Read, [("0", Target::Step(0)), ("1", Target::End), ("2", Target::End)], |action| match action {
        0 => Arm::to(0),
        1 => Arm::end(1, 0),
        _ => Arm::end(2, 2),
    };
}

/// Steps, two of which are the flow within.
struct Outer;
typed_flow! { Outer over Tape => &'static str:
    "A" Read, [("0", Target::Step(0)), ("1", Target::Step(1)), ("2", Target::Step(2))], Arm::to;
    "B" Inner, [("0", Target::Step(0)), ("1", Target::Step(2)), ("2", Target::End)], |action| match action {
        2 => Arm::end(2, "from B"),
        action => Arm::to(action),
    };
    "C" Inner, [("0", Target::Step(1)), ("1", Target::Step(2)), ("2", Target::Step(3))], Arm::to;
    "D" Read, [("0", Target::Step(0)), ("1", Target::Step(3)), ("2", Target::End)], |action| match action {
        2 => Arm::end(2, "from D"),
        action => Arm::to(action),
    };
}

/// Where a step of the inner flow goes: to a step of it, or out of it with an action.
const INNER: [[Result<usize, usize>; 3]; 2] = [[Ok(1), Ok(0), Err(2)], [Ok(0), Err(0), Err(2)]];
/// Where a step of the outer flow goes; `None`: out.
const OUTER: [[Option<usize>; 3]; 4] = [
    [Some(0), Some(1), Some(2)],
    [Some(0), Some(2), None],
    [Some(1), Some(2), Some(3)],
    [Some(0), Some(3), None],
];

/// The path by the tables.
fn by_table(tape: &[usize]) -> Vec<String> {
    let mut tape = tape.iter().copied().chain(std::iter::repeat(2));
    let (mut at, mut path) = (Some(0), Vec::new());
    while let Some(step) = at {
        let label = ["A", "B", "C", "D"][step];
        let action = if step == 0 || step == 3 {
            path.push(label.to_owned());
            tape.next().unwrap()
        } else {
            let mut inner = Ok(0);
            while let Ok(step) = inner {
                path.push(format!("{label}/{}", ["P", "Q"][step]));
                inner = INNER[step][tape.next().unwrap()];
            }
            inner.unwrap_err()
        };
        at = OUTER[step][action];
    }
    path
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn a_flow_goes_the_way_of_its_table(tape in prop::collection::vec(0..3_usize, 0..40), broken in 0..40_usize) {
        let expected = by_table(&tape);
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let watch = FlowWatch::default();
        let mut run = Run::new(ScriptedModel::new()).with_state(Tape(tape.clone()));
        let outcome = runtime.block_on(async { run.flow(Outer).watch(&watch).await }).unwrap();
        let path: Vec<_> = watch.record().unwrap().path.iter().map(|step| step.position.to_string()).collect();
        prop_assert_eq!(&path, &expected);
        prop_assert!(["from B", "from D"].contains(&outcome));

        // Left at any step, and gone on from there, it is the same walk.
        let broken = broken.min(expected.len() - 1);
        let mut run = Run::new(ScriptedModel::new()).with_state(Tape(tape));
        let (first, second) = (FlowWatch::default(), FlowWatch::default());
        let left = runtime.block_on(async { run.flow(Outer).max_steps(broken as u64).watch(&first).await }).unwrap_err();
        let from = left.position().unwrap().clone();
        runtime.block_on(async { run.flow(Outer).from(from).watch(&second).await }).unwrap();
        let mut both = first.record().unwrap().path;
        both.extend(second.record().unwrap().path);
        let path: Vec<_> = both.iter().map(|step| step.position.to_string()).collect();
        prop_assert_eq!(path, expected);
    }
}

/// The macro states facts; here they are looked at.
#[test]
fn the_table_is_that_of_the_flow() {
    let Outline::Flow(_, steps) = outline_of::<Outer, _>() else {
        panic!("it is a flow")
    };
    for (step, edges) in steps.iter().map(|step| &step.edges).enumerate() {
        for (action, (_, to)) in edges.iter().enumerate() {
            let to = match to {
                EdgeTarget::Step(label) => steps.iter().position(|step| step.label == *label),
                _ => None,
            };
            assert_eq!(to, OUTER[step][action]);
        }
    }
}
