package interop;

import static interop.Place.equal;
import static interop.Place.that;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.TreeSet;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import javax.jms.Connection;
import javax.jms.ConnectionConsumer;
import javax.jms.JMSException;
import javax.jms.MessageProducer;
import javax.jms.ServerSession;
import javax.jms.ServerSessionPool;
import javax.jms.Session;
import javax.jms.TextMessage;

/**
 * Connection consumers, as application servers have them: the connection browses, and sessions of a pool get what it was
 * shown.
 */
public final class ConnectionConsumers {
    private final Place place;

    public ConnectionConsumers(Place place) {
        this.place = place;
    }

    private interface Work {
        void on(Session session, String text, int delivery) throws Exception;
    }

    /** Sessions that work, each on a thread of its own; whoever wants one waits until there is one. */
    private static final class Pool implements ServerSessionPool, AutoCloseable {
        private final BlockingQueue<ServerSession> free = new LinkedBlockingQueue<>();
        private final ExecutorService threads = Executors.newCachedThreadPool();
        private final int size;
        private final List<String> wrong = Collections.synchronizedList(new ArrayList<>());

        Pool(Connection connection, int size, boolean transacted, Work work) throws JMSException {
            this.size = size;
            for (int number = 0; number < size; number++) {
                Session session = connection.createSession(transacted, Session.AUTO_ACKNOWLEDGE);
                session.setMessageListener(message -> {
                    try {
                        int delivery = message.getIntProperty("JMSXDeliveryCount");
                        work.on(session, ((TextMessage) message).getText(), delivery);
                    } catch (Exception failure) {
                        wrong.add(failure.toString());
                    }
                });
                free.add(new ServerSession() {
                    @Override
                    public Session getSession() {
                        return session;
                    }

                    @Override
                    public void start() {
                        ServerSession self = this;
                        threads.execute(() -> {
                            session.run();
                            free.add(self);
                        });
                    }
                });
            }
        }

        @Override
        public ServerSession getServerSession() throws JMSException {
            try {
                return free.take();
            } catch (InterruptedException failure) {
                throw new JMSException(failure.toString());
            }
        }

        /** Behind its consumers: the sessions are closed as each has done its work. */
        @Override
        public void close() throws JMSException {
            for (int number = 0; number < size; number++) {
                getServerSession().getSession().close();
            }
            threads.shutdown();
            equal(List.of(), wrong);
        }
    }

    private void send(String queue, int from, int count) throws JMSException {
        try (Connection connection = Jms.factory(place).createConnection()) {
            Session session = connection.createSession(true, Session.SESSION_TRANSACTED);
            MessageProducer producer = session.createProducer(session.createQueue("queue:///" + queue));
            for (int number = from; number < from + count; number++) {
                producer.send(session.createTextMessage("message " + number));
            }
            session.commit();
        }
    }

    /** Two of them share a queue: each message once, those that come later too. */
    @Case
    public void twoShareAQueue() throws Exception {
        String queue = place.queue();
        send(queue, 0, 50);
        List<String> got = Collections.synchronizedList(new ArrayList<>());
        try (Connection one = Jms.factory(place).createConnection();
            Connection two = Jms.factory(place).createConnection();
            Pool first = new Pool(one, 3, false, (session, text, delivery) -> got.add(text));
            Pool second = new Pool(two, 2, false, (session, text, delivery) -> got.add(text))) {
            javax.jms.Queue name = one.createSession(false, Session.AUTO_ACKNOWLEDGE).createQueue("queue:///" + queue);
            ConnectionConsumer a = one.createConnectionConsumer(name, null, first, 5);
            ConnectionConsumer b = two.createConnectionConsumer(name, null, second, 1);
            one.start();
            two.start();
            place.until("all of the first", () -> got.size() >= 50);
            send(queue, 50, 50);
            place.until("all of the second", () -> got.size() >= 100);
            place.until("none is left", () -> place.depth(queue) == 0);
            a.close();
            b.close();
        }
        equal(100, got.size());
        equal(100, new TreeSet<>(got).size());
    }

    /** What is backed out comes again, and what is committed does not. */
    @Case
    public void whatIsBackedOutComesAgain() throws Exception {
        String queue = place.queue("BOTHRESH(0)");
        AtomicInteger done = new AtomicInteger();
        AtomicInteger again = new AtomicInteger();
        try (Connection connection = Jms.factory(place).createConnection();
            Pool pool = new Pool(connection, 2, true, (session, text, delivery) -> {
                if (delivery == 1) {
                    session.rollback();
                    return;
                }
                again.incrementAndGet();
                session.commit();
                done.incrementAndGet();
            })) {
            javax.jms.Queue name = connection.createSession(false, Session.AUTO_ACKNOWLEDGE).createQueue("queue:///" + queue);
            ConnectionConsumer consumer = connection.createConnectionConsumer(name, null, pool, 1);
            connection.start();
            send(queue, 0, 10);
            place.until("all of them twice", () -> done.get() >= 10);
            place.until("none is left", () -> place.depth(queue) == 0);
            consumer.close();
        }
        equal(10, again.get());
    }

    /** With a selector only what it selects comes, and the rest stays. */
    @Case
    public void aSelectorSelects() throws Exception {
        String queue = place.queue();
        List<String> got = Collections.synchronizedList(new ArrayList<>());
        try (Connection connection = Jms.factory(place).createConnection();
            Pool pool = new Pool(connection, 1, false, (session, text, delivery) -> got.add(text))) {
            Session session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
            javax.jms.Queue name = session.createQueue("queue:///" + queue);
            ConnectionConsumer consumer = connection.createConnectionConsumer(name, "colour = 'red'", pool, 4);
            connection.start();
            MessageProducer producer = session.createProducer(name);
            for (String colour : new String[] {"red", "blue", "red", "green", "red"}) {
                TextMessage message = session.createTextMessage(colour);
                message.setStringProperty("colour", colour);
                producer.send(message);
            }
            place.until("the red ones", () -> got.size() >= 3);
            consumer.close();
        }
        equal(List.of("red", "red", "red"), got);
        equal(2, place.depth(queue));
    }

    /** What is published on a topic goes to one session each, while there is the consumer. */
    @Case
    public void aTopic() throws Exception {
        String topic = place.topic();
        List<String> got = Collections.synchronizedList(new ArrayList<>());
        try (Connection connection = Jms.factory(place).createConnection();
            Pool pool = new Pool(connection, 2, false, (session, text, delivery) -> got.add(text))) {
            Session session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
            javax.jms.Topic name = session.createTopic("topic://" + topic);
            ConnectionConsumer consumer = connection.createConnectionConsumer(name, null, pool, 2);
            connection.start();
            MessageProducer producer = session.createProducer(name);
            for (int number = 0; number < 20; number++) {
                producer.send(session.createTextMessage("news " + number));
            }
            place.until("all the news", () -> got.size() >= 20);
            consumer.close();
        }
        equal(20, new TreeSet<>(got).size());
    }

    /** A durable subscription's messages go to a pool too. */
    @Case
    public void aDurableSubscription() throws Exception {
        String topic = place.topic();
        List<String> got = Collections.synchronizedList(new ArrayList<>());
        try (Connection connection = Jms.factory(place).createConnection()) {
            connection.setClientID("pool of " + place.label.replace('@', ' '));
            Session session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
            javax.jms.Topic name = session.createTopic("topic://" + topic);
            try (Pool pool = new Pool(connection, 2, false, (worker, text, delivery) -> got.add(text))) {
                ConnectionConsumer consumer =
                    connection.createDurableConnectionConsumer(name, "worker", null, pool, 1);
                connection.start();
                MessageProducer producer = session.createProducer(name);
                for (int number = 0; number < 10; number++) {
                    producer.send(session.createTextMessage("news " + number));
                }
                place.until("all the news", () -> got.size() >= 10);
                consumer.close();
            }
            session.unsubscribe("worker");
        }
        that(got.size() == 10, "once each: " + got);
    }
}
