//! Strings that match a regular expression: literals, classes, groups, alternation, counts and anchors.

use super::rng::Rng;

/// Deepest nesting of groups.
const MAX_DEPTH: usize = 32;
/// Longest string drawn, in bytes.
const MAX_LENGTH: usize = 4096;
/// How often `*` and `+` repeat at most, beyond what a minimum length asks for.
const REPEATS: usize = 6;

/// A parsed expression.
pub(super) struct Pattern(Node);

enum Node {
    /// One character out of these inclusive ranges.
    OneOf(Vec<(char, char)>),
    All(Vec<Node>),
    Any(Vec<Node>),
    /// At least, and at most if there is a limit.
    Repeat(Box<Node>, usize, Option<usize>),
}

impl Pattern {
    /// `None` for syntax not known here (look-around, back references, Unicode classes) or not valid.
    pub(super) fn parse(pattern: &str) -> Option<Self> {
        let chars: Vec<char> = pattern.chars().collect();
        let mut parser = Parser { rest: &chars, depth: 0 };
        let node = parser.alternatives()?;
        parser.rest.is_empty().then_some(Self(node))
    }

    /// A string that matches. Open repetitions are drawn long enough to reach `min` characters, at times.
    pub(super) fn draw(&self, rng: &mut Rng, min: usize) -> Option<String> {
        let mut out = String::new();
        draw(&self.0, rng, REPEATS.saturating_add(min), &mut out)?;
        Some(out)
    }
}

/// `None` if it gets too long.
fn draw(node: &Node, rng: &mut Rng, repeats: usize, out: &mut String) -> Option<()> {
    if out.len() > MAX_LENGTH {
        return None;
    }
    match node {
        Node::OneOf(ranges) => {
            let (first, last) = *rng.pick(ranges)?;
            let code = rng.between(first as usize, last as usize);
            out.push(u32::try_from(code).ok().and_then(char::from_u32).unwrap_or(first));
        }
        Node::All(nodes) => nodes.iter().try_for_each(|node| draw(node, rng, repeats, out))?,
        Node::Any(nodes) => draw(rng.pick(nodes)?, rng, repeats, out)?,
        Node::Repeat(node, min, max) => {
            let open = min.saturating_add(repeats);
            let count = rng.between(*min, max.map_or(open, |max| max.min(open)));
            for _ in 0..count.min(MAX_LENGTH + 1) {
                draw(node, rng, repeats, out)?;
            }
        }
    }
    Some(())
}

struct Parser<'a> {
    rest: &'a [char],
    depth: usize,
}

impl Parser<'_> {
    fn next(&mut self) -> Option<char> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*first)
    }

    fn eat(&mut self, expected: &str) -> bool {
        let expected: Vec<char> = expected.chars().collect();
        let found = self.rest.starts_with(&expected);
        if found {
            self.rest = &self.rest[expected.len()..];
        }
        found
    }

    fn alternatives(&mut self) -> Option<Node> {
        let mut nodes = vec![self.sequence()?];
        while self.eat("|") {
            nodes.push(self.sequence()?);
        }
        Some(Node::Any(nodes))
    }

    fn sequence(&mut self) -> Option<Node> {
        let mut nodes = Vec::new();
        while let Some(next) = self.rest.first() {
            match next {
                '|' | ')' => break,
                '^' | '$' => {
                    self.next();
                }
                _ => {
                    let atom = self.atom()?;
                    nodes.push(self.repeated(atom)?);
                }
            }
        }
        Some(Node::All(nodes))
    }

    fn atom(&mut self) -> Option<Node> {
        match self.next()? {
            '(' => self.group(),
            '[' => self.class(),
            '.' => Some(Node::OneOf(vec![('a', 'z')])),
            // No zeros: a number that is to be read back must not begin with one.
            '\\' if self.eat("d") => Some(Node::OneOf(vec![('1', '9')])),
            '\\' => Some(Node::OneOf(self.escape()?)),
            '*' | '+' | '?' | '{' => None,
            literal => Some(Node::OneOf(vec![(literal, literal)])),
        }
    }

    fn group(&mut self) -> Option<Node> {
        if self.eat("?") && !self.eat(":") {
            // A name, `(?<name>` or `(?P<name>`; but look-behind begins with `<` too.
            self.eat("P");
            if !self.eat("<") || matches!(self.rest.first(), Some('=' | '!')) {
                return None;
            }
            while self.next()? != '>' {}
        }
        self.depth += 1;
        let inner = if self.depth > MAX_DEPTH { None } else { self.alternatives() };
        self.depth -= 1;
        inner.filter(|_| self.eat(")"))
    }

    fn repeated(&mut self, node: Node) -> Option<Node> {
        let (min, max) = match self.rest.first() {
            Some('*') => (0, None),
            Some('+') => (1, None),
            Some('?') => (0, Some(1)),
            Some('{') => return self.counted(node),
            _ => return Some(node),
        };
        self.next();
        self.eat("?"); // lazy: the same strings
        Some(Node::Repeat(Box::new(node), min, max))
    }

    fn counted(&mut self, node: Node) -> Option<Node> {
        let end = self.rest.iter().position(|&c| c == '}')?;
        let inside: String = self.rest[1..end].iter().collect();
        self.rest = &self.rest[end + 1..];
        self.eat("?");
        let (min, max) = match inside.split_once(',') {
            None => (inside.parse().ok()?, Some(inside.parse().ok()?)),
            Some((min, "")) => (min.parse().ok()?, None),
            Some((min, max)) => (min.parse().ok()?, Some(max.parse().ok()?)),
        };
        Some(Node::Repeat(Box::new(node), min, max))
    }

    fn class(&mut self) -> Option<Node> {
        let negated = self.eat("^");
        let mut ranges = Vec::new();
        loop {
            let first = match self.next()? {
                ']' if !ranges.is_empty() => break,
                '[' => return None, // nested and POSIX classes
                '\\' => match self.escape()?.as_slice() {
                    [(one, same)] if one == same => *one,
                    several => {
                        ranges.extend_from_slice(several);
                        continue;
                    }
                },
                literal => literal,
            };
            let is_range = self.rest.first() == Some(&'-') && self.rest.get(1).is_some_and(|&c| c != ']');
            let last = if is_range { self.range_end()? } else { first };
            if last < first {
                return None;
            }
            ranges.push((first, last));
        }
        Some(Node::OneOf(if negated { complement(&ranges) } else { ranges }))
    }

    fn range_end(&mut self) -> Option<char> {
        self.next(); // the dash
        match self.next()? {
            '\\' => self.escape()?.first().map(|(first, _)| *first),
            literal => Some(literal),
        }
    }

    fn escape(&mut self) -> Option<Vec<(char, char)>> {
        Some(match self.next()? {
            'd' => vec![('0', '9')],
            'w' => vec![('a', 'z'), ('A', 'Z'), ('0', '9'), ('_', '_')],
            's' | 'W' => vec![(' ', ' ')],
            'D' | 'S' => vec![('a', 'z')],
            'n' => vec![('\n', '\n')],
            'r' => vec![('\r', '\r')],
            't' => vec![('\t', '\t')],
            other if other.is_ascii_alphanumeric() => return None,
            literal => vec![(literal, literal)],
        })
    }
}

/// The printable ASCII characters outside these ranges.
fn complement(ranges: &[(char, char)]) -> Vec<(char, char)> {
    let outside = |c: &char| !ranges.iter().any(|(first, last)| (first..=last).contains(&c));
    (' '..='~').filter(outside).map(|c| (c, c)).collect()
}
