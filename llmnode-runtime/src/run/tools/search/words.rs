//! Words of names, descriptions and queries, in the form in which they are
//! compared.
//!
//! A text comes in, its words go out: in lower case, names taken apart
//! (`refundOrder`, `refund_order`), without the words that stand in every sentence,
//! and cut to what singular and plural, "deletes" and "deleting" have in common.

use std::collections::HashMap;
use std::sync::LazyLock;

/// Words that say nothing about a tool.
const STOP_WORDS: &[&str] = &[
    "a", "about", "all", "an", "and", "any", "are", "as", "at", "be", "been", "by", "can", "could",
    "did", "do", "does", "for", "from", "had", "has", "have", "how", "i", "if", "in", "into", "is",
    "it", "its", "me", "my", "no", "not", "of", "on", "or", "our", "please", "so", "some", "than",
    "that", "the", "their", "them", "then", "there", "these", "they", "this", "to", "us", "was",
    "we", "were", "what", "when", "where", "which", "who", "will", "with", "would", "you", "your",
];

/// Words with which interfaces name the same operation or thing. A person says one,
/// and a tool has another.
const GROUPS: &[&[&str]] = &[
    // Operations.
    &[
        "create", "add", "make", "new", "open", "insert", "register", "book", "schedule", "start",
        "launch", "file", "post", "publish", "write", "put", "issue", "upload", "reserve", "store",
        "send", "record", "hire", "plan", "set",
    ],
    &[
        "delete",
        "remove",
        "erase",
        "drop",
        "cancel",
        "destroy",
        "terminate",
        "end",
        "stop",
        "withdraw",
        "discard",
        "revoke",
        "clear",
    ],
    &[
        "update", "change", "edit", "modify", "set", "move", "rename", "adjust", "assign",
        "replace", "close",
    ],
    &[
        "get", "read", "fetch", "show", "return", "view", "retrieve", "look", "open", "check",
        "detail", "download",
    ],
    &[
        "list",
        "show",
        "search",
        "find",
        "query",
        "look",
        "browse",
        "enumerate",
    ],
    // Things.
    &["email", "mail", "inbox", "mailbox"],
    &["event", "meeting", "appointment", "calendar"],
    &["image", "picture", "photo", "screenshot"],
    &["file", "document", "attachment"],
    &["folder", "directory"],
    &["issue", "ticket", "bug", "task"],
    &["repository", "repo", "codebase"],
    &[
        "person", "people", "user", "member", "somebody", "employee", "contact",
    ],
    &["customer", "client", "buyer"],
    &["company", "organization", "firm", "business"],
    &["server", "machine", "host", "vm", "instance"],
    &["refund", "reimburse", "reimbursement", "money", "payment"],
    &["invoice", "bill"],
    &["money", "amount", "cost", "price", "payment"],
    &["shipment", "parcel", "package", "delivery", "shipping"],
    &["label", "tag"],
    &["coupon", "voucher", "discount"],
    &["pull", "merge"],
    &["log", "logs", "trace"],
    &["flight", "plane"],
    &["car", "vehicle"],
    &["article", "post", "item"],
    &["vacation", "leave", "holiday"],
    &["comment", "note", "remark"],
    &["permission", "access", "right", "share"],
];

/// The most words of one text that count: a description of another server may be of any length.
const MOST_WORDS: usize = 2_000;

/// The words of a text, in order.
pub(super) fn words(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for piece in pieces(text) {
        if found.len() >= MOST_WORDS {
            break;
        }
        let lower = piece.to_lowercase();
        if !STOP_WORDS.contains(&&*lower) {
            found.push(stem(&lower));
        }
    }
    found
}

/// The words that others use for it, in the form of [`words`]; not the word itself.
pub(super) fn others(word: &str) -> &'static [String] {
    static OTHERS: LazyLock<HashMap<String, Vec<String>>> = LazyLock::new(others_by_word);
    OTHERS.get(word).map(Vec::as_slice).unwrap_or_default()
}

fn others_by_word() -> HashMap<String, Vec<String>> {
    let mut by_word: HashMap<String, Vec<String>> = HashMap::new();
    for group in GROUPS {
        let members: Vec<String> = group.iter().map(|member| stem(member)).collect();
        for word in &members {
            let others = members.iter().filter(|member| *member != word);
            by_word
                .entry(word.clone())
                .or_default()
                .extend(others.cloned());
        }
    }
    for others in by_word.values_mut() {
        others.sort_unstable();
        others.dedup();
    }
    by_word
}

/// Splits where letters and digits end, and where a capital letter begins a word of a name.
fn pieces(text: &str) -> Vec<String> {
    let mut pieces = Vec::new();
    let mut piece = String::new();
    let mut before: Option<char> = None;
    for character in text.chars() {
        if !character.is_alphanumeric() {
            end_piece(&mut pieces, &mut piece);
        } else if is_without_spaces(character) {
            // Two neighbours are what comes closest to a word.
            end_piece(&mut pieces, &mut piece);
            if let Some(before) = before.filter(|before| is_without_spaces(*before)) {
                pieces.push(format!("{before}{character}"));
            }
        } else {
            let begins = character.is_uppercase() && before.is_some_and(char::is_lowercase);
            if begins || before.is_some_and(is_without_spaces) {
                end_piece(&mut pieces, &mut piece);
            }
            piece.push(character);
        }
        before = Some(character);
    }
    end_piece(&mut pieces, &mut piece);
    pieces
}

fn end_piece(pieces: &mut Vec<String>, piece: &mut String) {
    if !piece.is_empty() {
        pieces.push(std::mem::take(piece));
    }
}

/// Chinese and Japanese put no spaces between words.
fn is_without_spaces(character: char) -> bool {
    matches!(character, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{20000}'..='\u{3ffff}')
}

/// What the forms of an English word have in common. It need not be a word.
fn stem(word: &str) -> String {
    if !word.is_ascii() || word.len() < 4 {
        return word.to_owned();
    }
    let mut stem = singular(word);
    for ending in ["ing", "ed"] {
        if let Some(rest) = stem.strip_suffix(ending)
            && rest.len() >= 3
            && rest.contains(['a', 'e', 'i', 'o', 'u', 'y'])
        {
            stem = rest.to_owned();
            break;
        }
    }
    if stem.len() > 3 && stem.ends_with('e') {
        stem.pop();
    }
    let letters = stem.as_bytes();
    if let [.., last_but_one, last] = letters
        && last_but_one == last
        && letters.len() > 3
    {
        stem.pop();
    }
    stem
}

fn singular(word: &str) -> String {
    if let Some(rest) = word.strip_suffix("ies")
        && rest.len() >= 2
    {
        return format!("{rest}y");
    }
    for ending in ["sses", "ches", "shes", "xes", "zes"] {
        if word.ends_with(ending) {
            return word[..word.len() - 2].to_owned();
        }
    }
    let is_no_plural = ["ss", "us", "is"].iter().any(|end| word.ends_with(end));
    match word.strip_suffix('s') {
        Some(rest) if !is_no_plural => rest.to_owned(),
        _ => word.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_a_word_are_one() {
        for forms in [
            &["refund", "refunds", "refunded", "refunding"][..],
            &["query", "queries"],
            &["box", "boxes"],
            &["search", "searches", "searching"],
            &["close", "closes", "closed", "closing"],
            &["cancel", "cancels", "cancelled", "canceling"],
            &["status"],
        ] {
            let expected = stem(forms[0]);
            for form in forms {
                assert_eq!(stem(form), expected, "{form}");
            }
        }
    }

    #[test]
    fn names_are_taken_apart() {
        for name in [
            "refundOrder",
            "refund_order",
            "refund-order",
            "Refund the orders!",
        ] {
            assert_eq!(words(name), ["refund", "order"], "{name}");
        }
        assert_eq!(words("退款订单"), ["退款", "款订", "订单"]);
        assert!(words("what is the").is_empty());
    }

    #[test]
    fn a_long_text_counts_up_to_a_bound() {
        assert_eq!(words(&"word ".repeat(10_000)).len(), MOST_WORDS);
    }
}
