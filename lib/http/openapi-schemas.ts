import { z } from "zod";
import { type Contract, mayWrite } from "@/lib/contracts/contract";
import type { ErrorCode } from "@/lib/core/errors";
import { FRESHNESS_COOKIE, FRESHNESS_HEADER } from "@/lib/core/fresh-cache";
import { isTagged } from "./conditional";
import { isIdempotent } from "./idempotency";

export type Json = Record<string, unknown>;
/**
 * Makes an object schema one of the document's named schemas.
 * @returns the reference to it; other schemas unchanged
 */
type NameSchema = (name: string, schema: Json) => Json;
/** Where a schema is used. Parameters are parsed like bodies, but describe defaults differently. */
type Place = "answer" | "body" | "parameters";
export type ToSchema = (schema: z.ZodType, place: Place) => Json;

const REFERENCE = "#/components/schemas/";

const without = (json: Json, names: readonly string[]): Json =>
  Object.fromEntries(Object.entries(json).filter(([name]) => !names.includes(name)));

/**
 * Replaces references to a schema's own `$defs` by references to the document's components. Answers
 * may get more fields later, so schemas of answers allow further fields.
 */
const forDocument = (value: unknown, io: "input" | "output"): unknown => {
  if (Array.isArray(value)) return value.map((each) => forDocument(each, io));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(
        ([key, inner]) => io === "input" || key !== "additionalProperties" || inner !== false,
      )
      .map(([key, inner]) => [
        key,
        key === "$ref" && typeof inner === "string"
          ? inner.replace("#/$defs/", REFERENCE)
          : forDocument(inner, io),
      ]),
  );
};

/** A JSON Schema, and the schemas with an id to which it refers, by id. */
interface Described {
  readonly root: Json;
  readonly named: Readonly<Record<string, Json>>;
}

/**
 * OpenAPI's discriminator for a union whose options are distinguished by one field: it maps each
 * value of the field to the named schema of that option.
 */
const discriminatorOf = ({
  discriminator,
  options,
}: z.core.$ZodDiscriminatedUnionDef): Json => {
  const mapping = options.flatMap((option) => {
    const { id } = z.globalRegistry.get(option) ?? {};
    if (id === undefined)
      throw new Error(`An option of a union that is told apart by ${discriminator} has no id.`);
    const values = [...(option._zod.propValues?.[discriminator] ?? [])];
    return values.map((value) => [String(value), REFERENCE + id] as const);
  });
  return { propertyName: discriminator, mapping: Object.fromEntries(mapping) };
};

const shownDefault = (value: unknown): string => {
  if (value === "" || (Array.isArray(value) && value.length === 0)) return "Default: empty";
  return `Default: ${typeof value === "string" ? `\`${value}\`` : JSON.stringify(value)}`;
};

type Overridden = Parameters<NonNullable<z.core.ToJSONSchemaParams["override"]>>[0];

/**
 * Removes the `default` of a field, because generators such as openapi-typescript treat such a
 * field as always present, and so require it in requests. In bodies the description states the
 * default instead; in answers the field is always present. Parameters keep their `default`.
 */
const tellDefault = ({ zodSchema, jsonSchema }: Overridden, place: Place): void => {
  const { def } = zodSchema._zod;
  if (def.type !== "default" || place === "parameters") return;
  delete jsonSchema.default;
  if (place === "answer") return;
  const shown = shownDefault(def.defaultValue);
  const { description } = jsonSchema;
  if (description?.endsWith(shown) === true) return;
  jsonSchema.description =
    description === undefined ? shown : `${description.replace(/\.$/, "")}. ${shown}`;
};

/**
 * Removes `additionalProperties` from schemas of objects that allow further fields. Generators turn
 * it into an index signature, which would refuse values whose type is an interface.
 */
const leaveFurtherOpen = ({ zodSchema, jsonSchema }: Overridden): void => {
  const { def } = zodSchema._zod;
  if (def.type === "object" && def.catchall?._zod.def.type === "unknown")
    delete jsonSchema.additionalProperties;
};

const ioOf = (place: Place): "input" | "output" => (place === "answer" ? "output" : "input");

const describe = (schema: z.ZodType, place: Place): Described => {
  const io = ioOf(place);
  const json: Json = z.toJSONSchema(schema, {
    io,
    // The parsed side of a codec or a transform has no JSON Schema, so the form before parsing is
    // described.
    unrepresentable: "any",
    target: "draft-2020-12",
    override: (described) => {
      const { def } = described.zodSchema._zod;
      if (def.type === "union" && "discriminator" in def)
        described.jsonSchema.discriminator = discriminatorOf(
          def as z.core.$ZodDiscriminatedUnionDef,
        );
      tellDefault(described, place);
      leaveFurtherOpen(described);
    },
  });
  const own = forDocument(json, io) as Json & { $defs?: Record<string, Json> };
  const root = without(own, ["$schema", "$defs", "id"]);
  const named = Object.fromEntries(
    Object.entries(own.$defs ?? {}).map(([name, definition]) => [
      name,
      without(definition, ["id"]),
    ]),
  );
  if (typeof own.id !== "string") return { root, named };
  return { root: { $ref: REFERENCE + own.id }, named: { ...named, [own.id]: root } };
};

/** Renames the schemas to which references and discriminator mappings point. */
const renamed = (value: unknown, names: ReadonlyMap<string, string>): unknown =>
  JSON.parse(
    JSON.stringify(value, (_key, inner: unknown) => {
      if (typeof inner !== "string" || !inner.startsWith(REFERENCE)) return inner;
      const name = inner.slice(REFERENCE.length);
      return REFERENCE + (names.get(name) ?? name);
    }),
  );

/**
 * A schema may differ between requests and answers, because requests allow no further fields and
 * defaults are optional. A schema with an id whose request form differs gets the suffix `Input` in
 * requests, and so does every such schema that refers to it.
 */
const withInputNames = (input: Described, output: ReadonlyMap<string, Json>): Described => {
  const names = new Map<string, string>();
  for (;;) {
    const differing = Object.entries(input.named).filter(
      ([name, definition]) =>
        !names.has(name) &&
        output.has(name) &&
        JSON.stringify(renamed(definition, names)) !== JSON.stringify(output.get(name)),
    );
    if (differing.length === 0) break;
    for (const [name] of differing) names.set(name, `${name}Input`);
  }
  return {
    root: renamed(input.root, names) as Json,
    named: Object.fromEntries(
      Object.entries(input.named).map(([name, definition]) => [
        names.get(name) ?? name,
        renamed(definition, names) as Json,
      ]),
    ),
  };
};

/**
 * JSON Schemas (draft 2020-12) of one document. A zod schema whose metadata has an `id` becomes one
 * of `named`, and other schemas refer to it by that name. Schemas of answers must be added first,
 * because the names of request schemas depend on them.
 */
export const createSchemas = (): {
  toSchema: ToSchema;
  nameSchema: NameSchema;
  named: Map<string, Json>;
} => {
  const named = new Map<string, Json>();
  const ofAnswers = new Map<string, Json>();

  const keep = (name: string, schema: Json): void => {
    const known = named.get(name);
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(schema))
      throw new Error(`Two different schemas have the id ${name}.`);
    named.set(name, schema);
  };

  const toSchema: ToSchema = (schema, place) => {
    const own = describe(schema, place);
    const described = place === "answer" ? own : withInputNames(own, ofAnswers);
    for (const [name, definition] of Object.entries(described.named)) {
      if (place === "answer") ofAnswers.set(name, definition);
      keep(name, definition);
    }
    return described.root;
  };

  const nameSchema: NameSchema = (name, schema) => {
    if (schema.type !== "object" && schema.anyOf === undefined && schema.oneOf === undefined)
      return schema;
    keep(name, schema);
    return { $ref: REFERENCE + name };
  };

  return { toSchema, nameSchema, named };
};

// The headers of answers in the OpenAPI document.

const header = (description: string, example: string): Json => ({
  description,
  schema: { type: "string", examples: [example] },
});

export const HEADER_COMPONENTS: Json = {
  RequestId: header(
    "Names the request in the service's logs",
    "req_01980000-0000-7000-8000-000000000000",
  ),
  RateLimitPolicy: header(
    "Limits in force (draft-ietf-httpapi-ratelimit-headers)",
    '"key";q=600;w=60',
  ),
  RateLimit: header("What is left of the limits", '"key";r=599;t=60'),
  CacheControl: header(
    "`no-store`, or that a cache must ask again with `If-None-Match`",
    "private, no-cache",
  ),
  ETag: header(
    "Tag of this answer, for `If-None-Match` of the next request",
    'W/"4Qf0b9mAkg1bPTl8Xo3n0kq5T2s"',
  ),
  IdempotentReplayed: header(
    "`true` where this is the stored answer to an earlier request with the same key",
    "true",
  ),
  Freshness: header(
    "Only where lists are read from a replica. Send it with your next reads, and they show this change",
    "0/16B3748",
  ),
  SetCookie: header(
    "The same as `causeway-freshness`, for a browser: only where the request had a cookie",
    `${FRESHNESS_COOKIE}=0/16B3748; Path=/; Max-Age=60; HttpOnly; SameSite=Lax`,
  ),
  ContentDisposition: header("Name of the file", 'attachment; filename="activity.csv"'),
  RetryAfter: header(
    "Seconds after which the request can be sent again; not with each of the codes",
    "5",
  ),
  Authenticate: header(
    "How a request is authenticated (RFC 9110, 11.6.1)",
    'Bearer realm="causeway", ApiKey realm="causeway"',
  ),
};

const reference = (name: string): Json => ({ $ref: `#/components/headers/${name}` });

const OF_EACH_ANSWER: Json = {
  "x-request-id": reference("RequestId"),
  "RateLimit-Policy": reference("RateLimitPolicy"),
  RateLimit: reference("RateLimit"),
  "Cache-Control": reference("CacheControl"),
};

const DOWNLOADS: ReadonlySet<string> = new Set([
  "text/csv",
  "application/xml",
  "application/octet-stream",
]);

export const successHeaders = (contract: Contract): Json => ({
  ...OF_EACH_ANSWER,
  ...(isTagged(contract) ? { ETag: reference("ETag") } : {}),
  ...(isIdempotent(contract) ? { "Idempotent-Replayed": reference("IdempotentReplayed") } : {}),
  ...(mayWrite(contract)
    ? { [FRESHNESS_HEADER]: reference("Freshness"), "Set-Cookie": reference("SetCookie") }
    : {}),
  ...(contract.mediaType !== undefined && DOWNLOADS.has(contract.mediaType)
    ? { "Content-Disposition": reference("ContentDisposition") }
    : {}),
});

export const NOT_MODIFIED_HEADERS: Json = { ...OF_EACH_ANSWER, ETag: reference("ETag") };

/**
 * Codes whose answer may have `Retry-After`: the seconds after which the same request can succeed.
 * Every 503 has it.
 */
const MAY_NAME_A_WAIT: ReadonlySet<ErrorCode> = new Set([
  "chain_unavailable",
  "idempotency_in_progress",
  "insufficient_balance",
  "invalid_state",
  "otp_attempts_exceeded",
  "rate_limited",
]);

export const errorHeaders = (status: number, codes: readonly ErrorCode[]): Json => ({
  ...OF_EACH_ANSWER,
  ...(status === 401 ? { "WWW-Authenticate": reference("Authenticate") } : {}),
  ...(status === 503 || codes.some((code) => MAY_NAME_A_WAIT.has(code))
    ? { "Retry-After": reference("RetryAfter") }
    : {}),
});
