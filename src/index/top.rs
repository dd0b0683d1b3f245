//! The best hits so far: higher score first, then lower document number, which is the earlier name.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::Hit;

/// Collects the best hits. Documents must be offered in rising order, so that of equal scores the one
/// already held wins.
pub(super) struct Top {
    limit: usize,
    /// The worst of the best on top.
    heap: BinaryHeap<Worst>,
}

struct Worst(Hit);

impl Top {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            limit,
            heap: BinaryHeap::with_capacity(limit.min(1_024) + 1),
        }
    }

    /// Whether nothing can ever enter.
    pub(super) fn is_useless(&self) -> bool {
        self.limit == 0
    }

    /// A score enters only when it is above this.
    pub(super) fn threshold(&self) -> f64 {
        match self.heap.peek() {
            Some(worst) if self.heap.len() >= self.limit => worst.0.score,
            _ => 0.0,
        }
    }

    /// Whether a document with this score would be kept.
    pub(super) fn would_enter(&self, score: f64) -> bool {
        score > self.threshold()
    }

    pub(super) fn push(&mut self, hit: Hit) {
        self.heap.push(Worst(hit));
        if self.heap.len() > self.limit {
            self.heap.pop();
        }
    }

    pub(super) fn into_sorted(self) -> Vec<Hit> {
        self.heap
            .into_sorted_vec()
            .into_iter()
            .map(|worst| worst.0)
            .collect()
    }
}

impl Ord for Worst {
    fn cmp(&self, other: &Self) -> Ordering {
        other
            .0
            .score
            .total_cmp(&self.0.score)
            .then(self.0.document.cmp(&other.0.document))
    }
}

impl PartialOrd for Worst {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Worst {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Worst {}
