package interop;

import static interop.Place.equal;
import static interop.Place.that;

import com.ibm.mq.MQException;
import com.ibm.mq.MQGetMessageOptions;
import com.ibm.mq.MQMessage;
import com.ibm.mq.MQPutMessageOptions;
import com.ibm.mq.MQQueue;
import com.ibm.mq.MQQueueManager;
import com.ibm.mq.constants.CMQC;
import com.ibm.mq.jms.MQConnectionFactory;
import com.ibm.msg.client.wmq.WMQConstants;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.Signature;
import java.util.Base64;
import java.util.Hashtable;
import javax.jms.Connection;
import javax.jms.JMSException;
import javax.jms.JMSSecurityException;
import javax.jms.MessageProducer;
import javax.jms.Session;

/** Users and passwords, by MQCSP and in compatibility mode. The queue manager knows alice, with the password "right". */
public final class Passwords {
    private static final boolean[] MODES = {true, false};
    private final Place place;

    public Passwords(Place place) {
        this.place = place;
        MQException.log = null;
    }

    private interface Body {
        void run() throws Exception;
    }

    /** Has a password demanded while something runs. */
    private void demanding(String attributes, Body body) throws Exception {
        place.ok("ALTER AUTHINFO(USERS) AUTHTYPE(IDPWOS) FAILDLAY(0) " + attributes);
        place.ok("ALTER QMGR CONNAUTH(USERS)");
        place.ok("REFRESH SECURITY(*) TYPE(CONNAUTH)");
        try {
            body.run();
        } finally {
            place.ok("ALTER QMGR CONNAUTH(' ')");
            place.ok("REFRESH SECURITY(*) TYPE(CONNAUTH)");
        }
    }

    private MQQueueManager connect(String user, String password, boolean csp) throws MQException {
        Hashtable<String, Object> properties = Base.properties(place);
        properties.put(CMQC.USE_MQCSP_AUTHENTICATION_PROPERTY, csp);
        if (user != null) {
            properties.put(CMQC.USER_ID_PROPERTY, user);
            properties.put(CMQC.PASSWORD_PROPERTY, password);
        }
        return new MQQueueManager("QM1", properties);
    }

    private MQConnectionFactory jms(boolean csp) throws JMSException {
        MQConnectionFactory connections = Jms.factory(place);
        connections.setBooleanProperty(WMQConstants.USER_AUTHENTICATION_MQCSP, csp);
        return connections;
    }

    private void refused(int reason, String user, String password, boolean csp) {
        try {
            connect(user, password, csp).disconnect();
        } catch (MQException failure) {
            equal(reason, failure.reasonCode);
            return;
        }
        throw new AssertionError("not refused: " + user + " " + csp);
    }

    private String put(MQQueueManager manager) throws Exception {
        MQQueue queue = manager.accessQueue(place.queue(), CMQC.MQOO_INPUT_SHARED | CMQC.MQOO_OUTPUT);
        queue.put(new MQMessage(), new MQPutMessageOptions());
        MQMessage got = new MQMessage();
        queue.get(got, new MQGetMessageOptions());
        manager.disconnect();
        return got.userId.trim();
    }

    @Case
    public void baseClassesConnectWithTheRightPassword() throws Exception {
        demanding("CHCKCLNT(REQUIRED) ADOPTCTX(YES)", () -> {
            for (boolean csp : MODES) {
                equal("alice", put(connect("alice", "right", csp)));
            }
        });
        demanding("CHCKCLNT(OPTIONAL) ADOPTCTX(NO)", () -> {
            that(!put(connect("alice", "right", true)).equals("alice"), "adopted");
            put(connect(null, null, true));
        });
    }

    @Case
    public void baseClassesAreRefusedWithAnyOther() throws Exception {
        for (String check : new String[] {"REQUIRED", "REQDADM", "OPTIONAL"}) {
            demanding("CHCKCLNT(" + check + ")", () -> {
                for (boolean csp : MODES) {
                    refused(2035, "alice", "wrong", csp);
                    refused(2035, "nobody", "right", csp);
                    // The same application, with the right one.
                    put(connect("alice", "right", csp));
                }
            });
        }
        demanding("CHCKCLNT(REQUIRED)", () -> {
            refused(2035, null, null, true);
            refused(2035, null, null, false);
        });
    }

    /** By MQCSP it is a password, and nobody's; in compatibility mode nothing tells it from a process that only says whose it is. */
    @Case
    public void anEmptyPasswordIsNobodys() throws Exception {
        demanding("CHCKCLNT(OPTIONAL) ADOPTCTX(YES)", () -> {
            refused(2035, "alice", "", true);
            refused(2035, "nobody", "", true);
        });
        demanding("CHCKCLNT(REQUIRED) ADOPTCTX(YES)", () -> {
            for (boolean csp : MODES) {
                refused(2035, "alice", "", csp);
            }
        });
    }

    @Case
    public void jmsConnectsWithTheRightPassword() throws Exception {
        demanding("CHCKCLNT(REQUIRED) ADOPTCTX(YES)", () -> {
            for (boolean csp : MODES) {
                try (Connection connection = jms(csp).createConnection("alice", "right")) {
                    connection.start();
                    // Sessions are conversations of their own, which give the password again.
                    for (int number = 0; number < 3; number++) {
                        Session session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
                        javax.jms.Queue queue = session.createQueue("queue:///" + place.queue());
                        MessageProducer producer = session.createProducer(queue);
                        producer.send(session.createTextMessage("whose"));
                        javax.jms.Message got = session.createConsumer(queue).receive(60_000);
                        equal("alice", got.getStringProperty("JMSXUserID").trim());
                    }
                }
            }
        });
    }

    private static String encoded(byte[] bytes) {
        return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    }

    private static String encoded(String text) {
        return encoded(text.getBytes(StandardCharsets.UTF_8));
    }

    private static PrivateKey key(String name) throws Exception {
        char[] password = "secret".toCharArray();
        KeyStore store = KeyStore.getInstance("PKCS12");
        try (InputStream file = Files.newInputStream(Path.of(System.getProperty("interop.keys"), name + ".p12"))) {
            store.load(file, password);
        }
        return (PrivateKey) store.getKey(name, password);
    }

    private static String token(PrivateKey key, String user, int filler) throws Exception {
        long end = System.currentTimeMillis() / 1000 + 3600;
        String claims = "{\"sub\":\"" + user + "\",\"exp\":" + end + ",\"more\":\"" + "x".repeat(filler) + "\"}";
        String signed = encoded("{\"typ\":\"JWT\",\"alg\":\"RS256\"}") + "." + encoded(claims);
        Signature signature = Signature.getInstance("SHA256withRSA");
        signature.initSign(key);
        signature.update(signed.getBytes(StandardCharsets.UTF_8));
        return signed + "." + encoded(signature.sign());
    }

    @Case
    public void jmsComesWithATokenOfATrustedIssuer() throws Exception {
        PrivateKey issuer = key("issuer");
        demanding("CHCKCLNT(REQUIRED) ADOPTCTX(YES)", () -> {
            for (int filler : new int[] {0, 5_000}) {
                try (Connection connection = jms(true).createConnection("", token(issuer, "app1", filler))) {
                    connection.start();
                    Session session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
                    javax.jms.Queue queue = session.createQueue("queue:///" + place.queue());
                    session.createProducer(queue).send(session.createTextMessage("whose"));
                    javax.jms.Message got = session.createConsumer(queue).receive(60_000);
                    equal("app1", got.getStringProperty("JMSXUserID").trim());
                }
            }
        });
    }

    @Case
    public void aTokenOfAStrangerIsRefused() throws Exception {
        PrivateKey stranger = key("stranger");
        demanding("CHCKCLNT(REQUIRED)", () -> {
            try {
                jms(true).createConnection("", token(stranger, "app1", 0)).close();
                throw new AssertionError("not refused");
            } catch (JMSSecurityException failure) {
                that(String.valueOf(failure.getCause()).contains("2035"), String.valueOf(failure.getCause()));
            }
        });
    }

    @Case
    public void jmsIsRefusedWithAnyOther() throws Exception {
        demanding("CHCKCLNT(REQUIRED)", () -> {
            for (boolean csp : MODES) {
                for (String[] pair : new String[][] {{"alice", "wrong"}, {"nobody", "right"}, {null, null}}) {
                    try {
                        jms(csp).createConnection(pair[0], pair[1]).close();
                        throw new AssertionError("not refused: " + pair[0] + " " + csp);
                    } catch (JMSSecurityException failure) {
                        that(String.valueOf(failure.getCause()).contains("2035"), String.valueOf(failure.getCause()));
                    }
                }
            }
        });
    }
}
