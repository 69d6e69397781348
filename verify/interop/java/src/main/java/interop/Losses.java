package interop;

import static interop.Messages.LONG;
import static interop.Messages.reason;
import static interop.Messages.text;
import static interop.Place.equal;
import static interop.Place.that;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import javax.jms.Connection;
import javax.jms.JMSException;
import javax.jms.Message;
import javax.jms.MessageConsumer;
import javax.jms.MessageProducer;
import javax.jms.Session;
import javax.jms.TemporaryQueue;
import javax.jms.Topic;

/**
 * Connections that are lost in the middle of something and not made anew: what was acknowledged is neither lost nor comes
 * again, the application hears of it, and nothing of theirs is left at the queue manager.
 */
public final class Losses {
    private static final int CONNECTION_BROKEN = 2009;
    private static final int Q_MGR_QUIESCING = 2161;
    private static final int CONNECTION_QUIESCING = 2202;

    private final Place place;
    private final BlockingQueue<JMSException> heard = new LinkedBlockingQueue<>();

    public Losses(Place place) {
        this.place = place;
    }

    private Connection connect(String client) throws JMSException {
        Connection connection = Jms.factory(place).createConnection();
        if (client != null) {
            connection.setClientID(client);
        }
        connection.setExceptionListener(heard::add);
        connection.start();
        return connection;
    }

    /** The connection is lost: it hears that, and nothing is left of it. */
    private void isGone(Connection connection) throws Exception {
        JMSException failure = heard.poll(60, TimeUnit.SECONDS);
        that(failure != null, "the exception listener hears of it");
        equal(CONNECTION_BROKEN, reason(failure));
        try {
            connection.close();
        } catch (JMSException broken) {
            // There is nothing left to close.
        }
        place.until("its connections are gone",
            () -> !Main.mqsc("DISPLAY CONN(*) CHANNEL").contains("CHANNEL(" + place.channel + ")"));
    }

    private static List<String> rest(MessageConsumer consumer) throws JMSException {
        List<String> texts = new ArrayList<>();
        for (Message next = consumer.receiveNoWait(); next != null; next = consumer.receiveNoWait()) {
            texts.add(text(next));
        }
        return texts;
    }

    private List<String> rest(String queue) throws JMSException {
        try (Connection connection = connect(null)) {
            Session session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
            return rest(session.createConsumer(session.createQueue(queue)));
        }
    }

    @Case
    public void listenersInEveryMode() throws Exception {
        int[] modes = {
            Session.AUTO_ACKNOWLEDGE, Session.CLIENT_ACKNOWLEDGE, Session.DUPS_OK_ACKNOWLEDGE, Session.SESSION_TRANSACTED,
        };
        for (int mode : modes) {
            listener(mode, place.queue());
        }
    }

    private void listener(int mode, String name) throws Exception {
        int count = 30;
        try (Connection connection = connect(null)) {
            Session session = connection.createSession(true, Session.SESSION_TRANSACTED);
            MessageProducer producer = session.createProducer(session.createQueue(name));
            for (int n = 0; n < count; n++) {
                producer.send(session.createTextMessage("" + n));
            }
            session.commit();
        }
        boolean transacted = mode == Session.SESSION_TRANSACTED;
        List<String> seen = new CopyOnWriteArrayList<>();
        List<String> acknowledged = new CopyOnWriteArrayList<>();
        AtomicInteger times = new AtomicInteger();
        Connection connection = connect(null);
        Session session = connection.createSession(transacted, mode);
        session.createConsumer(session.createQueue(name)).setMessageListener(message -> {
            try {
                seen.add(text(message));
                if (times.incrementAndGet() == 12) {
                    Main.cut();
                }
                if (transacted) {
                    session.commit();
                    acknowledged.add(text(message));
                } else if (mode == Session.CLIENT_ACKNOWLEDGE) {
                    message.acknowledge();
                    acknowledged.add(text(message));
                }
            } catch (JMSException broken) {
                // It is not acknowledged.
            }
        });
        isGone(connection);
        String status = Main.mqsc("DISPLAY QSTATUS(" + name + ") IPPROCS UNCOM");
        that(status.contains("IPPROCS(0)") && status.contains("UNCOM(NO)"), status);
        List<String> left = rest(name);
        Set<String> all = new HashSet<>(left);
        equal(left.size(), all.size());
        for (String text : acknowledged) {
            that(!all.contains(text), mode + ": " + text + " was acknowledged");
        }
        all.addAll(seen);
        equal(count, all.size());
    }

    /** A listener that waits for messages hears at once that the queue manager ends, and can still disconnect in order. */
    @Case
    public void listenersHearThatTheQueueManagerQuiesces() throws Exception {
        for (boolean transacted : new boolean[] {false, true}) {
            heard.clear();
            String name = place.queue();
            Connection connection = connect(null);
            Session session = connection.createSession(transacted, Session.AUTO_ACKNOWLEDGE);
            BlockingQueue<String> texts = new LinkedBlockingQueue<>();
            session.createConsumer(session.createQueue(name)).setMessageListener(message -> {
                try {
                    texts.add(text(message));
                    if (transacted) {
                        session.commit();
                    }
                } catch (JMSException broken) {
                    texts.add(broken.toString());
                }
            });
            try (Connection other = connect(null)) {
                Session sending = other.createSession(false, Session.AUTO_ACKNOWLEDGE);
                sending.createProducer(sending.createQueue(name)).send(sending.createTextMessage("one"));
            }
            equal("one", texts.poll(60, TimeUnit.SECONDS));
            place.until("it is acknowledged", () -> Main.mqsc("DISPLAY QSTATUS(" + name + ") UNCOM").contains("UNCOM(NO)"));
            AtomicInteger reason = new AtomicInteger();
            Thread closing = new Thread(() -> {
                try {
                    JMSException failure = heard.poll(60, TimeUnit.SECONDS);
                    reason.set(failure == null ? 0 : reason(failure));
                    connection.close();
                } catch (JMSException | InterruptedException broken) {
                    reason.set(-1);
                }
            });
            closing.start();
            Main.restart("controlled");
            closing.join();
            that(reason.get() == CONNECTION_QUIESCING || reason.get() == Q_MGR_QUIESCING, "it hears " + reason);
            equal(null, heard.poll());
        }
    }

    @Case
    public void subscribersOfEveryKind() throws Exception {
        String string = place.topic();
        String client = "losses " + place.label;
        Connection connection = connect(client);
        Session session = connection.createSession(false, Session.CLIENT_ACKNOWLEDGE);
        Topic topic = session.createTopic(string);
        MessageConsumer durable = session.createDurableConsumer(topic, "durable");
        MessageConsumer shared = session.createSharedDurableConsumer(topic, "shared");
        session.createConsumer(topic);
        session.createSharedConsumer(topic, "passing");
        try (Connection other = connect(null)) {
            Session publishing = other.createSession(false, Session.AUTO_ACKNOWLEDGE);
            for (int n = 0; n < 5; n++) {
                publishing.createProducer(topic).send(publishing.createTextMessage("" + n));
            }
        }
        for (int n = 0; n < 2; n++) {
            durable.receive(LONG);
            shared.receive(LONG).acknowledge();
        }
        durable.receive(LONG);
        shared.receive(LONG);
        Main.cut();
        isGone(connection);
        place.until("only durable ones are left",
            () -> !Main.mqsc("DISPLAY SUB(*) DURABLE WHERE(TOPICSTR EQ '" + string + "')").contains("DURABLE(NO)"));
        try (Connection again = connect(client)) {
            Session next = again.createSession(false, Session.AUTO_ACKNOWLEDGE);
            for (String name : List.of("durable", "shared")) {
                MessageConsumer consumer = name.equals("durable")
                    ? next.createDurableConsumer(next.createTopic(string), name)
                    : next.createSharedDurableConsumer(next.createTopic(string), name);
                equal(List.of("2", "3", "4"), rest(consumer));
                consumer.close();
                next.unsubscribe(name);
            }
        }
    }

    @Case
    public void whoeverWaitsForAReply() throws Exception {
        Connection connection = connect(null);
        Session session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
        TemporaryQueue replies = session.createTemporaryQueue();
        Thread waiting = new Thread(() -> {
            try {
                session.createConsumer(replies).receive(LONG);
            } catch (JMSException broken) {
                // Or the queue had gone before: without shared sockets they break one behind the other.
            }
        });
        waiting.start();
        place.until("it waits", () -> Main.mqsc("DISPLAY QSTATUS(AMQ.*) IPPROCS").contains("IPPROCS(1)"));
        Main.cut();
        isGone(connection);
        waiting.join(60_000);
        that(!waiting.isAlive(), "the receive ends");
        place.until("the queue is gone", () -> !Main.mqsc("DISPLAY QLOCAL(AMQ.*)").contains("QUEUE(AMQ"));
    }
}
