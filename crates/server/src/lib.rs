//! Composition root: configure, recover, drive, listen, drain, stop, and the files around a queue
//! manager.
//!
//! Where to find what:
//!
//! | module | what is there |
//! | --- | --- |
//! | `layout`, `registry`, `private` | where files are, which queue managers there are, who may read them |
//! | `ini`, `stanza`, `configure` | `qm.ini`, from text to the engine's configuration |
//! | `create`, `list`, `control`, `status`, `ending` | what the control commands do |
//! | `check`, `overlay` | whether a queue manager would start, found without changing anything |
//! | `compose`, `engine_run`, `process_lock` | a running queue manager, put together in one readable order |
//! | `in_process` | a queue manager inside an application's process, and connections to it |
//! | `listeners`, `commands`, `command_server` | what happens around the engine while it runs |
//! | `error_log`, `failure`, `exit` | numbered messages, and the exit code of every failure |

mod check;
mod command_server;
mod commands;
mod compose;
mod configure;
mod control;
mod create;
mod detach;
mod ending;
mod engine_run;
mod error_log;
mod exit;
mod failure;
#[doc(hidden)]
pub mod fuzzing;
pub mod in_process;
pub mod ini;
mod io_delay;
mod layout;
mod list;
mod listeners;
mod moment;
mod overlay;
mod private;
mod process_lock;
mod registry;
mod socket;
pub mod stanza;
mod status;

pub use check::{Findings, check};
pub use command_server::COMMAND_QUEUE;
pub use compose::{Ready, RunOptions, run};
pub use configure::{log_folder, parse as parse_configuration, read as read_configuration};
pub use control::{Ending, Phase, counters, end, phase, running, silent};
pub use create::{
    Created, Creation, LISTENER, create, delete, developer_objects, listener_object,
    restore_objects,
};
pub use detach::leave_the_terminal;
pub use ending::{Cause, LastEnd};
pub use error_log::{Console, ErrorLog, VRMF, user_name};
pub use exit::{Exit, TABLE as EXIT_TABLE};
pub use failure::{Failure, is_no_space};
pub use in_process::{InProcess, InProcessOptions, LocalConnection};
pub use layout::{DataDir, Home, check_name, valid_name};
pub use list::{Listed, State, list, state, state_within};
pub use listeners::{Plan, Running, Waiting, try_listen};
pub use moment::date_and_time;
/// What the engine is told by commands.
pub use posthaste_engine::{CreateOptions, EndMode, Restored};
pub use private::make_new_files_private;
pub use registry::{Registered, add_existing, find, read as registered, remove as forget};
pub use socket::SocketPath;
pub use status::{Status, read as read_status};
