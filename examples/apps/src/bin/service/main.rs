//! A web service that triages tickets and drafts replies for several tenants.
//!
//! ```text
//! cargo run --manifest-path examples/apps/Cargo.toml --bin service      # no key needed
//! curl localhost:3000/tenants/acme/triage -d "I was charged twice."
//! curl localhost:3000/tenants/acme/reply -d "I was charged twice."
//! curl localhost:3000/tenants/acme/invoice -d "No. 7: two lamps at 12 euros, 24 euros"
//! curl localhost:3000/tenants/acme/teams -X PUT -H "content-type: application/json" -d '["money", "inbox"]'
//! curl localhost:3000/costs
//! ```

mod app;
#[path = "../../../../common/mod.rs"]
mod common;
mod desk;
mod nodes;
mod problem;
mod run;
#[cfg(test)]
mod tests;

use llmnode::StubServer;
use llmnode::stub_server::{LoggedRequest, StubReply, StubServerBuilder};
use serde_json::json;

use app::App;
use desk::Desk;
use run::{Bill, run};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    common::Arguments::read("");
    tracing_subscriber::fmt::init();
    let (model, _server) = common::model(stub()).await?;
    let bill = Bill::default();
    let run = run(model, bill.clone());
    let listener = tokio::net::TcpListener::bind("127.0.0.1:3000").await?;
    println!("listening on http://{}", listener.local_addr()?);
    let app = App {
        run,
        desk: Desk::with_acme(),
        bill,
    };
    axum::serve(listener, app.router())
        .with_graceful_shutdown(stopped())
        .await?;
    Ok(())
}

async fn stopped() {
    if let Err(error) = tokio::signal::ctrl_c().await {
        tracing::error!("Ctrl-C cannot be noticed: {error}");
    }
}

fn stub() -> StubServerBuilder {
    StubServer::builder().default_reply(StubReply::for_request(good_answer))
}

/// What a model answers on a good day. A ticket about money goes to the first team.
fn good_answer(request: &LoggedRequest) -> StubReply {
    let messages = request.messages();
    if messages
        .iter()
        .any(|(_, content)| content.starts_with("Read this invoice"))
    {
        let line = json!({"what": "two lamps", "cents": 2_400});
        return StubReply::json(json!({"number": "7", "cents": 2_400, "lines": [line]}))
            .usage(400, 50);
    }
    let teams = messages
        .iter()
        .find_map(|(_, content)| Some(content.split_once("Teams:\n- ")?.1));
    let answer = match teams {
        Some(teams) => {
            let first_team = teams.lines().next().unwrap_or_default();
            json!({"team": first_team, "urgency": "High", "summary": "A customer was charged twice."})
        }
        None => {
            json!({"text": "We are looking into it and will write again today.\nYour Acme team"})
        }
    };
    StubReply::json(answer).usage(400, 50)
}
