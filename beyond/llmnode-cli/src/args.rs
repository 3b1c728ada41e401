//! The arguments of the command.

use std::borrow::Cow;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use lexopt::Arg;
use llmnode_graph::ext::exact_json;
use serde_json::Value;

pub(crate) const USAGE: &str = "\
Checks and runs graphs of llmnode.

Usage:
  llmnode-graph check FILE [--json] [--profiles FILE] [--store NAME[=FILE]]... [--programs FOLDER] [--folder FOLDER]
                           [--tools NAMES] [--types NAMES]
  llmnode-graph run FILE [--input NAME=VALUE]... [--message TEXT] [--approve [NAME=]ANSWER]...
                         [--profiles FILE] [--store NAME=FILE]... [--programs FOLDER] [--folder FOLDER]
                         [--mcp [NAME=]COMMAND]... [--mcp-allow TOOLS] [--picture mermaid] [--page FILE]
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
                      terminal is asked, and so it is where a tool asks a question
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
    /// MCP servers, and their tools that need no approval.
    pub(crate) mcp: Vec<String>,
    pub(crate) mcp_allow: Vec<String>,
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

/// Reads the arguments, without the name of the program.
pub(crate) fn parse<I>(args: I) -> Result<Command, String>
where
    I: IntoIterator<Item: Into<OsString>> + 'static,
{
    let mut args = Arguments::new(args);
    let command = match args.next()? {
        None | Some(Argument::Help) => return Ok(Command::Help),
        Some(Argument::File(command)) => command.to_string_lossy().into_owned(),
        Some(Argument::Option(option)) => option,
    };
    match command.as_str() {
        "help" => Ok(Command::Help),
        "schema" => match args.next()? {
            None => Ok(Command::Schema),
            Some(other) => Err(format!(
                "`schema` takes no arguments, and {:?} is one",
                other.shown()
            )),
        },
        "check" => check_or_run(args, false),
        "run" => check_or_run(args, true),
        "page" => page(args),
        "serve" => serve(args),
        other => Err(format!(
            "there is no command {other:?}; there are \"check\", \"run\", \"serve\", \"page\" and \"schema\""
        )),
    }
}

/// What is left of the arguments.
struct Arguments {
    parser: lexopt::Parser,
    /// The options so far that are given once.
    seen: BTreeSet<String>,
}

enum Argument {
    Help,
    /// With its dashes.
    Option(String),
    File(PathBuf),
}

/// The others are given once.
const REPEATED: [&str; 5] = ["--input", "--approve", "--store", "--mcp", "--mcp-allow"];

impl Arguments {
    fn new<I>(args: I) -> Self
    where
        I: IntoIterator<Item: Into<OsString>> + 'static,
    {
        Arguments {
            parser: lexopt::Parser::from_args(args),
            seen: BTreeSet::new(),
        }
    }

    fn next(&mut self) -> Result<Option<Argument>, String> {
        let next = self.parser.next().map_err(|fault| fault.to_string())?;
        let option = match next {
            None => return Ok(None),
            Some(Arg::Short('h') | Arg::Long("help")) => return Ok(Some(Argument::Help)),
            Some(Arg::Value(file)) => return Ok(Some(Argument::File(file.into()))),
            Some(Arg::Long(name)) => format!("--{name}"),
            Some(Arg::Short(letter)) => format!("-{letter}"),
        };
        if !REPEATED.contains(&option.as_str()) && !self.seen.insert(option.clone()) {
            return Err(format!("{option} is given twice; leave one of them out"));
        }
        Ok(Some(Argument::Option(option)))
    }

    /// The value of the option that was read last.
    fn value(&mut self, option: &str) -> Result<OsString, String> {
        self.parser
            .value()
            .map_err(|_| format!("{option} needs a value"))
    }

    fn text(&mut self, option: &str) -> Result<String, String> {
        self.value(option)?
            .into_string()
            .map_err(|text| format!("{option} {text:?}: write it in Unicode"))
    }

    fn path(&mut self, option: &str) -> Result<PathBuf, String> {
        Ok(self.value(option)?.into())
    }

    fn number<N: FromStr>(&mut self, option: &str) -> Result<N, String> {
        let text = self.text(option)?;
        text.parse()
            .map_err(|_| format!("{option} {text:?}: write a number"))
    }
}

impl Argument {
    fn shown(&self) -> Cow<'_, str> {
        match self {
            Argument::Help => "--help".into(),
            Argument::Option(option) => option.into(),
            Argument::File(file) => file.to_string_lossy(),
        }
    }
}

fn no_option(option: &str) -> String {
    format!("there is no option {option} here")
}

fn one_too_many(file: &Path) -> String {
    format!("one file at a time: {file:?} is one too many")
}

fn check_or_run(mut args: Arguments, is_run: bool) -> Result<Command, String> {
    let mut options = Options::default();
    let mut file = None;
    while let Some(argument) = args.next()? {
        match argument {
            Argument::Help => return Ok(Command::Help),
            Argument::Option(option) if option == "--json" && !is_run => options.json = true,
            Argument::Option(option) => options.set(&option, is_run, &mut args)?,
            Argument::File(other) if file.is_some() => return Err(one_too_many(&other)),
            Argument::File(first) => file = Some(first),
        }
    }
    options.file = file.ok_or("which file?")?;
    Ok(if is_run {
        Command::Run(options)
    } else {
        Command::Check(options)
    })
}

impl Options {
    /// Sets what an option says that several commands have.
    fn set(&mut self, option: &str, is_run: bool, args: &mut Arguments) -> Result<(), String> {
        match option {
            "--input" if is_run => self.add_input(&args.text(option)?),
            "--message" if is_run => {
                self.message = Some(args.text(option)?);
                Ok(())
            }
            "--approve" if is_run => {
                let (name, answer) = approval(&args.text(option)?)?;
                added(&mut self.approvals, option, name, answer)
            }
            "--picture" if is_run => match args.text(option)?.as_str() {
                "mermaid" => {
                    self.picture = true;
                    Ok(())
                }
                other => Err(format!("--picture {other:?}: there is \"mermaid\"")),
            },
            "--store" => {
                let (name, file) = store(&args.text(option)?, is_run)?;
                added(&mut self.stores, option, name, file)
            }
            "--mcp" if is_run => {
                self.mcp.push(args.text(option)?);
                Ok(())
            }
            "--mcp-allow" if is_run => {
                self.mcp_allow.extend(names(&args.text(option)?));
                Ok(())
            }
            "--tools" if !is_run => {
                self.tools = Some(names(&args.text(option)?));
                Ok(())
            }
            "--types" if !is_run => {
                self.types = names(&args.text(option)?);
                Ok(())
            }
            _ => self.set_path(option, is_run, args),
        }
    }

    fn set_path(&mut self, option: &str, is_run: bool, args: &mut Arguments) -> Result<(), String> {
        let place = match option {
            "--page" if is_run => &mut self.page,
            "--profiles" => &mut self.profiles,
            "--programs" => &mut self.programs,
            "--folder" => &mut self.folder,
            other => return Err(no_option(other)),
        };
        *place = Some(args.path(option)?);
        Ok(())
    }

    fn add_input(&mut self, input: &str) -> Result<(), String> {
        let Some((name, text)) = input.split_once('=') else {
            return Err(format!("--input {input:?}: write NAME=VALUE"));
        };
        added(
            &mut self.inputs,
            "--input",
            name.to_owned(),
            text.to_owned(),
        )
    }
}

/// Adds a value of an option that is given once for each name.
fn added<V>(
    to: &mut BTreeMap<String, V>,
    option: &str,
    name: String,
    value: V,
) -> Result<(), String> {
    match to.entry(name) {
        Entry::Vacant(place) => {
            place.insert(value);
            Ok(())
        }
        Entry::Occupied(place) => Err(format!(
            "{option} {:?} is given twice; leave one of them out",
            place.key()
        )),
    }
}

fn serve(mut args: Arguments) -> Result<Command, String> {
    let mut serve = ServeOptions::default();
    while let Some(argument) = args.next()? {
        let option = match argument {
            Argument::Help => return Ok(Command::Help),
            Argument::File(file) => {
                serve.files.push(file);
                continue;
            }
            Argument::Option(option) => option,
        };
        match option.as_str() {
            "--no-run" => serve.no_run = true,
            "--runs" => serve.runs = Some(args.path(&option)?),
            "--requests" => match args.number(&option)? {
                0 => return Err("--requests 0: write 1 or more".to_owned()),
                requests => serve.requests = Some(requests),
            },
            "--port" => serve.port = args.number(&option)?,
            // They are asked on the page.
            "--input" | "--approve" | "--picture" | "--page" => return Err(no_option(&option)),
            _ => serve.options.set(&option, true, &mut args)?,
        }
    }
    serve.options.file = serve.files.first().cloned().ok_or("which file?")?;
    Ok(Command::Serve(serve))
}

fn page(mut args: Arguments) -> Result<Command, String> {
    let mut file = None;
    let mut output = None;
    while let Some(argument) = args.next()? {
        match argument {
            Argument::Help => return Ok(Command::Help),
            Argument::Option(option) if option == "--output" => output = Some(args.path(&option)?),
            Argument::Option(option) => return Err(no_option(&option)),
            Argument::File(other) if file.is_some() => return Err(one_too_many(&other)),
            Argument::File(first) => file = Some(first),
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
        let words = line.split(' ').filter(|word| !word.is_empty());
        let words: Vec<String> = words.map(str::to_owned).collect();
        parse(words)
    }

    #[test]
    fn arguments_are_read() {
        for line in ["", "help", "-h", "run --help", "page a -h"] {
            assert_eq!(read(line), Ok(Command::Help), "{line}");
        }
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
        assert_eq!(serve.options.mcp, ["server"]);
        let Ok(Command::Run(options)) = read("run a --mcp one --mcp n=two --mcp-allow x,y") else {
            panic!()
        };
        assert_eq!(options.mcp, ["one", "n=two"]);
        assert_eq!(options.mcp_allow, ["x", "y"]);
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
            ("check a --json=yes", "--json"),
            ("check a -j", "no option -j here"),
            ("run a --profiles", "needs a value"),
            ("run a --approve perhaps", "write yes, no, or a JSON object"),
            ("run a --approve b=[1]", "write yes, no, or a JSON object"),
            ("run a --store docs", "write NAME=FILE"),
            ("check a --store =docs.db", "write NAME=FILE"),
            ("check a --approve yes", "no option --approve"),
            ("check a --mcp server", "no option --mcp"),
            ("serve", "which file?"),
            ("serve a --port x", "write a number"),
            ("serve a --input x=1", "no option --input"),
        ] {
            assert!(read(line).unwrap_err().contains(told), "{line}");
        }
    }
}
