//! Values of the attributes of queue manager objects, and object types.
//!
//! A pure table: names and numbers are those of the MQ Interface (MQ reference,
//! "Constants"), in the order of the numbers.

use super::Family;

families! {
    "Authority", "MQAUTH_" {
        MQAUTH_ALL_MQI = -3;
        MQAUTH_ALL_ADMIN = -2;
        MQAUTH_ALL = -1;
        MQAUTH_NONE = 0;
        MQAUTH_ALT_USER_AUTHORITY = 1;
        MQAUTH_BROWSE = 2;
        MQAUTH_CHANGE = 3;
        MQAUTH_CLEAR = 4;
        MQAUTH_CONNECT = 5;
        MQAUTH_CREATE = 6;
        MQAUTH_DELETE = 7;
        MQAUTH_DISPLAY = 8;
        MQAUTH_INPUT = 9;
        MQAUTH_INQUIRE = 10;
        MQAUTH_OUTPUT = 11;
        MQAUTH_PASS_ALL_CONTEXT = 12;
        MQAUTH_PASS_IDENTITY_CONTEXT = 13;
        MQAUTH_SET = 14;
        MQAUTH_SET_ALL_CONTEXT = 15;
        MQAUTH_SET_IDENTITY_CONTEXT = 16;
        MQAUTH_CONTROL = 17;
        MQAUTH_CONTROL_EXTENDED = 18;
        MQAUTH_PUBLISH = 19;
        MQAUTH_SUBSCRIBE = 20;
        MQAUTH_RESUME = 21;
        MQAUTH_SYSTEM = 22;
    }
    "Support of users by the authorization service", "MQUIDSUPP_" {
        MQUIDSUPP_NO = 0;
        MQUIDSUPP_YES = 1;
    }
    "Type of entity", "MQZAET_" {
        MQZAET_NONE = 0;
        MQZAET_PRINCIPAL = 1;
        MQZAET_GROUP = 2;
        MQZAET_UNKNOWN = 3;
    }
    "Object type", "MQOT_" {
        MQOT_NONE = 0;
        MQOT_Q = 1;
        MQOT_NAMELIST = 2;
        MQOT_PROCESS = 3;
        MQOT_STORAGE_CLASS = 4;
        MQOT_Q_MGR = 5;
        MQOT_CHANNEL = 6;
        MQOT_AUTH_INFO = 7;
        MQOT_TOPIC = 8;
        MQOT_COMM_INFO = 9;
        MQOT_CF_STRUC = 10;
        MQOT_LISTENER = 11;
        MQOT_SERVICE = 12;
        MQOT_RESERVED_1 = 999;
        MQOT_ALL = 1001;
        MQOT_ALIAS_Q = 1002;
        MQOT_MODEL_Q = 1003;
        MQOT_LOCAL_Q = 1004;
        MQOT_REMOTE_Q = 1005;
        MQOT_SENDER_CHANNEL = 1007;
        MQOT_SERVER_CHANNEL = 1008;
        MQOT_REQUESTER_CHANNEL = 1009;
        MQOT_RECEIVER_CHANNEL = 1010;
        MQOT_CURRENT_CHANNEL = 1011;
        MQOT_SAVED_CHANNEL = 1012;
        MQOT_SVRCONN_CHANNEL = 1013;
        MQOT_CLNTCONN_CHANNEL = 1014;
        MQOT_SHORT_CHANNEL = 1015;
        MQOT_CHLAUTH = 1016;
        MQOT_REMOTE_Q_MGR_NAME = 1017;
        MQOT_PROT_POLICY = 1019;
        MQOT_TT_CHANNEL = 1020;
        MQOT_AMQP_CHANNEL = 1021;
        MQOT_AUTH_REC = 1022;
    }
    "Queue type (QType)", "MQQT_" {
        MQQT_LOCAL = 1;
        MQQT_MODEL = 2;
        MQQT_ALIAS = 3;
        MQQT_REMOTE = 6;
        MQQT_CLUSTER = 7;
        MQQT_ALL = 1001;
    }
    "Definition type (DefinitionType)", "MQQDT_" {
        MQQDT_PREDEFINED = 1;
        MQQDT_PERMANENT_DYNAMIC = 2;
        MQQDT_TEMPORARY_DYNAMIC = 3;
        MQQDT_SHARED_DYNAMIC = 4;
    }
    "Queue attribute value (InhibitGet, InhibitPut, Shareability, HardenGetBackout)", "MQQA_" {
        MQQA_BACKOUT_NOT_HARDENED = 0;
        MQQA_GET_ALLOWED = 0;
        MQQA_NOT_SHAREABLE = 0;
        MQQA_PUT_ALLOWED = 0;
        MQQA_BACKOUT_HARDENED = 1;
        MQQA_GET_INHIBITED = 1;
        MQQA_PUT_INHIBITED = 1;
        MQQA_SHAREABLE = 1;
    }
    "Non-persistent message class (NonPersistentMessageClass)", "MQNPM_" {
        MQNPM_CLASS_NORMAL = 0;
        MQNPM_CLASS_HIGH = 10;
    }
    "Trigger control (TriggerControl)", "MQTC_" {
        MQTC_OFF = 0;
        MQTC_ON = 1;
    }
    "Trigger type (TriggerType)", "MQTT_" {
        MQTT_NONE = 0;
        MQTT_FIRST = 1;
        MQTT_EVERY = 2;
        MQTT_DEPTH = 3;
    }
    "Queue usage (Usage)", "MQUS_" {
        MQUS_NORMAL = 0;
        MQUS_TRANSMISSION = 1;
    }
    "Message delivery sequence (MsgDeliverySequence)", "MQMDS_" {
        MQMDS_PRIORITY = 0;
        MQMDS_FIFO = 1;
    }
    "Default binding (DefBind)", "MQBND_" {
        MQBND_BIND_ON_OPEN = 0;
        MQBND_BIND_NOT_FIXED = 1;
        MQBND_BIND_ON_GROUP = 2;
    }
    "Distribution lists (DistLists)", "MQDL_" {
        MQDL_NOT_SUPPORTED = 0;
        MQDL_SUPPORTED = 1;
    }
    "Index type (IndexType)", "MQIT_" {
        MQIT_NONE = 0;
        MQIT_MSG_ID = 1;
        MQIT_CORREL_ID = 2;
        MQIT_MSG_TOKEN = 4;
        MQIT_GROUP_ID = 5;
    }
    "Queue scope (Scope)", "MQSCO_" {
        MQSCO_Q_MGR = 1;
        MQSCO_CELL = 2;
    }
    "Service interval event (QServiceIntervalEvent)", "MQQSIE_" {
        MQQSIE_NONE = 0;
        MQQSIE_HIGH = 1;
        MQQSIE_OK = 2;
    }
    "Event rule", "MQEVR_" {
        MQEVR_DISABLED = 0;
        MQEVR_ENABLED = 1;
        MQEVR_EXCEPTION = 2;
        MQEVR_NO_DISPLAY = 3;
        MQEVR_API_ONLY = 4;
        MQEVR_ADMIN_ONLY = 5;
        MQEVR_USER_ONLY = 6;
    }
    "Monitoring value", "MQMON_" {
        MQMON_Q_MGR = -3;
        MQMON_NONE = -1;
        MQMON_NOT_AVAILABLE = -1;
        MQMON_DISABLED = 0;
        MQMON_OFF = 0;
        MQMON_ENABLED = 1;
        MQMON_ON = 1;
        MQMON_LOW = 17;
        MQMON_MEDIUM = 33;
        MQMON_HIGH = 65;
    }
    "Read ahead (DefReadAhead)", "MQREADA_" {
        MQREADA_NO = 0;
        MQREADA_YES = 1;
        MQREADA_DISABLED = 2;
        MQREADA_INHIBITED = 3;
        MQREADA_BACKLOG = 4;
    }
    "Put response (DefPutResponseType)", "MQPRT_" {
        MQPRT_RESPONSE_AS_PARENT = 0;
        MQPRT_SYNC_RESPONSE = 1;
        MQPRT_ASYNC_RESPONSE = 2;
    }
    "Property control (PropertyControl)", "MQPROP_" {
        MQPROP_UNRESTRICTED_LENGTH = -1;
        MQPROP_COMPATIBILITY = 0;
        MQPROP_NONE = 1;
        MQPROP_ALL = 2;
        MQPROP_FORCE_MQRFH2 = 3;
        MQPROP_V6COMPAT = 4;
    }
    "Message capping (CapExpiry)", "MQCAP_" {
        MQCAP_NOT_SUPPORTED = 0;
        MQCAP_SUPPORTED = 1;
        MQCAP_EXPIRED = 2;
    }
    "Media image recovery (ImageRecoverQueue)", "MQIMGRCOV_" {
        MQIMGRCOV_NO = 0;
        MQIMGRCOV_YES = 1;
        MQIMGRCOV_AS_Q_MGR = 2;
    }
    "Cluster workload queue use (CLWLUseQ)", "MQCLWL_" {
        MQCLWL_USEQ_AS_Q_MGR = -3;
        MQCLWL_USEQ_LOCAL = 0;
        MQCLWL_USEQ_ANY = 1;
    }
    "Default cluster transmission queue type", "MQCLXQ_" {
        MQCLXQ_SCTQ = 0;
        MQCLXQ_CHANNEL = 1;
    }
    "Platform (Platform)", "MQPL_" {
        MQPL_MVS = 1;
        MQPL_OS390 = 1;
        MQPL_ZOS = 1;
        MQPL_OS2 = 2;
        MQPL_AIX = 3;
        MQPL_UNIX = 3;
        MQPL_OS400 = 4;
        MQPL_WINDOWS = 5;
        MQPL_WINDOWS_NT = 11;
        MQPL_VMS = 12;
        MQPL_NSK = 13;
        MQPL_NSS = 13;
        MQPL_OPEN_TP1 = 15;
        MQPL_VM = 18;
        MQPL_TPF = 23;
        MQPL_VSE = 27;
        MQPL_APPLIANCE = 28;
    }
    "Command level (CommandLevel)", "MQCMDL_" {
        MQCMDL_LEVEL_1 = 100;
        MQCMDL_LEVEL_101 = 101;
        MQCMDL_LEVEL_110 = 110;
        MQCMDL_LEVEL_114 = 114;
        MQCMDL_LEVEL_120 = 120;
        MQCMDL_LEVEL_200 = 200;
        MQCMDL_LEVEL_201 = 201;
        MQCMDL_LEVEL_210 = 210;
        MQCMDL_LEVEL_211 = 211;
        MQCMDL_LEVEL_220 = 220;
        MQCMDL_LEVEL_221 = 221;
        MQCMDL_LEVEL_230 = 230;
        MQCMDL_LEVEL_320 = 320;
        MQCMDL_LEVEL_420 = 420;
        MQCMDL_LEVEL_500 = 500;
        MQCMDL_LEVEL_510 = 510;
        MQCMDL_LEVEL_520 = 520;
        MQCMDL_LEVEL_530 = 530;
        MQCMDL_LEVEL_531 = 531;
        MQCMDL_LEVEL_600 = 600;
        MQCMDL_LEVEL_700 = 700;
        MQCMDL_LEVEL_701 = 701;
        MQCMDL_LEVEL_710 = 710;
        MQCMDL_LEVEL_711 = 711;
        MQCMDL_LEVEL_750 = 750;
        MQCMDL_LEVEL_800 = 800;
        MQCMDL_LEVEL_801 = 801;
        MQCMDL_LEVEL_802 = 802;
        MQCMDL_LEVEL_900 = 900;
        MQCMDL_LEVEL_901 = 901;
        MQCMDL_LEVEL_902 = 902;
        MQCMDL_LEVEL_903 = 903;
        MQCMDL_LEVEL_904 = 904;
        MQCMDL_LEVEL_905 = 905;
        MQCMDL_LEVEL_910 = 910;
        MQCMDL_LEVEL_911 = 911;
        MQCMDL_LEVEL_912 = 912;
        MQCMDL_LEVEL_913 = 913;
        MQCMDL_LEVEL_914 = 914;
        MQCMDL_LEVEL_915 = 915;
        MQCMDL_LEVEL_920 = 920;
        MQCMDL_LEVEL_921 = 921;
        MQCMDL_LEVEL_922 = 922;
        MQCMDL_LEVEL_923 = 923;
        MQCMDL_LEVEL_924 = 924;
        MQCMDL_LEVEL_925 = 925;
        MQCMDL_LEVEL_930 = 930;
        MQCMDL_LEVEL_931 = 931;
        MQCMDL_LEVEL_932 = 932;
        MQCMDL_LEVEL_933 = 933;
        MQCMDL_LEVEL_934 = 934;
        MQCMDL_LEVEL_935 = 935;
        MQCMDL_LEVEL_940 = 940;
        MQCMDL_LEVEL_941 = 941;
        MQCMDL_LEVEL_942 = 942;
        MQCMDL_LEVEL_943 = 943;
        MQCMDL_LEVEL_944 = 944;
        MQCMDL_LEVEL_945 = 945;
    }
    "Syncpoint availability (SyncPoint)", "MQSP_" {
        MQSP_NOT_AVAILABLE = 0;
        MQSP_AVAILABLE = 1;
    }
    "Adopt MCA check and type", "MQADOPT_" {
        MQADOPT_CHECK_NONE = 0;
        MQADOPT_TYPE_NO = 0;
        MQADOPT_CHECK_ALL = 1;
        MQADOPT_TYPE_ALL = 1;
        MQADOPT_CHECK_Q_MGR_NAME = 2;
        MQADOPT_TYPE_SVR = 2;
        MQADOPT_CHECK_NET_ADDR = 4;
        MQADOPT_TYPE_SDR = 4;
        MQADOPT_CHECK_CHANNEL_NAME = 8;
        MQADOPT_TYPE_RCVR = 8;
        MQADOPT_TYPE_CLUSRCVR = 16;
    }
    "Channel automatic definition", "MQCHAD_" {
        MQCHAD_DISABLED = 0;
        MQCHAD_ENABLED = 1;
    }
    "Receive timeout type", "MQRCVTIME_" {
        MQRCVTIME_MULTIPLY = 0;
        MQRCVTIME_ADD = 1;
        MQRCVTIME_EQUAL = 2;
    }
    "Expiry interval (ExpiryInterval)", "MQEXPI_" {
        MQEXPI_OFF = 0;
    }
    "CHLAUTH records (ChlauthRecords)", "MQCHLA_" {
        MQCHLA_DISABLED = 0;
        MQCHLA_ENABLED = 1;
    }
    "Publish/subscribe mode (PSMode)", "MQPSM_" {
        MQPSM_DISABLED = 0;
        MQPSM_COMPAT = 1;
        MQPSM_ENABLED = 2;
    }
    "Shared queue queue manager name", "MQSQQM_" {
        MQSQQM_USE = 0;
        MQSQQM_IGNORE = 1;
    }
    "Intra-group queuing", "MQIGQ_" {
        MQIGQ_DISABLED = 0;
        MQIGQ_ENABLED = 1;
    }
    "Trace at startup", "MQTRAXSTR_" {
        MQTRAXSTR_NO = 0;
        MQTRAXSTR_YES = 1;
    }
    "Reverse DNS look-up", "MQRDNS_" {
        MQRDNS_ENABLED = 0;
        MQRDNS_DISABLED = 1;
    }
    "FIPS use (SSLFIPSRequired)", "MQSSL_" {
        MQSSL_FIPS_NO = 0;
        MQSSL_FIPS_YES = 1;
    }
    "IPPROCS master", "MQMASTER_" {
        MQMASTER_NO = 0;
        MQMASTER_YES = 1;
    }
    "IP address version", "MQIPADDR_" {
        MQIPADDR_IPV4 = 0;
        MQIPADDR_IPV6 = 1;
    }
    "TCP keepalive", "MQTCPKEEP_" {
        MQTCPKEEP_NO = 0;
        MQTCPKEEP_YES = 1;
    }
    "Channel type (ChannelType)", "MQCHT_" {
        MQCHT_SENDER = 1;
        MQCHT_SERVER = 2;
        MQCHT_RECEIVER = 3;
        MQCHT_REQUESTER = 4;
        MQCHT_ALL = 5;
        MQCHT_CLNTCONN = 6;
        MQCHT_SVRCONN = 7;
        MQCHT_CLUSRCVR = 8;
        MQCHT_CLUSSDR = 9;
        MQCHT_MQTT = 10;
        MQCHT_AMQP = 11;
    }
    "Transport type (TransportType)", "MQXPT_" {
        MQXPT_ALL = -1;
        MQXPT_LOCAL = 0;
        MQXPT_LU62 = 1;
        MQXPT_TCP = 2;
        MQXPT_NETBIOS = 3;
        MQXPT_SPX = 4;
        MQXPT_DECNET = 5;
        MQXPT_UDP = 6;
    }
    "Channel status (ChannelStatus)", "MQCHS_" {
        MQCHS_INACTIVE = 0;
        MQCHS_BINDING = 1;
        MQCHS_STARTING = 2;
        MQCHS_RUNNING = 3;
        MQCHS_STOPPING = 4;
        MQCHS_RETRYING = 5;
        MQCHS_STOPPED = 6;
        MQCHS_REQUESTING = 7;
        MQCHS_PAUSED = 8;
        MQCHS_DISCONNECTED = 9;
        MQCHS_INITIALIZING = 13;
        MQCHS_SWITCHING = 14;
    }
    "Channel substate (ChannelSubState)", "MQCHSSTATE_" {
        MQCHSSTATE_OTHER = 0;
        MQCHSSTATE_END_OF_BATCH = 100;
        MQCHSSTATE_SENDING = 200;
        MQCHSSTATE_RECEIVING = 300;
        MQCHSSTATE_SERIALIZING = 400;
        MQCHSSTATE_RESYNCHING = 500;
        MQCHSSTATE_HEARTBEATING = 600;
        MQCHSSTATE_IN_SCYEXIT = 700;
        MQCHSSTATE_IN_RCVEXIT = 800;
        MQCHSSTATE_IN_SENDEXIT = 900;
        MQCHSSTATE_IN_MSGEXIT = 1000;
        MQCHSSTATE_IN_MREXIT = 1100;
        MQCHSSTATE_IN_CHADEXIT = 1200;
        MQCHSSTATE_NET_CONNECTING = 1250;
        MQCHSSTATE_SSL_HANDSHAKING = 1300;
        MQCHSSTATE_NAME_SERVER = 1400;
        MQCHSSTATE_IN_MQPUT = 1500;
        MQCHSSTATE_IN_MQGET = 1600;
        MQCHSSTATE_IN_MQI_CALL = 1700;
        MQCHSSTATE_COMPRESSING = 1800;
    }
    "Stop requested", "MQCHSR_" {
        MQCHSR_STOP_NOT_REQUESTED = 0;
        MQCHSR_STOP_REQUESTED = 1;
    }
    "Restart required", "MQCHSH_" {
        MQCHSH_RESTART_NO = 0;
        MQCHSH_RESTART_YES = 1;
    }
    "In-doubt status", "MQCHIDS_" {
        MQCHIDS_NOT_INDOUBT = 0;
        MQCHIDS_INDOUBT = 1;
    }
    "Channel disposition", "MQCHLD_" {
        MQCHLD_ALL = -1;
        MQCHLD_DEFAULT = 1;
        MQCHLD_SHARED = 2;
        MQCHLD_PRIVATE = 4;
        MQCHLD_FIXSHARED = 5;
    }
    "Message channel agent type (MCAType)", "MQMCAT_" {
        MQMCAT_PROCESS = 1;
        MQMCAT_THREAD = 2;
    }
    "Message channel agent status", "MQMCAS_" {
        MQMCAS_STOPPED = 0;
        MQMCAS_RUNNING = 3;
    }
    "Put authority (PutAuthority)", "MQPA_" {
        MQPA_DEFAULT = 1;
        MQPA_CONTEXT = 2;
        MQPA_ONLY_MCA = 3;
        MQPA_ALTERNATE_OR_MCA = 4;
    }
    "Non-persistent message speed (NonPersistentMsgSpeed)", "MQNPMS_" {
        MQNPMS_NORMAL = 1;
        MQNPMS_FAST = 2;
    }
    "Data conversion (DataConversion) and MQCD version", "MQCDC_" {
        MQCDC_NO_SENDER_CONVERSION = 0;
        MQCDC_SENDER_CONVERSION = 1;
    }
    "TLS client authentication (SSLClientAuth)", "MQSCA_" {
        MQSCA_REQUIRED = 0;
        MQSCA_OPTIONAL = 1;
        MQSCA_NEVER_REQUIRED = 2;
    }
    "Keepalive interval (KeepAliveInterval)", "MQKAI_" {
        MQKAI_AUTO = -1;
    }
    "Compression technique", "MQCOMPRESS_" {
        MQCOMPRESS_NOT_AVAILABLE = -1;
        MQCOMPRESS_NONE = 0;
        MQCOMPRESS_RLE = 1;
        MQCOMPRESS_ZLIBFAST = 2;
        MQCOMPRESS_ZLIBHIGH = 4;
        MQCOMPRESS_SYSTEM = 8;
        MQCOMPRESS_LZ4FAST = 16;
        MQCOMPRESS_LZ4HIGH = 32;
        MQCOMPRESS_ANY = 268435455;
    }
    "Connection affinity", "MQCAFTY_" {
        MQCAFTY_NONE = 0;
        MQCAFTY_PREFERRED = 1;
    }
    "Default reconnection (DefReconnect)", "MQRCN_" {
        MQRCN_NO = 0;
        MQRCN_YES = 1;
        MQRCN_Q_MGR = 2;
        MQRCN_DISABLED = 3;
    }
    "Use of the dead-letter queue (UseDeadLetterQ)", "MQUSEDLQ_" {
        MQUSEDLQ_AS_PARENT = 0;
        MQUSEDLQ_NO = 1;
        MQUSEDLQ_YES = 2;
    }
    "Security policy protection", "MQSPL_" {
        MQSPL_PASSTHRU = 0;
        MQSPL_REMOVE = 1;
        MQSPL_AS_POLICY = 2;
    }
    "Security protocol", "MQSECPROT_" {
        MQSECPROT_NONE = 0;
        MQSECPROT_SSLV30 = 1;
        MQSECPROT_TLSV10 = 2;
        MQSECPROT_TLSV12 = 4;
        MQSECPROT_TLSV13 = 8;
    }
    "Service control, status and type (also listeners)", "MQSVC_" {
        MQSVC_CONTROL_Q_MGR = 0;
        MQSVC_STATUS_STOPPED = 0;
        MQSVC_TYPE_COMMAND = 0;
        MQSVC_CONTROL_Q_MGR_START = 1;
        MQSVC_STATUS_STARTING = 1;
        MQSVC_TYPE_SERVER = 1;
        MQSVC_CONTROL_MANUAL = 2;
        MQSVC_STATUS_RUNNING = 2;
        MQSVC_STATUS_STOPPING = 3;
        MQSVC_STATUS_RETRYING = 4;
    }
    "Open type in queue status", "MQQSO_" {
        MQQSO_NO = 0;
        MQQSO_SHARED = 1;
        MQQSO_YES = 1;
        MQQSO_EXCLUSIVE = 2;
    }
    "Uncommitted messages (QUEUE status)", "MQQSUM_" {
        MQQSUM_NO = 0;
        MQQSUM_YES = 1;
    }
    "Queue manager status", "MQQMSTA_" {
        MQQMSTA_STARTING = 1;
        MQQMSTA_RUNNING = 2;
        MQQMSTA_QUIESCING = 3;
        MQQMSTA_STANDBY = 4;
    }
    "Unit of work state", "MQUOWST_" {
        MQUOWST_NONE = 0;
        MQUOWST_ACTIVE = 1;
        MQUOWST_PREPARED = 2;
        MQUOWST_UNRESOLVED = 3;
    }
    "Unit of work type", "MQUOWT_" {
        MQUOWT_Q_MGR = 0;
        MQUOWT_CICS = 1;
        MQUOWT_RRS = 2;
        MQUOWT_IMS = 3;
        MQUOWT_XA = 4;
    }
    "Handle state", "MQHSTATE_" {
        MQHSTATE_INACTIVE = 0;
        MQHSTATE_ACTIVE = 1;
    }
    "Asynchronous consumer state", "MQAS_" {
        MQAS_NONE = 0;
        MQAS_STARTED = 1;
        MQAS_START_WAIT = 2;
        MQAS_STOPPED = 3;
        MQAS_SUSPENDED = 4;
        MQAS_SUSPENDED_TEMPORARY = 5;
        MQAS_ACTIVE = 6;
        MQAS_INACTIVE = 7;
    }
    "Application moveability", "MQAPPL_" {
        MQAPPL_IMMOVABLE = 0;
        MQAPPL_MOVABLE = 1;
    }
    "LDAP status", "MQLDAP_" {
        MQLDAP_AUTHORMD_OS = 0;
        MQLDAP_NESTGRP_NO = 0;
        MQLDAP_AUTHORMD_SEARCHGRP = 1;
        MQLDAP_NESTGRP_YES = 1;
        MQLDAP_AUTHORMD_SEARCHUSR = 2;
        MQLDAP_AUTHORMD_SRCHGRPSN = 3;
    }
    "Recovery log type", "MQLOGTYPE_" {
        MQLOGTYPE_CIRCULAR = 0;
        MQLOGTYPE_LINEAR = 1;
        MQLOGTYPE_REPLICATED = 2;
    }
    "Application instance moveable", "MQAM_" {
        MQAM_JAAS = 0;
        MQAM_QMGR = 1;
    }
    "Automatic start", "MQAUTO_" {
        MQAUTO_START_NO = 0;
        MQAUTO_START_YES = 1;
    }
    "Authentication information type", "MQAIT_" {
        MQAIT_ALL = 0;
        MQAIT_CRL_LDAP = 1;
        MQAIT_OCSP = 2;
        MQAIT_IDPW_OS = 3;
        MQAIT_IDPW_LDAP = 4;
    }
    "Connection check (CheckLocalBinding, CheckClientBinding)", "MQCHK_" {
        MQCHK_OPTIONAL = 0;
        MQCHK_NONE = 1;
        MQCHK_REQUIRED_ADMIN = 2;
        MQCHK_REQUIRED = 3;
        MQCHK_AS_Q_MGR = 4;
    }
    "Adopt context", "MQADPCTX_" {
        MQADPCTX_NO = 0;
        MQADPCTX_YES = 1;
    }
    "Secure communication with a directory (SecureComms)", "MQSECCOMM_" {
        MQSECCOMM_YES = 0;
        MQSECCOMM_NO = 1;
        MQSECCOMM_ANON = 2;
    }
    "Authentication method (AuthenticationMethod)", "MQAUTHENTICATE_" {
        MQAUTHENTICATE_OS = 0;
        MQAUTHENTICATE_PAM = 1;
    }
    "Name list limit", "MQNC_" {
        MQNC_MAX_NAMELIST_NAME_COUNT = 256;
    }
    "Topic attribute value", "MQTA_" {
        MQTA_PUB_AS_PARENT = 0;
        MQTA_SUB_AS_PARENT = 0;
        MQTA_BLOCK = 1;
        MQTA_PROXY_SUB_FORCE = 1;
        MQTA_PUB_INHIBITED = 1;
        MQTA_SUB_INHIBITED = 1;
        MQTA_PASSTHRU = 2;
        MQTA_PROXY_SUB_FIRSTUSE = 2;
        MQTA_PUB_ALLOWED = 2;
        MQTA_SUB_ALLOWED = 2;
    }
    "Message delivery of a topic (PMSGDLV, NPMSGDLV)", "MQDLV_" {
        MQDLV_AS_PARENT = 0;
        MQDLV_ALL = 1;
        MQDLV_ALL_DUR = 2;
        MQDLV_ALL_AVAIL = 3;
    }
    "Durability of subscriptions", "MQSUB_" {
        MQSUB_DURABLE_ALL = -1;
        MQSUB_DURABLE_AS_PARENT = 0;
        MQSUB_DURABLE_ALLOWED = 1;
        MQSUB_DURABLE_YES = 1;
        MQSUB_DURABLE_INHIBITED = 2;
        MQSUB_DURABLE_NO = 2;
    }
    "Multicast of a topic", "MQMC_" {
        MQMC_AS_PARENT = 0;
        MQMC_ENABLED = 1;
        MQMC_DISABLED = 2;
        MQMC_ONLY = 3;
    }
    "Scope of publications and subscriptions of a topic", "MQSCOPE_" {
        MQSCOPE_ALL = 0;
        MQSCOPE_AS_PARENT = 1;
        MQSCOPE_QMGR = 4;
    }
    "Topic type", "MQTOPT_" {
        MQTOPT_LOCAL = 0;
        MQTOPT_CLUSTER = 1;
        MQTOPT_ALL = 2;
    }
    "Route of publications in a cluster", "MQCLROUTE_" {
        MQCLROUTE_DIRECT = 0;
        MQCLROUTE_TOPIC_HOST = 1;
        MQCLROUTE_NONE = 2;
    }
    "What CLEAR TOPICSTR clears", "MQCLRT_" {
        MQCLRT_RETAINED = 1;
    }
    "Destination class of a subscription", "MQDC_" {
        MQDC_MANAGED = 1;
        MQDC_PROVIDED = 2;
    }
    "Properties of publish/subscribe in messages (PSPROP)", "MQPSPROP_" {
        MQPSPROP_NONE = 0;
        MQPSPROP_COMPAT = 1;
        MQPSPROP_RFH2 = 2;
        MQPSPROP_MSGPROP = 3;
    }
    "Whether a subscriber asks for publications", "MQRU_" {
        MQRU_PUBLISH_ON_REQUEST = 1;
        MQRU_PUBLISH_ALL = 2;
    }
    "Scope of a subscription", "MQTSCOPE_" {
        MQTSCOPE_QMGR = 1;
        MQTSCOPE_ALL = 2;
    }
    "Who may use a subscription", "MQVU_" {
        MQVU_FIXED_USER = 1;
        MQVU_ANY_USER = 2;
    }
    "Wildcard schema of a subscription", "MQWS_" {
        MQWS_DEFAULT = 0;
        MQWS_CHAR = 1;
        MQWS_TOPIC = 2;
    }
    "Subscription type", "MQSUBTYPE_" {
        MQSUBTYPE_USER = -2;
        MQSUBTYPE_ALL = -1;
        MQSUBTYPE_API = 1;
        MQSUBTYPE_ADMIN = 2;
        MQSUBTYPE_PROXY = 3;
    }
    "Type of a selector", "MQSELTYPE_" {
        MQSELTYPE_NONE = 0;
        MQSELTYPE_STANDARD = 1;
        MQSELTYPE_EXTENDED = 2;
    }
    "Kind of publish/subscribe status", "MQPSST_" {
        MQPSST_ALL = 0;
        MQPSST_LOCAL = 1;
        MQPSST_PARENT = 2;
        MQPSST_CHILD = 3;
    }
    "State of publish/subscribe", "MQPS_STATUS_" {
        MQPS_STATUS_INACTIVE = 0;
        MQPS_STATUS_STARTING = 1;
        MQPS_STATUS_STOPPING = 2;
        MQPS_STATUS_ACTIVE = 3;
        MQPS_STATUS_COMPAT = 4;
        MQPS_STATUS_ERROR = 5;
        MQPS_STATUS_REFUSED = 6;
    }
}
