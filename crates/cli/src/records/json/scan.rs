//! The fast path to a member of a JSON text, which examines every byte only once and builds no
//! values.
//!
//! The fast path answers only if the text is complete and written as programs usually write JSON.
//! In all other cases (an error, escapes in a name on the path, a value that cannot be a key,
//! nesting beyond [`DEEPEST`]), it gives no answer. The general reader then finds the problem and
//! writes the message.
//!
//! Most functions are named after an element of JSON. Such a function takes the text that begins
//! with this element, and returns the text after the element, or `None` if it has no answer.

use crate::records::near;

/// The largest depth of nested objects and lists for which the fast path gives an answer.
const DEEPEST: usize = 64;

/// The string, number or truth value at the end of this path; if a name is repeated, the last one
/// counts. Pass the same `order` for all records of an input.
pub(super) fn find<'t>(text: &'t [u8], path: &[String], order: &mut Order) -> Option<Value<'t>> {
    // Checked once for all names and values: text that is not UTF-8 may be an error.
    if !near::is_ascii(text) && std::str::from_utf8(text).is_err() {
        return None;
    }
    let (found, rest) = along(space(text), path, DEEPEST, &mut order.0)?;
    space(rest).is_empty().then_some(found)
}

/// A value that may be a key.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Value<'t> {
    /// The value as it is written, including the quotes of a string. The text is valid UTF-8.
    pub(super) raw: &'t [u8],
    pub(super) has_escapes: bool,
}

/// The names of the first members of the last record. Programs usually write members in the same
/// order and with the same spaces, so one comparison usually finds the next value.
#[derive(Clone, Debug, Default)]
pub(super) struct Order([Before; 16]);

/// The text before a value: `{` or a comma, and the name with its colon.
#[derive(Clone, Copy, Debug, Default)]
struct Before {
    /// The bytes of the text, a mask for these bytes, and their number. The number is 0 while the
    /// text is unknown.
    bytes: u128,
    mask: u128,
    length: usize,
    /// Whether the name is the next one on the path.
    is_here: bool,
}

impl Before {
    fn of(text: &[u8], is_here: bool) -> Before {
        let mut bytes = [0; 16];
        let Some(room) = bytes.get_mut(..text.len()) else { return Before::default() };
        room.copy_from_slice(text);
        let (bytes, length) = (u128::from_le_bytes(bytes), text.len());
        Before { bytes, mask: u128::MAX.checked_shr(128 - 8 * length as u32).unwrap_or(0), length, is_here }
    }

    /// The text after these bytes, if the text begins with them.
    #[inline(always)]
    fn skip<'t>(&self, text: &'t [u8]) -> Option<&'t [u8]> {
        let differs = match (text.first_chunk(), text.first_chunk()) {
            (Some(bytes), _) => (u128::from_le_bytes(*bytes) ^ self.bytes) & self.mask != 0,
            // Near the end of the record, there may be fewer than 16 bytes.
            (_, Some(bytes)) if self.length <= 8 => (u64::from_le_bytes(*bytes) ^ self.bytes as u64) & self.mask as u64 != 0,
            _ => !text.starts_with(&self.bytes.to_le_bytes()[..self.length]),
        };
        if differs || self.length == 0 { None } else { text.get(self.length..).map(space) }
    }
}

/// The value at the end of the path in an object, and the text after the object.
fn along<'t>(text: &'t [u8], path: &[String], depth: usize, order: &mut [Before]) -> Option<(Value<'t>, &'t [u8])> {
    let (name, inner) = path.split_first()?;
    let depth = depth.checked_sub(1)?;
    let (mut text, mut found) = (text, None);
    for number in 0.. {
        let before = order.get_mut(number);
        let (value, is_here) = match before.as_ref().and_then(|before| Some((before.skip(text)?, before.is_here))) {
            Some(known) => known,
            None => {
                let (value, is_here) = member(text, if number == 0 { b'{' } else { b',' }, name)?;
                if let Some(before) = before {
                    *before = Before::of(&text[..text.len() - value.len()], is_here);
                }
                (value, is_here)
            }
        };
        let rest = if is_here {
            let (value, rest) = if inner.is_empty() { scalar(value)? } else { along(value, inner, depth, &mut [])? };
            found = Some(value);
            rest
        } else {
            any(value, depth)?
        };
        text = space(rest);
        match text {
            [b',', ..] => {}
            [b'}', rest @ ..] => return found.map(|found| (found, rest)),
            _ => return None,
        }
    }
    None
}

/// Reads the byte `after` and the name of a member. Returns the text that begins with the member's
/// value, and whether the member has this name.
#[inline(never)]
fn member<'t>(text: &'t [u8], after: u8, name: &str) -> Option<(&'t [u8], bool)> {
    let (found, has_escapes, rest) = string(space(byte(text, after)?))?;
    // A name with escapes must be decoded first.
    if has_escapes { None } else { Some((colon(rest)?, found == name.as_bytes())) }
}

#[inline(always)]
fn space(mut text: &[u8]) -> &[u8] {
    // Usually there is no white space, and one comparison shows that.
    while let [byte @ ..=b' ', rest @ ..] = text
        && matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
    {
        text = rest;
    }
    text
}

#[inline(always)]
fn byte(text: &[u8], byte: u8) -> Option<&[u8]> {
    text.split_first().filter(|(first, _)| **first == byte).map(|(_, rest)| rest)
}

#[inline(always)]
fn colon(text: &[u8]) -> Option<&[u8]> {
    byte(space(text), b':').map(space)
}

/// A value that may be a key.
#[inline(always)]
fn scalar(text: &[u8]) -> Option<(Value<'_>, &[u8])> {
    let (has_escapes, rest) = match text.first()? {
        b'"' => string(text).map(|(_, has_escapes, rest)| (has_escapes, rest))?,
        b't' => (false, text.strip_prefix(b"true")?),
        b'f' => (false, text.strip_prefix(b"false")?),
        _ => (false, number(text)?),
    };
    Some((Value { raw: &text[..text.len() - rest.len()], has_escapes }, rest))
}

/// The text after a value of any kind.
#[inline(always)]
fn any(text: &[u8], depth: usize) -> Option<&[u8]> {
    match text.first()? {
        b'"' => string(text).map(|(.., rest)| rest),
        b't' => text.strip_prefix(b"true"),
        b'f' => text.strip_prefix(b"false"),
        b'n' => text.strip_prefix(b"null"),
        b'{' => object(&text[1..], depth.checked_sub(1)?),
        b'[' => list(&text[1..], depth.checked_sub(1)?),
        _ => number(text),
    }
}

/// The text after an object, whose opening brace was already read.
fn object(text: &[u8], depth: usize) -> Option<&[u8]> {
    let mut text = space(text);
    if let Some(rest) = byte(text, b'}') {
        return Some(rest);
    }
    loop {
        let (.., rest) = string(space(text))?;
        match space(any(colon(rest)?, depth)?) {
            [b',', rest @ ..] => text = rest,
            [b'}', rest @ ..] => return Some(rest),
            _ => return None,
        }
    }
}

/// The text after a list, whose opening bracket was already read.
fn list(text: &[u8], depth: usize) -> Option<&[u8]> {
    let mut text = space(text);
    if let Some(rest) = byte(text, b']') {
        return Some(rest);
    }
    loop {
        match space(any(space(text), depth)?) {
            [b',', rest @ ..] => text = rest,
            [b']', rest @ ..] => return Some(rest),
            _ => return None,
        }
    }
}

#[inline(always)]
fn number(text: &[u8]) -> Option<&[u8]> {
    let text = byte(text, b'-').unwrap_or(text);
    let mut rest = match byte(text, b'0') {
        Some(rest) => rest,
        None => digits(text)?,
    };
    if let [b'.', fraction @ ..] = rest {
        rest = digits(fraction)?;
    }
    if let [b'e' | b'E', exponent @ ..] = rest {
        rest = digits(if let [b'+' | b'-', digits @ ..] = exponent { digits } else { exponent })?;
    }
    Some(rest)
}

/// Returns the text after the digits at its beginning; at least one digit is required.
#[inline(always)]
fn digits(text: &[u8]) -> Option<&[u8]> {
    text.split_at_checked(near::digits(text)).filter(|(digits, _)| !digits.is_empty()).map(|(_, rest)| rest)
}

/// The text between the quotes of a string, whether it contains escapes, and the text after the
/// string.
#[inline(always)]
fn string(text: &[u8]) -> Option<(&[u8], bool, &[u8])> {
    let text = byte(text, b'"')?;
    let (inner, rest) = text.split_at_checked(near::special(text, 0)?)?;
    match rest {
        [b'"', rest @ ..] => Some((inner, false, rest)),
        [b'\\', ..] => string_on(text, rest),
        // A control character.
        _ => None,
    }
}

/// Like [`string`], for the rest of a string from its first escape on.
#[inline(never)]
fn string_on<'t>(text: &'t [u8], mut rest: &'t [u8]) -> Option<(&'t [u8], bool, &'t [u8])> {
    loop {
        rest = escape(rest)?;
        rest = &rest[near::special(rest, 0)?..];
        match rest {
            [b'"', behind @ ..] => return Some((&text[..text.len() - rest.len()], true, behind)),
            [b'\\', ..] => {}
            _ => return None,
        }
    }
}

fn escape(text: &[u8]) -> Option<&[u8]> {
    match text {
        [b'\\', b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', rest @ ..] => Some(rest),
        [b'\\', b'u', rest @ ..] => {
            rest.split_at_checked(4).filter(|(digits, _)| digits.iter().all(u8::is_ascii_hexdigit)).map(|(_, rest)| rest)
        }
        _ => None,
    }
}
