//! `serve`: the local page for graphs.

use std::error::Error;
use std::sync::Arc;

use llmnode_graph::Registry;
use llmnode_http::OpenAi;
use llmnode_runtime::{ChatModel, FnModel, ModelError};
use llmnode_serve::internal::{Registries, serve_with};

use crate::args::ServeOptions;
use crate::check::{print, registry_for};
use crate::run;

pub(crate) fn serve(serve: ServeOptions) -> Result<bool, Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let outcome = runtime.block_on(served(serve));
    // A long check does not delay the end of the program.
    runtime.shutdown_background();
    outcome
}

async fn served(serve: ServeOptions) -> Result<bool, Box<dyn Error>> {
    let ServeOptions { options, files, mcp, requests, port, no_run } = serve;
    let mut folders: Vec<_> = files.iter().map(|file| file.parent()).collect();
    folders.dedup();
    if folders.len() > 1 && options.folder.is_none() {
        return Err(
            "the files are in different folders; name the folder of their subgraphs with --folder".into()
        );
    }
    let registries: Registries = if no_run {
        Arc::new(move |text| registry_for(text, &options).map_err(|error| error.to_string()))
    } else {
        let registry = with_tools(run::registry(&options)?, &mcp).await?.build()?;
        Arc::new(move |_| Ok(registry.clone()))
    };
    let mut page = serve_with(registries).model(model()).runs(!no_run).port(port);
    for file in files {
        page = page.file(file);
    }
    if let Some(requests) = requests {
        page = page.requests(requests);
    }
    let served = page.start().await?;
    print(served.url())?;
    tokio::signal::ctrl_c().await?;
    Ok(true)
}

/// It starts without a key: a run says what is missing.
fn model() -> Arc<dyn ChatModel> {
    match OpenAi::from_env() {
        Ok(model) => Arc::new(model),
        Err(ModelError { category, message, .. }) => {
            let message = format!("a node without a profile asks the model of the environment: {message}");
            Arc::new(FnModel::new(move |_| ModelError::unsent(category, message.clone())))
        }
    }
}

#[cfg(feature = "mcp")]
async fn with_tools(mut registry: Registry, commands: &[String]) -> Result<Registry, Box<dyn Error>> {
    for command in commands {
        let is_name = |name: &str| !name.contains([' ', '/', '\\']);
        let (name, command) = match command.split_once('=') {
            Some((name, command)) if is_name(name) => (Some(name), command),
            _ => (None, command.as_str()),
        };
        let mut words = command.split_whitespace();
        let program = words.next().ok_or("--mcp: which program?")?;
        let mcp = llmnode_mcp::Mcp::stdio(program, words);
        let mcp = name.map_or(mcp.clone(), |name| mcp.clone().name(name));
        // The server lives as long as its tools.
        registry = registry.tools(mcp.connect().await?.tools());
    }
    Ok(registry)
}

#[cfg(not(feature = "mcp"))]
async fn with_tools(registry: Registry, commands: &[String]) -> Result<Registry, Box<dyn Error>> {
    match commands {
        [] => Ok(registry),
        _ => Err("--mcp is not in this build: install llmnode-cli with --features mcp".into()),
    }
}
