//! An agent that asks before it deletes anything, in the terminal. It may be killed at any time, also while it asks: started again, it
//! goes on where it was, and no request and no deletion is repeated.
//!
//! ```text
//! cargo run --example agent_approval --features journal
//! ```
//!
//! Answers: `y`, another file's name to delete in its place, or the reason why not.

use std::fs;
use std::io::{BufRead, Write};
use std::path::PathBuf;

use llmnode::journal::JournalFile;
use llmnode::prelude::*;
use llmnode::stub_server::{LoggedRequest, StubReply, StubServerBuilder};
use llmnode::{Paused, StubServer, WaitingCall};
use serde::{Deserialize, Serialize};
use serde_json::json;

mod common;

#[derive(Serialize, Deserialize)]
struct Desk {
    folder: PathBuf,
    report: String,
}

/// Lists the files on the desk.
#[tool]
fn list(desk: &Desk) -> Result<Vec<String>, std::io::Error> {
    let names = fs::read_dir(&desk.folder)?
        .map(|file| Ok(file?.file_name().to_string_lossy().into_owned()));
    let mut names = names.collect::<Result<Vec<_>, std::io::Error>>()?;
    names.sort();
    println!("list: {}", names.join(" "));
    Ok(names)
}

/// Deletes a file.
#[tool(require_approval)]
fn delete(
    /// A name from the list.
    name: String,
    desk: &Desk,
) -> Result<&'static str, std::io::Error> {
    fs::remove_file(desk.folder.join(&name))?;
    println!("deleted: {name}");
    Ok("deleted")
}

/// Nobody is asked about a file that is not there.
#[validate(state)]
impl Delete {
    fn it_lies_on_the_desk(&self, desk: &Desk) -> Result<(), Invalid> {
        let is_name = !self.name.contains(['/', '\\']) && desk.folder.join(&self.name).is_file();
        if is_name {
            Ok(())
        } else {
            Err(Invalid::at("name", "is no file on the desk"))
        }
    }
}

/// Tidies the desk up.
#[llm_node(
    system = "You tidy a desk up: list the files, and delete the drafts.",
    prompt = "Tidy up, and say in one sentence what you did.",
    state = Desk,
    tools = [List, Delete],
    store = report
)]
struct Tidy {}

flow! { Tidying(Desk): Tidy => end }

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let place = std::env::temp_dir().join("llmnode-agent-approval");
    let place = common::Arguments::read("[FOLDER]")
        .value(0)
        .map_or(place, PathBuf::from);
    let (folder, journal) = (place.join("desk"), place.join("tidy.journal"));
    if !journal.exists() {
        fs::create_dir_all(&folder)?;
        for name in ["draft-1.txt", "draft-2.txt", "letter.txt"] {
            fs::write(folder.join(name), "")?;
        }
    }
    let (model, _server) = common::model(stub()).await?;
    let mut run = Run::new(model).with_state(Desk {
        folder,
        report: String::new(),
    });
    let mut decided: Option<Paused> = None;
    loop {
        let mut tidying = run.flow(Tidying).resume(JournalFile::open(&journal)?);
        if let Some(paused) = decided.take() {
            tidying = tidying.approve(paused);
        }
        match tidying.await {
            Ok(()) => break,
            Err(error) => decided = Some(ask(error.paused().ok_or(error)?)?),
        }
    }
    println!("{}", run.state().report);
    println!("requests: {}", run.ledger().total().requests);
    fs::remove_dir_all(place)?;
    Ok(())
}

/// Asks about each call that waits.
fn ask(mut paused: Paused) -> Result<Paused, Box<dyn std::error::Error>> {
    for WaitingCall {
        id,
        name,
        arguments,
        ..
    } in paused.waiting()
    {
        print!("{name}({arguments})? ");
        std::io::stdout().flush()?;
        let mut line = String::new();
        if std::io::stdin().lock().read_line(&mut line)? == 0 {
            return Err("nobody answers; start it again to go on".into());
        }
        let approval = match line.trim() {
            "y" | "yes" => Approval::yes(),
            name if name.ends_with(".txt") => Approval::edit(json!({"name": name})),
            why => Approval::no(why),
        };
        paused = paused.decide(&id, approval)?;
    }
    Ok(paused)
}

/// A server that plays the model.
fn stub() -> StubServerBuilder {
    let results = |request: &LoggedRequest| {
        request
            .messages()
            .iter()
            .filter(|(role, _)| role == "tool")
            .map(|(_, text)| text.clone())
            .collect()
    };
    StubServer::builder().default_reply(StubReply::for_request(move |request| {
        let results: Vec<String> = results(request);
        let delete = |name: &str| json!({"name": name});
        match results.len() {
            0 => StubReply::call("list", json!({})),
            1 => StubReply::call("delete", delete("draft-1.txt"))
                .and_call("delete", delete("draft-2.txt")),
            _ => {
                let deleted = results.iter().filter(|result| *result == "deleted").count();
                StubReply::text(format!("I deleted {deleted} files."))
            }
        }
    }))
}
