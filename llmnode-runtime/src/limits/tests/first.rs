//! Others wait for the first request of a model.

use super::*;

/// Whose models nobody has asked.
fn unasked(limits: Limits) -> RunLimits {
    let run = of_run(limits);
    run.counted.lock().unwrap().clear();
    run
}

type Waiting<'c> = Pin<Box<dyn Future<Output = Result<Reservation<'c>, (Category, String)>> + 'c>>;

fn wait<'c>(call: &'c CallLimits<'_>, own: Option<Duration>) -> Waiting<'c> {
    Box::pin(call.reserve(|| of_prompt(10), NAMES, move || own))
}

fn refuses() -> Result<Completion, ModelError> {
    failed(Category::RateLimitError)
}

#[test]
fn what_a_provider_adds_is_reserved_by_all_but_the_first() {
    let clock = TestClock::new();
    for begins in [false, true] {
        let run = unasked(Limits::new().tokens(10_000));
        let call = begin(&run, &clock);
        let mut first = reserved(&call, 10, Some(10));
        let mut others: Vec<_> = (0..20).map(|_| wait(&call, None)).collect();
        assert!(others.iter_mut().all(|other| poll(other).is_pending()));
        if begins {
            first.reports(TokenUsage::new(3_010, 0).of_the_prompt());
        } else {
            first.settle(&answer(3_010, 10));
        }
        // 3,020 are spent or reserved, and each of these takes 3,010 and 256 or 10.
        let gone: Vec<_> = others
            .iter_mut()
            .filter_map(|other| match poll(other) {
                Poll::Ready(reserved) => reserved.ok(),
                Poll::Pending => None,
            })
            .collect();
        assert_eq!(gone.len(), 3, "{begins}");
    }
}

#[test]
fn a_long_first_prompt_hides_nothing_that_is_added() {
    let clock = TestClock::new();
    let run = unasked(Limits::new().tokens(20_000));
    let call = begin(&run, &clock);
    let long = || {
        let prompt = PromptTokens {
            estimate: 1_000,
            most: 4_000,
            least: 500,
            attachments: 0,
        };
        RequestTokens {
            answer: AnswerTokens::AtMost(10),
            prompt,
            thinking: 0,
            answers: 1,
        }
    };
    let wanted = pin!(call.reserve(long, NAMES, || None));
    let Poll::Ready(Ok(mut first)) = wanted.poll(&mut Context::from_waker(Waker::noop())) else {
        panic!()
    };
    first.settle(&answer(4_000, 10));
    let open: Vec<_> = (0..5).map(|_| reserved(&call, 10, Some(10))).collect();
    assert!(
        waits(&call),
        "3,000 of these 4,000 may be in each request, which take 17,500 or more"
    );
    drop(open);
}

#[test]
fn a_first_request_that_teaches_nothing_is_followed_by_another() {
    let ends: [fn(Reservation<'_>); 4] = [
        |mut first| first.settle(&refuses()),
        |mut first| first.settle(&unsent()),
        |mut first| first.release(),
        |first| drop(first),
    ];
    for end in ends {
        let clock = TestClock::new();
        let run = unasked(Limits::new().tokens(10_000));
        let call = begin(&run, &clock);
        let first = reserved(&call, 10, Some(10));
        let (mut second, mut third) = (wait(&call, None), wait(&call, None));
        assert!(poll(&mut second).is_pending() && poll(&mut third).is_pending());
        end(first);
        let Poll::Ready(Ok(mut second)) = poll(&mut second) else {
            panic!("it is the first one now")
        };
        assert!(poll(&mut third).is_pending());
        second.settle(&answer(10, 10));
        assert!(poll(&mut third).is_ready());
    }
}

#[test]
fn nobody_waits_longer_than_five_seconds_or_a_quarter_of_the_time_that_it_has() {
    for (own, wait_ms) in [(None, 5_000), (Some(60), 5_000), (Some(2), 500)] {
        let clock = TestClock::new();
        let run = unasked(Limits::new().tokens(10_000));
        let call = begin(&run, &clock);
        let first = reserved(&call, 10, Some(10));
        let mut other = wait(&call, own.map(Duration::from_secs));
        assert!(poll(&mut other).is_pending());
        let passes = |ms| block_on(clock.sleep(Duration::from_millis(ms)));
        passes(wait_ms - 1);
        assert!(poll(&mut other).is_pending(), "{own:?}");
        passes(1);
        assert!(poll(&mut other).is_ready(), "{own:?}");
        drop(first);
    }
}

#[test]
fn other_models_and_limits_that_count_no_tokens_do_not_wait() {
    let clock = TestClock::new();
    let run = unasked(Limits::new().tokens(10_000));
    let call = begin(&run, &clock);
    let first = reserved(&call, 10, Some(10));
    assert!(at_once(&call, 10, None, [Some("other"), None, None]).is_some());
    drop(first);

    let run = unasked(Limits::new().requests(9));
    let call = begin(&run, &clock);
    let first = reserved(&call, 10, Some(10));
    assert!(!waits(&call));
    drop(first);
}

fn block_on<F: Future>(future: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap()
        .block_on(future)
}
