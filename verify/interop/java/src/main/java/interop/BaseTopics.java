package interop;

import static interop.Base.fails;
import static interop.Place.equal;
import static interop.Place.that;

import com.ibm.mq.MQDestination;
import com.ibm.mq.MQException;
import com.ibm.mq.MQGetMessageOptions;
import com.ibm.mq.MQMessage;
import com.ibm.mq.MQPutMessageOptions;
import com.ibm.mq.MQQueue;
import com.ibm.mq.MQQueueManager;
import com.ibm.mq.MQTopic;
import com.ibm.mq.constants.CMQC;

/** The base classes, publish and subscribe: MQTopic and MQSubscription. */
public final class BaseTopics {
    private static final int MANAGED =
        CMQC.MQSO_CREATE | CMQC.MQSO_MANAGED | CMQC.MQSO_NON_DURABLE | CMQC.MQSO_FAIL_IF_QUIESCING;
    private final Place place;

    public BaseTopics(Place place) {
        this.place = place;
        // The library writes every reason to standard error otherwise.
        MQException.log = null;
    }

    static void publish(MQQueueManager qm, String topic, String text, int options) throws Exception {
        MQTopic publisher = qm.accessTopic(topic, null, CMQC.MQTOPIC_OPEN_AS_PUBLICATION,
            CMQC.MQOO_OUTPUT | CMQC.MQOO_FAIL_IF_QUIESCING);
        MQPutMessageOptions pmo = new MQPutMessageOptions();
        pmo.options = options;
        publisher.put(Base.text(text), pmo);
        publisher.close();
    }

    private static MQTopic subscribe(MQQueueManager qm, String topic, int options) throws MQException {
        return qm.accessTopic(topic, null, CMQC.MQTOPIC_OPEN_AS_SUBSCRIPTION, options);
    }

    private static MQMessage got(MQDestination from) throws Exception {
        MQGetMessageOptions gmo = new MQGetMessageOptions();
        gmo.options = CMQC.MQGMO_NO_SYNCPOINT;
        MQMessage message = new MQMessage();
        from.get(message, gmo);
        return message;
    }

    private static void nothing(MQDestination in) throws Exception {
        fails(CMQC.MQRC_NO_MSG_AVAILABLE, () -> got(in));
    }

    @Case
    public void publishAndGet() throws Exception {
        String name = place.topic();
        MQQueueManager qm = Base.connect(place);
        publish(qm, name, "to nobody", CMQC.MQPMO_NO_SYNCPOINT);
        MQTopic one = subscribe(qm, name, MANAGED);
        MQTopic below = subscribe(qm, name + "/#", MANAGED);
        that(one.isSubscribed() && one.isManaged() && !one.isDurable(), "what it was asked for");
        publish(qm, name, "published", CMQC.MQPMO_NO_SYNCPOINT);
        publish(qm, name + "/more", "below it", CMQC.MQPMO_NO_SYNCPOINT);
        MQMessage published = got(one);
        equal("published", Base.text(published));
        equal(name, published.getStringProperty("mqps.Top"));
        nothing(one);
        equal("published", Base.text(got(below)));
        equal("below it", Base.text(got(below)));
        nothing(below);
        one.close();
        publish(qm, name, "after one has gone", CMQC.MQPMO_NO_SYNCPOINT);
        equal("after one has gone", Base.text(got(below)));
        qm.disconnect();
    }

    /** Beyond the Basic Multilingual Plane; only the object says so, and not the request. */
    @Case
    public void topicObjectsHaveAnyCharacter() throws Exception {
        String object = "SIGNS." + place.channel;
        String string = place.topic() + "/\uD834\uDD1E/é";
        String durable = "durable of " + string;
        place.ok("DEFINE TOPIC(" + object + ") TOPICSTR('" + string + "')");
        MQQueueManager qm = Base.connect(place);
        MQTopic subscriber = qm.accessTopic(null, object, CMQC.MQTOPIC_OPEN_AS_SUBSCRIPTION, MANAGED);
        int options = CMQC.MQSO_CREATE | CMQC.MQSO_MANAGED | CMQC.MQSO_DURABLE;
        MQTopic lasting = qm.accessTopic("", object, options, null, durable);
        MQTopic publisher = qm.accessTopic(null, object, CMQC.MQTOPIC_OPEN_AS_PUBLICATION, CMQC.MQOO_OUTPUT);
        publisher.put(Base.text("published"));
        // Without an object too, by an application that says the whole of it.
        publish(qm, string, "published", CMQC.MQPMO_NO_SYNCPOINT);
        for (MQTopic each : new MQTopic[] {subscriber, lasting}) {
            equal("published", Base.text(got(each)));
            equal("published", Base.text(got(each)));
            nothing(each);
        }
        lasting.close();
        publisher.close();
        subscriber.close();
        qm.disconnect();
        place.ok("DELETE SUB('" + durable + "')");
        place.ok("DELETE TOPIC(" + object + ")");
    }

    @Case
    public void aQueueOfOnesOwn() throws Exception {
        String name = place.topic();
        String queue = place.queue();
        MQQueueManager qm = Base.connect(place);
        MQQueue destination = qm.accessQueue(queue, CMQC.MQOO_INPUT_SHARED);
        MQTopic subscription = qm.accessTopic(destination, name, null, CMQC.MQSO_CREATE | CMQC.MQSO_NON_DURABLE);
        publish(qm, name, "to the queue", CMQC.MQPMO_NO_SYNCPOINT);
        equal(1, place.depth(queue));
        equal("to the queue", Base.text(got(destination)));
        subscription.close();
        publish(qm, name, "to nobody", CMQC.MQPMO_NO_SYNCPOINT);
        equal(0, place.depth(queue));
        qm.disconnect();
    }

    @Case
    public void unitsOfWork() throws Exception {
        String name = place.topic();
        MQQueueManager qm = Base.connect(place);
        MQTopic subscription = subscribe(qm, name, MANAGED);
        publish(qm, name, "never", CMQC.MQPMO_SYNCPOINT);
        nothing(subscription);
        qm.backout();
        nothing(subscription);
        publish(qm, name, "committed", CMQC.MQPMO_SYNCPOINT);
        nothing(subscription);
        qm.commit();
        equal("committed", Base.text(got(subscription)));
        nothing(subscription);
        qm.disconnect();
    }

    @Case
    public void durable() throws Exception {
        String name = place.topic();
        int options = CMQC.MQSO_MANAGED | CMQC.MQSO_DURABLE;
        MQQueueManager qm = Base.connect(place);
        fails(CMQC.MQRC_NO_SUBSCRIPTION, () -> qm.accessTopic(name, null, options | CMQC.MQSO_RESUME, null, name));
        MQTopic made = qm.accessTopic(name, null, options | CMQC.MQSO_CREATE, null, name);
        that(made.isDurable(), "it is durable");
        fails(CMQC.MQRC_SUB_ALREADY_EXISTS,
            () -> qm.accessTopic(name, null, options | CMQC.MQSO_CREATE, null, name));
        made.getSubscriptionReference().setCloseOptions(CMQC.MQCO_KEEP_SUB);
        made.close();
        qm.disconnect();
        MQQueueManager again = Base.connect(place);
        publish(again, name, "meanwhile", CMQC.MQPMO_NO_SYNCPOINT);
        MQTopic resumed = again.accessTopic(name, null, options | CMQC.MQSO_RESUME, null, name);
        equal("meanwhile", Base.text(got(resumed)));
        nothing(resumed);
        resumed.getSubscriptionReference().setCloseOptions(CMQC.MQCO_REMOVE_SUB);
        resumed.close();
        fails(CMQC.MQRC_NO_SUBSCRIPTION,
            () -> again.accessTopic(name, null, options | CMQC.MQSO_RESUME, null, name));
        again.disconnect();
    }

    @Case
    public void retainedPublications() throws Exception {
        String name = place.topic();
        int retain = CMQC.MQPMO_NO_SYNCPOINT | CMQC.MQPMO_RETAIN;
        MQQueueManager qm = Base.connect(place);
        MQTopic asks = subscribe(qm, name + "/#", MANAGED | CMQC.MQSO_PUBLICATIONS_ON_REQUEST);
        fails(CMQC.MQRC_NO_RETAINED_MSG,
            () -> asks.getSubscriptionReference().requestPublicationUpdate(CMQC.MQSRO_FAIL_IF_QUIESCING));
        publish(qm, name, "old", retain);
        publish(qm, name, "kept", retain);
        publish(qm, name + "/more", "kept too", retain);
        publish(qm, name, "passing", CMQC.MQPMO_NO_SYNCPOINT);
        nothing(asks);
        int sent = asks.getSubscriptionReference().requestPublicationUpdate(CMQC.MQSRO_FAIL_IF_QUIESCING);
        equal(2, sent);
        equal("kept", Base.text(got(asks)));
        equal("kept too", Base.text(got(asks)));
        nothing(asks);
        MQTopic late = subscribe(qm, name, MANAGED);
        equal("kept", Base.text(got(late)));
        nothing(late);
        MQTopic onlyNew = subscribe(qm, name, MANAGED | CMQC.MQSO_NEW_PUBLICATIONS_ONLY);
        nothing(onlyNew);
        qm.disconnect();
    }

    @Case
    public void whatIsWrongIsRefused() throws Exception {
        String name = place.topic();
        MQQueueManager qm = Base.connect(place);
        fails(CMQC.MQRC_UNKNOWN_OBJECT_NAME,
            () -> qm.accessTopic(name, "NOT.THERE", CMQC.MQTOPIC_OPEN_AS_PUBLICATION, CMQC.MQOO_OUTPUT));
        fails(CMQC.MQRC_UNKNOWN_OBJECT_NAME,
            () -> qm.accessTopic(name, "NOT.THERE", CMQC.MQTOPIC_OPEN_AS_SUBSCRIPTION, MANAGED));
        fails(CMQC.MQRC_SUB_NAME_ERROR,
            () -> subscribe(qm, name, MANAGED | CMQC.MQSO_DURABLE));
        publish(qm, name, "and goes on", CMQC.MQPMO_NO_SYNCPOINT);
        qm.disconnect();
    }
}
