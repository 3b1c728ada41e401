//! `run`: a graph on the model of the environment.

use std::error::Error;
use std::io::{IsTerminal, Write, stderr, stdin};
use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use llmnode_flow::flow::{FlowWatch, RunExt};
use llmnode_graph::ext::typed_input;
use llmnode_graph::{Graph, Profiles, Registry, State};
use llmnode_http::OpenAi;
use llmnode_model::internal::pretty;
use llmnode_page::Recording;
use llmnode_runtime::{
    Approval, Category, ChatModel, FnModel, Message, ModelError, NodeError, Paused, Run,
    WaitingCall,
};
use serde_json::{Map, Value};

use crate::args::{Answer, Options};
use crate::check::{folder, read};
use crate::mcp::Servers;
use crate::placeholders::named;
use crate::report::report;
use crate::table::Table;
use crate::terminal::{print, print_line, print_styled};
use crate::{hints, node_types, page, stores};

/// An answer within this time was meant for what was there before.
const UNREAD: Duration = Duration::from_millis(500);

pub(crate) fn run(options: &Options) -> Result<bool, Box<dyn Error>> {
    if let Some(output) = &options.page {
        page::check(output)?;
    }
    // The connections to MCP servers are tasks of the worker: they answer pings while
    // a person thinks, for which this thread waits.
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()?;
    runtime.block_on(with_servers(options))
}

async fn with_servers(options: &Options) -> Result<bool, Box<dyn Error>> {
    let mut servers = Servers::default();
    let outcome = of_file(options, &mut servers).await;
    if !options.mcp.is_empty() {
        servers.close().await;
    }
    outcome
}

async fn of_file(options: &Options, servers: &mut Servers) -> Result<bool, Box<dyn Error>> {
    let text = read(&options.file)?;
    let registry = servers.connect(registry(options)?, options).await?;
    let registry = registry.build()?;
    let file = options.file.display().to_string();
    let styled = stderr().is_terminal();
    let graph = match Graph::parse(&text, &registry) {
        Ok(graph) => graph,
        Err(faults) => {
            print_styled(&report(&file, &text, &faults.faults, false, styled));
            let file = serde_json::from_str(&text).unwrap_or(Value::Null);
            let named = named(file, &folder(options));
            hints::all(&named, options)
                .iter()
                .for_each(|hint| print_line(hint));
            return Ok(false);
        }
    };
    if !graph.warnings().is_empty() {
        print_styled(&report(&file, &text, graph.warnings(), true, styled));
    }
    let state = graph
        .start(inputs(&graph, options)?)
        .map_err(|error| format!("{error}\n--input NAME=VALUE gives an input"))?
        .with_messages(options.message.as_deref().map(Message::user));
    let run = registry.run(model(options)?).with_state(state);
    driven(&graph, run, options).await
}

pub(crate) fn registry(options: &Options) -> Result<Registry, Box<dyn Error>> {
    let registry =
        stores::open(node_types::registry(options), &options.stores)?.folder(folder(options));
    Ok(match &options.profiles {
        // Such as a pipe, which may have no end.
        Some(file) if file.exists() && !file.is_file() => {
            registry.profiles(Profiles::parse(&read(file)?)?)
        }
        Some(file) => registry.profiles(Profiles::open(file)?),
        None => registry,
    })
}

/// Profiles have their own keys: without one in the environment, only nodes without a profile fail.
fn model(options: &Options) -> Result<Arc<dyn ChatModel>, ModelError> {
    let error = match OpenAi::from_env() {
        Ok(model) => return Ok(Arc::new(model)),
        Err(error) if options.profiles.is_some() => error,
        Err(error) => return Err(error),
    };
    let message = format!(
        "a node without a profile asks the model of the environment: {}",
        error.message
    );
    Ok(Arc::new(FnModel::new(move |_| {
        ModelError::unsent(error.category, message.clone())
    })))
}

fn inputs(graph: &Graph, options: &Options) -> Result<Value, Box<dyn Error>> {
    let schemas = graph.inputs();
    let mut inputs = Map::new();
    for (name, text) in &options.inputs {
        let value = typed_input(schemas.get(name.as_str()).copied().flatten(), text)
            .map_err(|why| format!("--input {name}={text}: {why}"))?;
        // Nothing was written after the equals sign.
        inputs.insert(name.clone(), value.unwrap_or_default());
    }
    Ok(Value::Object(inputs))
}

async fn driven(
    graph: &Graph,
    mut run: Run<State>,
    options: &Options,
) -> Result<bool, Box<dyn Error>> {
    let watch = FlowWatch::default();
    let mut table = Table::new();
    let mut from: Option<Paused> = None;
    let mut for_person: Option<Paused> = None;
    let recording = options
        .page
        .as_ref()
        .map(|_| Recording::new().with_content(true));
    let outcome = loop {
        let requests = run.ledger().total().requests;
        let outcome = once(
            graph,
            &mut run,
            &mut table,
            &watch,
            (recording.as_ref(), from.take()),
        )
        .await;
        let Err(error) = &outcome else { break outcome };
        let is_untaken =
            error.category() == Category::ConfigError && run.ledger().total().requests == requests;
        // After a decision that is not taken, the person decides again.
        let again = for_person.take().filter(|_| is_untaken);
        if again.is_some() {
            print_line(&error.to_string());
        }
        let Some(paused) = error.paused().or(again) else {
            break outcome;
        };
        table.close();
        match decided(paused.clone(), options) {
            Ok(Some(Decided {
                paused: decided,
                by_person,
            })) => {
                for_person = by_person.then_some(paused);
                from = Some(decided);
            }
            Ok(None) => break outcome,
            // What has run so far is not lost.
            Err(error) => {
                print_line(&error.to_string());
                break outcome;
            }
        }
    };
    table.close();
    // The values come first: a disk may be full now.
    match watch.record().filter(|_| options.picture) {
        Some(record) => print(&record.mermaid())?,
        None => print(&run.state().shown())?,
    }
    print_outcome(&run, &outcome, options);
    if let (Some(file), Some(recording)) = (&options.page, &recording) {
        page::write(file, recording)?;
    }
    Ok(outcome.is_ok())
}

fn print_outcome(run: &Run<State>, outcome: &Result<String, NodeError>, options: &Options) {
    let spent = run.ledger().total();
    let tokens = spent.total.total().map_or_else(
        || "an unknown number of".to_owned(),
        |tokens| tokens.to_string(),
    );
    let requests = match spent.requests {
        1 => "1 request".to_owned(),
        requests => format!("{requests} requests"),
    };
    print_line(&format!("{requests}, {tokens} tokens"));
    if let Err(error) = outcome {
        // The error's own words are for programs, which can keep the pause.
        if error.category() == Category::Paused {
            print_line("Nobody has decided, so the run ends here, and is not kept: run it again.");
            return;
        }
        print_line(&error.to_string());
        let hint = if error.category() == Category::ConfigError {
            hints::embeddings(options)
        } else {
            None
        };
        hint.iter().for_each(|hint| print_line(hint));
    }
}

/// Two hooks share the table.
async fn once(
    graph: &Graph,
    run: &mut Run<State>,
    table: &mut Table,
    watch: &FlowWatch,
    (recording, from): (Option<&Recording>, Option<Paused>),
) -> Result<String, NodeError> {
    let table = std::sync::Mutex::new(table);
    let mut call = run
        .flow(graph)
        .watch(watch)
        .on_step(|event| lock(&table).step(event))
        .on_event(|position, event| lock(&table).text(position, event));
    if let Some(recording) = recording {
        call = call.record(recording);
    }
    if let Some(paused) = from {
        call = call.approve(paused);
    }
    call.await
}

fn lock<'t, 'm>(table: &'t std::sync::Mutex<&'m mut Table>) -> MutexGuard<'t, &'m mut Table> {
    table.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Decided {
    paused: Paused,
    /// Else by options alone, which say the same each time.
    by_person: bool,
}

/// `None`: there is no one to ask.
fn decided(mut paused: Paused, options: &Options) -> Result<Option<Decided>, Box<dyn Error>> {
    let mut by_person = false;
    for waiting in paused.waiting() {
        paused = match answer_given(&waiting, options) {
            Some(answer) => paused.decide(&waiting.id, approval(answer.clone()))?,
            None => {
                by_person = true;
                match decided_by_person(&paused, &waiting)? {
                    Some(decided) => decided,
                    None => return Ok(None),
                }
            }
        };
    }
    Ok(Some(Decided { paused, by_person }))
}

/// Asks until an answer is taken. `None`: there is no one to ask.
fn decided_by_person(
    paused: &Paused,
    waiting: &WaitingCall,
) -> Result<Option<Paused>, Box<dyn Error>> {
    loop {
        let Some(answer) = ask_person(waiting)? else {
            return Ok(None);
        };
        match paused.clone().decide(&waiting.id, approval(answer)) {
            Ok(decided) => return Ok(Some(decided)),
            Err(error) => print_line(&error.to_string()),
        }
    }
}

fn approval(answer: Answer) -> Approval {
    match answer {
        Answer::Yes => Approval::yes(),
        Answer::No(why) if why.is_empty() => Approval::no("the person who runs the graph said no"),
        Answer::No(why) => Approval::no(why),
        Answer::Edit(values) => Approval::edit(values),
    }
}

/// What the options say to it. A yes to all says nothing to a question.
fn answer_given<'o>(waiting: &WaitingCall, options: &'o Options) -> Option<&'o Answer> {
    let of_this = options.approvals.get(&waiting.id);
    let of_all = options.approvals.get("");
    let of_all = of_all.filter(|answer| waiting.question.is_none() || **answer != Answer::Yes);
    of_this.or(of_all)
}

fn show_waiting(waiting: &WaitingCall) {
    let WaitingCall {
        id,
        name,
        node,
        arguments,
        question,
        ..
    } = waiting;
    let of_node = if name == node {
        String::new()
    } else {
        format!(" of {node}")
    };
    let waits = match question {
        Some(_) => "asks",
        None => "waits for an approval",
    };
    print_line(&format!("{name}{of_node} {waits} ({id}):"));
    print_line(&pretty(arguments).unwrap_or_else(|| arguments.clone()));
    if let Some(question) = question {
        print_line(&question.message);
        let schema = question.schema.to_string();
        let schema = pretty(&schema).unwrap_or(schema);
        print_line(&format!("An answer is: {schema}"));
    }
}

/// Shows what is decided about, then asks.
fn ask_person(waiting: &WaitingCall) -> Result<Option<Answer>, Box<dyn Error>> {
    show_waiting(waiting);
    let has_question = waiting.question.is_some();
    if !stdin().is_terminal() {
        let id = &waiting.id;
        let how = if has_question {
            format!(
                "answer by `--approve {id}={{..}}`, with a JSON object, or by `--approve {id}=no`."
            )
        } else {
            format!("answer by `--approve yes`, or for this one alone by `--approve {id}=yes`.")
        };
        print_line(&format!("There is no terminal to ask: {how}"));
        return Ok(None);
    }
    loop {
        let choices = if has_question {
            "a JSON object as the answer, or no: "
        } else {
            "yes, no, no and why, or a JSON object in place of these: "
        };
        write!(stderr(), "{choices}")?;
        stderr().flush()?;
        let began = Instant::now();
        let mut answer = String::new();
        if stdin().read_line(&mut answer)? == 0 {
            return Ok(None);
        }
        if began.elapsed() < UNREAD {
            print_line("That was written before the question could be read: write it again.");
            continue;
        }
        match Answer::of(&answer) {
            Some(Answer::Yes) if has_question => print_line("That is no answer."),
            Some(answer) => return Ok(Some(answer)),
            None => print_line("That is neither."),
        }
    }
}
