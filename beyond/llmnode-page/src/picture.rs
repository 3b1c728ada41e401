//! The way that a flow took, as SVG.
//!
//! A flow is built from the inside out: the boxes of its steps, in which a nested flow is a frame with a picture of its own; then
//! their places (`layout.rs`); then it is drawn. Edges that lead back run below the boxes, each in a lane of its own, so that they
//! cross no box. How often a step was visited and an edge was taken comes from the recording, the boxes from the outline: what was
//! never taken is drawn, too.

use std::collections::{HashMap, HashSet};

use llmnode_flow::flow::{Outline, OutlineStep, Position};
use llmnode_runtime::Category;
use llmnode_runtime::ext::PositionExt;

use crate::document::{FlowEntry, StepStats};
use crate::html::{Attributes, Html};
use crate::layout::{Edge, Edges, Layout, label, layout};
use crate::words::{cut, time, tokens};

const BOX: (i32, i32) = (176, 58);
const END: (i32, i32) = (20, 58);
/// Around the steps of a nested flow: left and right, top, bottom.
const FRAME: (i32, i32, i32) = (14, 34, 14);
/// The room for an edge that leads back.
const LANE: i32 = 16;
/// Frames within frames.
const DEPTH: usize = 8;

/// What is shown of the steps of a flow that is edited.
#[derive(Debug, Default)]
pub struct Marks {
    /// The titles of steps, by their labels.
    pub titles: HashMap<String, String>,
    /// Where a step leads, by its label.
    pub links: HashMap<String, String>,
    /// The labels of steps with mistakes.
    pub faulty: HashSet<String>,
}

/// The visits of one flow, or of all flows with the same outline.
#[derive(Default)]
pub(crate) struct Visits<'d> {
    steps: HashMap<&'d Position, StepStats>,
    edges: HashMap<(&'d Position, &'d str), u64>,
    marks: Option<&'d Marks>,
}

impl<'d> Visits<'d> {
    pub(crate) fn marked(self, marks: &'d Marks) -> Self {
        Visits {
            marks: Some(marks),
            ..self
        }
    }

    pub(crate) fn of(flows: &[&'d FlowEntry]) -> Self {
        let mut visits = Visits::default();
        for flow in flows {
            for stats in &flow.stats {
                let sum = visits
                    .steps
                    .entry(&stats.position)
                    .or_insert_with(|| StepStats {
                        visits: 0,
                        runs: false,
                        category: None,
                        usage: Default::default(),
                        elapsed: Default::default(),
                        ..stats.clone()
                    });
                sum.visits = sum.visits.saturating_add(stats.visits);
                sum.usage += stats.usage;
                sum.elapsed = sum.elapsed.saturating_add(stats.elapsed);
                sum.runs |= stats.runs;
                // What paused went on.
                let before = sum
                    .category
                    .filter(|category| *category != Category::Paused);
                sum.category = before.or(stats.category);
            }
            for (from, action, times) in &flow.edges {
                let count = visits.edges.entry((from, action)).or_default();
                *count = count.saturating_add(*times);
            }
        }
        visits
    }
}

/// How many steps are drawn.
pub(crate) fn size(outline: &Outline) -> usize {
    match outline {
        Outline::Flow(_, steps) => steps.iter().map(|step| size(&step.place).max(1)).sum(),
        _ => 1,
    }
}

pub(crate) fn draw(html: &mut Html, name: &str, steps: &[OutlineStep], visits: &Visits<'_>) {
    let flow = Flow::of(steps, &Position::default(), visits, 0);
    let width = flow.size.0 + 12;
    let height = flow.size.1 + 12;
    let view = format!("0 0 {width} {height}");
    let about = format!("The steps of {name} and the way between them");
    let attributes: Attributes<'_> = &[
        ("class", "picture"),
        ("role", "group"),
        ("aria-label", &about),
        ("viewBox", &view),
        ("width", &width.to_string()),
        ("height", &height.to_string()),
    ];
    html.element("svg", attributes, |html| {
        html.markup(MARKERS);
        flow.draw(html, (6, 8));
    });
}

const MARKERS: &str = r#"<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z"></path></marker><marker id="tip-taken" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path class="on" d="M0 0L8 4L0 8z"></path></marker></defs>"#;

/// The steps of one flow in their places.
struct Flow {
    boxes: Vec<Drawn>,
    edges: Vec<Edge>,
    layout: Layout,
    /// The bottom of the boxes; edges that lead back are below.
    bottom: i32,
    size: (i32, i32),
}

enum Drawn {
    Step(StepBox),
    Frame(String, &'static str, Flow),
    End(bool),
    Todo,
}

struct StepBox {
    title: String,
    below: String,
    class: &'static str,
    visits: u64,
    link: Option<String>,
    is_many: bool,
}

impl Flow {
    fn of(steps: &[OutlineStep], around: &Position, visits: &Visits<'_>, depth: usize) -> Self {
        let positions: Vec<Position> = steps
            .iter()
            .map(|step| around.below([&*step.label].into_iter()))
            .collect();
        let mut edges = Edges::of(steps, |from, action| {
            let taken = visits.edges.get(&(&positions[from], action));
            taken.copied().unwrap_or(0)
        });
        let mut boxes: Vec<Drawn> = steps
            .iter()
            .zip(&positions)
            .map(|(step, position)| Drawn::of(step, position, visits, depth))
            .collect();
        for place in steps.len()..edges.places {
            let is_reached = edges
                .edges
                .iter()
                .any(|edge| edge.to == place && edge.taken > 0);
            boxes.push(if edges.end == Some(place) {
                Drawn::End(is_reached)
            } else {
                Drawn::Todo
            });
        }
        let layout = layout(&mut edges, boxes.iter().map(Drawn::size).collect());
        let edges = edges.edges;
        let lanes = i32::try_from(edges.iter().filter(|edge| edge.back).count()).unwrap_or(0);
        let (width, bottom) = layout.size;
        let below = if lanes > 0 { 14 + LANE * lanes } else { 0 };
        Flow {
            boxes,
            edges,
            layout,
            bottom,
            size: (width.max(BOX.0), bottom + below),
        }
    }

    fn draw(&self, html: &mut Html, (left, top): (i32, i32)) {
        let mut lane = 0;
        let mut edges: Vec<&Edge> = self.edges.iter().collect();
        edges.sort_by_key(|edge| edge.taken > 0);
        for edge in edges {
            let (path, (x, y)) = if edge.back {
                lane += 1;
                self.back(edge, lane, (left, top))
            } else {
                self.forward(edge, (left, top))
            };
            let (class, tip) = match edge.taken {
                0 => ("edge", "url(#tip)"),
                _ => ("edge taken", "url(#tip-taken)"),
            };
            html.element(
                "path",
                &[("class", class), ("d", &path), ("marker-end", tip)],
                |_| {},
            );
            let label = label(edge);
            if !label.is_empty() {
                let x = x.to_string();
                let y = y.to_string();
                html.element("text", &[("class", "by"), ("x", &x), ("y", &y)], |html| {
                    html.text(label)
                });
            }
        }
        for (drawn, (x, y)) in self.boxes.iter().zip(&self.layout.at) {
            drawn.draw(html, (left + x, top + y));
        }
    }

    /// Along its row within a layer, and as a curve between two.
    fn forward(&self, edge: &Edge, (left, top): (i32, i32)) -> (String, (i32, i32)) {
        let Layout {
            at, sizes, layer, ..
        } = &self.layout;
        let x = left + at[edge.from].0 + sizes[edge.from].0;
        let mut y = top + self.layout.middle(edge.from);
        let mut path = format!("M{x} {y}");
        let mut from = edge.from;
        let mut label = (x, y);
        for place in edge.through.iter().copied().chain([edge.to]) {
            let begin = left + layer[from].1;
            // Room for the tip of the arrow.
            let end = left + layer[place].0 - if place == edge.to { 8 } else { 0 };
            let next = top + self.layout.middle(place);
            let bend = (end - begin) / 2;
            path.push_str(&format!(
                " H{begin} C{} {y} {} {next} {end} {next}",
                begin + bend,
                end - bend
            ));
            if from == edge.from {
                label = ((begin + end) / 2 - 3, (y + next) / 2 - 7);
            }
            y = next;
            from = place;
        }
        path.push_str(&format!(" H{}", left + at[edge.to].0 - 1));
        (path, label)
    }

    /// Below all boxes.
    fn back(&self, edge: &Edge, lane: i32, (left, top): (i32, i32)) -> (String, (i32, i32)) {
        let (from_x, from_y) = self.layout.foot(edge.from);
        let (to_x, to_y) = self.layout.foot(edge.to);
        // Beside the middle, so that an edge which leads away and one which arrives do not lie on each other.
        let x1 = left + from_x + 18;
        let x2 = left + to_x - 18;
        let y1 = top + from_y;
        let y2 = top + to_y;
        let lane = top + self.bottom + LANE * lane;
        let path = format!(
            "M{x1} {y1} C{x1} {lane} {x1} {lane} {} {lane} H{} C{x2} {lane} {x2} {lane} {x2} {}",
            x1 - 20,
            x2 + 20,
            y2 + 3
        );
        (path, ((x1 + x2) / 2, lane + 4))
    }
}

impl Layout {
    /// Half of a place's height, from the top of the picture.
    fn middle(&self, place: usize) -> i32 {
        self.at[place].1 + self.sizes[place].1 / 2
    }

    /// The middle of a place's lower edge.
    fn foot(&self, place: usize) -> (i32, i32) {
        let (x, y) = self.at[place];
        let (width, height) = self.sizes[place];
        (x + width / 2, y + height)
    }
}

impl Drawn {
    fn of(step: &OutlineStep, position: &Position, visits: &Visits<'_>, depth: usize) -> Self {
        let stats = visits.steps.get(position);
        match &step.place {
            Outline::Flow(name, steps) if !steps.is_empty() && depth < DEPTH => {
                let flow = Flow::of(steps, position, visits, depth + 1);
                let is_visited = flow
                    .boxes
                    .iter()
                    .any(|drawn| matches!(drawn, Drawn::Step(step) if step.visits > 0));
                let title = if step.label == *name {
                    String::new()
                } else {
                    format!(" · flow {name}")
                };
                let class = if is_visited {
                    "frame-of ran"
                } else {
                    "frame-of"
                };
                Drawn::Frame(cut(&format!("{}{title}", step.label), 40), class, flow)
            }
            place => {
                let mut drawn = StepBox::of(step, place, stats);
                if let Some(marks) = visits.marks.filter(|_| depth == 0) {
                    drawn.mark(&step.label, place, marks);
                }
                Drawn::Step(drawn)
            }
        }
    }

    fn size(&self) -> (i32, i32) {
        match self {
            Drawn::Step(_) | Drawn::Todo => BOX,
            Drawn::End(_) => END,
            Drawn::Frame(_, _, flow) => {
                let (sides, above, below) = FRAME;
                (flow.size.0 + 2 * sides, flow.size.1 + above + below)
            }
        }
    }

    fn draw(&self, html: &mut Html, at: (i32, i32)) {
        let (x, y) = at;
        match self {
            Drawn::Step(step) => match &step.link {
                None => step.draw(html, at),
                Some(link) => html.element("a", &[("href", link)], |html| step.draw(html, at)),
            },
            Drawn::Frame(title, class, flow) => {
                let (width, height) = self.size();
                html.element("g", &[("class", class)], |html| {
                    rect(html, "", (x, y), (width, height));
                    words(html, "of", (x + FRAME.0, y + 22), title);
                });
                flow.draw(html, (x + FRAME.0, y + FRAME.1));
            }
            Drawn::End(reached) => {
                let class = if *reached { "stop ran" } else { "stop" };
                html.element("g", &[("class", class)], |html| {
                    html.leaf("title", "", "end");
                    circle(html, "", (x + 10, y + END.1 / 2), "10");
                    circle(html, "dot", (x + 10, y + END.1 / 2), "5");
                });
            }
            Drawn::Todo => html.element("g", &[("class", "node")], |html| {
                rect(html, "", at, BOX);
                words(html, "name", (x + 14, y + 34), "todo!()");
            }),
        }
    }
}

/// The time of a step, and its tokens; what it is, if it used none.
fn figures(stats: &StepStats, what: &str) -> String {
    let used = if stats.usage.requests > 0 {
        tokens(&stats.usage.total)
    } else {
        what.to_owned()
    };
    let between = if used.is_empty() { "" } else { " · " };
    format!("{}{between}{used}", time(stats.elapsed))
}

impl StepBox {
    fn of(step: &OutlineStep, place: &Outline, stats: Option<&StepStats>) -> Self {
        let (is_many, what) = match place {
            Outline::Node(name) | Outline::Flow(name, _) if *name == step.label => {
                (false, String::new())
            }
            Outline::Node(name) => (false, name.to_string()),
            Outline::Batch(name) => (true, format!("each: {name}")),
            Outline::Flow(name, _) => (false, format!("flow {name}")),
            Outline::Parallel(all) => (true, format!("{} side by side", all.len())),
            _ => (false, String::new()),
        };
        let (class, below) = match stats.map(|stats| (stats, stats.runs, stats.category)) {
            None if what.is_empty() => ("node", "not visited".to_owned()),
            None => ("node", what.clone()),
            Some((_, true, _)) => ("node wait", "running".to_owned()),
            Some((_, _, Some(Category::Paused))) => ("node wait", "paused".to_owned()),
            Some((stats, _, Some(category))) => {
                ("node bad", format!("{category} · {}", time(stats.elapsed)))
            }
            Some((stats, _, None)) => ("node ran", figures(stats, &what)),
        };
        let visits = stats.map_or(0, |stats| stats.visits);
        // The row of the first visit.
        let link = stats.map(|stats| format!("#s-{}", stats.first));
        StepBox {
            title: step.label.to_string(),
            below,
            class,
            visits,
            link,
            is_many,
        }
    }

    fn mark(&mut self, label: &str, place: &Outline, marks: &Marks) {
        if let Some(title) = marks.titles.get(label) {
            self.title.clone_from(title);
        }
        self.link = marks.links.get(label).cloned();
        // It has run.
        if self.visits > 0 {
            return;
        }
        let is_faulty = marks.faulty.contains(label);
        self.class = if is_faulty { "node bad" } else { "node ran" };
        self.below = match place {
            _ if is_faulty => "has a mistake".to_owned(),
            Outline::Node(name) => name.to_string(),
            _ => std::mem::take(&mut self.below),
        };
    }

    fn draw(&self, html: &mut Html, (x, y): (i32, i32)) {
        html.element("g", &[("class", self.class)], |html| {
            html.leaf("title", "", format!("{}: {}", self.title, self.below));
            if self.is_many {
                rect(html, "", (x + 4, y - 4), BOX);
            }
            rect(html, "", (x, y), BOX);
            let room = if self.visits > 1 { 12 } else { 16 };
            words(html, "name", (x + 14, y + 24), &cut(&self.title, room));
            words(html, "below", (x + 14, y + 43), &cut(&self.below, 26));
            if self.visits > 1 {
                let text = format!("×{}", self.visits);
                let width = 14 + 8 * i32::try_from(text.chars().count()).unwrap_or(0);
                rect(html, "badge", (x + BOX.0 - 10 - width, y + 10), (width, 18));
                words(html, "count", (x + BOX.0 - 10 - width / 2, y + 23), &text);
            }
        });
    }
}

fn rect(html: &mut Html, class: &str, (x, y): (i32, i32), (width, height): (i32, i32)) {
    let [x, y, width, height] = [x, y, width, height].map(|number| number.to_string());
    let attributes: Attributes<'_> = &[
        ("class", class),
        ("x", &x),
        ("y", &y),
        ("width", &width),
        ("height", &height),
        ("rx", "9"),
    ];
    html.element(
        "rect",
        if class.is_empty() {
            &attributes[1..]
        } else {
            attributes
        },
        |_| {},
    );
}

fn circle(html: &mut Html, class: &str, (x, y): (i32, i32), radius: &str) {
    let x = x.to_string();
    let y = y.to_string();
    let attributes: Attributes<'_> = &[("class", class), ("cx", &x), ("cy", &y), ("r", radius)];
    html.element(
        "circle",
        if class.is_empty() {
            &attributes[1..]
        } else {
            attributes
        },
        |_| {},
    );
}

fn words(html: &mut Html, class: &str, (x, y): (i32, i32), text: &str) {
    let x = x.to_string();
    let y = y.to_string();
    html.element("text", &[("class", class), ("x", &x), ("y", &y)], |html| {
        html.text(text)
    });
}
