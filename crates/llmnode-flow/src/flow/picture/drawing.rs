//! What is drawn, whatever the language of the picture.

use std::collections::{HashMap, HashSet};

use llmnode_reader::text::{one_line, same_name};
use llmnode_runtime::ext::{Label, Position, PositionExt};

use crate::flow::outline::{EdgeTarget, Outline, OutlineStep};
use crate::flow::record::{FlowRecord, StepStats};

const MAX_NAME_BYTES: usize = 80;

pub(super) struct Drawing {
    pub(super) title: String,
    pub(super) items: Vec<Item>,
    pub(super) arrows: Vec<Arrow>,
}

pub(super) enum Item {
    NodeBox(NodeBox),
    Group {
        id: String,
        title: String,
        items: Vec<Item>,
    },
}

pub(super) struct NodeBox {
    pub(super) id: String,
    /// Not escaped: names may be any text.
    pub(super) lines: Vec<String>,
    pub(super) shape: Shape,
    pub(super) highlight: Highlight,
}

#[derive(Clone, Copy, PartialEq)]
pub(super) enum Shape {
    Begin,
    End,
    Step,
    Many,
    Todo,
}

#[derive(Clone, Copy, PartialEq)]
pub(super) enum Highlight {
    Plain,
    Taken,
    Idle,
    Failed,
    Here,
}

pub(super) struct Arrow {
    pub(super) from: String,
    pub(super) to: String,
    pub(super) text: String,
    pub(super) kind: ArrowKind,
}

#[derive(Clone, Copy, PartialEq)]
pub(super) enum ArrowKind {
    Plain,
    Taken,
    Todo,
}

impl Drawing {
    pub(super) fn new(outline: &Outline, record: Option<&FlowRecord>) -> Self {
        let mut drawer = DrawingBuilder {
            seen: record.map(RecordIndex::new),
            arrows: Vec::new(),
        };
        let at = Position::default();
        let (title, items) = match outline {
            Outline::Flow(name, steps) => (shown(name), drawer.flow(steps, "s", &at)),
            node => (
                String::new(),
                vec![drawer.step_box("s0".to_owned(), "", node, &at)],
            ),
        };
        Drawing {
            title,
            items,
            arrows: drawer.arrows,
        }
    }
}

struct RecordIndex<'o> {
    steps: HashMap<&'o Position, &'o StepStats>,
    edges: HashMap<(&'o Position, &'o str), u64>,
    here: Option<&'o Position>,
}

impl<'o> RecordIndex<'o> {
    fn new(record: &'o FlowRecord) -> Self {
        RecordIndex {
            steps: record
                .steps
                .iter()
                .map(|step| (&step.position, step))
                .collect(),
            edges: record
                .edges
                .iter()
                .map(|(from, action, times)| ((from, &**action), *times))
                .collect(),
            here: record.position.as_ref(),
        }
    }
}

struct DrawingBuilder<'o> {
    seen: Option<RecordIndex<'o>>,
    arrows: Vec<Arrow>,
}

/// The boxes of a flow that only some of its arrows need.
#[derive(Default)]
struct NeededMarks {
    end: bool,
    todo: bool,
}

impl DrawingBuilder<'_> {
    /// The boxes of a flow between its two marks; its arrows go into `self.arrows`.
    fn flow(&mut self, steps: &[OutlineStep], id: &str, at: &Position) -> Vec<Item> {
        let ids: Vec<String> = (0..steps.len())
            .map(|index| format!("{id}{index}"))
            .collect();
        let mut items = vec![mark(begin_of(id), Shape::Begin)];
        for (step, step_id) in steps.iter().zip(&ids) {
            items.push(self.step(step, step_id, at));
        }
        if let Some(first) = steps.first() {
            // A resumed flow was not entered by this arrow.
            let kind = if self.entered(&below(at, &first.label)) {
                ArrowKind::Taken
            } else {
                ArrowKind::Plain
            };
            let entry = self.entry(first, &ids[0]);
            self.arrow(begin_of(id), entry, String::new(), kind);
        }
        let marks = self.edges(steps, &ids, id, at);
        // A nested flow without an end cannot be left, but its step's arrows still
        // need a box to start from.
        if marks.end || !at.is_start() {
            items.push(mark(end_of(id), Shape::End));
        }
        if marks.todo {
            items.push(Item::NodeBox(NodeBox {
                id: todo_of(id),
                lines: vec!["todo".to_owned()],
                shape: Shape::Todo,
                highlight: Highlight::Plain,
            }));
        }
        items
    }

    /// The arrows between the steps of a flow. Returns which boxes they need beside
    /// those of the steps.
    fn edges(
        &mut self,
        steps: &[OutlineStep],
        ids: &[String],
        id: &str,
        at: &Position,
    ) -> NeededMarks {
        // Of two steps with one label the first is meant.
        let indices: HashMap<&str, usize> = steps
            .iter()
            .enumerate()
            .rev()
            .map(|(index, step)| (&*step.label, index))
            .collect();
        let mut needed = NeededMarks::default();
        for (step, step_id) in steps.iter().zip(ids) {
            let position = below(at, &step.label);
            for (action, target) in &step.edges {
                let times = self
                    .seen
                    .as_ref()
                    .and_then(|seen| seen.edges.get(&(&position, &**action)).copied());
                let to = match target {
                    EdgeTarget::Step(label) => indices
                        .get(&**label)
                        .map(|index| self.entry(&steps[*index], &ids[*index])),
                    EdgeTarget::End => {
                        needed.end = true;
                        Some(end_of(id))
                    }
                    EdgeTarget::Todo => None,
                };
                let kind = match (&to, times) {
                    (None, _) => ArrowKind::Todo,
                    (_, Some(_)) => ArrowKind::Taken,
                    _ => ArrowKind::Plain,
                };
                let to = to.unwrap_or_else(|| {
                    needed.todo = true;
                    todo_of(id)
                });
                let from = self.exit(step, step_id);
                self.arrow(from, to, arrow_text(action, times), kind);
            }
        }
        needed
    }

    fn step(&mut self, step: &OutlineStep, id: &str, at: &Position) -> Item {
        let position = below(at, &step.label);
        match &step.place {
            Outline::Flow(name, steps) if is_flow(step) => {
                let items = self.flow(steps, &format!("{id}_"), &position);
                Item::Group {
                    id: id.to_owned(),
                    title: named(&step.label, name),
                    items,
                }
            }
            node => self.step_box(id.to_owned(), &step.label, node, &position),
        }
    }

    fn step_box(&mut self, id: String, label: &str, node: &Outline, at: &Position) -> Item {
        let (mut lines, shape) = match node {
            Outline::Node(name) | Outline::Flow(name, _) => (vec![named(label, name)], Shape::Step),
            Outline::Batch(name) => (
                vec![shown(label), format!("each: {}", shown(name))],
                Shape::Many,
            ),
            Outline::Parallel(places) => {
                let mut names = HashSet::new();
                let names: Vec<_> = places
                    .iter()
                    .map(called)
                    .filter(|name| names.insert(name.clone()))
                    .collect();
                (
                    vec![
                        shown(label),
                        one_line(names.join(" | "), 3 * MAX_NAME_BYTES),
                    ],
                    Shape::Many,
                )
            }
        };
        lines.retain(|line| !line.is_empty());
        let highlight = match &self.seen {
            None => Highlight::Plain,
            Some(seen) => {
                let stats = seen.steps.get(at);
                lines.extend(stats.map(|stats| figures(stats)));
                match stats {
                    Some(stats) if stats.failures > 0 => Highlight::Failed,
                    _ if seen.here == Some(at) => Highlight::Here,
                    Some(_) => Highlight::Taken,
                    None if self.entered(at) => Highlight::Taken,
                    None => Highlight::Idle,
                }
            }
        };
        Item::NodeBox(NodeBox {
            id,
            lines,
            shape,
            highlight,
        })
    }

    fn entered(&self, at: &Position) -> bool {
        let depth = at.labels().len();
        self.seen
            .as_ref()
            .is_some_and(|seen| seen.steps.keys().any(|step| step.outer(depth) == *at))
    }

    fn entry(&self, step: &OutlineStep, id: &str) -> String {
        if is_flow(step) {
            begin_of(&format!("{id}_"))
        } else {
            id.to_owned()
        }
    }

    fn exit(&self, step: &OutlineStep, id: &str) -> String {
        if is_flow(step) {
            end_of(&format!("{id}_"))
        } else {
            id.to_owned()
        }
    }

    fn arrow(&mut self, from: String, to: String, text: String, kind: ArrowKind) {
        self.arrows.push(Arrow {
            from,
            to,
            text,
            kind,
        });
    }
}

/// A flow inside itself has no steps in the outline, and is drawn as a box.
fn is_flow(step: &OutlineStep) -> bool {
    matches!(&step.place, Outline::Flow(_, steps) if !steps.is_empty())
}

fn begin_of(flow: &str) -> String {
    format!("{flow}_begin")
}

/// The action, and how often the arrow was taken, if more than once.
fn arrow_text(action: &str, times: Option<u64>) -> String {
    let name = if action == "_" {
        "other".to_owned()
    } else {
        shown(action)
    };
    let mut parts = Vec::new();
    if !name.is_empty() {
        parts.push(name);
    }
    if let Some(times) = times.filter(|times| *times > 1) {
        parts.push(format!("{times}×"));
    }
    parts.join(" ")
}

fn todo_of(id: &str) -> String {
    format!("{id}_todo")
}

fn end_of(flow: &str) -> String {
    format!("{flow}_done")
}

fn mark(id: String, shape: Shape) -> Item {
    Item::NodeBox(NodeBox {
        id,
        lines: Vec::new(),
        shape,
        highlight: Highlight::Plain,
    })
}

fn below(at: &Position, label: &str) -> Position {
    let mut below = at.clone();
    below.go(at.labels().len(), 0, Label::Shared(label.into()));
    below
}

fn named(label: &str, name: &str) -> String {
    match label {
        "" => shown(name),
        label if same_name(label, name) || name.is_empty() => shown(label),
        label => format!("{} ({})", shown(label), shown(name)),
    }
}

fn called(place: &Outline) -> String {
    match place {
        Outline::Node(name) | Outline::Flow(name, _) => shown(name),
        Outline::Batch(name) => format!("each: {}", shown(name)),
        Outline::Parallel(places) => places.iter().map(called).collect::<Vec<_>>().join(" | "),
    }
}

fn figures(stats: &StepStats) -> String {
    let mut figures = vec![
        format!("{}×", stats.visits),
        format!("{:.1?}", stats.elapsed),
    ];
    let tokens = stats.usage.total;
    if tokens.known > 0 {
        let more = if tokens.unreported_calls > 0 {
            "more than "
        } else {
            ""
        };
        figures.push(format!("{more}{} tokens", tokens.known));
    }
    figures.join(", ")
}

fn shown(name: &str) -> String {
    one_line(name, MAX_NAME_BYTES)
}
