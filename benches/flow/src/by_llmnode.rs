//! llmnode: a typed flow, its ledger on; the same flow built at run time, and with a journal.

use std::sync::atomic::{AtomicUsize, Ordering};

use llmnode::flow::{EdgeTarget, Flow, RunExt, Step};
use llmnode::journal::{Fsync, JournalFile};
use llmnode::prelude::flow;
use llmnode::{BoxError, Cx, Exec, Node, Run};

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
    async fn exec(&self, _: &Cx<'_, Box<Counter>>) -> Result<u64, BoxError> {
        turn(self.yields).await;
        Ok(self.count + 1)
    }
}

impl Step<Box<Counter>> for Add {
    type Output = <Self as Node>::Output;
    type Action = ();

    async fn prep(state: &Box<Counter>) -> Result<Self, BoxError> {
        Ok(Add {
            count: state.count,
            yields: state.yields,
        })
    }

    fn post(self, output: u64, state: &mut Box<Counter>) -> Result<(), BoxError> {
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
    async fn exec(&self, _: &Cx<'_, Box<Counter>>) -> Result<(), BoxError> {
        turn(self.yields).await;
        Ok(())
    }
}

impl Step<Box<Counter>> for Decide {
    type Output = <Self as Node>::Output;
    type Action = Decision;

    async fn prep(state: &Box<Counter>) -> Result<Self, BoxError> {
        Ok(Decide {
            yields: state.yields,
        })
    }

    fn post(self, (): (), state: &mut Box<Counter>) -> Result<Decision, BoxError> {
        Ok(state.decide())
    }
}

flow! { pub Count(Box<Counter>):
    Add => Decide,
    Decide => match { Decision::More => Add, Decision::Enough => end },
}

/// The same, as if its steps and edges were known only at run time.
pub fn built() -> Flow<Box<Counter>> {
    let flow = Flow::builder("count")
        .step::<Add>("add")
        .then("add", "decide")
        .step::<Decide>("decide");
    flow.on("decide", "More", "add")
        .on("decide", "Enough", EdgeTarget::End)
        .build()
        .unwrap()
}

fn begin(run: &Run, steps: u64, yields: bool) -> Run<Box<Counter>> {
    run.with_state(Box::new(Counter::of(steps, yields)))
}

/// One run of the flow, beside others of the same ledger.
pub async fn run(run: Run, steps: u64, yields: bool) -> u64 {
    let mut run = begin(&run, steps, yields);
    run.flow(Count).max_steps(steps).await.unwrap();
    run.state().count
}

pub async fn run_built(run: Run, flow: Flow<Box<Counter>>, steps: u64, yields: bool) -> u64 {
    let mut run = begin(&run, steps, yields);
    run.flow(&flow).max_steps(steps).await.unwrap();
    run.state().count
}

/// With a journal, in a file of its own.
pub async fn run_journalled(run: Run, fsync: Fsync, steps: u64, yields: bool) -> u64 {
    static FILES: AtomicUsize = AtomicUsize::new(0);
    let number = FILES.fetch_add(1, Ordering::Relaxed);
    let file = std::env::temp_dir().join(format!(
        "flow-bench-{}-{number}.journal",
        std::process::id()
    ));
    let mut run = begin(&run, steps, yields);
    let journal = JournalFile::open(&file).unwrap().fsync(fsync);
    run.flow(Count)
        .max_steps(steps)
        .journal(journal)
        .await
        .unwrap();
    std::fs::remove_file(file).unwrap();
    run.state().count
}
