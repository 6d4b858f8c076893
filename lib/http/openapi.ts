import type { z } from "zod";
import { errorBody } from "@/lib/contracts/common";
import type { NamedContract } from "@/lib/contracts/all";
import type { Contract } from "@/lib/contracts/contract";
import { createErrorResponses, errorCodes, isIdempotent } from "./openapi-errors";
import { createSchemas, type Json, type ToSchema } from "./openapi-schemas";
import { VERSION } from "./version";

const SECURITY = {
  public: [],
  user: [{ bearer: [] }],
  member: [{ apiKey: [] }, { bearer: [] }],
} as const satisfies Record<Contract["auth"], unknown>;

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

const operationOf = ({ operationId, contract }: NamedContract, { toSchema, errors }: Parts): Json => {
  const parameters = [
    ...parametersOf(toSchema, "path", contract.params),
    ...parametersOf(toSchema, "query", contract.query),
    ...headerParameters(contract),
  ];
  return {
    operationId,
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
export const openApiDocument = (contracts: readonly NamedContract[]): Json => {
  const { toSchema, named } = createSchemas();
  toSchema(errorBody, "output");
  const errors = createErrorResponses();
  const paths: Record<string, Json> = {};
  for (const one of contracts) {
    const { path, method } = one.contract;
    paths[path] = { ...paths[path], [method.toLowerCase()]: operationOf(one, { toSchema, errors }) };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Causeway",
      version: VERSION,
      description:
        "Wallets on many chains and one way to move money over them. Amounts are decimal strings in units of the token. The API answers its own origin alone: no CORS headers are sent, so browsers call it from the dashboard and other programs from anywhere.",
    },
    servers: [{ url: "/api" }],
    tags: [...new Set(contracts.map(({ contract }) => contract.tag))].map((name) => ({ name })),
    paths,
    components: components(named, errors.shared),
  };
};
