//! Identifiers and handles.
//!
//! Invariant: an identifier is a byte string compared as a whole; all zeros means "none"
//! (MQMI_NONE, MQCI_NONE, MQGI_NONE, MQMTOK_NONE).

/// Identifier of a message (MQMD.MsgId).
pub type MsgId = [u8; 24];
/// Identifier that ties a message to another (MQMD.CorrelId).
pub type CorrelId = [u8; 24];
/// Identifier of a message group (MQMD.GroupId).
pub type GroupId = [u8; 24];
/// Identifier of a message on its queue, fixed while it is there (MQGMO.MsgToken).
pub type MsgToken = [u8; 16];

/// Whether an identifier of any kind is "none".
pub fn is_none(id: &[u8]) -> bool {
    id.iter().all(|byte| *byte == 0)
}

/// Handle of an open object (MQHOBJ).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Hobj(pub i32);

impl Hobj {
    /// No handle (MQHO_NONE).
    pub const NONE: Self = Self(0);
    /// What MQCLOSE leaves behind (MQHO_UNUSABLE_HOBJ).
    pub const UNUSABLE: Self = Self(-1);
}

/// Handle of a connection (MQHCONN).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Hconn(pub i32);

impl Hconn {
    /// The default connection (MQHC_DEF_HCONN).
    pub const DEFAULT: Self = Self(0);
    /// What MQDISC leaves behind (MQHC_UNUSABLE_HCONN).
    pub const UNUSABLE: Self = Self(-1);
    /// A message handle that belongs to no connection (MQHC_UNASSOCIATED_HCONN).
    pub const UNASSOCIATED: Self = Self(-3);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::constants;

    #[test]
    fn only_all_zeros_is_none() {
        assert!(is_none(&constants::MQMI_NONE));
        assert!(is_none(&constants::MQMTOK_NONE));
        for at in 0..24 {
            let mut id: MsgId = [0; 24];
            id[at] = 1;
            assert!(!is_none(&id), "byte {at}");
        }
    }

    #[test]
    fn handles_have_the_manuals_values() {
        assert_eq!(Hobj::UNUSABLE.0, constants::MQHO_UNUSABLE_HOBJ);
        assert_eq!(Hobj::NONE.0, constants::MQHO_NONE);
        assert_eq!(Hconn::DEFAULT.0, constants::MQHC_DEF_HCONN);
        assert_eq!(Hconn::UNUSABLE.0, constants::MQHC_UNUSABLE_HCONN);
        assert_eq!(Hconn::UNASSOCIATED.0, constants::MQHC_UNASSOCIATED_HCONN);
    }
}
