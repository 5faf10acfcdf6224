//! Randomness determined by a seed, the same on every system.

/// A small generator (the `splitmix64` sequence): quick, and good enough to choose mutations.
#[derive(Debug, Clone)]
pub struct Random {
    state: u64,
}

impl Random {
    pub fn new(seed: u64) -> Random {
        Random { state: seed }
    }

    /// For case number `index` under `seed`: each case replays on its own.
    pub fn of_case(seed: u64, index: u64) -> Random {
        let mut random = Random::new(seed ^ index.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        random.number();
        random
    }

    pub fn number(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// 0 if `bound` is 0.
    pub fn below(&mut self, bound: usize) -> usize {
        if bound == 0 {
            return 0;
        }
        // The remainder is below `bound`, which is a usize.
        (self.number() % bound as u64) as usize
    }

    /// True once in `times`.
    pub fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    /// `choices` must not be empty.
    pub fn pick<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        &choices[self.below(choices.len())]
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    #[test]
    fn the_same_seed_gives_the_same_numbers() {
        let mut one = Random::of_case(7, 3);
        let mut two = Random::of_case(7, 3);
        let mut other = Random::of_case(7, 4);
        let first: Vec<u64> = (0..8).map(|_| one.number()).collect();
        assert_eq!(first, (0..8).map(|_| two.number()).collect::<Vec<_>>());
        assert_ne!(first, (0..8).map(|_| other.number()).collect::<Vec<_>>());
        assert!((0..1000).all(|_| one.below(3) < 3));
        assert_eq!(one.below(0), 0);
    }
}
