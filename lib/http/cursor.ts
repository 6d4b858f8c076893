/**
 * The cursors of every paged list. They are opaque to callers, and valid only for the list and the
 * filters with which they were created.
 */
import { createHmac, hkdfSync, timingSafeEqual } from "node:crypto";
import { fieldsAt } from "@/lib/contracts/strict";
import type { Contract } from "@/lib/contracts/contract";
import { DomainError } from "@/lib/core/errors";
import type { HttpServices } from "./services";

const PURPOSE = "list-cursor";
const KEY_BYTES = 32;
const MAC_BYTES = 16;

export interface PageRequest {
  readonly contract: Contract;
  readonly params: unknown;
  readonly query: unknown;
  /** The caller's project; null for a public list. */
  readonly projectId: string | null;
}

type Config = HttpServices["config"];

const known = new WeakMap<Config, readonly Buffer[]>();

/** The cursor keys under each valid application secret, the current one first. */
const keysOf = (config: Config): readonly Buffer[] => {
  const secrets = [
    config.appSecret,
    ...(config.appSecretPrevious === null ? [] : [config.appSecretPrevious]),
  ];
  const keys =
    known.get(config) ??
    secrets.map((secret) => Buffer.from(hkdfSync("sha256", secret, "", PURPOSE, KEY_BYTES)));
  known.set(config, keys);
  return keys;
};

const macOf = (key: Buffer, text: string): Buffer =>
  createHmac("sha256", key).update(text).digest().subarray(0, MAC_BYTES);

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export const isPaged = ({ query }: Contract): boolean =>
  query !== undefined && fieldsAt(query, []).includes("cursor");

/**
 * The text to which a cursor is bound: all parameters that determine the content of a list, in a
 * canonical form. The page size is excluded, because it may change from page to page.
 */
const boundTo = (
  { contract, params, query, projectId }: PageRequest,
  position: string,
): string => {
  const { cursor: _, limit: __, ...filters } = isRecord(query) ? query : {};
  const sorted = Object.entries(filters).map(([name, value]) => [
    name,
    Array.isArray(value) ? value.toSorted() : value,
  ]);
  return JSON.stringify([contract.path, projectId, params ?? null, sorted, position]);
};

const invalidCursor = (): DomainError => {
  const message =
    "is not one that this list gave with these filters; send `nextCursor` unchanged and the same filters, or leave it out to begin anew";
  return new DomainError("invalid_cursor", `cursor: ${message}`, {
    details: [{ path: "cursor", message, code: "invalid_cursor" }],
  });
};

/**
 * The cursor for a position in the list. Equal positions have equal cursors, so that equal pages
 * are equal byte for byte.
 */
const sealed = (page: PageRequest, config: Config, position: string): string => {
  const [key] = keysOf(config);
  if (key === undefined) throw new Error("There is no application secret.");
  return Buffer.concat([macOf(key, boundTo(page, position)), Buffer.from(position)]).toString(
    "base64url",
  );
};

const opened = (page: PageRequest, config: Config, cursor: string): string => {
  const bytes = Buffer.from(cursor, "base64url");
  const position = bytes.subarray(MAC_BYTES).toString();
  const mac = bytes.subarray(0, MAC_BYTES);
  const isOwn =
    mac.length === MAC_BYTES &&
    keysOf(config).some((key) => timingSafeEqual(macOf(key, boundTo(page, position)), mac));
  // The text is compared too, because Node ignores characters that do not complete a byte: a cursor
  // with one character appended decodes to the same bytes.
  if (bytes.toString("base64url") !== cursor || !isOwn) throw invalidCursor();
  return position;
};

/**
 * Replaces the cursor of the query by the position in it, which services use.
 * @throws DomainError `invalid_cursor` for a cursor that this list did not create with these
 * filters
 */
export const withPosition = (page: PageRequest, config: Config): unknown => {
  const { query } = page;
  if (!isRecord(query) || typeof query.cursor !== "string") return query;
  return { ...query, cursor: opened(page, config, query.cursor) };
};

/** Replaces the position at which the page ends by an opaque cursor. */
export const withCursor = (page: PageRequest, config: Config, body: unknown): unknown =>
  isRecord(body) && typeof body.nextCursor === "string" && isPaged(page.contract)
    ? { ...body, nextCursor: sealed(page, config, body.nextCursor) }
    : body;
