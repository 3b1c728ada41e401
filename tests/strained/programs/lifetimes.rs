//! Nodes that borrow.

use super::support::message;

pub(crate) async fn run() {
    borrowed::run().await;
    objects::run().await;
    owned::run().await;
}

/// 21. Two lifetimes, slices of slices, conversations.
mod borrowed {
    use super::message;
    use llmnode::prelude::*;
    use std::borrow::Cow;

    #[llm_node(prompt = "{words:list}\n{title} {tail:or(-)}")]
    #[derive(Debug, Clone, Copy)]
    struct Ask<'a, 'b> {
        words: &'a [&'b str],
        title: &'a Cow<'b, str>,
        tail: Option<&'b str>,
        #[node(history)]
        before: &'a [Message],
        #[node(skip)]
        id: &'static str,
    }

    pub(super) async fn run() {
        let (words, title) = (["a".to_owned()], Cow::Borrowed("t"));
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let node = Ask {
            words: &words,
            title: &title,
            tail: None,
            before: &[],
            id: "x",
        };
        assert_eq!((message(&node).as_str(), node.id), ("- a\nt -", "x"));
    }
}

/// 22. Trait objects and functions.
mod objects {
    use super::message;
    use llmnode::prelude::*;
    use std::fmt::Display;
    use std::sync::Arc;

    #[llm_node(prompt = "{it} {other}\n{third:list}")]
    struct Ask<'a> {
        it: &'a (dyn Display + Sync),
        other: Box<dyn Display + Send + Sync + 'a>,
        third: Vec<Arc<dyn Display + Send + Sync>>,
        #[node(skip)]
        make: fn(&'a str) -> &'a str,
    }

    pub(super) async fn run() {
        let node = Ask {
            it: &1,
            other: Box::new("b"),
            third: vec![Arc::new('c')],
            make: |text| text,
        };
        assert_eq!(message(&node), "1 b\n- c");
        assert_eq!((node.make)("x"), "x");
    }
}

/// 23. A function that makes nodes and calls them behind a trait object.
mod owned {
    use llmnode::prelude::*;

    #[llm_node(prompt = "{name}", output = u8)]
    struct Ask<'a> {
        name: &'a str,
    }

    async fn ask(run: &Run, name: &str) -> Result<u8, NodeError> {
        let names = [name, name];
        let both = run.map(names.map(|name| Ask { name })).try_all().await?;
        Ok(both.iter().sum())
    }

    pub(super) async fn run() {
        let run = Run::new(super::super::support::model(["1", "2"]));
        let task = tokio::spawn(async move { ask(&run, "x").await });
        assert_eq!(task.await.ok().and_then(Result::ok), Some(3));
    }
}
