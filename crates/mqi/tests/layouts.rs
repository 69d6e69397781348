//! Layout rules that hold for every structure: documented lengths, eye-catcher and version
//! checks, no prefix that decodes, no panic on spoilt bytes.

use posthaste_mqi::{
    ByteOrder, Cno, Csp, Dlh, Gmo, Md, Mde, Od, Pmo, PointerSize, Reason, Rfh2, Sd, Sro,
    StructError, Sts, Tm, Tmc2, Xqh, fuzzing,
};
use std::fmt::Debug;

const ORDERS: [ByteOrder; 2] = [ByteOrder::Big, ByteOrder::Little];
const WIDTHS: [PointerSize; 2] = [PointerSize::Four, PointerSize::Eight];

/// Reads a structure: whether it is the value that was written, and the bytes it took.
type Decode = dyn Fn(&[u8], ByteOrder, PointerSize) -> Result<(bool, usize), StructError>;

/// What the tests need to know of one structure in one version.
struct Case {
    name: &'static str,
    version: i32,
    /// Lengths of the fixed part with 4-byte and 8-byte pointers.
    lengths: (usize, usize),
    reason: Reason,
    encode: Box<dyn Fn(ByteOrder, PointerSize) -> Vec<u8>>,
    decode: Box<Decode>,
    length: fn(i32, PointerSize) -> Option<usize>,
}

macro_rules! case {
    ($name:literal $type:ty, $version:expr, $narrow:expr, $wide:expr, $reason:ident, $value:expr) => {{
        let value: $type = $value;
        let same = value.clone();
        Case {
            name: $name,
            version: $version,
            lengths: ($narrow, $wide),
            reason: Reason::$reason,
            encode: Box::new(move |order, pointers| {
                let mut out = Vec::new();
                value.encode(&mut out, order, pointers);
                out
            }),
            decode: Box::new(move |bytes, order, pointers| {
                <$type>::decode(bytes, order, pointers).map(|(value, used)| (value == same, used))
            }),
            length: <$type>::length,
        }
    }};
}

/// Every structure in every version, without strings.
fn plain() -> Vec<Case> {
    let mut cases = vec![
        case!("MQDLH" Dlh, 1, 172, 172, DLH_ERROR, Dlh::default()),
        case!("MQTM" Tm, 1, 684, 684, TM_ERROR, Tm::default()),
        case!("MQTMC2" Tmc2, 2, 732, 732, TMC_ERROR, Tmc2::default()),
        case!("MQXQH" Xqh, 1, 428, 428, XQH_ERROR, Xqh::default()),
        case!("MQMDE" Mde, 2, 72, 72, MDE_ERROR, Mde::default()),
        case!("MQRFH2" Rfh2, 2, 36, 36, RFH_ERROR, Rfh2::default()),
        case!("MQSD" Sd, 1, 312, 344, SD_ERROR, Sd::default()),
        case!("MQSRO" Sro, 1, 16, 16, SRO_ERROR, Sro::default()),
    ];
    for (version, length) in [(1, 324), (2, 364)] {
        cases.push(
            case!("MQMD" Md, version, length, length, MD_ERROR, Md { version, ..Md::default() }),
        );
    }
    for (version, narrow, wide) in [(1, 168, 168), (2, 200, 208), (3, 336, 344), (4, 400, 424)] {
        cases.push(
            case!("MQOD" Od, version, narrow, wide, OD_ERROR, Od { version, ..Od::default() }),
        );
    }
    for (version, narrow, wide) in [(1, 128, 128), (2, 152, 160), (3, 176, 184)] {
        cases.push(
            case!("MQPMO" Pmo, version, narrow, wide, PMO_ERROR, Pmo { version, ..Pmo::default() }),
        );
    }
    for (version, length) in [(1, 72), (2, 80), (3, 100), (4, 112)] {
        cases.push(case!("MQGMO" Gmo, version, length, length, GMO_ERROR, Gmo { version, ..Gmo::default() }));
    }
    for (version, narrow, wide) in [(1, 224, 224), (2, 272, 280)] {
        cases.push(
            case!("MQSTS" Sts, version, narrow, wide, STS_ERROR, Sts { version, ..Sts::default() }),
        );
    }
    for (version, narrow, wide) in [
        (1, 12, 12),
        (2, 20, 24),
        (3, 148, 152),
        (4, 156, 168),
        (5, 188, 200),
        (6, 208, 224),
        (7, 240, 256),
        (8, 252, 272),
    ] {
        cases.push(
            case!("MQCNO" Cno, version, narrow, wide, CNO_ERROR, Cno { version, ..Cno::default() }),
        );
    }
    for (version, narrow, wide) in [(1, 48, 56), (2, 68, 80), (3, 88, 104)] {
        cases.push(
            case!("MQCSP" Csp, version, narrow, wide, CSP_ERROR, Csp { version, ..Csp::default() }),
        );
    }
    cases
}

/// Structures with strings behind the fixed part. Each string's length is a multiple of 4,
/// so that no byte of the structure is padding that a decoder may do without.
fn with_strings() -> Vec<Case> {
    vec![
        case!("MQOD" Od, 4, 400 + 8 + 12 + 4, 424 + 8 + 12 + 4, OD_ERROR, Od {
            version: 4,
            object_string: "prices/a".into(),
            selection_string: "color='red' ".into(),
            res_object_string: "a/b/".into(),
            res_object_string_size: 64,
            ..Od::default()
        }),
        case!("MQSTS" Sts, 2, 272 + 8, 280 + 8, STS_ERROR, Sts {
            version: 2,
            object_string: "abcd".into(),
            object_string_size: 4,
            sub_name: "efgh".into(),
            ..Sts::default()
        }),
        case!("MQSD" Sd, 1, 312 + 44, 344 + 44, SD_ERROR, Sd {
            options: 0x0020_222b,
            object_name: posthaste_mqi::Name::new("PRICES"),
            object_string: "a/#.".into(),
            sub_name: "JMS:QM1:id:n".into(),
            sub_user_data: "my data.".into(),
            sub_user_data_size: 64,
            sub_correl_id: [7; 24],
            pub_accounting_token: [8; 32],
            selection_string: "color='red' ".into(),
            selection_string_size: 12,
            sub_level: 9,
            res_object_string: "p/a/#/.x".into(),
            res_object_string_size: 10_240,
            ..Sd::default()
        }),
        case!("MQCNO" Cno, 8, 252 + 12, 272 + 12, CNO_ERROR, Cno {
            version: 8,
            ccdt_url: "file:///a.js".into(),
            ..Cno::default()
        }),
        case!("MQCSP" Csp, 3, 88 + 16, 104 + 16, CSP_ERROR, Csp {
            version: 3,
            csp_user_id: "user".into(),
            csp_password: "pass".into(),
            initial_key: "key.".into(),
            token: "tokn".into(),
            ..Csp::default()
        }),
        case!("MQRFH2" Rfh2, 2, 36 + 12 + 8, 36 + 12 + 8, RFH_ERROR, Rfh2 {
            folders: vec!["<a>b</a>".into(), "<c/>".into()],
            ..Rfh2::default()
        }),
    ]
}

fn each(cases: &[Case], mut check: impl FnMut(&Case, ByteOrder, PointerSize, usize)) {
    for case in cases {
        for order in ORDERS {
            check(case, order, PointerSize::Four, case.lengths.0);
            check(case, order, PointerSize::Eight, case.lengths.1);
        }
    }
}

#[test]
fn lengths_are_those_of_the_manual() {
    each(&plain(), |case, order, pointers, length| {
        let label = format!("{} {} {order:?} {pointers:?}", case.name, case.version);
        assert_eq!(
            (case.length)(case.version, pointers),
            Some(length),
            "{label}"
        );
        assert_eq!((case.encode)(order, pointers).len(), length, "{label}");
    });
}

#[test]
fn fields_of_a_descriptor_stand_where_their_constants_say() {
    for version in [1, 2] {
        let md = Md {
            version,
            msg_id: [1; 24],
            correl_id: [2; 24],
            reply_to_q: posthaste_mqi::Name::new("REPLY"),
            reply_to_q_mgr: posthaste_mqi::Name::new("QM1"),
            ..Md::default()
        };
        let mut out = Vec::new();
        md.encode(&mut out, ByteOrder::Little, PointerSize::Four);
        let fields: [(usize, &[u8]); 4] = [
            (Md::MSG_ID_AT, &md.msg_id),
            (Md::CORREL_ID_AT, &md.correl_id),
            (Md::REPLY_TO_Q_AT, md.reply_to_q.as_bytes()),
            (Md::REPLY_TO_Q_MGR_AT, md.reply_to_q_mgr.as_bytes()),
        ];
        for (at, field) in fields {
            assert_eq!(&out[at..at + field.len()], field);
        }
    }
}

#[test]
fn versions_that_do_not_exist_have_no_length() {
    for case in plain() {
        for version in [i32::MIN, -1, 0, 9, i32::MAX] {
            assert_eq!(
                (case.length)(version, PointerSize::Four),
                None,
                "{} {version}",
                case.name
            );
        }
    }
}

#[test]
fn what_was_written_reads_back_whole() {
    for cases in [plain(), with_strings()] {
        each(&cases, |case, order, pointers, length| {
            let label = format!("{} {} {order:?} {pointers:?}", case.name, case.version);
            let mut bytes = (case.encode)(order, pointers);
            assert_eq!(bytes.len(), length, "{label}");
            assert_eq!(
                (case.decode)(&bytes, order, pointers),
                Ok((true, length)),
                "{label}"
            );
            bytes.extend_from_slice(b"what follows");
            assert_eq!(
                (case.decode)(&bytes, order, pointers),
                Ok((true, length)),
                "{label} and more"
            );
        });
    }
}

#[test]
fn a_structure_may_start_anywhere_in_the_output() {
    let od = Od {
        version: 4,
        object_string: "abcd".into(),
        ..Od::default()
    };
    for pointers in WIDTHS {
        let mut alone = Vec::new();
        od.encode(&mut alone, ByteOrder::Big, pointers);
        let mut behind = vec![0xee; 7];
        od.encode(&mut behind, ByteOrder::Big, pointers);
        assert_eq!(behind[7..], alone);
    }
}

#[test]
fn no_prefix_of_a_structure_decodes() {
    for cases in [plain(), with_strings()] {
        each(&cases, |case, order, pointers, _| {
            let bytes = (case.encode)(order, pointers);
            for cut in 0..bytes.len() {
                let label = format!("{} {} cut to {cut} {pointers:?}", case.name, case.version);
                let error = (case.decode)(&bytes[..cut], order, pointers).expect_err(&label);
                assert_eq!(error.structure, case.name, "{label}");
                assert!(error.offset <= cut, "{label}: {error}");
            }
        });
    }
}

#[test]
fn a_cut_fixed_part_gives_the_reason_of_the_structure() {
    each(&plain(), |case, order, pointers, _| {
        let bytes = (case.encode)(order, pointers);
        for cut in 0..bytes.len() {
            let error = (case.decode)(&bytes[..cut], order, pointers).unwrap_err();
            assert_eq!(
                error.reason, case.reason,
                "{} {} cut to {cut}",
                case.name, case.version
            );
        }
    });
}

#[test]
fn a_wrong_eye_catcher_is_refused() {
    each(&plain(), |case, order, pointers, _| {
        let good = (case.encode)(order, pointers);
        for at in 0..4 {
            let mut bytes = good.clone();
            bytes[at] ^= 0x20;
            let error = (case.decode)(&bytes, order, pointers).unwrap_err();
            assert_eq!(
                (error.reason, error.field, error.offset),
                (case.reason, "StrucId", 0)
            );
        }
    });
}

#[test]
fn a_wrong_version_is_refused() {
    each(&plain(), |case, order, pointers, _| {
        let good = (case.encode)(order, pointers);
        for version in [i32::MIN, -1, 0, 9, 0x0200_0000, i32::MAX] {
            let mut bytes = good.clone();
            bytes[4..8].copy_from_slice(&match order {
                ByteOrder::Big => version.to_be_bytes(),
                ByteOrder::Little => version.to_le_bytes(),
            });
            let error = (case.decode)(&bytes, order, pointers).unwrap_err();
            assert_eq!(
                (error.reason, error.field, error.offset),
                (case.reason, "Version", 4),
                "{} {version}",
                case.name
            );
        }
    });
}

#[test]
fn an_unknown_version_is_written_as_the_nearest_known_one() {
    fn lengths<T: Debug>(values: [T; 2], encode: impl Fn(&T, &mut Vec<u8>)) -> [usize; 2] {
        values.map(|value| {
            let mut out = Vec::new();
            encode(&value, &mut out);
            out.len()
        })
    }
    let [low, high] = [0, 99];
    let md = [low, high].map(|version| Md {
        version,
        ..Md::default()
    });
    let od = [low, high].map(|version| Od {
        version,
        ..Od::default()
    });
    let gmo = [low, high].map(|version| Gmo {
        version,
        ..Gmo::default()
    });
    let (order, pointers) = (ByteOrder::Big, PointerSize::Four);
    assert_eq!(
        lengths(md, |value, out| value.encode(out, order, pointers)),
        [324, 364]
    );
    assert_eq!(
        lengths(od, |value, out| value.encode(out, order, pointers)),
        [168, 400]
    );
    assert_eq!(
        lengths(gmo, |value, out| value.encode(out, order, pointers)),
        [72, 112]
    );
}

/// Sets the big-endian integer at an offset of a version 4 MQOD with a selection string.
fn spoilt_od(changes: &[(usize, i32)]) -> Result<(Od, usize), StructError> {
    let od = Od {
        version: 4,
        selection_string: "a=1".into(),
        ..Od::default()
    };
    let mut bytes = Vec::new();
    od.encode(&mut bytes, ByteOrder::Big, PointerSize::Four);
    for (at, value) in changes {
        bytes[*at..at + 4].copy_from_slice(&value.to_be_bytes());
    }
    Od::decode(&bytes, ByteOrder::Big, PointerSize::Four)
}

#[test]
fn strings_have_to_lie_behind_the_structure_and_inside_the_input() {
    // The MQCHARV of SelectionString: pointer 356, offset 360, size 364, length 368, CCSID 372.
    assert_eq!(spoilt_od(&[]).unwrap().0.selection_string, "a=1");
    for changes in [
        [(360, 399), (368, 1)],
        [(360, -1), (368, 1)],
        [(360, i32::MIN), (368, 1)],
        [(360, 401), (368, 4)],
        [(360, 404), (368, 1)],
        [(360, i32::MAX), (368, i32::MAX)],
        [(360, 400), (368, 5)],
        [(360, 400), (368, -2)],
        [(360, 400), (368, i32::MAX)],
        [(360, 400), (368, i32::MIN)],
        [(360, 0), (368, 3)],
        [(372, 1200), (368, 3)],
    ] {
        let error = spoilt_od(&changes).unwrap_err();
        assert_eq!(
            (error.reason, error.field, error.offset),
            (Reason::SELECTION_STRING_ERROR, "SelectionString", 356),
            "{changes:?}"
        );
    }
}

#[test]
fn a_string_may_end_with_a_nul_instead_of_having_a_length() {
    let (od, used) = spoilt_od(&[(368, -1)]).unwrap();
    assert_eq!((od.selection_string.as_str(), used), ("a=1", 404));
    let unused = spoilt_od(&[(360, 0), (368, -1)]).unwrap().0;
    assert_eq!(unused.selection_string, "");
    let error = spoilt_od(&[(368, -1), (400, 0x6161_6161)]).unwrap_err();
    assert_eq!(
        error.reason,
        Reason::SELECTION_STRING_ERROR,
        "no NUL before the end"
    );
}

#[test]
fn padding_behind_the_last_string_may_be_missing() {
    let od = Od {
        version: 4,
        object_string: "a/b/c".into(),
        ..Od::default()
    };
    let mut bytes = Vec::new();
    od.encode(&mut bytes, ByteOrder::Big, PointerSize::Four);
    assert_eq!(bytes.len(), 408);
    let read = |length: usize| Od::decode(&bytes[..length], ByteOrder::Big, PointerSize::Four);
    assert_eq!(read(408), Ok((od.clone(), 408)));
    assert_eq!(read(405), Ok((od, 405)));
    assert_eq!(read(404).unwrap_err().reason, Reason::OBJECT_STRING_ERROR);
}

#[test]
fn a_string_beyond_its_limit_is_refused() {
    for (length, good) in [(10_240, true), (10_241, false)] {
        let od = Od {
            version: 4,
            object_string: "x".repeat(length),
            ..Od::default()
        };
        let mut bytes = Vec::new();
        od.encode(&mut bytes, ByteOrder::Little, PointerSize::Four);
        let read = Od::decode(&bytes, ByteOrder::Little, PointerSize::Four);
        match read {
            Ok((read, _)) => assert!(good && read == od, "{length}"),
            Err(error) => assert!(
                !good && error.reason == Reason::OBJECT_STRING_ERROR,
                "{length}"
            ),
        }
    }
}

#[test]
fn a_pointer_in_use_is_refused_only_where_pointers_are_real() {
    let od = Od {
        version: 4,
        object_string: "abcd".into(),
        ..Od::default()
    };
    for (pointers, at) in [(PointerSize::Four, 336), (PointerSize::Eight, 344)] {
        let mut bytes = Vec::new();
        od.encode(&mut bytes, ByteOrder::Big, pointers);
        bytes[at] = 0x7f;
        let read = Od::decode(&bytes, ByteOrder::Big, pointers);
        match pointers {
            PointerSize::Four => assert_eq!(read.unwrap().0, od),
            PointerSize::Eight => {
                assert_eq!(read.unwrap_err().reason, Reason::OBJECT_STRING_ERROR);
            }
        }
    }
}

#[test]
fn a_transmission_header_holds_a_version_1_descriptor_only() {
    let xqh = Xqh {
        msg_desc: Md {
            version: 2,
            priority: 5,
            ..Md::default()
        },
        ..Xqh::default()
    };
    let mut bytes = Vec::new();
    xqh.encode(&mut bytes, ByteOrder::Big, PointerSize::Four);
    assert_eq!(bytes.len(), 428);
    let (read, _) = Xqh::decode(&bytes, ByteOrder::Big, PointerSize::Four).unwrap();
    assert_eq!((read.msg_desc.version, read.msg_desc.priority), (1, 5));

    bytes[111] = 2;
    bytes.extend_from_slice(&[0; 40]);
    let error = Xqh::decode(&bytes, ByteOrder::Big, PointerSize::Four).unwrap_err();
    assert_eq!(
        (error.reason, error.field, error.offset),
        (Reason::XQH_ERROR, "MsgDesc", 108)
    );
}

#[test]
fn a_descriptor_extension_states_its_own_length() {
    let mut bytes = Vec::new();
    Mde::default().encode(&mut bytes, ByteOrder::Big, PointerSize::Four);
    for length in [0, 71, 73, -1] {
        bytes[8..12].copy_from_slice(&i32::to_be_bytes(length));
        let error = Mde::decode(&bytes, ByteOrder::Big, PointerSize::Four).unwrap_err();
        assert_eq!(
            (error.reason, error.field),
            (Reason::MDE_ERROR, "StrucLength")
        );
    }
}

#[test]
fn a_started_program_gets_the_trigger_message_as_text() {
    let tm = Tm {
        q_name: posthaste_mqi::Name::new("ORDERS"),
        trigger_data: posthaste_mqi::Chars::new("now"),
        appl_type: 6,
        appl_id: posthaste_mqi::Chars::new("/usr/bin/order"),
        ..Tm::default()
    };
    let text = Tmc2::of_trigger(&tm, posthaste_mqi::Name::new("QM1"));
    assert_eq!(text.q_name, tm.q_name);
    assert_eq!(text.trigger_data, tm.trigger_data);
    assert_eq!(text.appl_id, tm.appl_id);
    assert!(text.appl_type.is_blank());
    assert_eq!(text.q_mgr_name.text(), "QM1");
}

#[test]
fn one_spoilt_byte_never_panics_and_never_reads_back_differently() {
    // Every byte of every structure takes four hostile values through every target.
    for cases in [plain(), with_strings()] {
        for case in &cases {
            let name = case.name.trim_start_matches("MQ").to_lowercase();
            let target = fuzzing::TARGETS
                .iter()
                .find(|(known, _)| *known == name)
                .unwrap()
                .1;
            for choice in 0..4u8 {
                let bytes = (case.encode)(
                    ORDERS[usize::from(choice & 1)],
                    WIDTHS[usize::from(choice >> 1)],
                );
                let mut input = vec![choice];
                input.extend_from_slice(&bytes);
                for at in 1..input.len() {
                    let kept = input[at];
                    for value in [0x00, 0x7f, 0x80, 0xff] {
                        input[at] = value;
                        target(&input);
                    }
                    input[at] = kept;
                }
            }
        }
    }
}

#[test]
fn fuzz_targets_take_anything_short() {
    for (_, target) in fuzzing::TARGETS {
        target(&[]);
        for first in 0..=u8::MAX {
            target(&[first]);
            target(&[first, b'M', b'D', b' ', b' ']);
        }
    }
}
