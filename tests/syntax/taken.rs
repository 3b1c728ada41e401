//! Items in scope with the names of variables, parameters and traits in generated code: a pattern resolves to a constant
//! rather than bind, and a parameter or an import hides a type.

use llmnode::{Invalid, Message, NodeError, llm_node, llm_output, validate};

use crate::support::{Choice, World, messages, paths, world};

/// Constants and the like, as variables are called.
mod variables {
    #![expect(
        non_upper_case_globals,
        non_camel_case_types,
        reason = "as variables are called"
    )]

    use super::{Choice, Invalid, Message, NodeError, World, llm_node, llm_output, validate};

    const to: u8 = 1;
    static cx: u8 = 2;
    const value: u8 = 3;
    static error: u8 = 4;
    const attempt: u8 = 5;
    const field_0: u8 = 6;
    struct field_1;

    pub(super) fn sum() -> u8 {
        let _: field_1 = field_1;
        to + cx + value + error + attempt + field_0
    }

    #[llm_output(state = World)]
    #[derive(Debug)]
    pub(super) struct Pair<T> {
        choice: T,
        others: (Choice, Choice),
    }

    #[validate]
    impl<T> Pair<T> {
        fn whole(&self, _: &World, _: &llmnode::AttemptInfo) -> Result<(), Invalid> {
            Err(Invalid::new("found"))
        }
    }

    async fn check(_: &Pair<Choice>, _: &World, _: &llmnode::AttemptInfo) -> Result<(), Invalid> {
        Err(Invalid::new("checked"))
    }

    #[llm_node(
        system = "{n} {state.items:list}",
        prompt = "{a}",
        with(n = sum() + self.a),
        output = Pair<Choice>,
        state = World,
        validate = check,
        fallback = Ask::instead,
        examples = [("a", Pair { choice: key(), others: (key(), key()) })],
    )]
    #[derive(Debug)]
    pub(super) struct Ask {
        pub(super) a: u8,
        #[node(history)]
        pub(super) history: Vec<Message>,
    }

    impl Ask {
        fn instead(&self, _: &World, failed: &NodeError) -> Result<Pair<Choice>, String> {
            Err(failed.to_string())
        }
    }

    fn key() -> Choice {
        Choice { item: "key".into() }
    }

    #[llm_node(prompt = "{a}", output = Vec<T>, fallback = Generic::none)]
    #[derive(Debug)]
    pub(super) struct Generic<T> {
        pub(super) a: T,
    }

    impl<T> Generic<T> {
        fn none(&self, _: &NodeError) -> Vec<T> {
            vec![]
        }
    }
}

#[tokio::test]
async fn constants_called_as_variables() {
    let node = variables::Ask {
        a: 1,
        history: vec![Message::user("earlier")],
    };
    let sent: Vec<_> = messages(world(), &node)
        .await
        .into_iter()
        .map(|message| message.content)
        .collect();
    assert_eq!(
        (&*sent[0], &*sent[3], &*sent[4]),
        ("22 - key", "earlier", "1")
    );
    let bad = r#"{"choice": {"item": "axe"}, "others": [{"item": "key"}, {"item": "axe"}]}"#;
    assert_eq!(
        paths(world(), &node, bad).await,
        ["choice.item", "others[1].item", "", ""]
    );
    assert_eq!(
        messages((), &variables::Generic { a: 2 }).await[0].content,
        "2"
    );
}

/// Types as the parameter of any state, the traits of generated code, and a prompt file are called.
mod types {
    use super::{Invalid, llm_node, llm_output, validate};

    #[llm_output]
    #[derive(Debug)]
    pub(super) struct AnyState {
        pub(super) a: u8,
    }

    #[validate]
    impl AnyState {
        fn none(&self) -> Result<(), Invalid> {
            Err(Invalid::at("a", "found"))
        }
    }

    #[llm_output]
    #[derive(Debug)]
    pub(super) struct Marked {
        pub(super) state: AnyState,
        pub(super) others: Vec<TraverseFields>,
    }

    #[llm_output]
    #[derive(Debug)]
    pub(super) struct TraverseFields {
        pub(super) state: AnyState,
    }

    #[llm_node(prompt = "{n}", with(n = AnyState { a: 1 }.a), output = Marked)]
    #[derive(Debug)]
    pub(super) struct Ask;

    #[llm_node(prompt_file = "../calls/texts/World", state = super::World)]
    #[derive(Debug)]
    pub(super) struct World;
}

#[tokio::test]
async fn types_called_as_generated_ones() {
    let answer = r#"{"state": {"a": 1}, "others": [{"state": {"a": 1}}]}"#;
    assert_eq!(
        paths((), &types::Ask, answer).await,
        ["state.a", "others[0].state.a"]
    );
    assert_eq!(
        messages(world(), &types::World).await[0].content,
        "Items:\n- key"
    );
}

/// Fields and modules called as what `with` sees, on a node without a state.
mod state {
    use super::llm_node;

    struct Place {
        state: u8,
    }

    pub(super) fn one() -> u8 {
        1
    }

    #[llm_node(prompt = "{n}", with(n = Place { state: 1 }.state + super::state::one()))]
    #[derive(Debug)]
    pub(super) struct Ask;
}

#[tokio::test]
async fn others_called_state() {
    assert_eq!(messages((), &state::Ask).await[0].content, "2");
}

/// Traits of the program for every type, with methods that are called as those of generated code.
mod blanket {
    #![expect(dead_code, reason = "the names alone count")]

    use super::{
        Choice, Invalid, Message, NodeError, World, llm_node, llm_output, messages, paths,
        validate, world,
    };

    macro_rules! for_all {
        ($by_reference:ident $by_value:ident: $($name:ident)*) => {
            trait $by_reference {
                $(fn $name(&self) {})*
            }
            impl<T: ?Sized> $by_reference for T {}
            mod by_value {
                pub(super) trait $by_value: Sized {
                    $(fn $name(self) {})*
                }
                impl<T> $by_value for T {}
            }
        };
    }

    for_all! { ByReference ByValue:
        walk walk_without_state coverage mark text cloned segment unboxed opened passed form action user system field
        index sync future names enter validated each add call listed retries render output model choices fallback tools
        extend turns done checks fields all dive exec history examples fence json list attach raw dereferenced
    }

    #[llm_output(state = World)]
    #[derive(Debug, Clone)]
    struct Pair<T> {
        one: T,
        all: Vec<Choice>,
        two: (Choice, Option<Box<Choice>>),
    }

    #[validate]
    impl<T> Pair<T> {
        fn whole(&self) -> Result<(), Invalid> {
            Err(Invalid::new("found"))
        }
    }

    /// Looks.
    #[llmnode::tool]
    fn look(at: Choice, _: &World) -> Result<String, String> {
        Ok(at.item)
    }

    fn instead(_: &Ask, _: &World, _: &NodeError) -> Result<Pair<Choice>, String> {
        Err("none".into())
    }

    #[llm_node(
        system = "{n} {state.items:list}",
        prompt = "{a}",
        with(n = 1 + 1),
        output = Pair<Choice>,
        state = World,
        tools = [Look],
        turns = 2,
        choices(one.item = state.items, all[].item = state.items),
        fallback = instead,
    )]
    #[derive(Debug)]
    struct Ask {
        a: u8,
        #[node(history)]
        earlier: Vec<Message>,
    }

    #[tokio::test]
    async fn methods_called_as_generated_ones() {
        let node = Ask {
            a: 1,
            earlier: vec![],
        };
        assert_eq!(messages(world(), &node).await[1].content, "1");
        let (good, bad) = (r#"{"item": "key"}"#, r#"{"item": "axe"}"#);
        let answer = format!(r#"{{"one": {good}, "all": [{good}], "two": [{bad}, null]}}"#);
        assert_eq!(paths(world(), &node, &answer).await, ["two[0].item", ""]);
    }

    mod of_values {
        use super::by_value::ByValue as _;
        use super::{Choice, World, llm_node, messages, world};

        #[llm_node(prompt = "{a} {state.items:list}", output = Vec<Choice>, state = World, choices(self[].item = state.items))]
        #[derive(Debug)]
        struct Ask {
            a: u8,
        }

        #[tokio::test]
        async fn methods_that_take_a_value() {
            ().walk();
            assert_eq!(messages(world(), &Ask { a: 1 }).await[0].content, "1 - key");
        }
    }
}
