//! Requests billed one after the other, as a provider's cache would.

use std::collections::HashMap;
use std::time::Duration;

use serde_json::Value;

use super::blocks::{Block, CachePrompt};
use super::cache_rules::{BilledPrompt, CacheProvider, CacheRules};
use super::older::Machines;

const MOST_MARKS: usize = 4;
/// In implicit mode, OpenAI looks for the ends of so many earlier messages.
const IMPLICIT_LOOKBACK: usize = 20;
/// Of the marks in a request, OpenAI looks for so many.
const EXPLICIT_LOOKBACK: usize = 80;
/// Anthropic looks for a kept prefix in so many blocks before a mark.
const ANTHROPIC_LOOKBACK: usize = 20;

/// Bills requests one after the other, as the provider's cache would.
///
/// ```
/// # mod llmnode { pub mod stub_server { pub use llmnode_stub::*; } }
/// use std::time::Duration;
/// use llmnode::stub_server::{CacheMeter, CacheRules};
/// use serde_json::json;
///
/// let mut meter = CacheMeter::new(CacheRules::anthropic());
/// let system = json!([{"type": "text", "text": "x".repeat(10_000), "cache_control": {"type": "ephemeral"}}]);
/// let body = json!({"model": "m", "system": system, "messages": [{"role": "user", "content": "Hi"}]});
/// let first = meter.bill(&body, Duration::ZERO, Duration::from_secs(1));
/// assert!(first.written > 2_000 && first.read == 0);
/// let second = meter.bill(&body, Duration::from_secs(9), Duration::from_secs(10));
/// assert_eq!(second.read, first.written);
/// ```
#[derive(Debug)]
pub struct CacheMeter {
    rules: CacheRules,
    /// By the hash of a prefix.
    kept: HashMap<u64, Kept>,
    machines: Machines,
    total: BilledPrompt,
    cost: f64,
}

#[derive(Clone, Copy, Debug)]
struct Kept {
    /// Not before the answer of the request that wrote it has begun.
    from: Duration,
    until: Duration,
    ttl: Duration,
}

impl CacheMeter {
    /// Creates a meter of a provider that has kept nothing yet.
    #[must_use]
    pub fn new(rules: CacheRules) -> CacheMeter {
        CacheMeter {
            rules,
            kept: HashMap::new(),
            machines: Machines::default(),
            total: BilledPrompt::default(),
            cost: 0.0,
        }
    }

    /// Bills the prompt of this request, and keeps of it what the rules say. `at`: when it came; `answered`: when its answer began,
    /// since when others can read it. Both count from the same moment.
    pub fn bill(&mut self, body: &Value, at: Duration, answered: Duration) -> BilledPrompt {
        self.bill_prompt(&CachePrompt::of(body), at, answered)
    }

    /// The same for a request that was read before.
    pub fn bill_prompt(
        &mut self,
        prompt: &CachePrompt,
        at: Duration,
        answered: Duration,
    ) -> BilledPrompt {
        let billed = match self.rules.provider {
            CacheProvider::OpenAi => self.bill_openai(prompt, at, answered),
            CacheProvider::Anthropic => self.bill_anthropic(prompt, at, answered),
            CacheProvider::OlderOpenAi => self.machines.bill(&self.rules, prompt, at, answered),
        };
        self.cost += self.rules.cost(&billed);
        self.total.input += billed.input;
        self.total.read += billed.read;
        self.total.written += billed.written;
        self.total.written_long += billed.written_long;
        billed
    }

    /// The sum of all prompts so far.
    #[must_use]
    pub fn total(&self) -> BilledPrompt {
        self.total
    }

    /// What they cost, in tokens of input at their full price.
    #[must_use]
    pub fn cost(&self) -> f64 {
        self.cost
    }

    fn bill_openai(
        &mut self,
        prompt: &CachePrompt,
        at: Duration,
        answered: Duration,
    ) -> BilledPrompt {
        let blocks = &prompt.blocks;
        let marks: Vec<usize> = prompt.marks().collect();
        let mut ends: Vec<usize> = Vec::new();
        if !prompt.is_explicit {
            ends.extend((0..blocks.len()).filter(|at| blocks[*at].ends_input));
        }
        let mut writes = marks.clone();
        // In implicit mode, one of the four is its own.
        let implicit = ends.last().copied();
        writes.drain(
            ..writes
                .len()
                .saturating_sub(MOST_MARKS - usize::from(implicit.is_some())),
        );
        writes.extend(implicit);
        let newest_marks = marks.iter().rev().take(EXPLICIT_LOOKBACK);
        let newest_ends = ends.iter().rev().take(IMPLICIT_LOOKBACK + 1);
        let reads = newest_marks.chain(newest_ends).copied().collect();
        self.read_and_write(blocks, reads, &writes, prompt.is_long, (at, answered))
    }

    fn bill_anthropic(
        &mut self,
        prompt: &CachePrompt,
        at: Duration,
        answered: Duration,
    ) -> BilledPrompt {
        let blocks = &prompt.blocks;
        let mut writes: Vec<usize> = prompt.marks().collect();
        if prompt.marks_end && writes.last() != Some(&(blocks.len() - 1)) {
            writes.push(blocks.len() - 1);
        }
        writes.truncate(MOST_MARKS);
        let mut reads = Vec::new();
        for mark in &writes {
            reads.extend(mark.saturating_sub(ANTHROPIC_LOOKBACK)..=*mark);
        }
        self.read_and_write(blocks, reads, &writes, prompt.is_long, (at, answered))
    }

    /// Whether a request that comes then reads everything up to the end of this block.
    fn is_kept(&self, block: &Block, at: Duration) -> bool {
        let kept = self.kept.get(&block.prefix);
        kept.is_some_and(|kept| kept.from <= at && at <= kept.until)
    }

    /// `reads`, `writes`: the blocks behind which a prefix may end.
    fn read_and_write(
        &mut self,
        blocks: &[Block],
        reads: Vec<usize>,
        writes: &[usize],
        is_long: bool,
        (at, answered): (Duration, Duration),
    ) -> BilledPrompt {
        let kept = reads
            .into_iter()
            .filter(|end| self.is_kept(&blocks[*end], at));
        let read = kept.max();
        let read_tokens = read.map_or(0, |end| blocks[end].end);
        if let Some(end) = read
            && let Some(kept) = self.kept.get_mut(&blocks[end].prefix)
        {
            kept.until = at + kept.ttl;
        }
        let mut written = 0;
        let ttl = if is_long {
            self.rules.long_ttl
        } else {
            self.rules.ttl
        };
        for end in writes {
            let block = &blocks[*end];
            if block.end < self.rules.least {
                continue;
            }
            written = written.max(block.end.saturating_sub(read_tokens));
            let kept = Kept {
                from: answered,
                until: answered + ttl,
                ttl,
            };
            let entry = self.kept.entry(block.prefix).or_insert(kept);
            // What is there already is only kept for longer.
            if at <= entry.until {
                entry.until = entry.until.max(kept.until);
            } else {
                *entry = kept;
            }
        }
        BilledPrompt {
            input: blocks.last().map_or(0, |block| block.end),
            read: read_tokens,
            written,
            written_long: if is_long { written } else { 0 },
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn text(letter: &str) -> String {
        letter.repeat(8_000)
    }

    fn of(rules: CacheRules, bodies: &[(u64, Value)]) -> Vec<BilledPrompt> {
        let mut meter = CacheMeter::new(rules);
        let bill = |(at, body): &(u64, Value)| {
            let at = Duration::from_secs(*at);
            meter.bill(body, at, at + SECOND)
        };
        bodies.iter().map(bill).collect()
    }

    #[test]
    fn openai_reads_back_turns_and_writes_every_prompt_of_a_map() {
        let item = |name: &str| json!({"messages": [{"role": "system", "content": text("s")}, {"role": "user", "content": name}]});
        let map = of(CacheRules::openai(), &[(0, item("a")), (9, item("b"))]);
        assert!(
            map[1].read == 0 && map[1].written == map[1].input,
            "{map:?}"
        );
        let marked = |name: &str| {
            let part = json!({"type": "text", "text": text("s"), "prompt_cache_breakpoint": {"mode": "explicit"}});
            json!({"prompt_cache_options": {"mode": "explicit"},
                "messages": [{"role": "system", "content": [part]}, {"role": "user", "content": name}]})
        };
        let map = of(CacheRules::openai(), &[(0, marked("a")), (9, marked("b"))]);
        assert!(
            map[1].read == map[0].written && map[1].written == 0,
            "{map:?}"
        );
        let mut turns = item("a");
        let first = turns.clone();
        let list = turns["messages"].as_array_mut().unwrap();
        list.extend([
            json!({"role": "assistant", "content": "A"}),
            json!({"role": "user", "content": "b"}),
        ]);
        let chat = of(
            CacheRules::openai(),
            &[(0, first.clone()), (9, turns), (2_000, first)],
        );
        assert_eq!(chat[1].read, chat[0].input);
        assert_eq!(chat[2].read, 0, "30 minutes");
    }

    #[test]
    fn anthropic_looks_back_twenty_blocks() {
        let mark = json!({"type": "ephemeral"});
        let body = |blocks: usize| {
            let mut content = vec![json!({"type": "text", "text": text("u")})];
            content.extend((1..blocks).map(|at| json!({"type": "text", "text": format!("{at}")})));
            json!({"cache_control": mark, "messages": [{"role": "user", "content": content}]})
        };
        let read = |blocks| of(CacheRules::anthropic(), &[(0, body(1)), (9, body(blocks))])[1].read;
        assert!(read(21) > 0);
        assert_eq!(read(22), 0);
        let unmarked = json!({"messages": [{"role": "user", "content": text("u")}]});
        assert_eq!(of(CacheRules::anthropic(), &[(0, unmarked)])[0].written, 0);
    }

    #[test]
    fn older_models_read_on_the_machine_of_the_key() {
        let body = |key: &str, name: &str| {
            json!({"prompt_cache_key": key,
                "messages": [{"role": "system", "content": text("s")}, {"role": "user", "content": name}]})
        };
        let all = of(
            CacheRules::older_openai(),
            &[
                (0, body("k", "a")),
                (9, body("k", "b")),
                (9, body("other", "b")),
            ],
        );
        assert!(
            all[1].read > 1_900 && all[1].read.is_multiple_of(128),
            "{all:?}"
        );
        assert_eq!(all[2].read, 0);
    }

    /// Responses wants an answer back with its id and empty lists; chat has the same text alone. No model reads more of the one.
    #[test]
    fn what_frames_a_text_is_not_billed() {
        let answer = "It goes to desk 4.";
        let chat = json!({"messages": [{"role": "user", "content": text("u")}, {"role": "assistant", "content": answer}]});
        let part =
            json!({"type": "output_text", "text": answer, "annotations": [], "logprobs": []});
        let responses = json!({"input": [{"role": "user", "content": [{"type": "input_text", "text": text("u")}]},
            {"type": "message", "id": "msg_0123456789", "role": "assistant", "status": "completed", "content": [part]}]});
        let call = json!({"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "look", "arguments": "{\"page\":1}"});
        for rules in [CacheRules::openai(), CacheRules::older_openai()] {
            let bills = of(rules, &[(0, chat.clone()), (0, responses.clone())]);
            assert_eq!(bills[0].input, bills[1].input);
            let bill = of(rules, &[(0, json!({"input": [call]}))])[0];
            assert_eq!(bill.input, 4, "look and its arguments: 14 bytes");
        }
    }
}
