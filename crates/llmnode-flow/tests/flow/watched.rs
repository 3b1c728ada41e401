//! What can be observed of a flow: its record, events, spans, and where an error happened.

use std::future::IntoFuture;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use llmnode_flow::flow::{FlowEvent, FlowWatch, Position, RunExt};
use llmnode_flow::private::{Arm, Target};
use llmnode_runtime::{
    BoxError, Category, Cx, Exec, Node, NodeError, Reply, Run, ScriptedModel, TestClock, TokenUsage,
};

use crate::by_hand::{Outer, World};
use crate::recorder::Recorder;
use crate::support::say;

fn at(labels: &[&'static str]) -> Position {
    labels.iter().copied().collect()
}

/// Asks the model itself, and twice through another node; waits in between.
struct Ask;

impl Node for Ask {
    type Output = String;
    const NAME: &'static str = "ask";
}

impl Exec<Desk> for Ask {
    async fn exec(&self, cx: &Cx<'_, Desk>) -> Result<String, BoxError> {
        let first = cx.call(&say("one")).await?;
        tokio::task::yield_now().await;
        Ok(first + &cx.call(&say("two")).await?)
    }
}

#[derive(Default)]
pub(super) struct Desk {
    answers: Vec<String>,
    /// No step's post ends well.
    broken: bool,
}

impl llmnode_flow::flow::Step<Desk> for Ask {
    type Output = <Self as Node>::Output;
    type Action = bool;

    async fn prep(_: &Desk) -> Result<Self, BoxError> {
        tokio::task::yield_now().await;
        Ok(Ask)
    }

    fn post(self, output: String, desk: &mut Desk) -> Result<bool, BoxError> {
        if desk.broken {
            return Err(NodeError::new(Category::Aborted, "the desk is broken").into());
        }
        desk.answers.push(output);
        Ok(desk.answers.len() < 2)
    }
}

pub(super) struct Talk;
typed_flow! { Talk over Desk => ():
    "First" Ask, [("true", Target::Step(1)), ("false", Target::Step(1))], |again| Arm::to(usize::from(!again));
    "Second" Ask, [("true", Target::Step(0)), ("false", Target::End)],
        |again| if again { Arm::to(0) } else { Arm::end(1, ()) };
}

/// Does nothing.
struct Idle;

impl Node for Idle {
    type Output = ();
    const NAME: &'static str = "idle";
}

impl Exec<Desk> for Idle {
    async fn exec(&self, _: &Cx<'_, Desk>) -> Result<(), BoxError> {
        Ok(())
    }
}

impl llmnode_flow::flow::Step<Desk> for Idle {
    type Output = <Self as Node>::Output;
    type Action = ();

    async fn prep(_: &Desk) -> Result<Self, BoxError> {
        Ok(Idle)
    }

    fn post(self, _: (), _: &mut Desk) -> Result<(), BoxError> {
        Ok(())
    }
}

/// Never ends.
struct Ring;
typed_flow! { Ring over Desk => ():
    "One" Idle, [("", Target::Step(1))], |()| Arm::to(0);
    "Two" Idle, [("", Target::Step(0))], |()| Arm::to(0);
}

/// Three steps, the last of which ends it whatever it decides.
struct Talks;
typed_flow! { Talks over Desk => ():
    "One" Ask, [("", Target::Step(1))], |_| Arm::to(0);
    "Two" Ask, [("", Target::Step(2))], |_| Arm::to(0);
    "Three" Ask, [("", Target::End)], |_| Arm::end(0, ());
}

fn reply(tokens: u64) -> Reply {
    let mut usage = TokenUsage::default();
    usage.total = Some(tokens);
    Reply::text("x").usage(usage)
}

pub(super) fn talk() -> Run<Desk> {
    let replies = [1, 10, 100, 1000, 1, 1];
    let model = replies
        .into_iter()
        .map(reply)
        .fold(ScriptedModel::new(), ScriptedModel::reply);
    Run::new(model)
        .with_clock(TestClock::new())
        .with_state(Desk::default())
}

#[tokio::test]
async fn a_report_has_the_path_and_what_each_step_used() {
    let mut run = talk();
    let report = run.flow(Talk).report().await.unwrap();
    let record = report.record;
    assert_eq!(
        (record.taken, record.position, record.category),
        (2, None, None)
    );
    let path: Vec<_> = record
        .path
        .iter()
        .map(|s| (s.position.to_string(), &*s.node, &*s.action))
        .collect();
    assert_eq!(
        path,
        [
            ("First".to_owned(), "ask", "true"),
            ("Second".to_owned(), "ask", "false")
        ]
    );
    let used: Vec<_> = record
        .path
        .iter()
        .map(|step| (step.usage.requests, step.usage.total.known))
        .collect();
    assert_eq!(
        used,
        [(2, 11), (2, 1100)],
        "calls that a node makes belong to its step"
    );
    assert_eq!(
        record
            .steps
            .iter()
            .map(|step| step.visits)
            .collect::<Vec<_>>(),
        [1, 1]
    );
    assert_eq!(
        record
            .edges
            .iter()
            .map(|(_, action, times)| (&**action, *times))
            .collect::<Vec<_>>(),
        [("true", 1), ("false", 1)]
    );
}

#[tokio::test]
async fn a_record_stays_small_and_counts_all() {
    let mut run = Run::new(ScriptedModel::new()).with_state(Desk::default());
    let watch = FlowWatch::default();
    let _ = run
        .flow(Ring)
        .max_steps(100_000)
        .watch(&watch)
        .await
        .unwrap_err();
    let record = watch.record().unwrap();
    assert_eq!((record.taken, record.path.len()), (100_000, 256));
    assert_eq!(
        record.steps.iter().map(|step| step.visits).sum::<u64>(),
        100_000
    );
    assert_eq!(
        record.edges.iter().map(|(_, _, times)| times).sum::<u64>(),
        100_000
    );
    assert_eq!(record.category, Some(Category::LimitExceeded));
}

#[tokio::test]
async fn an_error_says_where_and_the_flow_goes_on_from_there() {
    let mut run = talk();
    run.state_mut().broken = true;
    let watch = FlowWatch::default();
    let error = run.flow(Talk).watch(&watch).await.unwrap_err();
    assert_eq!(error.position(), Some(&at(&["First"])));
    assert_eq!(
        error.to_string(),
        "First (ask): aborted: the desk is broken"
    );
    let record = watch.record().unwrap();
    assert_eq!(
        (record.category, &record.position),
        (Some(Category::Aborted), &Some(at(&["First"])))
    );
    assert_eq!(
        (record.path[0].category, record.steps[0].failures),
        (Some(Category::Aborted), 1)
    );
    assert_eq!(
        record.usage().total.known,
        11,
        "what a failed step used is known"
    );

    run.state_mut().broken = false;
    run.state_mut().answers.push("by hand".to_owned());
    run.flow(Talk)
        .from(error.position().unwrap().clone())
        .max_steps(2)
        .await
        .unwrap();
    assert_eq!(run.state().answers.len(), 3);
}

#[tokio::test]
async fn events_tell_each_step_and_the_end() {
    let mut run = talk();
    let mut told = Vec::new();
    run.flow(Talk)
        .on_step(|_| panic!("a hook's panic is harmless"))
        .on_step(|event| {
            told.push(match event {
                FlowEvent::StepBegins { position, node, .. } => {
                    format!("{position} ({node}) begins")
                }
                FlowEvent::StepEnded { step, next, .. } => {
                    format!(
                        "{} by {} to {:?}",
                        step.position,
                        step.action,
                        next.map(ToString::to_string)
                    )
                }
                FlowEvent::FlowEnded {
                    steps, category, ..
                } => format!("{steps} steps, {category:?}"),
                _ => String::new(),
            });
        })
        .await
        .unwrap();
    assert_eq!(
        told,
        [
            "First (ask) begins",
            "First by true to Some(\"Second\")",
            "Second (ask) begins",
            "Second by false to None",
            "2 steps, None",
        ]
    );
}

#[tokio::test]
async fn a_nested_flow_is_told_by_its_steps_and_its_edge() {
    let mut run = Run::new(ScriptedModel::new()).with_state(World::default());
    let record = run.flow(Outer).report().await.unwrap().record;
    let path: Vec<_> = record
        .path
        .iter()
        .map(|step| step.position.to_string())
        .collect();
    assert_eq!(path, ["Count", "Count", "Count", "Inner/Greet", "Last"]);
    let (_, action, times) = record
        .edges
        .iter()
        .find(|(from, ..)| *from == at(&["Inner"]))
        .unwrap();
    assert_eq!((&**action, *times), ("greeted", 1));
}

#[tokio::test]
async fn a_flow_is_a_future_and_goes_on_where_a_select_left_it() {
    let (mut run, watch) = (talk(), FlowWatch::default());
    let mut flow = run.flow(Talk).watch(&watch).report();
    assert!(watch.record().is_none(), "it begins when it is polled");
    let mut turns = 0;
    let report = loop {
        tokio::select! {
            biased;
            ended = &mut flow => break ended.unwrap(),
            () = tokio::task::yield_now() => turns += 1,
        }
    };
    assert!(turns > 0, "it was left under way");
    assert_eq!((report.record.taken, watch.record().unwrap().taken), (2, 2));
}

/// Polls a future that often, and drops it.
fn polled<F: Future>(times: usize, future: F) -> Option<F::Output> {
    let mut future = Box::pin(future);
    let mut cx = Context::from_waker(Waker::noop());
    for _ in 0..times {
        if let Poll::Ready(output) = Pin::as_mut(&mut future).poll(&mut cx) {
            return Some(output);
        }
    }
    None
}

#[test]
fn a_dropped_flow_leaves_no_half_step() {
    let steps = ["One", "Two", "Three"];
    for times in 0.. {
        let (mut run, watch, mut ended) = (talk(), FlowWatch::default(), 0);
        let outcome = {
            let call = run.flow(Talks).watch(&watch).on_step(|event| {
                let done =
                    matches!(event, FlowEvent::StepEnded { step, .. } if step.category.is_none());
                ended += usize::from(done);
            });
            polled(times, call.into_future())
        };
        assert_eq!(run.state().answers.len(), ended, "after {times} polls");
        if outcome.is_some() {
            assert_eq!(ended, steps.len());
            assert!(
                times > 2 * steps.len(),
                "it waits in each prep and in each exec: {times}"
            );
            break;
        }
        let Some(record) = watch.record() else {
            continue;
        };
        assert_eq!(record.category, Some(Category::Cancelled));
        assert_eq!(watch.position(), Some(at(&[steps[ended]])));

        // Resumed, it is as if it had never been dropped.
        let mut run = talk().with_state(std::mem::take(run.state_mut()));
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        runtime
            .block_on(async { run.flow(Talks).from(watch.position().unwrap()).await })
            .unwrap();
        assert_eq!(run.state().answers.len(), steps.len());
    }
}

#[tokio::test]
async fn flow_and_steps_have_spans_and_a_step_shares_that_of_its_call() {
    let (seen, _guard) = Recorder::start();
    let mut run = talk();
    run.flow(Talk).await.unwrap();
    let spans = seen.spans("llmnode::flow");
    let names: Vec<_> = spans.iter().map(|span| span.get("otel.name")).collect();
    assert_eq!(names, ["invoke_workflow Talk", "First", "Second"]);
    assert_eq!(
        [
            spans[0].get("gen_ai.operation.name"),
            spans[0].get("gen_ai.agent.name"),
            spans[0].get("gen_ai.workflow.name"),
            spans[0].get("llmnode.flow.steps")
        ],
        ["invoke_workflow", "Talk", "Talk", "2"]
    );
    assert_eq!(
        [
            spans[2].get("llmnode.step.position"),
            spans[2].get("llmnode.step.action")
        ],
        ["Second", "false"]
    );
    assert_eq!(
        seen.parent(&spans[2]).unwrap().get("otel.name"),
        "invoke_workflow Talk"
    );
    let ledger = run.ledger().snapshot();
    let outer = ledger.calls.iter().filter(|call| call.parent.is_none());
    let calls: Vec<_> = outer.map(|call| call.id.to_string()).collect();
    assert_eq!(
        [
            spans[1].get("llmnode.call.id"),
            spans[2].get("llmnode.call.id")
        ],
        [&*calls[0], &*calls[1]]
    );
    // Only the calls that the nodes make have spans of their own.
    assert!(
        seen.spans("llmnode::call")
            .iter()
            .all(|span| !span.get("llmnode.call.parent").is_empty())
    );
    assert!(seen.all_closed() && seen.entered() == 0);
}

#[tokio::test]
async fn the_span_of_a_step_that_fails_says_so() {
    let (seen, _guard) = Recorder::start();
    let mut run = talk();
    run.state_mut().broken = true;
    run.flow(Talk).await.unwrap_err();
    for span in seen.spans("llmnode::flow") {
        assert_eq!(
            (span.get("error.type"), span.get("otel.status_code")),
            ("aborted", "ERROR")
        );
    }
}

/// Begins with itself.
struct Own;
typed_flow! { Own over Desk => ():
    "Again" Own, [("", Target::End)], |()| Arm::end(0, ());
}

#[test]
fn a_flow_that_begins_with_itself_is_an_error() {
    let on_a_thread_of_tokios = || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        runtime.block_on(async {
            let mut run = Run::new(ScriptedModel::new()).with_state(Desk::default());
            let error = run.flow(Own).await.unwrap_err();
            assert_eq!(error.category(), Category::ConfigError);
            let path = "Again -> Again -> Again -> … -> Again -> Again -> Again";
            assert_eq!(
                error.message(),
                format!("flows are nested more than 100 deep: {path}")
            );
        });
    };
    std::thread::Builder::new()
        .stack_size(2 << 20)
        .spawn(on_a_thread_of_tokios)
        .unwrap()
        .join()
        .unwrap();
}
