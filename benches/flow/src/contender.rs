//! Who does the task, by name.

use std::time::{Duration, Instant};

use llmnode::journal::Fsync;
use llmnode::{BoxFuture, Run, ScriptedModel};
use tokio::runtime::{Builder, Runtime};

use crate::measure::cpu;
use crate::{by_floxide, by_graph, by_graph_flow, by_hand, by_llmnode};

/// Makes a run of so many steps, which say whether they give other tasks a turn; it ends with what was counted.
type Start = Box<dyn Fn(u64, bool) -> BoxFuture<'static, u64>>;

/// What is measured: so many runs side by side, of so many steps each.
#[derive(Clone, Copy)]
pub struct Load {
    pub steps: u64,
    pub runs: u64,
    /// Whether each step gives other tasks a turn.
    pub yields: bool,
}

impl Load {
    /// From `STEPS RUNS yes|no`.
    pub fn parse(arguments: &[String]) -> Option<Load> {
        let [steps, runs, yields] = arguments else {
            return None;
        };
        Some(Load {
            steps: steps.parse().ok()?,
            runs: runs.parse().ok()?,
            yields: yields == "yes",
        })
    }
}

/// A library, ready to run.
pub struct Contender {
    start: Start,
    runtime: Runtime,
}

impl Contender {
    /// `None`: nobody is called so.
    pub fn named(name: &str) -> Option<Contender> {
        let start: Start = match name {
            "hand" => Box::new(|steps, yields| Box::pin(by_hand::run(steps, yields))),
            "llmnode" => {
                let run = Run::new(ScriptedModel::new());
                Box::new(move |steps, yields| Box::pin(by_llmnode::run(run.clone(), steps, yields)))
            }
            "llmnode-built" => {
                let (run, flow) = (Run::new(ScriptedModel::new()), by_llmnode::built());
                Box::new(move |steps, yields| {
                    Box::pin(by_llmnode::run_built(
                        run.clone(),
                        flow.clone(),
                        steps,
                        yields,
                    ))
                })
            }
            "llmnode-graph" => {
                let run = Run::new(ScriptedModel::new());
                let graphs = std::sync::Mutex::new(std::collections::HashMap::new());
                Box::new(move |steps, yields| {
                    // What is made once is no part of a step.
                    let mut graphs = graphs.lock().unwrap();
                    let graph = graphs
                        .entry(steps)
                        .or_insert_with(|| by_graph::graph(steps))
                        .clone();
                    Box::pin(by_graph::run(run.clone(), graph, steps, yields))
                })
            }
            "llmnode-journal" => journalled(Fsync::Never),
            "llmnode-journal-fsync" => journalled(Fsync::EachStep),
            "floxide" => Box::new(|steps, yields| Box::pin(by_floxide::run(steps, yields))),
            "graph-flow" => {
                let graph = by_graph_flow::graph();
                Box::new(move |steps, yields| {
                    Box::pin(by_graph_flow::run(graph.clone(), steps, yields))
                })
            }
            _ => return None,
        };
        let runtime = Builder::new_current_thread().enable_time().build().unwrap();
        Some(Contender { start, runtime })
    }

    /// Does the task once.
    pub fn run(&self, load: Load) {
        let runs: Vec<_> = (0..load.runs)
            .map(|_| self.runtime.spawn((self.start)(load.steps, load.yields)))
            .collect();
        self.runtime.block_on(async {
            for run in runs {
                assert_eq!(run.await.unwrap(), load.steps / 2);
            }
        });
    }

    /// The time of so many times the task: of the processor, and by the clock.
    pub fn time(&self, load: Load, times: u64) -> [Duration; 2] {
        let (before, began) = (cpu(), Instant::now());
        (0..times).for_each(|_| self.run(load));
        [cpu() - before, began.elapsed()]
    }
}

fn journalled(fsync: Fsync) -> Start {
    let run = Run::new(ScriptedModel::new());
    Box::new(move |steps, yields| {
        Box::pin(by_llmnode::run_journalled(
            run.clone(),
            fsync,
            steps,
            yields,
        ))
    })
}
