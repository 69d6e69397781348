//! Options and special values of the MQI calls and of the fields of their structures.
//!
//! A pure table: names and numbers are those of the MQ Interface (MQ reference,
//! "Constants"), in the order of the numbers.

use super::Family;

families! {
    "Completion code", "MQCC_" {
        MQCC_UNKNOWN = -1;
        MQCC_OK = 0;
        MQCC_WARNING = 1;
        MQCC_FAILED = 2;
    }
    "Connect option (MQCNO.Options)", "MQCNO_" {
        MQCNO_NONE = 0;
        MQCNO_RECONNECT_AS_DEF = 0;
        MQCNO_STANDARD_BINDING = 0;
        MQCNO_FASTPATH_BINDING = 1;
        MQCNO_SERIALIZE_CONN_TAG_Q_MGR = 2;
        MQCNO_SERIALIZE_CONN_TAG_QSG = 4;
        MQCNO_RESTRICT_CONN_TAG_Q_MGR = 8;
        MQCNO_RESTRICT_CONN_TAG_QSG = 16;
        MQCNO_HANDLE_SHARE_NONE = 32;
        MQCNO_HANDLE_SHARE_BLOCK = 64;
        MQCNO_HANDLE_SHARE_NO_BLOCK = 128;
        MQCNO_SHARED_BINDING = 256;
        MQCNO_ISOLATED_BINDING = 512;
        MQCNO_LOCAL_BINDING = 1024;
        MQCNO_CLIENT_BINDING = 2048;
        MQCNO_ACCOUNTING_MQI_ENABLED = 4096;
        MQCNO_ACCOUNTING_MQI_DISABLED = 8192;
        MQCNO_ACCOUNTING_Q_ENABLED = 16384;
        MQCNO_ACCOUNTING_Q_DISABLED = 32768;
        MQCNO_NO_CONV_SHARING = 65536;
        MQCNO_ALL_CONVS_SHARE = 262144;
        MQCNO_CD_FOR_OUTPUT_ONLY = 524288;
        MQCNO_USE_CD_SELECTION = 1048576;
        MQCNO_GENERATE_CONN_TAG = 2097152;
        MQCNO_RECONNECT = 16777216;
        MQCNO_RECONNECT_DISABLED = 33554432;
        MQCNO_RECONNECT_Q_MGR = 67108864;
        MQCNO_ACTIVITY_TRACE_ENABLED = 134217728;
        MQCNO_ACTIVITY_TRACE_DISABLED = 268435456;
    }
    "Authentication type (MQCSP.AuthenticationType)", "MQCSP_" {
        MQCSP_AUTH_NONE = 0;
        MQCSP_AUTH_USER_ID_AND_PWD = 1;
        MQCSP_AUTH_ID_TOKEN = 2;
    }
    "Connection handle value", "MQHC_" {
        MQHC_UNASSOCIATED_HCONN = -3;
        MQHC_UNUSABLE_HCONN = -1;
        MQHC_DEF_HCONN = 0;
    }
    "Object handle value", "MQHO_" {
        MQHO_UNUSABLE_HOBJ = -1;
        MQHO_NONE = 0;
    }
    "Open option (MQOPEN)", "MQOO_" {
        MQOO_BIND_AS_Q_DEF = 0;
        MQOO_READ_AHEAD_AS_Q_DEF = 0;
        MQOO_INPUT_AS_Q_DEF = 1;
        MQOO_INPUT_SHARED = 2;
        MQOO_INPUT_EXCLUSIVE = 4;
        MQOO_BROWSE = 8;
        MQOO_OUTPUT = 16;
        MQOO_INQUIRE = 32;
        MQOO_SET = 64;
        MQOO_SAVE_ALL_CONTEXT = 128;
        MQOO_PASS_IDENTITY_CONTEXT = 256;
        MQOO_PASS_ALL_CONTEXT = 512;
        MQOO_SET_IDENTITY_CONTEXT = 1024;
        MQOO_SET_ALL_CONTEXT = 2048;
        MQOO_ALTERNATE_USER_AUTHORITY = 4096;
        MQOO_FAIL_IF_QUIESCING = 8192;
        MQOO_BIND_ON_OPEN = 16384;
        MQOO_BIND_NOT_FIXED = 32768;
        MQOO_RESOLVE_NAMES = 65536;
        MQOO_CO_OP = 131072;
        MQOO_RESOLVE_LOCAL_Q = 262144;
        MQOO_RESOLVE_LOCAL_TOPIC = 262144;
        MQOO_NO_READ_AHEAD = 524288;
        MQOO_READ_AHEAD = 1048576;
        MQOO_NO_MULTICAST = 2097152;
        MQOO_BIND_ON_GROUP = 4194304;
    }
    "Close option (MQCLOSE)", "MQCO_" {
        MQCO_IMMEDIATE = 0;
        MQCO_NONE = 0;
        MQCO_DELETE = 1;
        MQCO_DELETE_PURGE = 2;
        MQCO_KEEP_SUB = 4;
        MQCO_REMOVE_SUB = 8;
        MQCO_QUIESCE = 32;
    }
    "Put option (MQPMO.Options)", "MQPMO_" {
        MQPMO_NONE = 0;
        MQPMO_RESPONSE_AS_Q_DEF = 0;
        MQPMO_RESPONSE_AS_TOPIC_DEF = 0;
        MQPMO_SYNCPOINT = 2;
        MQPMO_NO_SYNCPOINT = 4;
        MQPMO_DEFAULT_CONTEXT = 32;
        MQPMO_NEW_MSG_ID = 64;
        MQPMO_NEW_CORREL_ID = 128;
        MQPMO_PASS_IDENTITY_CONTEXT = 256;
        MQPMO_PASS_ALL_CONTEXT = 512;
        MQPMO_SET_IDENTITY_CONTEXT = 1024;
        MQPMO_SET_ALL_CONTEXT = 2048;
        MQPMO_ALTERNATE_USER_AUTHORITY = 4096;
        MQPMO_FAIL_IF_QUIESCING = 8192;
        MQPMO_NO_CONTEXT = 16384;
        MQPMO_LOGICAL_ORDER = 32768;
        MQPMO_ASYNC_RESPONSE = 65536;
        MQPMO_SYNC_RESPONSE = 131072;
        MQPMO_RESOLVE_LOCAL_Q = 262144;
        MQPMO_WARN_IF_NO_SUBS_MATCHED = 524288;
        MQPMO_PUB_OPTIONS_MASK = 2097152;
        MQPMO_RETAIN = 2097152;
        MQPMO_MD_FOR_OUTPUT_ONLY = 8388608;
        MQPMO_SCOPE_QMGR = 67108864;
        MQPMO_SUPPRESS_REPLYTO = 134217728;
        MQPMO_NOT_OWN_SUBS = 268435456;
    }
    "Put message record field (MQPMO.PutMsgRecFields)", "MQPMRF_" {
        MQPMRF_NONE = 0;
        MQPMRF_MSG_ID = 1;
        MQPMRF_CORREL_ID = 2;
        MQPMRF_GROUP_ID = 4;
        MQPMRF_FEEDBACK = 8;
        MQPMRF_ACCOUNTING_TOKEN = 16;
    }
    "Put action (MQPMO.Action)", "MQACTP_" {
        MQACTP_NEW = 0;
        MQACTP_FORWARD = 1;
        MQACTP_REPLY = 2;
        MQACTP_REPORT = 3;
    }
    "Get option (MQGMO.Options)", "MQGMO_" {
        MQGMO_NONE = 0;
        MQGMO_NO_WAIT = 0;
        MQGMO_PROPERTIES_AS_Q_DEF = 0;
        MQGMO_WAIT = 1;
        MQGMO_SYNCPOINT = 2;
        MQGMO_NO_SYNCPOINT = 4;
        MQGMO_SET_SIGNAL = 8;
        MQGMO_BROWSE_FIRST = 16;
        MQGMO_BROWSE_NEXT = 32;
        MQGMO_ACCEPT_TRUNCATED_MSG = 64;
        MQGMO_MARK_SKIP_BACKOUT = 128;
        MQGMO_MSG_UNDER_CURSOR = 256;
        MQGMO_LOCK = 512;
        MQGMO_UNLOCK = 1024;
        MQGMO_BROWSE_MSG_UNDER_CURSOR = 2048;
        MQGMO_SYNCPOINT_IF_PERSISTENT = 4096;
        MQGMO_FAIL_IF_QUIESCING = 8192;
        MQGMO_CONVERT = 16384;
        MQGMO_LOGICAL_ORDER = 32768;
        MQGMO_COMPLETE_MSG = 65536;
        MQGMO_ALL_MSGS_AVAILABLE = 131072;
        MQGMO_ALL_SEGMENTS_AVAILABLE = 262144;
        MQGMO_MARK_BROWSE_HANDLE = 1048576;
        MQGMO_MARK_BROWSE_CO_OP = 2097152;
        MQGMO_UNMARK_BROWSE_CO_OP = 4194304;
        MQGMO_UNMARK_BROWSE_HANDLE = 8388608;
        MQGMO_UNMARKED_BROWSE_MSG = 16777216;
        MQGMO_BROWSE_HANDLE = 17825808;
        MQGMO_BROWSE_CO_OP = 18874384;
        MQGMO_PROPERTIES_FORCE_MQRFH2 = 33554432;
        MQGMO_NO_PROPERTIES = 67108864;
        MQGMO_PROPERTIES_IN_HANDLE = 134217728;
        MQGMO_PROPERTIES_COMPATIBILITY = 268435456;
    }
    "Match option (MQGMO.MatchOptions)", "MQMO_" {
        MQMO_NONE = 0;
        MQMO_MATCH_MSG_ID = 1;
        MQMO_MATCH_CORREL_ID = 2;
        MQMO_MATCH_GROUP_ID = 4;
        MQMO_MATCH_MSG_SEQ_NUMBER = 8;
        MQMO_MATCH_OFFSET = 16;
        MQMO_MATCH_MSG_TOKEN = 32;
    }
    "Wait interval (MQGMO.WaitInterval)", "MQWI_" {
        MQWI_UNLIMITED = -1;
    }
    "Returned length (MQGMO.ReturnedLength)", "MQRL_" {
        MQRL_UNDEFINED = -1;
    }
    "Message type (MQMD.MsgType)", "MQMT_" {
        MQMT_REQUEST = 1;
        MQMT_SYSTEM_FIRST = 1;
        MQMT_REPLY = 2;
        MQMT_REPORT = 4;
        MQMT_DATAGRAM = 8;
        MQMT_MQE_FIELDS_FROM_MQE = 112;
        MQMT_MQE_FIELDS = 113;
        MQMT_SYSTEM_LAST = 65535;
        MQMT_APPL_FIRST = 65536;
        MQMT_APPL_LAST = 999999999;
    }
    "Expiry (MQMD.Expiry)", "MQEI_" {
        MQEI_UNLIMITED = -1;
    }
    "Persistence (MQMD.Persistence)", "MQPER_" {
        MQPER_PERSISTENCE_AS_PARENT = -1;
        MQPER_NOT_PERSISTENT = 0;
        MQPER_PERSISTENT = 1;
        MQPER_PERSISTENCE_AS_Q_DEF = 2;
        MQPER_PERSISTENCE_AS_TOPIC_DEF = 2;
    }
    "Priority (MQMD.Priority)", "MQPRI_" {
        MQPRI_PRIORITY_AS_PUBLISHED = -3;
        MQPRI_PRIORITY_AS_PARENT = -2;
        MQPRI_PRIORITY_AS_Q_DEF = -1;
        MQPRI_PRIORITY_AS_TOPIC_DEF = -1;
    }
    "Report option (MQMD.Report)", "MQRO_" {
        MQRO_ACCEPT_UNSUP_MASK = -270532353;
        MQRO_COPY_MSG_ID_TO_CORREL_ID = 0;
        MQRO_DEAD_LETTER_Q = 0;
        MQRO_NEW_MSG_ID = 0;
        MQRO_NONE = 0;
        MQRO_PAN = 1;
        MQRO_NAN = 2;
        MQRO_ACTIVITY = 4;
        MQRO_PASS_CORREL_ID = 64;
        MQRO_PASS_MSG_ID = 128;
        MQRO_COA = 256;
        MQRO_COA_WITH_DATA = 768;
        MQRO_COA_WITH_FULL_DATA = 1792;
        MQRO_COD = 2048;
        MQRO_COD_WITH_DATA = 6144;
        MQRO_COD_WITH_FULL_DATA = 14336;
        MQRO_PASS_DISCARD_AND_EXPIRY = 16384;
        MQRO_ACCEPT_UNSUP_IF_XMIT_MASK = 261888;
        MQRO_EXPIRATION = 2097152;
        MQRO_EXPIRATION_WITH_DATA = 6291456;
        MQRO_EXPIRATION_WITH_FULL_DATA = 14680064;
        MQRO_EXCEPTION = 16777216;
        MQRO_EXCEPTION_WITH_DATA = 50331648;
        MQRO_EXCEPTION_WITH_FULL_DATA = 117440512;
        MQRO_DISCARD_MSG = 134217728;
        MQRO_REJECT_UNSUP_MASK = 270270464;
    }
    "Feedback code (MQMD.Feedback)", "MQFB_" {
        MQFB_NONE = 0;
        MQFB_SYSTEM_FIRST = 1;
        MQFB_QUIT = 256;
        MQFB_EXPIRATION = 258;
        MQFB_COA = 259;
        MQFB_COD = 260;
        MQFB_CHANNEL_COMPLETED = 262;
        MQFB_CHANNEL_FAIL_RETRY = 263;
        MQFB_CHANNEL_FAIL = 264;
        MQFB_APPL_CANNOT_BE_STARTED = 265;
        MQFB_TM_ERROR = 266;
        MQFB_APPL_TYPE_ERROR = 267;
        MQFB_STOPPED_BY_MSG_EXIT = 268;
        MQFB_ACTIVITY = 269;
        MQFB_XMIT_Q_MSG_ERROR = 271;
        MQFB_PAN = 275;
        MQFB_NAN = 276;
        MQFB_STOPPED_BY_CHAD_EXIT = 277;
        MQFB_STOPPED_BY_PUBSUB_EXIT = 279;
        MQFB_NOT_A_REPOSITORY_MSG = 280;
        MQFB_BIND_OPEN_CLUSRCVR_DEL = 281;
        MQFB_MAX_ACTIVITIES = 282;
        MQFB_NOT_FORWARDED = 283;
        MQFB_NOT_DELIVERED = 284;
        MQFB_UNSUPPORTED_FORWARDING = 285;
        MQFB_UNSUPPORTED_DELIVERY = 286;
        MQFB_DATA_LENGTH_ZERO = 291;
        MQFB_DATA_LENGTH_NEGATIVE = 292;
        MQFB_DATA_LENGTH_TOO_BIG = 293;
        MQFB_BUFFER_OVERFLOW = 294;
        MQFB_IIH_ERROR = 296;
        MQFB_NOT_AUTHORIZED_FOR_IMS = 298;
        MQFB_DATA_LENGTH_TOO_SHORT = 299;
        MQFB_IMS_ERROR = 300;
        MQFB_IMS_FIRST = 301;
        MQFB_IMS_LAST = 399;
        MQFB_CICS_INTERNAL_ERROR = 401;
        MQFB_CICS_NOT_AUTHORIZED = 402;
        MQFB_CICS_BRIDGE_FAILURE = 403;
        MQFB_CICS_CORREL_ID_ERROR = 404;
        MQFB_CICS_CCSID_ERROR = 405;
        MQFB_CICS_ENCODING_ERROR = 406;
        MQFB_CICS_CIH_ERROR = 407;
        MQFB_CICS_UOW_ERROR = 408;
        MQFB_CICS_COMMAREA_ERROR = 409;
        MQFB_CICS_APPL_NOT_STARTED = 410;
        MQFB_CICS_APPL_ABENDED = 411;
        MQFB_CICS_DLQ_ERROR = 412;
        MQFB_CICS_UOW_BACKED_OUT = 413;
        MQFB_PUBLICATIONS_ON_REQUEST = 501;
        MQFB_SUBSCRIBER_IS_PUBLISHER = 502;
        MQFB_MSG_SCOPE_MISMATCH = 503;
        MQFB_SELECTOR_MISMATCH = 504;
        MQFB_NOT_A_GROUPUR_MSG = 505;
        MQFB_IMS_NACK_1A_REASON_FIRST = 600;
        MQFB_IMS_NACK_1A_REASON_LAST = 855;
        MQFB_SYSTEM_LAST = 65535;
        MQFB_APPL_FIRST = 65536;
        MQFB_APPL_LAST = 999999999;
    }
    "Encoding (MQMD.Encoding)", "MQENC_" {
        MQENC_RESERVED_MASK = -4096;
        MQENC_AS_PUBLISHED = -1;
        MQENC_DECIMAL_UNDEFINED = 0;
        MQENC_FLOAT_UNDEFINED = 0;
        MQENC_INTEGER_UNDEFINED = 0;
        MQENC_INTEGER_NORMAL = 1;
        MQENC_INTEGER_REVERSED = 2;
        MQENC_INTEGER_MASK = 15;
        MQENC_DECIMAL_NORMAL = 16;
        MQENC_DECIMAL_REVERSED = 32;
        MQENC_DECIMAL_MASK = 240;
        MQENC_FLOAT_IEEE_NORMAL = 256;
        MQENC_NORMAL = 273;
        MQENC_FLOAT_IEEE_REVERSED = 512;
        MQENC_REVERSED = 546;
        MQENC_FLOAT_S390 = 768;
        MQENC_S390 = 785;
        MQENC_FLOAT_TNS = 1024;
        MQENC_TNS = 1041;
        MQENC_FLOAT_MASK = 3840;
    }
    "Coded character set identifier", "MQCCSI_" {
        MQCCSI_AS_PUBLISHED = -4;
        MQCCSI_APPL = -3;
        MQCCSI_INHERIT = -2;
        MQCCSI_EMBEDDED = -1;
        MQCCSI_DEFAULT = 0;
        MQCCSI_Q_MGR = 0;
        MQCCSI_UNDEFINED = 0;
    }
    "Message flag (MQMD.MsgFlags)", "MQMF_" {
        MQMF_ACCEPT_UNSUP_MASK = -1048576;
        MQMF_NONE = 0;
        MQMF_SEGMENTATION_INHIBITED = 0;
        MQMF_SEGMENTATION_ALLOWED = 1;
        MQMF_SEGMENT = 2;
        MQMF_LAST_SEGMENT = 4;
        MQMF_MSG_IN_GROUP = 8;
        MQMF_LAST_MSG_IN_GROUP = 16;
        MQMF_REJECT_UNSUP_MASK = 4095;
        MQMF_ACCEPT_UNSUP_IF_XMIT_MASK = 1044480;
    }
    "Original length (MQMD.OriginalLength)", "MQOL_" {
        MQOL_UNDEFINED = -1;
    }
    "Flag of MQMDE", "MQMDEF_" {
        MQMDEF_NONE = 0;
    }
    "Flag of MQRFH and MQRFH2", "MQRFH_" {
        MQRFH_FLAGS_RESTRICTED_MASK = -65536;
        MQRFH_NONE = 0;
        MQRFH_NO_FLAGS = 0;
        MQRFH_STRUC_LENGTH_FIXED = 32;
        MQRFH_STRUC_LENGTH_FIXED_2 = 36;
    }
    "Length of a variable-length string (MQCHARV.VSLength)", "MQVS_" {
        MQVS_NULL_TERMINATED = -1;
    }
    "Status type (MQSTAT)", "MQSTAT_" {
        MQSTAT_TYPE_ASYNC_ERROR = 0;
        MQSTAT_TYPE_RECONNECTION = 1;
        MQSTAT_TYPE_RECONNECTION_ERROR = 2;
    }
    "Subscription option (MQSD.Options)", "MQSO_" {
        MQSO_NONE = 0;
        MQSO_NON_DURABLE = 0;
        MQSO_READ_AHEAD_AS_Q_DEF = 0;
        MQSO_ALTER = 1;
        MQSO_CREATE = 2;
        MQSO_RESUME = 4;
        MQSO_DURABLE = 8;
        MQSO_GROUP_SUB = 16;
        MQSO_MANAGED = 32;
        MQSO_SET_IDENTITY_CONTEXT = 64;
        MQSO_NO_MULTICAST = 128;
        MQSO_FIXED_USERID = 256;
        MQSO_ANY_USERID = 512;
        MQSO_PUBLICATIONS_ON_REQUEST = 2048;
        MQSO_NEW_PUBLICATIONS_ONLY = 4096;
        MQSO_FAIL_IF_QUIESCING = 8192;
        MQSO_ALTERNATE_USER_AUTHORITY = 262144;
        MQSO_WILDCARD_CHAR = 1048576;
        MQSO_WILDCARD_TOPIC = 2097152;
        MQSO_SET_CORREL_ID = 4194304;
        MQSO_SCOPE_QMGR = 67108864;
        MQSO_NO_READ_AHEAD = 134217728;
        MQSO_READ_AHEAD = 268435456;
    }
    "Subscription request action (MQSUBRQ)", "MQSR_" {
        MQSR_ACTION_PUBLICATION = 1;
    }
    "Subscription request option", "MQSRO_" {
        MQSRO_NONE = 0;
        MQSRO_FAIL_IF_QUIESCING = 8192;
    }
    "Callback operation (MQCB, MQCTL)", "MQOP_" {
        MQOP_START = 1;
        MQOP_START_WAIT = 2;
        MQOP_STOP = 4;
        MQOP_REGISTER = 256;
        MQOP_DEREGISTER = 512;
        MQOP_SUSPEND = 65536;
        MQOP_RESUME = 131072;
    }
    "Callback type", "MQCBT_" {
        MQCBT_MESSAGE_CONSUMER = 1;
        MQCBT_EVENT_HANDLER = 2;
    }
    "Callback descriptor option", "MQCBDO_" {
        MQCBDO_NONE = 0;
        MQCBDO_START_CALL = 1;
        MQCBDO_STOP_CALL = 4;
        MQCBDO_REGISTER_CALL = 256;
        MQCBDO_DEREGISTER_CALL = 512;
        MQCBDO_FAIL_IF_QUIESCING = 8192;
        MQCBDO_EVENT_CALL = 16384;
        MQCBDO_MC_EVENT_CALL = 32768;
    }
    "Callback call type", "MQCBCT_" {
        MQCBCT_START_CALL = 1;
        MQCBCT_STOP_CALL = 2;
        MQCBCT_REGISTER_CALL = 3;
        MQCBCT_DEREGISTER_CALL = 4;
        MQCBCT_EVENT_CALL = 5;
        MQCBCT_MSG_REMOVED = 6;
        MQCBCT_MSG_NOT_REMOVED = 7;
        MQCBCT_MC_EVENT_CALL = 8;
    }
    "Control option (MQCTL)", "MQCTLO_" {
        MQCTLO_NONE = 0;
        MQCTLO_THREAD_AFFINITY = 1;
        MQCTLO_FAIL_IF_QUIESCING = 8192;
    }
    "Begin option (MQBEGIN)", "MQBO_" {
        MQBO_NONE = 0;
    }
    "Create message handle option", "MQCMHO_" {
        MQCMHO_DEFAULT_VALIDATION = 0;
        MQCMHO_NONE = 0;
        MQCMHO_NO_VALIDATION = 1;
        MQCMHO_VALIDATE = 2;
    }
    "Delete message handle option", "MQDMHO_" {
        MQDMHO_NONE = 0;
    }
    "Property descriptor value", "MQPD_" {
        MQPD_REJECT_UNSUP_MASK = -1048576;
        MQPD_NONE = 0;
        MQPD_NO_CONTEXT = 0;
        MQPD_SUPPORT_OPTIONAL = 1;
        MQPD_USER_CONTEXT = 1;
        MQPD_ACCEPT_UNSUP_MASK = 1023;
        MQPD_SUPPORT_REQUIRED_IF_LOCAL = 1024;
        MQPD_ACCEPT_UNSUP_IF_XMIT_MASK = 1047552;
        MQPD_SUPPORT_REQUIRED = 1048576;
    }
    "Set property option", "MQSMPO_" {
        MQSMPO_NONE = 0;
        MQSMPO_SET_FIRST = 0;
        MQSMPO_SET_PROP_UNDER_CURSOR = 1;
        MQSMPO_SET_PROP_AFTER_CURSOR = 2;
        MQSMPO_APPEND_PROPERTY = 4;
        MQSMPO_SET_PROP_BEFORE_CURSOR = 8;
    }
    "Inquire property option", "MQIMPO_" {
        MQIMPO_INQ_FIRST = 0;
        MQIMPO_NONE = 0;
        MQIMPO_CONVERT_TYPE = 2;
        MQIMPO_QUERY_LENGTH = 4;
        MQIMPO_INQ_NEXT = 8;
        MQIMPO_INQ_PROP_UNDER_CURSOR = 16;
        MQIMPO_CONVERT_VALUE = 32;
    }
    "Property data type", "MQTYPE_" {
        MQTYPE_AS_SET = 0;
        MQTYPE_NULL = 2;
        MQTYPE_BOOLEAN = 4;
        MQTYPE_BYTE_STRING = 8;
        MQTYPE_INT8 = 16;
        MQTYPE_INT16 = 32;
        MQTYPE_INT32 = 64;
        MQTYPE_LONG = 64;
        MQTYPE_INT64 = 128;
        MQTYPE_FLOAT32 = 256;
        MQTYPE_FLOAT64 = 512;
        MQTYPE_STRING = 1024;
    }
    "Property copy option", "MQCOPY_" {
        MQCOPY_NONE = 0;
        MQCOPY_ALL = 1;
        MQCOPY_FORWARD = 2;
        MQCOPY_PUBLISH = 4;
        MQCOPY_REPLY = 8;
        MQCOPY_REPORT = 16;
        MQCOPY_DEFAULT = 22;
    }
    "Application type (MQMD.PutApplType)", "MQAT_" {
        MQAT_UNKNOWN = -1;
        MQAT_NO_CONTEXT = 0;
        MQAT_CICS = 1;
        MQAT_MVS = 2;
        MQAT_OS390 = 2;
        MQAT_ZOS = 2;
        MQAT_IMS = 3;
        MQAT_OS2 = 4;
        MQAT_DOS = 5;
        MQAT_AIX = 6;
        MQAT_UNIX = 6;
        MQAT_QMGR = 7;
        MQAT_OS400 = 8;
        MQAT_WINDOWS = 9;
        MQAT_CICS_VSE = 10;
        MQAT_WINDOWS_NT = 11;
        MQAT_VMS = 12;
        MQAT_GUARDIAN = 13;
        MQAT_NSK = 13;
        MQAT_VOS = 14;
        MQAT_OPEN_TP1 = 15;
        MQAT_VM = 18;
        MQAT_IMS_BRIDGE = 19;
        MQAT_XCF = 20;
        MQAT_CICS_BRIDGE = 21;
        MQAT_NOTES_AGENT = 22;
        MQAT_TPF = 23;
        MQAT_USER = 25;
        MQAT_BROKER = 26;
        MQAT_QMGR_PUBLISH = 26;
        MQAT_JAVA = 28;
        MQAT_DQM = 29;
        MQAT_CHANNEL_INITIATOR = 30;
        MQAT_WLM = 31;
        MQAT_BATCH = 32;
        MQAT_RRS_BATCH = 33;
        MQAT_SIB = 34;
        MQAT_SYSTEM_EXTENSION = 35;
        MQAT_MCAST_PUBLISH = 36;
        MQAT_AMQP = 37;
        MQAT_USER_FIRST = 65536;
        MQAT_USER_LAST = 999999999;
    }
    "How an application disconnected", "MQDISCONNECT_" {
        MQDISCONNECT_NORMAL = 0;
        MQDISCONNECT_IMPLICIT = 1;
        MQDISCONNECT_Q_MGR = 2;
    }
}
