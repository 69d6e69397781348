//! Message context: who put a message, and on whose behalf (MQI reference, "MQPMO – context
//! options").

use posthaste_mqi::constants::*;
use posthaste_mqi::{Chars, Md, Reason};

use super::clock::stamp;
use crate::handles::Handle;
use crate::session::SessionInner;

const CONTEXT: i32 = MQPMO_DEFAULT_CONTEXT
    | MQPMO_NO_CONTEXT
    | MQPMO_PASS_IDENTITY_CONTEXT
    | MQPMO_PASS_ALL_CONTEXT
    | MQPMO_SET_IDENTITY_CONTEXT
    | MQPMO_SET_ALL_CONTEXT;

/// Checks the context options of a put against the options of its handle.
pub(super) fn check(options: i32, open_options: i32) -> Result<(), Reason> {
    if (options & CONTEXT).count_ones() > 1 {
        return Err(Reason::OPTIONS_ERROR);
    }
    let all = MQOO_SET_ALL_CONTEXT;
    let needs = match options & CONTEXT {
        MQPMO_PASS_IDENTITY_CONTEXT => (
            MQOO_PASS_IDENTITY_CONTEXT | MQOO_PASS_ALL_CONTEXT | MQOO_SET_IDENTITY_CONTEXT | all,
            Reason::NOT_OPEN_FOR_PASS_IDENT,
        ),
        MQPMO_PASS_ALL_CONTEXT => (
            MQOO_PASS_ALL_CONTEXT | MQOO_SET_IDENTITY_CONTEXT | all,
            Reason::NOT_OPEN_FOR_PASS_ALL,
        ),
        MQPMO_SET_IDENTITY_CONTEXT => (
            MQOO_SET_IDENTITY_CONTEXT | all,
            Reason::NOT_OPEN_FOR_SET_IDENT,
        ),
        MQPMO_SET_ALL_CONTEXT => (all, Reason::NOT_OPEN_FOR_SET_ALL),
        _ => return Ok(()),
    };
    if open_options & needs.0 == 0 {
        return Err(needs.1);
    }
    Ok(())
}

/// The context saved by a get, for a put that passes it on. `from` is the handle in `Context`.
pub(super) fn saved(from: &Handle) -> Result<Box<Md>, Reason> {
    if from.options & MQOO_SAVE_ALL_CONTEXT == 0 {
        return Err(Reason::CONTEXT_HANDLE_ERROR);
    }
    from.saved_context
        .clone()
        .ok_or(Reason::CONTEXT_NOT_AVAILABLE)
}

fn clear_identity(md: &mut Md) {
    md.user_identifier = Chars::default();
    md.accounting_token = [0; 32];
    md.appl_identity_data = Chars::default();
}

fn default_identity(md: &mut Md, session: &SessionInner) {
    md.user_identifier = Chars::new(&session.who.user);
    md.accounting_token = [0; 32];
    md.appl_identity_data = Chars::default();
}

fn default_origin(md: &mut Md, session: &SessionInner) {
    md.put_appl_type = session.who.appl_type;
    md.put_appl_name = Chars::new(&session.who.name);
    md.appl_origin_data = Chars::default();
    stamp(md, session.qm.env.clock.wall_micros());
}

/// Fills the context fields of a message being put.
pub(super) fn fill(md: &mut Md, options: i32, session: &SessionInner, passed: Option<&Md>) {
    match options & CONTEXT {
        MQPMO_NO_CONTEXT => {
            clear_identity(md);
            md.put_appl_type = MQAT_NO_CONTEXT;
            md.put_appl_name = Chars::default();
            md.put_date = Chars::default();
            md.put_time = Chars::default();
            md.appl_origin_data = Chars::default();
        }
        MQPMO_SET_ALL_CONTEXT => {}
        MQPMO_SET_IDENTITY_CONTEXT => default_origin(md, session),
        choice => {
            default_identity(md, session);
            default_origin(md, session);
            let Some(from) = passed else { return };
            md.user_identifier = from.user_identifier;
            md.accounting_token = from.accounting_token;
            md.appl_identity_data = from.appl_identity_data;
            if choice == MQPMO_PASS_ALL_CONTEXT {
                md.put_appl_type = from.put_appl_type;
                md.put_appl_name = from.put_appl_name;
                md.put_date = from.put_date;
                md.put_time = from.put_time;
                md.appl_origin_data = from.appl_origin_data;
            }
        }
    }
}
