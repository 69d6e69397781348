//! Attributes of the sample kind, which only tests have: one of each type of value.

use super::rows::{bytes, date, int, int_or_word, name, names, text, time, word, word_list};
use super::words::NO_YES;
use crate::attribute::Attribute;
use crate::kinds::ObjectKind;
use crate::value::Words;
use posthaste_mqi::constants as mq;

const ON: &[ObjectKind] = &[ObjectKind::Sample];
const NOLIMIT: Words = &[("NOLIMIT", -1)];
const COLOURS: Words = &[("RED", 1), ("GREEN", 2), ("BLUE", 3)];
/// Numbers that no manual gives an attribute.
const FIRST: i32 = 900_000;

#[rustfmt::skip] // one row, one line
pub(crate) const ROWS: &[Attribute] = &[
    name("SAMPLE", FIRST, 10_240, "", ON, "The sample's name").derived().not_inquired(),
    text("DESCR", FIRST + 1, 64, "", ON, "What the sample is for").describes().not_inquired(),
    int("SIZE", FIRST + 2, (0, 100), 10, ON, "How large it is").describes().not_inquired(),
    int_or_word("WEIGHT", FIRST + 3, (0, 100), NOLIMIT, -1, ON, "How heavy it may be").describes().not_inquired(),
    word("ROUND", FIRST + 4, NO_YES, 0, ON, "Whether it is round").describes().not_inquired(),
    word_list("COLOURS", FIRST + 5, COLOURS, &[1], ON, "Its colours").describes().not_inquired(),
    names("PARTS", FIRST + 6, 48, 4, ON, "What it is made of").describes().not_inquired(),
    bytes("MARK", FIRST + 7, 4, ON, "How it is marked").describes().not_inquired(),
    date("ALTDATE", mq::MQCA_ALTERATION_DATE, ON, "Date of the last change, yyyy-mm-dd").derived().not_inquired(),
    time("ALTTIME", mq::MQCA_ALTERATION_TIME, ON, "Time of the last change, hh.mm.ss").derived().not_inquired(),
];
