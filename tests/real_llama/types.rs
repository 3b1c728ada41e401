//! Types with validators, or requested many times, and a node for each. Types of every shape are in the zoo.

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

#[llm_output]
#[serde(rename_all = "camelCase")]
pub(crate) struct Renamed {
    first_name: String,
    #[serde(rename = "größe \"in\" cm")]
    height: u8,
}

node!(AskRenamed -> Renamed);

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
