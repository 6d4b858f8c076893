import type { Page } from "@playwright/test";
import { changeRows } from "./database";

const MINUTE_MS = 60_000;

/**
 * Makes the last verification code that was mailed to this address one minute older, because the
 * service sends another one only after a minute.
 */
export const ageEmailCodes = (email: string): Promise<void> =>
  changeRows(
    "UPDATE email_code SET created_at = created_at - $1 * interval '1 millisecond' WHERE email = $2",
    [MINUTE_MS, email],
  );

/** The number of codes among the newest mails to the address. */
export const codesMailedTo = async (page: Page, to: string): Promise<number> => {
  const response = await page.request.get("/api/dev/inbox", { params: { to, limit: 10 } });
  const { data } = (await response.json()) as { data: { code?: string }[] };
  return data.filter(({ code }) => code !== undefined).length;
};
