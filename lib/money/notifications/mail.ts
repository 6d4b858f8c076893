/** Mails waiting notifications: at once, or with the daily mail. */
import type { Clock } from "@/lib/core/clock";
import { firstIdAt } from "@/lib/core/ids";
import type { Database, Tx } from "@/lib/platform/db/client";
import { sqlOf } from "@/lib/platform/db/sql";
import { quoted } from "@/lib/trust/proofs/service";
import type { MailOutbox } from "@/lib/news/mail/service";
import { nextDaily } from "@/lib/core/clock";
import { mayBeTold } from "./notification";
import { claimBox, readAddressee, settleBox, takeWaiting } from "./repository";
import type { WaitingMail } from "./rows";

export interface MailDeps {
  readonly database: Database;
  readonly outbox: Pick<MailOutbox, "enqueue">;
  readonly publicUrl: string;
  readonly clock: Clock;
}

/**
 * Minimum number of milliseconds between two mails to one person about one project. The next mail
 * contains all notifications of that time.
 */
const APART_MS = 60_000;
const MAILS_PER_TURN = 50;
const LISTED_MAX = 30;
const DAY_MS = 24 * 3_600_000;

interface Told {
  readonly project: string;
  readonly waiting: readonly WaitingMail[];
  readonly publicUrl: string;
}

export const mailOf = ({
  project,
  waiting,
  publicUrl,
}: Told): { readonly subject: string; readonly text: string } => {
  const [first] = waiting;
  const shown = waiting.slice(0, LISTED_MAX);
  const more = waiting.length - shown.length;
  const subject =
    waiting.length === 1 && first !== undefined
      ? `${first.title} (${quoted(project)})`
      : `${String(waiting.length)} notifications of ${quoted(project)}`;
  const lines = shown.flatMap(({ title, detail, path }) => [
    "",
    title,
    ...(detail === null ? [] : [detail]),
    `${publicUrl}${path}`,
  ]);
  const rest = more === 0 ? [] : ["", `And ${String(more)} more: ${publicUrl}/notifications`];
  const text = [
    `In the project ${quoted(project)}:`,
    ...lines,
    ...rest,
    "",
    `Choose which mails you get, or none, in the settings: ${publicUrl}/settings/notifications`,
  ].join("\n");
  return { subject, text };
};

/**
 * Mails notifications. The transaction that takes the waiting notifications also stores the mail in
 * the outbox, so both happen or neither. The outbox sends the mail after the commit.
 */
export const createMailing = ({ database, outbox, publicUrl, clock }: MailDeps) => {
  /**
   * Mails the due notifications of one person in one project.
   * @returns false when no mail is due
   */
  const mailNext = async (tx: Tx): Promise<boolean> => {
    const sql = sqlOf(tx);
    const now = clock.now();
    const box = await claimBox(sql, now, new Date(now.getTime() - APART_MS));
    if (box === null) return false;
    const daily = nextDaily(now);
    const addressee = await readAddressee(sql, box);
    // The daily mail contains only notifications from before the last daily mail time. Later ones
    // wait for the next daily mail.
    const waiting = await takeWaiting(
      sql,
      box,
      firstIdAt("notification", new Date(daily.getTime() - DAY_MS)),
    );
    // The role is checked again, because the person may have left or changed role while the mail
    // waited.
    const told =
      addressee === null ? [] : waiting.filter(({ kind }) => mayBeTold(addressee.role, kind));
    const to = addressee?.email ?? null;
    const isSent = to !== null && addressee !== null && told.length > 0;
    if (isSent)
      await outbox.enqueue(tx, box.projectId, {
        to,
        ...mailOf({ project: addressee.projectName, waiting: told, publicUrl }),
      });
    await settleBox(sql, box, { mailedAt: isSent ? now : null, daily });
    return true;
  };

  return {
    mailDue: async (): Promise<void> => {
      for (let count = 0; count < MAILS_PER_TURN; count += 1)
        if (!(await database.transaction(mailNext))) return;
    },
  };
};
