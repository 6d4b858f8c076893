/** Mails what waits for its mail: at once, or with the mail of the day. */
import type { Clock } from "@/lib/core/clock";
import { firstIdAt } from "@/lib/core/ids";
import type { Database, Tx } from "@/lib/db/client";
import { sqlOf } from "@/lib/db/sql";
import type { MailOutbox } from "@/lib/modules/mail/service";
import { mayBeTold, nextDaily } from "./kinds";
import { claimBox, readAddressee, settleBox, takeWaiting, type WaitingMail } from "./mail-repository";

export interface MailDeps {
  readonly database: Database;
  readonly outbox: Pick<MailOutbox, "enqueue">;
  readonly publicUrl: string;
  readonly clock: Clock;
}

/** Mails to one person about one project are this far apart; the next one has all notifications of the time in between. */
const APART_MS = 60_000;
const MAILS_PER_TURN = 50;
const LISTED_MAX = 30;
const DAY_MS = 24 * 3_600_000;

interface Told {
  readonly project: string;
  readonly waiting: readonly WaitingMail[];
  readonly publicUrl: string;
}

export const mailOf = ({ project, waiting, publicUrl }: Told): { readonly subject: string; readonly text: string } => {
  const [first] = waiting;
  const shown = waiting.slice(0, LISTED_MAX);
  const more = waiting.length - shown.length;
  const subject =
    waiting.length === 1 && first !== undefined
      ? `${first.title} (${project})`
      : `${String(waiting.length)} notifications of ${project}`;
  const lines = shown.flatMap(({ title, detail, path }) => [
    "",
    title,
    ...(detail === null ? [] : [detail]),
    `${publicUrl}${path}`,
  ]);
  const rest = more === 0 ? [] : ["", `And ${String(more)} more: ${publicUrl}/notifications`];
  const text = [
    `In the project ${project}:`,
    ...lines,
    ...rest,
    "",
    `Choose which mails you get, or none, in the settings: ${publicUrl}/settings#notifications`,
  ].join("\n");
  return { subject, text };
};

/**
 * The turns of the mailing. The mail is stored in the outbox by the transaction that takes the notifications out of what waits: neither
 * happens without the other, and the outbox sends it after the commit.
 */
export const createMailing = ({ database, outbox, publicUrl, clock }: MailDeps) => {
  /** @returns false when nobody's mail is due */
  const mailNext = async (tx: Tx): Promise<boolean> => {
    const sql = sqlOf(tx);
    const now = clock.now();
    const box = await claimBox(sql, now, new Date(now.getTime() - APART_MS));
    if (box === null) return false;
    const daily = nextDaily(now);
    const addressee = await readAddressee(sql, box);
    // The last time at which the mails of the day went out.
    const waiting = await takeWaiting(sql, box, firstIdAt("notification", new Date(daily.getTime() - DAY_MS)));
    // The role may have changed, and the person may have left, while the mail waited.
    const told = addressee === null ? [] : waiting.filter(({ kind }) => mayBeTold(addressee.role, kind));
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
    /** Stores the mails that are due. */
    mailDue: async (): Promise<void> => {
      for (let count = 0; count < MAILS_PER_TURN; count += 1) if (!(await database.transaction(mailNext))) return;
    },
  };
};
