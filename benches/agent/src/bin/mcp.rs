//! What a call of a tool costs through MCP: llmnode beside rmcp by hand, on one server over standard streams.
//!
//! Usage: `mcp [ROUNDS]`. One agent has 20 turns with one call in each but the last, and its model is a function. Its tool answers at
//! once, or by a call of rmcp that the program makes itself, or is llmnode's own of the same server. What is measured is the processor
//! time of the thread that asks, less that of the agent whose tool answers at once.

use std::io::{BufRead, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use llmnode::{BoxError, DynNode, FnModel, Mcp, NodeError, Reply, Run, Toolset};
use nix::sys::resource::{UsageWho, getrusage};
use rmcp::ServiceExt;
use rmcp::model::{CallToolRequestParams, ClientConfig};
use rmcp::transport::TokioChildProcess;
use serde_json::{Value, json};

const TURNS: usize = 20;

/// The processor time of this thread.
fn cpu() -> Duration {
    let usage = getrusage(UsageWho::RUSAGE_THREAD).unwrap();
    let time = |time: nix::sys::time::TimeVal| {
        Duration::new(
            time.tv_sec().unsigned_abs(),
            1000 * u32::try_from(time.tv_usec()).unwrap(),
        )
    };
    time(usage.user_time()) + time(usage.system_time())
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn schema() -> Value {
    json!({"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]})
}

/// The server: one tool, one JSON message a line.
fn serve() {
    let mut output = std::io::stdout();
    for line in std::io::stdin().lock().lines() {
        let message: Value = serde_json::from_str(&line.unwrap()).unwrap();
        let Some(id) = message.get("id") else {
            continue;
        };
        let result = match message["method"].as_str() {
            Some("initialize") => json!({
                "protocolVersion": message["params"]["protocolVersion"],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "notes", "version": "1"},
            }),
            Some("tools/list") => json!({"tools": [
                {"name": "read", "description": "Reads a note.", "inputSchema": schema()},
            ]}),
            _ => json!({"content": [{"type": "text", "text": "The ship sails on Monday."}]}),
        };
        writeln!(
            output,
            "{}",
            json!({"jsonrpc": "2.0", "id": id, "result": result})
        )
        .unwrap();
        output.flush().unwrap();
    }
}

/// Calls a tool in each turn but the last of each agent.
fn model(tool: &'static str) -> FnModel {
    let turn = AtomicUsize::new(0);
    FnModel::new(
        move |_| match turn.fetch_add(1, Ordering::Relaxed) % TURNS {
            last if last == TURNS - 1 => Reply::text(r#"{"value": "Monday"}"#),
            _ => Reply::text("").call(tool, json!({"name": "ships"})),
        },
    )
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), NodeError> {
    let argument = std::env::args().nth(1);
    if argument.as_deref() == Some("serve") {
        serve();
        return Ok(());
    }
    let rounds = argument.map_or(300, |rounds| rounds.parse().unwrap());
    let own = std::env::current_exe().unwrap();

    let server = Mcp::stdio(&own, ["serve"]).name("notes").connect().await?;
    let mut command = tokio::process::Command::new(&own);
    command.arg("serve");
    let client = ClientConfig::default()
        .serve(TokioChildProcess::new(command).unwrap())
        .await
        .unwrap();
    let peer = client.peer().clone();

    let at_once = Toolset::new().json_function("read", "Reads a note.", schema(), |_| async {
        Ok::<_, BoxError>("The ship sails on Monday.".to_owned())
    });
    let by_hand = Toolset::new().json_function(
        "read",
        "Reads a note.",
        schema(),
        move |arguments: Value| {
            let peer = peer.clone();
            async move {
                let Value::Object(arguments) = arguments else {
                    return Err("no object".into());
                };
                let result = peer
                    .call_tool(CallToolRequestParams::new("read").with_arguments(arguments))
                    .await?;
                let text = result
                    .content
                    .first()
                    .and_then(|content| content.as_text())
                    .ok_or("no text")?;
                Ok::<_, BoxError>(text.text.clone())
            }
        },
    );
    let agent = |tools: Toolset| {
        DynNode::builder("agent")
            .output::<String>()
            .tools(tools)
            .turns(TURNS as u32)
            .build()
    };
    let agents = [
        (Run::new(model("read")), agent(at_once)?),
        (Run::new(model("read")), agent(by_hand)?),
        (Run::new(model("notes_read")), agent(server.tools())?),
    ];

    let mut figures: [Vec<f64>; 3] = Default::default();
    // The first round warms up.
    for round in 0..=rounds {
        for way in (0..3).map(|way| (way + round) % 3) {
            let (run, agent) = &agents[way];
            let question = agent.ask("When does the ship sail?");
            let begun = cpu();
            let answer = run.call(&question).await?;
            let time = (cpu() - begun).as_secs_f64() * 1e6 / (TURNS - 1) as f64;
            assert_eq!(answer, "Monday");
            if round > 0 {
                figures[way].push(time);
            }
        }
    }
    let [at_once, by_hand, ours] = figures.map(median);
    println!("| a call of a tool | processor time | ratio |\n|---|---|---|");
    println!("| rmcp by hand | {:.1} µs | 1.00 |", by_hand - at_once);
    println!(
        "| llmnode's tool of an MCP server | {:.1} µs | {:.2} |",
        ours - at_once,
        (ours - at_once) / (by_hand - at_once)
    );
    server.close().await;
    Ok(())
}
