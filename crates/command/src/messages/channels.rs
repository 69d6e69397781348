//! Messages about channels and the network: AMQ9xxx.

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
        "AMQ9001I",
        "Channel {0} ended normally.",
        "The client at {1} disconnected.",
        "None.",
    ),
    message(
        "AMQ9002I",
        "Channel {0} is starting.",
        "A client at {1} is connecting.",
        "None.",
    ),
    message(
        "AMQ9207E",
        "The data received from host {0} on channel {1} is not valid.",
        "What arrived is not the MQ channel protocol. The connection was closed.",
        "Find out what is connecting to this port. Browsers and port scans have this effect.",
    ),
    message(
        "AMQ9208E",
        "Error on receive from host {0}: {1}.",
        "The network failed while data was being received.",
        "Look for network errors; the client may have been killed.",
    ),
    message(
        "AMQ9209E",
        "Connection to host {0} for channel {1} closed.",
        "The other end closed the connection without disconnecting first.",
        "Find out why the client ended.",
    ),
    message(
        "AMQ9211E",
        "Error allocating storage.",
        "A message on channel {0} from {1} was refused with reason 2071: messages that have begun to arrive and are not complete take {2} bytes already.",
        "Find out who begins large messages and does not go on. The application can try again.",
    ),
    message(
        "AMQ9213E",
        "A communications error occurred: {0} returned {1}.",
        "A call of the network failed.",
        "Look the error number up, and correct its cause.",
    ),
    message(
        "AMQ9218E",
        "The TCP/IP listener could not bind to port {1} of address {0}: {2}.",
        "Another program may be using the port, or the address is not one of this system, or the port needs a privileged user.",
        "See who has the port: ss -ltnp 'sport = :{1}'. Use another port, or end the program that has this one.",
    ),
    message(
        "AMQ9228E",
        "The channel program for host {0} could not be started: {1}.",
        "There were not enough resources.",
        "Raise the limits, or lower MaxChannels.",
    ),
    message(
        "AMQ9255E",
        "A listener is already running on port {0}.",
        "Each port can have one listener.",
        "None.",
    ),
    message(
        "AMQ9259E",
        "Connection timed out from host {0}.",
        "Nothing, not even a heartbeat, arrived in time.",
        "Look for network errors; the client may have been stopped.",
    ),
    message(
        "AMQ9489W",
        "The maximum number of instances, {0}, of channel {1} was reached.",
        "The connection from {2} was refused, as MAXINST says.",
        "Raise MAXINST, or find out why there are so many clients.",
    ),
    message(
        "AMQ9490W",
        "The maximum number of instances, {0}, of channel {1} was reached for client {2}.",
        "The connection was refused, as MAXINSTC says.",
        "Raise MAXINSTC, or find out why the client connects so often.",
    ),
    message(
        "AMQ9502E",
        "Channel {0} is not of a type that can do this.",
        "The operation is for other types of channel.",
        "Use a channel of the right type.",
    ),
    message(
        "AMQ9503E",
        "Channel negotiation with host {0} on channel {1} failed: {2}.",
        "The two ends could not agree on how to talk to each other.",
        "Compare the definitions of both ends.",
    ),
    message(
        "AMQ9504E",
        "A protocol error was detected for channel {0} from host {1}: {2}.",
        "The peer broke a rule of the channel protocol. The connection was closed and its unit of work backed out.",
        "Report the problem to whoever made the client.",
    ),
    message(
        "AMQ9508E",
        "The channel program cannot connect to queue manager {0}: reason {1}.",
        "The queue manager is ending, or has no room for another connection.",
        "See the reason code.",
    ),
    message(
        "AMQ9513W",
        "The maximum number of channels was reached.",
        "The connection from {0} was refused: {1} channels are running, as many as MaxActiveChannels, or the files that the process may have open (AMQ2071W), allow in all or to one address. An address that has the others does not get the last sixteenth.",
        "Raise MaxActiveChannels, or find out why there are so many clients.",
    ),
    message(
        "AMQ9514E",
        "Channel {0} is in use.",
        "Applications are connected by the channel, so it was not deleted.",
        "End them: STOP CHANNEL, then wait until DISPLAY CHSTATUS shows no instance that runs. Then try again.",
    ),
    message(
        "AMQ9519E",
        "Channel {0} not found.",
        "The client at {1} asked for a channel that is not defined.",
        "Define the channel, or correct the client's configuration. Names are case-sensitive.",
    ),
    message(
        "AMQ9524E",
        "The remote queue manager is unavailable for channel {0}.",
        "The queue manager that the client at {1} asked for is not this one, or it is not running.",
        "Correct the client's configuration.",
    ),
    message(
        "AMQ9525E",
        "The queue manager is ending; channel {0} is closing.",
        "Clients are disconnected when the queue manager ends.",
        "None.",
    ),
    message(
        "AMQ9528I",
        "User requested closure of channel {0}.",
        "An operator stopped the channel.",
        "None.",
    ),
    message(
        "AMQ9533W",
        "Channel {0} is not currently active.",
        "There is nothing to stop: no such instance of the channel runs, or none for that CONNAME or QMNAME. A client is no queue manager, so that QMNAME chooses none of a server-connection channel.",
        "None.",
    ),
    message(
        "AMQ9534E",
        "Channel {0} is currently not enabled.",
        "The channel was stopped by an operator. The connection from {1} was refused.",
        "Use START CHANNEL.",
    ),
    message(
        "AMQ9535E",
        "User exit {0} is not valid.",
        "Channel {1} has an exit, which this release cannot call. The connection from {2} was refused, because what the exit checks would not be checked.",
        "Set SCYEXIT, SENDEXIT and RCVEXIT to blanks if the channel may be used without them.",
    ),
    message(
        "AMQ9545I",
        "The disconnect interval of channel {0} has expired.",
        "No call was made for as long as DISCINT says.",
        "None.",
    ),
    message(
        "AMQ9557E",
        "Channel {0} lets nobody in: its user is *NOACCESS.",
        "The channel's MCAUSER is *NOACCESS, or the application says that this is its user. MQCONN from {1} got MQRC_NOT_AUTHORIZED (2035).",
        "None, if nobody is to use the channel. Otherwise set MCAUSER to the user that its applications are to run as.",
    ),
    message(
        "AMQ9616E",
        "The CipherSpec proposed for channel {0} is not enabled here: {2}.",
        "The handshake with {1} found no version of TLS and no CipherSpec that both ends may use: SSLCIPH of the channel, the kind of the certificate's key (an ECDSA CipherSpec needs one with an EC key), SSLFIPS and SUITEB decide what may be used here. The connection was closed.",
        "Let the client use the CipherSpec that the channel names, or an alias such as ANY_TLS12_OR_HIGHER at either end.",
    ),
    message(
        "AMQ9631E",
        "The CipherSpec {2} that was negotiated for channel {0} is not the required one ({3}).",
        "The client at {1} was refused: MQCONN got 2393 or 2397.",
        "Make SSLCIPH of the client and of the channel the same, or set the channel's to an alias such as ANY_TLS12_OR_HIGHER.",
    ),
    message(
        "AMQ9633E",
        "Bad certificate for channel {0}: {3}.",
        "The certificate that {1} has shown ({2}) is not trusted: it is out of its time, was revoked, was issued by nobody whose certificate is in the key repository, or its key or that of its issuer is not one that SUITEB asks for. The connection was closed.",
        "Have a certificate issued that is valid now, and put the certificate of its issuer into the key repository. If SUITEB asks for another key: `posthaste certs make --ec` makes keys on P-256, which SUITEB(128_BIT) takes and SUITEB(192_BIT) does not; or enter ALTER QMGR SUITEB(NONE). Then enter REFRESH SECURITY(*) TYPE(SSL).",
    ),
    message(
        "AMQ9635E",
        "Channel {0} did not specify a valid CipherSpec: {2}.",
        "The connection from {1} was refused.",
        "Set SSLCIPH of the channel to a CipherSpec or an alias such as ANY_TLS12_OR_HIGHER; or set SSLPEER to blanks and let the clients connect without TLS.",
    ),
    message(
        "AMQ9636E",
        "The distinguished name {2} does not match SSLPEER of channel {0} ({3}).",
        "The client at {1} has shown a certificate that is trusted, but is not for the name that the channel wants. It was refused.",
        "Use a certificate with a name that matches, or change SSLPEER.",
    ),
    message(
        "AMQ9637E",
        "Channel {0} is lacking a certificate.",
        "The client at {1} has shown none, and SSLCAUTH(REQUIRED) or SSLPEER of the channel wants one. It was refused.",
        "Give the client a certificate with its key, or set SSLCAUTH(OPTIONAL) and SSLPEER to blanks.",
    ),
    message(
        "AMQ9638E",
        "TLS communications error for channel {0}: {2}.",
        "The connection from {1} ended in the middle of TLS.",
        "Look for network errors; the client may have been killed.",
    ),
    message(
        "AMQ9639E",
        "Remote channel {0} did not specify a CipherSpec.",
        "The channel's SSLCIPH demands TLS, and the connection from {1} is a plain one. It was refused.",
        "Let the client use the CipherSpec of the channel; set SSLCIPH to blanks only if everybody may listen.",
    ),
    message(
        "AMQ9640E",
        "SSLPEER of channel {0} is not valid ({1}): {2}.",
        "Nobody can match it, so the connection was refused.",
        "Write attributes and values with commas between them, for example CN=app*,O=Example.",
    ),
    message(
        "AMQ9657E",
        "The key repository of queue manager {0} cannot be used: {1}.",
        "A client wants TLS, and certificates and keys are not there, cannot be read, or are not of the kind that SUITEB asks for. Clients that use TLS are refused until they can.",
        "Set SSLKEYR to a PKCS#12 or PEM file, put its password into a file beside it with the ending sth, and see that CERTLABL, if it is set, is the label of a certificate with its key. `posthaste certs show FILE` shows what is in a file. If SUITEB asks for another key: `posthaste certs make --ec` makes keys on P-256, which SUITEB(128_BIT) takes and SUITEB(192_BIT) does not; or enter ALTER QMGR SUITEB(NONE). Then enter REFRESH SECURITY(*) TYPE(SSL).",
    ),
    message(
        "AMQ9661E",
        "Bad TLS data from peer on channel {0}: {2}.",
        "What {1} has sent is no valid TLS, or was changed on its way. The connection was closed.",
        "Find out what is connecting to this port.",
    ),
    message(
        "AMQ9665E",
        "TLS connection closed by remote end of channel {0}: {2}.",
        "The client at {1} broke off: it does not trust the certificate of the queue manager, or does not agree with something else.",
        "Look at the client's error. Most often the certificate of the authority is not in its key repository.",
    ),
    message(
        "AMQ9673E",
        "Channel {0} has the certificate label {2}, and the client did not name the channel in the handshake.",
        "The channel's own certificate can only be shown to clients that say, with the server name of the handshake (SNI), which channel they want. The one at {1} did not, and was refused.",
        "Use a client that does so (OutboundSNI=CHANNEL), or set CERTLABL of the channel to blanks.",
    ),
    message(
        "AMQ9776E",
        "Channel {0} was blocked from address {1}: the user {2} is in {3}.",
        "The channel authentication record of TYPE(BLOCKUSER) with the most specific profile lists the user as whom the application would run. It was told 2035.",
        "If it is to be let in, map it to another user, or set a record for this channel that does not list the user: SET CHLAUTH({0}) TYPE(BLOCKUSER) USERLIST(...).",
    ),
    message(
        "AMQ9777E",
        "Channel {0} was blocked from address {1}, user {2}: {3} says USERSRC(NOACCESS).",
        "Of the channel authentication records that match, this one is the most specific, and lets nobody in. The application was told 2035.",
        "If it is to be let in, set a more specific record for it. DISPLAY CHLAUTH({0}) MATCH(RUNCHECK) CLNTUSER('{2}') ADDRESS('{1}') shows which record counts.",
    ),
    message(
        "AMQ9783I",
        "Channel will run using MCAUSER({0}).",
        "No channel authentication record blocks the partner that MATCH(RUNCHECK) asked about, or gives it another user.",
        "None.",
    ),
    message(
        "AMQ9999E",
        "Channel {0} to host {1} ended abnormally.",
        "See the earlier messages for the reason.",
        "See the earlier messages.",
    ),
];
