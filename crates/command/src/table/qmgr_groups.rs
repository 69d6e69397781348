//! What DISPLAY QMGR shows when a group of attributes is asked for (manual: "DISPLAY QMGR"). Some attributes are in two
//! groups; none of those there are here is in no group (tested).

/// What concerns connections of queue managers, and of clients, to this one.
const CHANNELS: &[&str] = &[
    "ACTCHL", "CERTLABL", "CERTVPOL", "CHAD", "CHADEV", "CHADEXIT", "CHLAUTH", "CHLEV", "DEADQ",
    "DEFXMITQ", "IPADDRV", "KEYRPWD", "MONACLS", "MONCHL", "REVDNS", "SCHINIT", "SSLCRLNL",
    "SSLCRYP", "SSLEV", "SSLFIPS", "SSLKEYR", "SSLRKEYC", "STATACLS", "STATCHL", "SUITEB",
];

pub(crate) const GROUPS: &[(&str, &[&str])] = &[
    (
        "SYSTEM",
        &[
            "ACCTCONO", "ACCTINT", "ACCTMQI", "ACCTQ", "ACTIVREC", "ACTVCONO", "ACTVTRC", "ADVCAP",
            "ALTDATE", "ALTTIME", "AMQPCAP", "CCSID", "CMDLEVEL", "COMMANDQ", "CONNAUTH", "CRDATE",
            "CRTIME", "CUSTOM", "DEADQ", "DESCR", "DISTL", "IMGINTVL", "IMGLOGLN", "IMGRCOVO",
            "IMGRCOVQ", "IMGSCHED", "INITKEY", "MARKINT", "MAXHANDS", "MAXMSGL", "MAXPROPL",
            "MAXPRTY", "MAXUMSGS", "MONQ", "PLATFORM", "QMNAME", "ROUTEREC", "SCMDSERV", "SPLCAP",
            "STATINT", "STATMQI", "STATQ", "SYNCPT", "TRIGINT", "VERSION", "XRCAP",
        ],
    ),
    (
        "EVENT",
        &[
            "AUTHOREV", "CHLEV", "CMDEV", "CONFIGEV", "INHIBTEV", "LOCALEV", "LOGGEREV", "PERFMEV",
            "REMOTEEV", "SSLEV", "STRSTPEV",
        ],
    ),
    ("CHINIT", CHANNELS),
    ("DQM", CHANNELS),
    (
        "CLUSTER",
        &[
            "CLWLDATA", "CLWLEXIT", "CLWLLEN", "CLWLMRUC", "CLWLUSEQ", "DEFCLXQ", "MONACLS",
            "QMID", "REPOS", "REPOSNL",
        ],
    ),
    (
        "PUBSUB",
        &[
            "PARENT", "PSCLUS", "PSMODE", "PSNPMSG", "PSNPRES", "PSRTYCNT", "PSSYNCPT", "TREELIFE",
        ],
    ),
];
