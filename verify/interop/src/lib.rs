//! Client libraries of others, as the registries have them, against a real queue manager.
//!
//! The programs are below `java/`, and an application of Spring Boot below `spring/`; [`java`] has Maven fetch their
//! libraries into its ordinary local repository, compiles them once, and runs many cases in one virtual machine.
//! [`queue_manager`] is whom they talk to: the product's own listener, lanes and channels on a port of the loopback address.
//! [`wiretap`] keeps what both say for Wireshark to read; [`detour`] is a way between them that is cut, and leads on when the
//! queue manager has been started again.
//!
//! Invariants: nothing is compiled or fetched twice for the same programs; each case has queues of its own and fails by
//! itself; a machine without Java or Maven skips with a visible line, but not where `CI` is set.

pub mod detour;
pub mod java;
pub mod keys;
pub mod queue_manager;
pub mod wiretap;
