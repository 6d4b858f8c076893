import type { Clock } from "@/lib/core/clock";
import { isDomainError } from "@/lib/core/errors";
import { newId } from "@/lib/core/ids";
import type { Database, Tx } from "@/lib/db/client";
import type { Mail, Mailer } from "@/lib/ports/mail";
import { deleteOutboxMail, findOutboxMail, insertOutboxMail } from "./outbox-repository";

/** Mail about what was committed. It is stored with the change that it reports, and a leased job sends it. */
export interface MailOutbox {
  /** Stores the mail in the caller's transaction. It goes out after the commit, however long the mail server is away. */
  enqueue(tx: Tx, projectId: string, mail: Omit<Mail, "code">): Promise<void>;
  /** One turn of the job. A crash between sending and noting it sends the mail again; nothing loses it. */
  deliver(jobId: string): Promise<{ done: true } | { done: false; againInMs: number }>;
}

interface OutboxDeps {
  readonly database: Database;
  readonly mailer: Mailer;
  readonly clock: Clock;
  readonly log: { warn(fields: object, message: string): void };
}

export const MAIL_QUEUE = "mail";
const RETRY_MIN_MS = 2000;
const RETRY_MAX_MS = 600_000;
/** What no server took for so long is given up, and the log says so. */
const GIVE_UP_MS = 7 * 24 * 3_600_000;

/** Waits as long as the mail is old, so that waits double. */
const waitOf = (ageMs: number): number => Math.min(RETRY_MAX_MS, Math.max(RETRY_MIN_MS, ageMs));

export const createMailOutbox = ({ database, mailer, clock, log }: OutboxDeps): MailOutbox => ({
  enqueue: (tx, projectId, { to, subject, text }) => {
    const id = newId("mail");
    const mail = { projectId, id, to, subject, text, createdAt: clock.now() };
    // A job is known by its id alone, and a row of the outbox by its project first.
    return insertOutboxMail(tx, mail, { id: `${projectId}/${id}`, queue: MAIL_QUEUE });
  },
  deliver: async (jobId) => {
    const [projectId = "", id = ""] = jobId.split("/");
    const mail = await findOutboxMail(database, { projectId, id });
    if (mail === null) return { done: true };
    const ageMs = clock.now().getTime() - mail.createdAt.getTime();
    try {
      await mailer.send({ to: mail.to, subject: mail.subject, text: mail.text });
    } catch (error) {
      if (!isDomainError(error) || error.code !== "provider_error") throw error;
      if (ageMs < GIVE_UP_MS) return { done: false, againInMs: waitOf(ageMs) };
      log.warn({ err: error, projectId, mailId: id }, "a mail was given up: no server took it for a week");
    }
    await deleteOutboxMail(database, { projectId, id });
    return { done: true };
  },
});
