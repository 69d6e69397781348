//! Entry points for fuzzing: any bytes in, no panic, and what decodes is stable.
//!
//! Each target takes raw bytes. The first one chooses byte order (bit 0) and pointer width
//! (bit 1); the rest is the structure. A structure that decodes must encode to bytes that
//! decode to the same value and take the whole of what was written.

use crate::codec::StructError;
use crate::{
    ByteOrder, Chars, Cno, Csp, Dlh, Gmo, Md, Mde, Od, Pmo, PointerSize, Properties, Rfh2, Sd, Sro,
    Sts, Tm, Tmc2, Xqh,
};

/// A fuzz target.
pub type Target = fn(&[u8]);

macro_rules! targets {
    ($($name:ident $type:ty;)*) => {
        $(
            #[doc = concat!("Decodes, encodes and decodes again: `", stringify!($type), "`.")]
            pub fn $name(input: &[u8]) {
                round_trip(input, <$type>::decode, <$type>::encode);
            }
        )*

        /// All targets by name.
        pub const TARGETS: &[(&str, Target)] = &[$((stringify!($name), $name)),*];
    };
}

targets! {
    md Md;
    od Od;
    pmo Pmo;
    gmo Gmo;
    dlh Dlh;
    tm Tm;
    tmc2 Tmc2;
    xqh Xqh;
    mde Mde;
    rfh2 Rfh2;
    sts Sts;
    sd Sd;
    sro Sro;
    cno Cno;
    csp Csp;
}

/// Reads the properties of any data as a message's, in both byte orders.
pub fn properties(input: &[u8]) {
    for encoding in [273, 546] {
        let read = |data| Properties::read(Chars::new("MQHRF2"), encoding, data);
        let properties = read(input);
        // As text: what is not a number is not equal to itself.
        assert_eq!(format!("{:?}", read(input)), format!("{properties:?}"));
        for (folder, path, _) in properties.iter() {
            assert!(properties.get(folder, path).is_some());
        }
    }
}

fn round_trip<T: PartialEq + std::fmt::Debug>(
    input: &[u8],
    decode: impl Fn(&[u8], ByteOrder, PointerSize) -> Result<(T, usize), StructError>,
    encode: impl Fn(&T, &mut Vec<u8>, ByteOrder, PointerSize),
) {
    let Some((choice, bytes)) = input.split_first() else {
        return;
    };
    let order = if choice & 1 == 0 {
        ByteOrder::Big
    } else {
        ByteOrder::Little
    };
    let pointers = if choice & 2 == 0 {
        PointerSize::Four
    } else {
        PointerSize::Eight
    };
    let value = match decode(bytes, order, pointers) {
        Ok((value, used)) => {
            assert!(used <= bytes.len(), "took {used} of {} bytes", bytes.len());
            value
        }
        Err(error) => {
            assert!(
                error.offset <= bytes.len(),
                "fault outside the input: {error}"
            );
            return;
        }
    };
    let mut written = Vec::new();
    encode(&value, &mut written, order, pointers);
    let again = decode(&written, order, pointers);
    assert_eq!(again, Ok((value, written.len())), "not stable");
}
