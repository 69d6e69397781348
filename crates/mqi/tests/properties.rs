//! Any value survives being written and read, in both byte orders and pointer widths, and
//! random bytes never do harm.

// Test helpers outside #[test] functions may fail the test by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use posthaste_mqi::{
    ByteOrder, Chars, Cno, Csp, Dlh, Gmo, Md, Mde, Od, Pmo, PointerSize, Rfh2, Sd, Sro, Sts, Tm,
    Tmc2, Xqh, fuzzing,
};
use proptest::array::{uniform4, uniform16, uniform24, uniform32};
use proptest::prelude::*;
use std::fmt::Debug;

fn shape() -> impl Strategy<Value = (ByteOrder, PointerSize)> {
    (
        prop_oneof![Just(ByteOrder::Big), Just(ByteOrder::Little)],
        prop_oneof![Just(PointerSize::Four), Just(PointerSize::Eight)],
    )
}

fn chars<const N: usize>() -> impl Strategy<Value = Chars<N>> {
    prop::collection::vec(any::<u8>(), N)
        .prop_map(|bytes| Chars::from_bytes(bytes.try_into().expect("N bytes")))
}

fn bytes<const N: usize>() -> impl Strategy<Value = [u8; N]> {
    prop::collection::vec(any::<u8>(), N).prop_map(|bytes| bytes.try_into().expect("N bytes"))
}

fn string() -> impl Strategy<Value = String> {
    "\\PC{0,40}"
}

/// Version 1 descriptors have the defaults in their version 2 fields.
fn md() -> impl Strategy<Value = Md> {
    let head = (
        1..=2i32,
        uniform4(any::<i32>()),
        uniform4(any::<i32>()),
        chars(),
        uniform24(any::<u8>()),
        uniform24(any::<u8>()),
    );
    let context = (
        chars(),
        chars(),
        chars(),
        uniform32(any::<u8>()),
        chars(),
        chars(),
        chars(),
        chars(),
        chars(),
    );
    let tail = (
        uniform24(any::<u8>()),
        uniform4(any::<i32>()),
        uniform4(any::<i32>()),
    );
    (head, context, tail).prop_map(|(head, context, tail)| {
        let (version, [report, msg_type, expiry, feedback], more, format, msg_id, correl_id) = head;
        let [encoding, coded_char_set_id, priority, persistence] = more;
        let value = Md {
            version,
            report,
            msg_type,
            expiry,
            feedback,
            encoding,
            coded_char_set_id,
            format,
            priority,
            persistence,
            msg_id,
            correl_id,
            backout_count: tail.2[0],
            reply_to_q: context.0,
            reply_to_q_mgr: context.1,
            user_identifier: context.2,
            accounting_token: context.3,
            appl_identity_data: context.4,
            put_appl_type: tail.2[1],
            put_appl_name: context.5,
            put_date: context.6,
            put_time: context.7,
            appl_origin_data: context.8,
            ..Md::default()
        };
        if version == 1 {
            return value;
        }
        let [msg_seq_number, offset, msg_flags, original_length] = tail.1;
        Md {
            group_id: tail.0,
            msg_seq_number,
            offset,
            msg_flags,
            original_length,
            ..value
        }
    })
}

fn od() -> impl Strategy<Value = Od> {
    (
        (1..=4i32, any::<i32>(), chars(), chars(), chars(), chars()),
        (uniform4(any::<i32>()), uniform4(any::<i32>())),
        (bytes::<40>(), chars(), chars()),
        (string(), string(), string(), 0..20_000i32),
    )
        .prop_map(|(one, two, three, four)| {
            let mut value = Od {
                version: one.0,
                object_type: one.1,
                object_name: one.2,
                object_q_mgr_name: one.3,
                dynamic_q_name: one.4,
                alternate_user_id: one.5,
                ..Od::default()
            };
            if value.version >= 2 {
                [
                    value.recs_present,
                    value.known_dest_count,
                    value.unknown_dest_count,
                    value.invalid_dest_count,
                ] = two.0;
                value.object_rec_offset = two.1[0];
                value.response_rec_offset = two.1[1];
            }
            if value.version >= 3 {
                value.alternate_security_id = three.0;
                value.resolved_q_name = three.1;
                value.resolved_q_mgr_name = three.2;
            }
            if value.version >= 4 {
                value.object_string = four.0;
                value.selection_string = four.1;
                // The room stated is never less than the string itself takes.
                value.res_object_string_size = four.3.max(four.2.len() as i32);
                value.res_object_string = four.2;
                value.resolved_type = two.1[2];
            }
            value
        })
}

fn pmo() -> impl Strategy<Value = Pmo> {
    (
        1..=3i32,
        uniform16(any::<i32>()),
        any::<i64>(),
        any::<i64>(),
        chars(),
        chars(),
    )
        .prop_map(
            |(version, n, original, new, resolved_q_name, resolved_q_mgr_name)| {
                let mut value = Pmo {
                    version,
                    options: n[0],
                    timeout: n[1],
                    context: n[2],
                    known_dest_count: n[3],
                    unknown_dest_count: n[4],
                    invalid_dest_count: n[5],
                    resolved_q_name,
                    resolved_q_mgr_name,
                    ..Pmo::default()
                };
                if version >= 2 {
                    value.recs_present = n[6];
                    value.put_msg_rec_fields = n[7];
                    value.put_msg_rec_offset = n[8];
                    value.response_rec_offset = n[9];
                }
                if version >= 3 {
                    value.original_msg_handle = original;
                    value.new_msg_handle = new;
                    value.action = n[10];
                    value.pub_level = n[11];
                }
                value
            },
        )
}

fn gmo() -> impl Strategy<Value = Gmo> {
    (
        1..=4i32,
        uniform16(any::<i32>()),
        uniform4(any::<u8>()),
        uniform16(any::<u8>()),
        any::<i64>(),
        chars(),
    )
        .prop_map(
            |(version, n, states, msg_token, msg_handle, resolved_q_name)| {
                let mut value = Gmo {
                    version,
                    options: n[0],
                    wait_interval: n[1],
                    signal1: n[2],
                    signal2: n[3],
                    resolved_q_name,
                    ..Gmo::default()
                };
                if version >= 2 {
                    value.match_options = n[4];
                    [
                        value.group_status,
                        value.segment_status,
                        value.segmentation,
                        value.reserved1,
                    ] = states;
                }
                if version >= 3 {
                    value.msg_token = msg_token;
                    value.returned_length = n[5];
                }
                if version >= 4 {
                    value.reserved2 = n[6];
                    value.msg_handle = msg_handle;
                }
                value
            },
        )
}

fn headers() -> impl Strategy<Value = (Dlh, Mde)> {
    (
        (
            uniform4(any::<i32>()),
            chars(),
            chars(),
            chars(),
            chars(),
            chars(),
            chars(),
        ),
        (
            uniform4(any::<i32>()),
            uniform4(any::<i32>()),
            chars(),
            uniform24(any::<u8>()),
        ),
    )
        .prop_map(|(dlh, mde)| {
            let [reason, encoding, coded_char_set_id, put_appl_type] = dlh.0;
            let dlh = Dlh {
                reason,
                dest_q_name: dlh.1,
                dest_q_mgr_name: dlh.2,
                encoding,
                coded_char_set_id,
                format: dlh.3,
                put_appl_type,
                put_appl_name: dlh.4,
                put_date: dlh.5,
                put_time: dlh.6,
            };
            let [encoding, coded_char_set_id, flags, msg_seq_number] = mde.0;
            let [offset, msg_flags, original_length, _] = mde.1;
            let mde = Mde {
                encoding,
                coded_char_set_id,
                format: mde.2,
                flags,
                group_id: mde.3,
                msg_seq_number,
                offset,
                msg_flags,
                original_length,
            };
            (dlh, mde)
        })
}

fn triggers() -> impl Strategy<Value = (Tm, Tmc2)> {
    (
        any::<i32>(),
        chars(),
        chars(),
        chars(),
        chars(),
        chars(),
        chars(),
        chars(),
        chars(),
    )
        .prop_map(|t| {
            let tm = Tm {
                q_name: t.1,
                process_name: t.2,
                trigger_data: t.3,
                appl_type: t.0,
                appl_id: t.4,
                env_data: t.5,
                user_data: t.6,
            };
            let mut tmc2 = Tmc2::of_trigger(&tm, t.7);
            tmc2.appl_type = t.8;
            (tm, tmc2)
        })
}

/// Folder texts: anything without trailing blanks, which count as padding.
fn rfh2() -> impl Strategy<Value = Rfh2> {
    (
        uniform4(any::<i32>()),
        chars(),
        prop::sample::select(vec![1208, 1200, 13488, 17584]),
        prop::collection::vec(
            string().prop_map(|text| text.trim_end_matches(' ').to_string()),
            0..5,
        ),
    )
        .prop_map(
            |([encoding, coded_char_set_id, flags, _], format, name_value_ccsid, folders)| Rfh2 {
                encoding,
                coded_char_set_id,
                format,
                flags,
                name_value_ccsid,
                folders,
                in_ebcdic: false,
            },
        )
}

fn sts() -> impl Strategy<Value = Sts> {
    (
        1..=2i32,
        uniform16(any::<i32>()),
        (chars(), chars(), chars(), chars()),
        string(),
        string(),
    )
        .prop_map(|(version, n, names, object_string, sub_name)| {
            let value = Sts {
                version,
                comp_code: n[0],
                reason: n[1],
                put_success_count: n[2],
                put_warning_count: n[3],
                put_failure_count: n[4],
                object_type: n[5],
                object_name: names.0,
                object_q_mgr_name: names.1,
                resolved_object_name: names.2,
                resolved_q_mgr_name: names.3,
                ..Sts::default()
            };
            if version == 1 {
                return value;
            }
            Sts {
                object_string_size: i32::try_from(object_string.len()).unwrap(),
                object_string,
                sub_name,
                open_options: n[6],
                sub_options: n[7],
                ..value
            }
        })
}

fn subscription() -> impl Strategy<Value = (Sd, Sro)> {
    let strings = (string(), string(), string(), string(), string());
    let ids = (bytes::<24>(), bytes::<32>(), bytes::<40>());
    (
        uniform16(any::<i32>()),
        (chars(), chars(), chars()),
        ids,
        strings,
    )
        .prop_map(|(n, names, ids, strings)| {
            let room = |text: &str, size: i32| size.max(i32::try_from(text.len()).unwrap());
            let sd = Sd {
                version: 1,
                options: n[0],
                object_name: names.0,
                alternate_user_id: names.1,
                alternate_security_id: ids.2,
                sub_expiry: n[1],
                sub_user_data_size: room(&strings.2, n[2]),
                selection_string_size: room(&strings.3, n[3]),
                res_object_string_size: room(&strings.4, n[4]),
                object_string: strings.0,
                sub_name: strings.1,
                sub_user_data: strings.2,
                sub_correl_id: ids.0,
                pub_priority: n[5],
                pub_accounting_token: ids.1,
                pub_appl_identity_data: names.2,
                selection_string: strings.3,
                sub_level: n[6],
                res_object_string: strings.4,
                ..Sd::default()
            };
            let sro = Sro {
                options: n[7],
                num_pubs: n[8],
                ..Sro::default()
            };
            (sd, sro)
        })
}

fn connect() -> impl Strategy<Value = (Cno, Csp)> {
    (
        (
            1..=8i32,
            uniform16(any::<i32>()),
            bytes::<128>(),
            uniform24(any::<u8>()),
            string(),
            chars(),
        ),
        (1..=3i32, string(), string(), string(), string()),
    )
        .prop_map(|(cno, csp)| {
            let (version, n) = (cno.0, cno.1);
            let mut value = Cno {
                version,
                options: n[0],
                ..Cno::default()
            };
            if version >= 2 {
                value.client_conn_offset = n[1];
            }
            if version >= 3 {
                value.conn_tag = cno.2;
            }
            if version >= 4 {
                value.ssl_config_offset = n[2];
            }
            if version >= 5 {
                value.connection_id = cno.3;
                value.security_parms_offset = n[3];
            }
            if version >= 6 {
                value.ccdt_url = cno.4;
            }
            if version >= 7 {
                value.appl_name = cno.5;
            }
            if version >= 8 {
                value.balance_parms_offset = n[4];
            }
            let mut parms = Csp {
                version: csp.0,
                authentication_type: n[5],
                csp_user_id: csp.1,
                csp_password: csp.2,
                ..Csp::default()
            };
            if parms.version >= 2 {
                parms.initial_key = csp.3;
            }
            if parms.version >= 3 {
                parms.token = csp.4;
            }
            (value, parms)
        })
}

/// Writes and reads a value, with other bytes before and behind it.
macro_rules! survives {
    ($value:expr, $type:ty, $shape:expr) => {{
        let value: $type = $value;
        let (order, pointers) = $shape;
        let mut out = vec![0xa5; 3];
        value.encode(&mut out, order, pointers);
        let length = out.len() - 3;
        out.extend_from_slice(&[0x5a; 8]);
        let read = <$type>::decode(&out[3..], order, pointers);
        if let Ok((value, _)) = &read {
            // Padding does not count in comparisons, so compare the bytes too.
            let mut again = Vec::new();
            value.encode(&mut again, order, pointers);
            prop_assert_eq!(again.as_slice(), &out[3..3 + length]);
        }
        same(read, (value, length))?;
    }};
}

fn same<T: PartialEq + Debug, E: Debug>(
    read: Result<T, E>,
    expected: T,
) -> Result<(), TestCaseError> {
    match read {
        Ok(read) => prop_assert_eq!(read, expected),
        Err(error) => prop_assert!(false, "{error:?}"),
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn descriptors_survive(md in md(), od in od(), shape in shape()) {
        survives!(Md { version: 1, ..Md::default() }, Md, shape);
        let head = Md { version: 1, group_id: [0; 24], msg_seq_number: 1, offset: 0, msg_flags: 0, original_length: -1, ..md.clone() };
        survives!(Xqh { msg_desc: head, ..Xqh::default() }, Xqh, shape);
        survives!(md, Md, shape);
        survives!(od, Od, shape);
    }

    #[test]
    fn options_survive(pmo in pmo(), gmo in gmo(), sts in sts(), shape in shape()) {
        survives!(pmo, Pmo, shape);
        survives!(gmo, Gmo, shape);
        survives!(sts, Sts, shape);
    }

    #[test]
    fn subscriptions_survive((sd, sro) in subscription(), shape in shape()) {
        survives!(sd, Sd, shape);
        survives!(sro, Sro, shape);
    }

    #[test]
    fn headers_survive((dlh, mde) in headers(), (tm, tmc2) in triggers(), rfh2 in rfh2(), shape in shape()) {
        survives!(dlh, Dlh, shape);
        survives!(mde, Mde, shape);
        survives!(tm, Tm, shape);
        survives!(tmc2, Tmc2, shape);
        survives!(rfh2, Rfh2, shape);
    }

    #[test]
    fn connect_structures_survive((cno, csp) in connect(), shape in shape()) {
        survives!(cno, Cno, shape);
        survives!(csp, Csp, shape);
    }

    #[test]
    fn random_bytes_behind_a_sound_start_do_no_harm(
        choice in 0..4u8,
        eye in prop::sample::select(vec![*b"MD  ", *b"OD  ", *b"PMO ", *b"GMO ", *b"DLH ", *b"TM  ", *b"TMC ", *b"XQH ", *b"MDE ", *b"RFH ", *b"STAT", *b"CNO ", *b"CSP "]),
        version in 1..9i32,
        rest in prop::collection::vec(prop_oneof![3 => Just(0u8), 1 => any::<u8>()], 0..900),
    ) {
        let mut input = vec![choice];
        input.extend_from_slice(&eye);
        let order = if choice & 1 == 0 { ByteOrder::Big } else { ByteOrder::Little };
        order.put_i32(&mut input, version);
        input.extend_from_slice(&rest);
        for (_, target) in fuzzing::TARGETS {
            target(&input);
        }
    }

    #[test]
    fn text_fields_are_cut_or_padded_to_their_length(text in "\\PC{0,20}") {
        let field = Chars::<12>::new(&text);
        prop_assert!(text.starts_with(&*String::from_utf8(field.trimmed().to_vec()).expect("whole characters")));
        prop_assert_eq!(Chars::<12>::try_new(&text).is_some(), text.len() <= 12);
        if text.len() <= 12 && !text.ends_with(' ') && !text.contains('\0') {
            prop_assert_eq!(field.text(), text);
        }
    }
}
