//! llmnode: a typed flow, its ledger on.

use llmnode::__private::{Arm, Edge, FlowType, Runner, Stop, Target, Visitor, runner};
use llmnode::flow::{RunFlow, Step};
use llmnode::{Cx, Exec, Node, NodeError, Run};

use crate::task::{Counter, Decision, turn};

/// Adds one.
struct Add {
    count: u64,
    yields: bool,
}

impl Node for Add {
    type Output = u64;
    const NAME: &'static str = "add";
}

impl Exec<Box<Counter>> for Add {
    async fn exec(&self, _: &Cx<'_, Box<Counter>>) -> Result<u64, NodeError> {
        turn(self.yields).await;
        Ok(self.count + 1)
    }
}

impl Step<Box<Counter>> for Add {
    type Action = ();

    async fn prep(state: &Box<Counter>) -> Result<Self, NodeError> {
        Ok(Add { count: state.count, yields: state.yields })
    }

    fn post(self, output: u64, state: &mut Box<Counter>) -> Result<(), NodeError> {
        state.count = output;
        Ok(())
    }
}

/// Decides whether there is more to do.
struct Decide {
    yields: bool,
}

impl Node for Decide {
    type Output = ();
    const NAME: &'static str = "decide";
}

impl Exec<Box<Counter>> for Decide {
    async fn exec(&self, _: &Cx<'_, Box<Counter>>) -> Result<(), NodeError> {
        turn(self.yields).await;
        Ok(())
    }
}

impl Step<Box<Counter>> for Decide {
    type Action = Decision;

    async fn prep(state: &Box<Counter>) -> Result<Self, NodeError> {
        Ok(Decide { yields: state.yields })
    }

    fn post(self, (): (), state: &mut Box<Counter>) -> Result<Decision, NodeError> {
        Ok(state.decide())
    }
}

/// ```text
/// flow! { Count(Box<Counter>):
///     Add => Decide,
///     Decide => match { Decision::More => Add, Decision::Enough => end },
/// }
/// ```
struct Count;

impl FlowType<Box<Counter>> for Count {
    type Action = ();
    const NAME: &'static str = "count";
    const STOPS: &'static [Stop] = &[
        Stop { label: "Add", edges: &[Edge { action: "", to: Target::Step(1) }] },
        Stop {
            label: "Decide",
            edges: &[
                Edge { action: "More", to: Target::Step(0) },
                Edge { action: "Enough", to: Target::End },
            ],
        },
    ];

    fn visit<V: Visitor<Box<Counter>, ()>>(step: usize, visitor: V) -> V::Seen {
        match step {
            0 => visitor.step::<Add>(|()| Arm::to(0)),
            1 => visitor.step::<Decide>(|decision| match decision {
                Decision::More => Arm::to(0),
                Decision::Enough => Arm::end(1, ()),
            }),
            _ => visitor.none(),
        }
    }
}

impl<'r> RunFlow<'r, Box<Counter>> for Count {
    type Action = ();

    fn runner(self) -> Runner<'r, Box<Counter>, ()> {
        runner(self)
    }
}

/// One run of the flow, beside others of the same ledger.
pub async fn run(run: Run, steps: u64, yields: bool) -> u64 {
    let mut run = run.with_state(Box::new(Counter::of(steps, yields)));
    run.flow(Count).max_steps(steps).await.unwrap();
    run.state().count
}
