//! `choices(..)`: values from the state, at places of the answer.

use std::collections::{BTreeMap, HashSet};

use llmnode::prelude::*;
use llmnode::stub_server::{StubReply, StubServer};
use llmnode::{Category, OpenAi, ResponseFormat};
use serde_json::{Value, json};

struct World {
    inventory: Vec<String>,
    tools: Vec<Named>,
    numbers: HashSet<u32>,
    prices: BTreeMap<String, u32>,
}

struct Named {
    name: String,
}

fn world() -> World {
    World {
        inventory: ["key", "lamp", "key"].map(str::to_owned).into(),
        tools: ["saw", "axe"]
            .map(|name| Named {
                name: name.to_owned(),
            })
            .into(),
        numbers: [3, 1].into(),
        prices: [("tea".to_owned(), 1)].into(),
    }
}

#[llm_output]
#[derive(Debug)]
struct Choice {
    /// What to use.
    item: String,
    reason: String,
}

#[llm_node(prompt = "{goal}", output = Choice, state = World, choices(item = state.inventory), retries = 1)]
struct ChooseItem {
    goal: String,
}

#[llm_output]
#[derive(Debug)]
struct Step {
    tool: Option<String>,
    room: u32,
}

#[llm_output]
#[derive(Debug)]
#[serde(rename_all = "camelCase")]
struct Plan {
    first_step: Box<Step>,
    other_steps: Option<Vec<Step>>,
    action: Action,
    drink: String,
    option: String,
}

#[llm_output]
#[derive(Debug)]
#[serde(tag = "do")]
enum Action {
    Use { item: String },
    Wait { item: String },
}

#[llm_node(
    prompt = "?",
    output = Plan,
    state = World,
    choices(
        first_step.room = state.numbers,
        other_steps[].tool = state.tools.iter().map(|tool| &tool.name),
        action.Action::Use.item = state.inventory,
        drink = state.prices.keys(),
        option = options,
    )
)]
struct MakePlan {
    options: Vec<&'static str>,
}

async fn server(replies: impl IntoIterator<Item = StubReply>) -> (StubServer, OpenAi) {
    let server = StubServer::builder().script(replies).start().await.unwrap();
    let model = OpenAi::builder()
        .base_url(server.base_url())
        .model("m")
        .build()
        .unwrap();
    (server, model)
}

fn schema(server: &StubServer, request: usize) -> Value {
    server.requests()[request].json().unwrap()["response_format"]["json_schema"]["schema"].clone()
}

#[tokio::test]
async fn the_state_s_values_stand_in_the_schema_and_are_checked() {
    let (server, model) = server([
        StubReply::json(json!({"item": "lamb", "reason": ""})),
        StubReply::json(json!({"item": "lamp", "reason": ""})),
    ])
    .await;
    let run = Run::new(model).with_state(world());
    let choice = run.call(&ChooseItem { goal: "see".into() }).await.unwrap();
    assert_eq!(choice.item, "lamp");
    assert_eq!(
        schema(&server, 0)["properties"]["item"]["enum"],
        json!(["key", "lamp"])
    );
    let body = server.requests()[1].json().unwrap().clone();
    assert_eq!(
        body["messages"][0]["content"], "see",
        "nothing is said twice"
    );
    let feedback = body["messages"][2]["content"].as_str().unwrap();
    assert!(
        feedback.contains(
            r#"- item: is "lamb", which is not one of the allowed values; did you mean "lamp"?; allowed: "key", "lamp""#
        ),
        "{feedback}"
    );
}

fn plan() -> Value {
    json!({
        "firstStep": {"tool": "any", "room": 3}, "otherSteps": [{"tool": "axe", "room": 9}, {"tool": null, "room": 9}],
        "action": {"do": "Use", "item": "key"}, "drink": "tea", "option": "a"
    })
}

#[tokio::test]
async fn paths_lead_through_fields_lists_options_boxes_and_variants() {
    let (server, model) = server([StubReply::json(plan())]).await;
    let run = Run::new(model).with_state(world());
    run.call(&MakePlan {
        options: vec!["a", "b"],
    })
    .await
    .unwrap();
    let schema = schema(&server, 0);
    let at = |pointer: &str| schema.pointer(pointer).cloned().unwrap_or_default();
    assert_eq!(
        at("/properties/firstStep/properties/room/enum"),
        json!([1, 3]),
        "{schema:#}"
    );
    assert_eq!(at("/properties/drink/enum"), json!(["tea"]));
    assert_eq!(at("/properties/option/enum"), json!(["a", "b"]));
    let steps = at("/properties/otherSteps/items/properties/tool/enum");
    assert_eq!(steps, json!(["axe", "saw", null]), "{schema:#}");
    assert_eq!(
        at("/properties/action/anyOf/0/properties/item/enum"),
        json!(["key", "lamp"])
    );
    assert_eq!(
        at("/properties/action/anyOf/1/properties/item/enum"),
        Value::Null
    );
    // A definition that other paths share stays as it was.
    assert_eq!(
        at("/properties/firstStep/properties/tool/enum"),
        Value::Null
    );
}

#[tokio::test]
async fn a_value_outside_of_its_list_is_refused_at_its_place_and_no_other_is() {
    for (pointer, value, path) in [
        ("/firstStep/room", json!(2), "firstStep.room: is \"2\""),
        (
            "/otherSteps/0/tool",
            json!("key"),
            "otherSteps[0].tool: is \"key\"",
        ),
        ("/action/item", json!("saw"), "item: is \"saw\""),
        ("/drink", json!("Tea"), "drink: is \"Tea\""),
        ("/option", json!("c"), "option: is \"c\""),
    ] {
        let mut bad = plan();
        *bad.pointer_mut(pointer).unwrap() = value;
        let run = Run::new(ScriptedModel::new().reply(bad)).with_state(world());
        let error = run
            .call(&MakePlan {
                options: vec!["a", "b"],
            })
            .await
            .unwrap_err();
        assert_eq!(error.category(), Category::ValidationError);
        assert!(error.to_string().contains(path), "{error}");
    }
    let mut other = plan();
    other["action"] = json!({"do": "Wait", "item": "anything"});
    other["firstStep"]["tool"] = json!("anything");
    let run = Run::new(ScriptedModel::new().reply(other)).with_state(world());
    run.call(&MakePlan {
        options: vec!["a", "b"],
    })
    .await
    .unwrap();
}

#[tokio::test]
async fn where_no_schema_is_sent_the_values_stand_in_the_user_s_message() {
    let (server, model) = server([StubReply::json(json!({"item": "key", "reason": ""}))]).await;
    let run = Run::new(model).with_state(world());
    run.call(&ChooseItem { goal: "see".into() })
        .response_format(ResponseFormat::Prompt)
        .await
        .unwrap();
    let body = server.requests()[0].json().unwrap().clone();
    let [system, user] =
        [0, 1].map(|at| body["messages"][at]["content"].as_str().unwrap().to_owned());
    assert!(
        system.contains("<one of the values listed below the question: What to use>"),
        "{system}"
    );
    assert!(!system.contains("lamp"), "{system}");
    assert!(
        user.starts_with("see\n\nAllowed for `item`: \"key\", \"lamp\""),
        "{user}"
    );
}

#[tokio::test]
async fn a_refusal_of_a_schema_with_lists_costs_the_lists_and_not_the_format() {
    let refusal = StubReply::error(
        400,
        "invalid_request_error",
        (),
        "Invalid schema for response_format 'Choice'",
    );
    let good = || StubReply::json(json!({"item": "key", "reason": ""}));
    let (server, model) = server([refusal, good(), good()]).await;
    let run = Run::new(model).with_state(world());
    for _ in 0..2 {
        run.call(&ChooseItem { goal: "see".into() }).await.unwrap();
    }
    for request in [1, 2] {
        assert_eq!(
            schema(&server, request)["properties"]["item"].get("enum"),
            None
        );
        let body = server.requests()[request].json().unwrap().clone();
        let user = body["messages"][0]["content"].as_str().unwrap().to_owned();
        assert!(
            user.ends_with("Allowed for `item`: \"key\", \"lamp\""),
            "{user}"
        );
    }
}

#[tokio::test]
async fn hostile_lists() {
    let hostile = [
        "a \"quote\"",
        "line\nbreak",
        "[]{}",
        "in\u{200b}visible",
        "Key",
        "key",
        "",
    ];
    let run = |list: Vec<String>, answer: &str| {
        let model = ScriptedModel::new().reply(json!({"item": answer, "reason": ""}));
        Run::new(model).with_state(World {
            inventory: list,
            ..world()
        })
    };
    for answer in hostile {
        let run = run(hostile.map(str::to_owned).into(), answer);
        assert_eq!(
            run.call(&ChooseItem { goal: "see".into() })
                .await
                .unwrap()
                .item,
            answer
        );
    }
    let run_of_many = run((0..100_000).map(|n| n.to_string()).collect(), "99999");
    assert_eq!(
        run_of_many
            .call(&ChooseItem { goal: "see".into() })
            .await
            .unwrap()
            .item,
        "99999"
    );
    let error = run(vec![], "key")
        .call(&ChooseItem { goal: "see".into() })
        .await
        .unwrap_err();
    assert_eq!(error.category(), Category::PrepError);
    assert!(
        error
            .to_string()
            .contains("choices(item = state.inventory)"),
        "{error}"
    );

    // Beyond the limits of schemas, the user's message lists the first forty.
    let (server, model) = server([StubReply::json(json!({"item": "99999", "reason": ""}))]).await;
    let many = World {
        inventory: (0..100_000).map(|n| format!("{n:05}")).collect(),
        ..world()
    };
    Run::new(model)
        .with_state(many)
        .call(&ChooseItem { goal: "see".into() })
        .await
        .unwrap();
    assert_eq!(schema(&server, 0)["properties"]["item"].get("enum"), None);
    let user = server.requests()[0].json().unwrap()["messages"][0]["content"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(
        user.ends_with("\"00038\", \"00039\", …") && user.len() < 1000,
        "{user}"
    );
}

#[tokio::test]
async fn what_does_not_fit_the_place_is_said_before_the_first_request() {
    #[llm_node(prompt = "?", output = Step, state = World, choices(room = state.inventory))]
    struct Rooms;
    let run = Run::new(ScriptedModel::new()).with_state(world());
    let error = run.call(&Rooms).await.unwrap_err();
    assert_eq!(
        (error.category(), run.ledger().total().requests),
        (Category::PrepError, 0)
    );
    assert!(
        error.to_string().contains("\"key\" is no whole number"),
        "{error}"
    );

    // An `Option` is left with `null`.
    #[llm_node(prompt = "?", output = Step, state = World, choices(tool = state.inventory))]
    struct Tools;
    let model = ScriptedModel::new().reply(json!({"tool": null, "room": 1}));
    let run = Run::new(model).with_state(World {
        inventory: vec![],
        ..world()
    });
    assert_eq!(run.call(&Tools).await.unwrap().tool, None);
}

/// Uses a tool.
#[tool(choices(tool = state.tools.iter().map(|tool| &tool.name)))]
fn apply(
    /// The tool.
    tool: String,
    world: &World,
) -> String {
    assert!(world.tools.iter().any(|one| one.name == tool));
    format!("{tool} is used")
}

#[llm_node(prompt = "?", state = World, tools = [Apply])]
struct Work;

#[tokio::test]
async fn arguments_of_tools_are_listed_and_checked() {
    let (server, model) = server([
        StubReply::call("apply", json!({"tool": "spoon"})),
        StubReply::call("apply", json!({"tool": "saw"})),
        StubReply::text("Done."),
    ])
    .await;
    let run = Run::new(model).with_state(world());
    assert_eq!(run.call(&Work).await.unwrap(), "Done.");
    let body = |at: usize| server.requests()[at].json().unwrap().clone();
    let listed = body(0)
        .pointer("/tools/0/function/parameters/properties/tool/enum")
        .cloned();
    assert_eq!(listed, Some(json!(["axe", "saw"])));
    assert_eq!(body(0)["tools"], body(2)["tools"]);
    let refused = body(1)["messages"][2]["content"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(
        refused.contains("tool: is \"spoon\", which is not one of the allowed values"),
        "{refused}"
    );
    assert_eq!(body(2)["messages"][4]["content"], "saw is used");
}

#[cfg(feature = "smart")]
#[tokio::test]
async fn smart_nodes_send_and_check_them_too() {
    #[llm_node(goal = "Choose.", output = Choice, state = World, choices(item = state.inventory), retries = 1)]
    struct Plain {
        wish: String,
    }
    #[llm_node(goal = "Choose.", think, output = Choice, state = World, choices(item = state.inventory), retries = 1)]
    struct Thinking {
        wish: String,
    }
    let answers = || {
        ["spoon", "key"]
            .map(|item| StubReply::json(json!({"reasoning": "So.", "item": item, "reason": ""})))
    };
    let (plain, model) = server(answers()).await;
    let run = Run::new(model).with_state(world());
    assert_eq!(
        run.call(&Plain { wish: "in".into() }).await.unwrap().item,
        "key"
    );
    assert_eq!(
        schema(&plain, 0)["properties"]["item"]["enum"],
        json!(["key", "lamp"])
    );

    let (thinking, model) = server(answers()).await;
    let run = Run::new(model).with_state(world());
    assert_eq!(
        run.call(&Thinking { wish: "in".into() })
            .await
            .unwrap()
            .item,
        "key"
    );
    assert!(
        schema(&thinking, 0)
            .to_string()
            .contains(r#""enum":["key","lamp"]"#)
    );
}

#[deny(warnings)]
mod strictly {
    use super::*;

    #[llm_output]
    #[derive(Debug)]
    pub(super) enum Only {
        Use { item: String },
    }

    #[llm_output]
    #[derive(Debug)]
    pub(super) struct One {
        pub(super) action: Only,
    }

    #[llm_node(prompt = "?", output = One, state = World, choices(action.Only::Use.item = state.inventory))]
    pub(super) struct ChooseOne;
}

#[tokio::test]
async fn an_enum_with_one_variant_is_no_warning() {
    let reply = |item: &str| json!({"action": {"Use": {"item": item}}}).to_string();
    let model = ScriptedModel::new().reply(reply("key")).reply(reply("axe"));
    let run = Run::new(model).with_state(world());
    let strictly::Only::Use { item } = run.call(&strictly::ChooseOne).await.unwrap().action;
    assert_eq!(item, "key");
    assert!(run.call(&strictly::ChooseOne).await.is_err());
}
