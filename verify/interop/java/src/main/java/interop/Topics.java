package interop;

import static interop.Messages.LONG;
import static interop.Messages.reason;
import static interop.Messages.received;
import static interop.Messages.text;
import static interop.Place.equal;
import static interop.Place.that;

import com.ibm.mq.MQQueueManager;
import com.ibm.mq.constants.CMQC;
import com.ibm.mq.jms.MQConnectionFactory;
import com.ibm.mq.jms.MQTopic;
import com.ibm.msg.client.wmq.WMQConstants;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Enumeration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import javax.jms.Connection;
import javax.jms.DeliveryMode;
import javax.jms.InvalidDestinationException;
import javax.jms.InvalidSelectorException;
import javax.jms.JMSConsumer;
import javax.jms.JMSContext;
import javax.jms.JMSException;
import javax.jms.Message;
import javax.jms.MessageConsumer;
import javax.jms.MessageProducer;
import javax.jms.Session;
import javax.jms.TemporaryTopic;
import javax.jms.TextMessage;
import javax.jms.Topic;

/**
 * JMS, publish and subscribe.
 *
 * That nothing comes is shown by what comes behind it: a message that is published later and is wanted arrives first.
 */
public final class Topics {
    private static final int NO_SUBSCRIPTION = 2428;
    private static final int SUBSCRIPTION_IN_USE = 2429;

    private final Place place;

    public Topics(Place place) {
        this.place = place;
    }

    private Connection connect() throws JMSException {
        return connect(null);
    }

    private Connection connect(String clientId) throws JMSException {
        Connection connection = Jms.factory(place).createConnection();
        if (clientId != null) {
            connection.setClientID(clientId);
        }
        connection.start();
        return connection;
    }

    private static Session session(Connection connection) throws JMSException {
        return connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
    }

    /** Publishes texts, and returns when the queue manager has them. */
    private void publish(String topic, String... texts) throws JMSException {
        try (Connection connection = connect()) {
            Session session = session(connection);
            MessageProducer producer = session.createProducer(session.createTopic(topic));
            for (String text : texts) {
                producer.send(session.createTextMessage(text));
            }
        }
    }

    private static String[] numbers(int first, int count) {
        String[] texts = new String[count];
        for (int n = 0; n < count; n++) {
            texts[n] = "number " + (first + n);
        }
        return texts;
    }

    /** A consumer that does not want what its own connection publishes: the library tells by the connection identifier. */
    @Case
    public void whatIsItsOwnDoesNotCome() throws Exception {
        String name = place.topic();
        try (Connection connection = connect()) {
            Session session = session(connection);
            Topic topic = session.createTopic("topic://" + name);
            MessageConsumer others = session.createConsumer(topic, null, true);
            MessageConsumer all = session.createConsumer(topic);
            session.createProducer(topic).send(session.createTextMessage("its own"));
            Message own = all.receive(LONG);
            equal("its own", text(own));
            publish(name, "another's");
            equal("another's", text(others.receive(LONG)));
            equal("another's", text(all.receive(LONG)));
            String identifier = own.getStringProperty("JMS_IBM_ConnectionID");
            String shown = place.ok("DISPLAY CONN(" + identifier.substring(32) + ") EXTCONN");
            that(shown.contains("EXTCONN(" + identifier.substring(0, 32) + ")"), shown);
        }
    }

    @Case
    public void publishAndReceive() throws Exception {
        String name = place.topic();
        try (Connection connection = connect()) {
            Session session = session(connection);
            Topic topic = session.createTopic("topic://" + name);
            MessageProducer producer = session.createProducer(topic);
            producer.send(session.createTextMessage("before anybody listens"));
            MessageConsumer one = session.createConsumer(topic);
            MessageConsumer two = session.createConsumer(session.createTopic(name));
            MessageConsumer other = session.createConsumer(session.createTopic(place.topic()));
            TextMessage sent = Messages.sample(session);
            producer.send(sent, DeliveryMode.NON_PERSISTENT, 7, 600_000);
            for (MessageConsumer consumer : new MessageConsumer[] {one, two}) {
                Message received = received(consumer);
                Messages.isSample(received);
                equal(7, received.getJMSPriority());
                equal(DeliveryMode.NON_PERSISTENT, received.getJMSDeliveryMode());
                that(received.getJMSExpiration() > System.currentTimeMillis(), "it expires later");
                equal(name, ((Topic) received.getJMSDestination()).getTopicName().replace("topic://", ""));
                equal(null, consumer.receiveNoWait());
            }
            equal(null, other.receiveNoWait());
            one.close();
            producer.send(session.createTextMessage("another"));
            Message another = received(two);
            equal("another", text(another));
            equal(DeliveryMode.PERSISTENT, another.getJMSDeliveryMode());
        }
        publish(name, "behind everybody");
    }

    @Case
    public void allTypesOfMessages() throws Exception {
        try (Connection connection = connect()) {
            Session session = session(connection);
            Topic topic = session.createTopic(place.topic());
            MessageProducer producer = session.createProducer(topic);
            MessageConsumer consumer = session.createConsumer(topic);
            Messages.everyType(session, producer, consumer);
        }
    }

    @Case
    public void wildcards() throws Exception {
        String root = place.topic();
        try (Connection connection = connect()) {
            Session session = session(connection);
            MessageConsumer below = session.createConsumer(session.createTopic("topic://" + root + "/sport/#"));
            MessageConsumer one = session.createConsumer(session.createTopic("topic://" + root + "/+/results"));
            publish(root + "/sport", "at the root of it");
            publish(root + "/weather", "not wanted");
            publish(root + "/sport/tennis/results", "three levels");
            publish(root + "/sports/results", "another root");
            publish(root + "/sport/results", "both");
            equal("at the root of it", text(received(below)));
            equal("three levels", text(received(below)));
            Message both = received(below);
            equal("both", text(both));
            equal(root + "/sport/results",
                ((Topic) both.getJMSDestination()).getTopicName().replace("topic://", ""));
            equal("another root", text(received(one)));
            equal("both", text(received(one)));
            equal(null, below.receiveNoWait());
            equal(null, one.receiveNoWait());
        }
    }

    private static String all(MessageConsumer consumer) throws JMSException {
        List<String> texts = new ArrayList<>();
        for (Message message = consumer.receiveNoWait(); message != null; message = consumer.receiveNoWait()) {
            texts.add(text(message));
        }
        return String.join(" ", texts);
    }

    /** Both schemes, as a connection factory and a topic say them: in either a wildcard of the other one stands for itself. */
    @Case
    public void bothSchemesOfWildcards() throws Exception {
        String root = place.topic();
        String[] published = {"/a", "/ab", "/a/b", "/a*", "/a#", "/+/b"};
        // What each stands for by levels, and by characters.
        String[][] strings = {
            {"/a*", "/a*", "/a /ab /a/b /a* /a#"},
            {"/+/b", "/a/b /+/b", "/+/b"},
            {"/a/#", "/a /a/b", ""},
            {"/a?", "", "/ab /a* /a#"},
        };
        MQQueueManager publisher = Base.connect(place);
        for (int format : new int[] {WMQConstants.WMQ_WILDCARD_TOPIC_ONLY, WMQConstants.WMQ_WILDCARD_CHAR_ONLY}) {
            int expected = format == WMQConstants.WMQ_WILDCARD_TOPIC_ONLY ? 1 : 2;
            for (boolean ofTopic : new boolean[] {false, true}) {
                MQConnectionFactory factory = Jms.factory(place);
                if (!ofTopic) {
                    factory.setIntProperty(WMQConstants.WMQ_WILDCARD_FORMAT, format);
                }
                try (Connection connection = factory.createConnection()) {
                    connection.start();
                    Session session = session(connection);
                    List<MessageConsumer> consumers = new ArrayList<>();
                    for (String[] one : strings) {
                        MQTopic topic = (MQTopic) session.createTopic(root + one[0]);
                        if (ofTopic) {
                            topic.setIntProperty(WMQConstants.WMQ_WILDCARD_FORMAT, format);
                        }
                        consumers.add(session.createConsumer(topic));
                    }
                    for (String topic : published) {
                        BaseTopics.publish(publisher, root + topic, topic, CMQC.MQPMO_NO_SYNCPOINT);
                    }
                    for (int at = 0; at < strings.length; at++) {
                        String what = (ofTopic ? "topic " : "factory ") + format + " " + strings[at][0] + ": ";
                        equal(what + strings[at][expected], what + all(consumers.get(at)));
                    }
                }
            }
        }
        publisher.disconnect();
    }

    /** What another client has published without a header of JMS says its topic, and nothing else that it did not say. */
    @Case
    public void plainPublicationsSayTheirTopic() throws Exception {
        String root = place.topic();
        String name = root + "/plain é";
        try (Connection connection = connect()) {
            Session session = session(connection);
            MessageConsumer consumer = session.createConsumer(session.createTopic(root + "/#"));
            MQQueueManager qm = Base.connect(place);
            BaseTopics.publish(qm, name, "plain", CMQC.MQPMO_NO_SYNCPOINT);
            qm.disconnect();
            Message received = received(consumer);
            equal("plain", text(received));
            that(received.getJMSDestination() instanceof Topic, "the destination is " + received.getJMSDestination());
            equal(name, ((Topic) received.getJMSDestination()).getTopicName().replace("topic://", ""));
            for (Object property : Collections.list((Enumeration<?>) received.getPropertyNames())) {
                that(property.toString().startsWith("JMS"), "the property " + property);
            }
        }
    }

    @Case
    public void selectors() throws Exception {
        try (Connection connection = connect()) {
            Session session = session(connection);
            Topic topic = session.createTopic(place.topic());
            MessageConsumer red = session.createConsumer(topic, "colour = 'red' AND weight BETWEEN 1 AND 9");
            MessageConsumer heavy = session.createConsumer(topic, "JMSType = 'heavy'");
            MessageConsumer every = session.createConsumer(topic);
            MessageProducer producer = session.createProducer(topic);
            for (int n = 0; n < 6; n++) {
                TextMessage message = session.createTextMessage("number " + n);
                message.setStringProperty("colour", n % 2 == 0 ? "red" : "blue");
                message.setIntProperty("weight", n);
                message.setJMSType(n < 4 ? "light" : "heavy");
                producer.send(message);
            }
            equal("number 2", text(received(red)));
            equal("number 4", text(received(red)));
            equal("number 4", text(received(heavy)));
            equal("number 5", text(received(heavy)));
            for (int n = 0; n < 6; n++) {
                equal("number " + n, text(received(every)));
            }
            for (MessageConsumer consumer : new MessageConsumer[] {red, heavy, every}) {
                equal(null, consumer.receiveNoWait());
            }
            try {
                session.createConsumer(topic, "colour = ");
                throw new AssertionError("a selector that is none");
            } catch (InvalidSelectorException expected) {
                // That is what it is to be.
            }
        }
    }

    @Case
    public void listeners() throws Exception {
        String name = place.topic();
        try (Connection connection = connect()) {
            BlockingQueue<String> texts = new LinkedBlockingQueue<>();
            Session session = session(connection);
            session.createConsumer(session.createTopic(name)).setMessageListener(message -> {
                try {
                    texts.add(((TextMessage) message).getText());
                } catch (JMSException failure) {
                    texts.add(failure.toString());
                }
            });
            publish(name, numbers(0, 50));
            publish(name, numbers(50, 50));
            for (int n = 0; n < 100; n++) {
                equal("number " + n, texts.poll(60, TimeUnit.SECONDS));
            }
            connection.stop();
            that(texts.isEmpty(), "each once");
        }
    }

    @Case
    public void durableSubscribers() throws Exception {
        String name = place.topic();
        String client = name.replace('/', '.');
        try (Connection connection = connect(client)) {
            Session session = session(connection);
            MessageConsumer consumer = session.createDurableSubscriber(session.createTopic(name), "durable");
            publish(name, "connected");
            equal("connected", text(received(consumer)));
        }
        publish(name, numbers(0, 20));
        for (int first = 0; first < 20; first += 10) {
            try (Connection connection = connect(client)) {
                Session session = session(connection);
                MessageConsumer consumer = session.createDurableSubscriber(session.createTopic(name), "durable");
                for (int n = first; n < first + 10; n++) {
                    equal("number " + n, text(received(consumer)));
                }
            }
        }
        try (Connection connection = connect(client)) {
            Session session = session(connection);
            Topic topic = session.createTopic(name);
            MessageConsumer consumer = session.createDurableSubscriber(topic, "durable");
            equal(null, consumer.receiveNoWait());
            publish(name, "left behind");
            consumer.close();
            session.unsubscribe("durable");
            try {
                session.unsubscribe("durable");
                throw new AssertionError("it is still there");
            } catch (InvalidDestinationException gone) {
                equal(NO_SUBSCRIPTION, reason(gone));
            }
            publish(name, "to nobody");
            consumer = session.createDurableSubscriber(topic, "durable");
            publish(name, "to the new one");
            equal("to the new one", text(received(consumer)));
            equal(null, consumer.receiveNoWait());
            consumer.close();
            session.unsubscribe("durable");
        }
    }

    @Case
    public void aDurableSubscriptionHasOneConsumer() throws Exception {
        String name = place.topic();
        String client = name.replace('/', '.');
        try (Connection connection = connect(client)) {
            Session session = session(connection);
            Topic topic = session.createTopic(name);
            MessageConsumer consumer = session.createDurableConsumer(topic, "durable");
            try {
                session(connection).createDurableConsumer(topic, "durable");
                throw new AssertionError("two consumers of one subscription");
            } catch (JMSException inUse) {
                equal(SUBSCRIPTION_IN_USE, reason(inUse));
            }
            publish(name, "to the first");
            equal("to the first", text(received(consumer)));
            consumer.close();
            session.unsubscribe("durable");
        }
    }

    @Case
    public void aSubscriptionInUseIsNotUnsubscribed() throws Exception {
        String name = place.topic();
        try (Connection connection = connect(name.replace('/', '.'))) {
            Session session = session(connection);
            Topic topic = session.createTopic(name);
            for (boolean shared : new boolean[] {false, true}) {
                MessageConsumer consumer = shared
                    ? session.createSharedDurableConsumer(topic, "durable")
                    : session.createDurableConsumer(topic, "durable");
                for (Session each : new Session[] {session, session(connection)}) {
                    try {
                        each.unsubscribe("durable");
                        throw new AssertionError("it was in use");
                    } catch (JMSException inUse) {
                        equal(SUBSCRIPTION_IN_USE, reason(inUse));
                    }
                }
                publish(name, "still there");
                equal("still there", text(received(consumer)));
                consumer.close();
                session.unsubscribe("durable");
            }
        }
    }

    @Case
    public void aDurableSubscriptionWithAnotherSelectorIsNew() throws Exception {
        String name = place.topic();
        String client = name.replace('/', '.');
        try (Connection connection = connect(client)) {
            Session session = session(connection);
            Topic topic = session.createTopic(name);
            session.createDurableSubscriber(topic, "durable").close();
            publish(name, "to the old one");
            MessageConsumer consumer = session.createDurableSubscriber(topic, "durable", "weight > 1", false);
            publish(name, "not selected");
            TextMessage heavy = session.createTextMessage("selected");
            heavy.setIntProperty("weight", 2);
            session.createProducer(topic).send(heavy);
            equal("selected", text(received(consumer)));
            equal(null, consumer.receiveNoWait());
            consumer.close();
            MessageConsumer everything = session.createDurableSubscriber(topic, "durable");
            publish(name, "not selected before");
            equal("not selected before", text(received(everything)));
            everything.close();
            session.unsubscribe("durable");
        }
    }

    /** A JMSException, as JMS 2.0 has it in 8.3.2 and 8.3.4. */
    private static void isRefused(Base.Call call) throws Exception {
        try {
            call.run();
        } catch (JMSException refused) {
            return;
        }
        throw new AssertionError("it was not refused");
    }

    @Case
    public void whoeverSharesASubscriptionHasItsSelector() throws Exception {
        String name = place.topic();
        String[] selectors = {"weight > 1", null};
        try (Connection connection = connect(name.replace('/', '.'))) {
            Session session = session(connection);
            Topic topic = session.createTopic(name);
            for (int first = 0; first < 2; first++) {
                String its = selectors[first];
                String another = selectors[1 - first];
                MessageConsumer consumer = session.createSharedConsumer(topic, "shared", its);
                isRefused(() -> session.createSharedConsumer(topic, "shared", another));
                session.createSharedConsumer(topic, "shared", its).close();
                consumer.close();
                MessageConsumer durable = session.createSharedDurableConsumer(topic, "durable", its);
                isRefused(() -> session.createSharedDurableConsumer(topic, "durable", another));
                durable.close();
                session.createSharedDurableConsumer(topic, "durable", another).close();
                session.unsubscribe("durable");
            }
        }
    }

    /** Two consumers that ask in turn get one message each; none comes twice. */
    private void inTurn(String name, MessageConsumer one, MessageConsumer two) throws JMSException {
        publish(name, numbers(0, 20));
        for (int n = 0; n < 20; n++) {
            equal("number " + n, text(received(n % 2 == 0 ? one : two)));
        }
        equal(null, one.receiveNoWait());
        equal(null, two.receiveNoWait());
    }

    @Case
    public void sharedConsumers() throws Exception {
        String name = place.topic();
        try (Connection connection = connect(); Connection another = connect()) {
            Session session = session(connection);
            Session other = session(another);
            Topic topic = session.createTopic(name);
            MessageConsumer one = session.createSharedConsumer(topic, "shared." + name);
            MessageConsumer two = other.createSharedConsumer(topic, "shared." + name);
            MessageConsumer alone = session.createConsumer(topic);
            inTurn(name, one, two);
            for (int n = 0; n < 20; n++) {
                equal("number " + n, text(received(alone)));
            }
            two.close();
            publish(name, "to the one that is left");
            equal("to the one that is left", text(received(one)));
        }
    }

    @Case
    public void sharedListenersShareTheWork() throws Exception {
        String name = place.topic();
        try (Connection connection = connect(); Connection another = connect()) {
            BlockingQueue<String> texts = new LinkedBlockingQueue<>();
            for (Connection each : new Connection[] {connection, another}) {
                Session session = session(each);
                session.createSharedConsumer(session.createTopic(name), "shared." + name)
                    .setMessageListener(message -> {
                        try {
                            texts.add(((TextMessage) message).getText());
                        } catch (JMSException failure) {
                            texts.add(failure.toString());
                        }
                    });
            }
            publish(name, numbers(0, 100));
            Set<String> seen = new HashSet<>();
            for (int n = 0; n < 100; n++) {
                String text = texts.poll(60, TimeUnit.SECONDS);
                that(text != null, "a message");
                that(seen.add(text), "each once");
            }
            for (String text : numbers(0, 100)) {
                that(seen.contains(text), text);
            }
            connection.stop();
            another.stop();
            that(texts.isEmpty(), "no more");
        }
    }

    @Case
    public void sharedDurableConsumers() throws Exception {
        String name = place.topic();
        String client = name.replace('/', '.');
        try (Connection connection = connect(client)) {
            Session session = session(connection);
            Topic topic = session.createTopic(name);
            MessageConsumer one = session.createSharedDurableConsumer(topic, "durable");
            MessageConsumer two = session(connection).createSharedDurableConsumer(topic, "durable");
            inTurn(name, one, two);
        }
        publish(name, numbers(0, 4));
        try (Connection connection = connect(client)) {
            Session session = session(connection);
            Topic topic = session.createTopic(name);
            MessageConsumer one = session.createSharedDurableConsumer(topic, "durable");
            MessageConsumer two = session(connection).createSharedDurableConsumer(topic, "durable");
            for (int n = 0; n < 4; n++) {
                equal("number " + n, text(received(n % 2 == 0 ? one : two)));
            }
            equal(null, one.receiveNoWait());
            one.close();
            two.close();
            session.unsubscribe("durable");
        }
    }

    @Case
    public void requestAndReplyByATemporaryTopic() throws Exception {
        String name = place.topic();
        try (Connection connection = connect(); Connection serving = connect()) {
            Session serves = session(serving);
            MessageConsumer requests = serves.createConsumer(serves.createTopic(name));
            MessageProducer replies = serves.createProducer(null);
            Session session = session(connection);
            TemporaryTopic temporary = session.createTemporaryTopic();
            MessageProducer producer = session.createProducer(session.createTopic(name));
            MessageConsumer consumer = session.createConsumer(temporary);
            for (int n = 0; n < 5; n++) {
                TextMessage request = session.createTextMessage("request " + n);
                request.setJMSReplyTo(temporary);
                producer.send(request);
                Message asked = received(requests);
                that(asked.getJMSReplyTo() instanceof Topic, "a topic to reply to");
                TextMessage reply = serves.createTextMessage("to " + text(asked));
                reply.setJMSCorrelationID(asked.getJMSMessageID());
                replies.send(asked.getJMSReplyTo(), reply);
                equal("to request " + n, text(received(consumer)));
            }
            consumer.close();
            temporary.delete();
        }
    }

    @Case
    public void transacted() throws Exception {
        String name = place.topic();
        try (Connection connection = connect()) {
            Session watching = session(connection);
            Topic topic = watching.createTopic(name);
            MessageConsumer watcher = watching.createConsumer(topic);
            Session session = connection.createSession(true, Session.SESSION_TRANSACTED);
            MessageProducer producer = session.createProducer(topic);
            MessageConsumer consumer = session.createConsumer(topic);
            producer.send(session.createTextMessage("one"));
            producer.send(session.createTextMessage("two"));
            equal(null, watcher.receiveNoWait());
            session.rollback();
            producer.send(session.createTextMessage("three"));
            session.commit();
            equal("three", text(received(watcher)));
            equal(null, watcher.receiveNoWait());
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
    }

    @Case
    public void theSimplifiedInterface() throws Exception {
        String name = place.topic();
        try (JMSContext context = Jms.factory(place).createContext(JMSContext.AUTO_ACKNOWLEDGE)) {
            Topic topic = context.createTopic("topic://" + name);
            JMSConsumer consumer = context.createConsumer(topic);
            context.createProducer().setProperty("colour", "blue").setPriority(6).send(topic, "simplified");
            Message message = consumer.receive(LONG);
            equal("simplified", message.getBody(String.class));
            equal("blue", message.getStringProperty("colour"));
            equal(6, message.getJMSPriority());
            JMSConsumer shared = context.createSharedConsumer(topic, "shared." + name);
            context.createProducer().send(topic, java.util.Map.of("key", "value"));
            equal("value", consumer.receiveBody(java.util.Map.class, LONG).get("key"));
            equal("value", shared.receiveBody(java.util.Map.class, LONG).get("key"));
            equal(null, consumer.receiveNoWait());
        }
    }
}
