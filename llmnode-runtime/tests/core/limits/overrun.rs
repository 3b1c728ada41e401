//! Prompts side by side exceed a limit by one call at most, whatever their script.

use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use llmnode_model::ext::{CarriedPart, Json};
use llmnode_model::media::Attachment;
use llmnode_runtime::{DynNode, File, Image, Message, ProviderState, Request, Settings, ToolCall};

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
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build();
    runtime.unwrap().block_on(async {
        let node = DynNode::builder("say").text().build().unwrap();
        let nodes: Vec<_> = prompts
            .iter()
            .map(|prompt| node.ask(prompt.text()))
            .collect();
        let largest = prompts
            .iter()
            .map(|prompt| prompt.input() + prompt.answer)
            .max()
            .unwrap_or(0);
        let model = FnModel::new(move |request: &Request| {
            let text = &request.messages[0].content;
            let prompt = prompts
                .iter()
                .find(|prompt| prompt.text() == *text)
                .unwrap();
            let usage = TokenUsage::new(prompt.input(), prompt.answer);
            Reply::text("yes")
                .usage(usage)
                .after(Duration::from_millis(prompt.delay))
        });
        let prices = Prices::new().model("m", Price::per_million(PRICE * 1e6, PRICE * 1e6));
        let run = Run::new(model.named("m"))
            .with_prices(prices)
            .with_limits(limits);
        let mut settings = Settings::new();
        settings.max_tokens = Some(100);
        let _ = run
            .map(&nodes)
            .settings(settings)
            .concurrency(at_once)
            .await;
        let usage = run.ledger().total();
        (
            usage.total.total().unwrap(),
            usage.cost.total().unwrap(),
            largest,
        )
    })
}

#[test]
fn fifty_chinese_prompts_at_once() {
    let prompt = Prompt {
        letter: '中',
        letters: 1_000,
        ratio: 1_000,
        answer: 100,
        delay: 10,
    };
    let (tokens, ..) = spent(vec![prompt; 50], 50, Limits::new().tokens(10_000));
    assert!((10_000..=11_100).contains(&tokens), "{tokens}");
    let (tokens, money, _) = spent(vec![prompt; 50], 50, Limits::new().money(0.10));
    assert!((0.10..0.111_001).contains(&money), "{money} for {tokens}");
}

#[test]
fn english_teaches_nothing_about_chinese() {
    let english = Prompt {
        letter: 'a',
        letters: 4_000,
        ratio: 250,
        answer: 100,
        delay: 10,
    };
    let chinese = Prompt {
        letter: '中',
        letters: 1_000,
        ratio: 2_000,
        answer: 100,
        delay: 10,
    };
    let prompts = [vec![english; 3], vec![chinese; 50]].concat();
    let (tokens, ..) = spent(prompts, 50, Limits::new().tokens(10_000));
    assert!((10_000..=12_100).contains(&tokens), "{tokens}");
}

#[test]
fn english_prompts_wait_for_each_other_only_near_the_limit() {
    let prompt = Prompt {
        letter: 'a',
        letters: 4_000,
        ratio: 250,
        answer: 100,
        delay: 10,
    };
    let model = |limit| spent(vec![prompt; 50], 50, Limits::new().tokens(limit)).0;
    assert_eq!(model(250_000), 50 * 1_100);
    assert_eq!(model(55_000), 50 * 1_100, "all are asked that fit");
}

/// What a request carries beside its text, of which a provider counts as much as it may.
#[derive(Clone, Copy, Debug)]
enum Part {
    /// At an address: nobody knows how large it is.
    Linked,
    /// So many pixels a side.
    Image(u32),
    Pages(usize),
    /// A PDF of so many bytes, whose pages cannot be seen.
    Packed(usize),
    /// Bytes of thoughts that go back as they came.
    Carried(usize),
    /// Bytes of the arguments of a call, and of its result.
    Call(usize),
}

impl Part {
    fn add(self, messages: &mut Vec<Message>) {
        let last = messages.len() - 1;
        let mut attach = |attachment: Attachment| {
            messages[last] = messages[last].clone().attach(attachment);
        };
        match self {
            Part::Linked => attach(Image::url("https://a.example/b.png").unwrap().into()),
            Part::Image(side) => {
                let side = side.to_be_bytes();
                let png = [&b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR"[..], &side, &side].concat();
                attach(Image::bytes("image/png", png).unwrap().into());
            }
            Part::Pages(pages) => {
                let pages = "<</Type /Page>>".repeat(pages);
                attach(
                    File::bytes("a.pdf", "application/pdf", pages)
                        .unwrap()
                        .into(),
                );
            }
            Part::Packed(bytes) => {
                attach(
                    File::bytes("a.pdf", "application/pdf", vec![b' '; bytes])
                        .unwrap()
                        .into(),
                );
            }
            Part::Carried(bytes) => {
                let parts = vec![CarriedPart::Other(Json::of(&"t".repeat(bytes)).unwrap())];
                let carried = Arc::new(ProviderState::new("openai", "m", parts));
                messages.insert(0, Message::user("And?"));
                messages.insert(1, Message::assistant("So.").carrying(Some(carried)));
            }
            Part::Call(bytes) => {
                let call = ToolCall::new(
                    "call_1",
                    "look",
                    format!(r#"{{"at":"{}"}}"#, "a".repeat(bytes)),
                );
                messages.insert(0, Message::user("And?"));
                messages.insert(1, Message::assistant("").calling([call]));
                messages.insert(2, Message::tool("call_1", "r".repeat(bytes)));
            }
        }
    }

    fn counted(self) -> u64 {
        match self {
            Part::Linked => 3_000,
            // Anthropic's rule, of an image that fits.
            Part::Image(side) => u64::from(side.min(1_500)).pow(2) / 750,
            Part::Pages(pages) => 3_000 * pages as u64,
            Part::Packed(bytes) => 3_000 * bytes.div_ceil(20_000) as u64,
            Part::Carried(bytes) => bytes as u64 / 3,
            Part::Call(bytes) => 2 * bytes as u64,
        }
    }
}

/// A conversation: a text of so many letters, and what it carries.
#[derive(Clone, Debug)]
struct Carrying {
    letters: usize,
    parts: Vec<Part>,
    answer: u64,
    delay: u64,
}

impl Carrying {
    fn messages(&self, at: usize) -> Vec<Message> {
        let mut messages = vec![Message::user(format!("{at} {}", "x".repeat(self.letters)))];
        self.parts.iter().for_each(|part| part.add(&mut messages));
        messages
    }

    /// `added`: what the provider adds to each request.
    fn used(&self, added: u64) -> u64 {
        let parts: u64 = self.parts.iter().map(|part| part.counted()).sum();
        added + self.letters as u64 / 4 + parts + self.answer
    }
}

/// The tokens that all of them at once spend, and what the largest takes.
fn spent_carrying(all: Vec<Carrying>, added: u64, limit: u64) -> (u64, u64) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build();
    runtime.unwrap().block_on(async {
        let node = DynNode::builder("say").text().build().unwrap();
        let nodes: Vec<_> = all
            .iter()
            .enumerate()
            .map(|(at, one)| node.chat(one.messages(at)))
            .collect();
        let largest = all.iter().map(|one| one.used(added)).max().unwrap_or(0);
        let at_once = nodes.len();
        let model = FnModel::new(move |request: &Request| {
            let last = request.messages.last().unwrap();
            let at: usize = last.content.split(' ').next().unwrap().parse().unwrap();
            let one = &all[at];
            let usage = TokenUsage::new(one.used(added) - one.answer, one.answer);
            Reply::text("yes")
                .usage(usage)
                .after(Duration::from_millis(one.delay))
        });
        let run = Run::new(model).with_limits(Limits::new().tokens(limit));
        let settings = Settings::new().max_tokens(100);
        let _ = run
            .map(&nodes)
            .settings(settings)
            .concurrency(at_once)
            .await;
        (run.ledger().total().total.total().unwrap(), largest)
    })
}

#[test]
fn fifty_of_each_part_at_once() {
    for part in [
        Part::Linked,
        Part::Image(1_000),
        Part::Image(9_000),
        Part::Pages(9),
        Part::Packed(90_000),
        Part::Carried(9_000),
        Part::Call(2_000),
    ] {
        for added in [0, 5_000] {
            let one = Carrying {
                letters: 10,
                parts: vec![part],
                answer: 100,
                delay: 10,
            };
            let limit = one.used(added) * 10;
            let (tokens, largest) = spent_carrying(vec![one; 50], added, limit);
            assert!(
                (limit..limit + largest).contains(&tokens),
                "{part:?} {added}: {tokens} of {limit}"
            );
        }
    }
}

/// As a small model of OpenAI's counts them.
#[test]
fn a_model_that_counts_thirty_times_as_many_tokens_for_an_image() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build();
    runtime.unwrap().block_on(async {
        const OF_AN_IMAGE: u64 = 25_501;
        let image = || Image::url("https://a.example/b.png").unwrap();
        let message =
            |images| (0..images).fold(Message::user("?"), |message, _| message.attach(image()));
        let node = DynNode::builder("say").text().build().unwrap();
        let nodes: Vec<_> = (0..40).map(|at| node.chat([message(1 + at % 8)])).collect();
        let model = FnModel::new(|request: &Request| {
            let images = request.messages[0].attachments().count() as u64;
            Reply::text("yes")
                .usage(TokenUsage::new(images * OF_AN_IMAGE, 1))
                .after(SECOND)
        });
        let run = Run::new(model).with_limits(Limits::new().tokens(1_000_000));
        let _ = run
            .map(&nodes)
            .settings(Settings::new().max_tokens(100))
            .concurrency(40)
            .await;
        let spent = run.ledger().total().total.total().unwrap();
        assert!(spent < 1_000_000 + 8 * (OF_AN_IMAGE + 1), "{spent}");
    });
}

fn carrying() -> impl Strategy<Value = Vec<Carrying>> {
    let part = prop_oneof![
        Just(Part::Linked),
        (1..9_000_u32).prop_map(Part::Image),
        (1..9_usize).prop_map(Part::Pages),
        (1..90_000_usize).prop_map(Part::Packed),
        (1..20_000_usize).prop_map(Part::Carried),
        (1..3_000_usize).prop_map(Part::Call),
    ];
    let one = (
        0..9_000_usize,
        prop::collection::vec(part, 0..3),
        0..=100_u64,
        0..50_u64,
    );
    let one = one.prop_map(|(letters, parts, answer, delay)| Carrying {
        letters,
        parts,
        answer,
        delay,
    });
    prop::collection::vec(one, 1..30)
}

fn prompts() -> impl Strategy<Value = Vec<Prompt>> {
    let letter = prop::sample::select(vec!['a', 'é', '中', '😀']);
    let prompt = (
        letter,
        1..2_000_usize,
        200..=4_000_usize,
        0..=100_u64,
        0..50_u64,
    );
    let prompt = prompt.prop_map(|(letter, letters, ratio, answer, delay)| {
        // A tokenizer makes at most one token of a byte.
        let ratio = ratio.min(1_000 * letter.len_utf8());
        Prompt {
            letter,
            letters,
            ratio,
            answer,
            delay,
        }
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

    /// And whatever they carry and their provider adds.
    #[test]
    fn any_parts_side_by_side(all in carrying(), added in 0..6_000_u64, limit in 1..200_000_u64) {
        let (tokens, largest) = spent_carrying(all, added, limit);
        prop_assert!(tokens < limit + largest.max(1), "{} of {}", tokens, limit);
    }
}
