//! The one source of randomness: SplitMix64 (Steele, Lea, Flood 2014), kept here because the catalogues
//! of a seed must stay the same whatever a library's next version draws.

/// A stream of random numbers.
#[derive(Debug, Clone)]
pub(super) struct Random(u64);

impl Random {
    /// The stream of a seed and a position; neighbouring positions have unrelated streams.
    pub(super) fn at(seed: u64, position: u64) -> Self {
        let mut stream = Self(seed ^ position.wrapping_mul(0xd6e8_feb8_6659_fd93));
        stream.next();
        stream
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound`, which is at least 1.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        // The high half of a 64 x 64 bit product: uniform enough for catalogues, and branch-free.
        let wide = u128::from(self.next()) * bound as u128;
        usize::try_from(wide >> 64).unwrap_or(0)
    }

    /// A number of `low..=high`.
    pub(super) fn between(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high - low + 1)
    }

    /// True in `percent` of a hundred draws.
    pub(super) fn percent(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// A rank below `bound` with probability falling like 1 / rank (Zipf's law with exponent near 1).
    pub(super) fn zipf(&mut self, bound: usize) -> usize {
        // Inverting the integral of 1/x over [1, bound + 1): rank + 1 = (bound + 1) ^ u.
        let unit = (self.next() >> 11) as f64 / (1u64 << 53) as f64;
        let rank = ((bound + 1) as f64).powf(unit) - 1.0;
        // Truncation is the point; the value lies in 0..bound.
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a rank in 0..bound"
        )]
        let rank = rank as usize;
        rank.min(bound - 1)
    }

    pub(super) fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())]
    }
}
