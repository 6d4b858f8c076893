import { createTransport } from "nodemailer";
import { DomainError } from "@/lib/core/errors";
import { withDeadline } from "@/lib/core/deadline";
import type { Mailer } from "@/lib/platform/ports/mail";

export interface SmtpOptions {
  /** `smtp://user:password@host:port`, or `smtps://` for implicit TLS. */
  readonly url: string;
  /** The sender, as `Name <address>`. */
  readonly from: string;
  readonly timeoutMs?: number;
}

export interface SmtpMailer extends Mailer {
  close(): void;
}

const TIMEOUT_MS = 10_000;
const CONNECTIONS_MAX = 5;
const MESSAGE =
  "The e-mail could not be sent. Nothing was changed; try again in a moment, and tell the operator if it goes on.";

export const createSmtpMailer = ({
  url,
  from,
  timeoutMs = TIMEOUT_MS,
}: SmtpOptions): SmtpMailer => {
  const transport = createTransport({
    ...connectionOf(url),
    pool: true,
    maxConnections: CONNECTIONS_MAX,
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    dnsTimeout: timeoutMs,
    // Nodemailer may not read files or URLs for a message, because the mailer only sends texts of
    // this service.
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return {
    id: "smtp",
    send: async ({ to, subject, text }) => {
      try {
        // The address is an object, because a comma in a plain text would start another recipient.
        // The deadline covers the whole call, because the sum of SMTP's separate time-outs could
        // exceed the caller's time-out.
        await withDeadline(
          transport.sendMail({ from, to: { name: "", address: to }, subject, text }),
          {
            timeoutMs,
            message: `No answer from the mail server within ${String(timeoutMs)} ms.`,
          },
        );
      } catch (error) {
        throw new DomainError("provider_error", MESSAGE, { cause: error });
      }
    },
    close: () => transport.close(),
  };
};

const connectionOf = (url: string) => {
  const { protocol, hostname, port, username, password, searchParams } = new URL(url);
  const secure = protocol === "smtps:";
  return {
    host: hostname.replace(/^\[|\]$/g, ""),
    port: port === "" ? (secure ? 465 : 587) : Number(port),
    secure,
    ...(username
      ? { auth: { user: decodeURIComponent(username), pass: decodeURIComponent(password) } }
      : {}),
    ...(searchParams.get("requireTLS") === "true" ? { requireTLS: true } : {}),
  };
};
