import { createHash } from "node:crypto";
import { z } from "zod";
import { invalidRequest } from "@/lib/core/errors";
import { isId } from "@/lib/core/ids";

export type CallbackSource = "routing" | "bundler";

/** What a callback says, as far as it is understood. Nothing of it is believed: it only says whom to ask. */
export interface CallbackEvent {
  readonly provider: "relay" | "across" | "generic";
  /** Of the provider's event, so that a second delivery is recognised. */
  readonly key: string;
  readonly type: string | null;
  readonly statusWord: string | null;
  /** False: a type or a status that is not known here. It is kept, and nobody is woken. */
  readonly isKnown: boolean;
  readonly operationIds: readonly string[];
  /** Hashes of transactions and user operations, lower case. */
  readonly hashes: readonly string[];
}

const TEXT_MAX = 200;
const KEY_MAX = 200;
const REFERENCES_MAX = 50;
const HASH = /^0x[0-9a-fA-F]{64}$/;

const RELAY_STATUSES = new Set([
  "waiting",
  "depositing",
  "pending",
  "submitted",
  "delayed",
  "success",
  "failure",
  "refund",
  "refunded",
]);
const ACROSS_STATES = new Set([
  "pending",
  "initiated",
  "deposited",
  "filling",
  "filled",
  "completed",
  "expired",
  "refunding",
  "refunded",
  "failed",
]);
const BUNDLER_STATUSES = new Set([
  "submitted",
  "pending",
  "included",
  "success",
  "reverted",
  "failed",
  "rejected",
  "dropped",
  "not_found",
]);
const BUNDLER_TYPES = new Set([
  "user_operation.status",
  "user_operation.updated",
  "user_operation.included",
  "user_operation.failed",
]);
const ROUTING_TYPE = /^(request|transfer|deposit|fill|order)\.[a-z_.]+$/;

const anything = z.unknown().optional();
const envelope = z.looseObject({ id: anything, type: anything, event: anything, data: anything });
const loose = z.looseObject({ status: anything, state: anything });

const textOf = (value: unknown): string | null =>
  typeof value === "string" && value !== "" ? value.slice(0, TEXT_MAX) : null;

/** The status, which Across puts into an object with a state. */
const statusOf = (value: unknown): string | null => {
  const parsed = loose.safeParse(value);
  if (!parsed.success) return null;
  const { status } = parsed.data;
  const inner = loose.safeParse(status);
  const word = inner.success ? textOf(inner.data.state) : textOf(status);
  return word?.toLowerCase() ?? null;
};

/** Every text in the value that may name something here, wherever a provider puts it. The body's depth is bounded before. */
const referencesIn = (value: unknown, found: Set<string>): Set<string> => {
  if (found.size >= REFERENCES_MAX) return found;
  if (typeof value === "string" && (HASH.test(value) || isId("operation", value))) found.add(value.toLowerCase());
  else if (typeof value === "object" && value !== null)
    for (const part of Object.values(value)) referencesIn(part, found);
  return found;
};

const providerOf = (source: CallbackSource, type: string | null): CallbackEvent["provider"] => {
  if (source === "bundler") return "generic";
  if (type === "request.status.updated") return "relay";
  return type === "transfer.status" || type === "transfer.data" ? "across" : "generic";
};

const isKnownEvent = (
  source: CallbackSource,
  { provider, type, statusWord }: Pick<CallbackEvent, "provider" | "type" | "statusWord">,
): boolean => {
  if (source === "bundler")
    return type !== null && BUNDLER_TYPES.has(type) && (statusWord === null || BUNDLER_STATUSES.has(statusWord));
  switch (provider) {
    case "relay":
      return statusWord !== null && RELAY_STATUSES.has(statusWord);
    case "across":
      return statusWord !== null && ACROSS_STATES.has(statusWord);
    case "generic":
      return type !== null && ROUTING_TYPE.test(type);
  }
};

const digestOf = (raw: Uint8Array): string => createHash("sha256").update(raw).digest("hex");

/** @throws DomainError `invalid_request` for anything but a JSON object */
export const readCallback = (source: CallbackSource, raw: Uint8Array, body: unknown): CallbackEvent => {
  const parsed = envelope.safeParse(body);
  if (!parsed.success) throw invalidRequest([{ path: "", message: "must be a JSON object" }]);
  const { data = body } = parsed.data;
  const type = textOf(parsed.data.type) ?? textOf(parsed.data.event);
  const statusWord = statusOf(data) ?? statusOf(body);
  const provider = providerOf(source, type);
  const id = textOf(parsed.data.id);
  const references = [...referencesIn(body, new Set())];
  return {
    provider,
    key: `${provider}:${id === null || id.length > KEY_MAX || id.includes("\0") ? digestOf(raw) : id}`,
    type: type?.replaceAll("\0", "") ?? null,
    statusWord: statusWord?.replaceAll("\0", "") ?? null,
    isKnown: isKnownEvent(source, { provider, type, statusWord }),
    operationIds: references.filter((text) => isId("operation", text)),
    hashes: references.filter((text) => HASH.test(text)),
  };
};
