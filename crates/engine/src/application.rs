//! Who connects, and how.
//!
//! Invariant: what is here was said at the connect and does not change.

/// How an application is bound to the queue manager (`CONNOPTS`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Binding {
    /// In the queue manager's own process.
    #[default]
    Fastpath,
    /// In another process, here or elsewhere.
    Shared,
}

/// Who connects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Application {
    /// Application name (`APPLTAG`).
    pub name: String,
    /// User (`USERID`).
    pub user: String,
    /// Channel it came by; empty for applications of this machine.
    pub channel: String,
    /// Where it came from (`CONNAME`); empty for applications of this machine.
    pub conname: String,
    /// The name in the certificate that its TLS has shown (SSLPEER); empty for none.
    pub certificate: String,
    /// Process.
    pub pid: u32,
    /// Thread.
    pub tid: u32,
    /// `MQAT_` application type.
    pub appl_type: i32,
    /// How it is bound.
    pub binding: Binding,
    /// MQCNO options.
    pub options: i32,
}
