//! The arguments of the command.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::str::FromStr;

use llmnode_graph::internal::exact_json;
use serde_json::Value;

pub(crate) const USAGE: &str = "\
Checks and runs graphs of llmnode.

Usage:
  llmnode-graph check FILE [--json] [--profiles FILE] [--store NAME[=FILE]]... [--programs FOLDER] [--folder FOLDER]
                           [--tools NAMES] [--types NAMES]
  llmnode-graph run FILE [--input NAME=VALUE]... [--message TEXT] [--approve [NAME=]ANSWER]...
                         [--profiles FILE] [--store NAME=FILE]... [--programs FOLDER] [--folder FOLDER]
                         [--picture mermaid] [--page FILE]
  llmnode-graph serve FILE... [--profiles FILE] [--store NAME=FILE]... [--programs FOLDER] [--folder FOLDER]
                           [--mcp [NAME=]COMMAND]... [--mcp-allow TOOLS] [--runs FOLDER] [--requests N] [--port N]
                           [--no-run]
  llmnode-graph page FILE [--output FILE]
  llmnode-graph schema

check   lists every fault of a graph. It exits with 0 if there is none, with 1 if there are some.
run     runs a graph on the model of OPENAI_BASE_URL, OPENAI_API_KEY and OPENAI_MODEL, and prints what it wrote.
serve   prints the address of a local page: the graphs drawn, checked while they are edited, run and approved there.
page    makes the page of a recording (`Recording::to_json`): run.html of run.json, if --output names no other file.
schema  prints the JSON Schema of graph files, for editors.

Options:
  --json              print faults and warnings as JSON
  --input NAME=VALUE  an input of the run; a text if the graph declares one, else JSON if it is any
  --message TEXT      what the user says, for agents without a prompt
  --approve ANSWER    the answer to what waits for an approval: yes, no (\"no, WHY\" says why), or a JSON object of values to
                      change first (of a tool: its arguments). NAME=ANSWER is the answer for one node. Without it the
                      terminal is asked
  --profiles FILE     the models that the graph may name; without it any name of a profile is taken when checking
  --store NAME=FILE   a store of rag nodes: an SQLite file of llmnode. It is searched by words; by vectors, too, if
                      OPENAI_EMBEDDING_MODEL names the model of its embeddings. When checking, the file is not opened,
                      and without this option any store is taken
  --programs FOLDER   where the programs of smart nodes are
  --tools NAMES       the tools of the program, with commas between; without it any name of a tool is taken
  --types NAMES       the node types that the program adds; their settings are not checked
  --folder FOLDER     where subgraphs are; by default the folder of the file
  --picture FORM      print the graph as Mermaid when it has run
  --mcp [NAME=]COMMAND
                      an MCP server, started as a program, whose tools the graphs may use as NAME_TOOL (feature `mcp`)
                      each call waits for an approval
  --mcp-allow TOOLS   tools of MCP servers that do not wait for an approval, by their names NAME_TOOL, with commas between
  --runs FOLDER       where runs of the page are kept, with all that was said in them; by default the folder .llmnode beside
                      the file, which only its owner can read
  --requests N        how many requests a run of the page may make at most; 50 by default
  --port N            the port of the page; a free one by default
  --no-run            draw and check only; tools, stores and profiles need not exist then
  --page FILE         write the run as a page, with prompts and answers, whatever comes of it";

#[derive(Debug, PartialEq)]
pub(crate) enum Command {
    Help,
    Schema,
    Check(Options),
    Run(Options),
    Serve(ServeOptions),
    Page {
        file: PathBuf,
        output: Option<PathBuf>,
    },
}

#[derive(Debug, Default, PartialEq)]
pub(crate) struct ServeOptions {
    pub(crate) options: Options,
    pub(crate) files: Vec<PathBuf>,
    pub(crate) mcp: Vec<String>,
    pub(crate) mcp_allow: Vec<String>,
    pub(crate) runs: Option<PathBuf>,
    pub(crate) requests: Option<u64>,
    pub(crate) port: u16,
    pub(crate) no_run: bool,
}

#[derive(Debug, Default, PartialEq)]
pub(crate) struct Options {
    pub(crate) file: PathBuf,
    pub(crate) json: bool,
    pub(crate) inputs: BTreeMap<String, String>,
    pub(crate) message: Option<String>,
    /// The empty name is for all others.
    pub(crate) approvals: BTreeMap<String, Answer>,
    pub(crate) profiles: Option<PathBuf>,
    /// A check needs no file.
    pub(crate) stores: BTreeMap<String, Option<PathBuf>>,
    pub(crate) programs: Option<PathBuf>,
    pub(crate) tools: Option<Vec<String>>,
    pub(crate) types: Vec<String>,
    pub(crate) folder: Option<PathBuf>,
    pub(crate) picture: bool,
    pub(crate) page: Option<PathBuf>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Answer {
    Yes,
    /// And why, which may be empty.
    No(String),
    Edit(Value),
}

impl Answer {
    pub(crate) fn of(text: &str) -> Option<Self> {
        let text = text.trim();
        let (word, why) = text.split_once([' ', ',', ':']).unwrap_or((text, ""));
        let why = why.trim();
        match word.to_lowercase().as_str() {
            "y" | "yes" if why.is_empty() => Some(Answer::Yes),
            "n" | "no" => Some(Answer::No(why.to_owned())),
            _ => exact_json(text)
                .ok()
                .filter(Value::is_object)
                .map(Answer::Edit),
        }
    }
}

pub(crate) fn parse(args: impl IntoIterator<Item = String>) -> Result<Command, String> {
    let mut args = args.into_iter();
    let is_run = match args.next().as_deref() {
        None | Some("help" | "--help" | "-h") => return Ok(Command::Help),
        Some("schema") => {
            return match args.next() {
                None => Ok(Command::Schema),
                Some(other) => Err(format!("`schema` takes no arguments, and {other:?} is one")),
            };
        }
        Some("check") => false,
        Some("run") => true,
        Some("page") => return page(args),
        Some("serve") => return serve(args),
        Some(other) => {
            return Err(format!(
                "there is no command {other:?}; there are \"check\", \"run\", \"serve\", \"page\" and \"schema\""
            ));
        }
    };
    let mut options = Options::default();
    let mut file = None;
    let mut seen = BTreeSet::new();
    while let Some(arg) = args.next() {
        let (name, given) = match arg.split_once('=') {
            Some((name, value)) if name.starts_with("--") => {
                (name.to_owned(), Some(value.to_owned()))
            }
            _ => (arg, None),
        };
        once(&mut seen, &name)?;
        match name.as_str() {
            "--help" | "-h" => return Ok(Command::Help),
            "--json" if !is_run => options.json = true,
            option if option.starts_with("--") => {
                let value = || {
                    given
                        .or_else(|| args.next())
                        .ok_or(format!("{option} needs a value"))
                };
                options.set(option, is_run, value)?;
            }
            _ if file.is_none() => file = Some(PathBuf::from(name)),
            other => return Err(format!("one file at a time: {other:?} is one too many")),
        }
    }
    options.file = file.ok_or("which file?")?;
    Ok(if is_run {
        Command::Run(options)
    } else {
        Command::Check(options)
    })
}

/// The others are given once.
const REPEATED: [&str; 5] = ["--input", "--approve", "--store", "--mcp", "--mcp-allow"];

fn once(seen: &mut BTreeSet<String>, name: &str) -> Result<(), String> {
    if !name.starts_with("--") || REPEATED.contains(&name) || seen.insert(name.to_owned()) {
        return Ok(());
    }
    Err(format!("{name} is given twice; leave one of them out"))
}

impl Options {
    fn set(
        &mut self,
        option: &str,
        is_run: bool,
        value: impl FnOnce() -> Result<String, String>,
    ) -> Result<(), String> {
        match option {
            "--input" if is_run => {
                let input = value()?;
                let Some((name, text)) = input.split_once('=') else {
                    return Err(format!("--input {input:?}: write NAME=VALUE"));
                };
                if self
                    .inputs
                    .insert(name.to_owned(), text.to_owned())
                    .is_some()
                {
                    return Err(format!(
                        "--input {name:?} is given twice; leave one of them out"
                    ));
                }
            }
            "--message" if is_run => self.message = Some(value()?),
            "--approve" if is_run => {
                let (name, answer) = approval(&value()?)?;
                if self.approvals.insert(name.clone(), answer).is_some() {
                    return Err(format!(
                        "--approve {name:?} is given twice; leave one of them out"
                    ));
                }
            }
            "--picture" if is_run => match value()?.as_str() {
                "mermaid" => self.picture = true,
                other => return Err(format!("--picture {other:?}: there is \"mermaid\"")),
            },
            "--page" if is_run => self.page = Some(value()?.into()),
            "--store" => {
                let (name, file) = store(&value()?, is_run)?;
                if self.stores.insert(name.clone(), file).is_some() {
                    return Err(format!(
                        "--store {name:?} is given twice; leave one of them out"
                    ));
                }
            }
            "--tools" if !is_run => self.tools = Some(names(&value()?)),
            "--types" if !is_run => self.types = names(&value()?),
            "--profiles" => self.profiles = Some(value()?.into()),
            "--programs" => self.programs = Some(value()?.into()),
            "--folder" => self.folder = Some(value()?.into()),
            other => return Err(format!("there is no option {other} here")),
        }
        Ok(())
    }
}

fn serve(mut args: impl Iterator<Item = String>) -> Result<Command, String> {
    let mut serve = ServeOptions::default();
    let mut seen = BTreeSet::new();
    while let Some(arg) = args.next() {
        let (name, given) = match arg.split_once('=') {
            Some((name, value)) if name.starts_with("--") => {
                (name.to_owned(), Some(value.to_owned()))
            }
            _ => (arg, None),
        };
        once(&mut seen, &name)?;
        let value = || {
            given
                .or_else(|| args.next())
                .ok_or(format!("{name} needs a value"))
        };
        match name.as_str() {
            "--help" | "-h" => return Ok(Command::Help),
            "--no-run" => serve.no_run = true,
            "--mcp" => serve.mcp.push(value()?),
            "--mcp-allow" => serve.mcp_allow.extend(names(&value()?)),
            "--runs" => serve.runs = Some(value()?.into()),
            "--requests" => match number(&name, &value()?)? {
                0 => return Err("--requests 0: write 1 or more".to_owned()),
                requests => serve.requests = Some(requests),
            },
            "--port" => serve.port = number(&name, &value()?)?,
            "--input" | "--approve" | "--picture" | "--page" => {
                return Err(format!("there is no option {name} here"));
            }
            option if option.starts_with("--") => serve.options.set(option, true, value)?,
            _ => serve.files.push(PathBuf::from(name)),
        }
    }
    serve.options.file = serve.files.first().cloned().ok_or("which file?")?;
    Ok(Command::Serve(serve))
}

fn number<N: FromStr>(option: &str, text: &str) -> Result<N, String> {
    text.parse()
        .map_err(|_| format!("{option} {text:?}: write a number"))
}

fn page(mut args: impl Iterator<Item = String>) -> Result<Command, String> {
    let (mut file, mut output) = (None, None);
    while let Some(arg) = args.next() {
        match (arg.as_str(), arg.strip_prefix("--output=")) {
            ("--help" | "-h", _) => return Ok(Command::Help),
            (_, Some(name)) => output = Some(PathBuf::from(name)),
            ("--output", None) => {
                output = Some(args.next().ok_or("--output needs a value")?.into())
            }
            (option, _) if option.starts_with("--") => {
                return Err(format!("there is no option {option} here"));
            }
            _ if file.is_none() => file = Some(PathBuf::from(arg)),
            (other, _) => return Err(format!("one file at a time: {other:?} is one too many")),
        }
    }
    Ok(Command::Page {
        file: file.ok_or("which file?")?,
        output,
    })
}

fn names(list: &str) -> Vec<String> {
    list.split(',')
        .map(|name| name.trim().to_owned())
        .filter(|name| !name.is_empty())
        .collect()
}

fn approval(text: &str) -> Result<(String, Answer), String> {
    // The JSON of an answer may have an equals sign; no name begins with a brace.
    let named = text.split_once('=').filter(|_| !text.starts_with('{'));
    let (name, answer) = named.unwrap_or(("", text));
    let answer = Answer::of(answer).ok_or_else(|| {
        format!(
            "--approve {text:?}: write yes, no, or a JSON object, such as NAME={{\"text\": \"…\"}}"
        )
    })?;
    Ok((name.to_owned(), answer))
}

fn store(text: &str, is_run: bool) -> Result<(String, Option<PathBuf>), String> {
    match text.split_once('=') {
        Some((name, file)) if !name.is_empty() && !file.is_empty() => {
            Ok((name.to_owned(), Some(file.into())))
        }
        None if !is_run && !text.is_empty() => Ok((text.to_owned(), None)),
        _ => Err(format!("--store {text:?}: write NAME=FILE")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<Command, String> {
        parse(
            line.split(' ')
                .filter(|word| !word.is_empty())
                .map(str::to_owned),
        )
    }

    #[test]
    fn arguments_are_read() {
        assert_eq!(read(""), Ok(Command::Help));
        assert_eq!(read("schema"), Ok(Command::Schema));
        let refused = "`schema` takes no arguments, and \"--json\" is one";
        assert_eq!(read("schema --json"), Err(refused.to_owned()));
        let expected = Options {
            file: "a.json".into(),
            json: true,
            tools: Some(vec!["x".to_owned(), "y".to_owned()]),
            ..Options::default()
        };
        assert_eq!(
            read("check --json a.json --tools=x,y"),
            Ok(Command::Check(expected))
        );
        let Ok(Command::Run(options)) =
            read("run a.json --input q=a=b --input n=3 --picture mermaid")
        else {
            panic!()
        };
        assert_eq!(
            (options.inputs["q"].as_str(), options.picture),
            ("a=b", true)
        );
        let Ok(Command::Check(options)) =
            read("check a --store docs --store=notes=n=1.db --programs p")
        else {
            panic!()
        };
        let expected = [("docs", None), ("notes", Some(PathBuf::from("n=1.db")))];
        assert_eq!(
            options.stores,
            expected.map(|(name, file)| (name.to_owned(), file)).into()
        );
        assert_eq!(options.programs, Some("p".into()));
        let line = r#"run a --approve yes --approve a=No --approve=b={"x":"="}"#;
        let Ok(Command::Run(options)) = read(line) else {
            panic!()
        };
        let expected = [
            ("", Answer::Yes),
            ("a", Answer::No(String::new())),
            ("b", Answer::Edit(serde_json::json!({"x": "="}))),
        ];
        assert_eq!(
            options.approvals,
            expected
                .map(|(name, answer)| (name.to_owned(), answer))
                .into()
        );
    }

    #[test]
    fn answers_are_read() {
        let no = |why: &str| Some(Answer::No(why.to_owned()));
        for (text, answer) in [
            ("y", Some(Answer::Yes)),
            (" YES \n", Some(Answer::Yes)),
            ("n", no("")),
            ("No, too dear", no("too dear")),
            ("no: 1, 2", no("1, 2")),
            ("no not today", no("not today")),
            ("yes, but less", None),
            ("yesterday", None),
            ("nothing", None),
            ("", None),
            ("[1]", None),
            ("{\"a\": 1, \"a\": 2}", None),
            ("{\"a\": 123456789012345678901}", None),
        ] {
            assert_eq!(Answer::of(text), answer, "{text}");
        }
    }

    #[test]
    fn arguments_of_the_page_are_read() {
        let Ok(Command::Serve(serve)) =
            read("serve a.json b.json --port 80 --requests=7 --mcp server --no-run --folder f")
        else {
            panic!()
        };
        assert_eq!(serve.files, [PathBuf::from("a.json"), "b.json".into()]);
        assert_eq!(
            (serve.port, serve.requests, serve.no_run),
            (80, Some(7), true)
        );
        assert_eq!(
            (serve.options.file, serve.options.folder),
            ("a.json".into(), Some("f".into()))
        );
        assert_eq!(serve.mcp, ["server"]);
    }

    #[test]
    fn mistakes_are_reported() {
        for (line, told) in [
            ("chek a.json", "no command \"chek\""),
            ("check", "which file?"),
            ("check a b", "one too many"),
            ("check a --input x=1", "no option --input"),
            ("run a --input x", "write NAME=VALUE"),
            ("check a --store n --store n=b.db", "is given twice"),
            (
                "run a --input q=1 --input q=2",
                "--input \"q\" is given twice",
            ),
            ("run a --approve yes --approve no", "is given twice"),
            ("run a --page x --page y", "--page is given twice"),
            ("serve a --port 1 --port 2", "--port is given twice"),
            ("run a --picture png", "there is \"mermaid\""),
            ("run a --profiles", "needs a value"),
            ("run a --approve perhaps", "write yes, no, or a JSON object"),
            ("run a --approve b=[1]", "write yes, no, or a JSON object"),
            ("run a --store docs", "write NAME=FILE"),
            ("check a --store =docs.db", "write NAME=FILE"),
            ("check a --approve yes", "no option --approve"),
            ("serve", "which file?"),
            ("serve a --port x", "write a number"),
            ("serve a --input x=1", "no option --input"),
        ] {
            assert!(read(line).unwrap_err().contains(told), "{line}");
        }
    }
}
