//! All snippets of the page "Testing your nodes", so that they run.

use std::time::Duration;

use llmnode::prelude::*;
use llmnode::testing::*;

struct World {
    inventory: Vec<String>,
}

#[llm_output]
#[derive(Debug, PartialEq)]
struct Choice {
    item: String,
}

#[validate(state)]
impl Choice {
    fn item_is_available(&self, world: &World) -> Result<(), Invalid> {
        if world.inventory.contains(&self.item) {
            return Ok(());
        }
        Err(
            Invalid::at("item", format!("{:?} is not available", self.item))
                .allowed(&world.inventory),
        )
    }

    fn is_no_trap(&self, attempt: &AttemptInfo) -> Result<(), Invalid> {
        let complaint = if attempt.is_last() {
            Invalid::warn
        } else {
            Invalid::new
        };
        if self.item == "trap" {
            Err(complaint("looks like a trap"))
        } else {
            Ok(())
        }
    }
}

#[llm_node(
    prompt  = "Goal: {goal}\nItems:\n{state.inventory:list}",
    output  = Choice,
    state   = World,
    retries = 2,
    temperature = 0.0,
)]
struct ChooseItem {
    goal: String,
}

fn node() -> ChooseItem {
    ChooseItem {
        goal: "open the door".into(),
    }
}

fn world() -> World {
    World {
        inventory: vec!["key".into(), "lamp".into(), "trap".into()],
    }
}

fn choice(item: &str) -> Choice {
    Choice { item: item.into() }
}

#[test]
fn only_what_is_there_can_be_chosen() {
    assert!(choice("key").item_is_available(&world()).is_ok());
    let invalid = choice("axe").item_is_available(&world()).unwrap_err();
    assert_eq!(
        invalid.to_string(),
        r#"item: "axe" is not available; allowed: "key", "lamp", "trap""#
    );
}

#[test]
fn a_trap_is_tolerated_in_the_end() {
    let verdict = |index| {
        choice("trap")
            .is_no_trap(&AttemptInfo::new(index, 2))
            .unwrap_err()
    };
    assert!(!verdict(0).violations()[0].warning);
    assert!(verdict(2).violations()[0].warning);
}

#[test]
fn the_prompt_lists_the_inventory() {
    assert_prompt(
        &request_of(&node(), &world()),
        "
        temperature: 0
        answer: JSON of Choice
        --- user
        Goal: open the door
        Items:
        - key
        - lamp
        - trap
        ",
    );
}

#[test]
fn the_prompt_is_the_one_we_agreed_on() {
    snapshot::assert_snapshot(&request_of(&node(), &world()).transcript(), "choose_item");
}

#[test]
fn the_schema_is_the_one_we_agreed_on() {
    let schema = llmnode::OutputSchema::of::<Choice>();
    snapshot::assert_snapshot(schema.plain().get(), "choice_schema");
}

#[tokio::test]
async fn the_answer_comes_back_as_a_choice() {
    let model = ScriptedModel::new().reply(r#"{"item": "key"}"#);
    let run = Run::new(model.clone()).with_state(world());
    assert_eq!(run.call(&node()).await.unwrap(), choice("key"));
    model.assert_done(); // every reply was asked for, and every request had one
}

#[tokio::test]
async fn a_wrong_item_is_corrected() {
    let model = ScriptedModel::new()
        .reply(choice("axe"))
        .reply(choice("lamp"));
    let run = Run::new(model.clone()).with_state(world());
    assert_eq!(run.call(&node()).await.unwrap(), choice("lamp"));
    assert_prompt(
        &model.requests()[1],
        r#"
        temperature: 0
        answer: JSON of Choice
        --- user
        Goal: open the door
        Items:
        - key
        - lamp
        - trap
        --- assistant
        {"item":"axe"}
        --- user
        That answer was not accepted:
        - item: "axe" is not available; allowed: "key", "lamp", "trap"
        Answer again in full, with this corrected.
        "#,
    );
}

#[tokio::test]
async fn two_corrections_are_all_there_are() {
    let said = [
        r#"{"item": "axe"}"#,
        r#"{"item": "saw"}"#,
        r#"{"item": "axe"}"#,
    ];
    let model = said
        .into_iter()
        .fold(ScriptedModel::new(), ScriptedModel::reply);
    let run = Run::new(model.clone()).with_state(world());
    let error = run.call(&node()).await.unwrap_err();
    assert_eq!(error.category(), Category::ValidationError);
    assert_eq!(error.attempts().len(), 3);
    assert_eq!(error.attempts()[2].violations[0].path, "item");
    assert_eq!(error.last_answer(), Some(r#"{"item": "axe"}"#));
}

#[tokio::test]
async fn one_bad_goal_leaves_the_others_alone() {
    let model = FnModel::new(|request| {
        if request.messages[0].content.contains("open") {
            Reply::json(choice("key"))
        } else {
            Reply::failure(Category::Refusal)
        }
    });
    let run = Run::new(model.clone()).with_state(world());
    let nodes = ["open the door", "wreck the door"].map(|goal| ChooseItem { goal: goal.into() });
    let choices = run.map(&nodes).await;
    assert_eq!(choices[0].as_ref().unwrap(), &choice("key"));
    assert_eq!(
        choices[1].as_ref().unwrap_err().category(),
        Category::Refusal
    );
    assert_eq!(model.requests().len(), 2);
}

/// Opens a chest.
#[tool]
fn open(chest: u8) -> String {
    format!("chest {chest} is empty")
}

#[llm_node(prompt = "Find the key.", tools = [Open])]
struct Find;

#[tokio::test]
async fn the_model_reads_what_the_tool_says() {
    let call = Reply::text("").call("open", serde_json::json!({"chest": 1}));
    let model = ScriptedModel::new().reply(call).reply("No key.");
    let run = Run::new(model.clone());
    assert_eq!(run.call(&Find).await.unwrap(), "No key.");
    assert_eq!(
        model.requests()[1].messages.last().unwrap().content,
        "chest 1 is empty"
    );
    assert_eq!(
        run.call(&Open { chest: 2 }).await.unwrap(),
        "chest 2 is empty"
    ); // the tool alone
}

#[tokio::test]
async fn the_servers_wait_is_kept() {
    let busy = Reply::failure(Category::RateLimitError).retry_after(Duration::from_secs(20));
    let (model, clock) = (
        ScriptedModel::new().reply(busy).reply(choice("key")),
        TestClock::new(),
    );
    let run = Run::new(model)
        .with_clock(clock.clone())
        .with_state(world());
    let report = run.call(&node()).report().await.unwrap();
    assert_eq!(clock.waits().len(), 1);
    assert!(clock.waits()[0] >= Duration::from_secs(20));
    assert_eq!(
        report.record.attempts[0].category,
        Some(Category::RateLimitError)
    );
}

#[tokio::test]
async fn a_handler_with_a_database_gives_up_in_time() {
    let run = Run::new(ScriptedModel::new().reply(Reply::never())).with_clock(TestClock::new());
    let run = run.with_state(world());
    let error = run
        .call(&node())
        .deadline(Duration::from_secs(20))
        .await
        .unwrap_err();
    assert_eq!(error.category(), Category::Timeout);
}

#[tokio::test(start_paused = true)]
async fn a_slow_model_is_given_up() {
    let run = Run::new(ScriptedModel::new().reply(Reply::never())).with_state(world());
    let node = node();
    assert!(
        tokio::time::timeout(Duration::from_secs(30), run.call(&node))
            .await
            .is_err()
    );
    // What the request used is not known, and not zero.
    assert_eq!(run.ledger().total().total.unreported_calls, 1);
}

#[tokio::test]
async fn both_requests_are_counted() {
    let bad = TokenUsage::new(50, 7);
    let good = TokenUsage::new(90, 8);
    let model = ScriptedModel::new()
        .reply(Reply::json(choice("axe")).usage(bad))
        .reply(Reply::json(choice("key")).usage(good));
    let run = Run::new(model).with_state(world());
    let report = run.call(&node()).report().await.unwrap();
    assert_eq!(report.record.usage().total.total(), Some(155));
    assert_eq!(run.ledger().tokens_used()["choose_item"], 155);
}

/// At these prices a short greeting costs more than this.
#[llm_node(prompt = "Greet {name}.", model = "small", limits(money = 0.000_03))]
struct Greet {
    name: &'static str,
}

#[llm_node(prompt = "Greet everybody.", deadline = 30s)]
struct GreetAll;

fn prices() -> Prices {
    Prices::new().model("small", Price::per_million(2.0, 8.0))
}

#[test]
fn limits_do_not_change_what_is_asked() {
    assert_prompt(
        &request_of(&Greet { name: "Ada" }, &()),
        "model: small\n--- user\nGreet Ada.",
    );
    assert_prompt(&request_of(&GreetAll, &()), "--- user\nGreet everybody.");
}

#[tokio::test]
async fn two_greetings_are_too_dear() {
    let model = ScriptedModel::new().reply("Hello, Ada!");
    let run = Run::new(model.clone()).with_prices(prices());
    run.call(&Greet { name: "Ada" }).await.unwrap(); // it crosses the limit, and is paid for
    let error = run.call(&Greet { name: "Bob" }).await.unwrap_err();
    assert_eq!(error.category(), Category::LimitExceeded);
    model.assert_done();
}

#[tokio::test]
async fn everybody_may_be_greeted_at_a_price() {
    let model = ScriptedModel::new().named("small").reply("Hello!");
    let run = Run::new(model)
        .with_prices(prices())
        .with_limits(Limits::new().money(0.000_03));
    run.call(&GreetAll).await.unwrap();
    assert_eq!(
        run.call(&GreetAll).await.unwrap_err().category(),
        Category::LimitExceeded
    );
}

#[tokio::test(start_paused = true)]
async fn half_a_minute_is_enough() {
    let run = Run::new(ScriptedModel::new().reply(Reply::never()));
    let error = run.call(&GreetAll).await.unwrap_err();
    assert_eq!(error.category(), Category::Timeout);
}

#[tokio::test]
async fn a_busy_server_is_asked_again() {
    use llmnode::stub_server::{StubReply, StubServer};

    let busy =
        StubReply::error(429, "requests", "rate_limit_exceeded", "slow down").retry_after(20);
    let torn = StubReply::text(r#"{"item": "key"}"#).cut_short();
    let server = StubServer::builder()
        .script([busy, torn, StubReply::text(r#"{"item": "key"}"#)])
        .start()
        .await
        .unwrap();
    let model = OpenAi::builder()
        .base_url(server.base_url())
        .model("stub")
        .build()
        .unwrap();

    let clock = TestClock::new();
    let run = Run::new(model)
        .with_clock(clock.clone())
        .with_state(world());
    let report = run.call(&node()).report().await.unwrap();
    assert_eq!(report.value, choice("key"));
    let categories: Vec<_> = report
        .record
        .attempts
        .iter()
        .map(|attempt| attempt.category)
        .collect();
    assert_eq!(
        categories,
        [
            Some(Category::RateLimitError),
            Some(Category::Network),
            None
        ]
    );
    assert!(clock.waits()[0] >= Duration::from_secs(20));
    assert_eq!(server.requests()[0].json().unwrap()["temperature"], 0.0);
}

#[tokio::test]
async fn what_the_provider_refuses_is_left_out() {
    use llmnode::stub_server::{LoggedRequest, Provider, StubReply, StubServer};

    let server = StubServer::builder()
        .as_provider(Provider::OpenAi)
        .script([StubReply::text(r#"{"item": "key"}"#)])
        .start()
        .await
        .unwrap();
    let model = OpenAi::builder()
        .base_url(server.base_url())
        .model("gpt-5.6-luna")
        .build()
        .unwrap();
    let run = Run::new(model).with_state(world());
    assert_eq!(run.call(&node()).await.unwrap(), choice("key"));

    // The model thinks, and takes no temperature then: it is asked again without it.
    let requests = server.requests();
    let refused: Vec<_> = requests
        .iter()
        .filter_map(LoggedRequest::refused_by)
        .collect();
    assert_eq!(refused, ["openai.temperature-while-thinking"]);
    assert!(requests[1].json().unwrap().get("temperature").is_none());
}

#[tokio::test]
async fn no_test_asks_a_real_model() {
    forbid_requests();
    let model = OpenAi::builder()
        .base_url("http://models.invalid/v1")
        .without_key()
        .model("m")
        .build()
        .unwrap();
    let error = Run::new(model)
        .with_state(world())
        .call(&node())
        .await
        .unwrap_err();
    assert_eq!(error.category(), Category::ConfigError);
    assert!(
        error
            .message()
            .contains("forbidden in this process by `testing::forbid_requests()`")
    );
    assert!(error.attempts().is_empty()); // no request was begun
}

#[path = "../support/snapshot.rs"]
mod snapshot;

#[test]
fn every_snippet_of_the_page_is_here() {
    let (page, here) = (
        include_str!("../../docs/testing.md"),
        include_str!("testing.rs"),
    );
    let snippets: Vec<_> = page
        .split("```rust")
        .skip(1)
        .filter_map(|rest| rest.split("```").next())
        .collect();
    assert!(snippets.len() >= 10);
    for snippet in snippets {
        assert!(
            here.contains(snippet),
            "not in tests/calls/testing.rs:{snippet}"
        );
    }
}
