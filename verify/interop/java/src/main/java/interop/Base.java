package interop;

import static interop.Place.equal;
import static interop.Place.that;

import com.ibm.mq.MQDistributionList;
import com.ibm.mq.MQDistributionListItem;
import com.ibm.mq.MQException;
import com.ibm.mq.MQGetMessageOptions;
import com.ibm.mq.MQMessage;
import com.ibm.mq.MQPutMessageOptions;
import com.ibm.mq.MQQueue;
import com.ibm.mq.MQQueueManager;
import com.ibm.mq.constants.CMQC;
import com.ibm.mq.constants.CMQCFC;
import com.ibm.mq.headers.pcf.PCFException;
import com.ibm.mq.headers.pcf.PCFMessage;
import com.ibm.mq.headers.pcf.PCFMessageAgent;
import java.util.Arrays;
import java.util.Hashtable;

/** The base classes: com.ibm.mq. */
public final class Base {
    private final Place place;

    public Base(Place place) {
        this.place = place;
        // The library writes every reason to standard error otherwise.
        MQException.log = null;
    }

    interface Call {
        void run() throws Exception;
    }

    static void fails(int reason, Call call) throws Exception {
        try {
            call.run();
        } catch (MQException failure) {
            equal(reason, failure.reasonCode);
            return;
        }
        throw new AssertionError("it did not fail with " + reason);
    }

    private MQQueueManager connect() throws MQException {
        return connect(place);
    }

    static MQQueueManager connect(Place place) throws MQException {
        return new MQQueueManager("QM1", properties(place));
    }

    /** What a connection by the place's channel needs at least. */
    static Hashtable<String, Object> properties(Place place) {
        Hashtable<String, Object> properties = new Hashtable<>();
        properties.put(CMQC.HOST_NAME_PROPERTY, place.host);
        properties.put(CMQC.PORT_PROPERTY, place.port);
        properties.put(CMQC.CHANNEL_PROPERTY, place.channel);
        properties.put(CMQC.TRANSPORT_PROPERTY, CMQC.TRANSPORT_MQSERIES_CLIENT);
        return properties;
    }

    private static final int INOUT =
        CMQC.MQOO_INPUT_SHARED | CMQC.MQOO_OUTPUT | CMQC.MQOO_BROWSE | CMQC.MQOO_INQUIRE | CMQC.MQOO_SET
            | CMQC.MQOO_FAIL_IF_QUIESCING;

    static MQMessage text(String text) throws Exception {
        MQMessage message = new MQMessage();
        message.format = CMQC.MQFMT_STRING;
        message.characterSet = 1208;
        message.writeString(text);
        return message;
    }

    static String text(MQMessage message) throws Exception {
        byte[] data = new byte[message.getDataLength()];
        message.readFully(data);
        return new String(data, java.nio.charset.StandardCharsets.UTF_8);
    }

    private static String got(MQQueue queue, int options) throws Exception {
        MQGetMessageOptions gmo = new MQGetMessageOptions();
        gmo.options = options;
        MQMessage message = new MQMessage();
        queue.get(message, gmo);
        return text(message);
    }

    private static void put(MQQueue queue, String text, int options) throws Exception {
        MQPutMessageOptions pmo = new MQPutMessageOptions();
        pmo.options = options;
        queue.put(text(text), pmo);
    }

    @Case
    public void putAndGet() throws Exception {
        String name = place.queue();
        MQQueueManager qm = connect();
        MQQueue queue = qm.accessQueue(name, INOUT);
        MQMessage sent = text("Grüße");
        sent.persistence = CMQC.MQPER_PERSISTENT;
        sent.priority = 7;
        sent.correlationId = Arrays.copyOf("correlation".getBytes(), 24);
        sent.replyToQueueName = "REPLY";
        queue.put(sent);
        that(!Arrays.equals(new byte[24], sent.messageId), "a message identifier");
        equal(1, queue.getCurrentDepth());
        MQMessage received = new MQMessage();
        queue.get(received);
        equal("Grüße", text(received));
        that(Arrays.equals(sent.messageId, received.messageId), "the same identifier");
        that(Arrays.equals(sent.correlationId, received.correlationId), "the same correlation");
        equal(7, received.priority);
        equal(CMQC.MQPER_PERSISTENT, received.persistence);
        equal("REPLY", received.replyToQueueName.trim());
        equal("QM1", received.replyToQueueManagerName.trim());
        fails(CMQC.MQRC_NO_MSG_AVAILABLE, () -> queue.get(new MQMessage()));
        queue.close();
        qm.disconnect();
    }

    @Case
    public void browse() throws Exception {
        String name = place.queue();
        MQQueueManager qm = connect();
        MQQueue queue = qm.accessQueue(name, INOUT);
        for (String text : new String[] {"one", "two", "three"}) {
            put(queue, text, CMQC.MQPMO_NO_SYNCPOINT);
        }
        equal("one", got(queue, CMQC.MQGMO_BROWSE_FIRST));
        equal("two", got(queue, CMQC.MQGMO_BROWSE_NEXT));
        equal("two", got(queue, CMQC.MQGMO_BROWSE_MSG_UNDER_CURSOR));
        equal("three", got(queue, CMQC.MQGMO_BROWSE_NEXT | CMQC.MQGMO_LOCK));
        MQQueueManager another = connect();
        MQQueue others = another.accessQueue(name, INOUT);
        equal("one", got(others, CMQC.MQGMO_NO_SYNCPOINT));
        equal("two", got(others, CMQC.MQGMO_NO_SYNCPOINT));
        fails(CMQC.MQRC_NO_MSG_AVAILABLE, () -> got(others, CMQC.MQGMO_NO_SYNCPOINT));
        fails(CMQC.MQRC_NO_MSG_AVAILABLE, () -> got(queue, CMQC.MQGMO_BROWSE_NEXT));
        equal("three", got(queue, CMQC.MQGMO_MSG_UNDER_CURSOR));
        equal(0, queue.getCurrentDepth());
        fails(CMQC.MQRC_NO_MSG_UNDER_CURSOR, () -> got(queue, CMQC.MQGMO_MSG_UNDER_CURSOR));
        another.disconnect();
        qm.disconnect();
    }

    @Case
    public void syncpoint() throws Exception {
        String name = place.queue();
        MQQueueManager qm = connect();
        MQQueue queue = qm.accessQueue(name, INOUT);
        put(queue, "backed out", CMQC.MQPMO_SYNCPOINT);
        qm.backout();
        fails(CMQC.MQRC_NO_MSG_AVAILABLE, () -> got(queue, CMQC.MQGMO_NO_SYNCPOINT));
        put(queue, "committed", CMQC.MQPMO_SYNCPOINT);
        qm.commit();
        equal("committed", got(queue, CMQC.MQGMO_SYNCPOINT));
        qm.backout();
        MQGetMessageOptions gmo = new MQGetMessageOptions();
        gmo.options = CMQC.MQGMO_SYNCPOINT;
        MQMessage again = new MQMessage();
        queue.get(again, gmo);
        equal(1, again.backoutCount);
        qm.commit();
        equal(0, queue.getCurrentDepth());
        // What a connection has not committed when it goes is committed by MQDISC, as the base classes say first.
        put(queue, "left", CMQC.MQPMO_SYNCPOINT);
        qm.disconnect();
        equal(1, place.depth(name));
    }

    @Case
    public void anotherConnectionHasAnotherUnitOfWork() throws Exception {
        String name = place.queue();
        MQQueueManager one = connect();
        MQQueueManager two = connect();
        MQQueue first = one.accessQueue(name, INOUT);
        MQQueue second = two.accessQueue(name, INOUT);
        put(first, "first", CMQC.MQPMO_SYNCPOINT);
        put(second, "second", CMQC.MQPMO_SYNCPOINT);
        one.commit();
        two.backout();
        equal("first", got(second, CMQC.MQGMO_NO_SYNCPOINT));
        fails(CMQC.MQRC_NO_MSG_AVAILABLE, () -> got(first, CMQC.MQGMO_NO_SYNCPOINT));
        // A wait of one holds the other up in nothing, on the same socket or on another.
        Thread waits = new Thread(() -> {
            try {
                MQGetMessageOptions gmo = new MQGetMessageOptions();
                gmo.options = CMQC.MQGMO_WAIT | CMQC.MQGMO_NO_SYNCPOINT;
                gmo.waitInterval = CMQC.MQWI_UNLIMITED;
                MQMessage message = new MQMessage();
                second.get(message, gmo);
                equal("for who waits", text(message));
            } catch (Exception failure) {
                throw new AssertionError(failure);
            }
        });
        Throwable[] wrong = new Throwable[1];
        waits.setUncaughtExceptionHandler((thread, failure) -> wrong[0] = failure);
        waits.start();
        for (int round = 0; round < 20; round++) {
            equal(0, first.getCurrentDepth());
        }
        put(first, "for who waits", CMQC.MQPMO_NO_SYNCPOINT);
        waits.join();
        that(wrong[0] == null, "the one that waits has it: " + wrong[0]);
        one.disconnect();
        two.disconnect();
    }

    @Case
    public void put1() throws Exception {
        String name = place.queue();
        MQQueueManager qm = connect();
        MQMessage message = text("put1");
        MQPutMessageOptions pmo = new MQPutMessageOptions();
        pmo.options = CMQC.MQPMO_NO_SYNCPOINT | CMQC.MQPMO_NEW_MSG_ID;
        qm.put(name, message, pmo);
        equal(name, pmo.resolvedQueueName.trim());
        equal("QM1", pmo.resolvedQueueManagerName.trim());
        qm.put(name, "QM1", text("by both names"));
        fails(CMQC.MQRC_UNKNOWN_OBJECT_NAME, () -> qm.put("NOT.THERE", text("x")));
        MQQueue queue = qm.accessQueue(name, INOUT);
        equal("put1", got(queue, CMQC.MQGMO_NO_SYNCPOINT));
        equal("by both names", got(queue, CMQC.MQGMO_NO_SYNCPOINT));
        qm.disconnect();
    }

    @Case
    public void inquireAndSet() throws Exception {
        String name = place.queue("DESCR('of a case') MAXDEPTH(77) DEFPSIST(YES) GET(DISABLED)");
        MQQueueManager qm = connect();
        MQQueue queue = qm.accessQueue(name, CMQC.MQOO_INQUIRE | CMQC.MQOO_SET);
        equal("of a case", queue.getDescription().trim());
        equal(77, queue.getMaximumDepth());
        equal(CMQC.MQQT_LOCAL, queue.getQueueType());
        equal(CMQC.MQQA_GET_INHIBITED, queue.getInhibitGet());
        int[] selectors = {CMQC.MQCA_Q_NAME, CMQC.MQIA_DEF_PERSISTENCE, CMQC.MQIA_CURRENT_Q_DEPTH};
        int[] ints = new int[2];
        byte[] chars = new byte[CMQC.MQ_Q_NAME_LENGTH];
        queue.inquire(selectors, ints, chars);
        equal(CMQC.MQPER_PERSISTENT, ints[0]);
        equal(0, ints[1]);
        equal(name, new String(chars, java.nio.charset.StandardCharsets.US_ASCII).trim());
        // There may be more room than there are integers.
        int[] room = new int[5];
        byte[] wide = new byte[60];
        queue.inquire(selectors, room, wide);
        equal("[1, 0, 0, 0, 0]", Arrays.toString(room));
        equal(name, new String(wide, java.nio.charset.StandardCharsets.US_ASCII).trim());
        queue.setInhibitGet(CMQC.MQQA_GET_ALLOWED);
        queue.setInhibitPut(CMQC.MQQA_PUT_INHIBITED);
        equal(CMQC.MQQA_GET_ALLOWED, queue.getInhibitGet());
        fails(CMQC.MQRC_PUT_INHIBITED, () -> qm.put(name, text("x")));
        fails(CMQC.MQRC_SELECTOR_ERROR, () -> queue.inquire(new int[] {1_999}, new int[1], new byte[0]));
        equal("QM1", qm.getAttributeString(CMQC.MQCA_Q_MGR_NAME, CMQC.MQ_Q_MGR_NAME_LENGTH).trim());
        that(qm.getCommandLevel() >= 700, "a command level");
        int[] platform = new int[1];
        qm.inquire(new int[] {CMQC.MQIA_PLATFORM}, platform, new byte[0]);
        equal(CMQC.MQPL_UNIX, platform[0]);
        qm.disconnect();
    }

    @Case
    public void identifiersSelect() throws Exception {
        String name = place.queue();
        MQQueueManager qm = connect();
        MQQueue queue = qm.accessQueue(name, INOUT);
        MQMessage[] sent = new MQMessage[4];
        for (int n = 0; n < sent.length; n++) {
            sent[n] = text("number " + n);
            sent[n].correlationId = Arrays.copyOf(("correlation " + n % 2).getBytes(), 24);
            queue.put(sent[n]);
        }
        MQMessage wanted = new MQMessage();
        wanted.messageId = sent[2].messageId;
        queue.get(wanted);
        equal("number 2", text(wanted));
        wanted = new MQMessage();
        wanted.correlationId = sent[3].correlationId;
        queue.get(wanted);
        equal("number 1", text(wanted));
        MQGetMessageOptions gmo = new MQGetMessageOptions();
        gmo.matchOptions = CMQC.MQMO_MATCH_CORREL_ID;
        MQMessage correlated = new MQMessage();
        correlated.messageId = sent[2].messageId;
        correlated.correlationId = sent[1].correlationId;
        queue.get(correlated, gmo);
        equal("number 3", text(correlated));
        gmo.matchOptions = CMQC.MQMO_NONE;
        MQMessage any = new MQMessage();
        any.messageId = sent[1].messageId;
        queue.get(any, gmo);
        equal("number 0", text(any));
        qm.disconnect();
    }

    @Case
    public void longMessagesAndShortBuffers() throws Exception {
        String name = place.queue("MAXMSGL(104857600)");
        MQQueueManager qm = connect();
        MQQueue queue = qm.accessQueue(name, INOUT);
        for (int length : new int[] {0, 1, 4_095, 4_096, 4_097, 32_748, 100_000, 3_000_000}) {
            byte[] data = new byte[length];
            new java.util.Random(length).nextBytes(data);
            MQMessage message = new MQMessage();
            message.write(data);
            queue.put(message);
            MQGetMessageOptions gmo = new MQGetMessageOptions();
            if (length > 10) {
                fails(CMQC.MQRC_TRUNCATED_MSG_FAILED, () -> queue.get(new MQMessage(), gmo, 10));
            }
            MQMessage back = new MQMessage();
            queue.get(back, gmo);
            byte[] received = new byte[back.getDataLength()];
            back.readFully(received);
            that(Arrays.equals(data, received), "what was put, of " + length);
        }
        put(queue, "0123456789", CMQC.MQPMO_NO_SYNCPOINT);
        MQGetMessageOptions accept = new MQGetMessageOptions();
        accept.options = CMQC.MQGMO_ACCEPT_TRUNCATED_MSG;
        MQMessage cut = new MQMessage();
        fails(CMQC.MQRC_TRUNCATED_MSG_ACCEPTED, () -> queue.get(cut, accept, 4));
        byte[] beginning = new byte[4];
        cut.readFully(beginning);
        equal("0123", new String(beginning, java.nio.charset.StandardCharsets.UTF_8));
        equal(10, cut.getTotalMessageLength());
        equal(0, queue.getCurrentDepth());
        qm.disconnect();
    }

    @Case
    public void reasonsAreTheirs() throws Exception {
        String name = place.queue("MAXDEPTH(1) MAXMSGL(10)");
        MQQueueManager qm = connect();
        fails(CMQC.MQRC_UNKNOWN_OBJECT_NAME, () -> qm.accessQueue("NOT.THERE", CMQC.MQOO_OUTPUT));
        fails(CMQC.MQRC_UNKNOWN_REMOTE_Q_MGR,
            () -> qm.accessQueue(name, CMQC.MQOO_OUTPUT, "NOT.THERE", null, null));
        fails(CMQC.MQRC_Q_MGR_NAME_ERROR, () -> {
            new MQQueueManager("NOT.THERE", properties(place));
        });
        fails(CMQC.MQRC_UNKNOWN_CHANNEL_NAME, () -> {
            Hashtable<String, Object> properties = properties(place);
            properties.put(CMQC.CHANNEL_PROPERTY, "NOT.THERE");
            new MQQueueManager("QM1", properties);
        });
        MQQueue out = qm.accessQueue(name, CMQC.MQOO_OUTPUT);
        fails(CMQC.MQRC_NOT_OPEN_FOR_INPUT, () -> out.get(new MQMessage()));
        fails(CMQC.MQRC_NOT_OPEN_FOR_INQUIRE, out::getMaximumDepth);
        fails(CMQC.MQRC_MSG_TOO_BIG_FOR_Q, () -> put(out, "longer than ten", CMQC.MQPMO_NO_SYNCPOINT));
        put(out, "one", CMQC.MQPMO_NO_SYNCPOINT);
        fails(CMQC.MQRC_Q_FULL, () -> put(out, "two", CMQC.MQPMO_NO_SYNCPOINT));
        fails(CMQC.MQRC_OPTIONS_ERROR,
            () -> put(out, "x", CMQC.MQPMO_NO_SYNCPOINT | CMQC.MQPMO_SYNCPOINT));
        MQQueue exclusive = qm.accessQueue(name, CMQC.MQOO_INPUT_EXCLUSIVE);
        MQQueueManager another = connect();
        fails(CMQC.MQRC_OBJECT_IN_USE, () -> another.accessQueue(name, CMQC.MQOO_INPUT_SHARED));
        exclusive.close();
        another.accessQueue(name, CMQC.MQOO_INPUT_SHARED).get(new MQMessage());
        another.disconnect();
        qm.disconnect();
    }

    @Case
    public void dynamicQueues() throws Exception {
        MQQueueManager qm = connect();
        MQQueue dynamic = qm.accessQueue("SYSTEM.DEFAULT.MODEL.QUEUE",
            CMQC.MQOO_INPUT_SHARED | CMQC.MQOO_OUTPUT | CMQC.MQOO_INQUIRE, null, "CASE.DYN.*", null);
        String name = dynamic.getName().trim();
        that(name.startsWith("CASE.DYN.") && name.length() > 9, name);
        qm.put(name, text("to a dynamic one"));
        equal("to a dynamic one", got(dynamic, CMQC.MQGMO_NO_SYNCPOINT));
        dynamic.close();
        fails(CMQC.MQRC_UNKNOWN_OBJECT_NAME, () -> qm.accessQueue(name, CMQC.MQOO_OUTPUT));
        qm.disconnect();
    }

    @Case
    public void waits() throws Exception {
        String name = place.queue();
        MQQueueManager qm = connect();
        MQQueue queue = qm.accessQueue(name, INOUT);
        MQGetMessageOptions gmo = new MQGetMessageOptions();
        gmo.options = CMQC.MQGMO_WAIT | CMQC.MQGMO_FAIL_IF_QUIESCING;
        gmo.waitInterval = 50;
        fails(CMQC.MQRC_NO_MSG_AVAILABLE, () -> queue.get(new MQMessage(), gmo));
        gmo.waitInterval = 60_000;
        Thread puts = new Thread(() -> {
            try {
                MQQueueManager another = connect();
                another.put(name, text("awaited"));
                another.disconnect();
            } catch (Exception failure) {
                throw new AssertionError(failure);
            }
        });
        puts.start();
        MQMessage message = new MQMessage();
        queue.get(message, gmo);
        equal("awaited", text(message));
        puts.join();
        qm.disconnect();
    }

    @Case
    public void aWaitOutlastsHeartbeats() throws Exception {
        String name = place.queue();
        MQQueueManager qm = connect();
        MQQueue queue = qm.accessQueue(name, INOUT);
        MQGetMessageOptions gmo = new MQGetMessageOptions();
        gmo.options = CMQC.MQGMO_WAIT;
        // The library's own interval is a second until it is told another.
        gmo.waitInterval = 2_500;
        fails(CMQC.MQRC_NO_MSG_AVAILABLE, () -> queue.get(new MQMessage(), gmo));
        equal(0, queue.getCurrentDepth());
        qm.disconnect();
    }

    @Case
    public void asynchronousPuts() throws Exception {
        String name = place.queue("MAXDEPTH(10)");
        MQQueueManager qm = connect();
        MQQueue queue = qm.accessQueue(name, INOUT);
        for (int n = 0; n < 12; n++) {
            put(queue, "number " + n, CMQC.MQPMO_NO_SYNCPOINT | CMQC.MQPMO_ASYNC_RESPONSE);
        }
        com.ibm.mq.MQAsyncStatus status = qm.getAsyncStatus();
        equal(10, status.putSuccessCount);
        equal(2, status.putFailureCount);
        equal(CMQC.MQRC_Q_FULL, status.reasonCode);
        equal(0, qm.getAsyncStatus().putSuccessCount);
        equal(10, queue.getCurrentDepth());
        qm.disconnect();
    }

    @Case
    public void expiryPriorityAndContext() throws Exception {
        String name = place.queue("MSGDLVSQ(PRIORITY)");
        MQQueueManager qm = connect();
        MQQueue queue = qm.accessQueue(name, INOUT | CMQC.MQOO_SET_ALL_CONTEXT);
        MQMessage gone = text("gone");
        gone.expiry = 1;
        gone.priority = 9;
        queue.put(gone);
        for (int priority : new int[] {2, 8, 5}) {
            MQMessage message = text("priority " + priority);
            message.priority = priority;
            message.expiry = 10_000;
            queue.put(message);
        }
        place.until("the first has expired", () -> {
            try {
                MQGetMessageOptions gmo = new MQGetMessageOptions();
                gmo.options = CMQC.MQGMO_BROWSE_FIRST;
                MQMessage first = new MQMessage();
                queue.get(first, gmo);
                return first.priority != 9;
            } catch (Exception failure) {
                throw new AssertionError(failure);
            }
        });
        for (int priority : new int[] {8, 5, 2}) {
            MQMessage message = new MQMessage();
            queue.get(message);
            equal(priority, message.priority);
            that(message.expiry > 0 && message.expiry <= 10_000, "expiry " + message.expiry);
        }
        MQMessage context = text("context");
        context.userId = "SOMEBODY";
        context.applicationIdData = "identity";
        context.putApplicationName = "an application";
        context.putApplicationType = CMQC.MQAT_CICS;
        context.applicationOriginData = "orig";
        context.putDateTime = new java.util.GregorianCalendar(2020, 1, 2, 3, 4, 5);
        MQPutMessageOptions pmo = new MQPutMessageOptions();
        pmo.options = CMQC.MQPMO_SET_ALL_CONTEXT;
        queue.put(context, pmo);
        MQMessage message = new MQMessage();
        queue.get(message);
        equal("SOMEBODY", message.userId.trim());
        equal("identity", message.applicationIdData.trim());
        equal("an application", message.putApplicationName.trim());
        equal("orig", message.applicationOriginData.trim());
        equal(CMQC.MQAT_CICS, message.putApplicationType);
        qm.disconnect();
    }

    @Case
    public void groups() throws Exception {
        String name = place.queue();
        MQQueueManager qm = connect();
        MQQueue queue = qm.accessQueue(name, INOUT);
        MQPutMessageOptions pmo = new MQPutMessageOptions();
        pmo.options = CMQC.MQPMO_LOGICAL_ORDER | CMQC.MQPMO_NO_SYNCPOINT;
        for (int n = 1; n <= 3; n++) {
            MQMessage message = text("part " + n);
            message.messageFlags = n < 3 ? CMQC.MQMF_MSG_IN_GROUP : CMQC.MQMF_LAST_MSG_IN_GROUP;
            queue.put(message, pmo);
            equal(n, message.messageSequenceNumber);
        }
        MQGetMessageOptions gmo = new MQGetMessageOptions();
        gmo.options = CMQC.MQGMO_LOGICAL_ORDER | CMQC.MQGMO_ALL_MSGS_AVAILABLE | CMQC.MQGMO_NO_SYNCPOINT;
        gmo.matchOptions = CMQC.MQMO_NONE;
        for (int n = 1; n <= 3; n++) {
            MQMessage message = new MQMessage();
            queue.get(message, gmo);
            equal("part " + n, text(message));
            equal(n == 3 ? CMQC.MQGS_LAST_MSG_IN_GROUP : CMQC.MQGS_MSG_IN_GROUP, gmo.groupStatus);
        }
        qm.disconnect();
    }

    @Case
    public void reports() throws Exception {
        String name = place.queue();
        String replies = place.queue();
        MQQueueManager qm = connect();
        MQMessage message = text("tell me");
        message.report = CMQC.MQRO_COA | CMQC.MQRO_COD;
        message.replyToQueueName = replies;
        qm.put(name, message);
        MQQueue queue = qm.accessQueue(name, INOUT);
        equal("tell me", got(queue, CMQC.MQGMO_NO_SYNCPOINT));
        MQQueue reports = qm.accessQueue(replies, INOUT);
        for (int feedback : new int[] {CMQC.MQFB_COA, CMQC.MQFB_COD}) {
            MQMessage report = new MQMessage();
            report.correlationId = message.messageId;
            reports.get(report);
            equal(CMQC.MQMT_REPORT, report.messageType);
            equal(feedback, report.feedback);
        }
        qm.disconnect();
    }

    @Case
    public void propertiesTravelInFolders() throws Exception {
        String name = place.queue();
        MQQueueManager qm = connect();
        MQQueue queue = qm.accessQueue(name, INOUT);
        MQMessage message = text("with properties");
        message.setStringProperty("colour", "red");
        message.setIntProperty("number", 7);
        message.setBooleanProperty("flag", true);
        queue.put(message);
        MQMessage back = new MQMessage();
        queue.get(back);
        equal("red", back.getStringProperty("colour"));
        equal(7, back.getIntProperty("number"));
        equal(true, back.getBooleanProperty("flag"));
        equal("with properties", text(back));
        qm.disconnect();
    }

    @Case
    public void aConnectionThatGoesLeavesNothing() throws Exception {
        String name = place.queue();
        MQQueueManager qm = connect();
        MQQueue queue = qm.accessQueue(name, INOUT);
        put(queue, "stays", CMQC.MQPMO_NO_SYNCPOINT);
        MQQueueManager goes = connect();
        MQQueue its = goes.accessQueue(name, INOUT);
        equal("stays", got(its, CMQC.MQGMO_SYNCPOINT));
        put(its, "goes", CMQC.MQPMO_SYNCPOINT);
        fails(CMQC.MQRC_NO_MSG_AVAILABLE, () -> got(queue, CMQC.MQGMO_NO_SYNCPOINT));
        goes.backout();
        goes.close();
        equal("stays", got(queue, CMQC.MQGMO_NO_SYNCPOINT));
        fails(CMQC.MQRC_NO_MSG_AVAILABLE, () -> got(queue, CMQC.MQGMO_NO_SYNCPOINT));
        qm.disconnect();
    }

    @Case
    public void distributionLists() throws Exception {
        String one = place.queue();
        String two = place.queue("MAXDEPTH(1)");
        MQQueueManager qm = connect();
        that(qm.getDistributionListCapable(), "distribution lists");
        MQDistributionListItem[] items = items(one, two, "NOT.THERE");
        // The library warns of what differs by queue in the items only.
        MQDistributionList list = new MQDistributionList(qm, items, CMQC.MQOO_OUTPUT, null);
        equal(2, list.getValidDestinationCount());
        equal(1, list.getInvalidDestinationCount());
        equal(CMQC.MQRC_UNKNOWN_OBJECT_NAME, items[2].reasonCode);
        MQPutMessageOptions pmo = new MQPutMessageOptions();
        pmo.options = CMQC.MQPMO_SYNCPOINT;
        pmo.recordFields = CMQC.MQPMRF_MSG_ID | CMQC.MQPMRF_CORREL_ID;
        MQMessage message = text("to all");
        message.persistence = CMQC.MQPER_PERSISTENT;
        fails(CMQC.MQRC_MULTIPLE_REASONS, () -> list.put(message, pmo));
        equal(CMQC.MQRC_OPEN_FAILED, items[2].reasonCode);
        equal(2, pmo.knownDestCount);
        equal(1, pmo.invalidDestCount);
        qm.commit();
        // One of them is full now.
        fails(CMQC.MQRC_MULTIPLE_REASONS, () -> list.put(message, pmo));
        equal(CMQC.MQRC_Q_FULL, items[1].reasonCode);
        equal(1, pmo.knownDestCount);
        qm.backout();
        list.close();
        for (int n = 0; n < 2; n++) {
            MQQueue queue = qm.accessQueue(n == 0 ? one : two, INOUT);
            MQMessage got = new MQMessage();
            queue.get(got);
            equal("to all", text(got));
            that(Arrays.equals(items[n].correlationId, got.correlationId), "a CorrelId of its own");
            fails(CMQC.MQRC_NO_MSG_AVAILABLE, () -> queue.get(new MQMessage()));
        }
        fails(CMQC.MQRC_UNKNOWN_OBJECT_NAME,
            () -> new MQDistributionList(qm, items("NOT.THERE", "NOR.THIS"), CMQC.MQOO_OUTPUT, null));
        qm.disconnect();
    }

    @Case
    public void programmableCommands() throws Exception {
        MQQueueManager qm = connect();
        PCFMessageAgent agent = new PCFMessageAgent(qm);
        String name = "CASE.PCF";
        PCFMessage create = new PCFMessage(CMQCFC.MQCMD_CREATE_Q);
        create.addParameter(CMQC.MQCA_Q_NAME, name);
        create.addParameter(CMQC.MQIA_Q_TYPE, CMQC.MQQT_LOCAL);
        create.addParameter(CMQC.MQIA_MAX_Q_DEPTH, 77);
        agent.send(create);
        PCFMessage inquire = new PCFMessage(CMQCFC.MQCMD_INQUIRE_Q);
        inquire.addParameter(CMQC.MQCA_Q_NAME, "CASE.P*");
        inquire.addParameter(CMQCFC.MQIACF_Q_ATTRS, new int[] {CMQC.MQCA_Q_NAME, CMQC.MQIA_MAX_Q_DEPTH});
        PCFMessage[] found = agent.send(inquire);
        equal(1, found.length);
        equal(name, found[0].getStringParameterValue(CMQC.MQCA_Q_NAME).trim());
        equal(77, found[0].getIntParameterValue(CMQC.MQIA_MAX_Q_DEPTH));
        PCFMessage status = new PCFMessage(CMQCFC.MQCMD_INQUIRE_Q_STATUS);
        status.addParameter(CMQC.MQCA_Q_NAME, name);
        equal(0, agent.send(status)[0].getIntParameterValue(CMQC.MQIA_CURRENT_Q_DEPTH));
        agent.send(new PCFMessage(CMQCFC.MQCMD_PING_Q_MGR));
        PCFMessage copy = new PCFMessage(CMQCFC.MQCMD_COPY_Q);
        copy.addParameter(CMQCFC.MQCACF_FROM_Q_NAME, name);
        copy.addParameter(CMQCFC.MQCACF_TO_Q_NAME, "CASE.PCF.COPY");
        copy.addParameter(CMQC.MQIA_Q_TYPE, CMQC.MQQT_LOCAL);
        agent.send(copy);
        PCFMessage names = new PCFMessage(CMQCFC.MQCMD_INQUIRE_Q_NAMES);
        names.addParameter(CMQC.MQCA_Q_NAME, "CASE.PCF*");
        String[] both = agent.send(names)[0].getStringListParameterValue(CMQCFC.MQCACF_Q_NAMES);
        equal(name + " CASE.PCF.COPY", both[0].trim() + " " + both[1].trim());
        PCFMessage alias = new PCFMessage(CMQCFC.MQCMD_CREATE_Q);
        alias.addParameter(CMQC.MQCA_Q_NAME, "CASE.PCF.ALIAS");
        alias.addParameter(CMQC.MQIA_Q_TYPE, CMQC.MQQT_ALIAS);
        agent.send(alias);
        for (String made : new String[] {name, "CASE.PCF.COPY", "CASE.PCF.ALIAS"}) {
            PCFMessage delete = new PCFMessage(CMQCFC.MQCMD_DELETE_Q);
            delete.addParameter(CMQC.MQCA_Q_NAME, made);
            agent.send(delete);
            refused(CMQC.MQRC_UNKNOWN_OBJECT_NAME, agent, delete);
        }
        refused(CMQCFC.MQRCCF_CFH_COMMAND_ERROR, agent, new PCFMessage(9_999));
        PCFMessage everybody = new PCFMessage(CMQCFC.MQCMD_INQUIRE_CONNECTION);
        everybody.addParameter(CMQCFC.MQBACF_GENERIC_CONNECTION_ID, new byte[CMQC.MQ_CONNECTION_ID_LENGTH]);
        byte[] first = agent.send(everybody)[0].getBytesParameterValue(CMQCFC.MQBACF_CONNECTION_ID);
        PCFMessage connection = new PCFMessage(CMQCFC.MQCMD_INQUIRE_CONNECTION);
        connection.addParameter(CMQCFC.MQBACF_CONNECTION_ID, first);
        PCFMessage[] it = agent.send(connection);
        equal(1, it.length);
        that(Arrays.equals(first, it[0].getBytesParameterValue(CMQCFC.MQBACF_CONNECTION_ID)), "another connection");
        agent.disconnect();
        qm.disconnect();
    }

    private static void refused(int reason, PCFMessageAgent agent, PCFMessage request) throws Exception {
        try {
            agent.send(request);
        } catch (PCFException refusal) {
            equal(reason, refusal.reasonCode);
            return;
        }
        throw new AssertionError("it was not refused with " + reason);
    }

    private static MQDistributionListItem[] items(String... names) {
        MQDistributionListItem[] items = new MQDistributionListItem[names.length];
        for (int n = 0; n < names.length; n++) {
            items[n] = new MQDistributionListItem();
            items[n].queueName = names[n];
            items[n].correlationId = Arrays.copyOf(names[n].getBytes(java.nio.charset.StandardCharsets.UTF_8), 24);
        }
        return items;
    }
}
