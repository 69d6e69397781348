package interop;

import static interop.Messages.LONG;
import static interop.Place.equal;
import static interop.Place.that;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import javax.jms.Connection;
import javax.jms.JMSContext;
import javax.jms.MessageConsumer;
import javax.jms.Session;
import javax.jms.TextMessage;
import org.messaginghub.pooled.jms.JmsPoolConnectionFactory;

/** Connections that go round in a pool, as applications in frameworks have them. */
public final class Pooled {
    private static final int THREADS = 8;
    private static final int EACH = 25;
    private final Place place;

    public Pooled(Place place) {
        this.place = place;
    }

    private JmsPoolConnectionFactory pool(int connections) throws Exception {
        JmsPoolConnectionFactory pool = new JmsPoolConnectionFactory();
        pool.setConnectionFactory(Jms.factory(place));
        pool.setMaxConnections(connections);
        return pool;
    }

    /** How many conversations the case's channel has. */
    private int running() {
        String answer = Main.mqsc("DISPLAY CHSTATUS(" + place.channel + ") CURSHCNV");
        int all = 0;
        for (String row : answer.split("CURSHCNV\\(")) {
            String digits = row.replaceAll("\\).*", "");
            all += digits.matches("\\d+") ? Integer.parseInt(digits) : 0;
        }
        return all;
    }

    @Case
    public void manyThreadsShareAFewConnections() throws Exception {
        String name = place.queue();
        JmsPoolConnectionFactory pool = pool(3);
        ExecutorService threads = Executors.newFixedThreadPool(THREADS);
        Set<String> sent = new HashSet<>();
        ConcurrentLinkedQueue<String> received = new ConcurrentLinkedQueue<>();
        try {
            List<Future<?>> all = new ArrayList<>();
            for (int thread = 0; thread < THREADS; thread++) {
                int number = thread;
                for (int i = 0; i < EACH; i++) {
                    sent.add(number + "/" + i);
                }
                all.add(threads.submit(() -> {
                    for (int i = 0; i < EACH; i++) {
                        // One session sends and is given back, another receives and commits.
                        try (Connection connection = pool.createConnection()) {
                            Session session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
                            TextMessage message = session.createTextMessage(number + "/" + i);
                            session.createProducer(session.createQueue(name)).send(message);
                        }
                        try (Connection connection = pool.createConnection()) {
                            connection.start();
                            Session session = connection.createSession(true, Session.SESSION_TRANSACTED);
                            MessageConsumer consumer = session.createConsumer(session.createQueue(name));
                            received.add(Messages.text(consumer.receive(LONG)));
                            session.commit();
                        }
                    }
                    return null;
                }));
            }
            for (Future<?> one : all) {
                one.get(LONG, TimeUnit.MILLISECONDS);
            }
            that(pool.getNumConnections() <= 3, "no more than three connections");
        } finally {
            threads.shutdownNow();
            pool.stop();
        }
        equal(THREADS * EACH, received.size());
        equal(sent, new HashSet<>(received));
        equal(0, place.depth(name));
        place.until("every connection is given up", () -> running() == 0);
    }

    @Case
    public void aSessionThatIsGivenBackKeepsNothing() throws Exception {
        String name = place.queue();
        JmsPoolConnectionFactory pool = pool(1);
        try {
            try (Connection connection = pool.createConnection()) {
                Session session = connection.createSession(true, Session.SESSION_TRANSACTED);
                session.createProducer(session.createQueue(name)).send(session.createTextMessage("never committed"));
            }
            try (Connection connection = pool.createConnection()) {
                connection.start();
                Session session = connection.createSession(true, Session.SESSION_TRANSACTED);
                session.createProducer(session.createQueue(name)).send(session.createTextMessage("committed"));
                session.commit();
                MessageConsumer consumer = session.createConsumer(session.createQueue(name));
                equal("committed", Messages.text(consumer.receive(LONG)));
                session.commit();
                equal(null, consumer.receiveNoWait());
            }
            equal(1, pool.getNumConnections());
        } finally {
            pool.stop();
        }
        equal(0, place.depth(name));
    }

    @Case
    public void contextsComeFromThePoolToo() throws Exception {
        String name = place.queue();
        JmsPoolConnectionFactory pool = pool(2);
        try {
            for (int i = 0; i < 5; i++) {
                try (JMSContext context = pool.createContext()) {
                    context.createProducer().send(context.createQueue(name), "text " + i);
                    // This pool has no receiveBody.
                    equal("text " + i, Messages.text(context.createConsumer(context.createQueue(name)).receive(LONG)));
                }
            }
        } finally {
            pool.stop();
        }
        equal(0, place.depth(name));
    }
}
