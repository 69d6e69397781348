package interop;

import com.arjuna.ats.arjuna.common.CoordinatorEnvironmentBean;
import com.arjuna.ats.arjuna.common.CoreEnvironmentBean;
import com.arjuna.ats.arjuna.common.ObjectStoreEnvironmentBean;
import com.arjuna.ats.arjuna.common.RecoveryEnvironmentBean;
import com.arjuna.ats.arjuna.recovery.RecoveryManager;
import com.arjuna.ats.internal.jta.recovery.arjunacore.JTATransactionLogXAResourceOrphanFilter;
import com.arjuna.ats.internal.jta.recovery.arjunacore.JTANodeNameXAResourceOrphanFilter;
import com.arjuna.ats.internal.jta.recovery.arjunacore.XARecoveryModule;
import com.arjuna.ats.jta.common.JTAEnvironmentBean;
import com.arjuna.ats.jta.recovery.XAResourceRecoveryHelper;
import com.arjuna.common.internal.util.propertyservice.BeanPopulator;
import java.util.Arrays;
import java.util.List;
import javax.jms.Session;
import javax.jms.XAConnection;
import javax.jms.XASession;
import javax.transaction.xa.XAException;
import javax.transaction.xa.XAResource;
import javax.transaction.xa.Xid;

/**
 * A transaction manager (Narayana) with two branches on the queue manager: HOST PORT CHANNEL QUEUE STORE WHAT. It is
 * killed at the end of the last prepare, or before the first commit; or it recovers what it has left.
 */
public final class Manager {
    /** It ends with this where it is killed. */
    static final int KILLED = 77;
    private static int prepares;

    private Manager() {
    }

    public static void main(String[] args) throws Exception {
        configure(args[4]);
        XAConnection connection =
            Xa.factory(args[0], Integer.parseInt(args[1]), args[2]).createXAConnection();
        connection.start();
        if (args[5].equals("recover")) {
            System.exit(recover(connection) ? 0 : 1);
        }
        javax.transaction.TransactionManager manager = com.arjuna.ats.jta.TransactionManager.transactionManager();
        manager.begin();
        for (String text : List.of("one", "two")) {
            XASession session = connection.createXASession();
            XAResource resource = new Killing(session.getXAResource(), args[5]);
            manager.getTransaction().enlistResource(resource);
            Session plain = session.getSession();
            plain.createProducer(plain.createQueue("queue:///" + args[3])).send(plain.createTextMessage(text));
        }
        manager.commit();
        throw new AssertionError("it was not killed");
    }

    private static void configure(String store) throws Exception {
        ObjectStoreEnvironmentBean stores = BeanPopulator.getDefaultInstance(ObjectStoreEnvironmentBean.class);
        stores.setObjectStoreDir(store + "/log");
        BeanPopulator.getNamedInstance(ObjectStoreEnvironmentBean.class, "stateStore").setObjectStoreDir(store + "/log");
        BeanPopulator.getNamedInstance(ObjectStoreEnvironmentBean.class, "communicationStore")
            .setObjectStoreDir(store + "/log");
        BeanPopulator.getDefaultInstance(CoreEnvironmentBean.class).setNodeIdentifier("1");
        BeanPopulator.getDefaultInstance(CoordinatorEnvironmentBean.class).setDefaultTimeout(0);
        RecoveryEnvironmentBean recovery = BeanPopulator.getDefaultInstance(RecoveryEnvironmentBean.class);
        recovery.setRecoveryBackoffPeriod(1);
        recovery.setRecoveryListener(false);
        recovery.setRecoveryModuleClassNames(List.of(
            "com.arjuna.ats.internal.arjuna.recovery.AtomicActionRecoveryModule",
            "com.arjuna.ats.internal.jta.recovery.arjunacore.XARecoveryModule"));
        recovery.setExpiryScannerClassNames(List.of());
        JTAEnvironmentBean jta = BeanPopulator.getDefaultInstance(JTAEnvironmentBean.class);
        jta.setXaRecoveryNodes(List.of("1"));
        jta.setOrphanSafetyInterval(0);
        jta.setXaResourceOrphanFilters(Arrays.asList(
            new JTATransactionLogXAResourceOrphanFilter(), new JTANodeNameXAResourceOrphanFilter()));
    }

    /** The same resource, but a branch of its own; and who calls it is killed on the way. */
    private static final class Killing implements XAResource {
        private final XAResource resource;
        private final String when;

        Killing(XAResource resource, String when) {
            this.resource = resource;
            this.when = when;
        }

        @Override
        public void start(Xid xid, int flags) throws XAException {
            resource.start(xid, flags);
        }

        @Override
        public void end(Xid xid, int flags) throws XAException {
            resource.end(xid, flags);
        }

        @Override
        public int prepare(Xid xid) throws XAException {
            int vote = resource.prepare(xid);
            if (++prepares == 2 && when.equals("prepare")) {
                Runtime.getRuntime().halt(KILLED);
            }
            return vote;
        }

        @Override
        public void commit(Xid xid, boolean onePhase) {
            Runtime.getRuntime().halt(KILLED);
        }

        @Override
        public void rollback(Xid xid) throws XAException {
            resource.rollback(xid);
        }

        @Override
        public void forget(Xid xid) throws XAException {
            resource.forget(xid);
        }

        @Override
        public Xid[] recover(int flags) throws XAException {
            return resource.recover(flags);
        }

        @Override
        public boolean isSameRM(XAResource other) {
            return false;
        }

        @Override
        public int getTransactionTimeout() throws XAException {
            return resource.getTransactionTimeout();
        }

        @Override
        public boolean setTransactionTimeout(int seconds) throws XAException {
            return resource.setTransactionTimeout(seconds);
        }
    }

    /** Scans until nothing of this manager is in doubt; false if that never happens. */
    private static boolean recover(XAConnection connection) throws Exception {
        XAResource resource = connection.createXASession().getXAResource();
        RecoveryManager manager = RecoveryManager.manager(RecoveryManager.DIRECT_MANAGEMENT);
        manager.initialize();
        for (Object module : manager.getModules()) {
            if (module instanceof XARecoveryModule) {
                ((XARecoveryModule) module).addXAResourceRecoveryHelper(new XAResourceRecoveryHelper() {
                    @Override
                    public boolean initialise(String properties) {
                        return true;
                    }

                    @Override
                    public XAResource[] getXAResources() {
                        return new XAResource[] {resource};
                    }
                });
            }
        }
        XASession look = connection.createXASession();
        for (int scan = 0; scan < 10; scan++) {
            manager.scan();
            XAResource mine = look.getXAResource();
            int left = mine.recover(XAResource.TMSTARTRSCAN).length + mine.recover(XAResource.TMENDRSCAN).length;
            System.out.println("left: " + left);
            if (left == 0) {
                return true;
            }
        }
        return false;
    }
}
