//! Agents whose process ended halfway: nothing is done twice, and nothing is mistaken for something else.

use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use llmnode::flow::Step;
use llmnode::journal::{Journal, JournalError, JournalFile, Record};
use llmnode::prelude::*;
use llmnode::{
    Approval, BoxError, BoxFuture, Category, Cx, ModelError, Paused, Reply, ScriptedModel,
    ToolError,
};
use serde::{Deserialize, Serialize};
use serde_json::json;

fn journal(name: &str) -> PathBuf {
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!(
        "llmnode-repeated-{}-{name}.journal",
        std::process::id()
    ));
    let _ = std::fs::remove_file(&path);
    path
}

fn file(path: &PathBuf) -> JournalFile {
    JournalFile::open(path).unwrap()
}

/// What was charged, and the moment at which the process ends.
#[derive(Default)]
struct Bank {
    charged: Mutex<Vec<u32>>,
    ends: AtomicBool,
}

impl Bank {
    const fn new() -> Self {
        Bank {
            charged: Mutex::new(Vec::new()),
            ends: AtomicBool::new(false),
        }
    }

    fn charged(&self) -> Vec<u32> {
        self.charged.lock().unwrap().clone()
    }
}

#[derive(Default, Serialize, Deserialize)]
struct Shop {
    bank: usize,
    said: String,
}

static BANKS: [Bank; 6] = [const { Bank::new() }; 6];

impl Shop {
    fn bank(&self) -> &'static Bank {
        &BANKS[self.bank]
    }
}

/// Takes money.
#[tool]
fn charge(cents: u32, shop: &Shop) -> Result<String, BoxError> {
    if shop.bank().ends.load(Ordering::SeqCst) {
        return Err(ToolError::abort("the process ends").into());
    }
    shop.bank().charged.lock().unwrap().push(cents);
    Ok(format!("charged {cents}"))
}

/// Ends the process.
#[tool]
fn end(shop: &Shop) -> Result<(), BoxError> {
    if shop.bank().ends.load(Ordering::SeqCst) {
        Err(ToolError::abort("the process ends").into())
    } else {
        Ok(())
    }
}

/// Takes what is due.
#[llm_node(tool, prompt = "Take what is due.", state = Shop, tools = [Charge])]
struct Cashier {}

/// Sells.
#[llm_node(prompt = "Sell.", state = Shop, tools = [Cashier], store = said)]
struct Sell {}

flow! { Sale(Shop): Sell => end }

fn call(tool: &str) -> Reply {
    Reply::text("").call(tool, json!({}))
}

fn charges(cents: u32) -> Reply {
    Reply::text("").call("charge", json!({"cents": cents}))
}

#[tokio::test]
async fn an_agent_that_is_called_twice_with_the_same_arguments_has_its_own_answers() {
    let (path, bank) = (journal("equal"), 0);
    let shop = || Shop {
        bank,
        ..Shop::default()
    };
    let model = ScriptedModel::new()
        .reply(call("cashier"))
        .reply(charges(5))
        .reply("five")
        .reply(call("cashier"))
        .otherwise(move |_| {
            BANKS[bank].ends.store(true, Ordering::SeqCst);
            charges(7)
        });
    let error = Run::new(model)
        .with_state(shop())
        .flow(Sale)
        .resume(file(&path))
        .await
        .unwrap_err();
    assert_eq!(
        (error.category(), BANKS[bank].charged()),
        (Category::Aborted, vec![5])
    );

    BANKS[bank].ends.store(false, Ordering::SeqCst);
    let model = ScriptedModel::new().reply("seven").reply("five and seven");
    let mut run = Run::new(model.clone()).with_state(shop());
    run.flow(Sale).resume(file(&path)).await.unwrap();
    assert_eq!(BANKS[bank].charged(), [5, 7]);
    assert_eq!(
        super::library::results(&model.requests()[1]),
        ["five", "seven"]
    );
    std::fs::remove_file(path).unwrap();
}

/// Sells by two models.
#[llm_node(prompt = "Sell.", state = Shop, tools = [Charge, End], store = said, transport_retries = 0, fallback_model = "second")]
struct SellBy2 {}

flow! { SaleBy2(Shop): SellBy2 => end }

#[tokio::test]
async fn what_a_fallback_model_had_done_is_not_done_again() {
    let (path, bank) = (journal("fallback"), 1);
    let shop = || Shop {
        bank,
        ..Shop::default()
    };
    BANKS[bank].ends.store(true, Ordering::SeqCst);
    let first =
        ScriptedModel::new().reply(Reply::error(ModelError::new(Category::ServerError, "down")));
    let second = ScriptedModel::new().otherwise(move |request| {
        if request.messages.len() == 1 {
            BANKS[bank].ends.store(false, Ordering::SeqCst);
            charges(5)
        } else {
            BANKS[bank].ends.store(true, Ordering::SeqCst);
            call("end")
        }
    });
    let mut run = Run::new(first).with_state(shop()).model("second", second);
    let error = run.flow(SaleBy2).resume(file(&path)).await.unwrap_err();
    assert_eq!(
        (error.category(), BANKS[bank].charged()),
        (Category::Aborted, vec![5]),
        "{error}"
    );

    BANKS[bank].ends.store(false, Ordering::SeqCst);
    let script = || {
        ScriptedModel::new().otherwise(|request| {
            if request.messages.len() == 1 {
                charges(5)
            } else {
                Reply::text("sold")
            }
        })
    };
    let (first, second) = (script(), script());
    let mut run = Run::new(first.clone())
        .with_state(shop())
        .model("second", second.clone());
    run.flow(SaleBy2).resume(file(&path)).await.unwrap();
    assert_eq!(BANKS[bank].charged(), [5]);
    assert_eq!(
        (first.requests().len(), second.requests().len()),
        (0, 1),
        "the second model goes on"
    );
    std::fs::remove_file(path).unwrap();
}

/// Gives money back.
#[tool(require_approval)]
fn refund(cents: u32, shop: &Shop) -> String {
    shop.bank().charged.lock().unwrap().push(cents);
    format!("gave {cents} back")
}

/// Takes goods back.
#[llm_node(prompt = "Take it back.", state = Shop, tools = [Refund, End], store = said)]
struct Return {}

flow! { Returns(Shop): Return => end }

#[tokio::test]
async fn an_approval_that_is_given_again_after_a_crash_executes_nothing_again() {
    let (path, bank) = (journal("approved"), 2);
    let shop = || Shop {
        bank,
        ..Shop::default()
    };
    let model = ScriptedModel::new().reply(Reply::text("").call("refund", json!({"cents": 5})));
    let error = Run::new(model)
        .with_state(shop())
        .flow(Returns)
        .resume(file(&path))
        .await
        .unwrap_err();
    let paused: Paused = error.paused().unwrap();
    let decided = paused.decide("call_1", Approval::yes()).unwrap();

    BANKS[bank].ends.store(true, Ordering::SeqCst);
    let model = ScriptedModel::new().reply(call("end"));
    let mut run = Run::new(model).with_state(shop());
    let error = run
        .flow(Returns)
        .resume(file(&path))
        .approve(decided.clone())
        .await
        .unwrap_err();
    assert_eq!(
        (error.category(), BANKS[bank].charged()),
        (Category::Aborted, vec![5])
    );

    BANKS[bank].ends.store(false, Ordering::SeqCst);
    let model = ScriptedModel::new().reply("It is back.");
    let mut run = Run::new(model.clone()).with_state(shop());
    run.flow(Returns)
        .resume(file(&path))
        .approve(decided)
        .await
        .unwrap();
    assert_eq!(BANKS[bank].charged(), [5]);
    assert_eq!(
        super::library::results(&model.requests()[0]),
        ["gave 5 back", "done"]
    );
    std::fs::remove_file(path).unwrap();
}

/// Waits for the customer.
#[tool]
async fn wait(customer: String) -> String {
    std::future::pending::<()>().await;
    customer
}

/// Sells, or does not.
#[llm_node(prompt = "Sell.", state = Shop, tools = [Wait], store = said, deadline = 20ms, fallback = sold_out)]
struct TrySelling {}

fn sold_out(_: &TrySelling, _: &Shop, _: &NodeError) -> String {
    "sold out".to_owned()
}

flow! { TrySale(Shop): TrySelling => end }

#[tokio::test]
async fn arguments_of_a_call_without_a_result_are_erased_too() {
    let path = journal("erased");
    let waits = Reply::text("").call("wait", json!({"customer": "Emma"}));
    let mut run = Run::new(ScriptedModel::new().reply(waits)).with_state(Shop::default());
    run.flow(TrySale).resume(file(&path)).await.unwrap();
    assert_eq!(run.state().said, "sold out");
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(!text.contains("Emma"), "{text}");
    std::fs::remove_file(path).unwrap();
}

/// Takes goods back, one after the other.
#[llm_node(prompt = "Take it back.", state = Shop, tools = [Refund], post = TakeBack::count)]
struct TakeBack {}

impl TakeBack {
    fn count(self, said: String, shop: &mut Shop) {
        shop.said += &said;
    }
}

flow! { Day(Shop): TakeBack => Evening, TakeBack as Evening => end }

#[tokio::test]
async fn a_pause_of_an_earlier_step_is_refused() {
    let (path, bank) = (journal("stale"), 3);
    let shop = || Shop {
        bank,
        ..Shop::default()
    };
    let refunds = || Reply::text("").call("refund", json!({"cents": 5}));
    let model = ScriptedModel::new().reply(refunds());
    let error = Run::new(model)
        .with_state(shop())
        .flow(Day)
        .resume(file(&path))
        .await
        .unwrap_err();
    let decided = error
        .paused()
        .unwrap()
        .decide("call_1", Approval::yes())
        .unwrap();
    let model = ScriptedModel::new().reply("One. ").reply(refunds());
    let mut run = Run::new(model).with_state(shop());
    let error = run
        .flow(Day)
        .resume(file(&path))
        .approve(decided.clone())
        .await
        .unwrap_err();
    assert_eq!(
        (error.category(), BANKS[bank].charged()),
        (Category::Paused, vec![5])
    );
    let second = error
        .paused()
        .unwrap()
        .decide("call_1", Approval::yes())
        .unwrap();

    let mut run = Run::new(ScriptedModel::new().reply("Two.")).with_state(shop());
    let error = run
        .flow(Day)
        .resume(file(&path))
        .approve(decided)
        .await
        .unwrap_err();
    assert_eq!(
        (error.category(), BANKS[bank].charged()),
        (Category::ConfigError, vec![5]),
        "{error}"
    );
    run.flow(Day)
        .resume(file(&path))
        .approve(second)
        .await
        .unwrap();
    assert_eq!(
        (run.state().said.as_str(), BANKS[bank].charged()),
        ("One. Two.", vec![5, 5])
    );
    std::fs::remove_file(path).unwrap();
}

/// Takes its time as it writes down that a call begins.
struct Slow(JournalFile);

impl Journal for Slow {
    fn read<'j>(
        &'j mut self,
        each: &'j mut (dyn FnMut(Record) + Send),
    ) -> BoxFuture<'j, Result<(), JournalError>> {
        self.0.read(each)
    }

    fn append<'j>(&'j mut self, record: &'j Record) -> BoxFuture<'j, Result<(), JournalError>> {
        Box::pin(async {
            if record.kind() == "call_began" {
                tokio::time::sleep(std::time::Duration::from_millis(50)).await;
            }
            self.0.append(record).await
        })
    }
}

/// Looks around.
#[tool]
async fn look() -> &'static str {
    tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    "nothing"
}

/// Posts a letter.
#[tool(idempotent = false)]
fn post_letter() -> &'static str {
    "sent"
}

/// Works.
#[llm_node(prompt = "Work.", state = Shop, tools = [Look, PostLetter], store = said)]
struct Work {}

flow! { Working(Shop): Work => end }

#[tokio::test]
async fn a_tool_that_ends_does_not_wait_for_what_another_one_writes_down() {
    let path = journal("slow");
    let model = ScriptedModel::new()
        .reply(call("look").call("post_letter", json!({})))
        .reply("Done.");
    let mut run = Run::new(model.clone()).with_state(Shop::default());
    let working = run.flow(Working).resume(Slow(file(&path)));
    tokio::time::timeout(std::time::Duration::from_secs(10), working)
        .await
        .expect("it hangs")
        .unwrap();
    assert_eq!(
        super::library::results(&model.requests()[1]),
        ["nothing", "sent"]
    );
    std::fs::remove_file(path).unwrap();
}

/// Ids of calls.
#[derive(Default)]
struct Ids(Mutex<Vec<String>>);

/// Notes its id.
#[tool]
fn note(cx: &Cx<'_, Ids>) {
    cx.state().0.lock().unwrap().push(cx.call_id().unwrap());
}

/// Notes.
#[llm_node(prompt = "Note {what}.", state = Ids, tools = [Note])]
struct Notes {
    what: &'static str,
}

/// Notes twice, and fails the first time.
#[tool(attempts = 2, wait = 0s)]
async fn note_twice(cx: &Cx<'_, Ids>) -> Result<(), NodeError> {
    cx.call(&Notes { what: "this" }).await?;
    cx.map([Notes { what: "that" }, Notes { what: "that" }])
        .try_all()
        .await?;
    if cx.attempt().index() == 0 {
        Err(NodeError::new(Category::ExecError, "once more"))
    } else {
        Ok(())
    }
}

/// Has notes taken.
#[llm_node(prompt = "Take notes.", state = Ids, tools = [NoteTwice])]
struct Secretary {}

#[tokio::test]
async fn agents_that_one_function_calls_have_different_ids_and_the_same_ones_again() {
    let model = ScriptedModel::new().otherwise(|request| {
        match (&*request.messages[0].content, request.messages.len()) {
            ("Take notes.", 1) => call("note_twice"),
            (_, 1) => call("note"),
            _ => Reply::text("Noted."),
        }
    });
    let run = Run::new(model).with_state(Ids::default());
    run.call(&Secretary {}).await.unwrap();
    let ids = run.state().0.lock().unwrap().clone();
    assert_eq!(ids[..3], ids[3..], "{ids:?}");
    assert!(
        ids[0] != ids[1] && ids[0] != ids[2] && ids[1] != ids[2],
        "{ids:?}"
    );
}

/// Charges once.
#[tool(idempotent = false)]
fn charge_once(shop: &Shop) -> &'static str {
    shop.bank().charged.lock().unwrap().push(1);
    "charged"
}

/// Pays.
#[tool]
async fn pay(cx: &Cx<'_, Shop>) -> Result<String, NodeError> {
    Ok(cx.call(&ChargeOnce {}).await?.to_owned())
}

/// Buys.
#[llm_node(prompt = "Buy.", state = Shop, tools = [Pay, End], store = said)]
struct Buy {}

flow! { Buying(Shop): Buy => end }

#[tokio::test]
async fn what_a_function_called_is_not_in_doubt_once_the_function_has_its_result() {
    let (path, bank) = (journal("within"), 4);
    let shop = || Shop {
        bank,
        ..Shop::default()
    };
    BANKS[bank].ends.store(true, Ordering::SeqCst);
    let model = ScriptedModel::new().reply(call("pay")).reply(call("end"));
    let error = Run::new(model)
        .with_state(shop())
        .flow(Buying)
        .resume(file(&path))
        .await
        .unwrap_err();
    assert_eq!(
        (error.category(), BANKS[bank].charged()),
        (Category::Aborted, vec![1])
    );
    BANKS[bank].ends.store(false, Ordering::SeqCst);
    let mut run = Run::new(ScriptedModel::new().reply("Bought.")).with_state(shop());
    run.flow(Buying).resume(file(&path)).await.unwrap();
    assert_eq!(BANKS[bank].charged(), [1]);
    std::fs::remove_file(path).unwrap();
}

/// Settles one thing.
#[llm_node(prompt = "Settle {what}.", state = Shop, tools = [Charge, Refund])]
struct Settle {
    what: &'static str,
}

/// Settles two things.
struct SettleBoth;

#[llmnode::step]
impl Step<Shop> for SettleBoth {
    type Output = String;

    async fn prep(_: &Shop) -> Result<Self, BoxError> {
        Ok(SettleBoth)
    }

    async fn exec(&self, cx: &Cx<'_, Shop>) -> Result<String, BoxError> {
        let one = cx.call(&Settle { what: "this" }).await?;
        Ok(one + &cx.call(&Settle { what: "that" }).await?)
    }

    fn post(self, said: String, shop: &mut Shop) -> Result<(), BoxError> {
        shop.said = said;
        Ok(())
    }
}

flow! { Settling(Shop): SettleBoth => end }

#[tokio::test]
async fn of_two_agents_in_one_step_the_one_that_paused_goes_on() {
    let (path, bank) = (journal("both"), 5);
    let shop = || Shop {
        bank,
        ..Shop::default()
    };
    let refunds = Reply::text("").call("refund", json!({"cents": 2}));
    let model = ScriptedModel::new()
        .reply(charges(1))
        .reply("One. ")
        .reply(refunds);
    let error = Run::new(model)
        .with_state(shop())
        .flow(Settling)
        .resume(file(&path))
        .await
        .unwrap_err();
    let decided = error
        .paused()
        .unwrap()
        .decide("call_1", Approval::yes())
        .unwrap();
    let mut run = Run::new(ScriptedModel::new().reply("Two.")).with_state(shop());
    run.flow(Settling)
        .resume(file(&path))
        .approve(decided)
        .await
        .unwrap();
    assert_eq!(
        (run.state().said.as_str(), BANKS[bank].charged()),
        ("One. Two.", vec![1, 2])
    );
    std::fs::remove_file(path).unwrap();
}
