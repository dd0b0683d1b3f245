//! What a schema refers to: its definitions by distance, and cycles that reach no value.
//!
//! Owns: the walk over references, which ends as soon as it is sure that what it found cannot be published
//! whole. Must never copy a definition.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::{Converted, Direction, Use};
use crate::catalog::DiagnosticCode;
use crate::catalog::document::{Document, cyclic};
use crate::catalog::finding::Finding;
use crate::json::Pointer;

/// What `"NAME":,` adds to a definition under `$defs`.
const MEMBER_BYTES: usize = 4;

/// A definition that a schema refers to, directly or through others.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) at: Pointer,
    pub(super) converted: Arc<Converted>,
    /// How many references lead from the root to it; 1 is the nearest.
    pub(super) depth: usize,
}

impl Node {
    /// What it adds to the published schema whole.
    pub(super) fn bytes(&self) -> usize {
        self.converted.bytes + self.name_bytes()
    }

    /// What it adds without descriptions and examples.
    pub(super) fn bare_bytes(&self) -> usize {
        self.converted.slim().bare_bytes + self.name_bytes()
    }

    /// What it adds at least, however many of its references are cut.
    pub(super) fn floor_bytes(&self) -> usize {
        self.converted.slim().floor_bytes + self.name_bytes()
    }

    fn name_bytes(&self) -> usize {
        self.converted.name.len() + MEMBER_BYTES
    }
}

/// The definitions of a schema, nearest first.
#[derive(Debug)]
pub(super) struct Graph {
    pub(super) nodes: Vec<Node>,
    /// Where a definition of a name stands in the list.
    pub(super) by_name: HashMap<String, usize>,
    /// The depth up to which all definitions are here.
    pub(super) complete_depth: usize,
    /// Whether there are none deeper.
    pub(super) is_whole: bool,
    /// How many bytes of schemas were looked at.
    pub(super) looked_at: usize,
}

impl Graph {
    /// Gathers definitions down to a depth, until even what is left of them reduced is over a budget.
    pub(super) fn gather(
        document: &Document,
        direction: Direction,
        uses: &[Use],
        depth_max: usize,
        budget_bytes: usize,
    ) -> Result<Self, Finding> {
        let mut graph = Self {
            nodes: Vec::new(),
            by_name: HashMap::new(),
            complete_depth: depth_max,
            is_whole: true,
            looked_at: 0,
        };
        let mut taken: HashSet<Pointer> = HashSet::new();
        let mut layer: Vec<Pointer> = uses.iter().map(|one| one.at.clone()).collect();
        let (mut bytes, mut floor, mut depth) = (0, 0, 0);
        while !layer.is_empty() {
            depth += 1;
            if depth > depth_max {
                graph.is_whole = layer.iter().all(|at| taken.contains(at));
                return Ok(graph);
            }
            let first = graph.nodes.len();
            for at in std::mem::take(&mut layer) {
                if !taken.insert(at.clone()) {
                    continue;
                }
                let node = graph.add(document, direction, at, depth)?;
                bytes += node.bytes();
                // Most fit whole, and what is left of the others is never asked of them.
                if bytes > budget_bytes {
                    floor = match floor {
                        0 => graph.nodes.iter().map(Node::floor_bytes).sum(),
                        sum => sum + graph.nodes.last().map_or(0, Node::floor_bytes),
                    };
                    if floor > budget_bytes {
                        graph.is_whole = false;
                        graph.complete_depth = depth - 1;
                        return Ok(graph);
                    }
                }
            }
            for node in &graph.nodes[first..] {
                layer.extend(node.converted.uses.iter().map(|one| one.at.clone()));
            }
        }
        Ok(graph)
    }

    fn add(
        &mut self,
        document: &Document,
        direction: Direction,
        at: Pointer,
        depth: usize,
    ) -> Result<&Node, Finding> {
        let converted = document.schemas.get(document, direction, &at);
        if let Err(fault) = &converted.schema {
            return Err(fault.clone());
        }
        let place = self.nodes.len();
        if self.by_name.insert(converted.name.clone(), place).is_some() {
            return Err(Finding::new(
                DiagnosticCode::Malformed,
                &at,
                "two schemas would have the same name under $defs; rename one",
            ));
        }
        self.looked_at += converted.bytes;
        self.nodes.push(Node {
            at,
            converted,
            depth,
        });
        Ok(&self.nodes[place])
    }
}

/// Refuses definitions that lead back to themselves without ever reaching a part of the value.
pub(super) fn check_cycles<'a>(nodes: impl Iterator<Item = &'a Node>) -> Result<(), Finding> {
    let mut graph: HashMap<&Pointer, Vec<&Pointer>> = HashMap::new();
    for node in nodes {
        let in_place = node.converted.uses.iter().filter(|one| one.in_place);
        graph.insert(&node.at, in_place.map(|one| &one.at).collect());
    }
    match cycle(&graph) {
        Some(at) => Err(cyclic(at)),
        None => Ok(()),
    }
}

/// A node on a cycle of in-place references, when there is one.
fn cycle<'a>(graph: &HashMap<&'a Pointer, Vec<&'a Pointer>>) -> Option<&'a Pointer> {
    // Nodes nothing points to in place are on no cycle; taking them away layer by layer leaves the cycles.
    let mut pointed: HashMap<&Pointer, usize> = graph.keys().map(|&node| (node, 0)).collect();
    for next in graph.values().flatten() {
        *pointed.entry(next).or_default() += 1;
    }
    let mut free: Vec<&Pointer> = pointed
        .iter()
        .filter_map(|(&node, &count)| (count == 0).then_some(node))
        .collect();
    let mut left = pointed.len();
    while let Some(node) = free.pop() {
        left -= 1;
        for next in graph.get(node).into_iter().flatten() {
            if let Some(count) = pointed.get_mut(next) {
                *count -= 1;
                if *count == 0 {
                    free.push(next);
                }
            }
        }
    }
    if left == 0 {
        return None;
    }
    // The smallest, so that the message is the same every time; it may only lead to the cycle's members.
    pointed
        .iter()
        .filter(|&(_, &count)| count > 0)
        .map(|(&node, _)| node)
        .min()
}
