package interop;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;

/** A method that is a case: it passes if it returns, and fails by an exception or an assertion. */
@Retention(RetentionPolicy.RUNTIME)
public @interface Case {
}
