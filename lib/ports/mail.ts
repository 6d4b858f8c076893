export interface Mail {
  readonly to: string;
  readonly subject: string;
  /** Plain text; also what the development inbox shows. */
  readonly text: string;
  /** The one-time code in it, for the development inbox alone; SMTP ignores it. */
  readonly code?: string;
}

/** Sends mail. @throws DomainError `provider_error` when the server refuses or does not answer within 10 s */
export interface Mailer {
  readonly id: string;
  send(mail: Mail): Promise<void>;
}
