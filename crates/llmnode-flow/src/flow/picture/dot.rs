//! A drawing in Graphviz's language.

use std::fmt::Write;

use super::drawing::{Arrow, ArrowKind, Drawing, Highlight, Item, NodeBox, Shape};

pub(super) fn draw(drawing: &Drawing) -> String {
    let mut text = format!("digraph \"{}\" {{\n", escaped(&drawing.title));
    line(
        &mut text,
        1,
        "node [shape=box, style=\"rounded,filled\", fillcolor=white, fontname=\"sans-serif\"]",
    );
    line(&mut text, 1, "edge [fontname=\"sans-serif\", fontsize=11]");
    drawing.items.iter().for_each(|item| write_item(&mut text, item, 1));
    drawing.arrows.iter().for_each(|arrow| line(&mut text, 1, &written(arrow)));
    text + "}\n"
}

fn write_item(text: &mut String, item: &Item, depth: usize) {
    match item {
        Item::NodeBox(one) => line(text, depth, &boxed(one)),
        Item::Group { id, title, items } => {
            line(text, depth, &format!("subgraph \"cluster_{id}\" {{"));
            line(text, depth + 1, &format!("label=\"{}\"", escaped(title)));
            line(text, depth + 1, "style=rounded; color=gray50; fontname=\"sans-serif\"");
            items.iter().for_each(|item| write_item(text, item, depth + 1));
            line(text, depth, "}");
        }
    }
}

fn boxed(NodeBox { id, lines, shape, highlight }: &NodeBox) -> String {
    let lines: Vec<_> = lines.iter().map(|line| escaped(line)).collect();
    let label = lines.join("\\n");
    let colours = match highlight {
        Highlight::Plain => "",
        Highlight::Taken => ", fillcolor=\"#d7f0dc\", color=\"#1a7f37\"",
        Highlight::Idle => ", fillcolor=\"#f6f8fa\", color=\"#8c959f\", fontcolor=\"#57606a\"",
        Highlight::Failed => ", fillcolor=\"#ffd7d5\", color=\"#cf222e\"",
        Highlight::Here => ", fillcolor=\"#fff4c2\", color=\"#9a6700\"",
    };
    match shape {
        Shape::Begin => format!("{id} [label=\"\", shape=circle, width=0.2, fillcolor=black]"),
        Shape::End => format!("{id} [label=\"\", shape=doublecircle, width=0.15, fillcolor=black]"),
        Shape::Step => format!("{id} [label=\"{label}\"{colours}]"),
        Shape::Many => format!("{id} [label=\"{label}\", peripheries=2{colours}]"),
        Shape::Todo => format!("{id} [label=\"{label}\", style=dashed]"),
    }
}

fn written(Arrow { from, to, text, kind }: &Arrow) -> String {
    let style = match kind {
        ArrowKind::Plain => "",
        ArrowKind::Taken => ", penwidth=2.5, color=\"#1a7f37\"",
        ArrowKind::Todo => ", style=dashed",
    };
    format!("{from} -> {to} [label=\"{}\"{style}]", escaped(text))
}

fn line(text: &mut String, depth: usize, line: &str) {
    // Writing to a `String` does not fail.
    let _ = writeln!(text, "{:1$}{line}", "", depth * 4);
}

/// Graphviz reads backslashes as escapes, and entities such as `&lt;` as HTML does.
fn escaped(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    for c in name.chars() {
        match c {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '&' => text.push_str("&amp;"),
            c if c.is_control() => text.push(' '),
            c => text.push(c),
        }
    }
    text
}
