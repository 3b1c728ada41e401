//! Dates as HTTP writes them.

use std::time::{Duration, SystemTime};

const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];

/// The date that is `offset` from now, such as `+5s` or `-1s`; parts of a second, which it cannot hold, count as one.
pub(crate) fn from_now(offset: &str) -> Option<String> {
    let seconds: i64 = offset.strip_suffix('s')?.parse().ok()?;
    let distance = Duration::from_secs(seconds.unsigned_abs());
    let now = SystemTime::now();
    let at = if seconds < 0 {
        now.checked_sub(distance)?
    } else {
        now.checked_add(distance)?
    };
    let since_epoch = at.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    Some(format(
        since_epoch.as_secs() + u64::from(since_epoch.subsec_nanos() > 0),
    ))
}

fn format(seconds: u64) -> String {
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    let (mut year, mut day) = (1970, days);
    while day >= 365 + u64::from(is_leap(year)) {
        day -= 365 + u64::from(is_leap(year));
        year += 1;
    }
    let february = 28 + u64::from(is_leap(year));
    let mut month = 0;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30] {
        if day < length {
            break;
        }
        day -= length;
        month += 1;
    }
    format!(
        "{}, {:02} {} {year} {:02}:{:02}:{:02} GMT",
        DAYS[(days % 7) as usize],
        day + 1,
        MONTHS[month],
        second / 3600,
        second / 60 % 60,
        second % 60,
    )
}

fn is_leap(year: u64) -> bool {
    year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
}
