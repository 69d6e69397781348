//! One seed for each structure of the MQ Interface: filled fields, byte order and width in turn.

use posthaste_mqi::{
    ByteOrder, Chars, Cno, Csp, Dlh, Gmo, Md, Mde, Name, Od, Pmo, PointerSize, Rfh2, Sd, Sro, Sts,
    Tm, Tmc2, Xqh,
};

use super::Seeds;

/// Collects encodings; the first byte of a seed says how it was encoded (see `posthaste_mqi::fuzzing`).
struct Collector {
    seeds: Seeds,
}

impl Collector {
    fn add(&mut self, name: &str, encode: impl Fn(&mut Vec<u8>, ByteOrder, PointerSize)) {
        let choice = self.seeds.len() % 4;
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
        let mut bytes =
            vec![if choice & 1 == 0 { 0 } else { 1 } | if choice & 2 == 0 { 0 } else { 2 }];
        encode(&mut bytes, order, pointers);
        self.seeds.push((name.to_owned(), bytes));
    }
}

/// Seeds of `mqi_structures`.
pub fn mqi() -> Seeds {
    let mut all = Collector {
        seeds: Seeds::new(),
    };
    add_call_structures(&mut all);
    add_message_headers(&mut all);
    add_connection_structures(&mut all);
    all.seeds
}

/// What open, put and get take.
fn add_call_structures(all: &mut Collector) {
    let md = Md {
        version: 2,
        format: Chars::new("MQSTR"),
        persistence: 1,
        msg_id: *b"AMQ QM1         \x01\x02\x03\x04\x05\x06\x07\x08",
        reply_to_q: Name::new("DEV.QUEUE.2"),
        group_id: [7; 24],
        ..Md::default()
    };
    all.add("md-1", |out, order, width| {
        Md::default().encode(out, order, width)
    });
    all.add("md-2", |out, order, width| md.encode(out, order, width));
    for version in [1, 4] {
        let od = Od {
            version,
            object_name: Name::new("DEV.QUEUE.1"),
            object_q_mgr_name: Name::new("QM1"),
            object_string: "dev/topic".to_owned(),
            selection_string: "colour = 'red'".to_owned(),
            ..Od::default()
        };
        all.add(&format!("od-{version}"), |out, order, width| {
            od.encode(out, order, width)
        });
    }
    for version in [1, 3] {
        let pmo = Pmo {
            version,
            options: 2,
            ..Pmo::default()
        };
        all.add(&format!("pmo-{version}"), |out, order, width| {
            pmo.encode(out, order, width)
        });
    }
    for version in [1, 4] {
        let gmo = Gmo {
            version,
            options: 1,
            wait_interval: -1,
            ..Gmo::default()
        };
        all.add(&format!("gmo-{version}"), |out, order, width| {
            gmo.encode(out, order, width)
        });
    }
}

/// What stands before message data.
fn add_message_headers(all: &mut Collector) {
    let q_name = Name::new("DEV.QUEUE.1");
    let dlh = Dlh {
        reason: 2053,
        dest_q_name: q_name,
        ..Dlh::default()
    };
    all.add("dlh", |out, order, width| dlh.encode(out, order, width));
    let tm = Tm {
        q_name,
        trigger_data: Chars::new("go"),
        ..Tm::default()
    };
    all.add("tm", |out, order, width| tm.encode(out, order, width));
    let tmc2 = Tmc2 {
        q_name,
        ..Tmc2::default()
    };
    all.add("tmc2", |out, order, width| tmc2.encode(out, order, width));
    let xqh = Xqh {
        remote_q_name: Name::new("FAR"),
        remote_q_mgr_name: Name::new("QM2"),
        ..Xqh::default()
    };
    all.add("xqh", |out, order, width| xqh.encode(out, order, width));
    let mde = Mde {
        msg_seq_number: 3,
        ..Mde::default()
    };
    all.add("mde", |out, order, width| mde.encode(out, order, width));
    let folders = vec![
        "<mcd><Msd>jms_text</Msd></mcd>".to_owned(),
        "<usr><colour>red</colour></usr>".to_owned(),
    ];
    let rfh2 = Rfh2 {
        folders,
        ..Rfh2::default()
    };
    all.add("rfh2", |out, order, width| rfh2.encode(out, order, width));
}

/// What connect, status and subscriptions take.
fn add_connection_structures(all: &mut Collector) {
    let sts = Sts {
        version: 2,
        object_string: "dev/topic".to_owned(),
        ..Sts::default()
    };
    all.add("sts", |out, order, width| sts.encode(out, order, width));
    let sd = Sd {
        options: 0x0020_222b,
        object_string: "dev/+/prices".to_owned(),
        sub_name: "JMS:QM1:client:name".to_owned(),
        sub_user_data: "Shared Subscription".to_owned(),
        selection_string: "colour = 'red'".to_owned(),
        res_object_string_size: 10_240,
        ..Sd::default()
    };
    all.add("sd", |out, order, width| sd.encode(out, order, width));
    let sro = Sro::default();
    all.add("sro", |out, order, width| sro.encode(out, order, width));
    let cno = Cno {
        version: 7,
        appl_name: Chars::new("seed"),
        ..Cno::default()
    };
    all.add("cno", |out, order, width| cno.encode(out, order, width));
    let csp = Csp {
        authentication_type: 1,
        csp_user_id: "app".to_owned(),
        csp_password: "secret".to_owned(),
        ..Csp::default()
    };
    all.add("csp", |out, order, width| csp.encode(out, order, width));
}
