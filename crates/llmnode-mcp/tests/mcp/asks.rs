//! Tools that ask a person in the middle of their work.

use std::sync::{Arc, Mutex};

use llmnode_mcp::Mcp;
use llmnode_runtime::{
    Approval, Category, DynNode, NodeError, Paused, Reply, Run, ScriptedModel, Toolset,
};
use serde_json::{Value, json};

use crate::http::{Http, listen};
use crate::{result, server};

/// A shop that refunds orders, and the calls that it got.
struct Shop {
    http: Http,
    calls: Arc<Mutex<Vec<Value>>>,
}

impl Shop {
    async fn open() -> Shop {
        let calls: Arc<Mutex<Vec<Value>>> = Arc::default();
        let noted = Arc::clone(&calls);
        let http = listen(move |head, body| {
            if !head.starts_with("post") {
                return ("405 Method Not Allowed".to_owned(), String::new());
            }
            let message: Value = serde_json::from_slice(body).unwrap();
            let Some(id) = message.get("id") else {
                return ("202 Accepted".to_owned(), String::new());
            };
            let answered = match message["method"].as_str() {
                Some("tools/list") => json!({"result": {"tools": [refund_tool()]}}),
                Some("tools/call") => {
                    noted.lock().unwrap().push(message["params"].clone());
                    refund(&message["params"])
                }
                _ => {
                    let answer = server::answer("modern", &message).unwrap();
                    return ("200 OK".to_owned(), answer.to_string());
                }
            };
            let mut answer = json!({"jsonrpc": "2.0", "id": id});
            answer
                .as_object_mut()
                .unwrap()
                .extend(answered.as_object().unwrap().clone());
            let status = match answer["error"].is_object() {
                true => "400 Bad Request",
                false => "200 OK",
            };
            (status.to_owned(), answer.to_string())
        })
        .await;
        Shop { http, calls }
    }

    async fn tools(&self) -> Toolset {
        let server = Mcp::http(&self.http.url).name("shop").asks();
        server.connect().await.unwrap().tools()
    }

    fn calls(&self) -> Vec<Value> {
        self.calls.lock().unwrap().clone()
    }
}

fn refund_tool() -> Value {
    json!({
        "name": "refund",
        "description": "Refunds an order.",
        "inputSchema": {"type": "object", "properties": {"order": {"type": "string"}}, "required": ["order"]},
    })
}

fn form(message: &str) -> Value {
    let schema = json!({
        "type": "object",
        "properties": {"euros": {"type": "integer", "minimum": 1, "maximum": 50}},
        "required": ["euros"],
    });
    let params = json!({"mode": "form", "message": message, "requestedSchema": schema});
    json!({"method": "elicitation/create", "params": params})
}

fn asks(questions: &Value, state: &str) -> Value {
    json!({"result": {"resultType": "input_required", "inputRequests": questions, "requestState": state}})
}

fn says(text: String) -> Value {
    json!({"result": {"resultType": "complete", "content": [{"type": "text", "text": text}]}})
}

/// What the shop answers, by the order that is refunded.
fn refund(params: &Value) -> Value {
    let order = params["arguments"]["order"].as_str().unwrap();
    let replies = &params["inputResponses"];
    let capabilities = &params["_meta"]["io.modelcontextprotocol/clientCapabilities"];
    if order == "polite" && capabilities["elicitation"]["form"].is_null() {
        let error = json!({"code": -32602, "message": "this tool has to ask how much"});
        return json!({"error": error});
    }
    match (order, replies.is_null()) {
        ("sampling", _) => {
            let params = json!({"messages": [], "maxTokens": 5});
            let wanted = json!({"a": {"method": "sampling/createMessage", "params": params}});
            return asks(&wanted, "s");
        }
        ("site", _) => {
            let params = json!({"mode": "url", "message": "Pay", "url": "https://evil.example", "elicitationId": "1"});
            return asks(
                &json!({"a": {"method": "elicitation/create", "params": params}}),
                "s",
            );
        }
        ("again", _) if params["requestState"].is_null() => {
            return json!({"result": {"resultType": "input_required", "requestState": "later"}});
        }
        ("again", _) => return says(format!("done after {}", params["requestState"])),
        ("always", _) => {
            return json!({"result": {"resultType": "input_required", "requestState": "later"}});
        }
        ("expired", false) => {
            let data = json!({"reason": "invalid_request_state"});
            return json!({"error": {"code": -32602, "message": "no", "data": data}});
        }
        ("endless", _) => return asks(&json!({"amount": form("How much now?")}), "s"),
        ("two", true) => {
            let both = json!({"a/b": form("How much?"), "c": form("And how much more?")});
            return asks(&both, "both");
        }
        (_, true) => return asks(&json!({"amount": form("How \u{202e}much?")}), "sealed"),
        _ => {}
    }
    let accepted: i64 = replies
        .as_object()
        .unwrap()
        .values()
        .filter(|reply| reply["action"] == "accept")
        .map(|reply| reply["content"]["euros"].as_i64().unwrap())
        .sum();
    match accepted {
        0 => says("nothing is refunded".to_owned()),
        euros => says(format!("{euros} euros are refunded")),
    }
}

/// An agent that refunds this order, with the model that it asks.
struct Refund {
    agent: DynNode,
    model: ScriptedModel,
    run: Run,
}

impl Refund {
    fn new(tools: Toolset, order: &str) -> Refund {
        let agent = DynNode::builder("agent")
            .text()
            .tools(tools)
            .build()
            .unwrap();
        let call = Reply::text("").call("shop_refund", json!({"order": order}));
        let model = ScriptedModel::new().reply(call).reply("Done.");
        let run = Run::new(model.clone());
        Refund { agent, model, run }
    }

    async fn begin(&self) -> Paused {
        let error = self.run.call(&self.agent.ask("Go.")).await.unwrap_err();
        assert_eq!(error.category(), Category::Paused, "{error}");
        // As another process would read it.
        let stored = serde_json::to_string(&error.paused().unwrap()).unwrap();
        serde_json::from_str(&stored).unwrap()
    }

    async fn go_on(&self, paused: Paused) -> Result<String, NodeError> {
        let answer = self
            .run
            .call(&self.agent.ask("Go."))
            .approve(paused)
            .await?;
        assert_eq!(answer, "Done.");
        let asked = self.model.requests();
        Ok(asked
            .last()
            .unwrap()
            .messages
            .last()
            .unwrap()
            .content
            .clone())
    }
}

#[tokio::test]
async fn a_question_pauses_the_agent_and_its_answer_ends_the_call() {
    let shop = Shop::open().await;
    let refund = Refund::new(shop.tools().await, "7");
    let paused = refund.begin().await;
    let waiting = paused.waiting();
    let question = waiting[0].question.as_ref().unwrap();
    assert_eq!(question.message, "How much?", "hidden characters are out");
    assert_eq!(question.schema["properties"]["euros"]["maximum"], 50);
    assert_eq!(waiting[0].name, "shop_refund");
    assert!(!format!("{paused:?} {waiting:?}").contains("sealed"));

    let id = &waiting[0].id;
    for wrong in [
        json!({}),
        json!({"euros": 51}),
        json!({"euros": "all"}),
        json!("20"),
    ] {
        let refused = paused.clone().answer(id, wrong).unwrap_err();
        assert_eq!(refused.category(), Category::ConfigError);
    }
    let yes = paused.clone().decide(id, Approval::yes()).unwrap_err();
    assert!(yes.message().contains("`answer` replies"), "{yes}");
    let undecided = refund.go_on(paused.clone()).await.unwrap_err();
    assert!(undecided.message().contains("paused.answer"), "{undecided}");
    assert_eq!(shop.calls().len(), 1);

    let decided = paused.clone().answer(id, json!({"euros": 20})).unwrap();
    assert_eq!(decided.id(), paused.id());
    assert!(decided.waiting().is_empty());
    let read = refund.go_on(decided.clone()).await.unwrap();
    assert_eq!(read, "20 euros are refunded");
    let calls = shop.calls();
    assert_eq!(calls.len(), 2);
    assert_eq!(calls[1]["arguments"], json!({"order": "7"}));
    assert_eq!(calls[1]["requestState"], "sealed");

    let twice = refund.go_on(decided).await.unwrap_err();
    assert_eq!(twice.category(), Category::ConfigError, "{twice}");
    assert_eq!(shop.calls().len(), 2);
}

#[tokio::test]
async fn a_question_may_be_declined() {
    let shop = Shop::open().await;
    let refund = Refund::new(shop.tools().await, "7");
    let paused = refund.begin().await;
    let id = paused.waiting()[0].id.clone();
    let read = refund.go_on(paused.decline(&id).unwrap()).await.unwrap();
    assert_eq!(read, "nothing is refunded");
    let responses = &shop.calls()[1]["inputResponses"];
    assert_eq!(*responses, json!({"amount": {"action": "decline"}}));
}

#[tokio::test]
async fn several_questions_wait_one_by_one() {
    let shop = Shop::open().await;
    let refund = Refund::new(shop.tools().await, "two");
    let mut paused = refund.begin().await;
    let ids: Vec<String> = paused.waiting().into_iter().map(|one| one.id).collect();
    assert!(
        ids[0].ends_with("/a~1b") && ids[1].ends_with("/c"),
        "{ids:?}"
    );
    paused = paused.answer(&ids[0], json!({"euros": 3})).unwrap();
    assert_eq!(paused.waiting().len(), 1);
    paused = paused.answer(&ids[1], json!({"euros": 4})).unwrap();
    assert_eq!(refund.go_on(paused).await.unwrap(), "7 euros are refunded");
}

#[tokio::test]
async fn a_tool_that_was_approved_with_other_arguments_keeps_them() {
    let shop = Shop::open().await;
    let tools = shop.tools().await.require_approval();
    let refund = Refund::new(tools, "7");
    let paused = refund.begin().await;
    let id = paused.waiting()[0].id.clone();
    let edited = paused
        .decide(&id, Approval::edit(json!({"order": "8"})))
        .unwrap();
    let agent = refund.agent.ask("Go.");
    let error = refund.run.call(&agent).approve(edited).await.unwrap_err();
    let paused = error.paused().unwrap();
    assert_eq!(paused.waiting()[0].arguments, r#"{"order":"8"}"#);
    let id = paused.waiting()[0].id.clone();
    let decided = paused.answer(&id, json!({"euros": 5})).unwrap();
    assert_eq!(refund.go_on(decided).await.unwrap(), "5 euros are refunded");
    let calls = shop.calls();
    assert_eq!(calls.len(), 2);
    assert!(
        calls
            .iter()
            .all(|call| call["arguments"] == json!({"order": "8"}))
    );
}

#[tokio::test]
async fn a_question_that_expired_is_told_to_the_model() {
    let shop = Shop::open().await;
    let refund = Refund::new(shop.tools().await, "expired");
    let paused = refund.begin().await;
    let id = paused.waiting()[0].id.clone();
    let decided = paused.answer(&id, json!({"euros": 5})).unwrap();
    let read = refund.go_on(decided).await.unwrap();
    assert_eq!(read, "the question expired; call the tool again");
}

#[tokio::test]
async fn a_tool_may_ask_ten_times() {
    let shop = Shop::open().await;
    let refund = Refund::new(shop.tools().await, "endless");
    let mut paused = refund.begin().await;
    let mut answered = 0;
    let read = loop {
        let id = paused.waiting()[0].id.clone();
        let decided = paused.answer(&id, json!({"euros": 1})).unwrap();
        answered += 1;
        let call = refund.agent.ask("Go.");
        match refund.run.call(&call).approve(decided).await {
            Ok(_) => {
                let asked = refund.model.requests();
                break asked
                    .last()
                    .unwrap()
                    .messages
                    .last()
                    .unwrap()
                    .content
                    .clone();
            }
            Err(error) => paused = error.paused().unwrap(),
        }
    };
    assert_eq!((answered, shop.calls().len()), (10, 11));
    assert!(read.contains("has asked 10 times"), "{read}");
}

#[tokio::test]
async fn what_is_no_form_is_refused() {
    let shop = Shop::open().await;
    for (order, words) in [
        ("sampling", "for the answer of a model"),
        ("site", "another site"),
        ("always", "again and again"),
        ("again", "done after \"later\""),
    ] {
        let call = ("shop_refund", json!({"order": order}));
        let mut read = crate::results(shop.tools().await, &[call]).await;
        let read = read.remove(0);
        assert!(read.contains(words), "{order}: {read}");
    }
}

#[tokio::test]
async fn a_server_is_told_that_nobody_can_be_asked() {
    let shop = Shop::open().await;
    let server = Mcp::http(&shop.http.url).name("shop").connect();
    let server = server.await.unwrap();
    let read = result(&server, "shop_refund", json!({"order": "polite"})).await;
    assert!(read.contains("has to ask how much"), "{read}");
    // One that asks all the same.
    let read = result(&server, "shop_refund", json!({"order": "7"})).await;
    assert!(read.contains("nobody can be asked here"), "{read}");
}

/// The server of `refund.py`, which `scripts/mcp-servers` starts.
async fn python_shop() -> Toolset {
    let url = std::env::var("LLMNODE_MCP_SHOP").unwrap();
    let server = Mcp::http(url).name("shop").asks();
    server.connect().await.unwrap().tools()
}

/// What the model reads when this pause of the order 7 is answered over a new connection, as after a restart.
async fn answered(stored: &Value) -> String {
    let paused: Paused = serde_json::from_value(stored.clone()).unwrap();
    let id = paused.waiting()[0].id.clone();
    let decided = paused.answer(&id, json!({"euros": 20})).unwrap();
    let mut refund = Refund::new(python_shop().await, "7");
    refund.model = ScriptedModel::new().reply("Done.");
    refund.run = Run::new(refund.model.clone());
    refund.go_on(decided).await.unwrap()
}

#[tokio::test]
#[ignore = "needs scripts/mcp-servers"]
async fn reference_a_refund_asks_by_the_python_sdk() {
    let paused = Refund::new(python_shop().await, "7").begin().await;
    let mut stored = serde_json::to_value(&paused).unwrap();
    assert_eq!(
        answered(&stored).await,
        "20 euros are refunded for the order 7"
    );
    let state = stored.pointer_mut("/calls/0/state/asked/memory").unwrap();
    *state = json!(format!("{}x", state.as_str().unwrap()));
    assert_eq!(
        answered(&stored).await,
        "the question expired; call the tool again"
    );
    let refund = Refund::new(python_shop().await, "8");
    let paused = refund.begin().await;
    let id = paused.waiting()[0].id.clone();
    let read = refund.go_on(paused.decline(&id).unwrap()).await.unwrap();
    assert!(!read.contains("are refunded"), "{read}");
}
