import { createHash } from "node:crypto";
import { z } from "zod";
import { invalidRequest } from "@/lib/core/errors";
import { isId } from "@/lib/core/ids";
import type { CallbackProvider } from "@/lib/ports/callback-provider";

export type CallbackSource = "routing" | "bundler";

/** The parsed parts of a callback. The service trusts none of them: they only name the operations to look at. */
export interface CallbackEvent {
  /** Name of a `CallbackProvider`; `generic` for every other sender. */
  readonly provider: string;
  /** Identifies the provider's event, so that a second delivery is recognised. */
  readonly key: string;
  readonly type: string | null;
  readonly statusWord: string | null;
  /** False for an unknown type or status: the callback is stored and wakes no job. */
  readonly isKnown: boolean;
  readonly operationIds: readonly string[];
  /** Hashes of transactions and user operations, lower case. */
  readonly hashes: readonly string[];
}

const TEXT_MAX = 200;
const KEY_MAX = 200;
const REFERENCES_MAX = 50;
const HASH = /^0x[0-9a-fA-F]{64}$/;

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

/** The status word: a text, or the `state` of an object. */
const statusOf = (value: unknown): string | null => {
  const parsed = loose.safeParse(value);
  if (!parsed.success) return null;
  const { status } = parsed.data;
  const inner = loose.safeParse(status);
  const word = inner.success ? textOf(inner.data.state) : textOf(status);
  return word?.toLowerCase() ?? null;
};

/** Every text in the value that may name an operation or a hash. The caller has bounded the depth of the body. */
const referencesIn = (value: unknown, found: Set<string>): Set<string> => {
  if (found.size >= REFERENCES_MAX) return found;
  if (typeof value === "string" && (HASH.test(value) || isId("operation", value))) found.add(value.toLowerCase());
  else if (typeof value === "object" && value !== null)
    for (const part of Object.values(value)) referencesIn(part, found);
  return found;
};

const GENERIC = "generic";

const isKnownEvent = (
  source: CallbackSource,
  provider: CallbackProvider | undefined,
  { type, statusWord }: Pick<CallbackEvent, "type" | "statusWord">,
): boolean => {
  if (source === "bundler")
    return type !== null && BUNDLER_TYPES.has(type) && (statusWord === null || BUNDLER_STATUSES.has(statusWord));
  if (provider !== undefined) return statusWord !== null && provider.statuses.has(statusWord);
  return type !== null && ROUTING_TYPE.test(type);
};

const digestOf = (raw: Uint8Array): string => createHash("sha256").update(raw).digest("hex");

/** @throws DomainError `invalid_request` for anything but a JSON object */
export const readCallback = (
  { source, raw, body }: { readonly source: CallbackSource; readonly raw: Uint8Array; readonly body: unknown },
  providers: readonly CallbackProvider[],
): CallbackEvent => {
  const parsed = envelope.safeParse(body);
  if (!parsed.success) throw invalidRequest([{ path: "", message: "must be a JSON object" }]);
  const { data = body } = parsed.data;
  const type = textOf(parsed.data.type) ?? textOf(parsed.data.event);
  const statusWord = statusOf(data) ?? statusOf(body);
  const known =
    source === "routing" && type !== null ? providers.find(({ eventTypes }) => eventTypes.has(type)) : undefined;
  const provider = known?.name ?? GENERIC;
  const id = textOf(parsed.data.id);
  const references = [...referencesIn(body, new Set())];
  return {
    provider,
    key: `${provider}:${id === null || id.length > KEY_MAX || id.includes("\0") ? digestOf(raw) : id}`,
    type: type?.replaceAll("\0", "") ?? null,
    statusWord: statusWord?.replaceAll("\0", "") ?? null,
    isKnown: isKnownEvent(source, known, { type, statusWord }),
    operationIds: references.filter((text) => isId("operation", text)),
    hashes: references.filter((text) => HASH.test(text)),
  };
};
