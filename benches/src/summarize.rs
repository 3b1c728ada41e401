//! Rendering a prompt of about 2 KB with five variables, and the same by `format!`.

use llmnode::__private::{LlmNode, Prompt};
use llmnode::llm_node;

#[llm_node(
    prompt = "You write summaries for {audience}.\nTitle: {title}\nGoal: {goal}\nText:\n{text}\n\
                     Summarize the text in at most {words} words, and name no one."
)]
pub struct Summarize {
    audience: String,
    title: String,
    goal: String,
    text: String,
    words: u32,
}

impl Summarize {
    pub fn example() -> Summarize {
        Summarize {
            audience: "people who read on a small screen".to_owned(),
            title: "The lamp, the rope and the door at the end of the corridor".to_owned(),
            goal: "to find out whether the text is worth reading".to_owned(),
            text: "It was dark, and the corridor went on and on. ".repeat(40),
            words: 120,
        }
    }
}

pub fn by_llmnode(node: &Summarize) -> Prompt {
    let mut prompt = Prompt::new();
    node.render(&(), &mut prompt);
    prompt
}

pub fn by_format(
    Summarize {
        audience,
        title,
        goal,
        text,
        words,
    }: &Summarize,
) -> String {
    format!(
        "You write summaries for {audience}.\nTitle: {title}\nGoal: {goal}\nText:\n{text}\n\
         Summarize the text in at most {words} words, and name no one."
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_write_the_same() {
        let node = Summarize::example();
        assert_eq!(by_llmnode(&node).messages()[0].content, by_format(&node));
    }
}
