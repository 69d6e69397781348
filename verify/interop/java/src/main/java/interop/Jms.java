package interop;

import static interop.Messages.LONG;
import static interop.Messages.received;
import static interop.Messages.text;
import static interop.Place.equal;
import static interop.Place.that;

import com.ibm.mq.jms.MQConnectionFactory;
import com.ibm.msg.client.wmq.WMQConstants;
import java.util.ArrayList;
import java.util.Enumeration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import javax.jms.BytesMessage;
import javax.jms.Connection;
import javax.jms.DeliveryMode;
import javax.jms.InvalidDestinationException;
import javax.jms.InvalidSelectorException;
import javax.jms.JMSConsumer;
import javax.jms.JMSContext;
import javax.jms.JMSException;
import javax.jms.JMSProducer;
import javax.jms.Message;
import javax.jms.MessageConsumer;
import javax.jms.MessageProducer;
import javax.jms.Queue;
import javax.jms.QueueBrowser;
import javax.jms.Session;
import javax.jms.TemporaryQueue;
import javax.jms.TextMessage;

/** JMS, point to point, without listeners. */
public final class Jms {
    private final Place place;

    public Jms(Place place) {
        this.place = place;
    }

    static MQConnectionFactory factory(Place place) throws JMSException {
        MQConnectionFactory factory = new MQConnectionFactory();
        factory.setTransportType(WMQConstants.WMQ_CM_CLIENT);
        factory.setHostName(place.host);
        factory.setPort(place.port);
        factory.setChannel(place.channel);
        factory.setQueueManager("QM1");
        return factory;
    }

    private Connection connect() throws JMSException {
        Connection connection = factory(place).createConnection();
        connection.start();
        return connection;
    }

    @Case
    public void sendAndReceive() throws Exception {
        try (Connection connection = connect()) {
            Session session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
            Queue queue = session.createQueue("queue:///" + place.queue());
            MessageProducer producer = session.createProducer(queue);
            TextMessage sent = Messages.sample(session);
            producer.send(sent);
            that(sent.getJMSMessageID().startsWith("ID:"), "an identifier");
            MessageConsumer consumer = session.createConsumer(queue);
            Message received = received(consumer);
            Messages.isSample(received);
            equal(sent.getJMSMessageID(), received.getJMSMessageID());
            equal(DeliveryMode.PERSISTENT, received.getJMSDeliveryMode());
            equal(false, received.getJMSRedelivered());
            equal(1, received.getIntProperty("JMSXDeliveryCount"));
            equal(sent.getJMSTimestamp() / 10_000, received.getJMSTimestamp() / 10_000);
            equal(((Queue) sent.getJMSDestination()).getQueueName().replaceAll("\\\\?.*", ""),
                ((Queue) received.getJMSDestination()).getQueueName().replaceAll("\\\\?.*", ""));
            equal(null, consumer.receiveNoWait());
            equal(null, consumer.receive(20));
        }
    }

    @Case
    public void allTypesOfMessages() throws Exception {
        try (Connection connection = connect()) {
            Session session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
            Queue queue = session.createQueue(place.queue());
            MessageProducer producer = session.createProducer(queue);
            MessageConsumer consumer = session.createConsumer(queue);
            Messages.everyType(session, producer, consumer);
        }
    }

    @Case
    public void transacted() throws Exception {
        String name = place.queue();
        try (Connection connection = connect()) {
            Session session = connection.createSession(true, Session.SESSION_TRANSACTED);
            Session other = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
            Queue queue = session.createQueue(name);
            MessageProducer producer = session.createProducer(queue);
            MessageConsumer consumer = session.createConsumer(queue);
            producer.send(session.createTextMessage("one"));
            producer.send(session.createTextMessage("two"));
            QueueBrowser browser = other.createBrowser(queue);
            that(!browser.getEnumeration().hasMoreElements(), "nothing is seen before the commit");
            session.rollback();
            producer.send(session.createTextMessage("three"));
            session.commit();
            Message first = received(consumer);
            equal("three", text(first));
            equal(false, first.getJMSRedelivered());
            session.rollback();
            Message again = received(consumer);
            equal("three", text(again));
            equal(true, again.getJMSRedelivered());
            equal(2, again.getIntProperty("JMSXDeliveryCount"));
            session.commit();
            equal(null, consumer.receiveNoWait());
        }
        equal(0, place.depth(name));
    }

    @Case
    public void closingATransactedSessionRollsBack() throws Exception {
        String name = place.queue();
        try (Connection connection = connect()) {
            Session session = connection.createSession(true, Session.SESSION_TRANSACTED);
            session.createProducer(session.createQueue(name)).send(session.createTextMessage("never"));
            session.close();
            equal(0, place.depth(name));
        }
    }

    @Case
    public void clientAcknowledge() throws Exception {
        try (Connection connection = connect()) {
            Session session = connection.createSession(false, Session.CLIENT_ACKNOWLEDGE);
            Queue queue = session.createQueue(place.queue());
            MessageProducer producer = session.createProducer(queue);
            for (int n = 0; n < 5; n++) {
                producer.send(session.createTextMessage("number " + n));
            }
            MessageConsumer consumer = session.createConsumer(queue);
            for (int n = 0; n < 3; n++) {
                equal("number " + n, text(received(consumer)));
            }
            session.recover();
            for (int n = 0; n < 3; n++) {
                Message again = received(consumer);
                equal("number " + n, text(again));
                equal(true, again.getJMSRedelivered());
                if (n == 2) {
                    again.acknowledge();
                }
            }
            equal("number 3", text(received(consumer)));
            session.recover();
            equal("number 3", text(received(consumer)));
            Message last = received(consumer);
            equal("number 4", text(last));
            last.acknowledge();
            session.recover();
            equal(null, consumer.receiveNoWait());
        }
    }

    /** What one thread waits for ends when another closes it; a wait of its own would have lasted a minute and more. */
    @Case
    public void aReceiveEndsWhenAnotherThreadCloses() throws Exception {
        String name = place.queue();
        for (String how : new String[] {"consumer", "session", "connection"}) {
            try (Connection connection = connect()) {
                Session session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
                MessageConsumer consumer = session.createConsumer(session.createQueue(name));
                BlockingQueue<String> ends = new LinkedBlockingQueue<>();
                Thread receives = new Thread(() -> {
                    try {
                        ends.add("with " + consumer.receive(4 * LONG));
                    } catch (JMSException failure) {
                        ends.add(failure.toString());
                    }
                });
                receives.start();
                // For a lock, or for its socket.
                place.until("it waits", () -> {
                    StackTraceElement[] frames = receives.getStackTrace();
                    return frames.length > 0 && frames[0].isNativeMethod();
                });
                if (how.equals("consumer")) {
                    consumer.close();
                } else if (how.equals("session")) {
                    session.close();
                } else {
                    connection.close();
                }
                equal("with null", ends.poll(LONG, TimeUnit.MILLISECONDS));
            }
        }
        equal(0, place.depth(name));
    }

    @Case
    public void duplicatesOk() throws Exception {
        String name = place.queue();
        try (Connection connection = connect()) {
            Session session = connection.createSession(false, Session.DUPS_OK_ACKNOWLEDGE);
            Queue queue = session.createQueue(name);
            MessageProducer producer = session.createProducer(queue);
            for (int n = 0; n < 10; n++) {
                producer.send(session.createTextMessage("number " + n));
            }
            MessageConsumer consumer = session.createConsumer(queue);
            for (int n = 0; n < 10; n++) {
                equal("number " + n, text(received(consumer)));
            }
            session.close();
        }
        equal(0, place.depth(name));
    }

    @Case
    public void deliveryModePriorityAndExpiry() throws Exception {
        String name = place.queue("MSGDLVSQ(PRIORITY)");
        try (Connection connection = connect()) {
            Session session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
            Queue queue = session.createQueue(name);
            MessageProducer producer = session.createProducer(queue);
            producer.send(session.createTextMessage("gone"), DeliveryMode.NON_PERSISTENT, 9, 1);
            producer.send(session.createTextMessage("low"), DeliveryMode.NON_PERSISTENT, 1, 0);
            producer.send(session.createTextMessage("high"), DeliveryMode.PERSISTENT, 8, 600_000);
            QueueBrowser browser = session.createBrowser(queue);
            place.until("the first has expired", () -> {
                try {
                    Enumeration<?> messages = browser.getEnumeration();
                    return messages.hasMoreElements()
                        && ((Message) messages.nextElement()).getJMSPriority() != 9;
                } catch (JMSException failure) {
                    throw new AssertionError(failure);
                }
            });
            MessageConsumer consumer = session.createConsumer(queue);
            Message high = received(consumer);
            equal("high", text(high));
            equal(8, high.getJMSPriority());
            equal(DeliveryMode.PERSISTENT, high.getJMSDeliveryMode());
            that(high.getJMSExpiration() > System.currentTimeMillis(), "it expires later");
            Message low = received(consumer);
            equal("low", text(low));
            equal(DeliveryMode.NON_PERSISTENT, low.getJMSDeliveryMode());
            equal(0L, low.getJMSExpiration());
            equal(null, consumer.receiveNoWait());
        }
    }

    @Case
    public void browser() throws Exception {
        try (Connection connection = connect()) {
            Session session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
            Queue queue = session.createQueue(place.queue());
            MessageProducer producer = session.createProducer(queue);
            QueueBrowser browser = session.createBrowser(queue);
            that(!browser.getEnumeration().hasMoreElements(), "nothing");
            for (int n = 0; n < 3; n++) {
                producer.send(session.createTextMessage("number " + n));
            }
            for (int round = 0; round < 2; round++) {
                Enumeration<?> messages = browser.getEnumeration();
                for (int n = 0; n < 3; n++) {
                    equal("number " + n, text((Message) messages.nextElement()));
                }
                that(!messages.hasMoreElements(), "no more");
            }
            browser.close();
            MessageConsumer consumer = session.createConsumer(queue);
            for (int n = 0; n < 3; n++) {
                equal("number " + n, text(received(consumer)));
            }
        }
    }

    @Case
    public void identifiersSelect() throws Exception {
        try (Connection connection = connect()) {
            Session session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
            Queue queue = session.createQueue(place.queue());
            MessageProducer producer = session.createProducer(queue);
            TextMessage[] sent = new TextMessage[3];
            for (int n = 0; n < 3; n++) {
                sent[n] = session.createTextMessage("number " + n);
                sent[n].setJMSCorrelationID("ID:" + "0".repeat(47) + n);
                producer.send(sent[n]);
            }
            try (MessageConsumer consumer =
                session.createConsumer(queue, "JMSMessageID='" + sent[1].getJMSMessageID() + "'")) {
                equal("number 1", text(received(consumer)));
                equal(null, consumer.receiveNoWait());
            }
            try (MessageConsumer consumer =
                session.createConsumer(queue, "JMSCorrelationID='" + sent[2].getJMSCorrelationID() + "'")) {
                equal("number 2", text(received(consumer)));
            }
        }
    }

    @Case
    public void selectors() throws Exception {
        String name = place.queue();
        try (Connection connection = connect()) {
            Session session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
            Queue queue = session.createQueue(name);
            MessageProducer producer = session.createProducer(queue);
            for (int n = 0; n < 6; n++) {
                TextMessage message = session.createTextMessage("number " + n);
                message.setStringProperty("colour", n % 2 == 0 ? "red" : "blue");
                message.setIntProperty("weight", n);
                message.setJMSType(n < 3 ? "light" : "heavy");
                producer.send(message);
            }
            try (QueueBrowser browser = session.createBrowser(queue, "colour LIKE 'bl%' AND JMSType <> 'light'")) {
                List<String> texts = new ArrayList<>();
                Enumeration<?> messages = browser.getEnumeration();
                while (messages.hasMoreElements()) {
                    texts.add(text((Message) messages.nextElement()));
                }
                equal(List.of("number 3", "number 5"), texts);
            }
            try (MessageConsumer consumer = session.createConsumer(queue, "colour = 'red' AND weight BETWEEN 1 AND 9")) {
                equal("number 2", text(received(consumer)));
                equal("number 4", text(received(consumer)));
                equal(null, consumer.receive(20));
            }
            try (MessageConsumer consumer = session.createConsumer(queue, "nothing IS NULL AND JMSType = 'heavy'")) {
                equal("number 3", text(received(consumer)));
            }
            try {
                session.createConsumer(queue, "colour = ");
                throw new AssertionError("a selector that is none");
            } catch (InvalidSelectorException expected) {
                // That is what it is to be.
            }
        }
        equal(3, place.depth(name));
    }

    /** Properties of the provider in selectors: what the library selects itself it selects as the queue manager does. */
    @Case
    public void selectorsNamePropertiesOfTheProvider() throws Exception {
        String[] alike = {
            "JMS_IBM_Format = 'MQSTR   '", "JMS_IBM_Format LIKE 'MQ%'", "JMS_IBM_MsgType = 1", "JMS_IBM_Feedback = 0",
            "JMS_IBM_PutApplType = 28", "JMS_IBM_PutDate LIKE '20______'", "JMS_IBM_PutTime IS NOT NULL",
            "JMS_IBM_Report_Exception = 0 AND JMS_IBM_Report_Expiration = 0 AND JMS_IBM_Report_COA = 0",
            "JMS_IBM_Report_COD = 2048 AND JMS_IBM_Report_Pass_Msg_ID = 128 AND JMS_IBM_Report_Pass_Correl_ID = 0",
            "JMS_IBM_Report_PAN = 0 AND JMS_IBM_Report_NAN = 0 AND JMS_IBM_Report_Discard_Msg = 0",
            "JMS_IBM_Last_Msg_In_Group = FALSE", "JMS_IBM_Character_Set IS NULL", "JMS_IBM_Retain IS NULL",
            "JMSXState IS NULL AND JMSXRcvTimestamp IS NULL AND JMSXProducerTXID IS NULL AND JMSXConsumerTXID IS NULL",
            "JMSNone IS NULL AND JMS_none IS NULL", "JMSXUserID LIKE '_%'",
        };
        String[] here = {
            "JMS_IBM_Format = 'MQSTR'", "JMS_IBM_Encoding = 273", "JMS_IBM_MQMD_Priority = 4",
            "JMS_IBM_MQMD_Format = 'MQHRF2'", "JMS_IBM_MQMD_MsgId IS NOT NULL",
        };
        String[] none = {"JMS_IBM_MsgType = 8", "JMS_IBM_Format = 'MQHRF2  '", "JMSXState = 0", "JMS_IBM_Nonsense = 1"};
        String[] refused = {"JMS.none IS NULL", "JMS_IBM_Format.none IS NULL", "usr.JMS_IBM_Format IS NULL"};
        try (Connection connection = connect()) {
            Session session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
            Queue queue = session.createQueue(place.queue());
            TextMessage message = session.createTextMessage("text");
            message.setIntProperty("JMS_IBM_Report_COD", 2048);
            message.setIntProperty("JMS_IBM_Report_Pass_Msg_ID", 128);
            message.setJMSReplyTo(queue);
            session.createProducer(queue).send(message);
            for (String selector : alike) {
                that(selects(session, queue, selector), selector);
            }
            for (String selector : here) {
                that(selects(session, queue, selector) != place.channel.equals("SC0"), selector);
            }
            for (String selector : none) {
                that(!selects(session, queue, selector), selector);
            }
            for (String selector : refused) {
                try {
                    selects(session, queue, selector);
                    throw new AssertionError(selector);
                } catch (InvalidSelectorException expected) {
                    // That is what it is to be.
                }
            }
        }
    }

    private static boolean selects(Session session, Queue queue, String selector) throws JMSException {
        try (QueueBrowser browser = session.createBrowser(queue, selector)) {
            return browser.getEnumeration().hasMoreElements();
        }
    }

    @Case
    public void requestAndReplyByATemporaryQueue() throws Exception {
        String name = place.queue();
        try (Connection connection = connect(); Connection serving = connect()) {
            Thread serves = new Thread(() -> {
                try {
                    Session session = serving.createSession(false, Session.AUTO_ACKNOWLEDGE);
                    MessageConsumer requests = session.createConsumer(session.createQueue(name));
                    MessageProducer replies = session.createProducer(null);
                    for (int n = 0; n < 5; n++) {
                        Message request = received(requests);
                        TextMessage reply = session.createTextMessage("to " + text(request));
                        reply.setJMSCorrelationID(request.getJMSMessageID());
                        replies.send(request.getJMSReplyTo(), reply);
                    }
                } catch (JMSException failure) {
                    throw new AssertionError(failure);
                }
            });
            serves.start();
            Session session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
            TemporaryQueue replies = session.createTemporaryQueue();
            MessageProducer producer = session.createProducer(session.createQueue(name));
            MessageConsumer consumer = session.createConsumer(replies);
            for (int n = 0; n < 5; n++) {
                TextMessage request = session.createTextMessage("request " + n);
                request.setJMSReplyTo(replies);
                producer.send(request);
                Message reply = received(consumer);
                equal("to request " + n, text(reply));
                equal(request.getJMSMessageID(), reply.getJMSCorrelationID());
            }
            serves.join();
            consumer.close();
            String temporary = replies.getQueueName();
            replies.delete();
            if (place.channel.equals("SC0")) {
                // Without shared conversations the library keeps it until the connection is closed.
                return;
            }
            try {
                session.createProducer(session.createQueue(temporary)).send(session.createTextMessage("x"));
                throw new AssertionError("the temporary queue is still there");
            } catch (InvalidDestinationException gone) {
                that(gone.getErrorCode() != null, "an error");
            }
        }
    }

    @Case
    public void aTemporaryQueueGoesWithItsConnection() throws Exception {
        String temporary;
        try (Connection connection = connect()) {
            Session session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
            TemporaryQueue queue = session.createTemporaryQueue();
            session.createProducer(queue).send(session.createTextMessage("x"));
            temporary = queue.getQueueName().replaceFirst("queue://[^/]*/", "").replaceAll("\\\\?.*", "");
        }
        String answer = Main.mqsc("DISPLAY QLOCAL(" + temporary + ") CURDEPTH");
        that(answer.startsWith("NO"), answer);
    }

    @Case
    public void asynchronousSends() throws Exception {
        String name = place.queue("DEFPRESP(ASYNC) MAXDEPTH(20000)");
        try (Connection connection = connect()) {
            Session session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
            Queue queue = session.createQueue(name);
            MessageProducer producer = session.createProducer(queue);
            producer.setDeliveryMode(DeliveryMode.NON_PERSISTENT);
            // More than identifiers are given out at a time.
            int count = 5_000;
            java.util.Set<String> ids = new java.util.HashSet<>();
            for (int n = 0; n < count; n++) {
                Message message = session.createTextMessage("number " + n);
                producer.send(message);
                ids.add(message.getJMSMessageID());
            }
            equal(count, ids.size());
            MessageConsumer consumer = session.createConsumer(queue);
            for (int n = 0; n < count; n++) {
                Message message = received(consumer);
                equal("number " + n, text(message));
                that(ids.remove(message.getJMSMessageID()), "an identifier of these");
            }
            equal(null, consumer.receiveNoWait());
        }
    }

    @Case
    public void deliveryDelay() throws Exception {
        if (place.channel.equals("SC0")) {
            return;
        }
        String name = place.queue();
        try (Connection connection = connect()) {
            Session session = connection.createSession(true, Session.SESSION_TRANSACTED);
            Queue queue = session.createQueue(name);
            MessageProducer producer = session.createProducer(queue);
            MessageConsumer consumer = session.createConsumer(queue);
            for (int mode : new int[] {DeliveryMode.PERSISTENT, DeliveryMode.NON_PERSISTENT}) {
                producer.setDeliveryMode(mode);
                producer.setDeliveryDelay(500);
                TextMessage sent = Messages.sample(session);
                long before = System.nanoTime();
                producer.send(sent);
                producer.setDeliveryDelay(0);
                producer.send(session.createTextMessage("at once"));
                session.commit();
                equal("at once", text(received(consumer)));
                Message late = received(consumer);
                that(System.nanoTime() - before >= 500_000_000L, "not before it is due");
                Messages.isSample(late);
                equal(sent.getJMSMessageID(), late.getJMSMessageID());
                equal(mode, late.getJMSDeliveryMode());
                equal(sent.getJMSDeliveryTime(), late.getJMSDeliveryTime());
                session.commit();
            }
            producer.setDeliveryDelay(60_000);
            producer.send(session.createTextMessage("never"));
            session.rollback();
            producer.setTimeToLive(1_000);
            try {
                producer.send(session.createTextMessage("it would expire before"));
                throw new AssertionError("it lives shorter than it is delayed");
            } catch (JMSException refused) {
                session.rollback();
            }
        }
        equal(0, place.depth(name));
        place.until("nothing is delayed", () -> place.depth("SYSTEM.DDELAY.LOCAL.QUEUE") == 0);
    }

    @Case
    public void theSimplifiedInterface() throws Exception {
        if (place.channel.equals("SC0")) {
            // Without shared conversations the library goes back to what it could do before JMS 2.0.
            try {
                factory(place).createContext(JMSContext.AUTO_ACKNOWLEDGE).close();
                throw new AssertionError("a JMS 2.0 context without shared conversations");
            } catch (javax.jms.JMSRuntimeException refused) {
                equal("JMSCC5007", refused.getErrorCode());
            }
            return;
        }
        String name = place.queue();
        try (JMSContext context = factory(place).createContext(JMSContext.AUTO_ACKNOWLEDGE)) {
            Queue queue = context.createQueue("queue:///" + name);
            JMSProducer producer = context.createProducer();
            producer.setProperty("colour", "blue").setPriority(6).setTimeToLive(600_000).send(queue, "simplified");
            JMSConsumer consumer = context.createConsumer(queue);
            Message message = consumer.receive(LONG);
            equal("simplified", message.getBody(String.class));
            equal("blue", message.getStringProperty("colour"));
            equal(6, message.getJMSPriority());
            context.createProducer().send(queue, java.util.Map.of("key", "value"));
            equal("value", consumer.receiveBody(java.util.Map.class, LONG).get("key"));
            equal(null, consumer.receiveNoWait());
            try (JMSContext transacted = context.createContext(JMSContext.SESSION_TRANSACTED)) {
                transacted.createProducer().send(queue, "committed");
                transacted.commit();
                transacted.createProducer().send(queue, "rolled back");
                transacted.rollback();
            }
            equal("committed", consumer.receiveBody(String.class, LONG));
            equal(null, consumer.receiveNoWait());
        }
    }

    @Case
    public void unknownQueuesAreRefused() throws Exception {
        try (Connection connection = connect()) {
            Session session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
            try {
                session.createProducer(session.createQueue("NOT.THERE"));
                throw new AssertionError("it is not there");
            } catch (InvalidDestinationException refused) {
                that(String.valueOf(refused.getLinkedException()).contains("2085"), "2085");
            }
        }
    }

    @Case
    public void poisonedMessagesAreMovedAway() throws Exception {
        String back = place.queue();
        String name = place.queue("BOTHRESH(2) BOQNAME(" + back + ")");
        try (Connection connection = connect()) {
            Session session = connection.createSession(true, Session.SESSION_TRANSACTED);
            session.createProducer(session.createQueue(name)).send(session.createTextMessage("poison"));
            session.commit();
            MessageConsumer consumer = session.createConsumer(session.createQueue(name));
            for (int n = 0; n < 2; n++) {
                equal("poison", text(received(consumer)));
                session.rollback();
            }
            equal(null, consumer.receive(50));
            session.commit();
        }
        equal(1, place.depth(back));
        equal(0, place.depth(name));
    }

    @Case
    public void manySessionsOfOneConnection() throws Exception {
        String name = place.queue();
        try (Connection connection = connect()) {
            List<Thread> threads = new ArrayList<>();
            List<Throwable> wrong = java.util.Collections.synchronizedList(new ArrayList<>());
            for (int t = 0; t < 12; t++) {
                Thread thread = new Thread(() -> {
                    try {
                        Session session = connection.createSession(true, Session.SESSION_TRANSACTED);
                        Queue queue = session.createQueue(name);
                        MessageProducer producer = session.createProducer(queue);
                        MessageConsumer consumer = session.createConsumer(queue);
                        for (int n = 0; n < 10; n++) {
                            producer.send(session.createTextMessage("number " + n));
                            session.commit();
                            received(consumer);
                            session.commit();
                        }
                        session.close();
                    } catch (Throwable failure) {
                        wrong.add(failure);
                    }
                });
                thread.start();
                threads.add(thread);
            }
            for (Thread thread : threads) {
                thread.join();
            }
            if (!wrong.isEmpty()) {
                throw new AssertionError(wrong.get(0));
            }
        }
        equal(0, place.depth(name));
    }

    @Case
    public void aHundredMegabytes() throws Exception {
        String name = place.queue("MAXMSGL(104857600)");
        // With its headers and properties it is at most what MQ allows.
        byte[] body = new byte[100 << 20];
        new java.util.Random(7).nextBytes(body);
        int length = body.length - 4096;
        try (Connection connection = connect()) {
            Session session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
            Queue queue = session.createQueue(name);
            MessageProducer producer = session.createProducer(queue);
            producer.setDeliveryMode(DeliveryMode.NON_PERSISTENT);
            BytesMessage message = session.createBytesMessage();
            message.writeBytes(body, 0, length);
            producer.send(message);
            BytesMessage received = (BytesMessage) received(session.createConsumer(queue));
            equal((long) length, received.getBodyLength());
            byte[] back = new byte[length];
            equal(length, received.readBytes(back));
            equal(-1, java.util.Arrays.mismatch(back, java.util.Arrays.copyOf(body, length)));
            // One byte more than is allowed is refused, and the connection is none the worse.
            BytesMessage longer = session.createBytesMessage();
            longer.writeBytes(body);
            longer.writeByte((byte) 0);
            try {
                producer.send(longer);
                that(false, "more than 100 MB was taken");
            } catch (JMSException refused) {
                that(String.valueOf(refused.getLinkedException()).contains("2010")
                    || String.valueOf(refused.getLinkedException()).contains("2030")
                    || String.valueOf(refused.getLinkedException()).contains("2031"), "" + refused.getLinkedException());
            }
            producer.send(session.createTextMessage("after"));
            equal("after", text(received(session.createConsumer(queue))));
        }
    }
}
