//! Attributes of services (manual: "DEFINE SERVICE"): programs that the queue manager starts and ends.

use super::rows::{date, name, text, time, word};
use super::words::{CONTROL, SERVTYPE};
use crate::attribute::Attribute;
use crate::kinds::ObjectKind;
use posthaste_mqi::constants as mq;

const ON: &[ObjectKind] = &[ObjectKind::Service];

#[rustfmt::skip] // one row, one line
pub(crate) const ROWS: &[Attribute] = &[
    name("SERVICE", mq::MQCA_SERVICE_NAME, mq::MQ_OBJECT_NAME_LENGTH, "", ON, "The service's name").derived().not_inquired(),
    text("DESCR", mq::MQCA_SERVICE_DESC, mq::MQ_SERVICE_DESC_LENGTH, "", ON, "What the service is for, in the operator's words").describes().not_inquired(),
    word("CONTROL", mq::MQIA_SERVICE_CONTROL, CONTROL, mq::MQSVC_CONTROL_MANUAL, ON, "Whether it starts and stops with the queue manager").not_inquired(),
    word("SERVTYPE", mq::MQIA_SERVICE_TYPE, SERVTYPE, mq::MQSVC_TYPE_COMMAND, ON, "SERVER: one program at a time, with a status; COMMAND: any number, nobody looks after").not_inquired(),
    text("STARTCMD", mq::MQCA_SERVICE_START_COMMAND, mq::MQ_SERVICE_COMMAND_LENGTH, "", ON, "The program, by its whole path").not_inquired(),
    text("STARTARG", mq::MQCA_SERVICE_START_ARGS, mq::MQ_SERVICE_ARGS_LENGTH, "", ON, "Its arguments").not_inquired(),
    text("STOPCMD", mq::MQCA_SERVICE_STOP_COMMAND, mq::MQ_SERVICE_COMMAND_LENGTH, "", ON, "The program that stops it; blank is to end it (SIGTERM)").not_inquired(),
    text("STOPARG", mq::MQCA_SERVICE_STOP_ARGS, mq::MQ_SERVICE_ARGS_LENGTH, "", ON, "Arguments of the program that stops it").not_inquired(),
    text("STDOUT", mq::MQCA_STDOUT_DESTINATION, mq::MQ_SERVICE_PATH_LENGTH, "", ON, "File that its standard output is added to; blank is nowhere").not_inquired(),
    text("STDERR", mq::MQCA_STDERR_DESTINATION, mq::MQ_SERVICE_PATH_LENGTH, "", ON, "File that its standard error is added to; blank is nowhere").not_inquired(),
    date("ALTDATE", mq::MQCA_ALTERATION_DATE, ON, "Date of the last change, yyyy-mm-dd").derived().not_inquired(),
    time("ALTTIME", mq::MQCA_ALTERATION_TIME, ON, "Time of the last change, hh.mm.ss").derived().not_inquired(),
];
