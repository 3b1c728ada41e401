//! Panics around a call, and at its edges: no call takes them for its own, and none ends the program.

use std::borrow::Cow;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::support::{Say, busy, say, script};
use llmnode_runtime::{
    BoxError, BoxFuture, Category, Clock, Cx, Exec, FnModel, Limits, Node, Reply, Run,
    ScriptedModel,
};

/// A node that panics while a call of its own is under way.
struct Careless;

impl Node for Careless {
    type Output = ();
    const NAME: &'static str = "careless";
}

impl Exec<()> for Careless {
    async fn exec(&self, cx: &Cx<'_, ()>) -> Result<(), BoxError> {
        let inner = say("a");
        let (answer, ()) = tokio::join!(cx.call(&inner), async { panic!("a bug beside the call") });
        Ok(answer.map(|_| ())?)
    }
}

#[tokio::test]
async fn a_call_dropped_by_a_panic_around_it_was_cancelled() {
    let run = Run::new(script([Reply::never(), Reply::never()]));
    let error = run.call(&Careless).await.unwrap_err();
    assert_eq!(error.category(), Category::Panic);
    let program = tokio::spawn({
        let run = run.clone();
        async move {
            let node = say("b");
            tokio::join!(run.call(&node), async { panic!("a bug of the program") })
                .0
                .is_ok()
        }
    });
    assert!(program.await.unwrap_err().is_panic());
    let calls = run.ledger().calls();
    let ended: Vec<_> = calls
        .iter()
        .map(|call| (&*call.node, call.category))
        .collect();
    let cancelled = Some(Category::Cancelled);
    assert_eq!(
        ended,
        [
            ("say", cancelled),
            ("careless", Some(Category::Panic)),
            ("say", cancelled)
        ]
    );
    for call in [&calls[0], &calls[2]] {
        assert_eq!(call.attempts[0].category, cancelled);
    }
}

/// A node that cannot say its name.
struct Nameless;

impl Node for Nameless {
    type Output = ();
    const NAME: &'static str = "nameless";

    fn name(&self) -> Cow<'static, str> {
        panic!("a bug in the name")
    }
}

impl Exec<()> for Nameless {
    async fn exec(&self, _: &Cx<'_, ()>) -> Result<(), BoxError> {
        Ok(())
    }
}

#[tokio::test]
async fn a_name_that_panics_is_the_calls_error() {
    let run = Run::new(ScriptedModel::new());
    let errors = run.map([Nameless, Nameless]).await;
    for error in errors.into_iter().map(Result::unwrap_err) {
        assert_eq!(error.category(), Category::Panic);
        assert!(error.message().contains("a bug in the name"), "{error}");
    }
}

/// A clock that panics in its first wait, and ever after, as one behind a lock does.
#[derive(Clone, Default)]
struct Broken(Arc<Mutex<()>>);

impl Clock for Broken {
    fn now(&self) -> Instant {
        drop(self.0.lock().unwrap());
        Instant::now()
    }

    fn sleep(&self, _: Duration) -> BoxFuture<'_, ()> {
        let _held = self.0.lock();
        panic!("a bug in the clock")
    }
}

#[tokio::test]
async fn a_clock_that_panics_is_the_calls_error_and_does_not_end_the_program() {
    let run = Run::new(script([busy()])).with_clock(Broken::default());
    for requests in [1, 0] {
        let error = run.call(&say("x")).await.unwrap_err();
        assert_eq!(
            (error.category(), error.attempts().len()),
            (Category::Panic, requests),
            "{error}"
        );
    }
    assert_eq!(run.ledger().of::<Say>().unwrap().usage.requests, 1);
}

#[tokio::test]
async fn a_clock_that_breaks_while_a_limited_request_panics_does_not_end_the_program() {
    let clock = Broken::default();
    let broken = clock.clone();
    let model = FnModel::new(move |_| -> Reply {
        let _held = broken.0.lock();
        panic!("a bug in the model")
    });
    let run = Run::new(model)
        .with_clock(clock)
        .with_node_limits::<Say>(Limits::new().requests(2));
    let error = run.call(&say("x")).await.unwrap_err();
    assert_eq!(
        (error.category(), error.attempts().len()),
        (Category::Panic, 1),
        "{error}"
    );
}
