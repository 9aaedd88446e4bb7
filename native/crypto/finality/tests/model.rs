//! The graph against a naive one: any sequence of calls gives the same answers, block by block.
//!
//! The model keeps every block in one list and asks about ancestors by walking. `FINALITY_CASES`
//! sets how many sequences are tried; each has up to 120 calls over 24 names.

use std::collections::{BTreeMap, BTreeSet};

use paceline_finality::{BlockGraph, BlockId, Finalised, GraphError, Status};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

const NAMES: u8 = 24;
const THRESHOLD: u64 = 10;
const CASES: u32 = 400;
const CALLS: usize = 120;

/// Names whose ids collide: some begin with eight zero bytes, many share their first eight.
fn id(name: u8) -> BlockId {
    let mut id = [0; 32];
    id[7] = name % 5;
    id[31] = name;
    BlockId(id)
}

#[derive(Clone, Debug)]
enum Call {
    Insert(u8, Vec<u8>),
    Attest(u8, u64),
    Finalise(u8),
    Prune(u64),
    Restore,
}

fn call() -> impl Strategy<Value = Call> {
    prop_oneof![
        8 => (0..NAMES, prop::collection::vec(0..NAMES, 0..4)).prop_map(|(a, b)| Call::Insert(a, b)),
        6 => (0..NAMES, prop_oneof![Just(4), Just(THRESHOLD), Just(u64::MAX)])
            .prop_map(|(a, b)| Call::Attest(a, b)),
        3 => (0..NAMES).prop_map(Call::Finalise),
        1 => (0..u64::from(NAMES)).prop_map(Call::Prune),
        1 => Just(Call::Restore),
    ]
}

#[derive(Clone, Debug)]
struct Block {
    parents: Vec<u8>,
    height: u64,
    weight: u64,
}

struct Naive {
    blocks: BTreeMap<u8, Block>,
    finals: BTreeSet<u8>,
    pruned: BTreeSet<u8>,
    head: u8,
}

impl Naive {
    fn new() -> Self {
        let genesis = Block {
            parents: Vec::new(),
            height: 0,
            weight: 0,
        };
        let (blocks, finals) = (BTreeMap::from([(0, genesis)]), BTreeSet::from([0]));
        Self {
            blocks,
            finals,
            pruned: BTreeSet::new(),
            head: 0,
        }
    }

    fn past(&self, name: u8) -> BTreeSet<u8> {
        let mut past = BTreeSet::from([name]);
        for parent in &self.blocks[&name].parents {
            past.append(&mut self.past(*parent));
        }
        past
    }

    fn builds(&self, name: u8) -> bool {
        self.past(name).contains(&self.head)
    }

    fn insert(&mut self, name: u8, parents: &[u8]) -> Result<u64, GraphError> {
        if parents.is_empty() || parents.iter().collect::<BTreeSet<_>>().len() != parents.len() {
            return Err(GraphError::Parents(parents.len()));
        }
        if self.blocks.contains_key(&name) {
            return Err(GraphError::Duplicate(id(name)));
        }
        if let Some(unknown) = parents
            .iter()
            .find(|parent| !self.blocks.contains_key(parent))
        {
            return Err(GraphError::UnknownParent(id(*unknown)));
        }
        if !parents.iter().any(|parent| self.builds(*parent)) {
            return Err(GraphError::BelowFinality(id(name)));
        }
        let highest = parents
            .iter()
            .map(|parent| self.blocks[parent].height)
            .max()
            .unwrap_or(0);
        self.blocks.insert(
            name,
            Block {
                parents: parents.into(),
                height: highest + 1,
                weight: 0,
            },
        );
        Ok(highest + 1)
    }

    fn check_open(&self, name: u8) -> Result<(), GraphError> {
        if self.finals.contains(&name) {
            return Err(GraphError::AlreadyFinal(id(name)));
        }
        if !self.blocks.contains_key(&name) {
            return Err(GraphError::Unknown(id(name)));
        }
        if self.builds(name) {
            Ok(())
        } else {
            Err(GraphError::Conflicts(id(name)))
        }
    }

    fn attest(&mut self, name: u8, weight: u64) -> Result<u64, GraphError> {
        self.check_open(name)?;
        let block = self.blocks.get_mut(&name).expect("it is open");
        block.weight = block
            .weight
            .checked_add(weight)
            .ok_or(GraphError::WeightOverflow(id(name)))?;
        Ok(block.weight)
    }

    fn finalise(&mut self, name: u8) -> Result<Finalised, GraphError> {
        self.check_open(name)?;
        let weight = self.blocks[&name].weight;
        if weight < THRESHOLD {
            return Err(GraphError::Underweight {
                weight,
                threshold: THRESHOLD,
            });
        }
        let before = self.finals.len();
        self.finals.append(&mut self.past(name));
        self.head = name;
        let building = self.blocks.keys().filter(|name| self.builds(**name));
        let kept: BTreeSet<u8> = building.flat_map(|name| self.past(*name)).collect();
        let known = self.blocks.len();
        self.blocks
            .retain(|name, _| kept.contains(name) || self.finals.contains(name));
        let finalised = self.finals.len() - before;
        Ok(Finalised {
            finalised,
            abandoned: known - self.blocks.len(),
        })
    }

    fn prune(&mut self, below: u64) -> usize {
        let before = self.pruned.len();
        let low = |name: &&u8| self.blocks[name].height < below && **name != self.head;
        self.pruned.extend(self.finals.iter().filter(low));
        self.pruned.len() - before
    }

    fn status(&self, name: u8) -> Option<Status> {
        let Block { height, weight, .. } = *self.blocks.get(&name)?;
        Some(if self.finals.contains(&name) {
            Status::Final {
                height: (!self.pruned.contains(&name)).then_some(height),
            }
        } else if self.builds(name) {
            Status::Building { height, weight }
        } else {
            Status::Merging { height }
        })
    }
}

/// The same call to both; they answer alike and then are alike.
fn both(graph: &mut BlockGraph, naive: &mut Naive, call: &Call) -> Result<(), TestCaseError> {
    match call {
        Call::Insert(name, parents) => {
            let ids: Vec<BlockId> = parents.iter().map(|name| id(*name)).collect();
            prop_assert_eq!(graph.insert(id(*name), &ids), naive.insert(*name, parents));
        }
        Call::Attest(name, weight) => {
            prop_assert_eq!(
                graph.attest(&id(*name), *weight),
                naive.attest(*name, *weight)
            );
        }
        Call::Finalise(name) => prop_assert_eq!(graph.finalise(&id(*name)), naive.finalise(*name)),
        Call::Prune(below) => prop_assert_eq!(graph.prune(*below), Ok(naive.prune(*below))),
        Call::Restore => {
            let bytes = graph.snapshot().expect("nothing panicked");
            let restored = BlockGraph::restore(&bytes);
            prop_assert!(restored.is_ok(), "{:?}", restored.err());
            *graph = restored.expect("just asked");
            prop_assert_eq!(
                graph.snapshot(),
                Ok(bytes),
                "a restored graph writes what it was read from"
            );
        }
    }
    for name in 0..NAMES {
        prop_assert_eq!(
            graph.status(&id(name)),
            naive.status(name),
            "block {}",
            name
        );
        prop_assert_eq!(
            graph.is_final(&id(name)),
            naive.finals.contains(&name),
            "block {}",
            name
        );
    }
    prop_assert_eq!(graph.head(), id(naive.head));
    prop_assert_eq!(graph.final_count(), naive.finals.len());
    prop_assert_eq!(
        graph.pending_count(),
        naive.blocks.len() - naive.finals.len()
    );
    Ok(())
}

#[test]
fn every_call_answers_as_the_naive_graph_does() {
    let asked = std::env::var("FINALITY_CASES")
        .ok()
        .and_then(|text| text.parse().ok());
    let config = Config {
        cases: asked.unwrap_or(CASES),
        failure_persistence: None,
        ..Config::default()
    };
    let calls = prop::collection::vec(call(), 1..CALLS);
    let outcome = TestRunner::new(config).run(&calls, |calls| {
        let (mut graph, mut naive) = (BlockGraph::new(id(0), THRESHOLD), Naive::new());
        calls
            .iter()
            .try_for_each(|call| both(&mut graph, &mut naive, call))
    });
    if let Err(failure) = outcome {
        panic!("{failure}");
    }
}
