//! Prints faults as compilers do: with the line of the file, and the place in it marked.

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use llmnode_graph::Fault;
use llmnode_graph::ext::locate;
use llmnode_reader::text::visible;

use crate::terminal::same_length;

/// Faults of other files are shown without their lines.
pub(crate) fn report(
    file: &str,
    text: &str,
    faults: &[Fault],
    is_warning: bool,
    styled: bool,
) -> String {
    let renderer = if styled {
        Renderer::styled()
    } else {
        Renderer::plain()
    };
    let text = &*same_length(text);
    let file = &*visible(file);
    let told = faults.iter().map(|fault| {
        // A subgraph's fault is shown at the node that leads to it.
        let pointer = fault.via.first().unwrap_or(&fault.pointer);
        let title: String = match &fault.file {
            Some(_) => format!("{}: {}", fault.place(), fault.message),
            None => fault.message.clone(),
        };
        let help = match (&fault.proposal, &*fault.known) {
            (Some(meant), _) => Some(format!("did you mean {meant:?}?")),
            (None, []) => None,
            (None, names) => Some(format!("there are: {}", names.join(", "))),
        };
        let mark = AnnotationKind::Primary
            .span(locate(text, pointer))
            .label(visible(pointer));
        let snippet = Snippet::source(text).path(file).annotation(mark);
        let mut group = level(is_warning)
            .primary_title(visible(&title).into_owned())
            .id(fault.kind.as_str())
            .element(snippet);
        if let Some(help) = help {
            group = group.element(Level::HELP.message(visible(&help).into_owned()));
        }
        renderer.render(&[group])
    });
    told.collect::<Vec<_>>().join("\n\n")
}

fn level(is_warning: bool) -> Level<'static> {
    if is_warning {
        Level::WARNING
    } else {
        Level::ERROR
    }
}
