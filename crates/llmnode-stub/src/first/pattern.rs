//! Texts that match a regular expression.

use regex_syntax::hir::{Class, ClassUnicode, Hir, HirKind, Repetition};

use super::nth::Nth;

/// Longest text, in bytes, and most parts of the expression looked at for it.
const MAX_LENGTH: usize = 4096;
const MAX_STEPS: usize = 1 << 16;
/// How often a part is repeated for further texts at most, beyond what is demanded.
const REPEATS: usize = 6;
/// Taken out of a class before all others. No zero: a number that is to be read back must not begin with one.
const PREFERRED: [char; 3] = ['a', 'A', '1'];

pub(super) struct Pattern(Hir);

impl Pattern {
    /// `None` for syntax that the crate `regex` does not know either (look-around, back references) or not valid.
    pub(super) fn parse(pattern: &str) -> Option<Self> {
        regex_syntax::parse(pattern).ok().map(Self)
    }

    /// The `n`th text that matches: the first alternative, the least repetitions for the first one. They are
    /// repeated further until `min` characters are reached, where the pattern allows it.
    pub(super) fn text(&self, n: usize, min: usize) -> Option<String> {
        let shortest = self.grown(n, 0)?;
        match min.saturating_sub(shortest.chars().count()) {
            0 => Some(shortest),
            missing => self.grown(n, missing),
        }
    }

    fn grown(&self, n: usize, missing: usize) -> Option<String> {
        let mut writer = Writer { out: String::new(), nth: Nth::new(n), missing, steps: MAX_STEPS };
        writer.write(&self.0)?;
        Some(writer.out)
    }
}

struct Writer {
    out: String,
    nth: Nth,
    /// How many characters repetitions are to add.
    missing: usize,
    steps: usize,
}

impl Writer {
    /// `None` if nothing matches, or the text gets too long.
    fn write(&mut self, part: &Hir) -> Option<()> {
        self.steps = self.steps.checked_sub(1).filter(|_| self.out.len() <= MAX_LENGTH)?;
        match part.kind() {
            HirKind::Empty | HirKind::Look(_) => Some(()),
            HirKind::Literal(literal) => {
                self.out.push_str(std::str::from_utf8(&literal.0).ok()?);
                Some(())
            }
            HirKind::Class(Class::Unicode(class)) => self.one_of(class),
            HirKind::Class(Class::Bytes(class)) => self.one_of(&class.to_unicode_class()?),
            HirKind::Repetition(repetition) => self.repeat(repetition),
            HirKind::Capture(capture) => self.write(&capture.sub),
            HirKind::Concat(parts) => parts.iter().try_for_each(|part| self.write(part)),
            HirKind::Alternation(parts) => {
                let chosen = self.nth.choose(parts.len());
                self.write(parts.get(chosen)?)
            }
        }
    }

    /// A character of the class, a printable one of ASCII if there is any.
    fn one_of(&mut self, class: &ClassUnicode) -> Option<()> {
        let holds = |c: &char| class.iter().any(|range| (range.start()..=range.end()).contains(c));
        let mut chars: Vec<char> = (' '..='~').filter(holds).collect();
        if chars.is_empty() {
            chars.push(class.iter().next()?.start());
        }
        let first = PREFERRED.iter().find_map(|c| chars.iter().position(|other| other == c));
        chars.rotate_left(first.unwrap_or(0));
        self.out.push(*chars.get(self.nth.choose(chars.len()))?);
        Some(())
    }

    fn repeat(&mut self, repetition: &Repetition) -> Option<()> {
        let most = repetition.max.unwrap_or(u32::MAX);
        let choices = (most.saturating_sub(repetition.min) as usize).min(REPEATS) + 1;
        let count = repetition.min as usize + self.nth.choose(choices);
        for done in 0..most as usize {
            let is_extra = done >= count;
            if is_extra && self.missing == 0 {
                break;
            }
            let before = self.out.len();
            self.write(&repetition.sub)?;
            let added = self.out[before..].chars().count();
            if added == 0 {
                break; // so would be all further ones
            }
            self.missing -= if is_extra { added.min(self.missing) } else { 0 };
        }
        Some(())
    }
}
