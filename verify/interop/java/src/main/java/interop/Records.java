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
import java.util.Hashtable;
import javax.jms.Connection;
import javax.jms.JMSSecurityException;
import javax.jms.Session;
import javax.net.ssl.SSLSocketFactory;

/** Channel authentication records: who comes in, as whom, and what whoever does not is told. */
public final class Records {
    private static final String SUITE = "TLS_AES_128_GCM_SHA256";
    private final Place place;

    public Records(Place place) {
        this.place = place;
        MQException.log = null;
    }

    private interface Body {
        void run() throws Exception;
    }

    /** Has records of the channel count while something runs: each the part behind the profile. */
    private void with(Body body, String... records) throws Exception {
        String set = "SET CHLAUTH(" + place.channel + ") ";
        for (String record : records) {
            place.ok(set + record);
        }
        place.ok("ALTER QMGR CHLAUTH(ENABLED)");
        try {
            body.run();
        } finally {
            place.ok("ALTER QMGR CHLAUTH(DISABLED)");
            for (String type : new String[] {"BLOCKUSER", "ADDRESSMAP", "USERMAP", "SSLPEERMAP"}) {
                place.ok(set + "TYPE(" + type + ") ACTION(REMOVEALL)");
            }
        }
    }

    private MQQueueManager connect(String user, SSLSocketFactory factory) throws MQException {
        Hashtable<String, Object> properties = Base.properties(place);
        properties.put(CMQC.USER_ID_PROPERTY, user);
        properties.put(CMQC.PASSWORD_PROPERTY, "nobody looks");
        if (factory != null) {
            properties.put(CMQC.SSL_CIPHER_SUITE_PROPERTY, SUITE);
            properties.put(CMQC.SSL_SOCKET_FACTORY_PROPERTY, factory);
        }
        return new MQQueueManager("QM1", properties);
    }

    private MQConnectionFactory jms(SSLSocketFactory factory) throws Exception {
        MQConnectionFactory connections = Jms.factory(place);
        if (factory != null) {
            connections.setSSLCipherSuite(SUITE);
            connections.setSSLSocketFactory(factory);
        }
        return connections;
    }

    /** By both interfaces: the user in a message is this. */
    private void runsAs(String expected, String user, SSLSocketFactory factory) throws Exception {
        MQQueueManager manager = connect(user, factory);
        MQQueue queue = manager.accessQueue(place.queue(), CMQC.MQOO_INPUT_SHARED | CMQC.MQOO_OUTPUT);
        queue.put(new MQMessage(), new MQPutMessageOptions());
        MQMessage got = new MQMessage();
        queue.get(got, new MQGetMessageOptions());
        manager.disconnect();
        equal(expected, got.userId.trim());
        try (Connection connection = jms(factory).createConnection(user, "nobody looks")) {
            connection.start();
            Session session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
            javax.jms.Queue name = session.createQueue("queue:///" + place.queue());
            session.createProducer(name).send(session.createTextMessage("whose"));
            javax.jms.Message back = session.createConsumer(name).receive(60_000);
            equal(expected, back.getStringProperty("JMSXUserID").trim());
        }
    }

    /** By both interfaces: 2035. */
    private void isRefused(String user, SSLSocketFactory factory) throws Exception {
        try {
            connect(user, factory).disconnect();
            throw new AssertionError("not refused: " + user);
        } catch (MQException failure) {
            equal(CMQC.MQRC_NOT_AUTHORIZED, failure.reasonCode);
        }
        try {
            jms(factory).createConnection(user, "nobody looks").close();
            throw new AssertionError("not refused: " + user);
        } catch (JMSSecurityException failure) {
            that(String.valueOf(failure.getCause()).contains("2035"), String.valueOf(failure.getCause()));
        }
    }

    @Case
    public void usersAreBlocked() throws Exception {
        with(() -> {
            isRefused("mallory", null);
            runsAs("carol", "carol", null);
        }, "TYPE(BLOCKUSER) USERLIST('mallory')");
        // The record that each queue manager has: no administrators.
        with(() -> {
            isRefused("root", null);
            runsAs("carol", "carol", null);
        });
    }

    @Case
    public void usersAreMapped() throws Exception {
        with(() -> {
            runsAs("app", "carol", null);
            isRefused("dave", null);
            runsAs("erin", "erin", null);
        }, "TYPE(USERMAP) CLNTUSER('carol') MCAUSER('app')", "TYPE(USERMAP) CLNTUSER('dave') USERSRC(NOACCESS)");
    }

    @Case
    public void addressesAreMapped() throws Exception {
        with(() -> {
            runsAs("near", "carol", null);
            runsAs("erin", "erin", null);
        }, "TYPE(ADDRESSMAP) ADDRESS('127.*') MCAUSER('near')", "TYPE(ADDRESSMAP) ADDRESS('*') USERSRC(NOACCESS)",
            "TYPE(USERMAP) CLNTUSER('erin') USERSRC(CHANNEL)");
        with(() -> isRefused("carol", null), "TYPE(ADDRESSMAP) ADDRESS('127.0.0.*') USERSRC(NOACCESS)");
    }

    @Case
    public void certificatesAreMapped() throws Exception {
        place.ok("ALTER CHANNEL(" + place.channel + ") CHLTYPE(SVRCONN) SSLCIPH(" + SUITE + ") SSLCAUTH(OPTIONAL)");
        try {
            with(() -> {
                runsAs("certified", "carol", Tls.factory("client"));
                // Another certificate of the same authority, and none.
                isRefused("carol", Tls.factory("issuer"));
                isRefused("carol", Tls.factory(null));
            }, "TYPE(SSLPEERMAP) SSLPEER('CN=client') SSLCERTI('CN=authority') MCAUSER('certified')",
                "TYPE(ADDRESSMAP) ADDRESS('*') USERSRC(NOACCESS)");
            with(() -> isRefused("carol", Tls.factory("client")), "TYPE(SSLPEERMAP) SSLPEER('CN=cl*') USERSRC(NOACCESS)");
        } finally {
            place.ok("ALTER CHANNEL(" + place.channel + ") CHLTYPE(SVRCONN) SSLCIPH(' ') SSLCAUTH(REQUIRED)");
        }
    }
}
