import type { z } from "zod";
import { errorBody } from "@/lib/contracts/common";
import type { NamedContract } from "@/lib/contracts/all";
import type { Contract } from "@/lib/contracts/contract";
import { ROLES, type Role } from "@/lib/core/actor";
import { PERMISSIONS } from "@/lib/core/permissions";
import { componentsOf } from "./openapi-components";
import { createErrorResponses, errorCodes, isIdempotent } from "./openapi-errors";
import { EXAMPLES, exampleOf, type Examples } from "./openapi-examples";
import { createSchemas, type Json } from "./openapi-schemas";
import { TAG_DESCRIPTIONS } from "./openapi-tags";
import { webhooksOf } from "./openapi-webhooks";
import { VERSION } from "./version";

const SECURITY = {
  public: [],
  user: [{ bearer: [] }],
  member: [{ apiKey: [] }, { bearer: [] }],
} as const satisfies Record<Contract["auth"], unknown>;

/** The roles whose holders may call the operation with a JWT. */
const rolesOf = ({ permission }: Contract): readonly Role[] =>
  permission === undefined ? ROLES : PERMISSIONS[permission];

type Schemas = ReturnType<typeof createSchemas>;

interface Parts {
  readonly schemas: Schemas;
  readonly examples: Examples;
  readonly errors: ReturnType<typeof createErrorResponses>;
}

/** A parameter's own description, or that of the named schema that it refers to. */
const descriptionOf = ({ named }: Schemas, property: Json): unknown => {
  if (property.description !== undefined || typeof property.$ref !== "string") return property.description;
  return named.get(property.$ref.split("/").at(-1) ?? "")?.description;
};

const parametersOf = (schemas: Schemas, place: "path" | "query", schema: z.ZodType | undefined): Json[] => {
  if (schema === undefined) return [];
  const { properties = {}, required = [] } = schemas.toSchema(schema, "input") as {
    properties?: Record<string, Json>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, property]) => ({
    name,
    in: place,
    required: place === "path" || required.includes(name),
    description: descriptionOf(schemas, property),
    // The parameter has the description, so its schema does not repeat it.
    schema: Object.fromEntries(Object.entries(property).filter(([key]) => key !== "description")),
  }));
};

const headerParameters = (contract: Contract): Json[] => [
  ...(contract.auth === "public" ? [] : [{ $ref: "#/components/parameters/ProjectId" }]),
  ...(isIdempotent(contract) ? [{ $ref: "#/components/parameters/IdempotencyKey" }] : []),
  ...(contract.mediaType === "text/event-stream" ? [{ $ref: "#/components/parameters/LastEventId" }] : []),
];

const nameOf = (operationId: string, suffix: "Request" | "Response"): string =>
  `${operationId.charAt(0).toUpperCase()}${operationId.slice(1)}${suffix}`;

const requestOf = ({ operationId, contract }: NamedContract, { schemas, examples }: Parts): Json => {
  if (contract.body === undefined) return {};
  const schema = schemas.nameSchema(nameOf(operationId, "Request"), schemas.toSchema(contract.body, "input"));
  const content = { "application/json": { schema, ...exampleOf(examples, operationId, "request") } };
  return { requestBody: { required: true, content } };
};

/** A stream has no schema of its own in OpenAPI 3.1: the schema is that of the data of each event, and the lines are shown in words. */
const successText = ({ operationId, contract }: NamedContract, examples: Examples): string => {
  const lines = examples[operationId]?.lines;
  if (lines === undefined) return contract.summary;
  return `${contract.summary}. The schema is that of each event's \`data\`; the stream begins like this:\n\n\`\`\`\n${lines.trimEnd()}\n\`\`\``;
};

const otherForm = ({ operationId, contract }: NamedContract, examples: Examples): Json =>
  contract.otherMediaType === undefined
    ? {}
    : {
        [contract.otherMediaType]: { schema: { type: "string" }, ...exampleOf(examples, operationId, "otherResponse") },
      };

const successOf = (one: NamedContract, { schemas, examples }: Parts): Json => {
  const { operationId, contract } = one;
  const schema = schemas.nameSchema(nameOf(operationId, "Response"), schemas.toSchema(contract.response, "output"));
  return {
    description: successText(one, examples),
    headers: {
      "x-request-id": { $ref: "#/components/headers/RequestId" },
      "RateLimit-Policy": { $ref: "#/components/headers/RateLimitPolicy" },
      RateLimit: { $ref: "#/components/headers/RateLimit" },
    },
    content: {
      [contract.mediaType ?? "application/json"]: { schema, ...exampleOf(examples, operationId, "response") },
      ...otherForm(one, examples),
    },
  };
};

const operationOf = (one: NamedContract, parts: Parts): Json => {
  const { schemas, errors } = parts;
  const { operationId, contract } = one;
  const parameters = [
    ...parametersOf(schemas, "path", contract.params),
    ...parametersOf(schemas, "query", contract.query),
    ...headerParameters(contract),
  ];
  return {
    operationId,
    summary: contract.summary,
    description: contract.description,
    tags: [contract.tag],
    security: SECURITY[contract.auth],
    ...(contract.scope === undefined ? {} : { "x-scope": contract.scope }),
    ...(contract.auth === "public" ? {} : { "x-roles": rolesOf(contract) }),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...requestOf(one, parts),
    responses: { [String(contract.status)]: successOf(one, parts), ...errors.of(one) },
    "x-error-codes": [...errorCodes(contract)].sort(),
  };
};

const INFO = {
  title: "Causeway",
  version: VERSION,
  description:
    "Wallets on many chains and one way to move money over them. Amounts are decimal strings in units of the token. The API answers its own origin alone: no CORS headers are sent, so browsers call it from the dashboard and other programs from anywhere.",
  license: { name: "Apache-2.0", identifier: "Apache-2.0" },
};

/** The description of the service (OpenAPI 3.1), made from the contracts and the recorded examples. */
export const openApiDocument = (contracts: readonly NamedContract[], examples: Examples = EXAMPLES): Json => {
  const schemas = createSchemas();
  schemas.toSchema(errorBody, "output");
  const errors = createErrorResponses();
  const paths: Record<string, Json> = {};
  for (const one of contracts) {
    const { path, method } = one.contract;
    paths[path] = { ...paths[path], [method.toLowerCase()]: operationOf(one, { schemas, errors, examples }) };
  }
  const webhooks = webhooksOf(schemas.toSchema, examples);
  return {
    openapi: "3.1.0",
    info: INFO,
    servers: [{ url: "/api", description: "This installation" }],
    tags: Object.entries(TAG_DESCRIPTIONS).map(([name, description]) => ({ name, description })),
    paths,
    webhooks,
    components: componentsOf({ schemas: schemas.named, responses: errors.shared, examples: errors.examples }),
  };
};
