import type { Mail, Mailer } from "@/lib/platform/ports/mail";

/** Stores the caught mails. */
export interface MailStore {
  add(mail: Mail): Promise<void>;
}

/** Development: stores mail for the app's own inbox page instead of sending it. */
export const createInboxMailer = (options: { readonly store: MailStore }): Mailer => ({
  id: "inbox",
  send: (mail) => options.store.add(mail),
});
