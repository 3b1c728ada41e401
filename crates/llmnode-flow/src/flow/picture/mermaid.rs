//! A drawing in Mermaid's language.

use std::fmt::Write;

use super::drawing::{Arrow, ArrowKind, Drawing, Highlight, Item, NodeBox, Shape};

const STYLES: &str = "    classDef taken fill:#d7f0dc,stroke:#1a7f37,color:#000\n    \
                      classDef failed fill:#ffd7d5,stroke:#cf222e,color:#000\n    \
                      classDef here fill:#fff4c2,stroke:#9a6700,color:#000\n    \
                      classDef idle fill:#f6f8fa,stroke:#8c959f,color:#57606a\n    \
                      classDef todo fill:none,stroke:#8c959f,stroke-dasharray:4 4,color:#57606a\n";

pub(super) fn draw(drawing: &Drawing) -> String {
    let mut text = "flowchart TD\n".to_owned();
    if !drawing.title.is_empty() {
        // Mermaid reads a comment with braces, `%%{..}`, as a directive.
        let title: String = drawing
            .title
            .chars()
            .map(|c| if matches!(c, '{' | '}') { ' ' } else { c })
            .collect();
        line(&mut text, 1, &format!("%% {title}"));
    }
    drawing
        .items
        .iter()
        .for_each(|item| write_item(&mut text, item, 1));
    drawing
        .arrows
        .iter()
        .for_each(|arrow| line(&mut text, 1, &written(arrow)));
    text + STYLES
}

fn write_item(text: &mut String, item: &Item, depth: usize) {
    match item {
        Item::NodeBox(one) => line(text, depth, &boxed(one)),
        Item::Group { id, title, items } => {
            line(
                text,
                depth,
                &format!("subgraph {id}[\"{}\"]", escaped(title)),
            );
            items
                .iter()
                .for_each(|item| write_item(text, item, depth + 1));
            line(text, depth, "end");
        }
    }
}

fn boxed(
    NodeBox {
        id,
        lines,
        shape,
        highlight,
    }: &NodeBox,
) -> String {
    let lines: Vec<_> = lines.iter().map(|line| escaped(line)).collect();
    let text = lines.join("<br/>");
    let class = match (shape, highlight) {
        (Shape::Todo, _) => ":::todo",
        (_, Highlight::Plain) => "",
        (_, Highlight::Taken) => ":::taken",
        (_, Highlight::Idle) => ":::idle",
        (_, Highlight::Failed) => ":::failed",
        (_, Highlight::Here) => ":::here",
    };
    match shape {
        Shape::Begin => format!("{id}([\"start\"])"),
        Shape::End => format!("{id}([\"end\"])"),
        Shape::Step | Shape::Todo => format!("{id}[\"{text}\"]{class}"),
        Shape::Many => format!("{id}[[\"{text}\"]]{class}"),
    }
}

fn written(
    Arrow {
        from,
        to,
        text,
        kind,
    }: &Arrow,
) -> String {
    let arrow = match kind {
        ArrowKind::Plain => "-->",
        ArrowKind::Taken => "==>",
        ArrowKind::Todo => "-.->",
    };
    let text = if text.is_empty() {
        String::new()
    } else {
        format!("|\"{}\"|", escaped(text))
    };
    format!("{from} {arrow}{text} {to}")
}

fn line(text: &mut String, depth: usize, line: &str) {
    let _ = writeln!(text, "{:1$}{line}", "", depth * 4);
}

/// Mermaid, Markdown and HTML could interpret these.
fn escaped(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    let mut before = ' ';
    let mut rest = name.chars().peekable();
    while let Some(c) = rest.next() {
        let within =
            before.is_alphanumeric() && rest.peek().is_some_and(|next| next.is_alphanumeric());
        let plain = match c {
            '_' | '.' | '-' => within && !name.starts_with(|c: char| c.is_ascii_digit()),
            ' ' | ',' | '(' | ')' | '×' | '/' | '|' => true,
            c if c.is_ascii() => c.is_ascii_alphanumeric(),
            c => !c.is_control(),
        };
        if plain {
            text.push(c);
        } else {
            let _ = write!(text, "#{};", u32::from(c));
        }
        before = c;
    }
    text
}
