//! Bodies of requests that were taken, kept for judges of another kind: `scripts/official-types` compares them with the types
//! that the providers publish. The environment variable `LLMNODE_REQUESTS_DIR` names the folder; without it nothing is kept.

use std::path::PathBuf;
use std::sync::LazyLock;

use serde_json::{Value, json};

static FOLDER: LazyLock<Option<PathBuf>> =
    LazyLock::new(|| std::env::var_os("LLMNODE_REQUESTS_DIR").map(PathBuf::from));

/// `api` has the judge's word for what it is: the name of an API for a request to a model, `openai file`, `openai line`, `openai batch`,
/// `messages batch` and `gemini batch` for what an order of a batch consists of.
///
/// Equal bodies are one file. What cannot be written is not kept: a judge counts the files.
pub(crate) fn keep(api: &str, body: &Value) {
    let Some(folder) = &*FOLDER else { return };
    let text = json!({"api": api, "body": body}).to_string();
    let path = folder.join(format!("{:016x}.json", digest(&text)));
    if !path.exists() {
        let _ = std::fs::write(path, text);
    }
}

/// FNV-1a.
fn digest(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
