// Cause: fields of an answer borrow.
// Mend: let them own their values, as `String` and `Vec<u32>` do.
// Errors: 3
use llmnode::prelude::*;

#[llm_output]
struct Author {
    name: String,
}

#[llm_output]
struct Headline<'a> {
    title: &'a str,
    pages: Option<&'a [u32]>,
    author: &'a Author,
}

#[llm_node(prompt = "Write a headline for:\n{article}", output = Headline)]
struct WriteHeadline {
    article: String,
}

async fn use_it() -> Result<(), NodeError> {
    let run = Run::new(ScriptedModel::new());
    let headline = run.call(&WriteHeadline { article: "..".into() }).await?;
    println!("{} {:?} {}", headline.title, headline.pages, headline.author.name);
    Ok(())
}

fn main() {}
