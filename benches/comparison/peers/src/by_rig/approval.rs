//! names: rig_tool, ToolExecutionError, AgentBuilder, preamble, tool, Agent, run_spec, tool_definitions, AgentRun, max_turns, next_step, AgentRunStep, CallModel, CallTools, Done, prepare_request, capabilities, output_tool_name, policy, apply, CompletionRequest, call, ModelTurn, from_policy, model_response, PendingToolCall, Execute, Malformed, ToolAdapter, arguments, answer, ToolResult, success, output

use std::error::Error;
use std::fs::OpenOptions;
use std::io::Write;
use std::time::Duration;

use rig::completion::{CompletionRequest, Message};
use rig::operation::Completion;
use rig::run::{AgentRun, AgentRunStep, ModelTurn, PendingToolCall, prepare_request};
use rig::serve::adapters::ToolAdapter;
use rig::tool::{ToolExecutionError, ToolResult};
use rig::{Agent, AgentBuilder, DynModel, rig_tool};
use serde_json::{Value, json};

use super::model;

#[rig_tool(description = "Pays money back.")]
fn refund(order: u32, euros: u32) -> Result<String, ToolExecutionError> {
    let mut till = OpenOptions::new()
        .create(true)
        .append(true)
        .open("till")
        .unwrap();
    writeln!(till, "{order} {euros}").unwrap();
    std::thread::sleep(Duration::from_millis(300)); // as a payment does
    Ok("paid back".to_owned())
}

/// By hand: the loop over steps. As the protocol of `AgentRun` says: a step, then what it asks for, then the run is saved.
async fn drive(
    agent: &Agent,
    model: &DynModel<Completion>,
    mut run: AgentRun,
    is_approved: bool,
) -> Result<Option<String>, Box<dyn Error>> {
    loop {
        match run.next_step()? {
            AgentRunStep::CallModel {
                prompt, history, ..
            } => {
                std::fs::write("run.json", serde_json::to_string(&run)?)?;
                let turn = ask(agent, model, &run, &prompt, &history).await?;
                run.model_response(turn)?;
            }
            AgentRunStep::CallTools { .. } if !is_approved => {
                std::fs::write("run.json", serde_json::to_string(&run)?)?;
                return Ok(None);
            }
            AgentRunStep::CallTools { calls } => {
                for call in calls {
                    let answer = match call {
                        PendingToolCall::Execute(call) => {
                            let output = ToolAdapter::new(Refund).run(call.arguments()).await?;
                            call.answer(ToolResult::success(output))
                        }
                        PendingToolCall::Malformed(call) => call.answer(None),
                        _ => return Err("another kind of call".into()),
                    };
                    run.answer(answer)?;
                    std::fs::write("run.json", serde_json::to_string(&run)?)?;
                }
            }
            AgentRunStep::Done(response) => return Ok(Some(response.output().to_string())),
        }
    }
}

async fn ask(
    agent: &Agent,
    model: &DynModel<Completion>,
    run: &AgentRun,
    prompt: &Message,
    history: &[std::sync::Arc<Message>],
) -> Result<ModelTurn, Box<dyn Error>> {
    let tools = agent.tool_definitions(None).await?;
    let spec = agent.run_spec();
    let name = run.output_tool_name();
    let prepared = prepare_request(
        &spec,
        &model.capabilities().completion,
        history,
        tools,
        name,
        None,
    )?;
    let policy = prepared.policy.clone();
    let request = prepared.apply(CompletionRequest::new(prompt.clone()));
    let response = model.call(request).await?;
    Ok(ModelTurn::from_policy(&response, policy))
}

pub async fn run(url: &str, system: &str, letter: &str, word: &str) -> Value {
    let model = model(url);
    let agent = AgentBuilder::new(model.clone())
        .preamble(system)
        .tool(Refund)
        .build();
    let is_approved = word != "ask";
    let run = match is_approved {
        true => serde_json::from_str(&std::fs::read_to_string("run.json").unwrap()).unwrap(),
        false => AgentRun::new(letter).max_turns(10),
    };
    match drive(&agent, &model, run, is_approved).await {
        Ok(Some(answer)) => json!({"answer": answer}),
        Ok(None) => json!({"error": "paused"}),
        Err(error) => json!({"error": super::name(&error)}),
    }
}
