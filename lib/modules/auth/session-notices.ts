import { deviceOf } from "./device";
import type { Session } from "./session";

export interface PersonNotice {
  readonly subject: string;
  readonly text: string;
}

type Origin = Pick<Session, "userAgent" | "clientAddress">;

const originLines = ({ userAgent, clientAddress }: Origin): string[] => [
  `- Device: ${deviceOf(userAgent)}`,
  `- Address: ${clientAddress ?? "unknown"}`,
];

/** Mail about a sign-in from a device and an address range that the person never signed in from before. */
export const newDeviceNotice = (session: Origin & { readonly createdAt: Date }, publicUrl: string): PersonNotice => ({
  subject: "New sign-in to your Causeway account",
  text: [
    `Somebody signed in to your account at ${publicUrl} from a new device or network:`,
    "",
    ...originLines(session),
    `- When: ${session.createdAt.toISOString()}`,
    "",
    "If this was you, do nothing.",
    `If not, end that session at once: ${publicUrl}/settings#sessions. It stops within a second. Then check your passkeys and your authenticator app.`,
  ].join("\n"),
});

/** Mail about a session that ended because one of its refresh tokens was used a second time (RFC 9700, 4.14.2). */
export const reusedTokenNotice = (session: Origin, at: Date, publicUrl: string): PersonNotice => ({
  subject: "A session of your Causeway account was ended",
  text: [
    `A refresh token of your account at ${publicUrl} was used twice. One of the two uses may be a thief's, so the session was ended for both:`,
    "",
    ...originLines(session),
    `- When: ${at.toISOString()}`,
    "",
    "No money moves without your approval. Sign in again to go on.",
    `If this happens again, find out where the token is stored, and look at your other sessions: ${publicUrl}/settings#sessions`,
  ].join("\n"),
});
