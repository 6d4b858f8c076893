import type { Mail, Mailer } from "@/lib/platform/ports/mail";

export interface MailStore {
  add(mail: Mail): Promise<void>;
}

/** For development: stores mail for the app's inbox page instead of sending it. */
export const createInboxMailer = (options: { readonly store: MailStore }): Mailer => ({
  id: "inbox",
  send: (mail) => options.store.add(mail),
});
