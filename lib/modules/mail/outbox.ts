import type { Clock } from "@/lib/core/clock";
import { isDomainError } from "@/lib/core/errors";
import { newId } from "@/lib/core/ids";
import type { Database, Tx } from "@/lib/db/client";
import type { Mail, Mailer } from "@/lib/ports/mail";
import { deleteOutboxMail, findOutboxMail, insertOutboxMail } from "./outbox-repository";

/** Mail about committed changes. It is stored with the change that it reports, and a leased job sends it. */
export interface MailOutbox {
  /** Stores the mail in the caller's transaction. It is sent after the commit, also when the mail server is unavailable for a while. */
  enqueue(tx: Tx, projectId: string, mail: Omit<Mail, "code">): Promise<void>;
  /** One turn of the job. After a crash between sending and storing that fact the mail is sent again; it is never lost. */
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
/** Mail that no server accepted for this time is given up and logged. */
const GIVE_UP_MS = 7 * 24 * 3_600_000;

/** The pause equals the age of the mail, so pauses double. */
const waitOf = (ageMs: number): number => Math.min(RETRY_MAX_MS, Math.max(RETRY_MIN_MS, ageMs));

export const createMailOutbox = ({ database, mailer, clock, log }: OutboxDeps): MailOutbox => ({
  enqueue: (tx, projectId, { to, subject, text }) => {
    const id = newId("mail");
    const mail = { projectId, id, to, subject, text, createdAt: clock.now() };
    // A job has only one id, and the key of an outbox row begins with the project.
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
