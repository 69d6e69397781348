//! Messages that MQ has no number for: AMQ2xxx.
//!
//! AMQ20xx: start, end and the conditions that stop a queue manager. AMQ21xx: configuration.
//! AMQ22xx: clients and the network. AMQ24xx: commands. AMQ25xx: measuring.

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
        "AMQ2001S",
        "The recovery log of queue manager {0} is damaged at LSN {1}: {2}.",
        "Reading the log at restart found a block that is not what was written there, and later blocks prove that it is not just the unfinished end of the log. Starting would lose messages without saying so, so the queue manager does not start.",
        "{3} Keep a copy of the log directory before you change anything in it.",
    ),
    message(
        "AMQ2002S",
        "Recovery log file {1} of queue manager {0} is missing or too short.",
        "The log control file says that this extent is needed for restart, but it is not there or not as long as it was made.",
        "Put the file back from wherever it was moved to. If the disk was lost, restore the queue manager from a backup.",
    ),
    message(
        "AMQ2003S",
        "The recovery log of queue manager {0} has format {1}; this program reads format {2}.",
        "The log was written by another version of the program.",
        "Start the queue manager with a version that reads this format, end it with endmqm, and then use this version.",
    ),
    message(
        "AMQ2004S",
        "Forcing {0} to disk failed: {1}.",
        "The operating system said that data already handed over may not have reached the disk. What it holds is then unknown, and asking again could answer that all is well when it is not. The queue manager stops at once; nothing that was not acknowledged as safe is reported as safe.",
        "Look for disk or file system errors in the system log, repair them, and start the queue manager again; restart recovery brings back every acknowledged message.",
    ),
    message(
        "AMQ2005E",
        "There is no space left on the file system of {0}.",
        "A queue file or a checkpoint could not be written. Puts that need room in a queue file are refused with MQRC_Q_SPACE_NOT_AVAILABLE (2056), and the log is not cut until a checkpoint succeeds. Messages already accepted are safe.",
        "Free space on the file system, or let applications get messages from the queue.",
    ),
    message(
        "AMQ2006S",
        "Writing {0} at offset {1} failed: {2}.",
        "The operating system could not write the recovery log. The queue manager stops; nothing is reported as safe that is not.",
        "Look for disk or file system errors in the system log, repair them, and start the queue manager again.",
    ),
    message(
        "AMQ2007E",
        "Another process is using {0}.",
        "The directory is locked by a running queue manager. Two processes on one directory would destroy it, so this one ends.",
        "If the queue manager is meant to be running, use it. Otherwise end the process that holds the lock, and start again.",
    ),
    message(
        "AMQ2008E",
        "{0} cannot be used: {1}.",
        "A directory or file that the queue manager needs cannot be opened or written by this user.",
        "Check that the path exists, that its owner is the user that runs the queue manager, and that the file system is not mounted read-only.",
    ),
    message(
        "AMQ2009E",
        "{0} has permissions {1}, which let other users {2} it.",
        "Queue files and logs hold messages, and what other users could change cannot be trusted.",
        "Take the permission away, for example with chmod o-rwx, and start again.",
    ),
    message(
        "AMQ2010E",
        "Queue file {0} is damaged at block {1}: {2}.",
        "The block does not have the checksum that it was written with. The message in it cannot be read; all others can.",
        "Restart the queue manager: if the message is still in the recovery log it is recovered. Look for disk errors in the system log.",
    ),
    message(
        "AMQ2011S",
        "Checkpoint {1} of queue manager {0} is damaged: {2}.",
        "The checkpoint that restart recovery must begin with cannot be read.",
        "Restore the checkpoint directory from a backup. Look for disk errors in the system log.",
    ),
    message(
        "AMQ2012W",
        "The system clock went back by {0} seconds.",
        "Put times come from the system clock, so messages that were put before carry later times than messages that are put now. Expiry, waits and time limits are not affected.",
        "Check the time service of this system.",
    ),
    message(
        "AMQ2013I",
        "Queue manager {0} was created: data in {1}, log in {2}.",
        "The queue manager's directories, its recovery log and its default objects have been made.",
        "None.",
    ),
    message(
        "AMQ2014I",
        "Restart of queue manager {0} took {1} ms: {2} log records read, {3} messages recovered, {4} units of work backed out.",
        "Restart recovery is complete and applications may connect.",
        "None.",
    ),
    message(
        "AMQ2015I",
        "Queue manager {0} is ending; applications connected: {1}.",
        "The request to end was accepted. Applications that use fail-if-quiescing are told; a controlled end waits for the others.",
        "None. Use endmqm -i to end without waiting for units of work to be finished.",
    ),
    message(
        "AMQ2016S",
        "The queue manager found an inconsistency in its own state and stopped: {0}.",
        "This is a defect in the program. Stopping protects the messages; restart recovery begins from the log, which does not contain the inconsistency.",
        "Start the queue manager again and report the problem together with this log.",
    ),
    message(
        "AMQ2017W",
        "A report or trigger message could not be sent: {0}.",
        "The message that it is about has been dealt with as it should be; only the word about it is missing.",
        "Look the reason code up: mostly the reply-to queue is full, inhibited or not there.",
    ),
    message(
        "AMQ2018S",
        "A queue file is damaged, and the queue manager stopped: {0}.",
        "A queue file does not hold what was written there. Going on could deliver a wrong message or lose one.",
        "Look for disk errors in the system log, repair them, and start the queue manager again: what is still in the recovery log is recovered.",
    ),
    message(
        "AMQ2020E",
        "There is no space left for {0}.",
        "The file system is full, or a quota is used up. What could not be written was not acknowledged to anybody.",
        "Free space on the file system of {0}, or use another one, and try again.",
    ),
    message(
        "AMQ2021E",
        "Queue manager {0} is running.",
        "The command needs the queue manager to be ended.",
        "End it with endmqm, and try again.",
    ),
    message(
        "AMQ2022S",
        "The control file {1} of the recovery log of queue manager {0} is damaged: {2}.",
        "The control file says where the recovery log begins. Neither of its two copies can be used, so restart recovery does not know which messages were acknowledged, and the queue manager does not start.",
        "{3} Keep a copy of the log directory before you change anything in it.",
    ),
    message(
        "AMQ2023E",
        "There is a recovery log in {1} already; queue manager {0} was not created.",
        "A log must not be used by two queue managers, and an old one must not be taken for a new one.",
        "Use another directory for the log, or remove the old one if nobody needs it.",
    ),
    message(
        "AMQ2024S",
        "The recovery log of queue manager {0} refused to start: {1}.",
        "The log answered in a way that restart recovery does not expect.",
        "Report the problem together with this log.",
    ),
    message(
        "AMQ2025S",
        "The queue files of queue manager {0} cannot be used: {1}.",
        "A queue file or a checkpoint image is missing, damaged, or of another release. Starting without it would lose messages without saying so, so the queue manager does not start.",
        "Look for disk errors in the system log. Restore the data and log directories together, from one moment.",
    ),
    message(
        "AMQ2026S",
        "The log and the queue files of queue manager {0} do not belong together: {1}.",
        "Each refers to something that the other does not have, as after restoring only one of the two.",
        "Restore the data and log directories together, from one moment.",
    ),
    message(
        "AMQ2027S",
        "Queue manager {0} stopped: {1}.",
        "The environment made it impossible to go on safely. Nothing that was not safe was acknowledged, and everything that was acknowledged is recovered at the next start.",
        "Correct the cause, and start the queue manager again.",
    ),
    message(
        "AMQ2028E",
        "No queue manager was named, and there is no default queue manager.",
        "A command without a queue manager name is meant for the default queue manager.",
        "Name the queue manager, or make one the default with crtmqm -q.",
    ),
    message(
        "AMQ2029E",
        "Queue manager {0} did not answer within {1} seconds.",
        "It is busy, or the process is stopped.",
        "Try again. If it never answers, look at its error log; endmqm -p kills a process that does not answer.",
    ),
    message(
        "AMQ2031W",
        "Queue manager {0} runs with an artificially slow disk: {1}.",
        "It was started with --disk-delay-us or --disk-bandwidth, which exist for measuring. Every forced write waits longer than the disk needs; what is durable when does not change.",
        "For productive use, start it without these options.",
    ),
    message(
        "AMQ2032W",
        "The environment variable {0} has the value {1}, which is not a positive whole number; it is not acted on.",
        "The variable was set where the queue manager was started. Without it, slow reads and writes of the recovery log are not reported.",
        "Correct or unset it, and start the queue manager again.",
    ),
    message(
        "AMQ2040W",
        "Queue manager {0} runs without listener {1}: port {2} of address {3} cannot be listened on ({4}).",
        "Another program has the port, or the address is not one of this system, or the port needs a privileged user. Everything else is served. The listener is tried again, at least every 30 seconds, until it can listen, is stopped, or the queue manager ends.",
        "See who has the port: ss -ltnp 'sport = :{2}'. If that is to keep it, use another one: for this run with posthaste start --port N {0} (-ns starts without listeners); for good with ALTER LISTENER({1}) TRPTYPE(TCP) PORT(N), then STOP LISTENER({1}) and START LISTENER({1}).",
    ),
    message(
        "AMQ2041W",
        "Port {0} of address {1}, which listener {2} of queue manager {3} is to have, cannot be listened on now ({4}).",
        "The queue manager was created. When it is started and the port is still not free, it runs without that listener and tries again.",
        "See who has the port: ss -ltnp 'sport = :{0}'. If that is to keep it, start the queue manager with posthaste start --port N {3}, or change the listener with ALTER LISTENER({2}) TRPTYPE(TCP) PORT(N).",
    ),
    message(
        "AMQ2042E",
        "Queue manager {0} ended, but not in order: {1}.",
        "It was asked to end and could not do so as it should. Nothing that was acknowledged is lost; the next start recovers it from the log. The exit code is that of the queue manager.",
        "See the queue manager's error log (or the system's, if its disk is full), correct the cause, and start it.",
    ),
    message(
        "AMQ2043E",
        "Queue manager {0} ended unexpectedly, and without saying why.",
        "Its process was killed while it was ending. Nothing that was acknowledged is lost; the next start recovers it from the log.",
        "Find out who killed it: the system log (dmesg) tells of the out-of-memory killer.",
    ),
    message(
        "AMQ2101E",
        "{0}, line {1}, column {2}: {3}.",
        "The configuration file contains something that is not understood. Nothing is assumed in its place: the queue manager does not start.",
        "Correct the line, and start again.",
    ),
    message(
        "AMQ2102E",
        "{0}, line {1}: stanza {2} is not known.",
        "A stanza is a name followed by a colon at the start of a line.",
        "Correct the name or remove the stanza, and start again. {3}",
    ),
    message(
        "AMQ2103E",
        "{0}, line {1}: {2} must be from {3} to {4}.",
        "The value is a number, but outside of its limits.",
        "Correct the value, and start again.",
    ),
    message(
        "AMQ2104W",
        "{0} changed {1} from {2} to {3}; it takes effect when the queue manager is started again.",
        "The configuration file was changed while the queue manager was running.",
        "Restart the queue manager when convenient.",
    ),
    message(
        "AMQ2105W",
        "{0}, line {1}: {2} has no effect: {3}.",
        "The key is one of MQ's, and its value is a valid one, but nothing in this release depends on it.",
        "None, or remove the line.",
    ),
    message(
        "AMQ2106E",
        "{0}, line {1}: {2} is one of MQ's, but this release does not have it.",
        "Going on as if the line were not there would leave out something that somebody relies on, so the queue manager does not start.",
        "Remove the line if you do not need what it asks for, or use a later release.",
    ),
    message(
        "AMQ2107E",
        "{0} is not right: {1} faults were found.",
        "Nothing in the file that is not understood is skipped, so nothing was done. The faults are listed with their lines and columns.",
        "Correct the lines, and try again.",
    ),
    message(
        "AMQ2108E",
        "The configuration of queue manager {0} does not fit its recovery log: {1}.",
        "The shape of a log is chosen when the queue manager is created. LogFilePages cannot be changed later.",
        "Put the earlier value back in qm.ini, and start again.",
    ),
    message(
        "AMQ2201I",
        "Queue manager {0} is listening on {1}.",
        "Clients can connect to this address.",
        "None.",
    ),
    message(
        "AMQ2202W",
        "The connection from {0} was closed: it did not finish connecting within {1} seconds.",
        "A peer must send its initial data and connect within this time, so that idle connections cannot use up the server.",
        "Find out what is connecting to this port. A port scan or a load balancer's probe has this effect.",
    ),
    message(
        "AMQ2203W",
        "The connection from {0} was closed: it did not read for {1} seconds.",
        "The peer stopped reading while there was data for it. Its unit of work has been backed out; messages it had got are available again.",
        "Find out why the application at {0} stopped.",
    ),
    message(
        "AMQ2204W",
        "The application {1} at {0} was lost inside a unit of work, which was backed out.",
        "The connection ended without MQDISC or a commit.",
        "Find out why the application ended.",
    ),
    message(
        "AMQ2205W",
        "An answer to a command could not be put on queue {0}: {1}.",
        "The command was carried out. The application that sent it does not get this answer.",
        "Look whether the reply queue exists, is full, or does not allow puts.",
    ),
    message(
        "AMQ2206W",
        "A message on the command queue was ignored: {0}.",
        "Commands are requests with a reply queue, in the format MQADMIN.",
        "Find out what put the message on SYSTEM.ADMIN.COMMAND.QUEUE.",
    ),
    message(
        "AMQ2207W",
        "The command server had to begin again: {0}.",
        "A call on the command queue failed. Commands sent meanwhile wait on the queue.",
        "Look at the attributes of SYSTEM.ADMIN.COMMAND.QUEUE: get and put must be enabled.",
    ),
    message(
        "AMQ2208E",
        "{0} of {1} ended with reason {2}.",
        "{3}",
        "See the reason codes in the manual of the MQ Interface; the queue manager's error log may say more.",
    ),
    message(
        "AMQ2209E",
        "Queue manager {0} cannot be reached: {1}.",
        "Nobody answers where the queue manager should be.",
        "Look whether it is running and listening there. Queue managers of this machine are found by their name; MQSERVER or --connect, as CHANNEL/TCP/host(port), names one elsewhere.",
    ),
    message(
        "AMQ2210E",
        "{0} cannot be read or written: {1}.",
        "The file, or what the command reads from or writes to, is not usable. Messages that had not been dealt with completely are still on their queue.",
        "Correct it, and run the command again.",
    ),
    message(
        "AMQ2211E",
        "Queue manager {0} has no queue {1}, by which MQSC commands are carried out.",
        "A system object was deleted.",
        "End the queue manager, type strmqm -c {0}, which makes the system objects new and keeps messages, and start it again.",
    ),
    message(
        "AMQ2230E",
        "The measurement is not complete: {0}.",
        "Something went wrong while a queue manager was being measured. What was measured until then has been printed.",
        "Remove the cause, and measure again.",
    ),
    message(
        "AMQ2401E",
        "{0} is an MQSC command that this release does not perform.",
        "The command is well known in MQ, but there is nothing yet that would carry it out.",
        "Remove the command from the script, or use a later release.",
    ),
    message(
        "AMQ2402E",
        "{0}.",
        "The command cannot be carried out as given.",
        "Correct the command, and run it again.",
    ),
    message(
        "AMQ2403I",
        "{0} (user {1}, connection {2}) has {3}.",
        "The application keeps the queue from being deleted or cleared. What is uncommitted neither is on the queue nor is gone from it yet, so PURGE does not remove it.",
        "Let the application commit and close the queue, or end it; DISPLAY CONN shows more about the connection.",
    ),
    message(
        "AMQ2501E",
        "The measurement was not made, or not to its end: {0}",
        "A measurement starts queue managers and applications of its own. One of them failed, a count was above its budget, or the results cannot be written. If a results file was named on standard output, it holds what had been measured, marked as partial.",
        "Remove the cause that is named, and measure again.",
    ),
    message(
        "AMQ2502E",
        "The disk was not measured, or not to the end: {0}.",
        "The test needs its time and its processes. The files that it had made have been removed.",
        "Measure again.",
    ),
    message(
        "AMQ2503E",
        "The report was not written: {0}",
        "A report is made from the results of `posthaste perf run` in a folder. They cannot be read, are of another version, lack what was asked for, or the report cannot be written. The results are as they were.",
        "Remove the cause that is named, and ask for the report again.",
    ),
];
