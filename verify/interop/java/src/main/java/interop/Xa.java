package interop;

import static interop.Messages.LONG;
import static interop.Place.equal;
import static interop.Place.that;

import com.ibm.mq.jms.MQXAConnectionFactory;
import com.ibm.msg.client.wmq.WMQConstants;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import javax.jms.Connection;
import javax.jms.JMSException;
import javax.jms.Message;
import javax.jms.MessageConsumer;
import javax.jms.Session;
import javax.jms.TextMessage;
import javax.jms.XAConnection;
import javax.jms.XASession;
import javax.transaction.xa.XAException;
import javax.transaction.xa.XAResource;
import javax.transaction.xa.Xid;

/** Global transactions: the resource that the client offers to a transaction manager, and a real one that is killed. */
public final class Xa {
    private final Place place;

    public Xa(Place place) {
        this.place = place;
    }

    static MQXAConnectionFactory factory(String host, int port, String channel) throws JMSException {
        MQXAConnectionFactory factory = new MQXAConnectionFactory();
        factory.setTransportType(WMQConstants.WMQ_CM_CLIENT);
        factory.setHostName(host);
        factory.setPort(port);
        factory.setChannel(channel);
        factory.setQueueManager("QM1");
        return factory;
    }

    private XAConnection connect() throws JMSException {
        XAConnection connection = factory(place.host, place.port, place.channel).createXAConnection();
        connection.start();
        return connection;
    }

    private static final class Id implements Xid {
        private final byte[] global;
        private final byte[] branch;

        Id(int number) {
            global = new byte[] {7, 7, (byte) number};
            branch = new byte[] {(byte) number};
        }

        @Override
        public int getFormatId() {
            return 4711;
        }

        @Override
        public byte[] getGlobalTransactionId() {
            return global;
        }

        @Override
        public byte[] getBranchQualifier() {
            return branch;
        }

        boolean is(Xid other) {
            return other.getFormatId() == getFormatId()
                && Arrays.equals(other.getGlobalTransactionId(), global)
                && Arrays.equals(other.getBranchQualifier(), branch);
        }
    }

    private interface Call {
        void run() throws XAException;
    }

    private static void refused(int code, Call call) {
        try {
            call.run();
        } catch (XAException error) {
            equal(code, error.errorCode);
            return;
        }
        throw new AssertionError("not refused with " + code);
    }

    private static void send(XASession session, String queue, String text) throws JMSException {
        Session plain = session.getSession();
        plain.createProducer(plain.createQueue("queue:///" + queue)).send(plain.createTextMessage(text));
    }

    private static String receive(XASession session, String queue) throws JMSException {
        Session plain = session.getSession();
        try (MessageConsumer consumer = plain.createConsumer(plain.createQueue("queue:///" + queue))) {
            Message message = consumer.receive(LONG);
            that(message != null, "a message");
            return ((TextMessage) message).getText();
        }
    }

    @Case
    public void inOnePhaseInTwoAndNotAtAll() throws Exception {
        String queue = place.queue("DEFPSIST(YES)");
        try (XAConnection connection = connect()) {
            XASession session = connection.createXASession();
            XAResource resource = session.getXAResource();
            Id one = new Id(1);
            resource.start(one, XAResource.TMNOFLAGS);
            send(session, queue, "one phase");
            resource.end(one, XAResource.TMSUCCESS);
            resource.commit(one, true);
            equal(1, place.depth(queue));
            Id two = new Id(2);
            resource.start(two, XAResource.TMNOFLAGS);
            equal("one phase", receive(session, queue));
            send(session, queue, "two phases");
            resource.end(two, XAResource.TMSUCCESS);
            equal(XAResource.XA_OK, resource.prepare(two));
            resource.commit(two, false);
            Id three = new Id(3);
            resource.start(three, XAResource.TMNOFLAGS);
            equal("two phases", receive(session, queue));
            send(session, queue, "never");
            resource.end(three, XAResource.TMFAIL);
            resource.rollback(three);
            equal(1, place.depth(queue));
            Id four = new Id(4);
            resource.start(four, XAResource.TMNOFLAGS);
            resource.end(four, XAResource.TMSUCCESS);
            equal(XAResource.XA_RDONLY, resource.prepare(four));
        }
    }

    @Case
    public void suspendedResumedAndJoined() throws Exception {
        String queue = place.queue();
        try (XAConnection connection = connect(); XAConnection elsewhere = connect()) {
            XASession one = connection.createXASession();
            XASession other = elsewhere.createXASession();
            XAResource first = one.getXAResource();
            XAResource second = other.getXAResource();
            Id id = new Id(1);
            first.start(id, XAResource.TMNOFLAGS);
            send(one, queue, "a");
            first.end(id, XAResource.TMSUSPEND);
            first.start(id, XAResource.TMRESUME);
            send(one, queue, "b");
            first.end(id, XAResource.TMSUCCESS);
            second.start(id, XAResource.TMJOIN);
            send(other, queue, "c");
            second.end(id, XAResource.TMSUCCESS);
            equal(XAResource.XA_OK, first.prepare(id));
            second.commit(id, false);
            equal(3, place.depth(queue));
        }
    }

    @Case
    public void whatMayNotComeIsRefused() throws Exception {
        try (XAConnection connection = connect(); XAConnection elsewhere = connect()) {
            XAResource first = connection.createXASession().getXAResource();
            XAResource second = elsewhere.createXASession().getXAResource();
            Id id = new Id(1);
            refused(XAException.XAER_NOTA, () -> first.prepare(id));
            refused(XAException.XAER_NOTA, () -> first.commit(id, false));
            refused(XAException.XAER_NOTA, () -> first.rollback(id));
            refused(XAException.XAER_NOTA, () -> first.forget(id));
            refused(XAException.XAER_NOTA, () -> first.start(id, XAResource.TMJOIN));
            first.start(id, XAResource.TMNOFLAGS);
            refused(XAException.XAER_DUPID, () -> second.start(id, XAResource.TMNOFLAGS));
            first.end(id, XAResource.TMSUCCESS);
            first.rollback(id);
        }
    }

    /** A branch outlives the connection that has prepared it. */
    @Case
    public void preparedAndRecoveredElsewhere() throws Exception {
        String queue = place.queue("DEFPSIST(YES)");
        Id id = new Id(9);
        try (XAConnection connection = connect()) {
            XASession session = connection.createXASession();
            session.getXAResource().start(id, XAResource.TMNOFLAGS);
            send(session, queue, "in doubt");
            session.getXAResource().end(id, XAResource.TMSUCCESS);
            equal(XAResource.XA_OK, session.getXAResource().prepare(id));
        }
        try (XAConnection connection = connect()) {
            XAResource resource = connection.createXASession().getXAResource();
            List<Xid> found = new ArrayList<>(Arrays.asList(resource.recover(XAResource.TMSTARTRSCAN)));
            found.addAll(Arrays.asList(resource.recover(XAResource.TMENDRSCAN)));
            List<Xid> ours = found.stream().filter(id::is).collect(java.util.stream.Collectors.toList());
            equal(1, ours.size());
            resource.commit(ours.get(0), false);
            equal(1, place.depth(queue));
        }
    }

    /** Runs a transaction manager in a virtual machine of its own; what it ended with. */
    private int manager(Path store, String queue, String what) throws Exception {
        Process process = new ProcessBuilder(
            System.getProperty("java.home") + "/bin/java", "-XX:TieredStopAtLevel=1",
            "-Duser.home=" + store, "-cp", System.getProperty("java.class.path"), "interop.Manager",
            place.host, String.valueOf(place.port), place.channel, queue, store.toString(), what)
            .directory(store.toFile())
            .redirectErrorStream(true)
            .redirectOutput(store.resolve(what + ".out").toFile())
            .start();
        try {
            return process.waitFor();
        } finally {
            process.destroyForcibly();
        }
    }

    private void killed(String when, List<String> expected) throws Exception {
        String queue = place.queue("DEFPSIST(YES)");
        Path store = Files.createTempDirectory("xa");
        try {
            int ended = manager(store, queue, when);
            that(ended == Manager.KILLED, Files.readString(store.resolve(when + ".out")));
            int recovered = manager(store, queue, "recover");
            that(recovered == 0, Files.readString(store.resolve("recover.out")));
            List<String> found = new ArrayList<>();
            try (Connection connection = Jms.factory(place).createConnection()) {
                connection.start();
                Session session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
                MessageConsumer consumer = session.createConsumer(session.createQueue("queue:///" + queue));
                for (Message next = consumer.receiveNoWait(); next != null; next = consumer.receiveNoWait()) {
                    found.add(((TextMessage) next).getText());
                }
            }
            found.sort(Comparator.naturalOrder());
            equal(expected, found);
        } finally {
            try (Stream<Path> files = Files.walk(store)) {
                files.sorted(Comparator.reverseOrder()).forEach(path -> path.toFile().delete());
            }
        }
    }

    @Case
    public void aManagerKilledBetweenPrepareAndCommit() throws Exception {
        killed("commit", List.of("one", "two"));
    }

    @Case
    public void aManagerKilledBeforeItHasDecided() throws Exception {
        killed("prepare", List.of());
    }
}
