//! Other attributes and derives above and below the macros.

use llmnode::{Invalid, Node, llm_node, llm_output, validate};

use crate::support::{paths, prompt};

/// Says hello.
#[derive(Debug)]
#[llm_node(prompt = "Hello {name}.")]
#[derive(Clone, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[must_use]
#[non_exhaustive]
#[allow(dead_code)]
pub(crate) struct Greet {
    /// Whom.
    #[serde(rename = "who")]
    #[schemars(length(min = 1))]
    name: String,
    #[node(skip)]
    #[serde(default)]
    other: Option<u8>,
}

#[tokio::test]
async fn a_node_among_other_attributes() {
    let greet: Greet = serde_json::from_str(r#"{"who": "Ann"}"#).unwrap();
    assert_eq!(prompt(&greet.clone()).await, "Hello Ann.");
    assert_eq!(
        format!("{greet:?}"),
        r#"Greet { name: "Ann", other: None }"#
    );
    assert_eq!(Greet::FACTS.description, "Says hello.");
}

#[doc = include_str!("../../rustfmt.toml")]
/// And more.
#[llm_node(prompt = "x")]
#[derive(Debug)]
struct DocFromFile;

#[doc = concat!("On", "e")]
#[llm_node(prompt = "x")]
#[doc = "two"]
#[derive(Debug)]
struct DocFromMacro;

#[doc(hidden)]
#[doc(alias = "x")]
#[llm_node(prompt = "x")]
#[derive(Debug)]
struct NoDoc;

/** In a
 * block. */
#[llm_node(prompt = "x")]
#[derive(Debug)]
struct BlockDoc;

#[test]
fn descriptions() {
    assert_eq!(
        DocFromFile::FACTS.description,
        concat!(include_str!("../../rustfmt.toml"), "\nAnd more.\n")
    );
    assert_eq!(DocFromMacro::FACTS.description, "One\ntwo\n");
    assert_eq!(NoDoc::FACTS.description, "");
    assert_eq!(BlockDoc::FACTS.description, "In a\nblock.");
}

#[allow(deprecated)]
mod old {
    use super::*;

    #[deprecated]
    #[llm_node(prompt = "{a}", output = Old)]
    #[derive(Debug)]
    pub(super) struct OldNode {
        #[deprecated]
        pub(super) a: u8,
    }

    #[llm_output]
    #[deprecated]
    #[derive(Debug)]
    pub(super) struct Old {
        #[deprecated]
        pub(super) a: u8,
    }

    #[validate]
    impl Old {
        #[deprecated]
        #[must_use]
        #[inline]
        #[doc(hidden)]
        fn is_small(&self) -> Result<(), Invalid> {
            if self.a > 1 {
                Err(Invalid::at("a", "large"))
            } else {
                Ok(())
            }
        }
    }
}

#[tokio::test]
#[allow(deprecated)]
async fn deprecated_items() {
    assert_eq!(
        paths((), &old::OldNode { a: 1 }, r#"{"a": 2}"#).await,
        ["a"]
    );
}

/// Both at once: a step of an answer that is a node itself.
#[llm_node(prompt = "About {topic}", output = Question)]
#[llm_output]
#[derive(Debug)]
struct Question {
    topic: String,
    #[node(skip)]
    weight: u8,
}

#[llm_output]
#[llm_node(prompt = "About {topic}", output = Reversed)]
#[derive(Debug)]
struct Reversed {
    topic: String,
    #[node(skip)]
    weight: u8,
}

#[validate]
impl Question {
    fn light(&self) -> Result<(), Invalid> {
        if self.weight > 1 {
            Err(Invalid::at("weight", "heavy"))
        } else {
            Ok(())
        }
    }
}

#[validate]
impl Reversed {
    fn light(&self) -> Result<(), Invalid> {
        if self.weight > 1 {
            Err(Invalid::at("weight", "heavy"))
        } else {
            Ok(())
        }
    }
}

#[tokio::test]
async fn a_node_that_is_an_output() {
    let answer = r#"{"topic": "x", "weight": 2}"#;
    assert_eq!(
        paths(
            (),
            &Question {
                topic: "x".into(),
                weight: 0
            },
            answer
        )
        .await,
        ["weight"]
    );
    assert_eq!(
        paths(
            (),
            &Reversed {
                topic: "x".into(),
                weight: 0
            },
            answer
        )
        .await,
        ["weight"]
    );
}

mod visible {
    use llmnode::{llm_node, llm_output};

    #[llm_output]
    #[derive(Debug)]
    #[repr(C)]
    pub(in crate::attributes) struct Out {
        pub(crate) a: u8,
        pub(super) b: u8,
        c: u8,
    }

    #[llm_node(prompt = "{a} {b} {c}", output = Out)]
    #[derive(Debug, Default)]
    pub(super) struct Ask {
        pub(crate) a: u8,
        pub(super) b: u8,
        c: u8,
    }
}

#[tokio::test]
async fn visibilities() {
    let mut ask = visible::Ask::default();
    ask.a = 1;
    ask.b = 2;
    assert_eq!(prompt(&ask).await, "1 2 0");
    let out: visible::Out = serde_json::from_str(r#"{"a": 1, "b": 2, "c": 3}"#).unwrap();
    assert_eq!(out.a + out.b, 3);
}
