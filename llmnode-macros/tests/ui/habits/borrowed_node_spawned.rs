// Cause: a task that may outlive the function borrows a node of the function.
// Mend: move the nodes into the tasks: `for node in nodes`, and `run.call(&node)`.
// Token: nodes
// Token: spawn(
use llmnode::prelude::*;

#[llm_node(prompt = "Greet {name}.")]
struct Greet {
    name: String,
}

fn spawn<F>(task: F) -> tokio::task::JoinHandle<F::Output>
where
    F: Future<Output: Send> + Send + 'static,
{
    tokio::spawn(task)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let run = Run::new(ScriptedModel::new().reply("1").reply("2"));
    let nodes = vec![Greet { name: "Ada".into() }, Greet { name: "Bob".into() }];

    let mut tasks = Vec::new();
    for node in nodes.iter() {
        let run = run.clone();
        tasks.push(spawn(async move { run.call(node).await }));
    }
    for task in tasks {
        println!("{}", task.await??);
    }
    Ok(())
}
