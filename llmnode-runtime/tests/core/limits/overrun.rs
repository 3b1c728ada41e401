//! Prompts side by side exceed a limit by one call at most, whatever their script.

use proptest::prelude::*;

use super::*;
use llmnode_runtime::{DynNode, Request, Settings};

/// The price of a token.
const PRICE: f64 = 0.000_01;

/// A prompt, and what the model counts of it.
#[derive(Clone, Copy, Debug)]
struct Prompt {
    letter: char,
    letters: usize,
    /// Tokens of a thousand letters.
    ratio: usize,
    answer: u64,
    delay: u64,
}

impl Prompt {
    fn text(&self) -> String {
        self.letter.to_string().repeat(self.letters)
    }

    fn input(&self) -> u64 {
        (self.letters * self.ratio / 1_000) as u64
    }
}

/// The tokens and the money that calls of all prompts at once spend, and what the largest takes.
fn spent(prompts: Vec<Prompt>, at_once: usize, limits: Limits) -> (u64, f64, u64) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    runtime.unwrap().block_on(async {
        let node = DynNode::builder("say").text().build().unwrap();
        let nodes: Vec<_> = prompts.iter().map(|prompt| node.ask(prompt.text())).collect();
        let largest = prompts.iter().map(|prompt| prompt.input() + prompt.answer).max().unwrap_or(0);
        let model = FnModel::new(move |request: &Request| {
            let text = &request.messages[0].content;
            let prompt = prompts.iter().find(|prompt| prompt.text() == *text).unwrap();
            let usage = TokenUsage::new(prompt.input(), prompt.answer);
            Reply::text("yes").usage(usage).after(Duration::from_millis(prompt.delay))
        });
        let prices = Prices::new().model("m", Price::per_million(PRICE * 1e6, PRICE * 1e6));
        let run = Run::new(model.named("m")).with_prices(prices).with_limits(limits);
        let mut settings = Settings::new();
        settings.max_tokens = Some(100);
        let _ = run.map(&nodes).settings(settings).concurrency(at_once).await;
        let usage = run.ledger().total();
        (usage.total.total().unwrap(), usage.cost.total().unwrap(), largest)
    })
}

#[test]
fn fifty_chinese_prompts_at_once() {
    let prompt = Prompt { letter: '中', letters: 1_000, ratio: 1_000, answer: 100, delay: 10 };
    let (tokens, ..) = spent(vec![prompt; 50], 50, Limits::new().tokens(10_000));
    assert!((10_000..=11_100).contains(&tokens), "{tokens}");
    let (tokens, money, _) = spent(vec![prompt; 50], 50, Limits::new().money(0.10));
    assert!((0.10..0.111_001).contains(&money), "{money} for {tokens}");
}

#[test]
fn english_teaches_nothing_about_chinese() {
    let english = Prompt { letter: 'a', letters: 4_000, ratio: 250, answer: 100, delay: 10 };
    let chinese = Prompt { letter: '中', letters: 1_000, ratio: 2_000, answer: 100, delay: 10 };
    let prompts = [vec![english; 3], vec![chinese; 50]].concat();
    let (tokens, ..) = spent(prompts, 50, Limits::new().tokens(10_000));
    assert!((10_000..=12_100).contains(&tokens), "{tokens}");
}

#[test]
fn english_prompts_wait_for_each_other_only_near_the_limit() {
    let prompt = Prompt { letter: 'a', letters: 4_000, ratio: 250, answer: 100, delay: 10 };
    let model = |limit| spent(vec![prompt; 50], 50, Limits::new().tokens(limit)).0;
    assert_eq!(model(250_000), 50 * 1_100);
    assert_eq!(model(55_000), 50 * 1_100, "all are asked that fit");
}

fn prompts() -> impl Strategy<Value = Vec<Prompt>> {
    let letter = prop::sample::select(vec!['a', 'é', '中', '😀']);
    let prompt = (letter, 1..2_000_usize, 200..=4_000_usize, 0..=100_u64, 0..50_u64);
    let prompt = prompt.prop_map(|(letter, letters, ratio, answer, delay)| {
        // A tokenizer makes at most one token of a byte.
        let ratio = ratio.min(1_000 * letter.len_utf8());
        Prompt { letter, letters, ratio, answer, delay }
    });
    prop::collection::vec(prompt, 1..60)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_scripts_side_by_side(prompts in prompts(), at_once in 1..60_usize, limit in 1..60_000_u64) {
        let (tokens, _, largest) = spent(prompts.clone(), at_once, Limits::new().tokens(limit));
        prop_assert!(tokens < limit + largest.max(1), "{} of {}", tokens, limit);
        let money = limit as f64 * PRICE;
        let (_, money_spent, largest) = spent(prompts, at_once, Limits::new().money(money));
        prop_assert!(money_spent < money + (largest.max(1) as f64) * PRICE, "{} of {}", money_spent, money);
    }
}
