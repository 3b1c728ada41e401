//! Instructions that a call and a stream take on each API, by callgrind; they hardly depend on what else the machine does.
//!
//! Usage: `instructions [TREE]` prints a table. For each figure, this program starts itself under callgrind, once with few calls and once
//! with more, and divides the difference: the start of the process is in neither. `TREE` is this program of another tree, already
//! built; its figures stand beside, with the ratio to them. It needs valgrind.
//!
//! `instructions WHAT COUNT URL` is one such process: `WHAT` is `own`, a call whose transport is scripted; `agent`, `flow` or `journal`, a whole
//! one of ten rounds, without a transport, too; or an API with `call`, `stream` or `agent`.

use std::path::Path;
use std::process::Command;

use llmnode::prelude::*;
use llmnode::{BoxError, Event};
use llmnode_benches::loops::{agent, agents, flows, journals};
use llmnode_benches::mocked::Calls;
use llmnode_benches::wires::{Choose, Tell, serve, wires};

/// The pieces of a stream.
const PIECES: usize = 200;
/// The ledger remembers so many calls; from then on each call frees one.
const WARM_UP: usize = 320;

/// What is measured, and by how many more calls.
const FIGURES: [(&str, usize); 13] = [
    ("own", 640),
    ("agent", 64),
    ("flow", 64),
    ("journal", 64),
    ("chat call", 320),
    ("Responses call", 320),
    ("Messages call", 320),
    ("Gemini call", 320),
    ("chat stream", 40),
    ("Responses stream", 40),
    ("Messages stream", 40),
    ("Gemini stream", 40),
    ("chat agent", 32),
];

fn main() -> Result<(), BoxError> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.as_slice() {
        [what, count, url] => make(what, count.parse()?, url),
        [tree] => table(Some(Path::new(tree))),
        [] => table(None),
        _ => Err("usage: instructions [TREE]".into()),
    }
}

fn table(other: Option<&Path>) -> Result<(), BoxError> {
    let this = std::env::current_exe()?;
    let url = serve(PIECES);
    println!("| instructions | this tree | the other | ratio |\n|---|---|---|---|");
    for (what, more) in FIGURES {
        let own = each(&this, what, more, &url)?;
        let Some(other) = other else {
            println!("| {what} | {own} | | |");
            continue;
        };
        let before = each(other, what, more, &url)?;
        let ratio = own as f64 / before as f64;
        println!("| {what} | {own} | {before} | {ratio:.3} |");
    }
    Ok(())
}

/// Instructions of one of `more` calls.
fn each(program: &Path, what: &str, more: usize, url: &str) -> Result<u64, BoxError> {
    let few = counted(program, what, WARM_UP, url)?;
    let many = counted(program, what, WARM_UP + more, url)?;
    Ok((many - few) / more as u64)
}

/// Instructions of a whole process.
fn counted(program: &Path, what: &str, count: usize, url: &str) -> Result<u64, BoxError> {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(program)
        .args([what, &count.to_string(), url])
        .output()
        .map_err(|error| format!("valgrind, which this needs, did not start: {error}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    let collected = said
        .lines()
        .find_map(|line| line.split_once("Collected : "))
        .map(|(_, count)| count.trim());
    match (output.status.success(), collected) {
        (true, Some(count)) => Ok(count.parse()?),
        _ => Err(format!("callgrind of {what}: {said}").into()),
    }
}

/// The calls of one process.
fn make(what: &str, count: usize, url: &str) -> Result<(), BoxError> {
    rustls::crypto::ring::default_provider()
        .install_default()
        .map_err(|_| "a provider is there")?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let Some((api, kind)) = what.split_once(' ') else {
        match what {
            "agent" => runtime.block_on(agents(count))?,
            "flow" => runtime.block_on(flows(count))?,
            "journal" => runtime.block_on(journals(count))?,
            _ => Calls::plain(count, 1000).make(count),
        }
        return Ok(());
    };
    let (_, run) = wires(url)?
        .into_iter()
        .find(|(name, _)| *name == api)
        .ok_or("no such API")?;
    runtime.block_on(async {
        for _ in 0..count {
            match kind {
                "call" => call(&run).await?,
                "agent" => agent(&run).await?,
                _ => stream(&run).await?,
            }
        }
        Ok(())
    })
}

async fn call(run: &Run) -> Result<(), BoxError> {
    let choice = run.call(&Choose { goal: "climb down" }).await?;
    assert_eq!((choice.item.as_str(), choice.count), ("rope", 2));
    Ok(())
}

async fn stream(run: &Run) -> Result<(), BoxError> {
    let mut answer = run.call(&Tell { what: "a story" }).stream();
    let mut length = 0;
    while let Some(event) = answer.next().await {
        if let Event::Text(piece) = event {
            length += piece.len();
        }
    }
    assert_eq!(length, 4 * PIECES);
    assert_eq!(answer.finish().await?.len(), 4 * PIECES);
    Ok(())
}
