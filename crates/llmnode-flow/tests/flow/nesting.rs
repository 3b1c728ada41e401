//! How deeply flows and calls may nest.

use llmnode_flow::flow::{EdgeTarget, Flow, RunExt, Step};
use llmnode_runtime::{BoxError, Cx, Exec, Node, Run};

use crate::support::{say, script};

/// Calls itself so often, and a model last.
struct Deep(u32);

impl Node for Deep {
    type Output = String;
    const NAME: &'static str = "deep";
}

impl Exec<()> for Deep {
    async fn exec(&self, cx: &Cx<'_, ()>) -> Result<String, BoxError> {
        match self.0 {
            0 => Ok(cx.call(&say("x")).await?),
            left => Ok(cx.call(&Deep(left - 1)).await?),
        }
    }
}

impl Step<()> for Deep {
    type Output = <Self as Node>::Output;
    type Action = String;

    async fn prep(_: &()) -> Result<Self, BoxError> {
        Ok(Deep(98))
    }

    fn post(self, output: String, _: &mut ()) -> Result<String, BoxError> {
        Ok(output)
    }
}

/// A hundred flows in each other, the innermost of which has a step that makes a hundred calls in each other.
fn a_hundred_flows() -> Flow<()> {
    let innermost = Flow::builder("1")
        .step::<Deep>("deep")
        .on("deep", "said", EdgeTarget::End)
        .build()
        .unwrap();
    (2..=100).fold(innermost, |inner, number| {
        let flow = Flow::builder(number.to_string()).flow("inner", &inner);
        flow.on("inner", "said", EdgeTarget::End).build().unwrap()
    })
}

#[test]
fn a_hundred_calls_in_a_hundred_flows_fit_on_the_stack_of_a_worker() {
    // A worker's stack is 2 MiB by default.
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .build()
        .unwrap();
    let worker = runtime.spawn(async {
        let mut run = Run::new(script(["said"]));
        let action = run.flow(&a_hundred_flows()).await.unwrap();
        (
            action,
            run.ledger().total().requests,
            run.ledger().of::<Deep>().unwrap().visits,
        )
    });
    assert_eq!(
        runtime.block_on(worker).unwrap(),
        ("said".to_owned(), 1, 99)
    );
}
