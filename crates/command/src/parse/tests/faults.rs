//! What is not a command, and what is said about it.

use crate::parse;

/// Nothing is made of more values than any command has, whatever follows: the command does not even end here.
#[test]
fn a_parameter_with_very_many_values_is_refused() {
    let line = |count: usize| format!("DEFINE NAMELIST(N) NAMES({}", "A,".repeat(count));
    let most = parse(&line(1_000)).expect_err("the parenthesis is missing");
    assert_eq!(most.id, "AMQ8406E");
    let error = parse(&line(1_001)).expect_err("too many");
    assert_eq!((error.id, error.column), ("AMQ8405I", 2_025));
    assert_eq!(error.detail, "At most 1000 values fit in parentheses.");
}

/// Line, message, column, what runmqsc repeats (AMQ8405I only), and what the detail must say.
#[rustfmt::skip] // one row, one line
const FAULTS: &[(&str, &str, usize, &str, &str)] = &[
    ("FROB QLOCAL(A)", "AMQ8405I", 0, "FROB", "FROB is not a command"),
    ("DEFIEN QLOCAL(A)", "AMQ8405I", 0, "DEFIEN", "did you mean DEFINE?"),
    ("(A)", "AMQ8405I", 0, "(", "keyword must come before"),
    ("DEFINE", "AMQ8406E", 6, "", "needs the kind of object"),
    ("DEFINE QLOCAL", "AMQ8406E", 13, "", "QLOCAL needs a value"),
    ("DEFINE QLOCAL REPLACE", "AMQ8405I", 7, "DEFINE QLOCAL", "QLOCAL needs a value"),
    ("DEFINE QLOCAL(", "AMQ8406E", 14, "", "closing parenthesis"),
    ("DEFINE QLOCAL(A", "AMQ8406E", 15, "", "closing parenthesis"),
    ("DEFINE QLOCAL('A)", "AMQ8406E", 17, "", "closing quote"),
    ("DEFINE QLOCAL()", "AMQ8405I", 7, "DEFINE QLOCAL()", "needs a value"),
    ("DEFINE QLOCAL('')", "AMQ8424E", 14, "", "needs a name"),
    ("DEFINE QLOCAL(A B)", "AMQ8405I", 16, "DEFINE QLOCAL(A B", "takes one value"),
    ("DEFINE QLOCAL(A))", "AMQ8405I", 16, "DEFINE QLOCAL(A))", ") is out of place"),
    ("DEFINE QLOCAL(A-B)", "AMQ8424E", 14, "", "has the character -"),
    ("DEFINE QLOCAL('é')", "AMQ8424E", 14, "", "has the character é"),
    ("DEFINE QLOCAL(A*)", "AMQ8424E", 14, "", "has the character *"),
    ("DEFINE QLOCAL(A23456789012345678901234567890123456789012345678B)", "AMQ8424E", 14, "", "has 49 characters, but at most 48 fit"),
    ("DEFINE CHANNEL(A23456789012345678901) CHLTYPE(SVRCONN)", "AMQ8424E", 15, "", "has 21 characters, but at most 20 fit"),
    ("DEFINE QLOCAL(A) BOQNAME(B?)", "AMQ8424E", 25, "", "BOQNAME has the character ?"),
    ("DEFINE QLOCAL(A) LIKE('')", "AMQ8424E", 22, "", "LIKE needs a name"),
    ("DEFINE QLOCL(A)", "AMQ8405I", 7, "DEFINE QLOCL", "did you mean DEFINE QLOCAL?"),
    ("DEFINE BOGUS('X')", "AMQ8405I", 7, "DEFINE BOGUS", "BOGUS is not a kind of object"),
    ("DEFINE QMGR", "AMQ8405I", 7, "DEFINE QMGR", "DEFINE is not for QMGR"),
    ("DEFINE QUEUE(A)", "AMQ8405I", 7, "DEFINE QUEUE", "DEFINE is not for QUEUE"),
    ("ALTER QMGR(QM1) DESCR(A)", "AMQ8405I", 6, "ALTER QMGR(QM1)", "no value in parentheses"),
    ("CLEAR QMODEL(A)", "AMQ8405I", 6, "CLEAR QMODEL", "CLEAR is not for QMODEL"),
    ("CLEAR QLOCAL(A) PURGE", "AMQ8405I", 16, "CLEAR QLOCAL(A) PURGE", "not a keyword"),
    ("CLEAR TOPICSTR(A)", "AMQ8406E", 17, "CLEAR TOPICSTR(A)", "needs CLRTYPE"),
    ("CLEAR TOPICSTR CLRTYPE(RETAINED)", "AMQ8405I", 6, "CLEAR TOPICSTR", "needs a value"),
    ("CLEAR TOPICSTR(A) CLRTYPE(ALL)", "AMQ8405I", 26, "CLEAR TOPICSTR(A) CLRTYPE(ALL", "must be RETAINED"),
    ("define qlocal(a) maxdepht(5) get(x)", "AMQ8405I", 17, "define qlocal(a) maxdepht", "did you mean MAXDEPTH?"),
    ("DEF QL(A) COLOUR(RED)", "AMQ8405I", 10, "DEF QL(A) COLOUR", "COLOUR is not a keyword of DEFINE QLOCAL."),
    ("DEF QA(A) MAXDEPTH(5)", "AMQ8405I", 10, "DEF QA(A) MAXDEPTH", "another kind of object: local queue, not alias queue"),
    ("DEF QL(A) CURDEPTH(5)", "AMQ8405I", 10, "DEF QL(A) CURDEPTH", "can be shown but not set"),
    ("DEF QL(A) MAXDEPTH", "AMQ8405I", 10, "DEF QL(A) MAXDEPTH", "needs a value"),
    ("DEF QL(A) MAXDEPTH()", "AMQ8405I", 10, "DEF QL(A) MAXDEPTH()", "needs a value"),
    ("DEF QL(A) MAXDEPTH(-1)", "AMQ8405I", 19, "DEF QL(A) MAXDEPTH(-1", "from 0 to 999999999"),
    ("DEF QL(A) MAXDEPTH(1000000000) GET(ENABLED)", "AMQ8405I", 19, "DEF QL(A) MAXDEPTH(1000000000", "from 0 to 999999999"),
    ("DEF QL(A) MAXDEPTH(99999999999999999999)", "AMQ8405I", 19, "DEF QL(A) MAXDEPTH(99999999999999999999", "from 0 to"),
    ("DEF QL(A) MAXDEPTH(5K)", "AMQ8405I", 19, "DEF QL(A) MAXDEPTH(5K", "from 0 to"),
    ("DEF QL(A) MAXDEPTH(1 2)", "AMQ8405I", 21, "DEF QL(A) MAXDEPTH(1 2", "takes one value"),
    ("DEF QL(A) GET(MAYBE)", "AMQ8405I", 14, "DEF QL(A) GET(MAYBE", "one of ENABLED, DISABLED"),
    ("DEF QL(A) GET(0)", "AMQ8405I", 14, "DEF QL(A) GET(0", "one of ENABLED, DISABLED"),
    ("DEF QL(A) SHARE(YES)", "AMQ8405I", 10, "DEF QL(A) SHARE(YES)", "no value in parentheses"),
    ("DEF QL(A) SHARE NOSHARE", "AMQ8405I", 16, "DEF QL(A) SHARE NOSHARE", "NOSHARE comes after SHARE or its opposite"),
    ("DEF QL(A) REPLACE NOREPLACE", "AMQ8405I", 18, "DEF QL(A) REPLACE NOREPLACE", "opposite"),
    ("DEF QL(A) MAXDEPTH(1) MAXDEPTH(1)", "AMQ8405I", 22, "DEF QL(A) MAXDEPTH(1) MAXDEPTH", "MAXDEPTH is given twice"),
    ("DEF QA(A) TARGET(B) TARGQ(B)", "AMQ8405I", 20, "DEF QA(A) TARGET(B) TARGQ", "TARGQ comes after TARGET"),
    ("DEF QL(A) REPLACE(YES)", "AMQ8405I", 10, "DEF QL(A) REPLACE(YES)", "no value in parentheses"),
    ("DEF QL(A) DESCR(two words)", "AMQ8405I", 20, "DEF QL(A) DESCR(two words", "text with blanks needs quotes"),
    ("DEF QL(A) DESCR(it's)", "AMQ8405I", 16, "DEF QL(A) DESCR(it'", "doubled"),
    ("DEF QL(A) DESCR('it's')", "AMQ8405I", 16, "DEF QL(A) DESCR('it's", "must come after a quoted value"),
    ("DEF QL(A) DESCR('a\nb')", "AMQ8405I", 16, "DEF QL(A) DESCR('a.b'", "control character"),
    ("DEF QL(A) FORCE", "AMQ8405I", 10, "DEF QL(A) FORCE", "not a keyword of DEFINE QLOCAL"),
    ("ALT QL(A) REPLACE", "AMQ8405I", 10, "ALT QL(A) REPLACE", "not a keyword of ALTER QLOCAL"),
    ("ALT QM(M) CURDEPTH", "AMQ8405I", 10, "ALT QM(M) CURDEPTH", "local queue, not model queue"),
    ("ALT QMGR MAXPRTY(5)", "AMQ8405I", 9, "ALT QMGR MAXPRTY", "can be shown but not set"),
    ("DEF CHL(C) TRPTYPE(TCP)", "AMQ8405I", 23, "DEF CHL(C) TRPTYPE(TCP)", "needs CHLTYPE"),
    ("DEF CHL(C) CHLTYPE(BOGUS)", "AMQ8405I", 19, "DEF CHL(C) CHLTYPE(BOGUS", "one of SVRCONN, CLNTCONN"),
    ("DEF CHL(C) CHLTYPE(SVRCONN) KAINT(-1)", "AMQ8405I", 34, "DEF CHL(C) CHLTYPE(SVRCONN) KAINT(-1", "from 0 to 99999, or AUTO"),
    ("DEF CHL(C) CHLTYPE(SVRCONN) COMPMSG(RLE,RLE)", "AMQ8405I", 40, "DEF CHL(C) CHLTYPE(SVRCONN) COMPMSG(RLE,RLE", "RLE is given twice"),
    ("DEF CHL(C) CHLTYPE(SVRCONN) COMPMSG(BZIP)", "AMQ8405I", 36, "DEF CHL(C) CHLTYPE(SVRCONN) COMPMSG(BZIP", "some of NONE"),
    ("DEF LSTR(L) TRPTYPE(LU62)", "AMQ8405I", 20, "DEF LSTR(L) TRPTYPE(LU62", "one of TCP"),
    ("DEL QM(A) PURGE", "AMQ8405I", 10, "DEL QM(A) PURGE", "not a keyword of DELETE QMODEL"),
    ("DEL QL(A) PURGE NOPURGE", "AMQ8405I", 16, "DEL QL(A) PURGE NOPURGE", "opposite"),
    ("STOP LSTR(L) MODE(FORCE)", "AMQ8405I", 13, "STOP LSTR(L) MODE", "not a keyword of STOP LISTENER"),
    ("STOP CHL(C) MODE(NOW)", "AMQ8405I", 17, "STOP CHL(C) MODE(NOW", "QUIESCE, FORCE, TERMINATE"),
    ("START CHL(*)", "AMQ8424E", 10, "", "has the character *"),
    ("PING QL(A)", "AMQ8405I", 5, "PING QL", "PING is not for QL"),
    ("DIS", "AMQ8406E", 3, "", "DIS QUEUE(*)"),
    ("DIS Q", "AMQ8406E", 5, "", "Q needs a value"),
    ("DIS Q(A*B)", "AMQ8424E", 6, "", "asterisk at its end only"),
    ("DIS Q(**)", "AMQ8424E", 6, "", "asterisk at its end only"),
    ("DISPLAY QMGR LOGTYPE", "AMQ8405I", 13, "DISPLAY QMGR LOGTYPE", "not a keyword of DISPLAY QMGR"),
    ("DIS QL(*) CURDEPHT ALL", "AMQ8405I", 10, "DIS QL(*) CURDEPHT", "did you mean CURDEPTH?"),
    ("DIS Q(*) CURDEPTH(5)", "AMQ8405I", 9, "DIS Q(*) CURDEPTH(5)", "use WHERE"),
    ("DIS Q(*) ALL ALL", "AMQ8405I", 13, "DIS Q(*) ALL ALL", "ALL is given twice"),
    ("DIS Q(*) TYPE(QX)", "AMQ8405I", 14, "DIS Q(*) TYPE(QX", "one of QLOCAL"),
    ("DIS QMGR TYPE(QLOCAL)", "AMQ8405I", 9, "DIS QMGR TYPE", "not a keyword"),
    ("DIS Q(*) WHERE", "AMQ8569E", 9, "", "three parts"),
    ("DIS Q(*) WHERE(CURDEPTH GT)", "AMQ8569E", 9, "", "three parts"),
    ("DIS Q(*) WHERE(COLOUR EQ RED)", "AMQ8569E", 15, "", "does not show COLOUR"),
    ("DIS Q(*) WHERE(CURDEPTH CT 1)", "AMQ8569E", 24, "", "CURDEPTH is a number, and takes LT, GT, EQ, NE, LE, GE"),
    ("DIS Q(*) WHERE(CURDEPTH IS 1)", "AMQ8569E", 24, "", "IS is not one of LT"),
    ("DIS Q(*) WHERE(DESCR CT a)", "AMQ8569E", 21, "", "DESCR is text, and takes LT, GT, EQ, NE, LE, GE, LK, NL"),
    ("DIS Q(*) WHERE(GET GT ENABLED)", "AMQ8569E", 19, "", "GET is one of several words, and takes EQ, NE"),
    ("DIS CHL(*) WHERE(COMPMSG EQ NONE)", "AMQ8569E", 25, "", "COMPMSG is a list, and takes CT, EX, CTG, EXG"),
    ("DIS CHL(*) WHERE(COMPMSG CT N*)", "AMQ8569E", 28, "", "generic value needs CTG or EXG"),
    ("DIS CHL(*) WHERE(COMPMSG EX SMALL)", "AMQ8569E", 28, "", "SMALL is not a value of COMPMSG; it is one of NONE, RLE"),
    ("DIS CHL(*) WHERE(KAINT GT AUTO)", "AMQ8569E", 26, "", "AUTO is not a value of KAINT"),
    ("DIS CHS(*) WHERE(STATUS EQ BANANA)", "AMQ8569E", 27, "", "BANANA is not a value of STATUS; it is one of INACTIVE, BINDING"),
    ("DIS CHS(*) WHERE(CURRENT EQ YES)", "AMQ8569E", 25, "", "CURRENT cannot be used"),
    ("DIS CHS(*) WHERE(CHSTADA GT yesterday)", "AMQ8569E", 28, "", "YESTERDAY is not a value of CHSTADA; a date is yyyy-mm-dd"),
    ("DIS CHS(*) WHERE(CHSTADA GE 2026-11)", "AMQ8569E", 28, "", "2026-11 is not a value of CHSTADA; a date is yyyy-mm-dd"),
    ("DIS CONN(*) WHERE(UOWSTDA EQ 2026-11)", "AMQ8569E", 29, "", "a date is yyyy-mm-dd"),
    ("DIS CONN(*) WHERE(UOWSTDA GT ' ')", "AMQ8569E", 29, "", "a date is yyyy-mm-dd"),
    ("DIS Q(*) WHERE(ALTDATE GT yesterday)", "AMQ8569E", 26, "", "YESTERDAY is not a value of ALTDATE; a date is yyyy-mm-dd"),
    ("DIS Q(*) WHERE(CRDATE EQ 2026-02-30)", "AMQ8569E", 25, "", "a date is yyyy-mm-dd"),
    ("DIS Q(*) WHERE(CRTIME LT 9:30)", "AMQ8569E", 25, "", "a time is hh.mm.ss"),
    ("DIS QMGR WHERE(ALTTIME NE 25.00.00)", "AMQ8569E", 26, "", "a time is hh.mm.ss"),
    ("DIS Q(*) WHERE(ALTDATE LK 'yes*')", "AMQ8569E", 26, "", "a date is yyyy-mm-dd"),
    ("DIS CONN(*) WHERE(UOWSTATE EQ OPEN)", "AMQ8569E", 30, "", "OPEN is not a value of UOWSTATE"),
    ("DIS CONN(*) WHERE(OPENOPTS CT MQOO_NONE)", "AMQ8569E", 30, "", "MQOO_NONE is not a value of OPENOPTS"),
    ("DIS CONN(*) WHERE(PID EQ mine)", "AMQ8569E", 25, "", "MINE is not a value of PID"),
    ("DIS QMSTATUS WHERE(STARTTI LT 9:30)", "AMQ8569E", 30, "", "a time is hh.mm.ss"),
    ("DIS Q(*) WHERE(CURDEPTH GT X)", "AMQ8569E", 27, "", "X is not a value of CURDEPTH"),
    ("DIS Q(*) WHERE(GET EQ PERHAPS)", "AMQ8569E", 22, "", "PERHAPS is not a value of GET"),
    ("DIS Q(*) WHERE(CURDEPTH LK 1*)", "AMQ8569E", 24, "", "CURDEPTH is a number, and takes LT"),
    ("DIS Q(*) WHERE(DESCR EQ 'A*')", "AMQ8569E", 24, "", "generic value needs LK or NL"),
    ("DIS Q(*) WHERE(SHARE EQ YES)", "AMQ8569E", 21, "", "SHARE cannot be used"),
    ("DIS QS(Q) TRANSID", "AMQ2401E", 10, "", ""),
    ("DIS QS(Q) WHERE(TASKNO GT 1)", "AMQ2401E", 16, "", ""),
    ("DIS QS(Q) TYPE(QUEUE) BROWSE", "AMQ8405I", 22, "DIS QS(Q) TYPE(QUEUE) BROWSE", "BROWSE is shown with TYPE(HANDLE)"),
    ("DIS QS(Q) CURDEPTH BROWSE", "AMQ8405I", 19, "DIS QS(Q) CURDEPTH BROWSE", "BROWSE is shown with TYPE(HANDLE)"),
    ("DIS CONN(*) WHERE(CHANNEL EQ A) TYPE(HANDLE)", "AMQ8405I", 12, "DIS CONN(*) WHERE", "CHANNEL is shown with TYPE(CONN)"),
    ("DEFINE CFSTRUCT(C) CFLEVEL(5)", "AMQ2401E", 7, "", ""),
    ("ALTER TOPIC(T) TOPICSTR('a')", "AMQ8405I", 15, "ALTER TOPIC(T) TOPICSTR", "TOPICSTR can be set by DEFINE only"),
    ("DISPLAY SUB('a\u{7}b')", "AMQ8424E", 12, "", "SUB has the control character \\u{7}"),
    ("DEF CHL(C) CHLTYPE(SDR) CONNAME('h(1414)')", "AMQ2401E", 19, "", ""),
    ("DIS CHL(*) CHLTYPE(SDR)", "AMQ2401E", 19, "", ""),
    ("REFRESH SECURITY(*) TYPE(CLASSES)", "AMQ2401E", 8, "", ""),
    ("DEF AUTHINFO(A)", "AMQ8405I", 15, "DEF AUTHINFO(A)", "needs AUTHTYPE, for example AUTHTYPE(CRLLDAP)"),
    ("DEF AUTHINFO(A) AUTHTYPE(OCSP) CHCKCLNT(NONE)", "AMQ8405I", 31, "DEF AUTHINFO(A) AUTHTYPE(OCSP) CHCKCLNT", "CHCKCLNT is an attribute of"),
    ("DIS AUTHINFO(*) WHERE(LDAPPWD EQ guess)", "AMQ8569E", 30, "", "LDAPPWD cannot be used"),
    ("DEF NL(N) NAMES(A,B*)", "AMQ8424E", 18, "", "has the character *"),
    ("DEF AUTHINFO(A) AUTHTYPE(IDPWOS) OCSPURL(x)", "AMQ8405I", 33, "DEF AUTHINFO(A) AUTHTYPE(IDPWOS) OCSPURL", "another kind of object: authentication information about an OCSP responder, not "),
    ("DEL CHL(C) CHLTABLE(LOCAL)", "AMQ8405I", 20, "DEL CHL(C) CHLTABLE(LOCAL", "CHLTABLE must be one of QMGRTAB, CLNTTAB"),
    ("DEL CHL(C) CHLTYPE(SVRCONN) CHLTABLE(CLNTTAB)", "AMQ8405I", 28, "DEL CHL(C) CHLTYPE(SVRCONN) CHLTABLE", "contradict each other"),
    ("DEL NL(N) CHLTABLE(CLNTTAB)", "AMQ8405I", 10, "DEL NL(N) CHLTABLE", "not a keyword of DELETE NAMELIST"),
    ("DEF CHL(C) CHLTYPE(CLNTCONN) MCAUSER(x)", "AMQ8405I", 29, "DEF CHL(C) CHLTYPE(CLNTCONN) MCAUSER", "MCAUSER is an attribute of"),
    ("SET AUTHREC(A)", "AMQ8405I", 4, "SET AUTHREC(A)", "AUTHREC has no value in parentheses"),
    ("SET AUTHREC PROFILE(A) PRINCIPAL(a) AUTHADD(GET)", "AMQ8406E", 48, "", "SET AUTHREC needs OBJTYPE"),
    ("SET AUTHREC OBJTYPE(QUEUE) GROUP(a) AUTHADD(GET)", "AMQ8406E", 48, "", "needs PROFILE"),
    ("SET AUTHREC OBJTYPE(QMGR) AUTHADD(INQ)", "AMQ8406E", 38, "", "needs PRINCIPAL or GROUP"),
    ("SET AUTHREC OBJTYPE(QMGR) GROUP(a)", "AMQ8406E", 34, "", "needs AUTHADD or AUTHRMV"),
    ("SET AUTHREC OBJTYPE(Q) GROUP(a)", "AMQ8405I", 20, "SET AUTHREC OBJTYPE(Q", "OBJTYPE must be one of AUTHINFO, CHANNEL"),
    ("SET AUTHREC PROFILE(A**) OBJTYPE(QUEUE)", "AMQ8424E", 20, "", "A** is no profile: ** must be a whole qualifier"),
    ("SET AUTHREC OBJTYPE(QMGR) GROUP('')", "AMQ8405I", 32, "SET AUTHREC OBJTYPE(QMGR) GROUP(''", "nobody can be called ''"),
    ("SET AUTHREC OBJTYPE(QMGR) GROUP(a) PRINCIPAL(b)", "AMQ8405I", 45, "SET AUTHREC OBJTYPE(QMGR) GROUP(a) PRINCIPAL(b", "either PRINCIPAL or GROUP"),
    ("SET AUTHREC OBJTYPE(QMGR) GROUP(a) AUTHADD(FLY)", "AMQ8405I", 43, "SET AUTHREC OBJTYPE(QMGR) GROUP(a) AUTHADD(FLY", "FLY is not an authority"),
    ("SET AUTHREC PROFILE(A) OBJTYPE(TOPIC) GROUP(a) AUTHADD(PUB,GET)", "AMQ8405I", 59, "SET AUTHREC PROFILE(A) OBJTYPE(TOPIC) GROUP(a) AUTHADD(PUB,GET", "GET is not for objects of type topic"),
    ("SET AUTHREC OBJTYPE(QMGR) GROUP(a) AUTHADD()", "AMQ8405I", 35, "SET AUTHREC OBJTYPE(QMGR) GROUP(a) AUTHADD()", "AUTHADD needs a value"),
    ("SET AUTHREC OBJTYPE(QMGR) GROUP(a) AUTHADD(INQ) SERVCOMP(OTHER)", "AMQ8405I", 57, "SET AUTHREC OBJTYPE(QMGR) GROUP(a) AUTHADD(INQ) SERVCOMP(OTHER", "only component"),
    ("DELETE AUTHREC PROFILE(A) OBJTYPE(QUEUE) GROUP(a) AUTHADD(GET)", "AMQ8405I", 50, "DELETE AUTHREC PROFILE(A) OBJTYPE(QUEUE) GROUP(a) AUTHADD", "not a keyword of DELETE AUTHREC"),
    ("DISPLAY AUTHREC MATCH(SOME)", "AMQ8405I", 22, "DISPLAY AUTHREC MATCH(SOME", "MATCH must be one of"),
    ("DISPLAY AUTHREC MATCH(MEMBERSHIP) GROUP(a)", "AMQ8406E", 42, "", "needs PRINCIPAL"),
    ("DISPLAY ENTAUTH OBJTYPE(QUEUE) PRINCIPAL(a)", "AMQ8406E", 43, "", "DISPLAY ENTAUTH needs OBJNAME"),
    ("DISPLAY AUTHSERV OBJTYPE(QUEUE)", "AMQ8405I", 17, "DISPLAY AUTHSERV OBJTYPE", "not a keyword of DISPLAY AUTHSERV"),
    ("DISPLAY AUTHREC AUTHLIST(GET)", "AMQ8405I", 25, "DISPLAY AUTHREC AUTHLIST(GET", "AUTHLIST has no value"),
    ("STOP CHL(C) STATE(INACTIVE)", "AMQ8405I", 12, "STOP CHL(C) STATE", "did you mean STATUS?"),
    ("STOP CHL(C) STATUS(PAUSED)", "AMQ8405I", 19, "STOP CHL(C) STATUS(PAUSED", "INACTIVE, STOPPED"),
    ("STOP CHL(C) STATUS(STOPPED) CONNAME(A)", "AMQ8405I", 19, "STOP CHL(C) STATUS(STOPPED", "of the whole channel"),
    ("STOP CONN(0123)", "AMQ8424E", 10, "", "16 or 48 hexadecimal digits"),
    ("STOP CONN(012345678901234G)", "AMQ8424E", 10, "", "16 or 48 hexadecimal digits"),
    ("STOP CONN(0123456789012345) EXTCONN(0)", "AMQ8424E", 36, "", "32 hexadecimal digits"),
    ("STOP CONN(0123456789012345) MODE(FORCE)", "AMQ8405I", 28, "STOP CONN(0123456789012345) MODE", "not a keyword of STOP CONN"),
    ("STOP SERVICE(S) MODE(FORCE)", "AMQ8405I", 16, "STOP SERVICE(S) MODE", "not a keyword of STOP SERVICE"),
];

#[test]
fn faults() {
    for (line, id, column, segment, detail) in FAULTS {
        let error = match parse(line) {
            Err(error) => error,
            Ok(command) => panic!("{line}: {command:?}"),
        };
        assert_eq!(error.id, *id, "{line}: {error}");
        assert_eq!(error.column, *column, "{line}: {error}");
        assert!(error.detail.contains(detail), "{line}: {error}");
        assert!(
            detail.is_empty() || error.detail.ends_with(['.', '?']),
            "{line}: {error}"
        );
        let message = crate::messages::find(id).expect("a message of the table");
        match *id {
            "AMQ8405I" => assert_eq!(error.text, format!("{}\n{segment}", message.text), "{line}"),
            "AMQ2401E" => assert!(error.text.contains("does not perform"), "{line}"),
            _ => assert_eq!(error.text, message.text, "{line}"),
        }
    }
}

/// Every command of the manual is carried out, or said to be MQ's and not here.
#[test]
fn no_command_of_mq_is_called_unknown() {
    #[rustfmt::skip] // one verb, one line
    let commands = [
        ("ALTER", "BUFFPOOL CFSTRUCT PSID SECURITY SMDS STGCLASS TRACE"),
        ("ARCHIVE", "LOG"),
        ("BACKUP", "CFSTRUCT"),
        ("DEFINE", "BUFFPOOL CFSTRUCT LOG MAXSMSGS PSID STGCLASS"),
        ("DELETE", "BUFFPOOL CFSTRUCT POLICY PSID STGCLASS"),
        ("DISPLAY", "APSTATUS ARCHIVE CFSTATUS CFSTRUCT CHINIT CLUSQMGR CMDSERV GROUP LOG MAXSMSGS POLICY QCLUSTER SECURITY SMDS SMDSCONN STGCLASS SYSTEM TCLUSTER THREAD TRACE USAGE"),
        ("MOVE", "QLOCAL"),
        ("PING", "CHANNEL"),
        ("PURGE", "CHANNEL"),
        ("RECOVER", "BSDS CFSTRUCT"),
        ("REFRESH", "CLUSTER QMGR"),
        ("RESET", "CFSTRUCT CHANNEL CLUSTER QMGR QSTATS SMDS TPIPE"),
        ("RESOLVE", "CHANNEL INDOUBT"),
        ("RESUME", "QMGR"),
        ("RVERIFY", "SECURITY"),
        ("SET", "ARCHIVE LOG POLICY SYSTEM"),
        ("START", "CHINIT CMDSERV QMGR SMDSCONN TRACE"),
        ("STOP", "CHINIT CMDSERV QMGR SMDSCONN TRACE"),
        ("SUSPEND", "QMGR"),
    ];
    for (verb, nouns) in commands {
        for noun in nouns.split(' ') {
            for line in [format!("{verb} {noun}"), format!("{verb} {noun}(A) X(1)")] {
                let error = parse(&line).expect_err(&line);
                assert!(error.is_not_here(), "{line}: {error}");
                assert!(!error.to_string().contains('\n'), "one line: {error}");
            }
        }
    }
    assert!(!parse("FROB QLOCAL(A)").expect_err("a fault").is_not_here());
}

/// Some commands take a keyword that others do not: it is no answer to itself.
#[test]
fn a_keyword_is_not_suggested_in_its_own_place() {
    let error = parse("DISPLAY SUB(*) TYPE(API)").expect_err("SUBTYPE is meant");
    assert!(
        !error.detail.contains("did you mean TYPE"),
        "{}",
        error.detail
    );
}
