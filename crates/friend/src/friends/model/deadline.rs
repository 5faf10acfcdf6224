//! The clock of a turn, where the friend is a server that is waited for by a future.

use std::future::Future;
use std::time::Duration;

use crate::driver::TurnClock;
use crate::{FriendContext, TurnResult};

/// How often it is looked. Cancelling shows within two of these.
const TICK: Duration = Duration::from_millis(20);

/// Waits for `what`, unless the turn is to be broken off first.
pub(super) async fn run_until_expired<T>(
    clock: &TurnClock<'_>,
    world: &FriendContext<'_>,
    what: impl Future<Output = T>,
) -> TurnResult<T> {
    let expired = async {
        loop {
            if let Some(failure) = clock.check_expired(world.stop_requested, String::new) {
                return failure;
            }
            tokio::time::sleep(TICK).await;
        }
    };
    tokio::select! {
        // The clock first: what never ends must not keep it from being looked at.
        biased;
        failure = expired => Err(failure),
        done = what => Ok(done),
    }
}
