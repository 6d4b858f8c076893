import { z } from "zod";
import { errorBody } from "@/lib/contracts/common";
import type { Contract } from "@/lib/contracts/contract";
import type { ErrorCode } from "@/lib/core/errors";
import { ERROR_GUIDE } from "./error-guide";
import { STATUS_OF } from "./problem";
import { VERSION } from "./version";

type Json = Record<string, unknown>;

const SECURITY = {
  public: [],
  user: [{ bearer: [] }],
  member: [{ apiKey: [] }, { bearer: [] }],
} as const satisfies Record<Contract["auth"], unknown>;

const ALWAYS: readonly ErrorCode[] = ["rate_limited", "internal_error", "service_unavailable"];
const AUTHENTICATED: readonly ErrorCode[] = [
  "unauthorized",
  "api_key_expired",
  "api_key_revoked",
  "forbidden",
  "insufficient_scope",
];
const WITH_BODY: readonly ErrorCode[] = ["invalid_request", "payload_too_large", "unsupported_media_type"];
const IDEMPOTENT: readonly ErrorCode[] = ["idempotency_in_progress", "idempotency_mismatch"];

const STATUS_TEXT: Readonly<Record<number, string>> = {
  400: "A field is at fault; `details` names each",
  401: "Not authenticated",
  403: "Not allowed",
  404: "Not there, or not yours",
  405: "Another method",
  409: "Not in the present state",
  410: "Its time is over",
  413: "The body is too large",
  415: "The body is not JSON",
  422: "Understood, but cannot be done",
  429: "Too often; see Retry-After",
  500: "Our fault",
  502: "A provider failed",
  503: "Not available right now; see Retry-After",
};

type ToSchema = (schema: z.ZodType, io: "input" | "output") => Json;

const without = (json: Json, names: readonly string[]): Json =>
  Object.fromEntries(Object.entries(json).filter(([name]) => !names.includes(name)));

/** Replaces references into a schema's own `$defs` by references to the document's components. */
const withComponentReferences = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withComponentReferences);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      key === "$ref" && typeof inner === "string"
        ? inner.replace("#/$defs/", "#/components/schemas/")
        : withComponentReferences(inner),
    ]),
  );
};

/**
 * JSON Schemas (draft 2020-12) of one document. A zod schema whose metadata has an `id` becomes one of `named`, and everything else
 * refers to it by that name.
 */
const createSchemas = (): { toSchema: ToSchema; named: Map<string, Json> } => {
  const named = new Map<string, Json>();

  const keep = (name: string, schema: Json): void => {
    const known = named.get(name);
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(schema))
      throw new Error(`Two different schemas have the id ${name}. A request and an answer that differ need two ids.`);
    named.set(name, schema);
  };

  const toSchema: ToSchema = (schema, io) => {
    // A codec or a transform has no JSON Schema for its parsed side; the form before parsing is described then.
    const json: Json = z.toJSONSchema(schema, { io, unrepresentable: "any", target: "draft-2020-12" });
    const own = withComponentReferences(json) as Json & { $defs?: Record<string, Json> };
    for (const [name, definition] of Object.entries(own.$defs ?? {})) keep(name, without(definition, ["id"]));
    const root = without(own, ["$schema", "$defs", "id"]);
    if (typeof own.id !== "string") return root;
    const { id } = own;
    keep(id, root);
    return { $ref: `#/components/schemas/${id}` };
  };

  return { toSchema, named };
};

const isIdempotent = (contract: Contract): boolean => contract.method === "POST" && contract.auth !== "public";

const errorCodes = (contract: Contract): ReadonlySet<ErrorCode> => {
  const codes = new Set<ErrorCode>([...(contract.errors ?? []), ...ALWAYS]);
  const add = (more: readonly ErrorCode[]): void => more.forEach((code) => codes.add(code));
  if (contract.auth !== "public") add(AUTHENTICATED);
  if (contract.body !== undefined) add(WITH_BODY);
  if (contract.query !== undefined) codes.add("invalid_request");
  if (contract.params !== undefined) codes.add("not_found");
  if (isIdempotent(contract)) add(IDEMPOTENT);
  return codes;
};

const errorContent = { "application/json": { schema: { $ref: "#/components/schemas/Error" } } };

const explain = (code: ErrorCode): string => {
  const { when, action } = ERROR_GUIDE[code];
  return `- \`${code}\`: ${when} ${action}`;
};

const errorResponse = (status: number, codes: readonly ErrorCode[]): Json => ({
  description: [`${STATUS_TEXT[status] ?? "Error"}.`, ...codes.map(explain)].join("\n"),
  content: errorContent,
});

/** Error responses that many operations share, by the codes that they have. */
const createErrorResponses = () => {
  const shared = new Map<string, Json>();

  const of = (contract: Contract): Json => {
    const byStatus = new Map<number, ErrorCode[]>();
    for (const code of [...errorCodes(contract)].sort()) {
      const usual: number = STATUS_OF[code];
      const status = usual === 422 && contract.inputErrorsAs400 === true ? 400 : usual;
      byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
    }
    const sorted = [...byStatus].sort(([a], [b]) => a - b);
    return Object.fromEntries(
      sorted.map(([status, codes]) => {
        const name = [String(status), ...codes].join("-");
        shared.set(name, errorResponse(status, codes));
        return [String(status), { $ref: `#/components/responses/${name}` }];
      }),
    );
  };

  return { of, shared };
};

const parametersOf = (toSchema: ToSchema, place: "path" | "query", schema: z.ZodType | undefined): Json[] => {
  if (schema === undefined) return [];
  const { properties = {}, required = [] } = toSchema(schema, "input") as {
    properties?: Record<string, Json>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, property]) => ({
    name,
    in: place,
    required: place === "path" || required.includes(name),
    schema: property,
  }));
};

const headerParameters = (contract: Contract): Json[] => [
  ...(contract.auth === "public" ? [] : [{ $ref: "#/components/parameters/ProjectId" }]),
  ...(isIdempotent(contract) ? [{ $ref: "#/components/parameters/IdempotencyKey" }] : []),
  ...(contract.mediaType === "text/event-stream" ? [{ $ref: "#/components/parameters/LastEventId" }] : []),
];

const operationId = (contract: Contract): string =>
  contract.method.toLowerCase() +
  contract.path
    .split(/[^A-Za-z0-9]+/)
    .filter((word) => word !== "")
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join("");

interface Parts {
  readonly toSchema: ToSchema;
  readonly errors: ReturnType<typeof createErrorResponses>;
}

const successOf = (toSchema: ToSchema, contract: Contract): Json => ({
  description: contract.summary,
  headers: {
    "x-request-id": { $ref: "#/components/headers/RequestId" },
    "RateLimit-Policy": { $ref: "#/components/headers/RateLimitPolicy" },
    RateLimit: { $ref: "#/components/headers/RateLimit" },
  },
  content: { [contract.mediaType ?? "application/json"]: { schema: toSchema(contract.response, "output") } },
});

const operationOf = (contract: Contract, { toSchema, errors }: Parts): Json => {
  const parameters = [
    ...parametersOf(toSchema, "path", contract.params),
    ...parametersOf(toSchema, "query", contract.query),
    ...headerParameters(contract),
  ];
  return {
    operationId: operationId(contract),
    summary: contract.summary,
    tags: [contract.tag],
    security: SECURITY[contract.auth],
    ...(contract.scope === undefined ? {} : { "x-scope": contract.scope }),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(contract.body === undefined
      ? {}
      : {
          requestBody: {
            required: true,
            content: { "application/json": { schema: toSchema(contract.body, "input") } },
          },
        }),
    responses: { [String(contract.status)]: successOf(toSchema, contract), ...errors.of(contract) },
    "x-error-codes": [...errorCodes(contract)].sort(),
  };
};

const header = (description: string): Json => ({ description, schema: { type: "string" } });

const components = (schemas: ReadonlyMap<string, Json>, responses: ReadonlyMap<string, Json>): Json => ({
  securitySchemes: {
    apiKey: { type: "apiKey", in: "header", name: "x-api-key", description: "A key of the project" },
    bearer: {
      type: "http",
      scheme: "bearer",
      bearerFormat: "JWT",
      description: "The access token of a signed-in person",
    },
  },
  responses: Object.fromEntries([...responses].sort(([a], [b]) => a.localeCompare(b))),
  schemas: Object.fromEntries([...schemas].sort(([a], [b]) => a.localeCompare(b))),
  parameters: {
    ProjectId: {
      name: "x-project-id",
      in: "header",
      required: false,
      description:
        "The project that a signed-in person means; the default project without it. Keys belong to one project.",
      schema: { type: "string" },
    },
    IdempotencyKey: {
      name: "Idempotency-Key",
      in: "header",
      required: false,
      description:
        "1–255 printable characters. The same key and body within 24 h get the first answer again, with `Idempotent-Replayed: true`.",
      schema: { type: "string", minLength: 1, maxLength: 255 },
    },
    LastEventId: {
      name: "Last-Event-ID",
      in: "header",
      required: false,
      description: "Goes on after this event.",
      schema: { type: "string" },
    },
  },
  headers: {
    RequestId: header("Names the request in our logs"),
    RateLimitPolicy: header("Limits in force (draft-ietf-httpapi-ratelimit-headers)"),
    RateLimit: header("What is left of them"),
  },
});

/** The description of the service (OpenAPI 3.1), made from the contracts alone. */
export const openApiDocument = (contracts: readonly Contract[]): Json => {
  const { toSchema, named } = createSchemas();
  toSchema(errorBody, "output");
  const errors = createErrorResponses();
  const paths: Record<string, Json> = {};
  for (const contract of contracts)
    paths[contract.path] = {
      ...paths[contract.path],
      [contract.method.toLowerCase()]: operationOf(contract, { toSchema, errors }),
    };
  return {
    openapi: "3.1.0",
    info: {
      title: "Causeway",
      version: VERSION,
      description:
        "Wallets on many chains and one way to move money over them. Amounts are decimal strings in units of the token. The API answers its own origin alone: no CORS headers are sent, so browsers call it from the dashboard and other programs from anywhere.",
    },
    servers: [{ url: "/api" }],
    tags: [...new Set(contracts.map(({ tag }) => tag))].map((name) => ({ name })),
    paths,
    components: components(named, errors.shared),
  };
};
