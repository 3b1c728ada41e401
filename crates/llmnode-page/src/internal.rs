//! For the other crates of llmnode.

use llmnode_flow::flow::Outline;

pub use crate::html::{Attributes, Html};
use crate::page;
pub use crate::picture::Marks;
use crate::{Recording, picture};

/// The style sheet of pages.
pub const STYLE: &str = page::STYLE;

/// Draws a flow that has not run. `None`: it has too many steps to be read as a picture.
pub fn flow_picture(outline: &Outline, marks: &Marks) -> Option<String> {
    let Outline::Flow(name, steps) = outline else { return None };
    if picture::size(outline) > page::DRAWN {
        return None;
    }
    let mut html = Html::default();
    picture::draw_plain(&mut html, name, steps, marks);
    Some(html.into_string())
}

/// Draws the way of the first flow of a recording so far.
pub fn run_picture(recording: &Recording) -> Option<String> {
    let document = recording.lock().document();
    let first = document.flows.first()?;
    let mut html = Html::default();
    page::picture_of(&mut html, first, &[first]);
    Some(html.into_string())
}
