//! What happens to a request or a call, drawn from its number.

use crate::faulty::{Act, Ask};

/// With their frequencies. Faults that keep a call waiting for its timeout are rare.
const FAULTS: [(u64, Act); 35] = [
    (2, Act::GoodWithoutUsage),
    (2, Act::GoodButStopped),
    (2, Act::GoodInTwo),
    (8, Act::NoJson),
    (4, Act::WrongType),
    (12, Act::Invalid),
    (4, Act::Empty),
    (2, Act::NoContent),
    (2, Act::NoChoices),
    (2, Act::Stopped),
    (2, Act::Refused),
    (2, Act::Filtered),
    (4, Act::Busy(None)),
    (4, Act::Busy(Some((Ask::Seconds, 7)))),
    (2, Act::Busy(Some((Ask::Milliseconds, 3)))),
    (2, Act::Busy(Some((Ask::Date, 20)))),
    (2, Act::Busy(Some((Ask::Renamed, 9)))),
    (2, Act::Busy(Some((Ask::Body, 11)))),
    (1, Act::Busy(Some((Ask::Seconds, 3600)))),
    (2, Act::HalfError),
    (8, Act::Failed),
    (3, Act::ErrorPage),
    (1, Act::Page),
    (2, Act::Moved),
    (1, Act::WrongKey),
    (1, Act::TooLong),
    (2, Act::Compressed),
    (4, Act::HangUp),
    (4, Act::Reset),
    (2, Act::Garbage),
    (4, Act::HalfBody),
    (4, Act::ResetMidway),
    (3, Act::Stall),
    (1, Act::StallMidway),
    (1, Act::Huge),
];

/// `faults`: percent.
pub(crate) fn act(random: u64, faults: u64) -> Act {
    if random % 100 >= faults {
        return Act::Good;
    }
    let mut left = random / 100 % FAULTS.iter().map(|(weight, _)| weight).sum::<u64>();
    for (weight, act) in FAULTS {
        match left.checked_sub(weight) {
            Some(rest) => left = rest,
            None => return act,
        }
    }
    Act::Good
}

/// splitmix64.
pub(crate) fn random(seed: u64, number: u64) -> u64 {
    let mut mixed = seed.wrapping_add(number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}
