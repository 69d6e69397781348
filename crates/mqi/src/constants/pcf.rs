//! Programmable command format: structure types, commands and their answers.
//!
//! A pure table: names and numbers are those of the MQ Interface (MQ reference,
//! "Constants"), in the order of the numbers.

use super::Family;

families! {
    "Structure type (MQCFH.Type and the parameter structures)", "MQCFT_" {
        MQCFT_NONE = 0;
        MQCFT_COMMAND = 1;
        MQCFT_RESPONSE = 2;
        MQCFT_INTEGER = 3;
        MQCFT_STRING = 4;
        MQCFT_INTEGER_LIST = 5;
        MQCFT_STRING_LIST = 6;
        MQCFT_EVENT = 7;
        MQCFT_USER = 8;
        MQCFT_BYTE_STRING = 9;
        MQCFT_TRACE_ROUTE = 10;
        MQCFT_REPORT = 12;
        MQCFT_INTEGER_FILTER = 13;
        MQCFT_STRING_FILTER = 14;
        MQCFT_BYTE_STRING_FILTER = 15;
        MQCFT_COMMAND_XR = 16;
        MQCFT_XR_MSG = 17;
        MQCFT_XR_ITEM = 18;
        MQCFT_XR_SUMMARY = 19;
        MQCFT_GROUP = 20;
        MQCFT_STATISTICS = 21;
        MQCFT_ACCOUNTING = 22;
        MQCFT_INTEGER64 = 23;
        MQCFT_INTEGER64_LIST = 25;
        MQCFT_APP_ACTIVITY = 26;
        MQCFT_STATUS = 27;
    }
    "Version and length of MQCFH", "MQCFH_" {
        MQCFH_VERSION_1 = 1;
        MQCFH_VERSION_2 = 2;
        MQCFH_CURRENT_VERSION = 3;
        MQCFH_VERSION_3 = 3;
        MQCFH_STRUC_LENGTH = 36;
    }
    "Control option (MQCFH.Control)", "MQCFC_" {
        MQCFC_NOT_LAST = 0;
        MQCFC_LAST = 1;
    }
    "Filter operator", "MQCFOP_" {
        MQCFOP_LESS = 1;
        MQCFOP_EQUAL = 2;
        MQCFOP_NOT_GREATER = 3;
        MQCFOP_GREATER = 4;
        MQCFOP_NOT_EQUAL = 5;
        MQCFOP_NOT_LESS = 6;
        MQCFOP_CONTAINS = 10;
        MQCFOP_EXCLUDES = 13;
        MQCFOP_LIKE = 18;
        MQCFOP_NOT_LIKE = 21;
        MQCFOP_CONTAINS_GEN = 26;
        MQCFOP_EXCLUDES_GEN = 29;
    }
    "Command option", "MQCFO_" {
        MQCFO_REFRESH_REPOSITORY_NO = 0;
        MQCFO_REMOVE_QUEUES_NO = 0;
        MQCFO_REFRESH_REPOSITORY_YES = 1;
        MQCFO_REMOVE_QUEUES_YES = 1;
    }
    "Replace option", "MQCFR_" {
        MQCFR_NO = 0;
        MQCFR_YES = 1;
    }
    "Escape type", "MQET_" {
        MQET_MQSC = 1;
    }
    "Fixed length of a byte string parameter", "MQCFBS_" {
        MQCFBS_STRUC_LENGTH_FIXED = 16;
    }
    "Length of a group parameter", "MQCFGR_" {
        MQCFGR_STRUC_LENGTH = 16;
    }
    "Length of an integer filter parameter", "MQCFIF_" {
        MQCFIF_STRUC_LENGTH = 20;
    }
    "Fixed length of an integer list parameter", "MQCFIL_" {
        MQCFIL_STRUC_LENGTH_FIXED = 16;
    }
    "Fixed length of a 64-bit integer list parameter", "MQCFIL64_" {
        MQCFIL64_STRUC_LENGTH_FIXED = 16;
    }
    "Length of an integer parameter", "MQCFIN_" {
        MQCFIN_STRUC_LENGTH = 16;
    }
    "Length of a 64-bit integer parameter", "MQCFIN64_" {
        MQCFIN64_STRUC_LENGTH = 24;
    }
    "Fixed length of a string filter parameter", "MQCFSF_" {
        MQCFSF_STRUC_LENGTH_FIXED = 24;
    }
    "Fixed length of a string list parameter", "MQCFSL_" {
        MQCFSL_STRUC_LENGTH_FIXED = 24;
    }
    "Fixed length of a string parameter", "MQCFST_" {
        MQCFST_STRUC_LENGTH_FIXED = 20;
    }
    "Command identifier (MQCFH.Command)", "MQCMD_" {
        MQCMD_NONE = 0;
        MQCMD_CHANGE_Q_MGR = 1;
        MQCMD_INQUIRE_Q_MGR = 2;
        MQCMD_CHANGE_PROCESS = 3;
        MQCMD_COPY_PROCESS = 4;
        MQCMD_CREATE_PROCESS = 5;
        MQCMD_DELETE_PROCESS = 6;
        MQCMD_INQUIRE_PROCESS = 7;
        MQCMD_CHANGE_Q = 8;
        MQCMD_CLEAR_Q = 9;
        MQCMD_COPY_Q = 10;
        MQCMD_CREATE_Q = 11;
        MQCMD_DELETE_Q = 12;
        MQCMD_INQUIRE_Q = 13;
        MQCMD_REFRESH_Q_MGR = 16;
        MQCMD_RESET_Q_STATS = 17;
        MQCMD_INQUIRE_Q_NAMES = 18;
        MQCMD_INQUIRE_PROCESS_NAMES = 19;
        MQCMD_INQUIRE_CHANNEL_NAMES = 20;
        MQCMD_CHANGE_CHANNEL = 21;
        MQCMD_COPY_CHANNEL = 22;
        MQCMD_CREATE_CHANNEL = 23;
        MQCMD_DELETE_CHANNEL = 24;
        MQCMD_INQUIRE_CHANNEL = 25;
        MQCMD_PING_CHANNEL = 26;
        MQCMD_RESET_CHANNEL = 27;
        MQCMD_START_CHANNEL = 28;
        MQCMD_STOP_CHANNEL = 29;
        MQCMD_START_CHANNEL_INIT = 30;
        MQCMD_START_CHANNEL_LISTENER = 31;
        MQCMD_CHANGE_NAMELIST = 32;
        MQCMD_COPY_NAMELIST = 33;
        MQCMD_CREATE_NAMELIST = 34;
        MQCMD_DELETE_NAMELIST = 35;
        MQCMD_INQUIRE_NAMELIST = 36;
        MQCMD_INQUIRE_NAMELIST_NAMES = 37;
        MQCMD_ESCAPE = 38;
        MQCMD_RESOLVE_CHANNEL = 39;
        MQCMD_PING_Q_MGR = 40;
        MQCMD_INQUIRE_Q_STATUS = 41;
        MQCMD_INQUIRE_CHANNEL_STATUS = 42;
        MQCMD_CONFIG_EVENT = 43;
        MQCMD_Q_MGR_EVENT = 44;
        MQCMD_PERFM_EVENT = 45;
        MQCMD_CHANNEL_EVENT = 46;
        MQCMD_DELETE_PUBLICATION = 60;
        MQCMD_DEREGISTER_PUBLISHER = 61;
        MQCMD_DEREGISTER_SUBSCRIBER = 62;
        MQCMD_PUBLISH = 63;
        MQCMD_REGISTER_PUBLISHER = 64;
        MQCMD_REGISTER_SUBSCRIBER = 65;
        MQCMD_REQUEST_UPDATE = 66;
        MQCMD_BROKER_INTERNAL = 67;
        MQCMD_ACTIVITY_MSG = 69;
        MQCMD_INQUIRE_CLUSTER_Q_MGR = 70;
        MQCMD_RESUME_Q_MGR_CLUSTER = 71;
        MQCMD_SUSPEND_Q_MGR_CLUSTER = 72;
        MQCMD_REFRESH_CLUSTER = 73;
        MQCMD_RESET_CLUSTER = 74;
        MQCMD_TRACE_ROUTE = 75;
        MQCMD_REFRESH_SECURITY = 78;
        MQCMD_CHANGE_AUTH_INFO = 79;
        MQCMD_COPY_AUTH_INFO = 80;
        MQCMD_CREATE_AUTH_INFO = 81;
        MQCMD_DELETE_AUTH_INFO = 82;
        MQCMD_INQUIRE_AUTH_INFO = 83;
        MQCMD_INQUIRE_AUTH_INFO_NAMES = 84;
        MQCMD_INQUIRE_CONNECTION = 85;
        MQCMD_STOP_CONNECTION = 86;
        MQCMD_INQUIRE_AUTH_RECS = 87;
        MQCMD_INQUIRE_ENTITY_AUTH = 88;
        MQCMD_DELETE_AUTH_REC = 89;
        MQCMD_SET_AUTH_REC = 90;
        MQCMD_LOGGER_EVENT = 91;
        MQCMD_RESET_Q_MGR = 92;
        MQCMD_CHANGE_LISTENER = 93;
        MQCMD_COPY_LISTENER = 94;
        MQCMD_CREATE_LISTENER = 95;
        MQCMD_DELETE_LISTENER = 96;
        MQCMD_INQUIRE_LISTENER = 97;
        MQCMD_INQUIRE_LISTENER_STATUS = 98;
        MQCMD_COMMAND_EVENT = 99;
        MQCMD_CHANGE_SECURITY = 100;
        MQCMD_CHANGE_CF_STRUC = 101;
        MQCMD_CHANGE_STG_CLASS = 102;
        MQCMD_CHANGE_TRACE = 103;
        MQCMD_ARCHIVE_LOG = 104;
        MQCMD_BACKUP_CF_STRUC = 105;
        MQCMD_CREATE_BUFFER_POOL = 106;
        MQCMD_CREATE_PAGE_SET = 107;
        MQCMD_CREATE_CF_STRUC = 108;
        MQCMD_CREATE_STG_CLASS = 109;
        MQCMD_COPY_CF_STRUC = 110;
        MQCMD_COPY_STG_CLASS = 111;
        MQCMD_DELETE_CF_STRUC = 112;
        MQCMD_DELETE_STG_CLASS = 113;
        MQCMD_INQUIRE_ARCHIVE = 114;
        MQCMD_INQUIRE_CF_STRUC = 115;
        MQCMD_INQUIRE_CF_STRUC_STATUS = 116;
        MQCMD_INQUIRE_CMD_SERVER = 117;
        MQCMD_INQUIRE_CHANNEL_INIT = 118;
        MQCMD_INQUIRE_QSG = 119;
        MQCMD_INQUIRE_LOG = 120;
        MQCMD_INQUIRE_SECURITY = 121;
        MQCMD_INQUIRE_STG_CLASS = 122;
        MQCMD_INQUIRE_SYSTEM = 123;
        MQCMD_INQUIRE_THREAD = 124;
        MQCMD_INQUIRE_TRACE = 125;
        MQCMD_INQUIRE_USAGE = 126;
        MQCMD_MOVE_Q = 127;
        MQCMD_RECOVER_BSDS = 128;
        MQCMD_RECOVER_CF_STRUC = 129;
        MQCMD_RESET_TPIPE = 130;
        MQCMD_RESOLVE_INDOUBT = 131;
        MQCMD_RESUME_Q_MGR = 132;
        MQCMD_REVERIFY_SECURITY = 133;
        MQCMD_SET_ARCHIVE = 134;
        MQCMD_SET_LOG = 136;
        MQCMD_SET_SYSTEM = 137;
        MQCMD_START_CMD_SERVER = 138;
        MQCMD_START_Q_MGR = 139;
        MQCMD_START_TRACE = 140;
        MQCMD_STOP_CHANNEL_INIT = 141;
        MQCMD_STOP_CHANNEL_LISTENER = 142;
        MQCMD_STOP_CMD_SERVER = 143;
        MQCMD_STOP_Q_MGR = 144;
        MQCMD_STOP_TRACE = 145;
        MQCMD_SUSPEND_Q_MGR = 146;
        MQCMD_INQUIRE_CF_STRUC_NAMES = 147;
        MQCMD_INQUIRE_STG_CLASS_NAMES = 148;
        MQCMD_CHANGE_SERVICE = 149;
        MQCMD_COPY_SERVICE = 150;
        MQCMD_CREATE_SERVICE = 151;
        MQCMD_DELETE_SERVICE = 152;
        MQCMD_INQUIRE_SERVICE = 153;
        MQCMD_INQUIRE_SERVICE_STATUS = 154;
        MQCMD_START_SERVICE = 155;
        MQCMD_STOP_SERVICE = 156;
        MQCMD_DELETE_BUFFER_POOL = 157;
        MQCMD_DELETE_PAGE_SET = 158;
        MQCMD_CHANGE_BUFFER_POOL = 159;
        MQCMD_CHANGE_PAGE_SET = 160;
        MQCMD_INQUIRE_Q_MGR_STATUS = 161;
        MQCMD_CREATE_LOG = 162;
        MQCMD_STATISTICS_MQI = 164;
        MQCMD_STATISTICS_Q = 165;
        MQCMD_STATISTICS_CHANNEL = 166;
        MQCMD_ACCOUNTING_MQI = 167;
        MQCMD_ACCOUNTING_Q = 168;
        MQCMD_INQUIRE_AUTH_SERVICE = 169;
        MQCMD_CHANGE_TOPIC = 170;
        MQCMD_COPY_TOPIC = 171;
        MQCMD_CREATE_TOPIC = 172;
        MQCMD_DELETE_TOPIC = 173;
        MQCMD_INQUIRE_TOPIC = 174;
        MQCMD_INQUIRE_TOPIC_NAMES = 175;
        MQCMD_INQUIRE_SUBSCRIPTION = 176;
        MQCMD_CREATE_SUBSCRIPTION = 177;
        MQCMD_CHANGE_SUBSCRIPTION = 178;
        MQCMD_DELETE_SUBSCRIPTION = 179;
        MQCMD_COPY_SUBSCRIPTION = 181;
        MQCMD_INQUIRE_SUB_STATUS = 182;
        MQCMD_INQUIRE_TOPIC_STATUS = 183;
        MQCMD_CLEAR_TOPIC_STRING = 184;
        MQCMD_INQUIRE_PUBSUB_STATUS = 185;
        MQCMD_INQUIRE_SMDS = 186;
        MQCMD_CHANGE_SMDS = 187;
        MQCMD_RESET_SMDS = 188;
        MQCMD_CREATE_COMM_INFO = 190;
        MQCMD_INQUIRE_COMM_INFO = 191;
        MQCMD_CHANGE_COMM_INFO = 192;
        MQCMD_COPY_COMM_INFO = 193;
        MQCMD_DELETE_COMM_INFO = 194;
        MQCMD_PURGE_CHANNEL = 195;
        MQCMD_MQXR_DIAGNOSTICS = 196;
        MQCMD_START_SMDSCONN = 197;
        MQCMD_STOP_SMDSCONN = 198;
        MQCMD_INQUIRE_SMDSCONN = 199;
        MQCMD_INQUIRE_MQXR_STATUS = 200;
        MQCMD_START_CLIENT_TRACE = 201;
        MQCMD_STOP_CLIENT_TRACE = 202;
        MQCMD_SET_CHLAUTH_REC = 203;
        MQCMD_INQUIRE_CHLAUTH_RECS = 204;
        MQCMD_INQUIRE_PROT_POLICY = 205;
        MQCMD_CREATE_PROT_POLICY = 206;
        MQCMD_DELETE_PROT_POLICY = 207;
        MQCMD_CHANGE_PROT_POLICY = 208;
        MQCMD_SET_PROT_POLICY = 208;
        MQCMD_ACTIVITY_TRACE = 209;
        MQCMD_RESET_CF_STRUC = 213;
        MQCMD_INQUIRE_XR_CAPABILITY = 214;
        MQCMD_INQUIRE_AMQP_CAPABILITY = 216;
        MQCMD_AMQP_DIAGNOSTICS = 217;
        MQCMD_INTER_Q_MGR_STATUS = 218;
        MQCMD_INTER_Q_MGR_BALANCE = 219;
        MQCMD_INQUIRE_APPL_STATUS = 220;
        MQCMD_INQUIRE_ERROR_LOG = 221;
    }
    "Replace option of define commands", "MQRP_" {
        MQRP_NO = 0;
        MQRP_YES = 1;
    }
    "Purge option of delete commands", "MQPO_" {
        MQPO_NO = 0;
        MQPO_YES = 1;
    }
    "Whether authority records are deleted with their object", "MQRAR_" {
        MQRAR_NO = 0;
        MQRAR_YES = 1;
    }
    "Force option", "MQFC_" {
        MQFC_NO = 0;
        MQFC_YES = 1;
    }
    "Action of Set Channel Authentication Record", "MQACT_" {
        MQACT_ADD = 5;
        MQACT_REPLACE = 6;
        MQACT_REMOVE = 7;
        MQACT_REMOVEALL = 8;
    }
    "Which authority records are asked for", "MQAUTHOPT_" {
        MQAUTHOPT_ENTITY_EXPLICIT = 1;
        MQAUTHOPT_ENTITY_SET = 2;
        MQAUTHOPT_NAME_EXPLICIT = 16;
        MQAUTHOPT_NAME_ALL_MATCHING = 32;
        MQAUTHOPT_NAME_AS_WILDCARD = 64;
    }
    "Type of channel authentication record", "MQCAUT_" {
        MQCAUT_ALL = 0;
        MQCAUT_BLOCKUSER = 1;
        MQCAUT_BLOCKADDR = 2;
        MQCAUT_SSLPEERMAP = 3;
        MQCAUT_ADDRESSMAP = 4;
        MQCAUT_USERMAP = 5;
        MQCAUT_QMGRMAP = 6;
    }
    "Channel table", "MQCHTAB_" {
        MQCHTAB_Q_MGR = 1;
        MQCHTAB_CLNTCONN = 2;
    }
    "Where retained publications are cleared", "MQCLRS_" {
        MQCLRS_LOCAL = 1;
        MQCLRS_GLOBAL = 2;
    }
    "Which channel authentication records are asked for", "MQMATCH_" {
        MQMATCH_GENERIC = 0;
        MQMATCH_RUNCHECK = 1;
        MQMATCH_EXACT = 2;
        MQMATCH_ALL = 3;
    }
    "For what the queues are open whose status is asked for", "MQQSOT_" {
        MQQSOT_ALL = 1;
        MQQSOT_INPUT = 2;
        MQQSOT_OUTPUT = 3;
    }
    "What Refresh Security is about", "MQSECTYPE_" {
        MQSECTYPE_AUTHSERV = 1;
        MQSECTYPE_SSL = 2;
        MQSECTYPE_CLASSES = 3;
        MQSECTYPE_CONNAUTH = 4;
    }
    "Stop mode", "MQMODE_" {
        MQMODE_FORCE = 0;
        MQMODE_QUIESCE = 1;
        MQMODE_TERMINATE = 2;
    }
    "Quiesce option", "MQQO_" {
        MQQO_NO = 0;
        MQQO_YES = 1;
    }
    "Reason qualifier of an event", "MQRQ_" {
        MQRQ_CONN_NOT_AUTHORIZED = 1;
        MQRQ_OPEN_NOT_AUTHORIZED = 2;
        MQRQ_CLOSE_NOT_AUTHORIZED = 3;
        MQRQ_CMD_NOT_AUTHORIZED = 4;
        MQRQ_Q_MGR_STOPPING = 5;
        MQRQ_Q_MGR_QUIESCING = 6;
        MQRQ_CHANNEL_STOPPED_OK = 7;
        MQRQ_CHANNEL_STOPPED_ERROR = 8;
        MQRQ_CHANNEL_STOPPED_RETRY = 9;
        MQRQ_CHANNEL_STOPPED_DISABLED = 10;
        MQRQ_BRIDGE_STOPPED_OK = 11;
        MQRQ_BRIDGE_STOPPED_ERROR = 12;
        MQRQ_SSL_HANDSHAKE_ERROR = 13;
        MQRQ_SSL_CIPHER_SPEC_ERROR = 14;
        MQRQ_SSL_CLIENT_AUTH_ERROR = 15;
        MQRQ_SSL_PEER_NAME_ERROR = 16;
        MQRQ_SUB_NOT_AUTHORIZED = 17;
        MQRQ_SUB_DEST_NOT_AUTHORIZED = 18;
        MQRQ_SSL_UNKNOWN_REVOCATION = 19;
        MQRQ_SYS_CONN_NOT_AUTHORIZED = 20;
        MQRQ_CHANNEL_BLOCKED_ADDRESS = 21;
        MQRQ_CHANNEL_BLOCKED_USERID = 22;
        MQRQ_CHANNEL_BLOCKED_NOACCESS = 23;
        MQRQ_MAX_ACTIVE_CHANNELS = 24;
        MQRQ_MAX_CHANNELS = 25;
        MQRQ_SVRCONN_INST_LIMIT = 26;
        MQRQ_CLIENT_INST_LIMIT = 27;
        MQRQ_CAF_NOT_INSTALLED = 28;
        MQRQ_CSP_NOT_AUTHORIZED = 29;
        MQRQ_FAILOVER_PERMITTED = 30;
        MQRQ_FAILOVER_NOT_PERMITTED = 31;
        MQRQ_STANDBY_ACTIVATED = 32;
        MQRQ_REPLICA_ACTIVATED = 33;
        MQRQ_CONN_AUTHORIZED = 65;
        MQRQ_OPEN_AUTHORIZED = 66;
        MQRQ_SUB_AUTHORIZED = 67;
        MQRQ_SUB_DEST_AUTHORIZED = 68;
    }
    "Event origin", "MQEVO_" {
        MQEVO_OTHER = 0;
        MQEVO_CONSOLE = 1;
        MQEVO_INIT = 2;
        MQEVO_MSG = 3;
        MQEVO_MQSET = 4;
        MQEVO_INTERNAL = 5;
        MQEVO_MQSUB = 6;
        MQEVO_CTLMSG = 7;
        MQEVO_REST = 8;
    }
    "Attribute value that does not apply", "MQIAV_" {
        MQIAV_UNDEFINED = -2;
        MQIAV_NOT_APPLICABLE = -1;
    }
    "Group selector", "MQGACF_" {
        MQGACF_COMMAND_CONTEXT = 8001;
        MQGACF_FIRST = 8001;
        MQGACF_COMMAND_DATA = 8002;
        MQGACF_TRACE_ROUTE = 8003;
        MQGACF_OPERATION = 8004;
        MQGACF_ACTIVITY = 8005;
        MQGACF_EMBEDDED_MQMD = 8006;
        MQGACF_MESSAGE = 8007;
        MQGACF_MQMD = 8008;
        MQGACF_VALUE_NAMING = 8009;
        MQGACF_Q_ACCOUNTING_DATA = 8010;
        MQGACF_Q_STATISTICS_DATA = 8011;
        MQGACF_CHL_STATISTICS_DATA = 8012;
        MQGACF_ACTIVITY_TRACE = 8013;
        MQGACF_APP_DIST_LIST = 8014;
        MQGACF_MONITOR_CLASS = 8015;
        MQGACF_MONITOR_TYPE = 8016;
        MQGACF_MONITOR_ELEMENT = 8017;
        MQGACF_APPL_STATUS = 8018;
        MQGACF_CHANGED_APPLS = 8019;
        MQGACF_ALL_APPLS = 8020;
        MQGACF_APPL_BALANCE = 8021;
        MQGACF_LAST_USED = 8021;
    }
    "Byte string selector", "MQBACF_" {
        MQBACF_EVENT_ACCOUNTING_TOKEN = 7001;
        MQBACF_FIRST = 7001;
        MQBACF_EVENT_SECURITY_ID = 7002;
        MQBACF_RESPONSE_SET = 7003;
        MQBACF_RESPONSE_ID = 7004;
        MQBACF_EXTERNAL_UOW_ID = 7005;
        MQBACF_CONNECTION_ID = 7006;
        MQBACF_GENERIC_CONNECTION_ID = 7007;
        MQBACF_ORIGIN_UOW_ID = 7008;
        MQBACF_Q_MGR_UOW_ID = 7009;
        MQBACF_ACCOUNTING_TOKEN = 7010;
        MQBACF_CORREL_ID = 7011;
        MQBACF_GROUP_ID = 7012;
        MQBACF_MSG_ID = 7013;
        MQBACF_CF_LEID = 7014;
        MQBACF_DESTINATION_CORREL_ID = 7015;
        MQBACF_SUB_ID = 7016;
        MQBACF_ALTERNATE_SECURITYID = 7019;
        MQBACF_MESSAGE_DATA = 7020;
        MQBACF_MQBO_STRUCT = 7021;
        MQBACF_MQCB_FUNCTION = 7022;
        MQBACF_MQCBC_STRUCT = 7023;
        MQBACF_MQCBD_STRUCT = 7024;
        MQBACF_MQCD_STRUCT = 7025;
        MQBACF_MQCNO_STRUCT = 7026;
        MQBACF_MQGMO_STRUCT = 7027;
        MQBACF_MQMD_STRUCT = 7028;
        MQBACF_MQPMO_STRUCT = 7029;
        MQBACF_MQSD_STRUCT = 7030;
        MQBACF_MQSTS_STRUCT = 7031;
        MQBACF_SUB_CORREL_ID = 7032;
        MQBACF_XA_XID = 7033;
        MQBACF_XQH_CORREL_ID = 7034;
        MQBACF_XQH_MSG_ID = 7035;
        MQBACF_REQUEST_ID = 7036;
        MQBACF_PROPERTIES_DATA = 7037;
        MQBACF_CONN_TAG = 7038;
        MQBACF_LAST_USED = 7039;
        MQBACF_MQBNO_STRUCT = 7039;
    }
}
