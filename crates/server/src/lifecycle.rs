//! What happens to a queue manager between its runs: it is made, checked, started again, and removed; and how its last
//! run ended.

pub(crate) mod access;
pub(crate) mod another_root;
pub(crate) mod broken_off;
pub(crate) mod check;
pub(crate) mod create;
pub(crate) mod delete;
pub(crate) mod detach;
pub(crate) mod ending;
pub(crate) mod file_limit;
pub(crate) mod first_process;
pub(crate) mod log_owner;
mod overlay;
mod owner_note;
pub(crate) mod process_lock;
pub(crate) mod trust_log;
