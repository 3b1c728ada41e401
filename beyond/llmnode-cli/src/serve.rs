//! `serve`: the local page for graphs.

use std::error::Error;
use std::sync::Arc;

use llmnode_http::OpenAi;
use llmnode_runtime::{ChatModel, FnModel, ModelError};
use llmnode_serve::ext::{Registries, serve_with, with_notes};

use crate::args::ServeOptions;
use crate::check::{folder, registry_for};
use crate::mcp::Servers;
use crate::run;
use crate::terminal::print;

pub(crate) fn serve(serve: ServeOptions) -> Result<bool, Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let outcome = runtime.block_on(until_ended(serve));
    // A long check does not delay the end of the program.
    runtime.shutdown_background();
    outcome
}

/// A signal ends it in any phase, and the programs that it has started with it.
async fn until_ended(serve: ServeOptions) -> Result<bool, Box<dyn Error>> {
    let ended = ended()?;
    let mut servers = Servers::default();
    let outcome = tokio::select! {
        outcome = served(serve, &mut servers) => outcome,
        () = ended => Ok(true),
    };
    servers.close().await;
    outcome
}

/// Ctrl-C, a supervisor that ends the process, or a terminal that is closed.
#[cfg(unix)]
fn ended() -> Result<impl Future<Output = ()>, Box<dyn Error>> {
    use tokio::signal::unix::{SignalKind, signal};

    let mut interrupted = signal(SignalKind::interrupt())?;
    let mut terminated = signal(SignalKind::terminate())?;
    let mut hung_up = signal(SignalKind::hangup())?;
    Ok(async move {
        tokio::select! {
            _ = interrupted.recv() => {}
            _ = terminated.recv() => {}
            _ = hung_up.recv() => {}
        }
    })
}

#[cfg(not(unix))]
fn ended() -> Result<impl Future<Output = ()>, Box<dyn Error>> {
    Ok(async {
        let _ = tokio::signal::ctrl_c().await;
    })
}

async fn served(serve: ServeOptions, servers: &mut Servers) -> Result<bool, Box<dyn Error>> {
    let ServeOptions {
        options,
        files,
        requests,
        port,
        no_run,
        runs,
    } = serve;
    let mut folders: Vec<_> = files.iter().map(|file| file.parent()).collect();
    folders.dedup();
    if folders.len() > 1 && options.folder.is_none() {
        return Err(
            "the files are in different folders; name the folder of their subgraphs with --folder"
                .into(),
        );
    }
    let kept = runs.unwrap_or_else(|| folder(&options).join(".llmnode"));
    let registries: Registries = if no_run {
        Arc::new(move |text| registry_for(text, &options).map_err(|error| error.to_string()))
    } else {
        let registry = run::registry(&options)?;
        let registry = servers.connect(registry, &options).await?.build()?;
        Arc::new(move |_| Ok(registry.clone()))
    };
    let mut page = serve_with(registries)
        .model(model())
        .runs(!no_run)
        .port(port);
    page = with_notes(page, servers.notes());
    for file in files {
        page = page.file(file);
    }
    if let Some(requests) = requests {
        page = page.requests(requests);
    }
    if !no_run {
        page = page.keep(kept);
    }
    let served = page.start().await?;
    print(served.url())?;
    served.wait().await;
    Ok(true)
}

/// It starts without a key: a run says what is missing.
fn model() -> Arc<dyn ChatModel> {
    match OpenAi::from_env() {
        Ok(model) => Arc::new(model),
        Err(ModelError {
            category, message, ..
        }) => {
            let message =
                format!("a node without a profile asks the model of the environment: {message}");
            Arc::new(FnModel::new(move |_| {
                ModelError::unsent(category, message.clone())
            }))
        }
    }
}
