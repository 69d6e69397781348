package interop;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Comparator;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Runs cases: HOST PORT CLASS@CHANNEL..., and of a class those whose name begins as CLASS.NAME@CHANNEL says.
 *
 * Standard output is a conversation with the test that started this: "PASS NAME", "FAIL NAME" with the lines of a stack
 * behind it, "MQSC COMMAND", "CUT" and "RESTART HOW", which are answered with one line, and at the end "DONE COUNT".
 */
public final class Main {
    private static final BufferedReader IN =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));

    private Main() {
    }

    public static void main(String[] args) throws Exception {
        String host = args[0];
        int port = Integer.parseInt(args[1]);
        int count = 0;
        // A case that hangs fails, and the others still run.
        ExecutorService pool = Executors.newCachedThreadPool(task -> {
            Thread thread = new Thread(task);
            thread.setDaemon(true);
            return thread;
        });
        for (String spec : Arrays.asList(args).subList(2, args.length)) {
            String[] parts = spec.split("@");
            String[] name = parts[0].split("\\.");
            Class<?> cases = Class.forName("interop." + name[0]);
            Method[] methods = cases.getDeclaredMethods();
            Arrays.sort(methods, Comparator.comparing(Method::getName));
            for (Method method : methods) {
                if (method.getAnnotation(Case.class) == null
                    || (name.length > 1 && !method.getName().startsWith(name[1]))) {
                    continue;
                }
                count++;
                String label = name[0] + "." + method.getName() + "@" + parts[1];
                Place place = new Place(host, port, parts[1], label);
                Future<?> run = pool.submit(() -> {
                    Object instance = cases.getConstructor(Place.class).newInstance(place);
                    method.invoke(instance);
                    return null;
                });
                try {
                    run.get(120, TimeUnit.SECONDS);
                    say("PASS " + label);
                } catch (TimeoutException hangs) {
                    StringBuilder stacks = new StringBuilder("it hangs\n");
                    Thread.getAllStackTraces().forEach((thread, frames) -> {
                        stacks.append(thread).append('\n');
                        for (StackTraceElement frame : frames) {
                            stacks.append("  ").append(frame).append('\n');
                        }
                    });
                    say("FAIL " + label + " " + stacks);
                } catch (Exception failure) {
                    Throwable cause = failure.getCause();
                    if (cause instanceof InvocationTargetException) {
                        cause = cause.getCause();
                    }
                    StringWriter trace = new StringWriter();
                    cause.printStackTrace(new PrintWriter(trace));
                    say("FAIL " + label + " " + trace);
                } finally {
                    place.close();
                }
            }
        }
        say("DONE " + count);
        System.exit(0);
    }

    static synchronized void say(String line) {
        System.out.println(line);
        System.out.flush();
    }

    /** Has the queue manager carry out a command; gives its answer. */
    static String mqsc(String command) {
        return ask("MQSC " + command);
    }

    /** Breaks every connection there is. */
    static void cut() {
        Place.that(ask("CUT").startsWith("OK"), "a cut");
    }

    /**
     * Ends the queue manager and starts it again: "controlled" waits for its applications, "immediate" ends it in order,
     * "preemptive" breaks it off.
     */
    static void restart(String how) {
        Place.equal("OK", ask("RESTART " + how));
    }

    private static synchronized String ask(String question) {
        say(question);
        try {
            String answer = IN.readLine();
            if (answer == null) {
                throw new IllegalStateException("nobody answers");
            }
            return answer;
        } catch (java.io.IOException error) {
            throw new IllegalStateException(error);
        }
    }
}
