//! PocketFlow's map-reduce: files are read, each is summed up by a call of its own, and one call reads all sums.
//!
//! ```text
//! cargo run --example flow_map_reduce                          # three reports of its own
//! cargo run --example flow_map_reduce -- examples/data/reports # those of a folder
//! ```

use std::path::PathBuf;

use llmnode::BoxError;
use llmnode::StubServer;
use llmnode::flow::{Batch, Step};
use llmnode::prelude::*;
use llmnode::stub_server::{StubReply, StubServerBuilder};

mod common;

#[derive(Default)]
struct Reports {
    folder: PathBuf,
    /// Name and text.
    files: Vec<(String, String)>,
    sums: Vec<Sum>,
    verdict: String,
}

/// Reads the files of the folder, in the order of their names.
struct Read {
    folder: PathBuf,
}

#[llmnode::step]
impl Step<Reports> for Read {
    type Output = Vec<(String, String)>;

    async fn prep(state: &Reports) -> Result<Self, BoxError> {
        Ok(Read {
            folder: state.folder.clone(),
        })
    }

    async fn exec(&self, _: &Cx<'_, Reports>) -> Result<Self::Output, BoxError> {
        let aborted = |error: std::io::Error| {
            let message = format!("{}: {error}", self.folder.display());
            NodeError::new(Category::Aborted, message).with_source(error)
        };
        let mut files = Vec::new();
        for entry in std::fs::read_dir(&self.folder).map_err(aborted)? {
            let path = entry.map_err(aborted)?.path();
            let name = path
                .file_stem()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            files.push((name, std::fs::read_to_string(path).map_err(aborted)?));
        }
        files.sort();
        Ok(files)
    }

    fn post(self, files: Self::Output, state: &mut Reports) -> Result<(), BoxError> {
        state.files = files;
        Ok(())
    }
}

#[llm_output]
#[derive(Debug)]
struct Sum {
    visitors: u32,
    /// What has to be done, in a few words.
    #[schemars(length(max = 60))]
    to_do: String,
}

/// Sums up one file: an item of a batch. What is stored are the answers to all of them, in their order.
#[llm_node(
    prompt = "Sum up this report:\n{text:fence}",
    output = Sum,
    retries = 1,
    fallback = SumUp::by_hand,
    state = Reports,
    batch = SumUp::each,
    store = sums
)]
struct SumUp {
    text: String,
}

impl SumUp {
    fn each(state: &Reports) -> Vec<SumUp> {
        state
            .files
            .iter()
            .map(|(_, text)| SumUp { text: text.clone() })
            .collect()
    }

    /// For a report that the model cannot read; the others are not concerned.
    fn by_hand(&self, _: &Reports, _: &NodeError) -> Sum {
        Sum {
            visitors: 0,
            to_do: "read it yourself".to_owned(),
        }
    }
}

#[llm_node(
    prompt = "What is most urgent?\n{to_do:list}",
    max_tokens = 100,
    state = Reports,
    store = verdict
)]
struct Reduce {
    #[prep(state.sums.iter().map(|sum| sum.to_do.clone()).collect())]
    to_do: Vec<String>,
}

flow! { MapReduce(Reports):
    Read => SumUps,
    Batch<SumUp> as SumUps => Reduce,
    Reduce => end,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments = common::Arguments::read("[FOLDER]");
    let folder = arguments.value(0).unwrap_or(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/examples/data/reports"
    ));
    let (model, _server) = common::model(stub()).await?;
    let mut run = Run::new(model).with_state(Reports {
        folder: folder.into(),
        ..Reports::default()
    });
    run.flow(MapReduce).await?;
    let Reports {
        files,
        sums,
        verdict,
        ..
    } = run.state();
    for ((name, _), sum) in files.iter().zip(sums) {
        println!("{name}: {} visitors, to do: {}", sum.visitors, sum.to_do);
    }
    println!(
        "{} visitors in all; {verdict}",
        sums.iter().map(|sum| u64::from(sum.visitors)).sum::<u64>()
    );
    Ok(())
}

/// A server that reads the number of visitors and the last sentence, and cannot read one of the reports.
fn stub() -> StubServerBuilder {
    StubServer::builder().default_reply(StubReply::for_request(|request| {
        let messages = request.messages();
        let asked = messages
            .iter()
            .map(|(_, content)| &content[..])
            .find(|content| content.contains('\n'))
            .unwrap_or_default();
        let visitors = asked.split_once("Visitors: ").map(|(_, rest)| rest);
        let Some(rest) = visitors else {
            return StubReply::text("The handrail is most urgent.");
        };
        let number: String = rest.chars().take_while(char::is_ascii_digit).collect();
        let to_do = if asked.contains("handrail") {
            "a new handrail"
        } else {
            "find a keeper"
        };
        let visitors = number.parse::<u32>().ok().filter(|number| *number > 0);
        StubReply::json(serde_json::json!({"visitors": visitors, "to_do": to_do}))
    }))
}
