//! A message's data: its headers, one behind the other, and what is behind them.
//!
//! Invariants: each header is read in the representation that the one in front of it says, and says of what is behind it
//! what that is in the converted data. Data without a format stay as they are, and described as they are.

use posthaste_mqi::constants as mq;
use posthaste_mqi::{Chars, Reason};

use crate::headers::Following;
use crate::representation::{Ends, Representation};
use crate::{headers, pcf};

/// Data that were converted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Converted {
    /// The data.
    pub data: Vec<u8>,
    /// What represents the first of them: what their descriptor has to say.
    pub representation: Representation,
    /// `Reason::NONE`; or `PARTIALLY_CONVERTED`: headers cannot be in the character set that was asked for, and are in
    /// the queue manager's.
    pub warning: Reason,
}

/// Converts the data of a message with a format, from what its descriptor says to what the application asks for, a
/// header in front of others and all that is behind it. `q_mgr` is the queue manager's coded character set, which is
/// meant where a message says MQCCSI_Q_MGR.
///
/// # Errors
/// 2110 format not known, or data that are not of it; 2111, 2115 character set not known; 2112, 2116 integer encoding;
/// 2119 text that is not valid in its character set; 2190 a text that no longer fits into its field. The data are to be
/// given unconverted then.
pub fn convert(
    data: &[u8],
    format: &Chars<8>,
    from: Representation,
    to: Representation,
    q_mgr: i32,
) -> Result<Converted, Reason> {
    if format.is_blank() {
        return Err(Reason::FORMAT_ERROR);
    }
    let mut from = from.or_queue_managers(q_mgr);
    let to = to.or_queue_managers(q_mgr);
    // Names cannot be in UTF-16.
    let of_headers = match to.target()?.suits_structures() {
        true => to,
        false => Representation {
            encoding: mq::MQENC_NATIVE,
            ccsid: q_mgr,
        },
    };
    let mut format = *format;
    let mut rest = data;
    let mut converted = Converted {
        data: Vec::with_capacity(data.len()),
        representation: to,
        warning: Reason::NONE,
    };
    let mut first = true;
    while let Some(layout) = headers::layout(&format) {
        let ends = Ends::of_headers(from, of_headers)?;
        let (mut length, following) = headers::read(layout, rest, &ends.from, ends.orders()?.0)?;
        let following = following.map(|following| inheriting(following, from));
        let described = match following {
            // What has no format is not converted.
            Some(following) if following.format.is_blank() => following.representation,
            Some(following) if headers::layout(&following.format).is_some() => of_headers,
            _ => to,
        };
        headers::write(layout, rest, &ends, described, &mut converted.data)?;
        if format == Chars::new(mq::MQFMT_RF_HEADER_2) {
            length = headers::folders(rest, &ends, &mut converted.data)?;
        }
        if std::mem::take(&mut first) {
            converted.representation = of_headers;
        }
        if of_headers != to {
            converted.warning = Reason::PARTIALLY_CONVERTED;
        }
        rest = rest.get(length..).unwrap_or_default();
        match following {
            Some(following) if !rest.is_empty() => {
                format = following.format;
                from = following.representation.or_queue_managers(q_mgr);
            }
            _ if rest.is_empty() => return Ok(converted),
            _ => return Err(Reason::FORMAT_ERROR),
        }
        if format.is_blank() {
            converted.data.extend_from_slice(rest);
            return Ok(converted);
        }
    }
    last(&format, rest, &Ends::new(from, to)?, &mut converted.data)?;
    Ok(converted)
}

/// What a header says of the data behind it, which may be in the character set of the header itself.
fn inheriting(following: Following, header: Representation) -> Following {
    let ccsid = match following.representation.ccsid {
        mq::MQCCSI_INHERIT => header.ccsid,
        ccsid => ccsid,
    };
    Following {
        representation: Representation {
            ccsid,
            ..following.representation
        },
        ..following
    }
}

/// Appends what is behind all headers.
fn last(format: &Chars<8>, data: &[u8], ends: &Ends, out: &mut Vec<u8>) -> Result<(), Reason> {
    let is = |name: &str| *format == Chars::new(name);
    if is(mq::MQFMT_STRING) {
        ends.from.convert(data, &ends.to, out)?;
        Ok(())
    } else if [mq::MQFMT_ADMIN, mq::MQFMT_EVENT, mq::MQFMT_PCF]
        .into_iter()
        .any(is)
    {
        pcf::convert(data, ends, out)
    } else {
        Err(Reason::FORMAT_ERROR)
    }
}
