//! Nodes, outputs and validators wherever items can be declared: in functions, constants and modules, beside items of the
//! same names.

use llmnode::{AttemptInfo, Invalid, llm_node, llm_output, validate};

use crate::support::{paths, prompt};

#[tokio::test]
async fn in_a_function_around_local_types() {
    #[derive(Debug)]
    struct State {
        most: u8,
    }

    #[llm_output]
    #[derive(Debug)]
    struct Row(u8);

    #[validate]
    impl Row {
        fn small(&self, state: &State, _: &AttemptInfo) -> Result<(), Invalid> {
            if self.0 > state.most {
                Err(Invalid::new("large"))
            } else {
                Ok(())
            }
        }
    }

    #[llm_output(state = State)]
    #[derive(Debug)]
    struct Sheet {
        answer: Answer,
    }

    #[llm_output(state = State)]
    #[derive(Debug)]
    struct Answer {
        rows: Vec<Row>,
    }

    #[llm_node(prompt = "{state.most}", output = Sheet, state = State)]
    #[derive(Debug)]
    struct Ask;

    let found = paths(State { most: 1 }, &Ask, r#"{"answer": {"rows": [1, 2]}}"#).await;
    assert_eq!(found, ["answer.rows[1]"]);
}

#[tokio::test]
async fn in_blocks_and_closures() {
    let made = || {
        #[llm_node(prompt = "{a}")]
        #[derive(Debug)]
        struct InClosure {
            a: u8,
        }
        InClosure { a: 1 }
    };
    assert_eq!(prompt(&made()).await, "1");
    if let Some(text) = Some("x") {
        #[llm_node(prompt = "{text}")]
        #[derive(Debug)]
        struct InBlock<'a> {
            text: &'a str,
        }
        assert_eq!(prompt(&InBlock { text }).await, "x");
    }
}

#[derive(Debug)]
struct Owner;

const _: () = {
    #[llm_node(prompt = "{a}")]
    #[derive(Debug)]
    pub(crate) struct InConst {
        a: u8,
    }

    impl Owner {
        fn node() -> impl llmnode::Exec<(), Output = String> {
            InConst { a: 1 }
        }
    }
};

#[tokio::test]
async fn in_a_constant() {
    assert_eq!(prompt(&Owner::node()).await, "1");
}

impl Owner {
    fn inside(&self) -> impl llmnode::Exec<(), Output = u8> {
        #[llm_node(prompt = "x", output = u8)]
        #[derive(Debug)]
        struct InMethod;
        InMethod
    }
}

#[tokio::test]
async fn in_a_method() {
    assert_eq!(prompt(&Owner.inside()).await, "x");
}

mod outer {
    pub(super) mod inner {
        use super::super::*;

        #[llm_node(prompt = "{a}", output = super::Text)]
        #[derive(Debug)]
        pub(in super::super) struct Deep {
            pub(in super::super) a: super::Text,
        }
    }
    pub(super) type Text = String;
}

#[tokio::test]
async fn in_nested_modules() {
    assert_eq!(prompt(&outer::inner::Deep { a: "x".into() }).await, "x");
}
