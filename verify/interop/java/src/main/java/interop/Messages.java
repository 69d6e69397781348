package interop;

import static interop.Place.equal;
import static interop.Place.that;

import com.ibm.mq.MQException;
import java.util.ArrayList;
import java.util.List;
import javax.jms.BytesMessage;
import javax.jms.JMSException;
import javax.jms.MapMessage;
import javax.jms.Message;
import javax.jms.MessageConsumer;
import javax.jms.MessageProducer;
import javax.jms.ObjectMessage;
import javax.jms.Session;
import javax.jms.StreamMessage;
import javax.jms.TextMessage;

/** What JMS messages are to carry, whether through a queue or a topic. */
final class Messages {
    /** Milliseconds; longer than anything takes that does not hang. */
    static final long LONG = 60_000;

    private Messages() {
    }

    static String text(Message message) throws JMSException {
        that(message != null, "a message");
        return ((TextMessage) message).getText();
    }

    static Message received(MessageConsumer consumer) throws JMSException {
        Message message = consumer.receive(LONG);
        that(message != null, "a message");
        return message;
    }

    /** The reason of the call that failed below JMS; 0 if none did. */
    static int reason(Throwable failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof MQException) {
                return ((MQException) cause).getReason();
            }
        }
        return 0;
    }

    /** A text with a property of each common type. */
    static TextMessage sample(Session session) throws JMSException {
        TextMessage message = session.createTextMessage("Grüße");
        message.setStringProperty("colour", "red");
        message.setIntProperty("number", 7);
        message.setBooleanProperty("flag", true);
        message.setDoubleProperty("real", 1.5);
        message.setJMSCorrelationID("correlation");
        message.setJMSType("type");
        return message;
    }

    static void isSample(Message received) throws JMSException {
        equal("Grüße", text(received));
        equal("red", received.getStringProperty("colour"));
        equal(7, received.getIntProperty("number"));
        equal(true, received.getBooleanProperty("flag"));
        equal(1.5, received.getDoubleProperty("real"));
        equal("correlation", received.getJMSCorrelationID());
        equal("type", received.getJMSType());
    }

    /** Sends a message of each type, and receives it. */
    static void everyType(Session session, MessageProducer producer, MessageConsumer consumer) throws JMSException {
        BytesMessage bytes = session.createBytesMessage();
        bytes.writeInt(42);
        bytes.writeUTF("bytes");
        producer.send(bytes);
        BytesMessage bytesBack = (BytesMessage) received(consumer);
        equal(42, bytesBack.readInt());
        equal("bytes", bytesBack.readUTF());

        MapMessage map = session.createMapMessage();
        map.setString("name", "value");
        map.setLong("long", 1L << 40);
        map.setBytes("bytes", new byte[] {1, 2, 3});
        producer.send(map);
        MapMessage mapBack = (MapMessage) received(consumer);
        equal("value", mapBack.getString("name"));
        equal(1L << 40, mapBack.getLong("long"));
        equal(3, mapBack.getBytes("bytes").length);

        StreamMessage stream = session.createStreamMessage();
        stream.writeBoolean(true);
        stream.writeString("stream");
        stream.writeDouble(2.5);
        producer.send(stream);
        StreamMessage streamBack = (StreamMessage) received(consumer);
        equal(true, streamBack.readBoolean());
        equal("stream", streamBack.readString());
        equal(2.5, streamBack.readDouble());

        ArrayList<String> list = new ArrayList<>(List.of("an", "object"));
        producer.send(session.createObjectMessage(list));
        equal(list, ((ObjectMessage) received(consumer)).getObject());

        producer.send(session.createMessage());
        that(!(received(consumer) instanceof TextMessage), "a message without a body");
        producer.send(session.createTextMessage());
        equal(null, text(received(consumer)));

        String large = "0123456789".repeat(200_000);
        producer.send(session.createTextMessage(large));
        equal(large, text(received(consumer)));
    }
}
