//! Starts the server and the calls, and compares what both tell.

use std::collections::BTreeMap;
use std::error::Error;
use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use indicatif::{ProgressBar, ProgressStyle};

use crate::event::{Closed, Event};
use crate::faulty::account::{Account, Figures};
use crate::options::Options;

pub(crate) struct Outcome {
    pub(crate) figures: Figures,
    pub(crate) complaints: Vec<String>,
    pub(crate) closed: Closed,
    /// By outcome.
    pub(crate) ended: BTreeMap<String, u64>,
    /// Where the server was not down.
    pub(crate) budget_empty: u64,
}

pub(crate) fn watch(options: &Options) -> Result<Outcome, Box<dyn Error>> {
    let (events, received) = sync_channel(10_000);
    let mut server = start(options.arguments("serve"), events.clone(), None)?;
    let Ok(Event::Serving { base_url }) = received.recv() else {
        return Err("the server did not start".into());
    };
    let arguments = [
        options.arguments("call"),
        vec!["--base-url".to_owned(), base_url],
    ]
    .concat();
    // After the last report of the calls, the server's input ends, and with it the server.
    let mut calls = start(arguments, events, server.stdin.take())?;
    let outcome = listen(options, &received)?;
    for (name, child) in [("calls", &mut calls), ("server", &mut server)] {
        let status = child.wait()?;
        if !status.success() {
            return Err(format!("the process of the {name} ended with {status}").into());
        }
    }
    Ok(outcome)
}

/// `held` is dropped after the last report.
fn start(
    arguments: Vec<String>,
    events: SyncSender<Event>,
    held: Option<ChildStdin>,
) -> Result<Child, Box<dyn Error>> {
    let mut command = Command::new(std::env::current_exe()?);
    let mut child = command
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let lines = BufReader::new(child.stdout.take().ok_or("no standard output")?).lines();
    std::thread::spawn(move || {
        let _held = held;
        for line in lines.map_while(Result::ok) {
            let event = serde_json::from_str(&line).expect("a line of this program's own");
            if events.send(event).is_err() {
                break;
            }
        }
    });
    Ok(child)
}

/// Until both processes have sent everything.
fn listen(options: &Options, received: &Receiver<Event>) -> Result<Outcome, Box<dyn Error>> {
    let bar = ProgressBar::new(options.calls);
    bar.set_style(ProgressStyle::with_template(
        "{bar:40} {pos}/{len} calls, {per_sec}, {eta} left{msg}",
    )?);
    let mut account = Account::default();
    let mut ended = BTreeMap::new();
    let mut budget_empty = 0;
    let mut closed = None;
    for event in received {
        match event {
            Event::Seen(seen) => account.seen(seen),
            Event::Ended { call, entries } => {
                entries.into_iter().for_each(|entry| account.entry(entry));
                let how = call.category.as_deref().unwrap_or("answered");
                let to = if call.refused {
                    ", connection refused"
                } else {
                    ""
                };
                *ended.entry(format!("{how}{to}")).or_default() += 1;
                budget_empty += u64::from(call.budget_empty && !call.refused);
                bar.inc(1);
                if account.figures().wrong > 0 {
                    bar.set_message(format!(", {} WRONG", account.figures().wrong));
                }
            }
            Event::Closed(figures) => closed = Some(figures),
            Event::Serving { .. } => {}
        }
    }
    bar.finish_and_clear();
    let (figures, complaints) = account.close();
    let closed = closed.ok_or("the calls broke off")?;
    Ok(Outcome {
        figures,
        complaints,
        closed,
        ended,
        budget_empty,
    })
}
