//! Reads keys from an Arrow column.

use super::Problem;
use super::abi::{Array, Schema};
use crate::key::{MOST_NESTED, RawKey, push_field};
use std::ffi::CStr;
use std::marker::PhantomData;
use std::ops::Range;

/// A column of keys, in memory that another library owns. The memory is borrowed for `'a`.
pub(crate) struct Column<'a> {
    values: Values<'a>,
    /// One bit per row, which is set if the row is valid; `None` if all rows are valid.
    valid: Option<Raw<'a, u8>>,
    /// The validity bits of each table that contains this column, in the form of `valid`, and the
    /// index of the table's first row in these bits.
    outer: Vec<(Raw<'a, u8>, usize)>,
    /// The index of the first row in the buffers.
    offset: usize,
    len: usize,
}

enum Values<'a> {
    Null,
    Bool(Raw<'a, u8>),
    Integer(Integers<'a>),
    Bytes32 { offsets: Raw<'a, i32>, data: Raw<'a, u8>, end: i32 },
    Bytes64 { offsets: Raw<'a, i64>, data: Raw<'a, u8>, end: i64 },
    Fixed { width: usize, data: Raw<'a, u8> },
    Views { views: Raw<'a, [u8; 16]>, buffers: Vec<(Raw<'a, u8>, i64)> },
    Dictionary { indexes: Integers<'a>, values: Box<Column<'a>> },
    Fields(Vec<Column<'a>>),
}

/// A pointer to many values, which can be unaligned.
struct Raw<'a, T> {
    pointer: *const T,
    lives: PhantomData<&'a T>,
}

impl<T> Clone for Raw<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Raw<'_, T> {}

// SAFETY: the values are only read.
unsafe impl<T: Sync> Send for Raw<'_, T> {}
// SAFETY: the values are only read.
unsafe impl<T: Sync> Sync for Raw<'_, T> {}

impl<'a, T: Copy> Raw<'a, T> {
    /// Returns the value with this index.
    ///
    /// # Safety
    /// The value must exist.
    #[inline(always)]
    unsafe fn get(self, number: usize) -> T {
        // SAFETY: as above.
        unsafe { self.pointer.add(number).read_unaligned() }
    }
}

impl<'a> Raw<'a, u8> {
    /// Returns `length` bytes, starting at the index `from`.
    ///
    /// # Safety
    /// The bytes must exist.
    #[inline(always)]
    unsafe fn slice(self, from: usize, length: usize) -> &'a [u8] {
        if length == 0 {
            return &[];
        }
        // SAFETY: the caller ensures that the bytes exist. A missing buffer has no bytes, so the
        // pointer is not null.
        unsafe { std::slice::from_raw_parts(self.pointer.add(from), length) }
    }

    /// Returns the bit with this index.
    ///
    /// # Safety
    /// The bit must exist.
    #[inline(always)]
    unsafe fn bit(self, number: usize) -> bool {
        // SAFETY: as above.
        unsafe { self.get(number / 8) >> (number % 8) & 1 == 1 }
    }
}

/// Integers of one width, at a fixed distance in bytes.
#[derive(Clone, Copy)]
struct Integers<'a> {
    data: Raw<'a, u8>,
    width: Width,
    stride: isize,
}

#[derive(Clone, Copy)]
enum Width {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
}

impl Width {
    /// The width for this format, which is a letter in the Arrow interface.
    fn of_arrow(format: &str) -> Option<Width> {
        Some(match format {
            "c" => Width::I8,
            "C" => Width::U8,
            "s" => Width::I16,
            "S" => Width::U16,
            "i" => Width::I32,
            "I" => Width::U32,
            "l" => Width::I64,
            "L" => Width::U64,
            _ => return None,
        })
    }

    fn bytes(self) -> usize {
        match self {
            Width::I8 | Width::U8 => 1,
            Width::I16 | Width::U16 => 2,
            Width::I32 | Width::U32 => 4,
            Width::I64 | Width::U64 => 8,
        }
    }

    /// The width for signed or unsigned integers of this size in bytes.
    fn of_size(bytes: usize, signed: bool) -> Option<Width> {
        Some(match (bytes, signed) {
            (1, true) => Width::I8,
            (1, false) => Width::U8,
            (2, true) => Width::I16,
            (2, false) => Width::U16,
            (4, true) => Width::I32,
            (4, false) => Width::U32,
            (8, true) => Width::I64,
            (8, false) => Width::U64,
            _ => return None,
        })
    }
}

/// Evaluates the same code for each width of integers. `get` is a function from a row's index to
/// the eight bytes of its key.
macro_rules! by_width {
    ($integers:expr, $get:ident => $do:expr) => {{
        let Integers { data, width, stride } = $integers;
        macro_rules! with {
            ($type:ty) => {{
                // SAFETY: the callers pass only existing rows.
                let $get = |row: usize| unsafe { data.pointer.offset(row as isize * stride).cast::<$type>().read_unaligned() as u64 };
                $do
            }};
        }
        match width {
            Width::I8 => with!(i8),
            Width::U8 => with!(u8),
            Width::I16 => with!(i16),
            Width::U16 => with!(u16),
            Width::I32 => with!(i32),
            Width::U32 => with!(u32),
            Width::I64 => with!(i64),
            Width::U64 => with!(u64),
        }
    }};
}

/// The rows of a block that are null.
#[derive(Default)]
pub(crate) struct Nulls {
    /// The indices of these rows, in order.
    pub(crate) rows: Vec<usize>,
}

/// A key of a block: a number, or the location of its bytes.
#[derive(Clone, Copy)]
pub(crate) enum Span {
    Number(u64),
    Bytes(usize, usize),
}

impl Span {
    /// The key; its bytes are in `bytes`, the bytes of the block.
    #[inline]
    pub(crate) fn key(self, bytes: &[u8]) -> RawKey<'_> {
        match self {
            Span::Number(number) => RawKey::Number(number),
            Span::Bytes(from, to) => RawKey::Bytes(&bytes[from..to]),
        }
    }
}

impl<'a> Column<'a> {
    /// Reads the structure of a column.
    ///
    /// # Safety
    /// The array must have the type that the schema describes, and its buffers must be large enough
    /// for its length and offset.
    pub(super) unsafe fn read(schema: &'a Schema, array: &'a Array) -> Result<Column<'a>, Problem> {
        // SAFETY: as above.
        unsafe { read(schema, array, 0) }
    }

    /// A column of integers in memory. The distance from one integer to the next is `stride` bytes.
    /// Returns `None` if no integers have this size.
    ///
    /// # Safety
    /// The memory must contain `len` integers of `bytes` bytes each, at this distance.
    pub(crate) unsafe fn strided(data: *const u8, len: usize, bytes: usize, signed: bool, stride: isize) -> Option<Column<'a>> {
        let data = Raw { pointer: data, lives: PhantomData };
        let values = Values::Integer(Integers { data, width: Width::of_size(bytes, signed)?, stride });
        Some(Column { values, valid: None, outer: Vec::new(), offset: 0, len })
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Whether the keys are numbers, so that [`load_numbers`](Self::load_numbers) can be used.
    pub(crate) fn is_numbers(&self) -> bool {
        matches!(self.values, Values::Integer(_))
    }

    /// Whether the keys are assembled from fields, so that [`pack`](Self::pack) must be used.
    pub(crate) fn is_fields(&self) -> bool {
        matches!(self.values, Values::Fields(_))
    }

    #[inline(always)]
    fn is_null(&self, row: usize) -> bool {
        // SAFETY: the row is below `len`, and each row has a bit.
        let is_null = |bits: Raw<'_, u8>, offset: usize| unsafe { !bits.bit(offset + row) };
        self.valid.is_some_and(|bits| is_null(bits, self.offset)) || self.outer.iter().any(|(bits, offset)| is_null(*bits, *offset))
    }

    /// The numbers of these rows, except nulls.
    pub(crate) fn load_numbers(&self, rows: Range<usize>, to: &mut Vec<u64>, nulls: &mut Nulls) {
        debug_assert!(rows.end <= self.len, "rows that are there");
        let Values::Integer(integers) = &self.values else { return };
        let first = rows.start;
        by_width!(*integers, get => {
            if self.valid.is_none() && self.outer.is_empty() {
                to.extend(rows.map(|row| get(self.offset + row)));
            } else {
                for row in rows {
                    if self.is_null(row) { nulls.rows.push(row - first) } else { to.push(get(self.offset + row)) }
                }
            }
        });
    }

    /// The keys of these rows, except nulls, for columns with one field.
    pub(crate) fn load_keys(&self, rows: Range<usize>, to: &mut Vec<RawKey<'a>>, nulls: &mut Nulls) -> Result<(), Problem> {
        match &self.values {
            Values::Bytes32 { offsets, data, end } => return self.load_strings(rows, *offsets, *data, (*end).into(), to, nulls),
            Values::Bytes64 { offsets, data, end } => return self.load_strings(rows, *offsets, *data, *end, to, nulls),
            _ => {}
        }
        let first = rows.start;
        for row in rows {
            match self.key(row)? {
                Some(key) => to.push(key),
                None => nulls.rows.push(row - first),
            }
        }
        Ok(())
    }

    /// Collects the keys of a column of strings, the most frequent kind of column. This function is
    /// compiled separately for each type of offsets, so the loop over rows does not branch on it.
    fn load_strings<T: Copy + Into<i64>>(
        &self,
        rows: Range<usize>,
        offsets: Raw<'a, T>,
        data: Raw<'a, u8>,
        end: i64,
        to: &mut Vec<RawKey<'a>>,
        nulls: &mut Nulls,
    ) -> Result<(), Problem> {
        let first = rows.start;
        for row in rows {
            let key = string(offsets, data, end, self.offset + row)?;
            if self.is_null(row) { nulls.rows.push(row - first) } else { to.push(RawKey::Bytes(key)) }
        }
        Ok(())
    }

    /// Collects the keys of these rows, except nulls, of a column with several fields. A row is
    /// null if any of its fields is null. The function stops after the row in which the keys exceed
    /// `most_bytes` bytes, and returns the next row.
    pub(crate) fn pack(
        &self,
        rows: Range<usize>,
        most_bytes: usize,
        bytes: &mut Vec<u8>,
        to: &mut Vec<Span>,
        nulls: &mut Nulls,
    ) -> Result<usize, Problem> {
        let first = rows.start;
        for row in rows.clone() {
            let from = bytes.len();
            if from > most_bytes {
                return Ok(row);
            }
            if self.push(row, bytes)? {
                to.push(Span::Bytes(from, bytes.len()));
            } else {
                bytes.truncate(from);
                nulls.rows.push(row - first);
            }
        }
        Ok(rows.end)
    }

    /// Appends the fields of a row. Returns false if one of them is null.
    fn push(&self, row: usize, to: &mut Vec<u8>) -> Result<bool, Problem> {
        let Values::Fields(fields) = &self.values else {
            let Some(key) = self.key(row)? else { return Ok(false) };
            push_field(key, to)?;
            return Ok(true);
        };
        if self.is_null(row) {
            return Ok(false);
        }
        for field in fields {
            if !field.push(self.offset + row, to)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    #[inline]
    fn key(&self, row: usize) -> Result<Option<RawKey<'a>>, Problem> {
        debug_assert!(row < self.len, "a row that is there");
        if self.is_null(row) {
            return Ok(None);
        }
        let row = self.offset + row;
        Ok(Some(match &self.values {
            Values::Null | Values::Fields(_) => return Ok(None),
            // SAFETY: the row is below the sum of offset and length, and the producer guarantees
            // that the buffers have this many rows.
            Values::Bool(bits) => RawKey::Number(u64::from(unsafe { bits.bit(row) })),
            Values::Integer(integers) => RawKey::Number(by_width!(*integers, get => get(row))),
            Values::Bytes32 { offsets, data, end } => RawKey::Bytes(string(*offsets, *data, (*end).into(), row)?),
            Values::Bytes64 { offsets, data, end } => RawKey::Bytes(string(*offsets, *data, *end, row)?),
            // SAFETY: the row is below the sum of offset and length, and the producer guarantees
            // that the buffers have this many rows.
            Values::Fixed { width, data } => RawKey::Bytes(unsafe { data.slice(row * width, *width) }),
            Values::Views { views, buffers } => RawKey::Bytes(viewed(*views, buffers, row)?),
            Values::Dictionary { indexes, values } => {
                let index = by_width!(*indexes, get => get(row));
                let Some(index) = usize::try_from(index).ok().filter(|index| *index < values.len) else {
                    return Problem::broken("an index points beyond its dictionary");
                };
                return values.key(index);
            }
        }))
    }
}

/// Returns the string of a row, which ends at the offset of the next row.
#[inline]
fn string<'a, T: Copy + Into<i64>>(offsets: Raw<'a, T>, data: Raw<'a, u8>, end: i64, row: usize) -> Result<&'a [u8], Problem> {
    // SAFETY: the callers pass only existing rows, and the number of offsets is one more than the
    // number of rows.
    let (from, to): (i64, i64) = unsafe { (offsets.get(row).into(), offsets.get(row + 1).into()) };
    if !(0 <= from && from <= to && to <= end) {
        return Problem::broken("the offsets of strings are not in order");
    }
    // SAFETY: the data has as many bytes as the last offset says, and `to` is at most this offset.
    Ok(unsafe { data.slice(from as usize, (to - from) as usize) })
}

/// Returns the string of a view. A string of at most 12 bytes is stored in the view itself; a
/// longer string is stored in a buffer.
#[inline]
fn viewed<'a>(views: Raw<'a, [u8; 16]>, buffers: &[(Raw<'a, u8>, i64)], row: usize) -> Result<&'a [u8], Problem> {
    // SAFETY: the callers pass only existing rows.
    let view = unsafe { views.get(row) };
    let part = |from: usize| i32::from_le_bytes([view[from], view[from + 1], view[from + 2], view[from + 3]]);
    let length = part(0);
    if (0..=12).contains(&length) {
        let place = Raw { pointer: views.pointer.cast::<u8>(), lives: PhantomData };
        // SAFETY: the bytes are within the view.
        return Ok(unsafe { place.slice(row * 16 + 4, length as usize) });
    }
    let (buffer, from) = (usize::try_from(part(8)), i64::from(part(12)));
    let found = buffer
        .ok()
        .and_then(|buffer| buffers.get(buffer))
        .filter(|(_, bytes)| length > 0 && from >= 0 && from + i64::from(length) <= *bytes);
    match found {
        // SAFETY: the bytes are within the buffer, as was just checked.
        Some((data, _)) => Ok(unsafe { data.slice(from as usize, length as usize) }),
        None => Problem::broken("a view points beyond its buffers"),
    }
}

/// The buffers of an array, each of which is checked before it is used.
struct Buffers<'a> {
    array: &'a Array,
    /// The number of rows in the buffers, including those before the column's first row.
    rows: usize,
}

impl<'a> Buffers<'a> {
    fn pointer(&self, number: usize) -> Result<*const u8, Problem> {
        if self.array.buffers.is_null() || i64::try_from(number).map_or(true, |number| number >= self.array.n_buffers) {
            return Problem::broken("a buffer is missing");
        }
        // SAFETY: `number` is below the number of buffers.
        Ok(unsafe { *self.array.buffers.add(number) }.cast())
    }

    /// Returns a buffer of `values` values. The buffer can be missing only if `values` is 0.
    fn raw<T>(&self, number: usize, values: usize) -> Result<Raw<'a, T>, Problem> {
        if values == 0 {
            return Ok(Raw { pointer: std::ptr::NonNull::dangling().as_ptr(), lives: PhantomData });
        }
        let pointer = self.pointer(number)?;
        let fits = values.checked_mul(size_of::<T>()).is_some_and(|bytes| isize::try_from(bytes).is_ok());
        if pointer.is_null() || !fits {
            Problem::broken("a buffer is missing")
        } else {
            Ok(Raw { pointer: pointer.cast(), lives: PhantomData })
        }
    }

    fn valid(&self) -> Result<Option<Raw<'a, u8>>, Problem> {
        if self.array.null_count == 0 || self.pointer(0)?.is_null() { Ok(None) } else { self.raw(0, self.rows.div_ceil(8)).map(Some) }
    }

    /// Returns the offsets of the strings, the bytes to which they refer, and the last offset.
    fn strings<T: Copy + Default>(&self, is_some: impl Fn(T) -> bool) -> Result<(Raw<'a, T>, Raw<'a, u8>, T), Problem> {
        if self.rows == 0 {
            return Ok((self.raw(1, 0)?, self.raw(2, 0)?, T::default()));
        }
        let offsets = self.raw::<T>(1, self.rows + 1)?;
        // SAFETY: the number of offsets is one more than the number of rows.
        let end = unsafe { offsets.get(self.rows) };
        Ok((offsets, self.raw(2, usize::from(is_some(end)))?, end))
    }

    fn views(&self) -> Result<Values<'a>, Problem> {
        let views = self.raw(1, self.rows)?;
        let Some(variadic) = usize::try_from(self.array.n_buffers).ok().and_then(|buffers| buffers.checked_sub(3)) else {
            return Problem::broken("a column of views has too few buffers");
        };
        let sizes = self.raw::<i64>(variadic + 2, variadic)?;
        let buffer = |number: usize| {
            // SAFETY: the number of sizes equals the number of buffers.
            let size = unsafe { sizes.get(number) };
            Ok((self.raw(number + 2, usize::from(size > 0))?, size))
        };
        Ok(Values::Views { views, buffers: (0..variadic).map(buffer).collect::<Result<_, Problem>>()? })
    }
}

/// # Safety
/// The caller must meet the requirements of [`Column::read`].
unsafe fn read<'a>(schema: &'a Schema, array: &'a Array, depth: usize) -> Result<Column<'a>, Problem> {
    if depth > MOST_NESTED {
        return Err(Problem::Type(format!("a column cannot have more than {MOST_NESTED} levels of types")));
    }
    let (Ok(len), Ok(offset)) = (usize::try_from(array.length), usize::try_from(array.offset)) else {
        return Problem::broken("a length or an offset is negative");
    };
    let Some(rows) = len.checked_add(offset).filter(|rows| *rows < isize::MAX as usize / 16) else {
        return Problem::broken("a column is longer than memory");
    };
    if schema.format.is_null() {
        return Problem::broken("a type is missing");
    }
    // SAFETY: according to the interface, the format is a C string.
    let format = unsafe { CStr::from_ptr(schema.format) }.to_str().unwrap_or_default();
    let buffers = Buffers { array, rows };
    if !schema.dictionary.is_null() {
        if array.dictionary.is_null() {
            return Problem::broken("a dictionary is missing");
        }
        // SAFETY: the pointers are not null, and are valid as long as the schema and the array.
        let values = unsafe { read(&*schema.dictionary, &*array.dictionary, depth + 1) }?;
        let (Some(width), false) = (Width::of_arrow(format), values.is_fields()) else { return Err(not_keys(format)) };
        let indexes = integers(&buffers, width)?;
        return Ok(Column {
            values: Values::Dictionary { indexes, values: Box::new(values) },
            valid: buffers.valid()?,
            outer: Vec::new(),
            offset,
            len,
        });
    }
    if format == "+s" {
        // SAFETY: the caller meets the requirements of this function, which are the same.
        return unsafe { fields(schema, array, offset, len, depth) };
    }
    let values = match format {
        "n" => return Ok(Column { values: Values::Null, valid: None, outer: Vec::new(), offset, len }),
        "b" => Values::Bool(buffers.raw(1, rows.div_ceil(8))?),
        "u" | "z" => {
            let (offsets, data, end) = buffers.strings::<i32>(|end| end > 0)?;
            Values::Bytes32 { offsets, data, end }
        }
        "U" | "Z" => {
            let (offsets, data, end) = buffers.strings::<i64>(|end| end > 0)?;
            Values::Bytes64 { offsets, data, end }
        }
        "vu" | "vz" => buffers.views()?,
        _ => match (Width::of_arrow(format), format.strip_prefix("w:").and_then(|width| width.parse::<usize>().ok())) {
            (Some(width), _) => Values::Integer(integers(&buffers, width)?),
            (None, Some(width)) => match rows.checked_mul(width) {
                Some(bytes) => Values::Fixed { width, data: buffers.raw(1, bytes)? },
                None => return Problem::broken("a column is longer than memory"),
            },
            (None, None) => return Err(not_keys(format)),
        },
    };
    Ok(Column { values, valid: buffers.valid()?, outer: Vec::new(), offset, len })
}

fn integers<'a>(buffers: &Buffers<'a>, width: Width) -> Result<Integers<'a>, Problem> {
    let bytes = buffers.rows.saturating_mul(width.bytes());
    Ok(Integers { data: buffers.raw(1, bytes)?, width, stride: width.bytes() as isize })
}

/// # Safety
/// The caller must meet the requirements of [`Column::read`].
unsafe fn fields<'a>(schema: &'a Schema, array: &'a Array, offset: usize, len: usize, depth: usize) -> Result<Column<'a>, Problem> {
    let count = schema.n_children;
    if count != array.n_children || (count > 0 && (schema.children.is_null() || array.children.is_null())) {
        return Problem::broken("a field is missing");
    }
    if count < 1 {
        return Err(Problem::Type("a table without columns has no keys; give at least one column".to_owned()));
    }
    let mut fields = Vec::new();
    for number in 0..count as usize {
        // SAFETY: `number` is below the number of children.
        let (schema, array) = unsafe { (*schema.children.add(number), *array.children.add(number)) };
        if schema.is_null() || array.is_null() {
            return Problem::broken("a field is missing");
        }
        // SAFETY: the pointers are not null, and are valid as long as the schema and the array.
        let field = unsafe { read(&*schema, &*array, depth + 1) }?;
        if field.len < offset + len {
            return Problem::broken("a field has fewer rows than its table");
        }
        fields.push(field);
    }
    let valid = Buffers { array, rows: offset + len }.valid_of_fields()?;
    // A table with one column is read as this column. A row is null if it is null in the table or
    // in the column.
    if fields.len() == 1
        && let Some(mut field) = fields.pop()
    {
        // The offset of the table applies to the column, and to the validity bits of the tables
        // within it.
        field.offset += offset;
        field.outer.iter_mut().for_each(|(_, first)| *first += offset);
        field.outer.extend(valid.map(|bits| (bits, offset)));
        field.len = len;
        return Ok(field);
    }
    Ok(Column { values: Values::Fields(fields), valid, outer: Vec::new(), offset, len })
}

impl<'a> Buffers<'a> {
    /// Returns the validity bits of a table's rows. Some producers export a table without any
    /// buffers; all its rows are valid.
    fn valid_of_fields(&self) -> Result<Option<Raw<'a, u8>>, Problem> {
        if self.array.n_buffers == 0 { Ok(None) } else { self.valid() }
    }
}

fn not_keys(format: &str) -> Problem {
    let (what, advice) = match format.as_bytes() {
        [b'e' | b'f' | b'g'] => ("floating-point numbers", "cast it to integers or text"),
        [b'd', ..] => ("decimals", "cast it to text"),
        [b't', ..] => ("dates, times or durations", "cast it to int64 or text"),
        [b'+', b'r'] => ("run-end encoded values", "decode it first"),
        [b'+', ..] => ("lists", "give the column of their items"),
        _ => ("values of an unknown type", "cast it to text"),
    };
    Problem::Type(format!(
        "a column of {what} (Arrow format `{format}`) cannot be used as keys: keys are strings, bytes, integers, booleans and structs of them; {advice}"
    ))
}
