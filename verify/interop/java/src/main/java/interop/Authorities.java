package interop;

import static interop.Place.equal;
import static interop.Place.that;

import com.ibm.mq.MQDestination;
import com.ibm.mq.MQException;
import com.ibm.mq.MQMessage;
import com.ibm.mq.MQPutMessageOptions;
import com.ibm.mq.MQQueueManager;
import com.ibm.mq.MQTopic;
import com.ibm.mq.constants.CMQC;
import java.util.ArrayList;
import java.util.List;
import javax.jms.Connection;
import javax.jms.JMSException;
import javax.jms.JMSSecurityException;
import javax.jms.MessageConsumer;
import javax.jms.Session;

/**
 * What a user may do: each call with all that it needs, and refused with 2035 where any of that is missing. Whoever comes by
 * the channel runs as daemon, and authorities are those of its group.
 */
public final class Authorities {
    private static final String[] ALWAYS = {"QMGR self CONNECT", "QMGR self INQ"};
    private static final int SUBSCRIBE = CMQC.MQSO_CREATE | CMQC.MQSO_NON_DURABLE | CMQC.MQSO_MANAGED;
    private final Place place;
    private final String queue;
    private final String object;
    private final String topic;
    private final List<String> records = new ArrayList<>();

    public Authorities(Place place) {
        this.place = place;
        MQException.log = null;
        place.ok("ALTER CHANNEL(" + place.channel + ") CHLTYPE(SVRCONN) MCAUSER('daemon')");
        queue = place.queue();
        topic = place.topic();
        object = topic.replace('/', '.').toUpperCase();
        place.ok("DEFINE TOPIC(" + object + ") TOPICSTR('" + topic + "')");
    }

    private interface Body {
        void run() throws Exception;
    }

    private interface Use {
        void of(MQQueueManager manager) throws Exception;
    }

    /** "TYPE PROFILE AUTHORITY", for daemon's group; a fourth word is another group. */
    private void grant(String words) {
        String[] word = words.split(" ");
        String group = word.length > 3 ? word[3] : "daemon";
        String record = "PROFILE('" + word[1] + "') OBJTYPE(" + word[0] + ") GROUP('" + group + "')";
        place.ok("SET AUTHREC " + record + " AUTHADD(" + word[2] + ")");
        if (!records.contains(record)) {
            records.add(record);
        }
    }

    private void forget() {
        records.forEach(record -> place.ok("DELETE AUTHREC " + record));
        records.clear();
    }

    /** Runs it with everything that is granted; then without each in turn, where it must be refused. */
    private void needs(String what, Body body, String... grants) throws Exception {
        for (int missing = -1; missing < grants.length; missing++) {
            forget();
            for (int at = 0; at < grants.length; at++) {
                if (at != missing) {
                    grant(grants[at]);
                }
            }
            String how = what + (missing < 0 ? "" : " without " + grants[missing]);
            Integer reason = null;
            try {
                body.run();
            } catch (MQException failure) {
                reason = failure.reasonCode;
            } catch (JMSException failure) {
                reason = reasonOf(failure);
            }
            equal(how + ": " + (missing < 0 ? null : Integer.valueOf(2035)), how + ": " + reason);
        }
        forget();
    }

    private static Integer reasonOf(Throwable failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof MQException) {
                return ((MQException) cause).reasonCode;
            }
        }
        throw new AssertionError("no reason", failure);
    }

    private static String[] with(String... grants) {
        List<String> all = new ArrayList<>(List.of(grants));
        all.addAll(List.of(ALWAYS));
        return all.toArray(new String[0]);
    }

    /** The same with a connection of its own, which needs what every connection does. */
    private void call(String what, Use use, String... grants) throws Exception {
        needs(what, () -> {
            MQQueueManager manager = Base.connect(place);
            try {
                use.of(manager);
            } finally {
                manager.disconnect();
            }
        }, with(grants));
    }

    private void open(String what, int options, String... grants) throws Exception {
        call(what, manager -> manager.accessQueue(queue, options).close(), grants);
    }

    @Case
    public void queuesAreOpenedForWhatIsGranted() throws Exception {
        String on = "QUEUE " + queue + " ";
        open("get", CMQC.MQOO_INPUT_SHARED, on + "GET");
        open("browse", CMQC.MQOO_BROWSE, on + "BROWSE");
        open("put", CMQC.MQOO_OUTPUT, on + "PUT");
        open("set", CMQC.MQOO_SET, on + "SET");
        call("inquire", manager -> {
            MQDestination opened = manager.accessQueue(queue, CMQC.MQOO_INQUIRE);
            equal(0, ((com.ibm.mq.MQQueue) opened).getCurrentDepth());
            opened.close();
        }, on + "INQ");
        call("a put without an open", manager -> manager.put(queue, new MQMessage(), new MQPutMessageOptions()), on + "PUT");
        open("all at once", CMQC.MQOO_INPUT_SHARED | CMQC.MQOO_OUTPUT | CMQC.MQOO_BROWSE, on + "GET", on + "PUT", on + "BROWSE");
    }

    @Case
    public void contextIsPassedAndSetByWhoMay() throws Exception {
        String on = "QUEUE " + queue + " ";
        int put = CMQC.MQOO_OUTPUT;
        open("pass identity", put | CMQC.MQOO_PASS_IDENTITY_CONTEXT, on + "PUT", on + "PASSID");
        open("pass all", put | CMQC.MQOO_PASS_ALL_CONTEXT, on + "PUT", on + "PASSALL");
        open("set identity", put | CMQC.MQOO_SET_IDENTITY_CONTEXT, on + "PUT", on + "SETID", "QMGR self SETID");
        open("set all", put | CMQC.MQOO_SET_ALL_CONTEXT, on + "PUT", on + "SETALL", "QMGR self SETALL");
    }

    @Case
    public void anotherUsersAuthorityIsUsedByWhoMay() throws Exception {
        int options = CMQC.MQOO_OUTPUT | CMQC.MQOO_ALTERNATE_USER_AUTHORITY;
        call("alternate user", manager -> manager.accessQueue(queue, options, null, null, "bin").close(),
            "QMGR self ALTUSR", "QUEUE " + queue + " PUT bin");
    }

    @Case
    public void topicsHaveWhatIsGrantedAboveThem() throws Exception {
        String below = topic + "/below";
        for (String at : new String[] {object, "SYSTEM.BASE.TOPIC"}) {
            call("publish", manager -> {
                MQTopic opened = manager.accessTopic(below, null, CMQC.MQTOPIC_OPEN_AS_PUBLICATION, CMQC.MQOO_OUTPUT);
                opened.put(Base.text("news"), new MQPutMessageOptions());
                opened.close();
            }, "TOPIC " + at + " PUB");
            call("subscribe", manager ->
                manager.accessTopic(below, null, CMQC.MQTOPIC_OPEN_AS_SUBSCRIPTION, SUBSCRIBE).close(),
                "TOPIC " + at + " SUB");
        }
        call("subscribe for a queue", manager -> {
            MQDestination destination = manager.accessQueue(queue, CMQC.MQOO_INPUT_SHARED);
            // It closes the queue too.
            manager.accessTopic(destination, below, null, CMQC.MQSO_CREATE | CMQC.MQSO_NON_DURABLE).close();
        }, "TOPIC " + object + " SUB", "QUEUE " + queue + " PUT", "QUEUE " + queue + " GET");
    }

    /** What is open goes on; the next open is refused. */
    @Case
    public void aHandleKeepsWhatItWasOpenedFor() throws Exception {
        for (String grant : with("QUEUE " + queue + " PUT")) {
            grant(grant);
        }
        MQQueueManager manager = Base.connect(place);
        MQDestination opened = manager.accessQueue(queue, CMQC.MQOO_OUTPUT);
        forget();
        opened.put(Base.text("still"), new MQPutMessageOptions());
        Base.fails(2035, () -> manager.accessQueue(queue, CMQC.MQOO_OUTPUT));
        equal(1, place.depth(queue));
        manager.disconnect();
    }

    @Case
    public void jmsIsRefusedInItsOwnWay() throws Exception {
        try {
            Jms.factory(place).createConnection().close();
            throw new AssertionError("not refused");
        } catch (JMSSecurityException failure) {
            equal(2035, reasonOf(failure));
        }
        String name = "queue:///" + queue;
        needs("JMS", () -> {
            try (Connection connection = Jms.factory(place).createConnection()) {
                connection.start();
                Session session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
                session.createProducer(session.createQueue(name)).send(session.createTextMessage("hello"));
                MessageConsumer consumer = session.createConsumer(session.createQueue(name));
                that(consumer.receive(60_000) != null, "no message");
            }
        }, with("QUEUE " + queue + " PUT", "QUEUE " + queue + " GET", "QUEUE " + queue + " INQ", "QUEUE " + queue + " BROWSE"));
    }
}
