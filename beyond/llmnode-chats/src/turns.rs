//! What may follow on a row: pure functions from the stored row to the next one. All stores share them.

use llmnode_runtime::{Approval, BegunTurn, Category, NewTurn, NodeError, Paused};

use crate::body;
use crate::store::{ChatRow, Claim, KeptPause, KeptTurn};

/// The call that wants the conversation.
pub(crate) struct Claimant<'a> {
    pub(crate) new: &'a NewTurn<'a>,
    /// The id of the turn.
    pub(crate) turn: &'a str,
    pub(crate) owner: &'a str,
    /// The id of the pause that it continues.
    pub(crate) approves: Option<&'a str>,
    /// Milliseconds.
    pub(crate) lease: u64,
}

/// Why a claim was not granted.
pub(crate) enum Refused {
    /// It may be granted later.
    Busy(NodeError),
    Never(NodeError),
}

pub(crate) fn conflict(message: impl Into<String>) -> NodeError {
    NodeError::new(Category::Conflict, message)
}

/// Formats that nobody has written yet cannot be understood.
pub(crate) fn check_format(row: &ChatRow) -> Result<(), NodeError> {
    if row.format <= ChatRow::FORMAT {
        return Ok(());
    }
    let why = format!(
        "the chat {:?} has format {}, and this version of llmnode reads up to {}; use a newer one",
        row.id,
        row.format,
        ChatRow::FORMAT
    );
    Err(NodeError::new(Category::ConfigError, why))
}

/// The id of the turn: the older one, if a process of an older version began the turn.
pub(crate) fn id_of<'a>(row: &ChatRow, new: &'a NewTurn<'_>) -> Option<&'a str> {
    let older = new.older_id.as_deref().filter(|older| {
        let claim = row.claim.as_ref().map(|claim| &*claim.turn);
        let pause = row.pause.as_ref().map(|pause| &*pause.turn);
        let kept = row.unfinished.as_ref().map(|kept| &*kept.turn);
        [claim, pause, kept].contains(&Some(older))
    });
    older.or(new.id.as_deref())
}

/// How many seconds the conversation is somebody's. `None`: nobody has it.
fn seconds_left(row: &ChatRow, now: u64) -> Option<u64> {
    let until = row.claim.as_ref()?.until;
    (until > now).then(|| (until - now).div_ceil(1000))
}

pub(crate) fn claim(row: &ChatRow, by: &Claimant<'_>, now: u64) -> Result<ChatRow, Refused> {
    check_format(row).map_err(Refused::Never)?;
    check_pause(row, by).map_err(Refused::Never)?;
    if let Some(claim) = &row.claim
        && claim.turn != by.turn
        && let Some(seconds) = seconds_left(row, now)
    {
        return Err(Refused::Busy(conflict(format!(
            "another call has the chat {:?}: turn {}, for up to {seconds} more seconds; nothing was asked; try again later, or let \
             the chat wait: `chat.wait(Duration::from_secs(60))`",
            row.id,
            short(&claim.turn),
        ))));
    }
    let mut next = row.clone();
    next.claim = Some(Claim {
        owner: by.owner.to_owned(),
        turn: by.turn.to_owned(),
        until: now.saturating_add(by.lease),
    });
    Ok(next)
}

fn check_pause(row: &ChatRow, by: &Claimant<'_>) -> Result<(), NodeError> {
    match (&row.pause, by.approves) {
        (Some(pause), Some(approves)) if pause.pause == approves => {
            by.new.check_decisions(&as_stored(pause)?)
        }
        // A flow's journal repeats the same turn, whatever became of it.
        (Some(pause), _) if pause.turn == by.turn => Ok(()),
        (Some(pause), _) => Err(conflict(format!(
            "the chat {:?} waits for a decision about {}; decide with `chat.decide(..)`, then go on with `.approve(..)`",
            row.id,
            waiting(pause)
        ))),
        (None, Some(_))
            if row
                .unfinished
                .as_ref()
                .is_some_and(|kept| kept.turn == by.turn) =>
        {
            Ok(())
        }
        (None, Some(_)) => Err(conflict(format!(
            "the pause of the chat {:?} is not there any more: another call has continued it; if that one failed, \
             `chat.unfinished()` has its results",
            row.id
        ))),
        (None, None) => Ok(()),
    }
}

/// It lacks the messages that the conversation has.
fn as_stored(pause: &KeptPause) -> Result<Paused, NodeError> {
    Ok(serde_json::from_str(&pause.body)?)
}

fn waiting(pause: &KeptPause) -> String {
    let Ok(paused) = as_stored(pause) else {
        return "calls of tools".to_owned();
    };
    let calls = paused.waiting();
    let names: Vec<String> = calls
        .iter()
        .take(8)
        .map(|call| format!("`{}` ({})", call.name, call.id))
        .collect();
    if names.is_empty() {
        "calls that are decided and have not run".to_owned()
    } else {
        names.join(", ")
    }
}

fn short(id: &str) -> &str {
    id.get(..12).unwrap_or(id)
}

/// The newest pin that the turn has: a turn that goes on has those of its beginning.
pub(crate) fn last_pin(row: &ChatRow, by: &Claimant<'_>) -> u64 {
    let newest = row.pins.last().map_or(0, |pin| pin.number);
    if let Some(pause) = &row.pause {
        return pause.last_pin;
    }
    match &row.unfinished {
        Some(kept) if kept.turn == by.turn => kept.last_pin,
        _ => newest,
    }
}

/// The row, if the turn still has it.
fn row_of_turn(row: &ChatRow, turn: &BegunTurn) -> Result<ChatRow, NodeError> {
    let is_own = row
        .claim
        .as_ref()
        .is_some_and(|claim| claim.owner == turn.owner);
    if is_own && row.revision == turn.revision {
        return Ok(row.clone());
    }
    Err(conflict(format!(
        "another call has taken the chat {:?} over, since this one did not renew its claim in time; nothing of this turn is in the \
         history",
        row.id
    )))
}

pub(crate) fn renewed(row: &ChatRow, turn: &BegunTurn, until: u64) -> Result<ChatRow, NodeError> {
    let mut next = row_of_turn(row, turn)?;
    if let Some(claim) = &mut next.claim {
        claim.until = until;
    }
    Ok(next)
}

pub(crate) fn kept(row: &ChatRow, turn: &BegunTurn, body: String) -> Result<ChatRow, NodeError> {
    let mut next = row_of_turn(row, turn)?;
    if turn.approves.is_some() {
        next.pause = None;
    }
    next.unfinished = Some(KeptTurn {
        turn: turn.id.clone(),
        last_pin: turn.last_pin,
        body,
    });
    Ok(next)
}

/// `messages`: how many the turn appends.
pub(crate) fn appended(
    row: &ChatRow,
    turn: &BegunTurn,
    messages: u64,
) -> Result<ChatRow, NodeError> {
    let mut next = row_of_turn(row, turn)?;
    next.claim = None;
    next.unfinished = None;
    next.pause = None;
    next.pins.retain(|pin| pin.number > turn.last_pin);
    next.revision += 1;
    next.messages += messages;
    Ok(next)
}

pub(crate) fn paused(
    row: &ChatRow,
    turn: &BegunTurn,
    paused: &Paused,
    body: String,
) -> Result<ChatRow, NodeError> {
    let mut next = row_of_turn(row, turn)?;
    next.claim = None;
    next.unfinished = None;
    next.pause = Some(KeptPause {
        turn: turn.id.clone(),
        pause: paused.id(),
        last_pin: turn.last_pin,
        body,
    });
    Ok(next)
}

/// `None`: somebody else has the conversation, and nothing is to be done.
pub(crate) fn failed(row: &ChatRow, turn: &BegunTurn, body: Option<String>) -> Option<ChatRow> {
    let mut next = row_of_turn(row, turn).ok()?;
    next.claim = None;
    if let Some(body) = body {
        next.unfinished = Some(KeptTurn {
            turn: turn.id.clone(),
            last_pin: turn.last_pin,
            body,
        });
    }
    Some(next)
}

/// The row, without a claim of this owner.
pub(crate) fn without_claim(row: &ChatRow, owner: &str) -> ChatRow {
    let mut next = row.clone();
    next.claim.take_if(|claim| claim.owner == owner);
    next
}

/// What a person says about a call that waits.
pub(crate) enum Verdict {
    Approval(Approval),
    Result(serde_json::Value),
}

/// The row with a decision more. A claim whose time is over goes, since whoever had it may be alive after all, and must not go on with
/// what was decided before.
pub(crate) fn decided(
    row: &ChatRow,
    call: &str,
    verdict: &Verdict,
    now: u64,
) -> Result<ChatRow, NodeError> {
    let mut next = row.clone();
    next.claim = None;
    let Some(pause) = &mut next.pause else {
        return Err(conflict(format!(
            "nothing waits in the chat {:?}: it was continued, or decided and continued, by another call",
            row.id
        )));
    };
    if let Some(seconds) = seconds_left(row, now) {
        return Err(conflict(format!(
            "a call goes on already with what was decided in the chat {:?}, so this decision was not stored; if that call has died, \
             it can be stored in {seconds} seconds",
            row.id
        )));
    }
    let paused = as_stored(pause)?;
    let paused = match verdict {
        Verdict::Approval(approval) => paused.decide(call, approval.clone())?,
        Verdict::Result(result) => paused.answer(call, result.clone())?,
    };
    pause.body = body::pause_decided(&pause.body, &paused)?;
    Ok(next)
}
