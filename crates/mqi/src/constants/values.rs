//! Constants that are not 32-bit integers, and those that depend on the machine.
//!
//! Formats are texts of exactly eight characters (MQMD.Format); identifiers are byte
//! strings; the states of groups and segments are single ASCII characters.

/// Format name of message data (MQMD.Format), 8 characters.
pub const MQFMT_ADMIN: &str = "MQADMIN ";
/// Format name of message data (MQMD.Format), 8 characters.
pub const MQFMT_AMQP: &str = "MQAMQP  ";
/// Format name of message data (MQMD.Format), 8 characters.
pub const MQFMT_CHANNEL_COMPLETED: &str = "MQCHCOM ";
/// Format name of message data (MQMD.Format), 8 characters.
pub const MQFMT_CICS: &str = "MQCICS  ";
/// Format name of message data (MQMD.Format), 8 characters.
pub const MQFMT_COMMAND_1: &str = "MQCMD1  ";
/// Format name of message data (MQMD.Format), 8 characters.
pub const MQFMT_COMMAND_2: &str = "MQCMD2  ";
/// Format name of message data (MQMD.Format), 8 characters.
pub const MQFMT_DEAD_LETTER_HEADER: &str = "MQDEAD  ";
/// Format name of message data (MQMD.Format), 8 characters.
pub const MQFMT_DIST_HEADER: &str = "MQHDIST ";
/// Format name of message data (MQMD.Format), 8 characters.
pub const MQFMT_EMBEDDED_PCF: &str = "MQHEPCF ";
/// Format name of message data (MQMD.Format), 8 characters.
pub const MQFMT_EVENT: &str = "MQEVENT ";
/// Format name of message data (MQMD.Format), 8 characters.
pub const MQFMT_IMS: &str = "MQIMS   ";
/// Format name of message data (MQMD.Format), 8 characters.
pub const MQFMT_IMS_VAR_STRING: &str = "MQIMSVS ";
/// Format name of message data (MQMD.Format), 8 characters.
pub const MQFMT_MD_EXTENSION: &str = "MQHMDE  ";
/// Format name of message data (MQMD.Format), 8 characters.
pub const MQFMT_NONE: &str = "        ";
/// Format name of message data (MQMD.Format), 8 characters.
pub const MQFMT_PCF: &str = "MQPCF   ";
/// Format name of message data (MQMD.Format), 8 characters.
pub const MQFMT_REF_MSG_HEADER: &str = "MQHREF  ";
/// Format name of message data (MQMD.Format), 8 characters.
pub const MQFMT_RF_HEADER: &str = "MQHRF   ";
/// Format name of message data (MQMD.Format), 8 characters.
pub const MQFMT_RF_HEADER_1: &str = "MQHRF   ";
/// Format name of message data (MQMD.Format), 8 characters.
pub const MQFMT_RF_HEADER_2: &str = "MQHRF2  ";
/// Format name of message data (MQMD.Format), 8 characters.
pub const MQFMT_STRING: &str = "MQSTR   ";
/// Format name of message data (MQMD.Format), 8 characters.
pub const MQFMT_TRIGGER: &str = "MQTRIG  ";
/// Format name of message data (MQMD.Format), 8 characters.
pub const MQFMT_WORK_INFO_HEADER: &str = "MQHWIH  ";
/// Format name of message data (MQMD.Format), 8 characters.
pub const MQFMT_XMIT_Q_HEADER: &str = "MQXMIT  ";
/// Group status (MQGMO.GroupStatus).
pub const MQGS_LAST_MSG_IN_GROUP: u8 = b'L';
/// Group status (MQGMO.GroupStatus).
pub const MQGS_MSG_IN_GROUP: u8 = b'G';
/// Group status (MQGMO.GroupStatus).
pub const MQGS_NOT_IN_GROUP: u8 = b' ';
/// Segment status (MQGMO.SegmentStatus).
pub const MQSS_LAST_SEGMENT: u8 = b'L';
/// Segment status (MQGMO.SegmentStatus).
pub const MQSS_NOT_A_SEGMENT: u8 = b' ';
/// Segment status (MQGMO.SegmentStatus).
pub const MQSS_SEGMENT: u8 = b'S';
/// Segmentation allowed or not (MQGMO.Segmentation).
pub const MQSEG_ALLOWED: u8 = b'A';
/// Segmentation allowed or not (MQGMO.Segmentation).
pub const MQSEG_INHIBITED: u8 = b' ';
/// No message handle (MQGMO.MsgHandle, MQPMO.OriginalMsgHandle, MQPMO.NewMsgHandle).
pub const MQHM_NONE: i64 = 0;
/// No message identifier: MQPUT makes one, MQGET matches any (MQMD.MsgId).
pub const MQMI_NONE: [u8; 24] = [0; 24];
/// No correlation identifier (MQMD.CorrelId).
pub const MQCI_NONE: [u8; 24] = [0; 24];
/// Correlation identifier that asks for a new session of a bridge.
pub const MQCI_NEW_SESSION: [u8; 24] = *b"AMQ!NEW_SESSION_CORRELID";
/// No group identifier (MQMD.GroupId).
pub const MQGI_NONE: [u8; 24] = [0; 24];
/// No message token (MQGMO.MsgToken).
pub const MQMTOK_NONE: [u8; 16] = [0; 16];
/// No accounting token (MQMD.AccountingToken).
pub const MQACT_NONE: [u8; 32] = [0; 32];
/// No security identifier (MQOD.AlternateSecurityId).
pub const MQSID_NONE: [u8; 40] = [0; 40];
/// No connection tag (MQCNO.ConnTag).
pub const MQCT_NONE: [u8; 128] = [0; 128];
/// No connection identifier (MQCNO.ConnectionId).
pub const MQCONNID_NONE: [u8; 24] = [0; 24];

/// Encoding of this machine's numbers: reversed integers and IEEE floats on little-endian
/// machines, normal ones on big-endian machines.
pub const MQENC_NATIVE: i32 = if cfg!(target_endian = "little") {
    super::MQENC_REVERSED
} else {
    super::MQENC_NORMAL
};
/// Platform of this queue manager (attribute Platform): Linux counts as UNIX.
pub const MQPL_NATIVE: i32 = super::MQPL_UNIX;
/// Application type of programs on this platform.
pub const MQAT_DEFAULT: i32 = super::MQAT_UNIX;

/// Structure version 1 of MQMD.
pub const MQMD_VERSION_1: i32 = 1;
/// Structure version 2 of MQMD.
pub const MQMD_VERSION_2: i32 = 2;
/// Highest structure version of MQMD known here.
pub const MQMD_CURRENT_VERSION: i32 = MQMD_VERSION_2;
/// Structure version 1 of MQOD.
pub const MQOD_VERSION_1: i32 = 1;
/// Structure version 2 of MQOD.
pub const MQOD_VERSION_2: i32 = 2;
/// Structure version 3 of MQOD.
pub const MQOD_VERSION_3: i32 = 3;
/// Structure version 4 of MQOD.
pub const MQOD_VERSION_4: i32 = 4;
/// Highest structure version of MQOD known here.
pub const MQOD_CURRENT_VERSION: i32 = MQOD_VERSION_4;
/// Structure version 1 of MQPMO.
pub const MQPMO_VERSION_1: i32 = 1;
/// Structure version 2 of MQPMO.
pub const MQPMO_VERSION_2: i32 = 2;
/// Structure version 3 of MQPMO.
pub const MQPMO_VERSION_3: i32 = 3;
/// Highest structure version of MQPMO known here.
pub const MQPMO_CURRENT_VERSION: i32 = MQPMO_VERSION_3;
/// Structure version 1 of MQGMO.
pub const MQGMO_VERSION_1: i32 = 1;
/// Structure version 2 of MQGMO.
pub const MQGMO_VERSION_2: i32 = 2;
/// Structure version 3 of MQGMO.
pub const MQGMO_VERSION_3: i32 = 3;
/// Structure version 4 of MQGMO.
pub const MQGMO_VERSION_4: i32 = 4;
/// Highest structure version of MQGMO known here.
pub const MQGMO_CURRENT_VERSION: i32 = MQGMO_VERSION_4;
/// Structure version 1 of MQCNO.
pub const MQCNO_VERSION_1: i32 = 1;
/// Structure version 2 of MQCNO.
pub const MQCNO_VERSION_2: i32 = 2;
/// Structure version 3 of MQCNO.
pub const MQCNO_VERSION_3: i32 = 3;
/// Structure version 4 of MQCNO.
pub const MQCNO_VERSION_4: i32 = 4;
/// Structure version 5 of MQCNO.
pub const MQCNO_VERSION_5: i32 = 5;
/// Structure version 6 of MQCNO.
pub const MQCNO_VERSION_6: i32 = 6;
/// Structure version 7 of MQCNO.
pub const MQCNO_VERSION_7: i32 = 7;
/// Structure version 8 of MQCNO.
pub const MQCNO_VERSION_8: i32 = 8;
/// Highest structure version of MQCNO known here.
pub const MQCNO_CURRENT_VERSION: i32 = MQCNO_VERSION_8;
/// Structure version 1 of MQCSP.
pub const MQCSP_VERSION_1: i32 = 1;
/// Structure version 2 of MQCSP.
pub const MQCSP_VERSION_2: i32 = 2;
/// Structure version 3 of MQCSP.
pub const MQCSP_VERSION_3: i32 = 3;
/// Highest structure version of MQCSP known here.
pub const MQCSP_CURRENT_VERSION: i32 = MQCSP_VERSION_3;
/// Structure version 1 of MQSTS.
pub const MQSTS_VERSION_1: i32 = 1;
/// Structure version 2 of MQSTS.
pub const MQSTS_VERSION_2: i32 = 2;
/// Highest structure version of MQSTS known here.
pub const MQSTS_CURRENT_VERSION: i32 = MQSTS_VERSION_2;
/// Structure version 1 of MQDLH.
pub const MQDLH_VERSION_1: i32 = 1;
/// Highest structure version of MQDLH known here.
pub const MQDLH_CURRENT_VERSION: i32 = MQDLH_VERSION_1;
/// Structure version 1 of MQTM.
pub const MQTM_VERSION_1: i32 = 1;
/// Highest structure version of MQTM known here.
pub const MQTM_CURRENT_VERSION: i32 = MQTM_VERSION_1;
/// Structure version 1 of MQXQH.
pub const MQXQH_VERSION_1: i32 = 1;
/// Highest structure version of MQXQH known here.
pub const MQXQH_CURRENT_VERSION: i32 = MQXQH_VERSION_1;
/// Structure version of MQMDE (the only one).
pub const MQMDE_VERSION_2: i32 = 2;
/// Structure version of MQTMC2, a text.
pub const MQTMC_VERSION_2: &str = "   2";
/// Structure version of MQRFH2.
pub const MQRFH_VERSION_2: i32 = 2;
