import { addSeconds, type Clock } from "@/lib/core/clock";
import { newId } from "@/lib/core/ids";
import type { Database } from "@/lib/db/client";
import type { Mail } from "@/lib/ports/mail";

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
  /** Newest first, to the exact address. */
  list(query: MailQuery): Promise<CaughtMail[]>;
}

const KEPT_SECONDS = 7 * 24 * 60 * 60;

/** Mail that the development mailer caught (table `dev_mail`), kept for a week. */
export const createInboxRepository = (database: Database, clock: Clock): InboxRepository => ({
  add: async ({ to, subject, text, code }) => {
    const createdAt = clock.now();
    await database.prisma.devMail.deleteMany({ where: { createdAt: { lt: addSeconds(createdAt, -KEPT_SECONDS) } } });
    const id = newId("mail");
    await database.prisma.devMail.create({ data: { id, to, subject, text, code: code ?? null, createdAt } });
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
