//! Attributes of namelists (manual: "DEFINE NAMELIST", "Attributes for namelists").

use super::rows::{count, date, name, names, text, time};
use crate::attribute::Attribute;
use crate::kinds::ObjectKind;
use posthaste_mqi::constants as mq;

const ON: &[ObjectKind] = &[ObjectKind::Namelist];

#[rustfmt::skip] // one row, one line
pub(crate) const ROWS: &[Attribute] = &[
    name("NAMELIST", mq::MQCA_NAMELIST_NAME, mq::MQ_NAMELIST_NAME_LENGTH, "", ON, "The namelist's name").derived(),
    text("DESCR", mq::MQCA_NAMELIST_DESC, mq::MQ_NAMELIST_DESC_LENGTH, "", ON, "What the namelist is for, in the operator's words").describes(),
    names("NAMES", mq::MQCA_NAMES, mq::MQ_OBJECT_NAME_LENGTH, 256, ON, "The names, in order, of whatever objects; for programs to inquire").describes(),
    count("NAMCOUNT", mq::MQIA_NAME_COUNT, mq::MQCA_NAMES, ON, "How many names there are").read_only(),
    date("ALTDATE", mq::MQCA_ALTERATION_DATE, ON, "Date of the last change, yyyy-mm-dd").derived(),
    time("ALTTIME", mq::MQCA_ALTERATION_TIME, ON, "Time of the last change, hh.mm.ss").derived(),
];
