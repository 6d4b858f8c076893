import type { ResponseOf } from "@/lib/contracts/contract";
import type { readInbox } from "@/lib/contracts/dev";
import type { CaughtMail } from "./repository";

export const toInbox = (mails: readonly CaughtMail[]): ResponseOf<typeof readInbox> => ({
  data: mails.map(({ id, to, subject, text, code, createdAt }) => ({
    id,
    to,
    subject,
    text,
    ...(code === undefined ? {} : { code }),
    createdAt: createdAt.toISOString(),
  })),
});
