//! The caches of OpenAI's older models: each machine keeps the prompts that it had.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use super::blocks::CachePrompt;
use super::cache_rules::{BilledPrompt, CacheRules};

/// A key leads to one machine for so many requests a minute; the others go to machines that have nothing.
const REQUESTS_OF_A_KEY: usize = 15;
const MINUTE: Duration = Duration::from_secs(60);
/// Without a key, requests go to so many machines in turn.
const MACHINES: usize = 4;
const STEP: u64 = 128;
const BYTES_OF_A_TOKEN: usize = 4;
/// Prompts of one machine that are compared with.
const MOST_PROMPTS: usize = 64;

#[derive(Debug, Default)]
pub(super) struct Machines {
    by_key: HashMap<String, Machine>,
    requests: usize,
}

#[derive(Debug, Default)]
struct Machine {
    prompts: VecDeque<KeptPrompt>,
    recent: VecDeque<Duration>,
}

#[derive(Debug)]
struct KeptPrompt {
    text: Arc<str>,
    from: Duration,
    until: Duration,
}

impl Machines {
    pub(super) fn bill(
        &mut self,
        rules: &CacheRules,
        prompt: &CachePrompt,
        at: Duration,
        answered: Duration,
    ) -> BilledPrompt {
        let input = prompt.blocks.last().map_or(0, |block| block.end);
        let mut billed = BilledPrompt {
            input,
            ..BilledPrompt::default()
        };
        self.requests += 1;
        let key = match &prompt.key {
            Some(key) => format!("key {key}"),
            None => format!("machine {}", self.requests % MACHINES),
        };
        let machine = self.by_key.entry(key).or_default();
        while machine
            .recent
            .front()
            .is_some_and(|before| at.saturating_sub(*before) >= MINUTE)
        {
            machine.recent.pop_front();
        }
        machine.recent.push_back(at);
        if machine.recent.len() > REQUESTS_OF_A_KEY {
            return billed;
        }
        let same = machine.longest(&prompt.text, at) / BYTES_OF_A_TOKEN;
        let read = same as u64 / STEP * STEP;
        if read >= rules.least {
            billed.read = read.min(input);
        }
        if machine.prompts.len() >= MOST_PROMPTS {
            machine.prompts.pop_front();
        }
        machine.prompts.push_back(KeptPrompt {
            text: Arc::clone(&prompt.text),
            from: answered,
            until: answered + rules.ttl,
        });
        billed
    }
}

impl Machine {
    /// The longest beginning, in bytes, that a prompt of this machine has, too.
    fn longest(&self, text: &str, at: Duration) -> usize {
        let kept = self
            .prompts
            .iter()
            .filter(|prompt| prompt.from <= at && at <= prompt.until);
        kept.map(|prompt| same_bytes(&prompt.text, text))
            .max()
            .unwrap_or(0)
    }
}

/// How many bytes both begin with.
fn same_bytes(one: &str, other: &str) -> usize {
    let both = one.bytes().zip(other.bytes());
    both.take_while(|(one, other)| one == other).count()
}
