import type { Clock } from "@/lib/core/clock";
import { isDomainError } from "@/lib/core/errors";
import { newId } from "@/lib/core/ids";
import type { Database, Tx } from "@/lib/platform/db/client";
import type { Mail, Mailer } from "@/lib/platform/ports/mail";
import {
  type CaughtMail,
  deleteOutboxMail,
  findOutboxMail,
  type InboxRepository,
  insertOutboxMail,
  listOutboxMails,
  type MailQuery,
  mergeOutboxMails,
  type OutboxMail,
} from "./repository";

/**
 * Mail about committed changes. It is stored in the change's transaction, and a leased job sends
 * it. Each mailbox gets a limited number of mails of a project per hour; further mails wait and are
 * merged into one. So nobody can flood a mailbox, or hide a notice among others.
 */
export interface MailOutbox {
  /**
   * Stores the mail in the caller's transaction. It is sent after the commit, even if the mail
   * server is unavailable for a while.
   */
  enqueue(tx: Tx, projectId: string, mail: Omit<Mail, "code">): Promise<void>;
  /**
   * One turn of the mail's job. After a crash between sending the mail and recording that, the mail
   * is sent again; it is never lost.
   */
  deliver(jobId: string): Promise<{ done: true } | { done: false; againInMs: number }>;
}

export interface NoticeToMail {
  readonly id: string;
  readonly at: Date;
  readonly projectId: string;
  readonly to: string;
}

export interface NoticeLimits {
  /**
   * Counts a notice towards the hourly limit of its mailbox. A notice is counted only once. Locks
   * the mailbox of the project until the transaction ends.
   * @returns `until`: the time until which the notice waits because the limit is reached; null when
   * it may be mailed now. `turns`: ids of the notices that were counted in the last hour
   */
  takeNotice(
    tx: Tx,
    notice: NoticeToMail,
  ): Promise<{ readonly until: Date | null; readonly turns: ReadonlySet<string> }>;
}

interface OutboxDeps {
  readonly database: Database;
  readonly mailer: Mailer;
  readonly limits: NoticeLimits;
  readonly clock: Clock;
  readonly log: { warn(fields: object, message: string): void };
}

const MAIL_QUEUE = "mail";
const RETRY_MIN_MS = 2000;
const RETRY_MAX_MS = 600_000;
const HOUR_MS = 3_600_000;
const GIVE_UP_MS = 7 * 24 * 3_600_000;

const waitUntil = (until: Date, now: Date): number =>
  Math.min(HOUR_MS, Math.max(RETRY_MIN_MS, until.getTime() - now.getTime()));

/**
 * Milliseconds until the next try. The pause equals the age of the mail, so it doubles with each
 * try.
 */
const waitOf = (ageMs: number): number => Math.min(RETRY_MAX_MS, Math.max(RETRY_MIN_MS, ageMs));

/**
 * A mail that is older than this many milliseconds has waited because of the limit. All other mails
 * to the address that have waited are merged into it.
 */
const WAITED_MS = 60_000;

const mergedText = (
  mails: readonly OutboxMail[],
): { readonly subject: string; readonly text: string } => ({
  subject: `${String(mails.length)} notices about your project`,
  text: [
    `So much happened in one hour that these ${String(mails.length)} notices come in one mail.`,
    ...mails.flatMap(({ subject, text, createdAt }) => [
      "",
      `== ${subject} (${createdAt.toISOString()})`,
      "",
      text,
    ]),
  ].join("\n"),
});

/**
 * The mail to send now, or the time until which the mail has to wait. Merges other waiting mails
 * into it, so that each of them is sent once.
 * @returns null when this mail was merged into another one
 */
const takeTurn = ({ database, limits, clock }: OutboxDeps, { projectId, id, to }: OutboxMail) =>
  database.transaction(async (tx): Promise<{ mail: OutboxMail } | { until: Date } | null> => {
    const at = clock.now();
    const { until, turns } = await limits.takeNotice(tx, { id, at, projectId, to });
    if (until !== null) return { until };
    const before = new Date(at.getTime() - WAITED_MS);
    const mail = await findOutboxMail({ prisma: tx }, { projectId, id });
    if (mail === null || mail.createdAt >= before || turns.has(id)) return mail && { mail };
    const waited = await listOutboxMails(tx, { projectId, to, before });
    const others = waited.filter((each) => each.id !== id && !turns.has(each.id));
    if (others.length === 0) return { mail };
    const merged = mergedText([mail, ...others]);
    await mergeOutboxMails(tx, mail, { ...merged, others: others.map((each) => each.id) });
    return { mail: { ...mail, ...merged } };
  });

/** Stores mails in the transaction that causes them; a worker sends them. */
export const createMailOutbox = (deps: OutboxDeps): MailOutbox => {
  const { database, mailer, clock, log } = deps;
  return {
    enqueue: (tx, projectId, { to, subject, text }) => {
      const id = newId("mail");
      const mail = { projectId, id, to, subject, text, createdAt: clock.now() };
      // The id of a job includes the project, because the key of an outbox row does.
      return insertOutboxMail(tx, mail, { id: `${projectId}/${id}`, queue: MAIL_QUEUE });
    },
    deliver: async (jobId) => {
      const [projectId = "", id = ""] = jobId.split("/");
      const stored = await findOutboxMail(database, { projectId, id });
      const turn = stored === null ? null : await takeTurn(deps, stored);
      if (turn === null) return { done: true };
      if ("until" in turn)
        return { done: false, againInMs: waitUntil(turn.until, clock.now()) };
      const { mail } = turn;
      const ageMs = clock.now().getTime() - mail.createdAt.getTime();
      try {
        await mailer.send({ to: mail.to, subject: mail.subject, text: mail.text });
      } catch (error) {
        if (!isDomainError(error) || error.code !== "provider_error") throw error;
        if (ageMs < GIVE_UP_MS) return { done: false, againInMs: waitOf(ageMs) };
        log.warn(
          { err: error, projectId, mailId: id },
          "a mail was given up: no server took it for a week",
        );
      }
      await deleteOutboxMail(database, { projectId, id });
      return { done: true };
    },
  };
};

/** The development inbox, for `GET /dev/inbox`. */
interface InboxService {
  /** The stored mails, newest first. */
  list(query: MailQuery): Promise<CaughtMail[]>;
}

/** Creates the development inbox, with mails from `repository`. */
export const createInboxService = (repository: InboxRepository): InboxService => ({
  list: (query) => repository.list(query),
});

/**
 * Masks an e-mail address, because it is shown to anybody who has the session: `a•••@example.com`.
 */
export const maskEmail = (email: string): string => {
  const at = email.lastIndexOf("@");
  return at < 1 ? "•••" : `${email.slice(0, 1)}•••${email.slice(at)}`;
};
