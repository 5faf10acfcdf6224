//! When a turn is broken off: somebody says so, its time is over, or nothing was heard for too long.

use std::future::Future;
use std::time::{Duration, Instant};

use crate::failure::Failure;
use crate::turn::Limits;
use crate::world::World;

/// How often it is looked. Cancelling shows within two of these.
const TICK: Duration = Duration::from_millis(20);

/// The clock of one turn.
pub(super) struct Clock<'t> {
    friend: &'t str,
    limits: Limits,
    world: &'t World<'t>,
    alive: Instant,
}

impl<'t> Clock<'t> {
    pub(super) fn new(friend: &'t str, limits: Limits, world: &'t World<'t>) -> Clock<'t> {
        Clock { friend, limits, world, alive: Instant::now() }
    }

    /// It showed a sign of life, and is to be silent for so long by our own wish.
    pub(super) fn heard(&mut self, silent: Duration) {
        self.alive = Instant::now() + silent;
    }

    /// What is left of the whole time.
    pub(super) fn left(&self) -> Duration {
        self.limits.left()
    }

    /// Waits for `what`, unless the turn is to be broken off first.
    pub(super) async fn during<T>(&self, what: impl Future<Output = T>) -> Result<T, Failure> {
        tokio::select! {
            // The clock first: what never ends must not keep it from being looked at.
            biased;
            failure = self.over() => Err(failure),
            done = what => Ok(done),
        }
    }

    async fn over(&self) -> Failure {
        loop {
            if let Some(failure) = self.look() {
                return failure;
            }
            tokio::time::sleep(TICK).await;
        }
    }

    fn look(&self) -> Option<Failure> {
        let friend = self.friend.to_string();
        let late =
            |after, idle| Failure::TimedOut { friend: friend.clone(), after, idle, said: String::new() };
        if (self.world.stop)() {
            return Some(Failure::Cancelled { friend });
        }
        if self.left().is_zero() {
            return Some(late(self.limits.total, false));
        }
        (self.alive.elapsed() >= self.limits.idle).then(|| late(self.limits.idle, true))
    }
}
