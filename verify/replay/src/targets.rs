//! The table of targets. `verify/fuzz/fuzz_targets/` has one file for each, and nothing else.

use crate::seeds::{self, Seeds};

/// A fuzz target.
pub struct Target {
    /// Its name: also the name of its corpus and of its file in `verify/fuzz`.
    pub name: &'static str,
    /// Takes any bytes; must not panic.
    pub run: fn(&[u8]),
    /// Inputs made by the real encoders.
    pub seeds: fn() -> Seeds,
    /// Inputs taken from a whole queue manager at work. They are not expected to stay the same: what it
    /// logs and saves may change without a change of any format.
    pub recorded: fn() -> Seeds,
}

/// All targets.
pub const TARGETS: &[Target] = &[
    Target {
        name: "wire_segment",
        run: wire_segment,
        seeds: seeds::wire,
        recorded: Seeds::new,
    },
    Target {
        name: "client_protocol",
        run: client_protocol,
        seeds: seeds::client,
        recorded: Seeds::new,
    },
    Target {
        name: "mqi_structures",
        run: mqi_structures,
        seeds: seeds::mqi,
        recorded: Seeds::new,
    },
    Target {
        name: "mqsc_text",
        run: mqsc_text,
        seeds: seeds::mqsc,
        recorded: Seeds::new,
    },
    Target {
        name: "pcf",
        run: pcf,
        seeds: seeds::pcf,
        recorded: Seeds::new,
    },
    Target {
        name: "selector",
        run: selector,
        seeds: seeds::selector,
        recorded: Seeds::new,
    },
    Target {
        name: "topic",
        run: topic,
        seeds: seeds::topic,
        recorded: Seeds::new,
    },
    Target {
        name: "authority",
        run: authority,
        seeds: seeds::authority,
        recorded: Seeds::new,
    },
    Target {
        name: "chlauth",
        run: chlauth,
        seeds: seeds::chlauth,
        recorded: Seeds::new,
    },
    Target {
        name: "credentials",
        run: credentials,
        seeds: seeds::credentials,
        recorded: Seeds::new,
    },
    Target {
        name: "tls",
        run: tls,
        seeds: seeds::tls,
        recorded: Seeds::new,
    },
    Target {
        name: "conversion",
        run: conversion,
        seeds: seeds::conversion,
        recorded: Seeds::new,
    },
    Target {
        name: "log_pages",
        run: log_pages,
        seeds: seeds::log,
        recorded: seeds::engine_records,
    },
    Target {
        name: "qm_ini",
        run: qm_ini,
        seeds: seeds::qm_ini,
        recorded: Seeds::new,
    },
    Target {
        name: "data_keys",
        run: data_keys,
        seeds: seeds::data_keys,
        recorded: Seeds::new,
    },
    Target {
        name: "image",
        run: image,
        seeds: seeds::store,
        recorded: seeds::engine_image,
    },
];

/// The target of a name.
pub fn target(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.name == name)
}

/// Segments, what is in them, and both sides' state machines.
pub fn wire_segment(bytes: &[u8]) {
    use posthaste_wire::fuzzing;
    fuzzing::segments(bytes);
    fuzzing::initial(bytes);
    fuzzing::request(bytes);
    fuzzing::reply(bytes);
    fuzzing::server(bytes);
    fuzzing::client(bytes);
}

/// What a client understands of a server, however the bytes are cut.
pub fn client_protocol(bytes: &[u8]) {
    posthaste_client::fuzzing::protocol(bytes);
}

/// Every structure of the MQ Interface, in both byte orders and pointer widths.
pub fn mqi_structures(bytes: &[u8]) {
    for (_, structure) in posthaste_mqi::fuzzing::TARGETS {
        structure(bytes);
    }
    posthaste_mqi::fuzzing::properties(bytes.get(1..).unwrap_or_default());
}

/// MQSC commands, scripts of them, and attributes as they are stored.
pub fn mqsc_text(bytes: &[u8]) {
    use posthaste_command::fuzzing;
    fuzzing::mqsc(bytes);
    fuzzing::script(bytes);
    fuzzing::stored_attributes(bytes);
}

/// Messages of every format that is converted, between representations.
pub fn conversion(bytes: &[u8]) {
    posthaste_conversion::fuzzing::message(bytes);
}

/// PCF messages in both byte orders, and the MQSC that they carry.
pub fn pcf(bytes: &[u8]) {
    posthaste_command::fuzzing::command_message(bytes);
}

/// Message selectors: compiled, and evaluated for some messages.
pub fn selector(bytes: &[u8]) {
    posthaste_selector::fuzzing::selector(bytes);
}

/// The file of data keys.
pub fn data_keys(bytes: &[u8]) {
    posthaste_encryption::fuzzing::data_keys(bytes);
}

/// Generic names of objects, against the plainest way to match them.
pub fn authority(bytes: &[u8]) {
    posthaste_authority::fuzzing::profile(bytes);
}

/// Filters of subscriptions, alone and in their index, against topic strings.
pub fn topic(bytes: &[u8]) {
    posthaste_topic::fuzzing::topic(bytes);
}

/// Patterns of channel authentication records.
pub fn chlauth(bytes: &[u8]) {
    posthaste_chlauth::fuzzing::patterns(bytes);
}

/// What a client says of who it is: USERID_DATA, CONAUTH_INFO, tokens and the keys they are signed with.
pub fn credentials(bytes: &[u8]) {
    posthaste_wire::fuzzing::credentials(bytes);
    posthaste_authentication::fuzz_token(bytes);
}

/// TLS: records before and after a handshake, SSLPEER, server names, PKCS#12.
pub fn tls(bytes: &[u8]) {
    posthaste_tls::fuzzing::texts(bytes);
    posthaste_tls::fuzzing::records(bytes);
}

/// Pages and records of the recovery log, what the engine writes in them, and the control file.
pub fn log_pages(bytes: &[u8]) {
    use posthaste_recovery_log::fuzzing;
    fuzzing::page(bytes);
    fuzzing::page_with_checksum(bytes);
    fuzzing::record(bytes);
    fuzzing::control(bytes);
    fuzzing::control_with_checksum(bytes);
    posthaste_engine::fuzzing::record(bytes);
}

/// The configuration file.
pub fn qm_ini(bytes: &[u8]) {
    use posthaste_server::fuzzing;
    fuzzing::qm_ini(bytes);
    fuzzing::stanzas(bytes);
}

/// Checkpoint images and what the engine writes in them, items of queue files, the map of free space.
pub fn image(bytes: &[u8]) {
    use posthaste_store::fuzzing;
    fuzzing::image(bytes);
    fuzzing::stored_item(bytes);
    // Forty steps of five bytes: the map is compared with one flag a block, which is slow.
    fuzzing::free_space(bytes.get(..200).unwrap_or(bytes));
    posthaste_engine::fuzzing::image(bytes);
    posthaste_engine::fuzzing::stored_message(bytes);
}
