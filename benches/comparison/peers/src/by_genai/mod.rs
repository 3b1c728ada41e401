//! genai.

mod approval;
mod chat;
mod extract;
mod gate;
mod providers;
mod rows;

use std::time::Duration;

use genai::adapter::AdapterKind;
use genai::resolver::{AuthData, Endpoint};
use genai::{Client, ModelIden, ServiceTarget};
use serde_json::Value;

pub const MODEL: &str = "gpt-5.4-mini";

pub fn client(url: &str, adapter: AdapterKind) -> Client {
    let base = format!("{url}/");
    let target = move |target: ServiceTarget| -> Result<ServiceTarget, genai::resolver::Error> {
        Ok(ServiceTarget {
            endpoint: Endpoint::from_owned(base.clone()),
            auth: AuthData::from_single("sk-test"),
            model: ModelIden::new(adapter, target.model.model_name),
        })
    };
    Client::builder()
        .with_service_target_resolver_fn(target)
        .build()
        .unwrap()
}

/// How long a refusal asks to wait; `None` for what waiting does not mend.
pub fn wait(error: &genai::Error) -> Option<Duration> {
    let genai::Error::WebModelCall { webc_error, .. } = error else {
        return None;
    };
    if webc_error.status()?.as_u16() != 429 {
        return None;
    }
    let header = webc_error.headers()?.get("retry-after")?.to_str().ok()?;
    header.parse().ok().map(Duration::from_secs)
}

pub async fn run(task: &str, url: &str, folder: &str, words: &[String]) -> Value {
    match task {
        "extract" => extract::run(url, words).await,
        "rows" => rows::run(url, folder, &words[0], words[1].parse().unwrap()).await,
        "chat" => chat::run(url, folder, &words[0], &words[1]).await,
        "approval" => approval::run(url, &words[0], &words[1], &words[2]).await,
        "gate" => gate::run(url, &words[0], &words[1]).await,
        "providers" => providers::run(url, &words[0]).await,
        _ => panic!("no task {task}"),
    }
}

/// The variant of an error.
fn name(error: &impl std::fmt::Debug) -> String {
    let text = format!("{error:?}");
    let end = text.find([' ', '(', '{']).unwrap_or(text.len());
    text[..end].to_owned()
}
