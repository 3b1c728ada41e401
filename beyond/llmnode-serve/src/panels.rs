//! The parts of the page, as HTML. The script only puts them where they belong.
//!
//! Each `Part` is drawn whole, from the state alone: what is sent does not depend on what a page has seen before, so a page that was
//! away for a while needs no history. `of_step` and `of_run` say which parts a change concerns; a part that is missing there is not
//! redrawn.

use llmnode_flow::flow::Outline;
use llmnode_page::ext::{Figures, Html, Marks, cut, figures, picture, reading};
use llmnode_reader::text::visible;
use serde_json::{Value, json};

use crate::file::GraphFile;
use crate::form;
use crate::history::Ended;
use crate::options::Options;
use crate::running::Running;
use crate::state::State;
use crate::waits;

/// A part of the page that changes by itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Part {
    Graph(usize),
    Form(usize),
    Run,
    Waiting,
    Outcome,
    History,
    /// The titles of the texts; they themselves are appended.
    Texts,
    /// What a person sees wherever the page is scrolled.
    Now,
}

/// Changes with each step of a run.
pub(crate) fn of_step(file: usize) -> [Part; 3] {
    [Part::Graph(file), Part::Run, Part::Texts]
}

/// Changes when a run begins, waits, goes on or ends.
pub(crate) fn of_run(file: usize) -> Vec<Part> {
    let all = [Part::Waiting, Part::Outcome, Part::History, Part::Now];
    of_step(file).into_iter().chain(all).collect()
}

pub(crate) fn all(state: &State) -> Vec<Part> {
    let of_files = (0..state.files.len()).flat_map(|file| [Part::Graph(file), Part::Form(file)]);
    let others = [
        Part::Run,
        Part::Waiting,
        Part::Outcome,
        Part::History,
        Part::Texts,
        Part::Now,
    ];
    of_files.chain(others).collect()
}

impl Part {
    pub(crate) fn name(self) -> String {
        match self {
            Part::Graph(file) => format!("graph-{file}"),
            Part::Form(file) => format!("form-{file}"),
            Part::Run => "run".to_owned(),
            Part::Waiting => "waiting".to_owned(),
            Part::Outcome => "outcome".to_owned(),
            Part::History => "history".to_owned(),
            Part::Texts => "texts".to_owned(),
            Part::Now => "now".to_owned(),
        }
    }

    /// The event that shows it.
    pub(crate) fn event(self, state: &State, options: &Options) -> String {
        let html = match self {
            Part::Graph(index) => {
                let run = state.run.as_ref().filter(|run| run.file == index);
                state.files.get(index).map(|file| graph(index, file, run))
            }
            Part::Form(index) => state
                .files
                .get(index)
                .map(|file| form::panel(index, file, options)),
            Part::Run => Some(run(state.run.as_ref())),
            Part::Outcome => Some(outcome(state)),
            Part::History => Some(history(state)),
            Part::Waiting => {
                return json!({"waiting": waits::entries(state.run.as_ref(), &options.notes)})
                    .to_string();
            }
            Part::Texts => {
                let texts = state.run.iter().flat_map(|run| &run.texts);
                let texts: Vec<(usize, &str)> =
                    texts.map(|text| (text.index, &*text.position)).collect();
                return json!({"texts": texts}).to_string();
            }
            Part::Now => return now(state).to_string(),
        };
        json!({"panel": self.name(), "html": html.unwrap_or_default().into_string()}).to_string()
    }
}

/// For the title of the page and its first line. `busy`: nothing can be run.
fn now(state: &State) -> Value {
    let last = state.history.runs.front().filter(|run| run.is_of_now);
    match (&state.run, last) {
        (Some(run), _) => match &run.waiting {
            Some(waiting) => {
                let names: Vec<String> = waiting
                    .paused
                    .waiting()
                    .into_iter()
                    .map(|call| call.name)
                    .collect();
                let text = format!(
                    "Run {} waits for you: {}",
                    run.number,
                    visible(&names.join(", "))
                );
                json!({"now": text, "title": "waits for you", "href": "#waiting", "kind": "wait", "busy": true})
            }
            None => {
                let text = format!("Run {} is under way", run.number);
                json!({"now": text, "title": "running", "href": "#run", "kind": "run", "busy": true})
            }
        },
        (
            None,
            Some(Ended {
                number, outcome, ..
            }),
        ) => {
            let text = format!("Run {number} has ended: {outcome}");
            json!({"now": text, "title": outcome, "href": "#outcome", "kind": "end", "busy": false})
        }
        (None, None) => json!({"now": null, "busy": false}),
    }
}

pub(crate) fn append(index: usize, text: &str) -> String {
    json!({"append": index, "text": text}).to_string()
}

/// Without what needs the key.
pub(crate) fn page(state: &State, index: usize) -> Option<String> {
    let file = state.files.get(index)?;
    let mut html = Html::default();
    html.markup("<!DOCTYPE html>\n");
    html.element("html", &[("lang", "en")], |html| {
        html.element("head", &[], |html| {
            html.void("meta", &[("charset", "utf-8")]);
            html.void(
                "meta",
                &[
                    ("name", "viewport"),
                    ("content", "width=device-width, initial-scale=1"),
                ],
            );
            html.void(
                "meta",
                &[("name", "color-scheme"), ("content", "light dark")],
            );
            html.leaf("title", "", format!("{} – llmnode", file.name()));
            html.void("link", &[("rel", "stylesheet"), ("href", "/style.css")]);
            html.element(
                "script",
                &[("src", "/script.js"), ("type", "module")],
                |_| {},
            );
        });
        html.element("body", &[], |html| {
            html.element("div", &[("id", "top")], |html| {
                html.element(
                    "p",
                    &[("id", "now"), ("role", "status"), ("hidden", "")],
                    |_| {},
                );
                html.element(
                    "p",
                    &[("id", "message"), ("role", "alert"), ("hidden", "")],
                    |_| {},
                );
            });
            html.element("header", &[], |html| {
                html.leaf("h1", "", file.name());
                files(html, state, index);
            });
            html.element("main", &[], |html| {
                panel(html, &format!("graph-{index}"), graph(index, file, None));
                let form = format!("form-{index}");
                for name in ["run", "waiting", "texts", &form, "outcome", "history"] {
                    panel(html, name, Html::default());
                }
                html.leaf(
                    "noscript",
                    "",
                    "Without a script, the page shows the graph and its mistakes.",
                );
            });
        });
    });
    Some(html.into_string())
}

fn panel(html: &mut Html, name: &str, content: Html) {
    html.element("div", &[("id", name), ("class", "panel")], |html| {
        html.append(content)
    });
}

fn files(html: &mut Html, state: &State, index: usize) {
    if state.files.len() < 2 {
        return;
    }
    html.element("nav", &[("aria-label", "Files")], |html| {
        for (at, file) in state.files.iter().enumerate() {
            let href = format!("/file/{at}");
            let current = if at == index { "page" } else { "false" };
            html.element("a", &[("href", &href), ("aria-current", current)], |html| {
                html.text(file.name())
            });
        }
    });
}

fn graph(index: usize, file: &GraphFile, run: Option<&Running>) -> Html {
    let mut html = Html::default();
    html.section("Graph", |html| {
        let faults = file
            .mistakes
            .iter()
            .filter(|mistake| !mistake.is_warning)
            .count();
        let (class, word) = match (&file.problem, faults) {
            (Some(_), _) => ("pill bad", "cannot be read".to_owned()),
            (None, 0) => ("pill good", "no mistakes".to_owned()),
            (None, 1) => ("pill bad", "1 mistake".to_owned()),
            (None, faults) => ("pill bad", format!("{faults} mistakes")),
        };
        html.element("p", &[("role", "status")], |html| {
            html.leaf("span", class, word)
        });
        file.problem
            .iter()
            .for_each(|problem| html.leaf("p", "banner", problem));
        drawn(html, index, file, run);
        if file.is_old {
            html.leaf(
                "p",
                "more",
                "The picture is that of the last text that could be read.",
            );
        }
        mistakes(html, index, file);
        nodes(html, index, file);
    });
    html
}

fn drawn(html: &mut Html, index: usize, file: &GraphFile, run: Option<&Running>) {
    // A run keeps the graph that it began with.
    let outline = run
        .map(|run| run.graph.outline())
        .or_else(|| file.outline.clone());
    let Some(outline) = outline else { return };
    let mut marks = Marks::default();
    for (at, node) in file.nodes.iter().enumerate() {
        marks.titles.insert(node.id.clone(), node.label.clone());
        marks
            .links
            .insert(node.id.clone(), format!("#node-{index}-{at}"));
        if file
            .mistakes
            .iter()
            .any(|mistake| mistake.node == Some(at) && !mistake.is_warning)
        {
            marks.faulty.insert(node.id.clone());
        }
    }
    let class = if file.is_old { "scroll old" } else { "scroll" };
    match picture(&outline, &marks, run.map(|run| &run.recording)) {
        Some(svg) => html.element(
            "div",
            &[
                ("class", class),
                ("tabindex", "0"),
                ("role", "region"),
                ("aria-label", "Picture"),
            ],
            |html| html.append(svg),
        ),
        None => {
            let steps = if let Outline::Flow(_, steps) = &outline {
                steps.len()
            } else {
                0
            };
            html.leaf(
                "p",
                "more",
                format!("The graph has {steps} nodes, too many to draw."),
            );
        }
    }
}

fn mistakes(html: &mut Html, index: usize, file: &GraphFile) {
    if file.mistakes.is_empty() {
        return;
    }
    html.element("ul", &[("class", "mistakes")], |html| {
        for mistake in &file.mistakes {
            let class = if mistake.is_warning {
                "warning"
            } else {
                "fault"
            };
            html.element("li", &[("class", class)], |html| {
                let line = format!("line {}", mistake.line);
                match mistake.node {
                    Some(node) => {
                        let href = format!("#node-{index}-{node}");
                        html.element("a", &[("href", &href)], |html| html.text(line));
                    }
                    None => html.text(line),
                }
                html.text(if mistake.is_warning {
                    " · warning: "
                } else {
                    " · "
                });
                html.text(&mistake.text);
            });
        }
    });
    if file.unlisted > 0 {
        html.leaf("p", "more", format!("and {} more", file.unlisted));
    }
}

fn nodes(html: &mut Html, index: usize, file: &GraphFile) {
    for (at, node) in file.nodes.iter().enumerate() {
        let id = format!("node-{index}-{at}");
        html.element("details", &[("class", "callbox"), ("id", &id)], |html| {
            html.element("summary", &[], |html| {
                html.leaf("span", "n", &node.label);
                html.leaf("span", "tag", &node.kind);
                html.leaf("span", "num", format!("line {}", node.line));
                if file
                    .mistakes
                    .iter()
                    .any(|mistake| mistake.node == Some(at) && !mistake.is_warning)
                {
                    html.leaf("span", "pill bad", "has a mistake");
                }
            });
            html.verbatim(&node.data);
        });
    }
}

fn run(run: Option<&Running>) -> Html {
    let mut html = Html::default();
    let Some(run) = run else { return html };
    html.section("Run", |html| {
        html.element("p", &[("role", "status")], |html| {
            let word = if run.waiting.is_some() {
                "waits for you"
            } else {
                "running"
            };
            html.leaf("span", "pill wait", word);
            html.text(" ");
            // Without the time, which changes all the time.
            html.text(figures(&run.recording).sentence);
            html.text(format!(" · at most {}", run.requests));
        });
        let attributes = [
            ("type", "button"),
            ("id", "stop"),
            ("data-post", "/api/stop"),
        ];
        html.element("button", &attributes, |html| html.text("Stop"));
    });
    html
}

fn class(outcome: &str) -> &'static str {
    match outcome {
        "completed" => "pill good",
        "stopped" | "paused" => "pill wait",
        _ => "pill bad",
    }
}

/// Of the last run.
fn outcome(state: &State) -> Html {
    let mut html = Html::default();
    let Some(last) = state.history.runs.front() else {
        return html;
    };
    html.section("Outcome", |html| {
        html.element("p", &[("role", "status")], |html| {
            html.leaf("span", class(&last.outcome), &last.outcome);
            html.text(format!(" Run {} of {}", last.number, last.graph));
        });
        last.error
            .iter()
            .for_each(|error| html.leaf("p", "banner", error));
        reading(html, &last.values);
        let source = format!("/pages/{}", last.page_key);
        html.element("p", &[], |html| {
            save(html, last, "Save the page of this run")
        });
        let shown = [("id", "shown"), ("class", "field"), ("role", "status")];
        html.element("p", &shown, |html| {
            html.text(format!("The page of run {}", last.number))
        });
        let attributes = [
            ("name", "page"),
            ("title", "The page of the run"),
            ("sandbox", ""),
            ("src", &*source),
        ];
        html.element("iframe", &attributes, |_| {});
    });
    html
}

fn save(html: &mut Html, run: &Ended, word: &str) {
    let href = format!("/pages/{}", run.page_key);
    let name = format!("run-{}.html", run.number);
    html.element("a", &[("href", &href), ("download", &name)], |html| {
        html.text(word)
    });
}

fn history(state: &State) -> Html {
    let mut html = Html::default();
    if state.history.runs.is_empty() && state.keeper.not_kept.is_none() {
        return html;
    }
    html.section("Runs", |html| {
        if let Some(why) = &state.keeper.not_kept {
            html.leaf(
                "p",
                "banner",
                format!("Runs are not kept beyond the end of this server: {why}"),
            );
        }
        html.element("div", &[("class", "scroll"), ("tabindex", "0")], |html| {
            html.element("table", &[], |html| {
                html.element("tr", &[], |html| {
                    for name in [
                        "Run", "Graph", "Inputs", "Outcome", "Time", "Steps", "Requests", "Tokens",
                        "Cost", "", "", "",
                    ] {
                        html.leaf("th", "", name);
                    }
                });
                state.history.runs.iter().for_each(|run| row(html, run));
            });
        });
    });
    html
}

/// Characters of a run's inputs in the list: by them, a person knows it again.
const INPUTS: usize = 60;

fn inputs(inputs: &Value) -> String {
    let Value::Object(inputs) = inputs else {
        return String::new();
    };
    let shown_inputs: Vec<_> = inputs
        .iter()
        .filter(|(_, value)| value.as_str() != Some(""))
        .collect();
    let texts =
        shown_inputs
            .iter()
            .map(|(name, value)| match (value.as_str(), shown_inputs.len()) {
                (Some(text), 1) => text.to_owned(),
                (Some(text), _) => format!("{name}: {text}"),
                (None, _) => format!("{name}: {value}"),
            });
    cut(&visible(&texts.collect::<Vec<_>>().join(", ")), INPUTS)
}

fn row(html: &mut Html, run: &Ended) {
    html.element("tr", &[], |html| {
        html.leaf("td", "", run.number.to_string());
        html.leaf("td", "", &run.graph);
        html.leaf("td", "inputs", inputs(&run.inputs));
        html.element("td", &[], |html| {
            html.leaf("span", class(&run.outcome), &run.outcome)
        });
        let Figures {
            time,
            steps,
            requests,
            tokens,
            cost,
            ..
        } = &run.figures;
        [time, steps, requests, tokens, cost]
            .iter()
            .for_each(|figure| html.leaf("td", "", figure));
        html.element("td", &[], |html| {
            let href = format!("/pages/{}", run.page_key);
            let number = run.number.to_string();
            let attributes = [
                ("href", &*href),
                ("target", "page"),
                ("data-show", &*number),
            ];
            html.element("a", &attributes, |html| html.text("Show"));
        });
        html.element("td", &[], |html| save(html, run, "Save"));
        html.element("td", &[], |html| {
            if run.file.is_some() {
                let number = run.number.to_string();
                let attributes = [("type", "button"), ("data-again", &*number)];
                html.element("button", &attributes, |html| html.text("Again"));
            }
        });
    });
}
