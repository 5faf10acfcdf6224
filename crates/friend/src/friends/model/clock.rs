//! The clock of a turn, where the friend is a server that is waited for by a future.

use std::future::Future;
use std::time::Duration;

use crate::clock::Clock;
use crate::failure::Failure;
use crate::world::World;

/// How often it is looked. Cancelling shows within two of these.
const TICK: Duration = Duration::from_millis(20);

/// Waits for `what`, unless the turn is to be broken off first.
pub(super) async fn during<T>(
    clock: &Clock<'_>,
    world: &World<'_>,
    what: impl Future<Output = T>,
) -> Result<T, Failure> {
    tokio::select! {
        // The clock first: what never ends must not keep it from being looked at.
        biased;
        failure = over(clock, world) => Err(failure),
        done = what => Ok(done),
    }
}

async fn over(clock: &Clock<'_>, world: &World<'_>) -> Failure {
    loop {
        if let Some(failure) = clock.over(world.stop, String::new) {
            return failure;
        }
        tokio::time::sleep(TICK).await;
    }
}
