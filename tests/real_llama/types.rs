//! Types of every shape, and a node for each.
//!
//! Integers are unsigned: to JSON Schema `-0` is one of them, to serde a signed field's is a float.

use std::collections::BTreeMap;
use std::ops::Range;

use llmnode::prelude::*;
use serde::{Deserialize, Serialize};

/// A node that asks for a type.
macro_rules! node {
    ($node:ident -> $output:ty) => {
        #[llm_node(prompt = "Fill in form {number}.", output = $output, max_tokens = 4000)]
        pub(crate) struct $node {
            pub(crate) number: u64,
        }
    };
}

#[llm_output]
pub(crate) struct Nested {
    customer: Customer,
    urgent: bool,
}

#[llm_output]
pub(crate) struct Customer {
    /// First name and surname.
    name: String,
    address: Address,
}

#[llm_output]
pub(crate) struct Address {
    street: String,
    floor: u8,
}

node!(AskNested -> Nested);

#[llm_output]
#[serde(rename_all = "snake_case")]
pub(crate) enum Topic {
    Billing,
    Defect,
    FeatureWish,
}

#[llm_output]
pub(crate) struct UnitEnum {
    topic: Topic,
}

node!(AskUnitEnum -> UnitEnum);

#[llm_output]
pub(crate) enum Grade {
    /// Better than asked for.
    Good,
    /// As asked for.
    Fair,
    /// Worse than asked for.
    Poor,
}

#[llm_output]
pub(crate) struct DocumentedEnum {
    /// How it went.
    grade: Grade,
    all: Vec<Grade>,
}

node!(AskDocumentedEnum -> DocumentedEnum);

macro_rules! shape_enum {
    ($name:ident, $holder:ident, $node:ident, $($attribute:tt)*) => {
        #[llm_output]
        $($attribute)*
        pub(crate) enum $name {
            Circle { radius: u16 },
            Label { text: String },
        }

        #[llm_output]
        pub(crate) struct $holder {
            figure: $name,
        }

        node!($node -> $holder);

    };
}

shape_enum!(Internal, InternallyTagged, AskInternallyTagged, #[serde(tag = "kind")]);
shape_enum!(Adjacent, AdjacentlyTagged, AskAdjacentlyTagged, #[serde(tag = "kind", content = "value")]);
shape_enum!(Untagged, UntaggedHolder, AskUntagged, #[serde(untagged)]);

#[llm_output]
pub(crate) enum Step {
    Wait,
    Say(String),
    Go(u16, u16),
    Take { item: String, count: u8 },
}

#[llm_output]
pub(crate) struct ExternallyTagged {
    steps: [Step; 2],
}

node!(AskExternallyTagged -> ExternallyTagged);

#[llm_output]
pub(crate) struct Optional {
    note: Option<String>,
    address: Option<Address>,
    #[serde(default)]
    page: u16,
    topic: Option<Topic>,
}

node!(AskOptional -> Optional);

#[llm_output]
pub(crate) struct Lists {
    #[schemars(length(min = 1, max = 3))]
    addresses: Vec<Address>,
    words: Vec<String>,
}

node!(AskLists -> Lists);

#[llm_output]
pub(crate) struct Maps {
    by_name: BTreeMap<String, u8>,
    // Lengths bind the model in this dialect only.
    #[schemars(length(min = 2, max = 5))]
    code: String,
    letter: char,
}

node!(AskMaps -> Maps);

#[llm_output]
pub(crate) struct Tuples {
    pair: (String, u8),
    triple: (bool, Topic, u32),
}

node!(AskTuples -> Tuples);

/// A tree that stays small: a model of random weights closes a list sooner than it goes on.
#[llm_output]
pub(crate) struct Tree {
    label: Topic,
    #[schemars(length(max = 2))]
    kids: Vec<Tree>,
}

node!(AskTree -> Tree);

#[llm_output]
pub(crate) struct Ranges {
    byte: u8,
    small: u16,
    #[schemars(range(min = 5, max = 300))]
    level: u32,
    #[schemars(regex(pattern = "^[A-Z]{2}-[0-9]{3}$"))]
    plate: String,
}

#[validate]
impl Ranges {
    fn plate_fits_its_pattern(&self) -> Result<(), Invalid> {
        let fits = |(place, byte): (usize, u8)| match place {
            0 | 1 => byte.is_ascii_uppercase(),
            2 => byte == b'-',
            _ => byte.is_ascii_digit(),
        };
        if self.plate.len() == 6 && self.plate.bytes().enumerate().all(fits) {
            return Ok(());
        }
        Err(Invalid::at("plate", format!("{:?} is none", self.plate)))
    }
}

node!(AskRanges -> Ranges);

node!(AskScalar -> u64);
node!(AskBool -> bool);
node!(AskList -> Vec<String>);
node!(AskRootEnum -> Topic);
node!(AskOption -> Option<u16>);

#[llm_output]
#[serde(rename_all = "camelCase")]
pub(crate) struct Renamed {
    first_name: String,
    #[serde(rename = "größe \"in\" cm")]
    height: u8,
}

node!(AskRenamed -> Renamed);

#[llm_output]
pub(crate) struct Flattened {
    id: u32,
    #[serde(flatten)]
    address: Address,
}

node!(AskFlattened -> Flattened);

/// Derives of one's own.
#[llmnode::validate]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Own {
    word: String,
    inner: OwnInner,
}

#[llmnode::validate]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct OwnInner {
    on: bool,
}

#[validate]
impl OwnInner {
    fn is_doubtful(&self) -> Result<(), Invalid> {
        Err(Invalid::warn("was seen by its validator"))
    }
}

node!(AskOwn -> Own);

// A type of another crate, with its own `Deserialize` and schemars' schema.
node!(AskForeign -> Range<u32>);
