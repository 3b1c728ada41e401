//! An approval goes on after a deployment: what may have changed, what may not, and that it runs once.

use std::sync::Mutex;

use llmnode::prelude::*;
use llmnode::{ModelError, Paused};
use serde_json::json;

#[derive(Default)]
struct Shop {
    today: &'static str,
    closed: bool,
    paid: Mutex<Vec<String>>,
}

impl Shop {
    fn paid(&self) -> Vec<String> {
        self.paid.lock().unwrap().clone()
    }
}

/// Pays an amount in euros.
#[tool(require_approval)]
fn pay(amount: u32, shop: &Shop) -> String {
    shop.paid.lock().unwrap().push(format!("{amount} euros"));
    format!("{amount} paid")
}

#[validate(state)]
impl Pay {
    fn the_shop_is_open(&self, shop: &Shop) -> Result<(), Invalid> {
        if shop.closed {
            Err(Invalid::at("amount", "cannot be paid: the shop is closed"))
        } else {
            Ok(())
        }
    }
}

/// Looks at an order.
#[tool]
fn look() -> &'static str {
    "a lamp"
}

/// Ships an order.
#[tool]
fn ship() -> &'static str {
    "shipped"
}

/// Serves customers.
#[llm_node(
    system = "Be brief. Today is {state.today}.",
    prompt = "Order {order} of {tenant}.",
    state = Shop,
    tools = [Pay, Look]
)]
struct Serve {
    order: u32,
    tenant: &'static str,
    #[node(history)]
    before: Vec<Message>,
}

fn serve() -> Serve {
    Serve {
        order: 17,
        tenant: "Ada",
        before: vec![Message::user("Hi"), Message::assistant("Hello.")],
    }
}

/// The same node after a deployment.
macro_rules! deployed {
    ($name:ident, $($argument:tt)*) => {
        #[llm_node(name = "serve", state = Shop, $($argument)*)]
        struct $name {
            order: u32,
            tenant: &'static str,
            #[node(history)]
            before: Vec<Message>,
        }

        impl $name {
            fn again() -> Self {
                let Serve { order, tenant, before } = serve();
                $name { order, tenant, before }
            }
        }
    };
}

deployed!(
    Polite,
    system = "Be polite. Today is {state.today}.",
    prompt = "The order {order} of {tenant}:",
    tools = [Pay, Look]
);
deployed!(
    OneMore,
    system = "Be brief. Today is {state.today}.",
    prompt = "Order {order} of {tenant}.",
    tools = [Pay, Look, Ship]
);
deployed!(
    OneLess,
    system = "Be brief. Today is {state.today}.",
    prompt = "Order {order} of {tenant}.",
    tools = [Pay]
);
deployed!(
    Counted,
    system = "Be brief. Today is {state.today}.",
    prompt = "Order {order} of {tenant}.",
    tools = [Pay, Look],
    output = u32,
    temperature = 0.5
);
deployed!(
    WithoutPay,
    system = "Be brief. Today is {state.today}.",
    prompt = "Order {order} of {tenant}.",
    tools = [Look]
);
deployed!(
    InCents,
    system = "Be brief. Today is {state.today}.",
    prompt = "Order {order} of {tenant}.",
    tools = [cents::Pay, Look]
);
deployed!(
    WithTip,
    system = "Be brief. Today is {state.today}.",
    prompt = "Order {order} of {tenant}.",
    tools = [tip::Pay, Look]
);

mod cents {
    use super::*;

    /// Pays an amount in cents.
    #[tool(require_approval)]
    pub(super) fn pay(amount: u32, shop: &Shop) -> String {
        shop.paid.lock().unwrap().push(format!("{amount} cents"));
        format!("{amount} paid")
    }
}

mod tip {
    use super::*;

    /// Pays an amount in euros.
    #[tool(require_approval)]
    pub(super) fn pay(amount: u32, tip: Option<u32>, shop: &Shop) -> String {
        shop.paid
            .lock()
            .unwrap()
            .push(format!("{amount} euros, {tip:?}"));
        format!("{amount} paid")
    }
}

fn monday() -> Shop {
    Shop {
        today: "Monday",
        ..Shop::default()
    }
}

/// Approved on Monday: 40 euros for order 17 of Ada, stored as JSON.
async fn approved(decision: Approval) -> Paused {
    let model = ScriptedModel::new().reply(
        Reply::text("")
            .call("look", json!({}))
            .call("pay", json!({"amount": 40})),
    );
    let error = Run::new(model)
        .with_state(monday())
        .call(&serve())
        .await
        .unwrap_err();
    let paused = error.paused().unwrap();
    let stored: Paused = serde_json::from_str(&serde_json::to_string(&paused).unwrap()).unwrap();
    assert_eq!(stored.id(), paused.id());
    stored.decide("call_2", decision).unwrap()
}

/// What the shop has paid, and what the record says of changes.
async fn goes_on<N>(
    node: N,
    shop: Shop,
    model: ScriptedModel,
) -> Result<(Vec<String>, Vec<String>), NodeError>
where
    N: llmnode::Exec<Shop>,
{
    let run = Run::new(model.clone()).with_state(shop);
    let report = run
        .call(&node)
        .approve(approved(Approval::yes()).await)
        .report()
        .await;
    let paid = run.state().paid();
    let report = match report {
        Ok(report) => report,
        Err(error) => {
            assert_eq!((paid, model.requests().len()), (vec![], 0));
            return Err(error);
        }
    };
    let request = &model.requests()[0];
    assert_eq!(super::library::results(request), ["a lamp", "40 paid"]);
    Ok((paid, report.record.changed_since_pause.clone()))
}

fn done() -> ScriptedModel {
    ScriptedModel::new().reply("5")
}

#[tokio::test]
async fn what_a_deployment_changes_lets_an_approval_go_on_and_is_in_the_record() {
    let tuesday = Shop {
        today: "Tuesday",
        ..Shop::default()
    };
    for (outcome, changes) in [
        (goes_on(serve(), monday(), done()).await, vec![]),
        (
            goes_on(serve(), tuesday, done()).await,
            vec!["instructions"],
        ),
        (
            goes_on(Polite::again(), monday(), done()).await,
            vec!["instructions", "prompt"],
        ),
        (
            goes_on(OneMore::again(), monday(), done()).await,
            vec!["tool added: ship"],
        ),
        (
            goes_on(OneLess::again(), monday(), done()).await,
            vec!["tool removed: look"],
        ),
        (
            goes_on(Counted::again(), monday(), done()).await,
            vec!["output"],
        ),
        (
            goes_on(serve(), monday(), done().named("another")).await,
            vec!["model"],
        ),
    ] {
        let (paid, said) = outcome.unwrap();
        assert_eq!(
            (paid, said),
            (
                vec!["40 euros".to_owned()],
                changes.into_iter().map(str::to_owned).collect()
            )
        );
    }
}

#[tokio::test]
async fn the_prompt_is_the_nodes_as_it_is_now() {
    let model = done();
    goes_on(Polite::again(), monday(), model.clone())
        .await
        .unwrap();
    let said: Vec<_> = model.requests()[0]
        .messages
        .iter()
        .map(|one| one.content.clone())
        .collect();
    let now = [
        "Be polite. Today is Monday.",
        "Hi",
        "Hello.",
        "The order 17 of Ada:",
        "",
        "a lamp",
        "40 paid",
    ];
    assert_eq!(said, now);
}

#[tokio::test]
async fn an_approval_is_for_one_node_one_value_and_one_tool() {
    let other = |order, tenant, before| Serve {
        order,
        tenant,
        before,
    };
    let before = || serve().before;
    let refused = [
        (
            goes_on(other(18, "Ada", before()), monday(), done()).await,
            "the fields of `serve` changed since the pause",
        ),
        (
            goes_on(other(17, "Bob", before()), monday(), done()).await,
            "the fields of `serve` changed since the pause",
        ),
        (
            goes_on(other(17, "Ada", vec![]), monday(), done()).await,
            "the history of `serve` changed since the pause",
        ),
        (
            goes_on(InCents::again(), monday(), done()).await,
            "`pay` of the approved call \"call_2\" has another description",
        ),
        (
            goes_on(WithTip::again(), monday(), done()).await,
            "`pay` of the approved call \"call_2\" has another description",
        ),
        (
            goes_on(WithoutPay::again(), monday(), done()).await,
            "`pay` of the approved call \"call_2\" is gone",
        ),
    ];
    for (outcome, why) in refused {
        let error = outcome.unwrap_err();
        assert_eq!(error.category(), Category::ConfigError);
        assert!(error.message().contains(why), "{error}");
    }
    // Whoever knows better says so; a value is never another.
    let run = Run::new(done()).with_state(monday());
    let cents = InCents::again();
    let call = run
        .call(&cents)
        .approve(approved(Approval::yes()).await)
        .allow_changed_tool();
    let record = call.report().await.unwrap().record;
    assert_eq!(
        (run.state().paid(), &record.changed_since_pause[..]),
        (
            vec!["40 cents".into()],
            &["tool changed: pay".to_owned()][..]
        )
    );
    let bob = other(17, "Bob", before());
    let error = run
        .call(&bob)
        .approve(approved(Approval::yes()).await)
        .allow_changed_tool()
        .await
        .unwrap_err();
    assert!(
        error.message().contains("the fields of `serve` changed"),
        "{error}"
    );
    // A tool that does not run may be another.
    let run = Run::new(done()).with_state(monday());
    run.call(&InCents::again())
        .approve(approved(Approval::no("too dear")).await)
        .await
        .unwrap();
    assert_eq!(run.state().paid(), Vec::<String>::new());
}

#[tokio::test]
async fn arguments_are_those_of_the_person_and_are_checked_now() {
    let run = Run::new(done()).with_state(monday());
    let edited = approved(Approval::edit(json!({"amount": 30}))).await;
    run.call(&Polite::again()).approve(edited).await.unwrap();
    assert_eq!(run.state().paid(), ["30 euros"]);
    let closed = Shop {
        closed: true,
        ..monday()
    };
    let model = done();
    let run = Run::new(model.clone()).with_state(closed);
    run.call(&serve())
        .approve(approved(Approval::yes()).await)
        .await
        .unwrap();
    assert_eq!(run.state().paid(), Vec::<String>::new());
    assert!(super::library::results(&model.requests()[0])[1].contains("the shop is closed"));
}

#[tokio::test]
async fn what_is_approved_runs_once() {
    let decided = approved(Approval::yes()).await;
    let overloaded = || Reply::error(ModelError::new(Category::ServerError, "overloaded"));
    let run =
        Run::new(ScriptedModel::new().reply(overloaded()).reply("Paid.")).with_state(monday());
    // Refused before the tool begins: nothing has happened, and the approval is free again.
    let refused = run
        .call(&InCents::again())
        .approve(decided.clone())
        .await
        .unwrap_err();
    assert_eq!(refused.category(), Category::ConfigError);
    let error = run
        .call(&serve())
        .transport_retries(0)
        .approve(decided.clone())
        .await
        .unwrap_err();
    assert_eq!(
        (error.category(), run.state().paid()),
        (Category::ServerError, vec!["40 euros".into()])
    );
    // It has failed after the tool, and must not run again: not here, and not on another run.
    for run in [&run, &Run::new(ScriptedModel::new()).with_state(monday())] {
        let again = run
            .call(&serve())
            .approve(decided.clone())
            .await
            .unwrap_err();
        assert_eq!(again.category(), Category::ConfigError);
        assert!(again.message().contains("is already approved"), "{again}");
    }
    // Its results are in the error.
    let report = run
        .call(&serve())
        .resume(error.unfinished().unwrap())
        .report()
        .await
        .unwrap();
    assert_eq!(
        (report.value.as_str(), run.state().paid()),
        ("Paid.", vec!["40 euros".into()])
    );
}

/// As version 2 stored it.
fn of_version_2(paused: &Paused) -> Paused {
    let mut stored = serde_json::to_value(paused).unwrap();
    let members = stored.as_object_mut().unwrap();
    assert!(members.remove("shown").is_some() && members.remove("prompt").is_some());
    members.insert("version".into(), json!(2));
    serde_json::from_value(stored).unwrap()
}

#[tokio::test]
async fn a_pause_of_an_older_version_is_checked_as_before() {
    let older = of_version_2(&approved(Approval::yes()).await);
    let run = Run::new(done()).with_state(monday());
    let error = run
        .call(&Polite::again())
        .approve(older.clone())
        .await
        .unwrap_err();
    assert!(
        error
            .message()
            .contains("the prompt, the tools or the output of `serve` changed"),
        "{error}"
    );
    let record = run
        .call(&serve())
        .approve(older)
        .report()
        .await
        .unwrap()
        .record;
    assert_eq!(
        (run.state().paid(), record.changed_since_pause.len()),
        (vec!["40 euros".into()], 0)
    );
}

#[tokio::test]
async fn two_that_approve_at_once_pay_once() {
    let decided = approved(Approval::yes()).await;
    let run = Run::new(ScriptedModel::new().reply("Paid.").reply("Paid.")).with_state(monday());
    let call = || async { run.call(&serve()).approve(decided.clone()).await };
    let (one, two) = tokio::join!(call(), call());
    assert_ne!(one.is_ok(), two.is_ok());
    assert_eq!(run.state().paid(), ["40 euros"]);
}
