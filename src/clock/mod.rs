//! The time of day: the one place that asks the system for it.
//!
//! Owns: [`now`]. Rules take a time as an argument and are tested with any; only the code that wires them
//! asks here. Must never hold a rule. (How long something took is measured with `Instant`, anywhere.)

use std::time::SystemTime;

/// The time of day, as the system has it.
pub fn now() -> SystemTime {
    SystemTime::now()
}
