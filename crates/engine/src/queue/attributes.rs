//! A queue definition, read once into fields: what a verb looks at on every call.
//!
//! The definition itself stays an attribute set (`DISPLAY` and `MQINQ` read that); this is derived
//! from it whenever it changes.

use posthaste_command::Attrs;
use posthaste_mqi::constants::*;

/// Attributes of a local queue that verbs consult.
#[derive(Clone, Debug)]
pub(crate) struct QueueAttributes {
    pub(crate) max_depth: u32,
    pub(crate) max_msg_length: usize,
    pub(crate) put_inhibited: bool,
    pub(crate) get_inhibited: bool,
    pub(crate) def_priority: i32,
    pub(crate) def_persistence: i32,
    pub(crate) fifo: bool,
    pub(crate) shareable: bool,
    pub(crate) def_input_exclusive: bool,
    pub(crate) harden_backout: bool,
    pub(crate) npm_high: bool,
    pub(crate) transmission: bool,
    pub(crate) definition_type: i32,
    pub(crate) trigger: Option<Trigger>,
}

/// Attributes of a queue with `TRIGGER`.
#[derive(Clone, Debug)]
pub(crate) struct Trigger {
    pub(crate) kind: i32,
    pub(crate) depth: u32,
    pub(crate) priority: i32,
    pub(crate) data: String,
    pub(crate) process: String,
    pub(crate) initiation_q: String,
}

impl QueueAttributes {
    pub(crate) fn of(attrs: &Attrs) -> Self {
        let trigger = (attrs.int(MQIA_TRIGGER_CONTROL) == MQTC_ON).then(|| Trigger {
            kind: attrs.int(MQIA_TRIGGER_TYPE),
            depth: attrs.int(MQIA_TRIGGER_DEPTH).max(1) as u32,
            priority: attrs.int(MQIA_TRIGGER_MSG_PRIORITY),
            data: attrs.text(MQCA_TRIGGER_DATA).to_owned(),
            process: attrs.text(MQCA_PROCESS_NAME).to_owned(),
            initiation_q: attrs.text(MQCA_INITIATION_Q_NAME).to_owned(),
        });
        QueueAttributes {
            max_depth: attrs.int(MQIA_MAX_Q_DEPTH).max(0) as u32,
            max_msg_length: attrs.int(MQIA_MAX_MSG_LENGTH).max(0) as usize,
            put_inhibited: attrs.int(MQIA_INHIBIT_PUT) == MQQA_PUT_INHIBITED,
            get_inhibited: attrs.int(MQIA_INHIBIT_GET) == MQQA_GET_INHIBITED,
            def_priority: attrs.int(MQIA_DEF_PRIORITY),
            def_persistence: attrs.int(MQIA_DEF_PERSISTENCE),
            fifo: attrs.int(MQIA_MSG_DELIVERY_SEQUENCE) == MQMDS_FIFO,
            shareable: attrs.int(MQIA_SHAREABILITY) == MQQA_SHAREABLE,
            def_input_exclusive: attrs.int(MQIA_DEF_INPUT_OPEN_OPTION) == MQOO_INPUT_EXCLUSIVE,
            harden_backout: attrs.int(MQIA_HARDEN_GET_BACKOUT) == MQQA_BACKOUT_HARDENED,
            npm_high: attrs.int(MQIA_NPM_CLASS) == MQNPM_CLASS_HIGH,
            transmission: attrs.int(MQIA_USAGE) == MQUS_TRANSMISSION,
            definition_type: attrs.int(MQIA_DEFINITION_TYPE),
            trigger,
        }
    }

    pub(crate) fn temporary(&self) -> bool {
        self.definition_type == MQQDT_TEMPORARY_DYNAMIC
    }

    /// Whether an application has made it.
    pub(crate) fn dynamic(&self) -> bool {
        self.definition_type != MQQDT_PREDEFINED
    }
}
