import { addSeconds, type Clock } from "@/lib/core/clock";
import { newId } from "@/lib/core/ids";
import type { Database, Queryable, Tx } from "@/lib/platform/db/client";
import type { Mail } from "@/lib/platform/ports/mail";
import { insertJob } from "@/lib/platform/jobs/service";

export interface CaughtMail extends Mail {
  readonly id: string;
  readonly createdAt: Date;
}

export interface MailQuery {
  readonly to?: string | undefined;
  readonly limit: number;
}

export interface InboxRepository {
  add(mail: Mail): Promise<void>;
  /** The stored mails, newest first. `to` selects the mails to exactly this address. */
  list(query: MailQuery): Promise<CaughtMail[]>;
}

const KEPT_SECONDS = 7 * 24 * 60 * 60;

/** Table `dev_mail`: mail of the development mailer, deleted after a week. */
export const createInboxRepository = (database: Database, clock: Clock): InboxRepository => ({
  add: async ({ to, subject, text, code }) => {
    const createdAt = clock.now();
    await database.prisma.devMail.deleteMany({
      where: { createdAt: { lt: addSeconds(createdAt, -KEPT_SECONDS) } },
    });
    const id = newId("mail");
    await database.prisma.devMail.create({
      data: { id, to, subject, text, code: code ?? null, createdAt },
    });
  },
  list: async ({ to, limit }) => {
    const rows = await database.prisma.devMail.findMany({
      ...(to === undefined ? {} : { where: { to } }),
      orderBy: [{ createdAt: "desc" }, { id: "desc" }],
      take: limit,
    });
    return rows.map(({ code, ...row }) => (code === null ? row : { ...row, code }));
  },
});

export interface OutboxMail extends Mail {
  readonly projectId: string;
  readonly id: string;
  readonly createdAt: Date;
}

interface OutboxKey {
  readonly projectId: string;
  readonly id: string;
}

export const insertOutboxMail = async (
  tx: Tx,
  { projectId, id, to, subject, text, createdAt }: OutboxMail,
  job: { readonly id: string; readonly queue: string },
): Promise<void> => {
  await tx.mailOutbox.create({ data: { projectId, id, to, subject, text, createdAt } });
  await insertJob(tx, { ...job, runAt: createdAt });
};

export const findOutboxMail = (
  { prisma }: { readonly prisma: Queryable },
  key: OutboxKey,
): Promise<OutboxMail | null> => prisma.mailOutbox.findUnique({ where: { projectId_id: key } });

const TOGETHER_MAX = 500;

/** Mails of the project to the address that were stored before `before`, oldest first. */
export const listOutboxMails = (
  tx: Tx,
  {
    projectId,
    to,
    before,
  }: { readonly projectId: string; readonly to: string; readonly before: Date },
): Promise<OutboxMail[]> =>
  tx.mailOutbox.findMany({
    where: { projectId, to, createdAt: { lt: before } },
    orderBy: [{ createdAt: "asc" }, { id: "asc" }],
    take: TOGETHER_MAX,
  });

/**
 * Merges the texts of several mails into one of them, and removes the others. The removed mails'
 * jobs find nothing and end.
 */
export const mergeOutboxMails = async (
  tx: Tx,
  { projectId, id }: OutboxKey,
  merged: {
    readonly subject: string;
    readonly text: string;
    readonly others: readonly string[];
  },
): Promise<void> => {
  const { subject, text, others } = merged;
  await tx.mailOutbox.update({
    where: { projectId_id: { projectId, id } },
    data: { subject, text },
  });
  await tx.mailOutbox.deleteMany({ where: { projectId, id: { in: [...others] } } });
};

export const deleteOutboxMail = async ({ prisma }: Database, key: OutboxKey): Promise<void> => {
  await prisma.mailOutbox.deleteMany({ where: key });
};
