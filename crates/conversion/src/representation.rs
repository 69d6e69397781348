//! What represents data, and both ends of a conversion.
//!
//! Invariant: whoever has the ends of a conversion has two character sets that are known.

use posthaste_mqi::constants as mq;
use posthaste_mqi::{ByteOrder, Reason};

use crate::character_set::CharacterSet;

/// How characters and numbers are represented in data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Representation {
    /// Order of the bytes of integers, and forms of other numbers (MQENC_).
    pub encoding: i32,
    /// Identifier of the coded character set (CCSID).
    pub ccsid: i32,
}

impl Representation {
    /// The character set to convert from.
    pub(crate) fn source(self) -> Result<CharacterSet, Reason> {
        CharacterSet::new(self.ccsid, self.encoding).ok_or(Reason::SOURCE_CCSID_ERROR)
    }

    /// The character set to convert to.
    pub(crate) fn target(self) -> Result<CharacterSet, Reason> {
        CharacterSet::new(self.ccsid, self.encoding).ok_or(Reason::TARGET_CCSID_ERROR)
    }

    /// With the queue manager's character set where none is given.
    pub(crate) fn or_queue_managers(self, q_mgr: i32) -> Representation {
        match self.ccsid {
            mq::MQCCSI_Q_MGR => Representation {
                ccsid: q_mgr,
                ..self
            },
            _ => self,
        }
    }
}

/// Both ends of a conversion.
pub(crate) struct Ends {
    /// The character set to convert from.
    pub(crate) from: CharacterSet,
    /// The one to convert to.
    pub(crate) to: CharacterSet,
    from_order: Option<ByteOrder>,
    to_order: Option<ByteOrder>,
}

impl Ends {
    pub(crate) fn new(from: Representation, to: Representation) -> Result<Ends, Reason> {
        Ok(Ends {
            from: from.source()?,
            to: to.target()?,
            from_order: ByteOrder::of_encoding(from.encoding),
            to_order: ByteOrder::of_encoding(to.encoding),
        })
    }

    /// The same for headers, whose names cannot be in UTF-16.
    pub(crate) fn of_headers(from: Representation, to: Representation) -> Result<Ends, Reason> {
        let ends = Ends::new(from, to)?;
        match (ends.from.suits_structures(), ends.to.suits_structures()) {
            (true, true) => Ok(ends),
            (true, false) => Err(Reason::TARGET_CCSID_ERROR),
            (false, _) => Err(Reason::SOURCE_CCSID_ERROR),
        }
    }

    /// The order of the bytes of integers before and after.
    pub(crate) fn orders(&self) -> Result<(ByteOrder, ByteOrder), Reason> {
        let from = self.from_order.ok_or(Reason::SOURCE_INTEGER_ENC_ERROR)?;
        let to = self.to_order.ok_or(Reason::TARGET_INTEGER_ENC_ERROR)?;
        Ok((from, to))
    }
}
