import { quoted } from "@/lib/modules/approvals/service";
import type { OwnerNotice } from "@/lib/modules/projects/service";
import type { ApiKey } from "./api-key";
import { rightsLines } from "./rights";

interface Told {
  readonly key: ApiKey;
  /** Who did it: the address that they sign in with. */
  readonly person: string;
  readonly userId: string;
  readonly at: Date;
  readonly publicUrl: string;
}

const BY = {
  code: "a code that was mailed",
  signature: "a signature of the wallet",
  totp: "the authenticator app",
  recovery_code: "a recovery code",
  passkey: "a passkey",
} as const;

const textOf =
  (told: Told, verb: string, approvedBy: keyof typeof BY | null) =>
  (project: string): string => {
    const { key, person, userId, at, publicUrl } = told;
    return [
      `An API key of your project ${quoted(project)} at ${publicUrl} was ${verb}:`,
      "",
      `- Name: ${quoted(key.name)}`,
      `- Key: ${key.prefix}…${key.last4} (${key.id})`,
      ...rightsLines(key).map((line) => `- ${line}`),
      `- ${verb === "made" ? "Made" : "Changed"} by: ${person} (${userId})`,
      `- When: ${at.toISOString()}`,
      ...(approvedBy === null ? [] : [`- Approved by: ${BY[approvedBy]}`]),
      "",
      `If this was not meant, revoke the key at once: ${publicUrl}/api-keys, button "Revoke"; or DELETE ${publicUrl}/api/auth/api-keys/${key.id}. It stops within a second.`,
    ].join("\n");
  };

/** Mail to the owners about a new key. */
export const newKeyNotice = (told: Told, approvedBy: keyof typeof BY | null): OwnerNotice => ({
  projectId: told.key.projectId,
  subject: `New API key ${quoted(told.key.name)}${told.key.policy.otp === "exempt" ? ", which moves money without a code" : ""}`,
  text: textOf(told, "made", approvedBy),
});

/** Mail to the owners about a key that has a new secret. */
export const rotatedKeyNotice = (told: Told, approvedBy: keyof typeof BY | null): OwnerNotice => ({
  projectId: told.key.projectId,
  subject: `The API key ${quoted(told.key.name)} has a new secret`,
  text: textOf(told, "given a new secret", approvedBy),
});

/** Mail to the owners about a key that may do more than before. */
export const widerKeyNotice = (told: Told, approvedBy: keyof typeof BY): OwnerNotice => ({
  projectId: told.key.projectId,
  subject: `The API key ${quoted(told.key.name)} may do more now`,
  text: textOf(told, "changed", approvedBy),
});
