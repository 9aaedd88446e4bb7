//! The ids of final blocks, for readers that never wait: open addressing over cache lines of two
//! ids.
//!
//! ```text
//! tables[0] ─ 8 ids    tables[1] ─ 16 ids    tables[2] ─ 32 ids …     current ─▶ tables[2]
//!                                            line: [id id] [id --] [-- --] [id id] …
//! ```
//! Only a graph's writer inserts, under its lock. An id never changes: its first word is stored
//! last with `Release`, so a reader that sees it (`Acquire`) sees the rest. A table that is too
//! full is followed by one twice its size, which holds everything before `current` points to it.
//! Older tables are kept until the index is dropped, because readers borrow the index; together
//! they are smaller than the current one, and `with_capacity` avoids them.
//!
//! A line is found by multiplying with a secret odd number (multiply-shift: Dietzfelbinger et al.,
//! "A reliable randomized algorithm for the closest-pair problem", 1997). Ids are uniform, but
//! somebody who grinds blocks until their ids share a prefix must not slow every check. Ids that
//! begin with eight zero bytes look like no id; callers must handle them.

use crate::id::Words;
use crate::pages::room_for;
use crate::sync::{Arc, AtomicPtr, AtomicU64, OnceLock, Ordering};

const WORDS: usize = 4;
/// Ids in a cache line of 64 bytes.
const IDS_PER_LINE: usize = 2;
/// Four lines: less would not be worth the growing.
const SMALLEST_LINES_LOG2: u32 = 2;
/// The largest table has 2^42 lines, 256 TiB: no machine gets there.
const TABLES: usize = 40;
/// Above 2/5 of its places a table is followed by the next: about one id in fourteen is then beyond its line.
/// Fuller ones cost time, not only of their own: a branch that was guessed wrong waits for its line to come
/// from memory, and no check behind it has begun until then.
const FILL: (usize, usize) = (2, 5);

/// Two ids, their first words 0 where there is none; the second place is filled after the first.
#[repr(align(64))]
struct Line([AtomicU64; IDS_PER_LINE * WORDS]);

/// What a line says about an id.
enum Found {
    Here,
    /// Neither here nor further on: the line has room.
    Nowhere,
    /// Not in this line, which is full.
    PerhapsNext,
}

impl Line {
    fn empty() -> Self {
        Self(std::array::from_fn(|_| AtomicU64::new(0)))
    }

    /// `Acquire`: whoever sees a first word sees the words that were stored before it.
    #[inline]
    fn first_word(&self, place: usize) -> u64 {
        self.0[place * WORDS].load(Ordering::Acquire)
    }

    #[inline]
    fn holds(&self, place: usize, id: Words) -> bool {
        let differs = self.first_word(place) ^ id[0];
        let word = |i: usize| self.0[place * WORDS + i].load(Ordering::Relaxed) ^ id[i];
        (differs | word(1) | word(2) | word(3)) == 0
    }

    /// One comparison, without a branch on the place: which one it is cannot be predicted. Says
    /// `PerhapsNext` also of what is here beside another id with the same first word.
    #[inline]
    fn find(&self, id: Words) -> Found {
        let place = usize::from(self.first_word(0) != id[0]);
        if self.holds(place, id) {
            Found::Here
        } else if self.first_word(1) == 0 {
            Found::Nowhere
        } else {
            Found::PerhapsNext
        }
    }

    fn find_at_any_place(&self, id: Words) -> Found {
        if self.holds(0, id) || self.holds(1, id) {
            Found::Here
        } else {
            self.find(id)
        }
    }

    /// Whether there was room.
    fn put(&self, id: Words) -> bool {
        for place in self.0.chunks_exact(WORDS) {
            if place[0].load(Ordering::Relaxed) == 0 {
                for (word, value) in place.iter().zip(id).skip(1) {
                    word.store(value, Ordering::Relaxed);
                }
                place[0].store(id[0], Ordering::Release);
                return true;
            }
        }
        false
    }
}

/// A power of two of lines.
struct Table {
    lines: Box<[Line]>,
    /// 64 − log2(lines): the highest bits of a product choose the line.
    shift: u32,
}

impl Table {
    fn new(lines_log2: u32) -> Self {
        let count = 1_usize << lines_log2;
        let mut lines = room_for(count);
        lines.extend((0..count).map(|_| Line::empty()));
        Self {
            lines: lines.into_boxed_slice(),
            shift: u64::BITS - lines_log2,
        }
    }

    #[inline]
    fn first(&self, id: Words, multiplier: u64) -> usize {
        // The product's highest bits are fewer than a usize has: there are that many lines in memory.
        #[allow(clippy::cast_possible_truncation, reason = "see above")]
        let line = (id[0].wrapping_mul(multiplier) >> self.shift) as usize;
        line
    }

    #[inline]
    fn next(&self, line: usize) -> usize {
        (line + 1) & (self.lines.len() - 1)
    }

    #[inline]
    fn contains(&self, id: Words, multiplier: u64) -> bool {
        let line = self.first(id, multiplier);
        match self.lines[line].find(id) {
            Found::Here => true,
            Found::Nowhere => false,
            Found::PerhapsNext => self.contains_from(line, id[0], id[1], id[2], id[3]),
        }
    }

    /// The rest of the way, apart: most ids are in the first line, and then nothing has to be saved for a
    /// call; for the same reason the id comes in registers. Ends, because a table is never full.
    #[inline(never)]
    fn contains_from(&self, mut line: usize, a: u64, b: u64, c: u64, d: u64) -> bool {
        let id = [a, b, c, d];
        loop {
            match self.lines[line].find_at_any_place(id) {
                Found::Here => return true,
                Found::Nowhere => return false,
                Found::PerhapsNext => line = self.next(line),
            }
        }
    }

    fn put(&self, id: Words, multiplier: u64) {
        let mut line = self.first(id, multiplier);
        while !self.lines[line].put(id) {
            line = self.next(line);
        }
    }

    fn ids(&self) -> impl Iterator<Item = Words> + '_ {
        let places = self
            .lines
            .iter()
            .flat_map(|line| line.0.chunks_exact(WORDS));
        let words = places.map(|place| std::array::from_fn(|i| place[i].load(Ordering::Relaxed)));
        words.filter(|words: &Words| words[0] != 0)
    }

    fn has_room(&self, ids: usize) -> bool {
        fits(ids, self.lines.len())
    }
}

fn fits(ids: usize, lines: usize) -> bool {
    ids as u128 * FILL.1 as u128 <= lines as u128 * IDS_PER_LINE as u128 * FILL.0 as u128
}

/// The right to insert, of which an index has one: its writer's lock guards it.
pub(crate) struct Writer {
    count: usize,
    tables: usize,
    lines_log2: u32,
}

/// A set of ids that only grows.
pub(crate) struct FinalIndex {
    /// The table in use: one of `tables`. A pointer, because readers would have to ask a cell whether it is
    /// filled at every check, and what they spend on that is missing where checks wait for memory: the fewer
    /// instructions a check has, the more of them are under way at once.
    current: AtomicPtr<Table>,
    multiplier: u64,
    /// Every table there was. Not `Box`: one that moves with the index claims to be the only way to it.
    tables: [OnceLock<Arc<Table>>; TABLES],
}

impl FinalIndex {
    /// With room for `capacity` ids before it grows; `secret` chooses lines.
    pub(crate) fn new(capacity: usize, secret: u64) -> (Self, Writer) {
        let mut lines_log2 = SMALLEST_LINES_LOG2;
        while !fits(capacity, 1 << lines_log2) {
            lines_log2 += 1;
        }
        let tables = std::array::from_fn(|_| OnceLock::new());
        let first = Arc::new(Table::new(lines_log2));
        let current = AtomicPtr::new(Arc::as_ptr(&first).cast_mut());
        let index = Self {
            current,
            multiplier: secret | 1,
            tables,
        };
        index.tables[0].get_or_init(|| first);
        (
            index,
            Writer {
                count: 0,
                tables: 1,
                lines_log2,
            },
        )
    }

    /// Whether `id` was inserted; its first word must not be 0. Never waits.
    #[inline]
    pub(crate) fn contains(&self, id: Words) -> bool {
        self.table().contains(id, self.multiplier)
    }

    /// Adds an id that is not there yet; its first word must not be 0.
    pub(crate) fn insert(&self, writer: &mut Writer, id: Words) {
        debug_assert!(id[0] != 0, "an id of this kind is the caller's affair");
        let table = self.table();
        if table.has_room(writer.count + 1) {
            table.put(id, self.multiplier);
        } else {
            self.grow(writer, table, id);
        }
        writer.count += 1;
    }

    /// Every id, in no order.
    pub(crate) fn ids(&self) -> impl Iterator<Item = Words> + '_ {
        self.table().ids()
    }

    #[inline]
    #[allow(
        unsafe_code,
        reason = "a pointer to what this index keeps until it is dropped"
    )]
    fn table(&self) -> &Table {
        // SAFETY: only `new` and `grow` store here, the address of a table that one of `tables` keeps until
        // `self` is dropped, which the borrow outlives; `Acquire` sees it as it was when it was stored.
        unsafe { &*self.current.load(Ordering::Acquire) }
    }

    fn grow(&self, writer: &mut Writer, full: &Table, id: Words) {
        writer.lines_log2 += 1;
        let table = Arc::new(Table::new(writer.lines_log2));
        full.ids()
            .chain([id])
            .for_each(|id| table.put(id, self.multiplier));
        let address = Arc::as_ptr(&table).cast_mut();
        self.tables[writer.tables].get_or_init(|| table);
        writer.tables += 1;
        self.current.store(address, Ordering::Release);
    }
}

impl Writer {
    /// How many ids were inserted.
    pub(crate) fn count(&self) -> usize {
        self.count
    }
}
