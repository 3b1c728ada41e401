//! A page as a browser's parser reads it.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    missing_docs,
    unreachable_pub,
    reason = "tests"
)]

use html5ever::tendril::TendrilSink;
use markup5ever_rcdom::{Handle, NodeData, RcDom};

#[derive(Default)]
pub struct Dom {
    /// In order.
    pub elements: Vec<String>,
    /// With the element that they are in.
    pub texts: Vec<(String, String)>,
    /// With the element that they are of.
    pub attributes: Vec<(String, String, String)>,
}

impl Dom {
    pub fn of(page: &str) -> Self {
        let parsed = html5ever::parse_document(RcDom::default(), Default::default()).one(page);
        let mut dom = Dom::default();
        dom.read(&parsed.document, "");
        dom
    }

    fn read(&mut self, node: &Handle, within: &str) {
        let mut name = within.to_owned();
        match &node.data {
            NodeData::Text { contents } => {
                self.texts
                    .push((within.to_owned(), contents.borrow().to_string()));
            }
            NodeData::Element {
                name: own, attrs, ..
            } => {
                name = own.local.to_string();
                self.elements.push(name.clone());
                for attribute in attrs.borrow().iter() {
                    let of = attribute.name.local.to_string();
                    self.attributes
                        .push((name.clone(), of, attribute.value.to_string()));
                }
            }
            NodeData::Comment { .. } => panic!("a page has no comments"),
            _ => {}
        }
        node.children
            .borrow()
            .iter()
            .for_each(|child| self.read(child, &name));
    }
}
