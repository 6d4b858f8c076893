export interface Mail {
  readonly to: string;
  readonly subject: string;
  /** Plain text; also what the development inbox shows. */
  readonly text: string;
  /** The one-time code of the text, for the development inbox; SMTP ignores it. */
  readonly code?: string;
}

/**
 * Sends mail. `send` throws DomainError `provider_error` when the server refuses the mail or does not answer within 10 s.
 * @example
 * await mailer.send({ to: "ada@example.org", subject: "Your code", text: "Your code is 123456", code: "123456" });
 */
export interface Mailer {
  readonly id: string;
  send(mail: Mail): Promise<void>;
}
