//! The short way to a member of a JSON text: every byte is looked at once, and nothing is built.
//!
//! It answers only where the text is whole and as programs write it. Of everything else (an error,
//! escapes in a name on the way, a value that is no key, nesting beyond [`DEEPEST`]) it says
//! nothing, so that the long way alone decides what is wrong and how that is said.

/// Objects and lists within each other that are followed.
const DEEPEST: usize = 64;

/// The string, number or truth value at the end of these names; of a repeated name the last one
/// counts.
pub(super) fn find<'t>(text: &'t [u8], path: &[String]) -> Option<Value<'t>> {
    let mut scan = Scan { text, at: 0, escapes: 0 };
    scan.space();
    let found = scan.along(path, DEEPEST)?;
    scan.space();
    (scan.at == text.len()).then_some(found)
}

/// A value that may be a key.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Value<'t> {
    /// As it is written, the quotes of a string included. It is UTF-8.
    pub(super) raw: &'t [u8],
    pub(super) has_escapes: bool,
}

/// A position in a text. What returns `Option` goes on behind what it names, or has no answer.
struct Scan<'t> {
    text: &'t [u8],
    at: usize,
    /// Escapes so far.
    escapes: usize,
}

impl<'t> Scan<'t> {
    #[inline(always)]
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    #[inline(always)]
    fn space(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek() {
            self.at += 1;
        }
    }

    #[inline(always)]
    fn byte(&mut self, byte: u8) -> Option<()> {
        (self.peek() == Some(byte)).then(|| self.at += 1)
    }

    /// The value at the end of the path of an object.
    fn along(&mut self, path: &[String], depth: usize) -> Option<Value<'t>> {
        let (name, rest) = path.split_first()?;
        let depth = depth.checked_sub(1)?;
        let mut found = None;
        self.byte(b'{')?;
        loop {
            self.space();
            let is_here = self.is_name(name)?;
            self.colon()?;
            if is_here {
                found = Some(if rest.is_empty() { self.scalar()? } else { self.along(rest, depth)? });
            } else {
                self.value(depth)?;
            }
            if !self.goes_on(b'}')? {
                return found;
            }
        }
    }

    /// Whether a name, which must be valid, is this one.
    #[inline(always)]
    fn is_name(&mut self, name: &str) -> Option<bool> {
        let (start, escapes) = (self.at + 1, self.escapes);
        self.string()?;
        let found = &self.text[start..self.at - 1];
        // An escape may stand for anything, and what is not UTF-8 is an error.
        (self.escapes == escapes && is_text(found)).then(|| found == name.as_bytes())
    }

    #[inline(always)]
    fn colon(&mut self) -> Option<()> {
        self.space();
        self.byte(b':')?;
        self.space();
        Some(())
    }

    /// Whether another member or element follows, or this ends what it is part of.
    #[inline(always)]
    fn goes_on(&mut self, end: u8) -> Option<bool> {
        self.space();
        let byte = self.peek()?;
        self.at += 1;
        (byte == b',' || byte == end).then_some(byte == b',')
    }

    /// A value that may be a key.
    #[inline(always)]
    fn scalar(&mut self) -> Option<Value<'t>> {
        let (start, escapes) = (self.at, self.escapes);
        match self.peek()? {
            b'"' => self.string()?,
            b't' => self.word(b"true")?,
            b'f' => self.word(b"false")?,
            _ => self.number()?,
        }
        let raw = &self.text[start..self.at];
        is_text(raw).then_some(Value { raw, has_escapes: self.escapes > escapes })
    }

    /// Any value.
    #[inline(always)]
    fn value(&mut self, depth: usize) -> Option<()> {
        match self.peek()? {
            b'"' => self.string(),
            b't' => self.word(b"true"),
            b'f' => self.word(b"false"),
            b'n' => self.word(b"null"),
            b'{' => self.object(depth.checked_sub(1)?),
            b'[' => self.list(depth.checked_sub(1)?),
            _ => self.number(),
        }
    }

    fn object(&mut self, depth: usize) -> Option<()> {
        self.at += 1;
        self.space();
        if self.byte(b'}').is_some() {
            return Some(());
        }
        loop {
            self.space();
            self.string()?;
            self.colon()?;
            self.value(depth)?;
            if !self.goes_on(b'}')? {
                return Some(());
            }
        }
    }

    fn list(&mut self, depth: usize) -> Option<()> {
        self.at += 1;
        self.space();
        if self.byte(b']').is_some() {
            return Some(());
        }
        loop {
            self.space();
            self.value(depth)?;
            if !self.goes_on(b']')? {
                return Some(());
            }
        }
    }

    #[inline(always)]
    fn word(&mut self, word: &[u8]) -> Option<()> {
        self.text[self.at..].starts_with(word).then(|| self.at += word.len())
    }

    #[inline(always)]
    fn number(&mut self) -> Option<()> {
        let _ = self.byte(b'-');
        if self.byte(b'0').is_none() {
            self.digits()?;
        }
        if self.byte(b'.').is_some() {
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.peek() {
            self.at += 1;
            if let Some(b'+' | b'-') = self.peek() {
                self.at += 1;
            }
            self.digits()?;
        }
        Some(())
    }

    /// At least one digit.
    #[inline(always)]
    fn digits(&mut self) -> Option<()> {
        let start = self.at;
        while let Some(b'0'..=b'9') = self.peek() {
            self.at += 1;
        }
        (self.at > start).then_some(())
    }

    #[inline(always)]
    fn string(&mut self) -> Option<()> {
        self.byte(b'"')?;
        loop {
            self.at = special(self.text, self.at);
            match self.peek()? {
                b'"' => {
                    self.at += 1;
                    return Some(());
                }
                b'\\' => self.escape()?,
                // A control character.
                _ => return None,
            }
        }
    }

    #[cold]
    fn escape(&mut self) -> Option<()> {
        let length = match self.text.get(self.at + 1)? {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => 2,
            b'u' => self.text.get(self.at + 2..self.at + 6)?.iter().all(u8::is_ascii_hexdigit).then_some(6)?,
            _ => return None,
        };
        (self.at, self.escapes) = (self.at + length, self.escapes + 1);
        Some(())
    }
}

#[inline(always)]
fn is_text(bytes: &[u8]) -> bool {
    bytes.is_ascii() || std::str::from_utf8(bytes).is_ok()
}

/// The first byte from this one on that is not simply part of a string: a quote, a backslash or a
/// control character; the length if there is none.
#[inline(always)]
pub(super) fn special(text: &[u8], from: usize) -> usize {
    let mut at = from;
    // Sixteen bytes at once, of which the compiler makes a vector.
    while let Some(bytes) = text.get(at..).and_then(<[u8]>::first_chunk::<16>)
        && !bytes.iter().fold(false, |any, byte| any | is_special(*byte))
    {
        at += bytes.len();
    }
    while let Some(bytes) = text.get(at..).and_then(<[u8]>::first_chunk) {
        let word = u64::from_le_bytes(*bytes);
        let found = below(word ^ each(b'"'), 1) | below(word ^ each(b'\\'), 1) | below(word, b' ');
        if found != 0 {
            return at + found.trailing_zeros() as usize / 8;
        }
        at += bytes.len();
    }
    text[at..].iter().position(|byte| is_special(*byte)).map_or(text.len(), |more| at + more)
}

#[inline(always)]
const fn is_special(byte: u8) -> bool {
    (byte == b'"') | (byte == b'\\') | (byte < b' ')
}

/// This byte eight times.
#[inline(always)]
const fn each(byte: u8) -> u64 {
    u64::from_ne_bytes([byte; 8])
}

/// The high bit of each byte that is below the limit, at most 128; right up to the first of them,
/// which is the one at the low end (what it borrows makes later ones wrong).
#[inline(always)]
const fn below(word: u64, limit: u8) -> u64 {
    word.wrapping_sub(each(limit)) & !word & each(0x80)
}
