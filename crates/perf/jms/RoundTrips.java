import com.ibm.msg.client.jms.JmsConnectionFactory;
import com.ibm.msg.client.jms.JmsFactoryFactory;
import com.ibm.msg.client.wmq.WMQConstants;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.LongAdder;
import javax.jms.BytesMessage;
import javax.jms.Connection;
import javax.jms.DeliveryMode;
import javax.jms.JMSException;
import javax.jms.Message;
import javax.jms.MessageConsumer;
import javax.jms.MessageProducer;
import javax.jms.Queue;
import javax.jms.Session;

/**
 * Requesters and responders that use IBM's JMS client, a thread and a connection each. The laboratory speaks with it by lines: it says
 * "ready"; to "begin" it answers "begun", to "end" what was done since ("window", nanoseconds, round trips, latencies as
 * VALUE:COUNT), to "stop" "stopped". Whatever fails is told by a line that begins with "failed".
 */
public final class RoundTrips {
    /** How long a reply is waited for, and how long a responder waits before it looks whether it is to end, in milliseconds. */
    private static final long REPLY = 60_000;
    private static final long REQUEST = 500;

    private final JmsConnectionFactory factory;
    private final int bytes;
    private final boolean persistent;
    private final boolean transacted;
    private final int pairs;
    private volatile Window window;
    private volatile boolean requestersEnd;
    private volatile boolean respondersEnd;

    /** What is counted between "begin" and "end". Latencies are told apart by their eight highest bits. */
    private static final class Window {
        private final long began = System.nanoTime();
        /** How many there were of each, under the longest that counts as the same. */
        private final ConcurrentSkipListMap<Long, LongAdder> counts = new ConcurrentSkipListMap<>();

        void record(long nanos) {
            int shift = Math.max(0, 64 - Long.numberOfLeadingZeros(nanos) - 8);
            counts.computeIfAbsent(((nanos >> shift) + 1 << shift) - 1, longest -> new LongAdder()).increment();
        }

        String line(long ended) {
            long all = 0;
            StringBuilder latencies = new StringBuilder();
            for (Map.Entry<Long, LongAdder> entry : counts.entrySet()) {
                long count = entry.getValue().sum();
                all += count;
                latencies.append(' ').append(entry.getKey()).append(':').append(count);
            }
            return "window " + (ended - began) + " " + all + latencies;
        }
    }

    /** What a thread does with its session until it is to end. */
    private interface Work {
        void run(Session session, CountDownLatch ready) throws JMSException;
    }

    /** Words: host, port, channel, queue manager; then those that the laboratory's plan has. */
    private RoundTrips(String[] words) throws JMSException {
        factory = JmsFactoryFactory.getInstance(WMQConstants.WMQ_PROVIDER).createConnectionFactory();
        factory.setIntProperty(WMQConstants.WMQ_CONNECTION_MODE, WMQConstants.WMQ_CM_CLIENT);
        factory.setStringProperty(WMQConstants.WMQ_HOST_NAME, words[0]);
        factory.setIntProperty(WMQConstants.WMQ_PORT, Integer.parseInt(words[1]));
        factory.setStringProperty(WMQConstants.WMQ_CHANNEL, words[2]);
        factory.setStringProperty(WMQConstants.WMQ_QUEUE_MANAGER, words[3]);
        bytes = Integer.parseInt(words[6]);
        persistent = Boolean.parseBoolean(words[7]);
        transacted = Boolean.parseBoolean(words[8]);
        pairs = Integer.parseInt(words[9]);
    }

    public static void main(String[] words) throws Exception {
        new RoundTrips(words).serve(Integer.parseInt(words[4]), Integer.parseInt(words[5]));
    }

    private static void say(String line) {
        synchronized (System.out) {
            System.out.println(line);
            System.out.flush();
        }
    }

    /** What went wrong, with what it was caused by, in one line. */
    private static String why(Throwable failure) {
        StringBuilder text = new StringBuilder();
        for (Throwable cause = failure; cause != null && text.length() < 2_000; cause = cause.getCause()) {
            text.append(text.length() == 0 ? "" : "; ").append(cause);
        }
        return text.toString().replace('\n', ' ');
    }

    private Thread start(String name, CountDownLatch ready, Work work) {
        Thread thread = new Thread(() -> {
            try (Connection connection = factory.createConnection()) {
                Session session = connection.createSession(transacted, Session.AUTO_ACKNOWLEDGE);
                connection.start();
                work.run(session, ready);
            } catch (JMSException | RuntimeException failure) {
                say("failed " + name + ": " + why(failure));
            }
        }, name);
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    private void serve(int requesters, int responders) throws Exception {
        CountDownLatch ready = new CountDownLatch(requesters + responders);
        List<Thread> asking = new ArrayList<>();
        List<Thread> answering = new ArrayList<>();
        for (int at = 0; at < responders; at++) {
            int pair = at % pairs + 1;
            answering.add(start("responder " + (at + 1), ready, (session, up) -> respond(session, up, pair)));
        }
        for (int at = 0; at < requesters; at++) {
            int number = at;
            asking.add(start("requester " + (at + 1), ready, (session, up) -> ask(session, up, number)));
        }
        ready.await();
        say("ready");
        BufferedReader orders = new BufferedReader(new InputStreamReader(System.in, "US-ASCII"));
        for (String order = orders.readLine(); order != null; order = orders.readLine()) {
            if (order.equals("begin")) {
                window = new Window();
                say("begun");
            } else if (order.equals("end")) {
                Window ended = window;
                window = null;
                say(ended.line(System.nanoTime()));
            } else if (order.equals("stop")) {
                requestersEnd = true;
                join(asking);
                respondersEnd = true;
                join(answering);
                say("stopped");
                return;
            }
        }
    }

    private static void join(List<Thread> threads) throws InterruptedException {
        for (Thread thread : threads) {
            thread.join();
        }
    }

    private MessageProducer producer(Session session, Queue queue) throws JMSException {
        MessageProducer producer = session.createProducer(queue);
        producer.setDeliveryMode(persistent ? DeliveryMode.PERSISTENT : DeliveryMode.NON_PERSISTENT);
        return producer;
    }

    private void commit(Session session) throws JMSException {
        if (transacted) {
            session.commit();
        }
    }

    private void ask(Session session, CountDownLatch ready, int number) throws JMSException {
        int pair = number % pairs + 1;
        Queue replies = session.createQueue("REPLY" + pair);
        MessageProducer producer = producer(session, session.createQueue("REQUEST" + pair));
        String correlation = String.format("ID:%048x", 0x5045_5246_0000_0000L + number);
        MessageConsumer consumer = session.createConsumer(replies, "JMSCorrelationID = '" + correlation + "'");
        byte[] body = new byte[bytes];
        ready.countDown();
        while (!requestersEnd) {
            long began = System.nanoTime();
            BytesMessage request = session.createBytesMessage();
            request.writeBytes(body);
            request.setJMSReplyTo(replies);
            request.setJMSCorrelationID(correlation);
            producer.send(request);
            commit(session);
            Message reply = consumer.receive(REPLY);
            if (reply == null) {
                throw new IllegalStateException("no reply came within " + REPLY / 1_000 + " s");
            }
            commit(session);
            long length = ((BytesMessage) reply).getBodyLength();
            if (length != bytes) {
                throw new IllegalStateException("a reply has " + length + " bytes instead of " + bytes);
            }
            Window counting = window;
            if (counting != null) {
                counting.record(System.nanoTime() - began);
            }
        }
    }

    private void respond(Session session, CountDownLatch ready, int pair) throws JMSException {
        MessageConsumer consumer = session.createConsumer(session.createQueue("REQUEST" + pair));
        Map<String, MessageProducer> producers = new HashMap<>();
        ready.countDown();
        while (!respondersEnd) {
            BytesMessage request = (BytesMessage) consumer.receive(REQUEST);
            if (request == null) {
                continue;
            }
            byte[] body = new byte[(int) request.getBodyLength()];
            request.readBytes(body);
            BytesMessage reply = session.createBytesMessage();
            reply.writeBytes(body);
            reply.setJMSCorrelationID(request.getJMSCorrelationID());
            Queue to = (Queue) request.getJMSReplyTo();
            if (!producers.containsKey(to.getQueueName())) {
                producers.put(to.getQueueName(), producer(session, to));
            }
            producers.get(to.getQueueName()).send(reply);
            commit(session);
        }
    }
}
