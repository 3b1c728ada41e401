//! Nodes with all that one can have.

use super::support::{World, message, world};

pub(crate) async fn run() {
    all::run().await;
    texts::run().await;
}

/// 36. Every argument, as expressions of the program.
mod all {
    use super::{World, world};
    use llmnode::prelude::*;
    use llmnode::testing::request_of;

    #[llm_output]
    #[derive(Debug, Clone)]
    struct Choice {
        item: String,
        parts: Vec<Part>,
    }

    #[llm_output]
    #[derive(Debug, Clone)]
    struct Part {
        name: String,
    }

    #[llm_node(
        system = concat!("You are ", "{who}."),
        prompt = "{goal} {count}\n{state.items:list}",
        with(count = state.items.len() + self.goal.len(), who = { let who = self.goal.len(); if who == 0 { "a nobody" } else { "an adventurer" } }),
        output = Choice,
        state = World,
        model = "small",
        retries = 2,
        deadline = 2m,
        temperature = 0.5,
        max_tokens = 256,
        limits(requests = 5, tokens = 2_000),
        recover(schema_error = [repair(1), fallback], transport = [retry(1, 1s..2s), bubble]),
        fallback = Self::fall_back,
        examples = [(Self { goal: "x".into() }, Choice { item: "key".into(), parts: vec![Part { name: "key".into() }] })],
        choices(item = state.items, parts[].name = state.items),
        idempotent = true,
    )]
    struct Ask {
        goal: String,
    }

    impl Ask {
        fn fall_back(&self, _: &World, _: &NodeError) -> Choice {
            Choice {
                item: self.goal.clone(),
                parts: vec![],
            }
        }
    }

    pub(super) async fn run() {
        let request = request_of(&Ask { goal: "go".into() }, &world());
        assert_eq!(
            request
                .messages
                .last()
                .map(|message| message.content.as_str()),
            Some("go 3\n- key")
        );
        assert!(request.transcript().contains("You are an adventurer."));
    }
}

/// 37. Prompts with every specification.
mod texts {
    use super::message;
    use llmnode::prelude::*;

    #[llm_node(
        prompt = "{{{a:>4}}} {a:<+3}|{b:^8.2}|{c:#?}|{c:?}|{d:08.3}|{e:e}|{f:#x}|{g:*^5}|{h:or(no \"one\" here)}|{i:json}\n{j:list}\u{e9}\n\t\x41"
    )]
    struct Ask {
        a: u8,
        b: &'static str,
        c: Option<u8>,
        d: f64,
        e: f32,
        f: u32,
        g: char,
        h: Option<String>,
        i: (u8, Option<&'static str>),
        j: [u8; 2],
    }

    #[llm_node(prompt = r#"a "raw" text: {a}
\n is no line"#)]
    struct Raw {
        a: u8,
    }

    pub(super) async fn run() {
        let node = Ask {
            a: 1,
            b: "abc",
            c: None,
            d: 1.5,
            e: 1.0,
            f: 255,
            g: 'x',
            h: Some("y".into()),
            i: (1, None),
            j: [1, 2],
        };
        assert!(
            message(&node).starts_with(
                "{   1} +1 |   ab   |None|None|0001.500|1e0|0xff|**x**|y|[1,null]\n- 1\n- 2é"
            ),
            "{}",
            message(&node)
        );
        assert_eq!(message(&Raw { a: 1 }), "a \"raw\" text: 1\n\\n is no line");
    }
}
