package interop;

import static interop.Messages.LONG;
import static interop.Messages.received;
import static interop.Messages.text;
import static interop.Place.equal;
import static interop.Place.that;

import com.ibm.mq.MQMessage;
import com.ibm.mq.MQQueueManager;
import com.ibm.mq.constants.CMQC;
import com.ibm.mq.jms.MQQueue;
import com.ibm.msg.client.wmq.WMQConstants;
import javax.jms.Connection;
import javax.jms.JMSException;
import javax.jms.Message;
import javax.jms.MessageConsumer;
import javax.jms.MessageProducer;
import javax.jms.Queue;
import javax.jms.QueueBrowser;
import javax.jms.Session;
import javax.jms.TextMessage;
import javax.jms.Topic;

/** What few applications do, and conformance suites do. */
public final class Corners {
    /** A character beyond the Basic Multilingual Plane. */
    private static final String CLEF = "\uD834\uDD1E";

    /** A byte-order mark. */
    private static final String MARK = "\uFEFF";

    private final Place place;

    public Corners(Place place) {
        this.place = place;
    }

    private Connection connect() throws JMSException {
        Connection connection = Jms.factory(place).createConnection();
        connection.setClientID("corners " + CLEF + " " + place.label);
        connection.start();
        return connection;
    }

    private static TextMessage sample(Session session) throws JMSException {
        TextMessage message = session.createTextMessage("text " + CLEF);
        message.setStringProperty("sign", CLEF + "é");
        message.setJMSType("type " + CLEF);
        message.setJMSCorrelationID("correlation " + CLEF);
        return message;
    }

    private static void isSample(Message received) throws JMSException {
        equal("text " + CLEF, text(received));
        equal(CLEF + "é", received.getStringProperty("sign"));
        equal("type " + CLEF, received.getJMSType());
        equal("correlation " + CLEF, received.getJMSCorrelationID());
    }

    @Case
    public void charactersBeyondTheBasicMultilingualPlaneSelect() throws Exception {
        try (Connection connection = connect()) {
            Session session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
            Queue queue = session.createQueue(place.queue());
            session.createProducer(queue).send(sample(session));
            String[] found = {
                "sign = '" + CLEF + "é'", "sign LIKE '_é'", "sign IN ('x', '" + CLEF + "é')",
                "JMSType = 'type " + CLEF + "'", "JMSCorrelationID = 'correlation " + CLEF + "'",
            };
            for (String selector : found) {
                try (QueueBrowser browser = session.createBrowser(queue, selector)) {
                    that(browser.getEnumeration().hasMoreElements(), selector);
                }
            }
            try (MessageConsumer other = session.createConsumer(queue, "sign = '\uD834\uDD1Fé'")) {
                equal(null, other.receiveNoWait());
            }
            isSample(received(session.createConsumer(queue, found[0])));
        }
    }

    @Case
    public void topicsHaveThemToo() throws Exception {
        try (Connection connection = connect()) {
            Session session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
            Topic topic = session.createTopic(place.topic() + "/" + CLEF + "/é");
            String name = "subscription " + CLEF;
            String selector = "sign = '" + CLEF + "é'";
            MessageProducer producer = session.createProducer(topic);
            session.createDurableConsumer(topic, name, selector, false).close();
            producer.send(sample(session));
            try (MessageConsumer consumer = session.createDurableConsumer(topic, name, selector, false)) {
                Message message = received(consumer);
                isSample(message);
                equal(topic.getTopicName(), ((Topic) message.getJMSDestination()).getTopicName());
            }
            session.unsubscribe(name);
        }
    }

    /**
     * Texts in UTF-16 of both byte orders, converted by the library and by the queue manager. A byte-order mark comes as the
     * character that it is: the character set has said the order. The library, where it converts itself, takes it off 1200.
     */
    @Case
    public void textsInUtf16() throws Exception {
        String text = "Gr\u00fc\u00dfe " + CLEF;
        MQQueueManager qm = Base.connect(place);
        for (int conversion : new int[] {
                WMQConstants.WMQ_RECEIVE_CONVERSION_CLIENT_MSG, WMQConstants.WMQ_RECEIVE_CONVERSION_QMGR}) {
            boolean here = conversion == WMQConstants.WMQ_RECEIVE_CONVERSION_CLIENT_MSG;
            try (Connection connection = connect()) {
                Session session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
                String name = place.queue();
                MQQueue from = (MQQueue) session.createQueue(name);
                from.setIntProperty(WMQConstants.WMQ_RECEIVE_CONVERSION, conversion);
                MessageConsumer consumer = session.createConsumer(from);
                com.ibm.mq.MQQueue queue = qm.accessQueue(name, CMQC.MQOO_OUTPUT);
                for (int ccsid : new int[] {1200, 1202}) {
                    String what = ccsid + (here ? " here: " : " there: ");
                    MQQueue to = (MQQueue) session.createQueue(name);
                    to.setCCSID(ccsid);
                    session.createProducer(to).send(session.createTextMessage(text));
                    equal(what + text, what + text(received(consumer)));
                    MQMessage marked = new MQMessage();
                    marked.format = CMQC.MQFMT_STRING;
                    marked.characterSet = ccsid;
                    boolean big = ccsid == 1200;
                    marked.encoding = big ? CMQC.MQENC_INTEGER_NORMAL : CMQC.MQENC_INTEGER_REVERSED;
                    marked.write((MARK + text).getBytes(big ? "UTF-16BE" : "UTF-16LE"));
                    queue.put(marked);
                    String expected = (here && big ? "" : MARK) + text;
                    equal(what + expected, what + text(received(consumer)));
                }
                queue.close();
            }
        }
        qm.disconnect();
    }

    @Case
    public void reportsWithDataCanBeRead() throws Exception {
        try (Connection connection = connect()) {
            Session session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
            Queue queue = session.createQueue(place.queue());
            Queue reports = session.createQueue(place.queue());
            TextMessage message = session.createTextMessage("0123456789".repeat(20));
            message.setStringProperty("long", "x".repeat(200));
            message.setJMSReplyTo(reports);
            message.setIntProperty(WMQConstants.JMS_IBM_REPORT_COA, CMQC.MQRO_COA_WITH_DATA);
            message.setIntProperty(WMQConstants.JMS_IBM_REPORT_COD, CMQC.MQRO_COD_WITH_DATA);
            session.createProducer(queue).send(message);
            received(session.createConsumer(queue));
            MessageConsumer consumer = session.createConsumer(reports);
            for (int feedback : new int[] {CMQC.MQFB_COA, CMQC.MQFB_COD}) {
                Message report = consumer.receive(LONG);
                equal("0123456789".repeat(10), text(report));
                equal(feedback, report.getIntProperty(WMQConstants.JMS_IBM_FEEDBACK));
                equal(message.getJMSMessageID(), report.getJMSCorrelationID());
                equal("x".repeat(200), report.getStringProperty("long"));
            }
        }
    }
}
