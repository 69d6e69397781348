//! Composition root: configure, recover, drive, listen, drain, stop, and the files around a queue
//! manager.
//!
//! Where to find what:
//!
//! | module | what is there |
//! | --- | --- |
//! | `layout/` | where files are, which queue managers there are, who may read them |
//! | `ini/` | `qm.ini`, from text to the engine's configuration |
//! | `encryption/` | encryption at rest: where the key comes from, and the file of the data keys |
//! | `lifecycle/` | a queue manager between its runs: made, checked, removed; how its last run ended |
//! | `compose/` | a running queue manager, put together in one readable order: engine, lanes, listeners, and how administration sees what runs beside the engine |
//! | `control/` | the control socket, and what other processes are told of a running one |
//! | `in_process/` | a queue manager inside an application's process, and connections to it |
//! | `error_log/`, `failure/` | numbered messages, and the exit code of every failure |
//! | `interrupt`, `quantity` | what commands and the laboratory both need: Ctrl-C ends a run in order; bytes as people write them |
//! | `audit_log/`, `repeats` | who did what, from where, as lines of JSON; what strangers cause again and again, counted |

mod audit_log;
mod compose;
mod control;
mod encryption;
mod error_log;
mod failure;
#[doc(hidden)]
pub mod fuzzing;
pub mod in_process;
pub mod ini;
mod interrupt;
mod layout;
mod lifecycle;
mod quantity;
mod repeats;
mod users;

pub use audit_log::users_changed;
pub use compose::listeners::{Plan, Running, Waiting, try_listen};
pub use compose::{Ready, RunOptions, run};
pub use control::list::{
    Listed, State, held_files, held_lock, list, running, state, state_within, still_ending,
};
pub use control::socket::SocketPath;
pub use control::status::{Status, read as read_status};
pub use control::{
    Ending, Phase, command, counters, decide, end, metrics, phase, phase_within, silent,
    transactions,
};
pub use encryption::{DataKey, KeySource, data_keys, rewrap, rotate};
pub use error_log::{Console, ErrorLog, VRMF, user_name};
pub use failure::Failure;
pub use failure::exit::{Exit, TABLE as EXIT_TABLE};
pub use in_process::{InProcess, InProcessOptions, LocalConnection};
pub use ini::configure::{
    allow_insecure_listeners, log_folder, parse as parse_configuration, read as read_configuration,
};
pub use interrupt::Interrupt;
pub use layout::private::make_new_files_private;
pub use layout::registry::{
    Registered, find, find_to_delete, holder, holder_of, read as registered, remove as forget,
};
pub use layout::{DataDir, Home, check_name, valid_name};
pub use lifecycle::access::{ADMINISTRATOR, APPLICATIONS, Access, FIRST_PASSWORDS, FirstUsers};
pub use lifecycle::another_root::{add_existing, check_copied};
pub use lifecycle::check::{Findings, check};
pub use lifecycle::create::{
    Created, Creation, LISTENER, create, developer_objects, listener_object, restore_objects,
};
pub use lifecycle::delete::{Deleted, delete};
pub use lifecycle::detach::leave_the_terminal;
pub use lifecycle::ending::{Cause, LastEnd};
pub use lifecycle::file_limit::outlive_the_file_limit;
pub use lifecycle::first_process::{is_first as is_first_process, stand_by};
pub use lifecycle::trust_log::trust_log;
pub use posthaste_admin::{COMMAND_QUEUE, Decision, Undecided, transaction_number};
/// Where commands as messages come.
pub use posthaste_authentication::{UserFile, UserFileError};
/// What the engine is told by commands.
pub use posthaste_engine::{
    CreateOptions, EndMode, Outcome, Restored, TransactionState, TransactionStatus, display_stamp,
};
pub use quantity::parse_bytes;
