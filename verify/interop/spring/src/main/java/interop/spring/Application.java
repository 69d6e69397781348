package interop.spring;

import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import javax.jms.ConnectionFactory;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.jms.annotation.EnableJms;
import org.springframework.jms.annotation.JmsListener;
import org.springframework.jms.connection.JmsTransactionManager;
import org.springframework.jms.core.JmsTemplate;
import org.springframework.messaging.handler.annotation.SendTo;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * A small application of Spring Boot, with the starter of IBM MQ: HOST(PORT) CHANNEL. A template, a listener that replies, a
 * listener that fails at first, transactions, and a pool of connections. It writes "passed" at its end.
 */
@SpringBootApplication
@EnableJms
public class Application {
    private static final String REQUESTS = "DEV.QUEUE.1";
    private static final String REPLIES = "DEV.QUEUE.2";
    private static final String OTHER = "DEV.QUEUE.3";
    private static final BlockingQueue<String> REPLIED = new LinkedBlockingQueue<>();
    private static final AtomicInteger FAILURES = new AtomicInteger();

    @Bean
    JmsTransactionManager transactions(ConnectionFactory factory) {
        return new JmsTransactionManager(factory);
    }

    /** Fails once, and is given the message again. */
    @JmsListener(destination = REQUESTS)
    @SendTo(REPLIES)
    public String reply(String request) {
        if (request.equals("fails once") && FAILURES.incrementAndGet() == 1) {
            throw new IllegalStateException("on purpose");
        }
        return "reply to " + request;
    }

    @JmsListener(destination = REPLIES)
    public void replied(String reply) {
        REPLIED.add(reply);
    }

    public static void main(String[] args) throws Exception {
        SpringApplication application = new SpringApplication(Application.class);
        application.setDefaultProperties(Map.of(
            "ibm.mq.queueManager", "QM1",
            "ibm.mq.connName", args[0],
            "ibm.mq.channel", args[1],
            "ibm.mq.user", "",
            "ibm.mq.pool.enabled", "true",
            "spring.main.banner-mode", "off",
            "spring.main.web-application-type", "none",
            "spring.jms.template.receive-timeout", "60s",
            "logging.level.root", "OFF"));
        try (ConfigurableApplicationContext context = application.run()) {
            JmsTemplate template = context.getBean(JmsTemplate.class);
            for (String request : new String[] {"one", "two", "fails once"}) {
                template.convertAndSend(REQUESTS, request);
                equal("reply to " + request, REPLIED.poll(60, TimeUnit.SECONDS));
            }
            equal(2, FAILURES.get());
            TransactionTemplate transaction = new TransactionTemplate(context.getBean(JmsTransactionManager.class));
            transaction.executeWithoutResult(status -> {
                template.convertAndSend(OTHER, "rolled back");
                status.setRollbackOnly();
            });
            transaction.executeWithoutResult(status -> {
                template.convertAndSend(OTHER, "committed");
                template.convertAndSend(OTHER, "with it");
            });
            equal("committed", template.receiveAndConvert(OTHER));
            equal("with it", template.receiveAndConvert(OTHER));
        }
        System.out.println("passed");
        System.exit(0);
    }

    private static void equal(Object expected, Object found) {
        if (!expected.equals(found)) {
            throw new AssertionError("expected " + expected + ", found " + found);
        }
    }
}
