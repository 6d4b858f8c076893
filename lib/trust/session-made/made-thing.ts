import type { Permission } from "@/lib/core/permissions";
import { type IdKind, isId } from "@/lib/core/ids";
import { addSeconds } from "@/lib/core/clock";
import type { Secrets } from "@/lib/platform/encryption/service";
import { deviceOf } from "@/lib/core/device";
import { quoted } from "@/lib/trust/proofs/service";
import type { OwnerNotice } from "@/lib/trust/projects/service";
import { MADE_KINDS, type MadeKind, type MadeThing, type ThingName } from "./rows";

interface KindRules {
  readonly idKind: IdKind;
  readonly words: string;
  /** The permission to create such an object, which restoring it also needs. */
  readonly permission: Permission;
  readonly page: string;
}

export const KIND_RULES: Readonly<Record<MadeKind, KindRules>> = {
  api_key: { idKind: "apiKey", words: "API key", permission: "keys:manage", page: "/api-keys" },
  webhook_endpoint: {
    idKind: "webhookEndpoint",
    words: "webhook endpoint",
    permission: "webhooks:manage",
    page: "/webhooks",
  },
  payout_schedule: {
    idKind: "payoutSchedule",
    words: "payout schedule",
    permission: "money:move",
    page: "/payouts/schedules",
  },
};

/**
 * The session that created an object, shown to people who decide whether it was their own session.
 */
export interface MakerSession {
  readonly id: string;
  readonly userId: string;
  /** Address with which the person signs in. */
  readonly address: string;
  readonly userAgent: string | null;
  readonly clientAddress: string | null;
  readonly createdAt: Date;
  readonly revokedAt: Date | null;
  readonly expiresAt: Date;
}

const PURPOSE = "not-me-link";
const GOOD_SECONDS = 30 * 24 * 3600;

export interface Disowned extends ThingName {
  readonly projectId: string;
  readonly sessionId: string;
}

/**
 * Tokens of the links "This was not me". A token is signed and not stored. It can only suspend
 * objects, so a token that stays in a mailbox does no harm. It is valid for 30 days.
 */
export const createNotMeTokens = (secrets: Pick<Secrets, "hash" | "matches">) => ({
  make: ({ projectId, id, sessionId }: Omit<Disowned, "kind">, now: Date): string => {
    const expires = Math.floor(addSeconds(now, GOOD_SECONDS).getTime() / 1000);
    const text = [projectId, id, sessionId, expires].join(".");
    return `${text}.${secrets.hash(PURPOSE, text).toString("base64url")}`;
  },
  /** Null for a token that this service did not issue, and for one that is too old. */
  read: (token: string, now: Date): Disowned | null => {
    const at = token.lastIndexOf(".");
    const text = token.slice(0, Math.max(0, at));
    if (!secrets.matches(PURPOSE, text, Buffer.from(token.slice(at + 1), "base64url")))
      return null;
    const [projectId = "", id = "", sessionId = "", expires = ""] = text.split(".");
    const kind = MADE_KINDS.find((each) => isId(KIND_RULES[each].idKind, id));
    if (kind === undefined || Number(expires) * 1000 <= now.getTime()) return null;
    return { kind, id, projectId, sessionId };
  },
});

interface Made extends ThingName {
  readonly projectId: string;
  /** The object and its rights in words, one per line; texts that a caller chose are quoted. */
  readonly lines: readonly string[];
  readonly at: Date;
}

const makerLines = ({
  address,
  userId,
  userAgent,
  clientAddress,
  createdAt,
}: MakerSession): string[] => [
  `- Made by: ${address} (${userId})`,
  `- Session: ${deviceOf(userAgent)}, from ${clientAddress ?? "an unknown address"}, since ${createdAt.toISOString()}`,
];

export const notMeLines = (link: string): string[] => [
  "It was made without a code or a signature. If this was not meant, open this link and press the button: it suspends this, ends the session that made it, and suspends whatever else that session made.",
  `This was not me: ${link}`,
];

export const madeNotice = (
  { kind, id, projectId, lines, at }: Made,
  maker: MakerSession,
  { link, publicUrl }: { readonly link: string; readonly publicUrl: string },
): OwnerNotice => ({
  projectId,
  subject: `New ${KIND_RULES[kind].words} in your project`,
  text: (project) =>
    [
      `A ${KIND_RULES[kind].words} was made in your project ${quoted(project)} at ${publicUrl}:`,
      "",
      ...lines.map((line) => `- ${line}`),
      `- Id: ${id}`,
      ...makerLines(maker),
      `- When: ${at.toISOString()}`,
      "",
      ...notMeLines(link),
    ].join("\n"),
});

export const suspendedNotice = (
  projectId: string,
  things: readonly MadeThing[],
  { why, publicUrl }: { readonly why: string; readonly publicUrl: string },
): OwnerNotice => ({
  projectId,
  subject:
    things.length === 1
      ? "Something in your project was suspended"
      : "Things in your project were suspended",
  text: (project) =>
    [
      `In your project ${quoted(project)} at ${publicUrl} this was suspended, because ${why}:`,
      "",
      ...things.map(({ kind, id, name, madeAt }) => {
        const { words, page } = KIND_RULES[kind];
        return `- ${words} ${quoted(name)} (${id}), made ${madeAt.toISOString()}: ${publicUrl}${page}`;
      }),
      "",
      "It was made without a code or a signature. If it is honest, restore it on its page: that takes a code, a passkey or a signature. Nothing is lost meanwhile: events for a webhook endpoint wait for it.",
    ].join("\n"),
});
