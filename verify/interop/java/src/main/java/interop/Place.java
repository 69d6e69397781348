package interop;

import java.util.ArrayList;
import java.util.List;

/** Where a case runs: the queue manager, the channel, and queues and topics of its own. */
public final class Place implements AutoCloseable {
    final String host;
    final int port;
    final String channel;
    final String label;
    private final List<String> queues = new ArrayList<>();
    private static int number;

    Place(String host, int port, String channel, String label) {
        this.host = host;
        this.port = port;
        this.channel = channel;
        this.label = label;
    }

    /** Defines a queue that is deleted behind the case. */
    String queue(String attributes) {
        String name = "CASE." + ++number;
        ok("DEFINE QLOCAL(" + name + ") " + attributes);
        queues.add(name);
        return name;
    }

    String queue() {
        return queue("");
    }

    /** A topic string that no other case has. */
    String topic() {
        return "case/" + ++number;
    }

    /** Carries out a command that must succeed. */
    String ok(String command) {
        String answer = Main.mqsc(command);
        if (!answer.startsWith("OK")) {
            throw new AssertionError(command + ": " + answer);
        }
        return answer;
    }

    /** The value behind a keyword of a queue, in decimal. */
    int number(String queue, String keyword) {
        String answer = ok("DISPLAY QLOCAL(" + queue + ") " + keyword);
        int at = answer.indexOf(keyword + "(") + keyword.length() + 1;
        return Integer.parseInt(answer.substring(at, answer.indexOf(')', at)).trim());
    }

    int depth(String queue) {
        return number(queue, "CURDEPTH");
    }

    /** Waits until something is true; a case fails where that never happens. */
    void until(String what, java.util.function.BooleanSupplier condition) throws InterruptedException {
        long deadline = System.nanoTime() + 60_000_000_000L;
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() > deadline) {
                throw new AssertionError("it never came to that: " + what);
            }
            Thread.sleep(5);
        }
    }

    @Override
    public void close() {
        for (String queue : queues) {
            Main.mqsc("DELETE QLOCAL(" + queue + ") PURGE");
        }
    }

    static void equal(Object expected, Object found) {
        if (!java.util.Objects.equals(expected, found)) {
            throw new AssertionError("expected " + expected + ", found " + found);
        }
    }

    static void that(boolean condition, String what) {
        if (!condition) {
            throw new AssertionError(what);
        }
    }
}
