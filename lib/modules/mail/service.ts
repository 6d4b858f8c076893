import type { CaughtMail, InboxRepository, MailQuery } from "./repository";

export type { MailOutbox } from "./outbox";

/** The development inbox, as `GET /dev/inbox` shows it. */
export interface InboxService {
  /** Newest first. */
  list(query: MailQuery): Promise<CaughtMail[]>;
}

/** The service of the development inbox, over the mails that `repository` caught. */
export const createInboxService = (repository: InboxRepository): InboxService => ({
  list: (query) => repository.list(query),
});

/** Masks an e-mail address for holders of the session: `a•••@example.com`. */
export const maskEmail = (email: string): string => {
  const at = email.lastIndexOf("@");
  return at < 1 ? "•••" : `${email.slice(0, 1)}•••${email.slice(at)}`;
};
