import { secondsUntil } from "@/lib/core/clock";
import { DomainError } from "@/lib/core/errors";

/** The error `otp_attempts_exceeded` for a person who may not give codes before `until`, with the seconds left in `retryAfterSeconds`. */
export const tooManyGuesses = (until: Date, now: Date): DomainError =>
  new DomainError(
    "otp_attempts_exceeded",
    "You gave too many wrong codes within an hour, so none is taken from you now. Nothing was sent; try again later.",
    { retryAfterSeconds: secondsUntil(until, now) },
  );
