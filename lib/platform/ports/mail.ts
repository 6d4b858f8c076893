export interface Mail {
  readonly to: string;
  readonly subject: string;
  /** Plain text. The development inbox shows the same text. */
  readonly text: string;
  /**
   * The one-time code inside the text, for the development inbox. SMTP does not send it separately.
   */
  readonly code?: string;
}

/**
 * Sends mail (SMTP, RFC 5321).
 * @example
 * await mailer.send({ to: "ada@example.org", subject: "Your code", text: "Your code is 123456", code: "123456" });
 */
export interface Mailer {
  readonly id: string;
  /**
   * Resolves when the server accepted the mail.
   * @throws DomainError `provider_error` when it refuses or does not answer within 10 s
   */
  send(mail: Mail): Promise<void>;
}
