//! Giving up every capability, for good: also root's, and also those that a later program would bring.

use rustix::io::Errno;
use rustix::thread::{CapabilitySet, CapabilitySets};

use super::{Step, StepError};
use crate::fence::FenceLevel;

/// More than any kernel knows.
const CAPABILITY_BITS: u32 = 64;

pub(super) fn drop_all(level: FenceLevel) -> Result<(), StepError> {
    for bit in 0..CAPABILITY_BITS {
        let one = CapabilitySet::from_bits_retain(1 << bit);
        match rustix::thread::remove_capability_from_bounding_set(one) {
            Ok(()) => {}
            // The last one was the one before.
            Err(Errno::INVAL) => break,
            // Without namespaces a user has none, and gets none from a program without new privileges.
            Err(Errno::PERM) if level != FenceLevel::Namespaces => break,
            Err(error) => return Err(error).step("give up the bounding set"),
        }
    }
    rustix::thread::clear_ambient_capability_set().step("give up capabilities")?;
    let none = CapabilitySet::empty();
    rustix::thread::set_capabilities(
        None,
        CapabilitySets { effective: none, permitted: none, inheritable: none },
    )
    .step("give up capabilities")
}
