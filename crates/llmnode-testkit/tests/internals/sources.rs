//! The modules of the macro crate, for the tests here and for `fuzz/`. A root that includes them also has them by a
//! glob, so that `crate::node` is found as in the macro crate.

#[path = "../../../../llmnode-macros/src"]
mod modules {
    #[macro_use]
    pub(crate) mod generated;

    pub(crate) mod action;
    pub(crate) mod cfg;
    pub(crate) mod choices;
    pub(crate) mod crate_path;
    pub(crate) mod description;
    pub(crate) mod diagnostics;
    pub(crate) mod expression;
    pub(crate) mod flow;
    pub(crate) mod generics;
    pub(crate) mod ide;
    pub(crate) mod item;
    pub(crate) mod literals;
    pub(crate) mod macro_args;
    pub(crate) mod manifest;
    pub(crate) mod names;
    pub(crate) mod node;
    pub(crate) mod output;
    pub(crate) mod prompt;
    pub(crate) mod settings;
    pub(crate) mod step_impl;
    pub(crate) mod time;
    pub(crate) mod tool;
    pub(crate) mod validate;
}

pub(crate) use modules::*;
