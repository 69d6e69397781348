package interop;

import static interop.Messages.LONG;
import static interop.Messages.reason;
import static interop.Messages.text;
import static interop.Place.equal;
import static interop.Place.that;

import com.ibm.mq.jms.MQConnectionFactory;
import com.ibm.msg.client.wmq.WMQConstants;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import javax.jms.Connection;
import javax.jms.JMSException;
import javax.jms.Message;
import javax.jms.MessageConsumer;
import javax.jms.MessageProducer;
import javax.jms.Queue;
import javax.jms.Session;
import javax.jms.TextMessage;

/**
 * Connections that break in the middle of something: by a cut, by the end of the queue manager, and when that breaks off.
 * Connections that the library makes anew by itself go on; with the others an application does.
 *
 * A call that is interrupted (2549) has happened or has not, and only that call. What is in a unit of work is backed out, and
 * its session has to be rolled back before it goes on.
 */
public final class Reconnections {
    private static final int CALL_INTERRUPTED = 2549;
    private static final int BATCH = 3;

    private final Place place;

    public Reconnections(Place place) {
        this.place = place;
    }

    private Connection connect(int option) throws JMSException {
        MQConnectionFactory factory = Jms.factory(place);
        factory.setClientReconnectOptions(option);
        factory.setClientReconnectTimeout(120);
        return factory.createConnection();
    }

    private Connection lasting() throws JMSException {
        Connection connection = connect(WMQConstants.WMQ_CLIENT_RECONNECT);
        connection.start();
        return connection;
    }

    /** Breaks connections in every way, each time when something has happened since; `progress` counts that. */
    private void breakAll(AtomicInteger progress) throws Exception {
        for (String how : List.of("cut", "immediate", "preemptive")) {
            int before = progress.get();
            place.until("progress after a break", () -> progress.get() > before + 2);
            breakBy(how);
        }
        int before = progress.get();
        place.until("progress behind the last break", () -> progress.get() > before + 2);
    }

    private List<String> drain(String queue) throws JMSException {
        List<String> texts = new ArrayList<>();
        try (Connection connection = Jms.factory(place).createConnection()) {
            connection.start();
            Session session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
            MessageConsumer consumer = session.createConsumer(session.createQueue(queue));
            for (Message message = consumer.receiveNoWait(); message != null; message = consumer.receiveNoWait()) {
                texts.add(text(message));
            }
        }
        return texts;
    }

    private static void each(Set<String> certain, Set<String> doubtful, List<String> found) {
        Set<String> once = new HashSet<>(found);
        equal(once.size(), found.size());
        Set<String> lost = new HashSet<>(certain);
        lost.removeAll(once);
        that(lost.isEmpty(), "nothing is lost: " + lost);
        once.removeAll(certain);
        that(doubtful.containsAll(once), "nothing comes of what was backed out: " + once);
    }

    /** Moves each message of one queue to another, each in a unit of work. */
    private static Session mover(Connection connection, String from, String to) throws JMSException {
        Session session = connection.createSession(true, Session.SESSION_TRANSACTED);
        MessageProducer producer = session.createProducer(session.createQueue(to));
        session.createConsumer(session.createQueue(from)).setMessageListener(message -> {
            try {
                producer.send(session.createTextMessage(((TextMessage) message).getText()));
                session.commit();
            } catch (JMSException broken) {
                // What was got and put is backed out, or the commit has happened: there is nothing else.
                try {
                    session.rollback();
                } catch (JMSException again) {
                    // The same.
                }
            }
        });
        return session;
    }

    @Case
    public void unitsOfWorkGoOn() throws Exception {
        String first = place.queue("MAXDEPTH(999999999)");
        String last = place.queue("MAXDEPTH(999999999)");
        Set<String> certain = new HashSet<>();
        Set<String> doubtful = new HashSet<>();
        AtomicInteger progress = new AtomicInteger();
        AtomicBoolean enough = new AtomicBoolean();
        AtomicReference<Exception> failure = new AtomicReference<>();
        try (Connection moving = lasting(); Connection sending = lasting()) {
            mover(moving, first, last);
            Session session = sending.createSession(true, Session.SESSION_TRANSACTED);
            MessageProducer producer = session.createProducer(session.createQueue(first));
            Thread sender = new Thread(() -> {
                try {
                    for (int batch = 0; !enough.get(); batch++) {
                        send(session, producer, batch, certain, doubtful);
                        progress.incrementAndGet();
                    }
                } catch (Exception unexpected) {
                    failure.set(unexpected);
                }
            });
            sender.start();
            breakAll(progress);
            enough.set(true);
            sender.join();
            if (failure.get() != null) {
                throw failure.get();
            }
            place.until("every message is moved", () -> place.depth(first) == 0);
        }
        // A message that the mover had and had not committed when its connection was closed is where it was.
        List<String> found = drain(last);
        found.addAll(drain(first));
        each(certain, doubtful, found);
    }

    /** Sends a batch until it is committed, or nobody knows whether it is. */
    private static void send(
        Session session, MessageProducer producer, int batch, Set<String> certain, Set<String> doubtful)
        throws JMSException {
        List<String> texts = new ArrayList<>();
        for (int n = 0; n < BATCH; n++) {
            texts.add(batch + "." + n);
        }
        while (true) {
            boolean committing = false;
            try {
                for (String text : texts) {
                    producer.send(session.createTextMessage(text));
                }
                committing = true;
                session.commit();
                certain.addAll(texts);
                return;
            } catch (JMSException broken) {
                if (committing && reason(broken) == CALL_INTERRUPTED) {
                    doubtful.addAll(texts);
                    return;
                }
                session.rollback();
            }
        }
    }

    @Case
    public void sendersAndListenersGoOn() throws Exception {
        String name = place.queue();
        BlockingQueue<String> texts = new LinkedBlockingQueue<>();
        try (Connection listening = lasting(); Connection sending = connect(WMQConstants.WMQ_CLIENT_RECONNECT_Q_MGR)) {
            Session listens = listening.createSession(false, Session.AUTO_ACKNOWLEDGE);
            listens.createConsumer(listens.createQueue(name)).setMessageListener(message -> {
                try {
                    texts.add(text(message));
                } catch (JMSException failure) {
                    texts.add(failure.toString());
                }
            });
            Session session = sending.createSession(false, Session.AUTO_ACKNOWLEDGE);
            MessageProducer producer = session.createProducer(session.createQueue(name));
            for (String how : List.of("cut", "immediate", "preemptive", "none")) {
                for (int n = 0; n < 5; n++) {
                    String text = how + " " + n;
                    boolean certain = send(session, producer, text);
                    String found = texts.poll(certain ? 60 : 5, TimeUnit.SECONDS);
                    equal(certain || found != null ? text : null, found);
                }
                // An acknowledgement that is interrupted has the library close the consumer.
                place.until("everything is acknowledged",
                    () -> place.ok("DISPLAY QSTATUS(" + name + ") UNCOM").contains("UNCOM(NO)"));
                breakBy(how);
            }
        }
        equal(0, texts.size());
        equal(0, place.depth(name));
    }

    /** Whether it is certain that a message was put. */
    private static boolean send(Session session, MessageProducer producer, String text) throws JMSException {
        try {
            producer.send(session.createTextMessage(text));
            return true;
        } catch (JMSException broken) {
            equal(CALL_INTERRUPTED, reason(broken));
            return false;
        }
    }

    private static void breakBy(String how) {
        if (how.equals("cut")) {
            Main.cut();
        } else if (!how.equals("none")) {
            Main.restart(how);
        }
    }

    @Case
    public void whatIsNotAcknowledgedComesAgain() throws Exception {
        String name = place.queue();
        Set<String> all = new HashSet<>();
        try (Connection connection = Jms.factory(place).createConnection()) {
            Session session = connection.createSession(true, Session.SESSION_TRANSACTED);
            MessageProducer producer = session.createProducer(session.createQueue(name));
            for (int n = 0; n < 10; n++) {
                producer.send(session.createTextMessage("number " + n));
                all.add("number " + n);
            }
            session.commit();
        }
        // A connection that is not made anew by itself.
        Set<String> acknowledged = new HashSet<>();
        Connection connection = Jms.factory(place).createConnection();
        BlockingQueue<JMSException> told = new LinkedBlockingQueue<>();
        connection.setExceptionListener(told::add);
        connection.start();
        Session session = connection.createSession(false, Session.CLIENT_ACKNOWLEDGE);
        MessageConsumer consumer = session.createConsumer(session.createQueue(name));
        for (int n = 0; n < 4; n++) {
            Message message = consumer.receive(LONG);
            acknowledged.add(text(message));
            message.acknowledge();
        }
        Message open = consumer.receive(LONG);
        String again = text(open);
        Main.cut();
        try {
            open.acknowledge();
            throw new AssertionError("acknowledged without a connection");
        } catch (JMSException broken) {
            equal(2009, reason(broken));
        }
        that(told.poll(60, TimeUnit.SECONDS) != null, "the connection's listener is told");
        try {
            connection.close();
        } catch (JMSException broken) {
            // There is nothing left to close.
        }
        place.until("what was not acknowledged is back", () -> place.depth(name) == 6);
        List<String> left = drain(name);
        that(left.contains(again), "what was not acknowledged comes again");
        acknowledged.addAll(left);
        equal(all, acknowledged);
        equal(6, left.size());
    }

    @Case
    public void durableSubscribersGoOn() throws Exception {
        String topic = place.topic();
        String client = "client of " + topic;
        BlockingQueue<String> texts = new LinkedBlockingQueue<>();
        Connection connection = connect(WMQConstants.WMQ_CLIENT_RECONNECT);
        connection.setClientID(client);
        Session session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
        session.createDurableSubscriber(session.createTopic(topic), "durable").setMessageListener(message -> {
            try {
                texts.add(text(message));
            } catch (JMSException failure) {
                texts.add(failure.toString());
            }
        });
        connection.start();
        int n = 0;
        for (String how : List.of("cut", "immediate", "preemptive", "none")) {
            // The first of them while the subscriber is not there.
            for (int end = n + 5; n < end; n++) {
                try (Connection own = Jms.factory(place).createConnection()) {
                    Session publishes = own.createSession(false, Session.AUTO_ACKNOWLEDGE);
                    publishes.createProducer(publishes.createTopic(topic)).send(publishes.createTextMessage("" + n));
                }
            }
            for (int expected = n - 5; expected < n; expected++) {
                equal("" + expected, texts.poll(60, TimeUnit.SECONDS));
            }
            place.until("everything is acknowledged",
                () -> !place.ok("DISPLAY QSTATUS(SYSTEM.MANAGED.DURABLE.*) UNCOM").contains("UNCOM(YES)"));
            breakBy(how);
        }
        equal(0, texts.size());
        session.close();
        Session other = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
        other.unsubscribe("durable");
        connection.close();
    }

    @Case
    public void delayedMessagesComeOnce() throws Exception {
        String name = place.queue();
        List<String> sent = new ArrayList<>();
        try (Connection connection = lasting()) {
            Session session = connection.createSession(true, Session.SESSION_TRANSACTED);
            MessageProducer producer = session.createProducer(session.createQueue(name));
            producer.setDeliveryDelay(2_000);
            for (String how : List.of("immediate", "preemptive", "none")) {
                for (int n = 0; n < 5; n++) {
                    producer.send(session.createTextMessage(how + " " + n));
                    sent.add(how + " " + n);
                }
                session.commit();
                breakBy(how);
                // The library may not know yet that its connection has gone.
                place.until("the session goes on", () -> goesOn(session));
            }
            place.until("all are there", () -> place.depth(name) == sent.size());
        }
        equal(sent, drain(name));
        equal(0, place.depth("SYSTEM.DDELAY.LOCAL.QUEUE"));
    }

    /** Whether a unit of work without anything in it ends well. */
    private static boolean goesOn(Session session) {
        try {
            session.commit();
            return true;
        } catch (JMSException broken) {
            try {
                session.rollback();
            } catch (JMSException again) {
                // It is tried again.
            }
            return false;
        }
    }

    @Case
    public void requestsAreReplied() throws Exception {
        String name = place.queue();
        try (Connection serving = lasting(); Connection asking = lasting()) {
            Session serves = serving.createSession(true, Session.SESSION_TRANSACTED);
            MessageProducer replies = serves.createProducer(null);
            serves.createConsumer(serves.createQueue(name)).setMessageListener(message -> {
                try {
                    TextMessage reply = serves.createTextMessage("reply to " + text(message));
                    reply.setJMSCorrelationID(message.getJMSMessageID());
                    replies.send(message.getJMSReplyTo(), reply);
                    serves.commit();
                } catch (JMSException broken) {
                    try {
                        serves.rollback();
                    } catch (JMSException again) {
                        // It is backed out.
                    }
                }
            });
            Session asks = asking.createSession(false, Session.AUTO_ACKNOWLEDGE);
            Queue answers = asks.createQueue(place.queue());
            MessageProducer producer = asks.createProducer(asks.createQueue(name));
            for (String how : List.of("cut", "immediate", "preemptive", "none")) {
                TextMessage request = asks.createTextMessage("request " + how);
                request.setJMSReplyTo(answers);
                producer.send(request);
                breakBy(how);
                String selector = "JMSCorrelationID = '" + request.getJMSMessageID() + "'";
                equal("reply to request " + how, reply(asks, answers, selector));
                answered(asks, producer, answers);
            }
        }
    }

    /** An exchange that nothing breaks. */
    private static void answered(Session session, MessageProducer producer, Queue answers) throws JMSException {
        TextMessage request = session.createTextMessage("request between breaks");
        request.setJMSReplyTo(answers);
        producer.send(request);
        String selector = "JMSCorrelationID = '" + request.getJMSMessageID() + "'";
        equal("reply to request between breaks", reply(session, answers, selector));
    }

    /** What is received; it asks again where the break has interrupted that. */
    private static String reply(Session session, Queue queue, String selector) throws JMSException {
        while (true) {
            try (MessageConsumer consumer = session.createConsumer(queue, selector)) {
                return text(consumer.receive(LONG));
            } catch (JMSException broken) {
                equal(CALL_INTERRUPTED, reason(broken));
            }
        }
    }
}
