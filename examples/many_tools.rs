//! Four hundred tools: what they cost if all are listed, and if the model finds them.
//!
//! ```text
//! cargo run --example many_tools
//! ```
//!
//! It needs no key: a scripted model searches and calls, and the tokens are estimated from what it was sent.

use llmnode::prelude::*;
use llmnode::{Reply, Request, ScriptedModel, Toolset};
use serde_json::{Value, json};

#[path = "common/arguments.rs"]
mod arguments;

use arguments::Arguments;

const SERVERS: [&str; 10] = [
    "shop", "mail", "calendar", "crm", "billing", "cloud", "files", "chat", "hr", "travel",
];
const THINGS: [&str; 8] = [
    "order", "draft", "event", "contact", "invoice", "server", "document", "channel",
];
const VERBS: [&str; 5] = ["create", "get", "list", "update", "delete"];

#[llm_node(prompt = "{question}", turns = 4)]
struct Ask {
    question: &'static str,
    #[node(tools)]
    tools: Toolset,
}

fn tools() -> Toolset {
    let mut tools = Toolset::new();
    for server in SERVERS {
        for thing in THINGS {
            for verb in VERBS {
                let name = format!("{server}_{verb}_{thing}");
                let description = format!("{verb}s one {thing}, or several, of the {server}.");
                let done = format!("{name}: done");
                let run = move |_: Value| {
                    let done = done.clone();
                    async move { Ok::<_, BoxError>(done) }
                };
                tools = tools.json_function(name, description, schema(thing), run);
            }
        }
    }
    tools
}

/// Three parameters, as usual.
fn schema(thing: &str) -> Value {
    json!({
        "type": "object",
        "properties": {
            "id": {"type": "string", "description": format!("The id of the {thing}.")},
            "fields": {"type": "string", "description": "What of it, separated by commas."},
            "limit": {"type": "integer", "description": "How many at most; by default 20."}
        },
        "required": ["id"]
    })
}

/// A token has about four bytes.
fn tokens(request: &Request) -> usize {
    let tools = request.tools.iter();
    let tools: usize = tools
        .map(|tool| tool.name.len() + tool.description.len() + tool.schema.plain().get().len())
        .sum();
    let messages = request.messages.iter();
    let messages: usize = messages.map(|message| message.content.len()).sum();
    (tools + messages) / 4
}

async fn ask(tools: Toolset, replies: Vec<Reply>) -> Result<Vec<Request>, NodeError> {
    let mut model = ScriptedModel::new();
    for reply in replies {
        model = model.reply(reply);
    }
    let question = "What did we agree with Ada?";
    Run::new(model.clone())
        .call(&Ask { question, tools })
        .await?;
    Ok(model.requests())
}

fn print(way: &str, requests: &[Request]) {
    println!("{way}:");
    let mut total = 0;
    for request in requests {
        let number = request.tools.len();
        let sent = tokens(request);
        total += sent;
        println!("  {number:>3} tools listed, {sent:>6} tokens");
    }
    println!("  {total} tokens in all");
}

#[tokio::main]
async fn main() -> Result<(), NodeError> {
    Arguments::read("");
    let search = || Reply::text("").call("search_tools", json!({"query": "list crm contacts"}));
    let call = || Reply::text("").call("crm_list_contact", json!({"id": "ada"}));
    let answer = || Reply::text("Nothing yet.");
    let all = ask(tools(), vec![call(), answer()]).await?;
    print("All tools", &all);
    let deferred = ask(tools().deferred(), vec![search(), call(), answer()]).await?;
    print("Deferred tools", &deferred);
    Ok(())
}
