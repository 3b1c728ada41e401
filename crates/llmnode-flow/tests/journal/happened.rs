//! Calls that the program reports as done before a crash.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use llmnode_flow::flow::{Batch, BatchStep, Outline, RunExt, RunFlow, Step};
use llmnode_flow::journal::{Fsync, JournalFile};
use llmnode_flow::private::{
    Arm, Edge, FlowCursor, FlowType, OnceLock, Progress, Runnable, Runner, Startable, Table, Target,
};
use llmnode_runtime::{BoxError, Category, Cx, Exec, Node, NodeError, NodeFacts, Run};

use crate::support::{Ask, Memory, World, fails_after, model, path, run, runs_by_hand};

/// Charges a card, and gives the receipt. Where the state says so, nobody hears of it.
struct Charge;

impl Node for Charge {
    type Output = String;
    const NAME: &'static str = "charge";
    const FACTS: NodeFacts = NodeFacts::new().idempotent(false);
}

impl Exec<World> for Charge {
    async fn exec(&self, cx: &Cx<'_, World>) -> Result<String, BoxError> {
        if cx.state().padding == "silent" {
            std::future::pending::<()>().await;
        }
        Ok("receipt".to_owned())
    }
}

impl Step<World> for Charge {
    type Output = <Self as Node>::Output;
    type Action = ();

    async fn prep(_: &World) -> Result<Self, BoxError> {
        Ok(Charge)
    }

    fn post(self, receipt: String, state: &mut World) -> Result<(), BoxError> {
        state.notes.push(receipt);
        Ok(())
    }
}

impl BatchStep<World> for Charge {
    type Output = <Self as Node>::Output;
    type Action = ();

    async fn prep(_: &World) -> Result<Vec<Self>, BoxError> {
        Ok(vec![Charge, Charge])
    }

    fn post(_: Vec<Self>, receipts: Vec<String>, state: &mut World) -> Result<(), BoxError> {
        state.notes.extend(receipts);
        Ok(())
    }
}

/// May be executed again itself, and has a card charged.
struct Checkout;

impl Node for Checkout {
    type Output = usize;
    const NAME: &'static str = "checkout";
}

impl Exec<World> for Checkout {
    async fn exec(&self, cx: &Cx<'_, World>) -> Result<usize, BoxError> {
        Ok(cx.call(&Charge).await?.len())
    }
}

impl Step<World> for Checkout {
    type Output = <Self as Node>::Output;
    type Action = ();

    async fn prep(_: &World) -> Result<Self, BoxError> {
        Ok(Checkout)
    }

    fn post(self, length: usize, state: &mut World) -> Result<(), BoxError> {
        state.notes.push(length.to_string());
        Ok(())
    }
}

/// `flow! { Name(World): Plan => Pay, Pay => Write, Write => end }`, with this node or flow at `Pay`.
macro_rules! flow_that_pays_by {
    ($flow:ident, $name:literal, $step:ident::<$($place:ty),+>($($part:expr)?)) => {
        struct $flow;

        impl FlowType<World> for $flow {
            type Action = ();

fn table() -> &'static Table<World, ()> {
    static TABLE: OnceLock<Table<World, ()>> = OnceLock::new();
    TABLE.get_or_init(|| {
        Table::<World, ()>::new($name, None)
        .step::<Ask<0>>("Plan", [Edge::new("", Target::Step(1))], |_| Arm::to(0))
.$step::<$($place),+>("Pay", [Edge::new("", Target::Step(2))], $($part,)? |()| Arm::to(0))
.step::<Ask<4>>("Write", [Edge::new("", Target::End)], |_| Arm::end(0, ()))

    })
}
        }

        runs_by_hand!($flow, ());
    };
}

flow_that_pays_by!(Order, "order", step::<Charge>());
flow_that_pays_by!(Orders, "orders", step::<Batch<Charge>>());
flow_that_pays_by!(Beside, "beside", step::<(Charge, Charge)>());
flow_that_pays_by!(Within, "within", step::<Checkout>());
flow_that_pays_by!(Part, "part", step_in::<Charge, World>(|state| state));
flow_that_pays_by!(Nested, "nested", step::<Order>());

fn open(path: &Path) -> JournalFile {
    JournalFile::open(path).unwrap().fsync(Fsync::Never)
}

/// The journal of a flow whose process died while a card was charged.
async fn died<F: for<'r> RunFlow<'r, World, Action = ()>>(name: &str, flow: F) -> PathBuf {
    let path = path(name);
    let state = World {
        padding: "silent".to_owned(),
        ..World::default()
    };
    let mut first = Run::new(model()).with_state(state);
    let under_way = first.flow(flow).journal(open(&path));
    tokio::time::timeout(Duration::from_millis(200), under_way)
        .await
        .unwrap_err();
    assert!(
        open(&path)
            .history()
            .unwrap()
            .in_doubt()
            .unwrap()
            .attempt
            .is_none()
    );
    path
}

/// What the card's step and the one before left, and how many requests the rest took.
async fn goes_on<F, N>(
    path: &Path,
    flow: F,
    output: N::Output,
) -> Result<(Vec<String>, usize), NodeError>
where
    F: for<'r> RunFlow<'r, World, Action = ()>,
    N: Node + 'static,
{
    let rest = model();
    let mut second = run(rest.clone());
    // Executed again, the node would never come to an end.
    let resumed = second.flow(flow).resume(open(path)).happened::<N>(output);
    tokio::time::timeout(Duration::from_secs(10), resumed)
        .await
        .unwrap()?;
    assert!(open(path).history().unwrap().in_doubt().is_none());
    Ok((second.state().notes[1..].to_vec(), rest.requests().len()))
}

#[tokio::test]
async fn a_call_that_happened_is_not_repeated_and_its_output_is_what_the_step_takes() {
    let (receipt, written) = ("receipt 7".to_owned(), "answer to 1 write".to_owned());
    let path = died("happened", Order).await;
    let history = open(&path).history().unwrap();
    let call = history.in_doubt().unwrap();
    assert_eq!(
        (&*call.node, call.at.to_string()),
        ("charge", "Pay".to_owned())
    );
    let notes = goes_on::<_, Charge>(&path, Order, receipt.clone())
        .await
        .unwrap();
    assert_eq!(notes, (vec![receipt.clone(), written.clone()], 1));
    assert!(open(&path).history().unwrap().has_ended());

    // Of many calls at once, all outputs.
    let (receipts, notes) = (
        vec!["a".to_owned(), "b".to_owned()],
        ["a", "b", &*written].map(str::to_owned),
    );
    let path = died("happened-in-batch", Orders).await;
    let error = goes_on::<_, Batch<Charge>>(&path, Orders, vec!["a".to_owned()])
        .await
        .unwrap_err();
    assert_eq!(error.category(), Category::ConfigError);
    assert!(
        error
            .message()
            .contains("has 2 items, and 1 outputs were given"),
        "{error}"
    );
    assert!(
        open(&path).history().unwrap().in_doubt().is_some(),
        "the doubt stays"
    );
    assert_eq!(
        goes_on::<_, Batch<Charge>>(&path, Orders, receipts)
            .await
            .unwrap(),
        (notes.to_vec(), 1)
    );
    let path = died("happened-beside", Beside).await;
    let both = ("a".to_owned(), "b".to_owned());
    assert_eq!(
        goes_on::<_, (Charge, Charge)>(&path, Beside, both)
            .await
            .unwrap(),
        (notes.to_vec(), 1)
    );
}

#[tokio::test]
async fn a_call_within_a_flow_or_a_node_is_that_of_its_step() {
    let path = died("happened-in-flow", Nested).await;
    assert_eq!(
        open(&path)
            .history()
            .unwrap()
            .in_doubt()
            .unwrap()
            .at
            .to_string(),
        "Pay/Pay"
    );
    let (notes, requests) = goes_on::<_, Charge>(&path, Nested, "receipt 7".to_owned())
        .await
        .unwrap();
    assert_eq!(
        (notes.contains(&"receipt 7".to_owned()), requests),
        (true, 2)
    );

    let path = died("happened-on-part", Part).await;
    assert_eq!(
        goes_on::<_, Charge>(&path, Part, "receipt 7".to_owned())
            .await
            .unwrap()
            .0[0],
        "receipt 7"
    );

    let path = died("happened-in-node", Within).await;
    let error = goes_on::<_, Charge>(&path, Within, "receipt 7".to_owned())
        .await
        .unwrap_err();
    assert!(
        error
            .message()
            .contains("that of the node `checkout`: give its output"),
        "{error}"
    );
    assert_eq!(
        goes_on::<_, Checkout>(&path, Within, 9).await.unwrap().0[0],
        "9"
    );
}

#[tokio::test]
async fn another_node_is_refused_and_the_right_one_named() {
    let path = died("happened-elsewhere", Order).await;
    let error = goes_on::<_, Ask<4>>(&path, Order, "receipt 7".to_owned())
        .await
        .unwrap_err();
    assert_eq!(error.category(), Category::ConfigError);
    assert_eq!(
        error.message(),
        "`happened` has the output of the node `write`, but the step under way at `Pay` is that of the node `charge`: \
         give its output by `.resume(..).happened::<journal::happened::Charge>(output)`"
    );
    assert!(
        goes_on::<_, Charge>(&path, Order, "receipt 7".to_owned())
            .await
            .is_ok(),
        "it is still in doubt"
    );
}

#[tokio::test]
async fn where_nothing_is_in_doubt_nothing_has_happened() {
    let (between, ended) = (path("happened-between"), path("happened-ended"));
    run(fails_after(1))
        .flow(Order)
        .journal(open(&between))
        .await
        .unwrap_err();
    run(model())
        .flow(Order)
        .journal(open(&ended))
        .await
        .unwrap();
    for journal in [path("happened-never"), between, ended] {
        let error = goes_on::<_, Charge>(&journal, Order, String::new())
            .await
            .unwrap_err();
        assert_eq!(error.category(), Category::ConfigError);
        assert_eq!(
            error.message(),
            "`happened` gives the output of the node `charge`, but the journal has no call of a node with `idempotent = false` in a \
             step that was not completed; leave it out"
        );
    }
    let path = died("happened-or-not", Order).await;
    let mut second = run(model());
    let resumed = second
        .flow(Order)
        .resume(open(&path))
        .rerun()
        .happened::<Charge>(String::new());
    let error = resumed.await.unwrap_err();
    assert_eq!(
        (error.category(), error.message()),
        (
            Category::ConfigError,
            "`happened` gives the output of the node `charge`, but `rerun` executes it again; leave out one of them"
        )
    );
}

#[tokio::test]
async fn it_is_said_again_if_the_process_dies_before_the_step_is_completed() {
    let whole = Memory::default();
    run(model())
        .flow(Order)
        .journal(whole.clone())
        .await
        .unwrap();
    let records = whole.records.lock().unwrap().clone();
    let begun = records
        .iter()
        .position(|record| record.kind() == "call_began")
        .unwrap();
    // The step is not written any more: only that the run is resumed.
    let mut journal = Memory {
        records: Arc::new(records[..=begun].to_vec().into()),
        full_at: Some(begun + 2),
    };
    let happened = || "receipt 7".to_owned();
    let error = run(model())
        .flow(Order)
        .resume(journal.clone())
        .happened::<Charge>(happened())
        .await
        .unwrap_err();
    assert_eq!(
        (error.category(), error.message()),
        (Category::Aborted, "no space left")
    );
    journal.full_at = None;
    let error = run(model())
        .flow(Order)
        .resume(journal.clone())
        .await
        .unwrap_err();
    assert!(
        error
            .message()
            .starts_with("the node `charge` was called in the step at `Pay`"),
        "{error}"
    );
    let mut last = run(model());
    last.flow(Order)
        .resume(journal.clone())
        .happened::<Charge>(happened())
        .await
        .unwrap();
    assert_eq!(last.state().notes[1], "receipt 7");
    let calls = journal.records.lock().unwrap();
    assert_eq!(
        calls
            .iter()
            .filter(|record| record.kind() == "call_began")
            .count(),
        1
    );
}
