//! Several friends at once: one thread each, heard in one place.
//!
//! What a friend says arrives on the caller's thread with the friend's number; results come in the order in which
//! the friends were named. Whatever stops one of them ([`crate::FriendContext::stop_requested`]) stops all.

use std::sync::mpsc::sync_channel;

use crate::{EventSink, FriendEvent};

/// Friends at once.
pub const MOST: usize = 16;
/// Events that may wait for the caller; a friend that says more waits.
const WAITING: usize = 1_024;

/// More friends than are asked at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{count} friends are too many to ask at once; {MOST} is the limit")]
pub struct TooManyFriends {
    pub count: usize,
}

/// Does `work` for each of `count` friends, each on a thread of its own, and returns when all are done. `hear`
/// gets a friend's number and what happened.
///
/// # Errors
/// If there are more than [`MOST`]; then nothing was done.
pub fn run_parallel<T: Send>(
    count: usize,
    work: impl Fn(usize, &mut EventSink<'_>) -> T + Sync,
    hear: &mut dyn FnMut(usize, FriendEvent),
) -> Result<Vec<T>, TooManyFriends> {
    if count > MOST {
        return Err(TooManyFriends { count });
    }
    let (sender, receiver) = sync_channel(WAITING);
    Ok(std::thread::scope(|scope| {
        let work = &work;
        let threads: Vec<_> = (0..count)
            .map(|number| {
                let sender = sender.clone();
                scope.spawn(move || {
                    // Nobody listens any more only if the caller gave up; its work ends by itself.
                    work(number, &mut |event| drop(sender.send((number, event))))
                })
            })
            .collect();
        drop(sender);
        for (number, event) in receiver {
            hear(number, event);
        }
        let results = threads.into_iter().map(std::thread::ScopedJoinHandle::join);
        results.map(|result| result.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
    }))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    use relaycode_testkit::process::{GENEROUS_TIMEOUT, poll_until};

    use super::*;

    fn wait(there: impl Fn() -> bool) {
        assert!(
            poll_until(GENEROUS_TIMEOUT, || there().then_some(())).is_some(),
            "the others do nothing meanwhile"
        );
    }

    #[test]
    fn results_come_in_order_and_events_with_their_number() {
        // Each waits for the others: they run at once.
        let there = AtomicUsize::new(0);
        let mut heard = vec![Vec::new(); 3];
        let results = run_parallel(
            3,
            |number, hear| {
                there.fetch_add(1, Ordering::SeqCst);
                wait(|| there.load(Ordering::SeqCst) == 3);
                (0..2_000).for_each(|event| hear(FriendEvent::Text(format!("{number}.{event}"))));
                number * 10
            },
            &mut |number, event| heard[number].push(event),
        );
        assert_eq!(results.unwrap(), [0, 10, 20]);
        for (number, events) in heard.iter().enumerate() {
            let expected: Vec<FriendEvent> =
                (0..2_000).map(|event| FriendEvent::Text(format!("{number}.{event}"))).collect();
            assert_eq!(events, &expected);
        }
        assert_eq!(run_parallel(MOST + 1, |_, _| (), &mut |_, _| {}), Err(TooManyFriends { count: 17 }));
        assert_eq!(run_parallel(0, |_, _| (), &mut |_, _| {}), Ok(Vec::new()));
    }

    #[test]
    fn what_stops_one_stops_all() {
        let stop = AtomicBool::new(false);
        let results = run_parallel(
            4,
            |number, hear| {
                hear(FriendEvent::Action("waiting".to_string()));
                wait(|| stop.load(Ordering::SeqCst));
                number
            },
            &mut |_, _| stop.store(true, Ordering::SeqCst),
        );
        assert_eq!(results.unwrap(), [0, 1, 2, 3]);
    }
}
