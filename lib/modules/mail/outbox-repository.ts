import type { Database, Tx } from "@/lib/db/client";
import { insertJob } from "@/lib/modules/jobs/service";
import type { Mail } from "@/lib/ports/mail";

export interface OutboxMail extends Mail {
  readonly projectId: string;
  readonly id: string;
  readonly createdAt: Date;
}

interface OutboxKey {
  readonly projectId: string;
  readonly id: string;
}

/** Stores the mail and its job. */
export const insertOutboxMail = async (
  tx: Tx,
  { projectId, id, to, subject, text, createdAt }: OutboxMail,
  job: { readonly id: string; readonly queue: string },
): Promise<void> => {
  await tx.mailOutbox.create({ data: { projectId, id, to, subject, text, createdAt } });
  await insertJob(tx, { ...job, runAt: createdAt });
};

export const findOutboxMail = ({ prisma }: Database, key: OutboxKey): Promise<OutboxMail | null> =>
  prisma.mailOutbox.findUnique({ where: { projectId_id: key } });

export const deleteOutboxMail = async ({ prisma }: Database, key: OutboxKey): Promise<void> => {
  await prisma.mailOutbox.deleteMany({ where: key });
};
