//! Messages about the queue manager as a whole: AMQ5xxx to AMQ7xxx.

use super::Message;

/// One row of the table.
const fn message(
    id: &'static str,
    text: &'static str,
    explanation: &'static str,
    action: &'static str,
) -> Message {
    Message {
        id,
        text,
        explanation,
        action,
    }
}

pub(super) const MESSAGES: &[Message] = &[
    message(
        "AMQ5026I",
        "The listener {0} has started. Process {1}.",
        "Clients can connect to it.",
        "None.",
    ),
    message(
        "AMQ5027I",
        "The listener {0} has ended. Process {1}.",
        "No more clients can connect to it. Channels already running go on.",
        "None.",
    ),
    message(
        "AMQ5028I",
        "The Server {0} has started. ProcessId({1}).",
        "The program of a service with SERVTYPE(SERVER) runs.",
        "None.",
    ),
    message(
        "AMQ5029I",
        "The Server {0} has ended: {2}. ProcessId({1}).",
        "The program of a service with SERVTYPE(SERVER) has ended, by itself or because it was told to.",
        "If it was not to end, see what it has written to STDERR of the service, and START SERVICE.",
    ),
    message(
        "AMQ5030I",
        "The Command {0} has started. ProcessId({1}).",
        "The program of a service with SERVTYPE(COMMAND) was started. Nobody looks after it any more.",
        "None.",
    ),
    message(
        "AMQ5037I",
        "The queue manager task {0} has started.",
        "A part of the queue manager has begun its work.",
        "None.",
    ),
    message(
        "AMQ5041I",
        "The queue manager task {0} has ended.",
        "A part of the queue manager has finished its work.",
        "None.",
    ),
    message(
        "AMQ5051I",
        "The queue manager task {0} has started.",
        "A part of the queue manager has begun its work.",
        "None.",
    ),
    message(
        "AMQ5534E",
        "User {2} was not let in from {1} on channel {0}: authentication failed.",
        "The application gave a user and a password, and there is no such user, the password is another, or it may not be used now. MQCONN got MQRC_NOT_AUTHORIZED (2035), after the FAILDLAY of the authentication information object.",
        "Have the application give the right user and password. If it comes again and again, find out who is guessing.",
    ),
    message(
        "AMQ5540E",
        "An application from {1} on channel {0} gave no user and password.",
        "CHCKCLNT(REQUIRED), or CHCKLOCL(REQUIRED) for applications of this machine (channel -), of the authentication information object {2} demands them of everybody. MQCONN got MQRC_NOT_AUTHORIZED (2035).",
        "Have the application give a user and a password (MQCSP).",
    ),
    message(
        "AMQ5541E",
        "An application from {1} on channel {0} runs as {2}, who administers, and gave no password.",
        "REQDADM of the authentication information object {3} demands a password of whoever administers the queue manager. MQCONN got MQRC_NOT_AUTHORIZED (2035).",
        "Have the application give a user and a password (MQCSP), or run it as a user who does not administer.",
    ),
    message(
        "AMQ6035S",
        "There is not enough memory.",
        "A request for memory was refused by the operating system.",
        "Give the queue manager more memory, or let it hold fewer messages in memory with DefaultQBufferSize and DefaultPQBufferSize.",
    ),
    message(
        "AMQ6109S",
        "An internal error has occurred: {0}.",
        "This is a defect in the program.",
        "Report the problem together with this log.",
    ),
    message(
        "AMQ6184E",
        "An internal error has occurred on queue manager {0}: {1}.",
        "This is a defect in the program. The call that met it was refused; the queue manager goes on.",
        "Report the problem together with this log.",
    ),
    message(
        "AMQ6245E",
        "The error log {0} cannot be written: {1}.",
        "Messages are written to the system's log (syslog) and to the standard error stream instead.",
        "Correct the permissions or free space on the file system.",
    ),
    message(
        "AMQ6708E",
        "The recovery log cannot grow: {0}.",
        "The log needs another file, and it could not be made, mostly because the file system is full. Until there is one, calls that need log space wait or are refused with MQRC_RESOURCE_PROBLEM (2102).",
        "Free space on the file system of the log. The file is tried again by itself.",
    ),
    message(
        "AMQ6709I",
        "The recovery log of queue manager {0} is full.",
        "A checkpoint was taken, long units of work were backed out, and there is still little space. Calls that need log space wait or are refused with MQRC_RESOURCE_PROBLEM (2102).",
        "If this happens often, raise LogPrimaryFiles or LogSecondaryFiles, or commit more often.",
    ),
    message(
        "AMQ6729W",
        "An I/O operation ({1}) of {0} bytes took {3} microseconds; the limit is {2}.",
        "A read (R) or write (W) of the recovery log took longer than the environment variable AMQ_IODELAY allows. At most one message about reads and one about writes are written each second.",
        "Compare with what the disk does on a normal day, and look at what else was using it.",
    ),
    message(
        "AMQ7017E",
        "The recovery log of queue manager {0} is not available.",
        "The log cannot be opened, or its files do not belong together.",
        "See the earlier messages for the reason.",
    ),
    message(
        "AMQ7024I",
        "Authorities set.",
        "Every authority record that was named is as it was asked for, on disk, and counts for what is opened from now on.",
        "None.",
    ),
    message(
        "AMQ7030I",
        "The request to quiesce the queue manager was accepted.",
        "The queue manager ends when the last application has disconnected.",
        "None.",
    ),
    message(
        "AMQ7048E",
        "{0} is not the name of a queue manager.",
        "{1}: a name has 1 to 48 letters, digits and characters of . / _ % (full stop, slash, underscore, per cent).",
        "Correct the name. dspmq shows the queue managers there are.",
    ),
    message(
        "AMQ7056I",
        "Transaction number {0}, state {1}.",
        "A unit of work as dspmqtrn shows it. One that is PREPARED is a branch of a global transaction: what it has put and got stays in hand until its transaction manager decides. What is COMMITTED or BACKED OUT HEURISTICALLY was decided by an operator, and is remembered until the transaction manager has learned of it.",
        "Start the transaction manager that coordinates what is prepared. Only if it cannot come back, decide with rsvmqtrn.",
    ),
    message(
        "AMQ7064E",
        "The log path {0} is not valid or cannot be used.",
        "The recovery log cannot be made or opened there.",
        "Give a path that exists and can be written.",
    ),
    message(
        "AMQ7075E",
        "{2}, line {1}: attribute {0} is not known.",
        "The configuration file has a key that its stanza does not have.",
        "Correct the key or remove the line, and start again.",
    ),
    message(
        "AMQ7076E",
        "{3}, line {2}: {1} is not a valid value for {0}.",
        "The value is not of the right kind, or is out of range.",
        "Correct the value, and start again.",
    ),
    message(
        "AMQ7077E",
        "You are not authorized to {0}.",
        "The operation needs the user that owns the queue manager.",
        "Use the right user.",
    ),
    message(
        "AMQ7229I",
        "{0} log records have been read for queue manager {1} so far.",
        "The log is being replayed.",
        "None.",
    ),
    message(
        "AMQ7230I",
        "Log replay for queue manager {0} is complete.",
        "The state at the last checkpoint has been brought up to the end of the log.",
        "None.",
    ),
    message(
        "AMQ7231I",
        "{0} log records have been read for queue manager {1} during recovery.",
        "Units of work that had not ended are being resolved.",
        "None.",
    ),
    message(
        "AMQ7232I",
        "The transaction state of queue manager {0} has been recovered.",
        "Units of work that were in doubt are in doubt again; the others have ended.",
        "None.",
    ),
    message(
        "AMQ7233I",
        "{0} of {1} units of work in flight have been resolved for queue manager {2}.",
        "They had not been committed when the queue manager ended, and have been backed out.",
        "None.",
    ),
    message(
        "AMQ7463I",
        "The recovery log of queue manager {0} is full.",
        "All primary and secondary log files are in use.",
        "See the messages that follow. Raise LogPrimaryFiles or LogSecondaryFiles if this happens often.",
    ),
    message(
        "AMQ7465I",
        "The recovery log of queue manager {0} is full because of a long unit of work.",
        "The oldest unit of work keeps log space from being used again. It may be backed out: see AMQ7469W.",
        "Find the application with DISPLAY CONN(*) WHERE(UOWLOGDA NE ' '), and let it commit more often.",
    ),
    message(
        "AMQ7466I",
        "The recovery log of queue manager {0} is small for the present rate of data.",
        "Log files are filled faster than checkpoints can free them.",
        "Raise LogPrimaryFiles, or create the queue manager with a greater LogFilePages.",
    ),
    message(
        "AMQ7467I",
        "The oldest log file needed to start queue manager {0} is {1}.",
        "Older files are not needed for restart.",
        "None.",
    ),
    message(
        "AMQ7468I",
        "The oldest log file needed for media recovery of queue manager {0} is {1}.",
        "Older files are not needed for media recovery.",
        "None.",
    ),
    message(
        "AMQ7469W",
        "Units of work were backed out to release log space: application {0}, user {1}, connection {2}, begun {3}, {4} bytes.",
        "The log was full, and this unit of work kept that many bytes of it from being used again. The application is told MQRC_BACKED_OUT at its next call.",
        "Commit more often in this application, or give the log more files.",
    ),
    message(
        "AMQ7472E",
        "Queue {0} is damaged: {1}.",
        "The queue's file does not hold what was written there. Applications that open, put to or get from the queue are told MQRC_OBJECT_DAMAGED (2101); nothing is delivered from it and nothing left out. All other queues work, now and after a restart.",
        "Look for disk errors in the system log. If the file can be put back as it was, end the queue manager, do so, and start it. If the data and log folders of one backup are to be restored, restore both. If the queue's messages can be given up, CLEAR QLOCAL or DELETE QLOCAL PURGE discards all of them, and the queue can be used or defined again.",
    ),
];
