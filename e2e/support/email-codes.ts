import { changeRows } from "./database";

const MINUTE_MS = 60_000;

/** Makes the last code that was mailed to verify this address a minute older: another may be sent only a minute after it. */
export const ageEmailCodes = (email: string): Promise<void> =>
  changeRows("UPDATE email_code SET created_at = created_at - $1 * interval '1 millisecond' WHERE email = $2", [
    MINUTE_MS,
    email,
  ]);
