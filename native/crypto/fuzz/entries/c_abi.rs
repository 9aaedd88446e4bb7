//! Entry of fuzzing and of `finality/capi/tests/agreement.rs`: bytes as calls of the C library,
//! each beside the same call of the Rust library.
//!
//! Two graphs take turns. Pointers are null and sizes wrong where the bytes say so. Every status,
//! every result and the finality of every block are those of Rust; what is final stays final; a
//! refused call writes no result.

use std::ptr::{null, null_mut};

use paceline_finality::{BlockGraph, BlockId, GraphError, PARENTS_MAX};
use paceline_finality_capi::{
    Status, paceline_graph_attest, paceline_graph_finalise, paceline_graph_free,
    paceline_graph_insert, paceline_graph_is_final, paceline_graph_new, paceline_graph_prune,
    paceline_graph_restore, paceline_graph_snapshot,
};

/// Few ids, so that calls meet; 0 is genesis.
const IDS: u8 = 12;
/// Bytes of a call: what, three operands, flags.
const CALL: usize = 5;
/// What a result holds before a call.
const UNTOLD: u64 = 0xdead_beef_dead_beef;
const THRESHOLD: u64 = 3;
/// Flags: what is null, and which of the two graphs it is about.
const NO_RESULT: u8 = 1;
const NO_ID: u8 = 2;
const NO_GRAPH: u8 = 4;
const NO_OPERAND: u8 = 8;
const SECOND: u8 = 16;

type Told = Result<u64, Status>;

/// Panics where the two differ; how many blocks are final at the end.
pub(crate) fn enter(program: &[u8]) -> usize {
    let mut pairs = [Pair::new(), Pair::new()];
    for call in program.chunks_exact(CALL) {
        let call: [u8; CALL] = call.try_into().expect("a whole call");
        let pair = &mut pairs[usize::from(call[4] & SECOND != 0)];
        pair.step(call);
        pair.agree();
    }
    pairs.iter().map(|pair| pair.own.final_count()).sum()
}

fn id(number: u8) -> BlockId {
    let mut id = [number % IDS; 32];
    id[31] = 1;
    BlockId(id)
}

/// One graph in both libraries.
struct Pair {
    foreign: *mut BlockGraph,
    own: BlockGraph,
    was_final: [bool; IDS as usize],
}

impl Drop for Pair {
    fn drop(&mut self) {
        // SAFETY: nobody else has the handle; null is allowed.
        unsafe { paceline_graph_free(self.foreign) };
    }
}

impl Pair {
    fn new() -> Self {
        // SAFETY: an id is 32 readable bytes.
        let foreign = unsafe { paceline_graph_new(id(0).0.as_ptr(), THRESHOLD) };
        // SAFETY: null is allowed.
        assert!(!foreign.is_null() && unsafe { paceline_graph_new(null(), THRESHOLD) }.is_null());
        Self {
            foreign,
            own: BlockGraph::new(id(0), THRESHOLD),
            was_final: [false; IDS as usize],
        }
    }

    fn step(&mut self, [what, first, second, third, flags]: [u8; CALL]) {
        match what % 8 {
            0..=2 => self.insert(first, second, third, flags),
            3 => self.attest(
                first,
                if second == u8::MAX {
                    u64::MAX
                } else {
                    second.into()
                },
                flags,
            ),
            4 => self.finalise(first, flags),
            5 => self.prune(second.into(), flags),
            6 => self.through_a_snapshot(usize::from(first), flags),
            _ => self.spoilt_snapshot(usize::from(first) << 8 | usize::from(second), third, flags),
        }
    }

    /// The finality of every block, by both.
    fn agree(&mut self) {
        for number in 0..IDS {
            // SAFETY: the handle is ours, an id 32 readable bytes.
            let said = unsafe { paceline_graph_is_final(self.foreign, id(number).0.as_ptr()) };
            assert_eq!(
                said,
                i32::from(self.own.is_final(&id(number))),
                "is {number} final?"
            );
            let before = &mut self.was_final[usize::from(number)];
            assert!(said == 1 || !*before, "{number} is not final any more");
            *before = said == 1;
        }
        // SAFETY: null is allowed.
        let nulls = unsafe {
            [
                paceline_graph_is_final(null(), id(0).0.as_ptr()),
                paceline_graph_is_final(self.foreign, null()),
            ]
        };
        assert_eq!(nulls, [Status::Argument as i32; 2]);
    }

    fn graph(&self, flags: u8) -> *const BlockGraph {
        if flags & NO_GRAPH == 0 {
            self.foreign
        } else {
            null()
        }
    }

    fn insert(&self, first: u8, second: u8, third: u8, flags: u8) {
        let count = usize::from(third) % (PARENTS_MAX + 3);
        let parents: Vec<BlockId> = (0..count)
            .map(|at| {
                id(second.wrapping_add(u8::try_from(at).expect("few").wrapping_mul(third | 1)))
            })
            .collect();
        let block = id(first);
        let told = told(flags, |height| {
            let named = if flags & NO_ID == 0 {
                block.0.as_ptr()
            } else {
                null()
            };
            let list = if flags & NO_OPERAND == 0 {
                parents.as_ptr().cast()
            } else {
                null()
            };
            // SAFETY: as many ids as it is told; null is allowed.
            unsafe { paceline_graph_insert(self.graph(flags), named, list, count, height) }
        });
        let expected = if flags & (NO_GRAPH | NO_ID) != 0 {
            Err(Status::Argument)
        } else if count == 0 || count > PARENTS_MAX {
            Err(Status::Parents)
        } else if flags & NO_OPERAND != 0 {
            Err(Status::Argument)
        } else {
            said(self.own.insert(block, &parents))
        };
        same("insert", told, expected, flags);
    }

    fn attest(&self, first: u8, weight: u64, flags: u8) {
        let block = id(first);
        let told = told(flags, |sum| {
            let named = if flags & NO_ID == 0 {
                block.0.as_ptr()
            } else {
                null()
            };
            // SAFETY: an id is 32 readable bytes; null is allowed.
            unsafe { paceline_graph_attest(self.graph(flags), named, weight, sum) }
        });
        let null = flags & (NO_GRAPH | NO_ID) != 0;
        let expected = if null {
            Err(Status::Argument)
        } else {
            said(self.own.attest(&block, weight))
        };
        same("attest", told, expected, flags);
    }

    fn finalise(&self, first: u8, flags: u8) {
        let block = id(first);
        let mut abandoned = UNTOLD;
        let told = told(flags, |finalised| {
            let named = if flags & NO_ID == 0 {
                block.0.as_ptr()
            } else {
                null()
            };
            let other = if flags & NO_OPERAND == 0 {
                &raw mut abandoned
            } else {
                null_mut()
            };
            // SAFETY: an id is 32 readable bytes, results are ours; null is allowed.
            unsafe { paceline_graph_finalise(self.graph(flags), named, finalised, other) }
        });
        let null = flags & (NO_GRAPH | NO_ID) != 0;
        let done = if null {
            Err(Status::Argument)
        } else {
            self.own.finalise(&block).map_err(Status::from)
        };
        let dropped = done.as_ref().map_or(UNTOLD, |done| done.abandoned as u64);
        assert_eq!(
            abandoned,
            if flags & NO_OPERAND == 0 {
                dropped
            } else {
                UNTOLD
            },
            "abandoned"
        );
        same(
            "finalise",
            told,
            done.map(|done| done.finalised as u64),
            flags,
        );
    }

    fn prune(&self, below: u64, flags: u8) {
        // SAFETY: results are ours; null is allowed.
        let told = told(flags, |count| unsafe {
            paceline_graph_prune(self.graph(flags), below, count)
        });
        let null = flags & NO_GRAPH != 0;
        let expected = if null {
            Err(Status::Argument)
        } else {
            said(self.own.prune(below).map(|count| count as u64))
        };
        same("prune", told, expected, flags);
    }

    /// Both go on as what they wrote; a buffer that is too small is left as it was.
    fn through_a_snapshot(&mut self, short: usize, flags: u8) {
        let expected = self.own.snapshot().expect("nothing panicked");
        let mut buffer = vec![0xa5; expected.len() + 1];
        let small = expected.len().saturating_sub(short + 1);
        let result = told(flags, |size| {
            // SAFETY: the buffer is larger than it is told; null is allowed.
            unsafe {
                paceline_graph_snapshot(self.graph(flags), buffer.as_mut_ptr(), small, size.cast())
            }
        });
        if flags & NO_GRAPH != 0 {
            return assert_eq!(result, Err((Status::Argument as i32, UNTOLD)));
        }
        let size = if flags & NO_RESULT == 0 {
            expected.len() as u64
        } else {
            UNTOLD
        };
        assert_eq!(result, Err((Status::TooSmall as i32, size)));
        assert!(
            buffer.iter().all(|byte| *byte == 0xa5),
            "nothing is written to a buffer that is too small"
        );
        // SAFETY: the buffer has room; the size may be left out.
        let whole = unsafe {
            paceline_graph_snapshot(
                self.foreign,
                buffer.as_mut_ptr(),
                expected.len(),
                null_mut(),
            )
        };
        assert_eq!((whole, buffer.pop()), (0, Some(0xa5)), "no byte behind it");
        assert_eq!(buffer, expected, "both write the same");
        let fresh = restored(&buffer).expect("its own snapshot");
        // SAFETY: nobody else has the old handle.
        unsafe { paceline_graph_free(self.foreign) };
        self.foreign = fresh;
        self.own = BlockGraph::restore(&expected).expect("its own snapshot");
    }

    /// A byte of a snapshot changed, or its end cut off, or no bytes at all: both take it or neither.
    fn spoilt_snapshot(&self, at: usize, change: u8, flags: u8) {
        let mut bytes = self.own.snapshot().expect("nothing panicked");
        let at = at % bytes.len();
        if flags & NO_OPERAND == 0 {
            bytes[at] ^= change;
        } else {
            bytes.truncate(at);
        }
        let taken = restored(&bytes);
        assert_eq!(
            taken.is_ok(),
            BlockGraph::restore(&bytes).is_ok(),
            "restored by one of two"
        );
        match taken {
            // SAFETY: it was just made, for us alone.
            Ok(graph) => unsafe { paceline_graph_free(graph) },
            Err(status) => assert_eq!(status, Status::Snapshot as i32),
        }
        let mut place = self.foreign;
        // SAFETY: null is allowed, and a size that no object has is refused before a byte is read.
        let refused = unsafe {
            [
                paceline_graph_restore(bytes.as_ptr(), bytes.len(), null_mut()),
                paceline_graph_restore(bytes.as_ptr(), usize::MAX, &raw mut place),
                paceline_graph_restore(null(), bytes.len(), &raw mut place),
            ]
        };
        assert_eq!(
            (refused, place.is_null()),
            ([Status::Argument as i32; 3], true)
        );
    }
}

fn restored(bytes: &[u8]) -> Result<*mut BlockGraph, i32> {
    let mut graph = null_mut();
    // SAFETY: readable bytes, a writable place.
    let status = unsafe { paceline_graph_restore(bytes.as_ptr(), bytes.len(), &raw mut graph) };
    assert_eq!(graph.is_null(), status != 0, "a handle, or a reason");
    if status == 0 { Ok(graph) } else { Err(status) }
}

/// A call with a place for its result: the result, or the status and what is in that place then.
fn told(flags: u8, call: impl FnOnce(*mut u64) -> i32) -> Result<u64, (i32, u64)> {
    let mut result = UNTOLD;
    let status = call(if flags & NO_RESULT == 0 {
        &raw mut result
    } else {
        null_mut()
    });
    if status == 0 {
        Ok(result)
    } else {
        Err((status, result))
    }
}

fn said(by_rust: Result<u64, GraphError>) -> Told {
    by_rust.map_err(Status::from)
}

fn same(what: &str, told: Result<u64, (i32, u64)>, expected: Told, flags: u8) {
    let expected = expected.map_err(|status| (status as i32, UNTOLD));
    let expected = if flags & NO_RESULT == 0 {
        expected
    } else {
        expected.map(|_| UNTOLD)
    };
    assert_eq!(told, expected, "{what}");
}
