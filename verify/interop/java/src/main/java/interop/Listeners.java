package interop;

import static interop.Messages.LONG;
import static interop.Place.equal;
import static interop.Place.that;

import com.ibm.mq.MQException;
import com.ibm.mq.jms.MQConnectionFactory;
import com.ibm.mq.jms.MQDestination;
import com.ibm.msg.client.wmq.WMQConstants;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import javax.jms.Connection;
import javax.jms.DeliveryMode;
import javax.jms.JMSException;
import javax.jms.Message;
import javax.jms.MessageConsumer;
import javax.jms.MessageProducer;
import javax.jms.Queue;
import javax.jms.Session;
import javax.jms.TextMessage;

/** JMS, point to point, where messages come by themselves: listeners and read ahead. */
public final class Listeners {
    private final Place place;

    public Listeners(Place place) {
        this.place = place;
    }

    private Connection connect() throws JMSException {
        return Jms.factory(place).createConnection();
    }

    private void send(String queue, int first, int count, int mode) throws JMSException {
        try (Connection connection = connect()) {
            Session session = connection.createSession(true, Session.SESSION_TRANSACTED);
            MessageProducer producer = session.createProducer(session.createQueue(queue));
            producer.setDeliveryMode(mode);
            for (int n = first; n < first + count; n++) {
                producer.send(session.createTextMessage("number " + n));
            }
            session.commit();
        }
    }

    private static String next(BlockingQueue<String> texts) throws InterruptedException {
        String text = texts.poll(60, TimeUnit.SECONDS);
        that(text != null, "a message");
        return text;
    }

    @Case
    public void everyModeOfAcknowledgement() throws Exception {
        int[] modes = {Session.AUTO_ACKNOWLEDGE, Session.CLIENT_ACKNOWLEDGE, Session.DUPS_OK_ACKNOWLEDGE,
            Session.SESSION_TRANSACTED};
        for (int mode : modes) {
            for (int delivery : new int[] {DeliveryMode.PERSISTENT, DeliveryMode.NON_PERSISTENT}) {
                String name = place.queue();
                try (Connection connection = connect()) {
                    Session session = connection.createSession(mode == Session.SESSION_TRANSACTED, mode);
                    MessageConsumer consumer = session.createConsumer(session.createQueue(name));
                    BlockingQueue<String> texts = new LinkedBlockingQueue<>();
                    consumer.setMessageListener(message -> {
                        try {
                            texts.add(((TextMessage) message).getText());
                            if (mode == Session.CLIENT_ACKNOWLEDGE) {
                                message.acknowledge();
                            } else if (mode == Session.SESSION_TRANSACTED) {
                                session.commit();
                            }
                        } catch (JMSException failure) {
                            texts.add(failure.toString());
                        }
                    });
                    send(name, 0, 5, delivery);
                    connection.start();
                    send(name, 5, 5, delivery);
                    for (int n = 0; n < 10; n++) {
                        equal("number " + n, next(texts));
                    }
                    session.close();
                }
                equal(0, place.depth(name));
            }
        }
    }

    @Case
    public void aListenerSelects() throws Exception {
        String name = place.queue();
        try (Connection connection = connect()) {
            Session session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
            Queue queue = session.createQueue(name);
            BlockingQueue<String> texts = new LinkedBlockingQueue<>();
            session.createConsumer(queue, "weight > 1 AND weight <> 3").setMessageListener(message -> {
                try {
                    texts.add(((TextMessage) message).getText());
                } catch (JMSException failure) {
                    texts.add(failure.toString());
                }
            });
            connection.start();
            Session sending = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
            MessageProducer producer = sending.createProducer(queue);
            for (int n = 0; n < 5; n++) {
                TextMessage message = sending.createTextMessage("number " + n);
                message.setIntProperty("weight", n);
                producer.send(message);
            }
            equal("number 2", next(texts));
            equal("number 4", next(texts));
            connection.stop();
            equal(null, texts.poll());
        }
        equal(3, place.depth(name));
    }

    @Case
    public void whatIsRolledBackComesAgain() throws Exception {
        String name = place.queue();
        try (Connection connection = connect()) {
            Session session = connection.createSession(true, Session.SESSION_TRANSACTED);
            MessageConsumer consumer = session.createConsumer(session.createQueue(name));
            BlockingQueue<String> texts = new LinkedBlockingQueue<>();
            consumer.setMessageListener(message -> {
                try {
                    texts.add(((TextMessage) message).getText() + " " + message.getIntProperty("JMSXDeliveryCount"));
                    if (message.getJMSRedelivered()) {
                        session.commit();
                    } else {
                        session.rollback();
                    }
                } catch (JMSException failure) {
                    texts.add(failure.toString());
                }
            });
            connection.start();
            send(name, 0, 2, DeliveryMode.PERSISTENT);
            for (String expected : new String[] {"number 0 1", "number 0 2", "number 1 1", "number 1 2"}) {
                equal(expected, next(texts));
            }
            session.close();
        }
        equal(0, place.depth(name));
    }

    @Case
    public void twoListenersOfOneSessionTakeTurns() throws Exception {
        String one = place.queue();
        String two = place.queue();
        try (Connection connection = connect()) {
            Session session = connection.createSession(true, Session.SESSION_TRANSACTED);
            AtomicInteger sinceCommit = new AtomicInteger();
            BlockingQueue<String> texts = new LinkedBlockingQueue<>();
            for (String name : new String[] {one, two}) {
                session.createConsumer(session.createQueue(name)).setMessageListener(message -> {
                    try {
                        texts.add(name + " " + ((TextMessage) message).getText());
                        if (sinceCommit.incrementAndGet() == 3) {
                            sinceCommit.set(0);
                            session.commit();
                        }
                    } catch (JMSException failure) {
                        texts.add(failure.toString());
                    }
                });
            }
            connection.start();
            send(one, 0, 6, DeliveryMode.PERSISTENT);
            send(two, 0, 6, DeliveryMode.NON_PERSISTENT);
            Set<String> seen = new HashSet<>();
            for (int n = 0; n < 12; n++) {
                that(seen.add(next(texts)), "each once");
            }
            for (int n = 0; n < 6; n++) {
                that(seen.contains(one + " number " + n) && seen.contains(two + " number " + n), "all of them");
            }
            session.close();
        }
        equal(0, place.depth(one) + place.depth(two));
    }

    /** It hears once that gets are inhibited and once that they are allowed, and is given nothing but messages. */
    @Case
    public void nothingComesWhileGetsAreInhibited() throws Exception {
        String name = place.queue();
        String alias = name + ".ALIAS";
        place.ok("DEFINE QALIAS(" + alias + ") TARGET(" + name + ")");
        for (boolean transacted : new boolean[] {false, true}) {
            nothingComesWhileInhibited(name, "QLOCAL(" + name + ")", name, transacted);
            nothingComesWhileInhibited(alias, "QALIAS(" + alias + ")", name, transacted);
        }
        place.ok("DELETE QALIAS(" + alias + ")");
        equal(0, place.depth(name));
    }

    private void nothingComesWhileInhibited(String name, String object, String queue, boolean transacted)
            throws Exception {
        BlockingQueue<String> events = new LinkedBlockingQueue<>();
        try (Connection connection = listening(place.channel, name, transacted, events)) {
            send(queue, 0, 1, DeliveryMode.PERSISTENT);
            equal("number 0", next(events));
            place.ok("ALTER " + object + " GET(DISABLED)");
            equal("reason 2016", next(events));
            send(queue, 1, 2, DeliveryMode.PERSISTENT);
            equal(2, place.depth(queue));
            place.ok("ALTER " + object + " GET(ENABLED)");
            // What is on its way may overtake what is said of the queue.
            Set<String> seen = new HashSet<>();
            List<String> numbers = new ArrayList<>();
            for (int n = 0; n < 3; n++) {
                String event = next(events);
                that(seen.add(event), "each once, and " + event + " again");
                if (event.startsWith("number")) {
                    numbers.add(event);
                }
            }
            that(seen.contains("reason 2494"), "it hears that gets are allowed: " + seen);
            equal(List.of("number 1", "number 2"), numbers);
            connection.stop();
            equal(null, events.poll());
        }
    }

    /** It hears of a message that is longer than its channel allows, which others can have. */
    @Case
    public void aMessageIsTooLongForTheChannel() throws Exception {
        String name = place.queue();
        String channel = place.channel + ".SMALL";
        place.ok("DEFINE CHANNEL(" + channel + ") CHLTYPE(SVRCONN) LIKE(" + place.channel + ") MAXMSGL(50000)");
        for (boolean transacted : new boolean[] {false, true}) {
            BlockingQueue<String> events = new LinkedBlockingQueue<>();
            try (Connection connection = listening(channel, name, transacted, events); Connection other = connect()) {
                send(name, 0, 1, DeliveryMode.PERSISTENT);
                equal("number 0", next(events));
                Session sending = other.createSession(false, Session.AUTO_ACKNOWLEDGE);
                String text = "0123456789".repeat(6_000);
                sending.createProducer(sending.createQueue(name)).send(sending.createTextMessage(text));
                equal("reason 2218", next(events));
                other.start();
                MessageConsumer receiver = sending.createConsumer(sending.createQueue(name));
                equal(text, ((TextMessage) receiver.receive(LONG)).getText());
                connection.stop();
                equal(null, events.poll());
            }
        }
        // The last socket is closed behind its application's back.
        place.until("nobody uses the channel", () -> Main.mqsc("DELETE CHANNEL(" + channel + ")").startsWith("OK"));
        equal(0, place.depth(name));
    }

    /** A listener is called with the next message when its unit of work has been backed out, and learns it from its commit. */
    @Case
    public void theQueueManagerBacksAUnitOfWorkOut() throws Exception {
        String name = place.queue();
        String filled = place.queue("MAXDEPTH(10)");
        BlockingQueue<String> events = new LinkedBlockingQueue<>();
        try (Connection connection = connect(); Connection other = connect()) {
            Session session = connection.createSession(true, Session.SESSION_TRANSACTED);
            session.createConsumer(session.createQueue(name)).setMessageListener(message -> {
                try {
                    String times = " " + message.getIntProperty("JMSXDeliveryCount");
                    if (events.isEmpty()) {
                        events.add(Messages.text(message) + times);
                        return;
                    }
                    try {
                        session.commit();
                        events.add(Messages.text(message) + times);
                    } catch (JMSException failure) {
                        session.rollback();
                        events.add("reason " + Messages.reason(failure));
                    }
                } catch (JMSException failure) {
                    events.add(failure.toString());
                }
            });
            connection.start();
            send(name, 0, 1, DeliveryMode.PERSISTENT);
            Session fills = other.createSession(false, Session.AUTO_ACKNOWLEDGE);
            MessageProducer producer = fills.createProducer(fills.createQueue(filled));
            MessageConsumer consumer = fills.createConsumer(fills.createQueue(filled));
            other.start();
            String text = "0123456789".repeat(50_000);
            place.until("everything comes anew", () -> {
                try {
                    producer.send(fills.createTextMessage(text));
                    return consumer.receive(LONG) != null && events.size() >= 3;
                } catch (JMSException failure) {
                    throw new AssertionError(failure);
                }
            });
        }
        equal(List.of("number 0 1", "reason 2003", "number 0 3"), new ArrayList<>(events));
        equal(0, place.depth(name));
    }

    /** A listener that has got as many messages as a unit of work may have goes on when that has ended. */
    @Case
    public void aUnitOfWorkIsFull() throws Exception {
        String name = place.queue();
        BlockingQueue<String> events = new LinkedBlockingQueue<>();
        place.ok("ALTER QMGR MAXUMSGS(2)");
        try (Connection connection = connect()) {
            Session session = connection.createSession(true, Session.SESSION_TRANSACTED);
            session.createConsumer(session.createQueue(name)).setMessageListener(message -> {
                try {
                    events.add(message instanceof TextMessage ? ((TextMessage) message).getText() : "no text");
                } catch (JMSException failure) {
                    events.add(failure.toString());
                }
            });
            connection.start();
            for (int n = 0; n < 4; n += 2) {
                send(name, n, 2, DeliveryMode.PERSISTENT);
            }
            for (int n = 0; n < 4; n += 2) {
                equal("number " + n, next(events));
                equal("number " + (n + 1), next(events));
                connection.stop();
                equal(null, events.poll());
                session.commit();
                connection.start();
            }
        } finally {
            place.ok("ALTER QMGR MAXUMSGS(10000)");
        }
        equal(0, place.depth(name));
    }

    /** A connection with a listener: what it is given, and all that its exception listener hears, are its events. */
    private Connection listening(String channel, String queue, boolean transacted, BlockingQueue<String> events)
            throws JMSException {
        MQConnectionFactory factory = Jms.factory(place);
        factory.setChannel(channel);
        factory.setAsyncExceptions(WMQConstants.ASYNC_EXCEPTIONS_ALL);
        Connection connection = factory.createConnection();
        connection.setExceptionListener(failure -> events.add("reason " + reason(failure)));
        Session session = connection.createSession(transacted, Session.AUTO_ACKNOWLEDGE);
        session.createConsumer(session.createQueue(queue)).setMessageListener(message -> {
            try {
                events.add(message instanceof TextMessage ? ((TextMessage) message).getText() : "no text");
                if (transacted) {
                    session.commit();
                }
            } catch (JMSException failure) {
                events.add(failure.toString());
            }
        });
        connection.start();
        return connection;
    }

    private static int reason(JMSException failure) {
        Throwable cause = failure.getLinkedException();
        return cause instanceof MQException ? ((MQException) cause).reasonCode : 0;
    }

    @Case
    public void stoppedIsStopped() throws Exception {
        String name = place.queue();
        try (Connection connection = connect()) {
            Session session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
            BlockingQueue<String> texts = new LinkedBlockingQueue<>();
            MessageConsumer consumer = session.createConsumer(session.createQueue(name));
            consumer.setMessageListener(message -> {
                try {
                    texts.add(((TextMessage) message).getText());
                } catch (JMSException failure) {
                    texts.add(failure.toString());
                }
            });
            for (int round = 0; round < 10; round++) {
                connection.start();
                send(name, 2 * round, 1, DeliveryMode.PERSISTENT);
                equal("number " + 2 * round, next(texts));
                connection.stop();
                send(name, 2 * round + 1, 1, DeliveryMode.PERSISTENT);
                equal(1, place.depth(name));
                that(texts.isEmpty(), "nothing comes while it is stopped");
                connection.start();
                equal("number " + (2 * round + 1), next(texts));
            }
            connection.stop();
            // What is on its way when it is stopped comes later, or is another's.
            for (int round = 0; round < 10; round++) {
                send(name, 100 + round, 1, DeliveryMode.NON_PERSISTENT);
                connection.start();
                connection.stop();
            }
            connection.start();
            for (int round = 0; round < 10; round++) {
                equal("number " + (100 + round), next(texts));
            }
        }
        equal(0, place.depth(name));
    }

    @Case
    public void closingAConsumerLeavesTheRest() throws Exception {
        String name = place.queue();
        // Without shared conversations the library polls, and closes only when a poll is over.
        int count = place.channel.equals("SC0") ? 3 : 50;
        send(name, 0, count, DeliveryMode.PERSISTENT);
        Set<String> seen = Collections.synchronizedSet(new HashSet<>());
        AtomicInteger twice = new AtomicInteger();
        int rounds = 0;
        while (seen.size() < count && rounds++ < count) {
            CountDownLatch came = new CountDownLatch(1);
            try (Connection connection = connect()) {
                Session session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
                MessageConsumer consumer = session.createConsumer(session.createQueue(name));
                consumer.setMessageListener(message -> {
                    try {
                        if (!seen.add(((TextMessage) message).getText())) {
                            twice.incrementAndGet();
                        }
                    } catch (JMSException failure) {
                        twice.incrementAndGet();
                    }
                    came.countDown();
                });
                connection.start();
                that(came.await(60, TimeUnit.SECONDS), "one comes");
                consumer.close();
            }
        }
        equal(count, seen.size());
        equal(0, twice.get());
        equal(0, place.depth(name));
    }

    @Case
    public void aListenerSends() throws Exception {
        String requests = place.queue();
        String replies = place.queue();
        try (Connection connection = connect()) {
            Session serving = connection.createSession(true, Session.SESSION_TRANSACTED);
            MessageProducer answers = serving.createProducer(serving.createQueue(replies));
            serving.createConsumer(serving.createQueue(requests)).setMessageListener(message -> {
                try {
                    answers.send(serving.createTextMessage("to " + ((TextMessage) message).getText()));
                    serving.commit();
                } catch (JMSException failure) {
                    throw new IllegalStateException(failure);
                }
            });
            Session session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
            MessageProducer producer = session.createProducer(session.createQueue(requests));
            MessageConsumer consumer = session.createConsumer(session.createQueue(replies));
            connection.start();
            for (int n = 0; n < 20; n++) {
                producer.send(session.createTextMessage("request " + n));
                TextMessage reply = (TextMessage) consumer.receive(LONG);
                that(reply != null, "a reply");
                equal("to request " + n, reply.getText());
            }
        }
    }

    @Case
    public void longMessagesCome() throws Exception {
        String name = place.queue();
        String text = "0123456789".repeat(100_000);
        try (Connection connection = connect()) {
            Session session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
            Queue queue = session.createQueue(name);
            BlockingQueue<String> texts = new LinkedBlockingQueue<>();
            session.createConsumer(queue).setMessageListener(message -> {
                try {
                    texts.add(((TextMessage) message).getText());
                } catch (JMSException failure) {
                    texts.add(failure.toString());
                }
            });
            connection.start();
            try (Connection other = connect()) {
                Session sending = other.createSession(false, Session.AUTO_ACKNOWLEDGE);
                MessageProducer producer = sending.createProducer(queue);
                for (int length : new int[] {1_000_000, 100_000, 40_000, 32_000, 10}) {
                    producer.send(sending.createTextMessage(text.substring(0, length)));
                    equal(text.substring(0, length), next(texts));
                }
            }
        }
    }

    @Case
    public void readAhead() throws Exception {
        String name = place.queue("DEFREADA(YES)");
        send(name, 0, 300, DeliveryMode.NON_PERSISTENT);
        try (Connection connection = connect()) {
            Session session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
            MessageConsumer consumer = session.createConsumer(session.createQueue(name));
            connection.start();
            for (int n = 0; n < 300; n++) {
                TextMessage message = (TextMessage) consumer.receive(LONG);
                that(message != null, "message " + n);
                equal("number " + n, message.getText());
            }
            equal(null, consumer.receiveNoWait());
            equal(null, consumer.receive(50));
            send(name, 300, 5, DeliveryMode.PERSISTENT);
            for (int n = 300; n < 305; n++) {
                equal("number " + n, ((TextMessage) consumer.receive(LONG)).getText());
            }
            equal(null, consumer.receive(50));
            equal(null, consumer.receiveNoWait());
            // Longer than what the library has room for at first.
            String text = "0123456789".repeat(20_000);
            try (Connection other = connect()) {
                Session sending = other.createSession(false, Session.AUTO_ACKNOWLEDGE);
                MessageProducer producer = sending.createProducer(sending.createQueue(name));
                producer.setDeliveryMode(DeliveryMode.NON_PERSISTENT);
                producer.send(sending.createTextMessage(text));
                producer.send(sending.createTextMessage("short"));
            }
            equal(text, ((TextMessage) consumer.receive(LONG)).getText());
            equal("short", ((TextMessage) consumer.receive(LONG)).getText());
        }
        equal(0, place.depth(name));
    }

    @Case
    public void aBrowserDoesNotReadAhead() throws Exception {
        String name = place.queue("DEFREADA(YES)");
        send(name, 0, 5, DeliveryMode.NON_PERSISTENT);
        try (Connection connection = connect()) {
            Session session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
            connection.start();
            Queue queue = session.createQueue(name);
            java.util.Enumeration<?> seen = session.createBrowser(queue).getEnumeration();
            for (int n = 0; n < 5; n++) {
                equal("number " + n, ((TextMessage) seen.nextElement()).getText());
            }
            that(!seen.hasMoreElements(), "there were five");
        }
        equal(5, place.depth(name));
    }

    @Case
    public void readAheadListeners() throws Exception {
        String name = place.queue("DEFREADA(YES)");
        try (Connection connection = connect()) {
            Session session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
            BlockingQueue<String> texts = new LinkedBlockingQueue<>();
            session.createConsumer(session.createQueue(name)).setMessageListener(message -> {
                try {
                    texts.add(((TextMessage) message).getText());
                } catch (JMSException failure) {
                    texts.add(failure.toString());
                }
            });
            connection.start();
            send(name, 0, 200, DeliveryMode.NON_PERSISTENT);
            for (int n = 0; n < 200; n++) {
                equal("number " + n, next(texts));
            }
            send(name, 200, 20, DeliveryMode.PERSISTENT);
            for (int n = 200; n < 220; n++) {
                equal("number " + n, next(texts));
            }
        }
        equal(0, place.depth(name));
    }

    @Case
    public void manySessionsShareTheWork() throws Exception {
        String name = place.queue();
        try (Connection connection = connect()) {
            BlockingQueue<String> texts = new LinkedBlockingQueue<>();
            List<Session> sessions = new ArrayList<>();
            for (int s = 0; s < 8; s++) {
                Session session = connection.createSession(true, Session.SESSION_TRANSACTED);
                session.createConsumer(session.createQueue(name)).setMessageListener(message -> {
                    try {
                        texts.add(((TextMessage) message).getText());
                        session.commit();
                    } catch (JMSException failure) {
                        texts.add(failure.toString());
                    }
                });
                sessions.add(session);
            }
            connection.start();
            send(name, 0, 200, DeliveryMode.PERSISTENT);
            Set<String> seen = new HashSet<>();
            for (int n = 0; n < 200; n++) {
                that(seen.add(next(texts)), "each once");
            }
            connection.stop();
            equal(200, seen.size());
            that(texts.isEmpty(), "no more");
        }
        equal(0, place.depth(name));
    }

    @Case
    public void thePoisonedAreMovedAway() throws Exception {
        String back = place.queue();
        String name = place.queue("BOTHRESH(2) BOQNAME(" + back + ")");
        try (Connection connection = connect()) {
            Session session = connection.createSession(true, Session.SESSION_TRANSACTED);
            AtomicInteger times = new AtomicInteger();
            session.createConsumer(session.createQueue(name)).setMessageListener(message -> {
                times.incrementAndGet();
                try {
                    session.rollback();
                } catch (JMSException failure) {
                    throw new IllegalStateException(failure);
                }
            });
            connection.start();
            send(name, 0, 1, DeliveryMode.PERSISTENT);
            place.until("it is moved away", () -> place.depth(back) == 1);
            equal(2, times.get());
        }
        equal(0, place.depth(name));
    }
}
