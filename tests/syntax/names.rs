//! Names that clash with those of generated code, or that could be mistaken for something else.

use llmnode::{Invalid, Node, llm_node, llm_output, validate};

use crate::support::{Choice, World, messages, paths, prompt, world};

const TOPIC: u8 = 1;
static STYLE: u8 = 2;
#[expect(non_upper_case_globals, reason = "as a variable is called")]
const topic: u8 = TOPIC;
#[expect(non_upper_case_globals, reason = "as a variable is called")]
static style: u8 = STYLE;
fn tone() -> u8 {
    topic + style
}

#[llm_node(
    prompt = "{topic} {style} {tone} {self_} {in}",
    system = "{type} {async:?}"
)]
#[derive(Debug)]
struct r#Match {
    topic: u8,
    style: u8,
    tone: u8,
    self_: u8,
    r#in: u8,
    r#type: u8,
    r#async: u8,
}

#[llm_node(
    prompt = "{to} {cx} {error} {value} {field_0} {__llmnode} {private} {attempt} {checked} {inner:?}"
)]
#[derive(Debug)]
#[expect(non_camel_case_types, reason = "as a keyword is called")]
struct r#match {
    to: u8,
    cx: u8,
    error: u8,
    value: u8,
    field_0: u8,
    __llmnode: u8,
    private: u8,
    attempt: u8,
    checked: u8,
    inner: u8,
}

#[tokio::test]
async fn fields_named_like_others() {
    assert_eq!(tone(), 3);
    let node = Match {
        topic: 3,
        style: 4,
        tone: 5,
        self_: 6,
        r#in: 7,
        r#type: 8,
        r#async: 9,
    };
    let messages = messages((), &node).await;
    assert_eq!(
        (&*messages[0].content, &*messages[1].content),
        ("8 9", "3 4 5 6 7")
    );
    let node = r#match {
        to: 1,
        cx: 2,
        error: 3,
        value: 4,
        field_0: 5,
        __llmnode: 6,
        private: 7,
        attempt: 8,
        checked: 9,
        inner: 10,
    };
    assert_eq!(prompt(&node).await, "1 2 3 4 5 6 7 8 9 10");
    assert_eq!((Match::NAME, r#match::NAME), ("match", "match"));
}

#[llm_output(state = World)]
#[derive(Debug)]
struct OddNames {
    to: Choice,
    field_0: Choice,
    r#type: Choice,
    state: Choice,
    value: Choice,
    attempt: Choice,
    __llmnode: Choice,
}

#[validate]
impl OddNames {
    fn to(&self) -> Result<(), Invalid> {
        Err(Invalid::at("type", "found"))
    }

    fn checks(&self, to: &World) -> Result<(), Invalid> {
        drop(to.clone());
        Err(Invalid::at("to", "found"))
    }

    fn r#match(&self) -> Result<(), Invalid> {
        Err(Invalid::new("found"))
    }

    fn fields(&self) -> Result<(), Invalid> {
        Ok(())
    }
}

#[llm_node(prompt = "x", output = OddNames, state = World)]
#[derive(Debug)]
struct AskOddNames;

#[tokio::test]
async fn members_named_like_generated_ones() {
    let names = [
        "to",
        "field_0",
        "type",
        "state",
        "value",
        "attempt",
        "__llmnode",
    ];
    let members: Vec<_> = names
        .iter()
        .map(|name| format!(r#""{name}": {{"item": "axe"}}"#))
        .collect();
    let found = paths(world(), &AskOddNames, &format!("{{{}}}", members.join(","))).await;
    let expected: Vec<_> = names.iter().map(|name| format!("{name}.item")).collect();
    assert_eq!(found[..7], expected);
    assert_eq!(found[7..], ["type", "to", ""]);
}

/// Every short name that generated code could reach for is another thing here.
mod shadowed {
    #![allow(dead_code, non_camel_case_types, unused_macros)]

    pub(super) mod core {}
    pub(super) mod std {}
    pub(super) mod llmnode {}
    pub(super) mod serde {}
    pub(super) mod schemars {}
    pub(super) struct u8;
    pub(super) struct str;
    pub(super) struct usize;
    pub(super) struct bool;
    pub(super) struct String;
    pub(super) struct Result;
    pub(super) struct Option;
    pub(super) struct Some;
    pub(super) struct None;
    pub(super) struct Ok;
    pub(super) struct Err;
    pub(super) struct Vec;
    pub(super) struct Box;
    pub(super) struct Self_;
    pub(super) trait Send {}
    pub(super) trait Sync {}
    pub(super) trait Sized {}
    pub(super) trait Fn {}
    pub(super) trait From {}
    pub(super) trait Into {}
    pub(super) trait Future {}
    pub(super) struct AnyState;
    pub(super) struct Node;
    macro_rules! concat {
        ($($tt:tt)*) => {
            compile_error!("shadowed")
        };
    }
    macro_rules! format_args {
        ($($tt:tt)*) => {
            compile_error!("shadowed")
        };
    }
    macro_rules! module_path {
        ($($tt:tt)*) => {
            compile_error!("shadowed")
        };
    }
    macro_rules! unreachable {
        ($($tt:tt)*) => {
            compile_error!("shadowed")
        };
    }

    type Text = ::std::string::String;

    #[::llmnode::llm_node(
        prompt = "{state.items:list} {a:>3} {b:or(none)} {c:json}",
        state = super::World,
        retries = 0,
        model = "m",
        fallback = fall,
        recover(transport = [retry(1, 1s..2s), fallback]),
        limits(requests = 3), deadline = 1s,
    )]
    pub(super) struct Ask {
        pub(super) a: Text,
        pub(super) b: ::core::option::Option<Text>,
        pub(super) c: ::std::vec::Vec<Text>,
    }

    fn fall(_: &Ask, _: &super::World, _: &::llmnode::NodeError) -> Text {
        Text::new()
    }

    impl ::std::fmt::Debug for Ask {
        fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
            f.write_str("Ask")
        }
    }
}

#[tokio::test]
async fn shadowed_names() {
    let node = shadowed::Ask {
        a: "x".into(),
        b: None,
        c: vec![],
    };
    assert_eq!(
        messages(world(), &node).await[0].content,
        "- key   x none []"
    );
}

/// An output where names are shadowed: those that the derives of serde and schemars reach for are theirs to guard.
mod shadowed_output {
    #![allow(dead_code, non_camel_case_types)]

    mod core {}
    mod std {}
    mod llmnode {}
    struct String;
    struct Result;
    struct Option;
    struct Vec;
    struct Ok;
    struct Err;
    struct Some;
    struct Box;
    trait Send {}
    trait Sync {}

    #[::llmnode::llm_output(state = super::World)]
    pub(super) struct Page {
        pub(super) choice: super::Choice,
        pub(super) list: ::std::vec::Vec<super::Choice>,
    }

    #[::llmnode::validate]
    impl Page {
        fn bad(&self, _: &super::World) -> ::core::result::Result<(), ::llmnode::Invalid> {
            ::core::result::Result::Err(::llmnode::Invalid::new("bad"))
        }
        async fn worse(&self) -> ::core::result::Result<(), ::llmnode::Invalid> {
            ::core::result::Result::Err(::llmnode::Invalid::new("worse"))
        }
    }

    impl ::std::fmt::Debug for Page {
        fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
            f.write_str("Page")
        }
    }

    #[::llmnode::llm_node(prompt = "x", output = Page, state = super::World)]
    pub(super) struct Ask;

    impl ::std::fmt::Debug for Ask {
        fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
            f.write_str("Ask")
        }
    }
}

#[tokio::test]
async fn shadowed_names_around_an_output() {
    let answer = r#"{"choice": {"item": "axe"}, "list": [{"item": "axe"}]}"#;
    assert_eq!(
        paths(world(), &shadowed_output::Ask, answer).await,
        ["choice.item", "list[0].item", "", ""]
    );
}

mod elsewhere {
    pub(super) mod again {
        pub(crate) use llmnode::*;
    }
    pub(super) use llmnode as other;
    pub(super) use llmnode::llm_node as node;
    pub(super) use llmnode::llm_output as output;
    pub(super) use llmnode::validate as check;
}

#[elsewhere::output]
#[derive(Debug)]
struct Out {
    a: u8,
}

#[elsewhere::check]
impl Out {
    fn small(&self) -> Result<(), Invalid> {
        if self.a > 1 {
            Err(Invalid::at("a", "large"))
        } else {
            Ok(())
        }
    }
}

#[elsewhere::node(prompt = "{a}", output = Out, crate = crate::names::elsewhere::other)]
#[derive(Debug)]
struct Renamed {
    a: u8,
}

#[elsewhere::again::llm_node(prompt = "{a}", output = Out, crate = crate::names::elsewhere::again)]
#[derive(Debug)]
struct Reexported {
    a: u8,
}

#[tokio::test]
async fn other_ways_to_the_crate() {
    assert_eq!(paths((), &Renamed { a: 1 }, r#"{"a": 2}"#).await, ["a"]);
    assert_eq!(paths((), &Reexported { a: 1 }, r#"{"a": 2}"#).await, ["a"]);
}
