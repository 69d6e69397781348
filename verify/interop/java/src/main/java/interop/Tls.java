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
import java.io.FileInputStream;
import java.io.InputStream;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.util.Hashtable;
import javax.jms.JMSContext;
import javax.jms.JMSRuntimeException;
import javax.jms.Queue;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocketFactory;
import javax.net.ssl.TrustManagerFactory;

/** TLS: every CipherSpec that Java has, and who is refused. The channel's attributes are set by each case. */
public final class Tls {
    private static final char[] PASSWORD = "secret".toCharArray();
    /** Bytes of messages: more than a record, and more than a buffer. */
    private static final int LARGE = 300_000;
    private final Place place;

    public Tls(Place place) {
        this.place = place;
        MQException.log = null;
    }

    /** Trusts the authority of the queue manager, and shows the certificate in a file; null for none. */
    static SSLSocketFactory factory(String keys) throws Exception {
        String folder = System.getProperty("interop.keys");
        KeyStore trusted = KeyStore.getInstance("PKCS12");
        trusted.load(null, null);
        try (InputStream file = new FileInputStream(folder + "/authority.pem")) {
            trusted.setCertificateEntry("authority", CertificateFactory.getInstance("X.509").generateCertificate(file));
        }
        TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(trusted);
        KeyManagerFactory own = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        if (keys != null) {
            try (InputStream file = new FileInputStream(folder + "/" + keys + ".p12")) {
                store.load(file, PASSWORD);
            }
        }
        own.init(store, PASSWORD);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(own.getKeyManagers(), trust.getTrustManagers(), null);
        return context.getSocketFactory();
    }

    private MQQueueManager connect(String suite, SSLSocketFactory factory, String peer) throws MQException {
        Hashtable<String, Object> properties = Base.properties(place);
        if (suite != null) {
            properties.put(CMQC.SSL_CIPHER_SUITE_PROPERTY, suite);
            properties.put(CMQC.SSL_SOCKET_FACTORY_PROPERTY, factory);
        }
        if (peer != null) {
            properties.put(CMQC.SSL_PEER_NAME_PROPERTY, peer);
        }
        return new MQQueueManager("QM1", properties);
    }

    private MQConnectionFactory jms(String suite, SSLSocketFactory factory) throws Exception {
        MQConnectionFactory connections = Jms.factory(place);
        connections.setSSLCipherSuite(suite);
        connections.setSSLSocketFactory(factory);
        return connections;
    }

    private void set(String attributes) {
        place.ok("ALTER CHANNEL(" + place.channel + ") CHLTYPE(SVRCONN) SSLCIPH(' ') SSLPEER(' ') CERTLABL(' ') "
            + "SSLCAUTH(REQUIRED)");
        place.ok("ALTER CHANNEL(" + place.channel + ") CHLTYPE(SVRCONN) " + attributes);
    }

    private void carry(MQQueueManager manager) throws Exception {
        MQQueue queue = manager.accessQueue(place.queue(), CMQC.MQOO_INPUT_SHARED | CMQC.MQOO_OUTPUT);
        for (int length : new int[] {1, 16_384, LARGE}) {
            byte[] body = new byte[length];
            new java.util.Random(length).nextBytes(body);
            MQMessage sent = new MQMessage();
            sent.write(body);
            queue.put(sent, new MQPutMessageOptions());
            MQMessage got = new MQMessage();
            queue.get(got, new MQGetMessageOptions());
            byte[] back = new byte[got.getMessageLength()];
            got.readFully(back);
            that(java.util.Arrays.equals(body, back), length + " bytes");
        }
        queue.close();
    }

    /** A CipherSpec as this interface calls it, as Java does. */
    private static String suite(String spec) {
        String name = spec.replace("ECDHE_ECDSA_", "TLS_ECDHE_ECDSA_WITH_").replace("ECDHE_RSA_", "TLS_ECDHE_RSA_WITH_");
        return name;
    }

    @Case
    public void everyCipherSpecThatJavaHas() throws Exception {
        String[] specs = {
            "ECDHE_RSA_AES_128_CBC_SHA256", "ECDHE_RSA_AES_256_CBC_SHA384", "ECDHE_RSA_AES_128_GCM_SHA256",
            "ECDHE_RSA_AES_256_GCM_SHA384", "ECDHE_ECDSA_AES_128_CBC_SHA256", "ECDHE_ECDSA_AES_256_CBC_SHA384",
            "ECDHE_ECDSA_AES_128_GCM_SHA256", "ECDHE_ECDSA_AES_256_GCM_SHA384", "TLS_AES_128_GCM_SHA256",
            "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256",
        };
        for (String spec : specs) {
            set("SSLCIPH(" + spec + ") CERTLABL('" + (spec.contains("ECDSA") ? "ec" : "") + "')");
            MQQueueManager manager = connect(suite(spec), factory("client"), "CN=QM1");
            carry(manager);
            String status = place.ok("DISPLAY CHSTATUS(" + place.channel + ") SECPROT SSLCIPH SSLPEER");
            that(status.contains("SSLCIPH(" + spec + ")"), status);
            that(status.contains("CN=client"), status);
            that(status.contains(spec.startsWith("TLS") ? "SECPROT(TLSV13)" : "SECPROT(TLSV12)"), status);
            manager.disconnect();
        }
    }

    @Case
    public void aliasesAgreeOnTheBest() throws Exception {
        for (String[] pair : new String[][] {
            {"ANY_TLS12_OR_HIGHER", "*TLS12ORHIGHER", "TLSV13"}, {"ANY_TLS13", "*TLS13", "TLSV13"},
            {"ANY_TLS12", "*TLS12", "TLSV12"}, {"ANY_TLS13_OR_HIGHER", "*TLS12ORHIGHER", "TLSV13"},
        }) {
            set("SSLCIPH(" + pair[0] + ")");
            MQQueueManager manager = connect(pair[1], factory("client"), null);
            String status = place.ok("DISPLAY CHSTATUS(" + place.channel + ") SECPROT");
            that(status.contains(pair[2]), pair[0] + ": " + status);
            carry(manager);
            manager.disconnect();
        }
    }

    @Case
    public void jmsWithAndWithoutACertificate() throws Exception {
        for (String keys : new String[] {"client", null}) {
            set("SSLCIPH(ANY_TLS12_OR_HIGHER) SSLCAUTH(" + (keys == null ? "OPTIONAL" : "REQUIRED") + ")");
            try (JMSContext context = jms("*TLS12ORHIGHER", factory(keys)).createContext(JMSContext.SESSION_TRANSACTED)) {
                Queue queue = context.createQueue("queue:///" + place.queue());
                String text = "x".repeat(LARGE);
                context.createProducer().send(queue, text);
                context.commit();
                equal(text, context.createConsumer(queue).receiveBody(String.class, 60_000));
                context.commit();
            }
        }
    }

    /** An application that wants new keys after so many bytes has them with TLS 1.3, and is told so with TLS 1.2. */
    @Case
    public void newKeysAfterSoManyBytes() throws Exception {
        set("SSLCIPH(ANY_TLS12_OR_HIGHER)");
        for (String version : new String[] {"*TLS13", "*TLS12"}) {
            MQConnectionFactory connections = jms(version, factory("client"));
            connections.setSSLResetCount(40_000);
            int reason = 0;
            try (JMSContext context = connections.createContext()) {
                Queue queue = context.createQueue("queue:///" + place.queue());
                for (int count = 0; count < 20; count++) {
                    String text = count + "x".repeat(10_000);
                    context.createProducer().send(queue, text);
                    equal(text, context.createConsumer(queue).receiveBody(String.class, 60_000));
                }
            } catch (JMSRuntimeException failure) {
                reason = Messages.reason(failure);
                that(reason != 0, version + ": " + failure);
            }
            equal(version.equals("*TLS13") ? 0 : CMQC.MQRC_HOST_NOT_AVAILABLE, reason);
            place.ok("CLEAR QLOCAL(" + place.queue() + ")");
        }
    }

    private void refused(int reason, String suite, String keys, String peer) throws Exception {
        try {
            connect(suite, factory(keys), peer).disconnect();
        } catch (MQException failure) {
            that(failure.reasonCode == reason || (reason == 2009 && failure.reasonCode == 2397),
                suite + " " + keys + ": " + failure.reasonCode + " instead of " + reason);
            return;
        }
        throw new AssertionError("not refused: " + suite + " " + keys + " " + peer);
    }

    @Case
    public void whoeverDoesNotMeetTheChannelIsRefused() throws Exception {
        set("SSLCIPH(TLS_AES_256_GCM_SHA384)");
        refused(2397, "TLS_AES_128_GCM_SHA256", "client", null);
        refused(2397, "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384", "client", null);
        refused(2397, null, null, null);
        refused(2398, "TLS_AES_256_GCM_SHA384", "client", "CN=QM2");
        for (String version : new String[] {"*TLS12", "*TLS13"}) {
            set("SSLCIPH(ANY_TLS12_OR_HIGHER)");
            refused(2397, version, null, null);
            // In TLS 1.3 a client has done its part before its certificate is looked at: it may find the connection ended.
            refused(version.equals("*TLS13") ? 2009 : 2397, version, "expired", null);
            // Java does not show a certificate of an authority that the queue manager has not named.
            refused(2397, version, "stranger", null);
            set("SSLCIPH(ANY_TLS12_OR_HIGHER) SSLPEER('CN=somebody')");
            refused(2397, version, "client", null);
            set("");
            refused(2397, version, "client", null);
        }
        try {
            set("SSLCIPH(ANY_TLS12)");
            jms("*TLS13", factory("client")).createContext().close();
            throw new AssertionError("not refused");
        } catch (JMSRuntimeException failure) {
            that(String.valueOf(failure.getCause()).contains("2397"), String.valueOf(failure.getCause()));
        }
    }
}
