import { WEBHOOK_PAYLOADS } from "@/lib/contracts/webhook-payloads";
import {
  createErrorResponses,
  errorCodes,
  exampleOf,
  type Examples,
  EXAMPLES,
} from "./openapi-errors";
import {
  createSchemas,
  HEADER_COMPONENTS,
  type Json,
  NOT_MODIFIED_HEADERS,
  successHeaders,
  type ToSchema,
} from "./openapi-schemas";
import { FRESHNESS_HEADER } from "@/lib/core/fresh-cache";
import type { z } from "zod";
import { errorBody } from "@/lib/contracts/error-body";
import type { NamedContract } from "@/lib/contracts/all";
import type { Contract } from "@/lib/contracts/contract";
import { strict } from "@/lib/contracts/strict";
import { type Role, ROLES } from "@/lib/core/actor";
import { PERMISSIONS } from "@/lib/core/permissions";
import { isTagged } from "./conditional";
import { isIdempotent } from "./idempotency";

/** Groups of operations, in the order in which a reader needs them. */
const TAG_DESCRIPTIONS: Readonly<Record<string, string>> = {
  "Sign-in": "Sign in with a wallet (EIP-4361) and get access tokens.",
  Profile:
    "The signed-in person: e-mail address, sessions, second factors and sponsored network fees.",
  "API keys": "Keys for programs: scopes, caps, recipients.",
  Projects: "The project: who did what.",
  Members: "Projects, the people in them, their roles, and invitations by mail.",
  Policies:
    "What bounds the project's money: caps, recipients, chains, hours, codes and approvals.",
  Approvals:
    "Payments that several people of the project decide, and the inbox of what waits for a person.",
  Notifications:
    "What a person is told of, in the dashboard and by mail, and the stream of changes of the project.",
  Wallets: "Treasury, smart accounts and linked wallets.",
  "Chains and tokens": "What the installation is configured for.",
  Balances: "Balances over all chains and wallets.",
  Swaps: "Quote, code, prepare, execute: from up to ten sources to one destination.",
  Transfers: "One token from one wallet to an address, on one chain or across two.",
  Deposits: "Money that came in from outside: who sent it, its screening, and the quarantine.",
  Operations: "Everything that moves money, and where the money is.",
  Payouts: "Up to 10,000 rows at once, to wallets or to ledger accounts; schedules.",
  "Global accounts": "Double-entry ledger accounts for customers.",
  Reserves: "What backs the ledger accounts, with a proof.",
  Exports: "Files of any length, written in the background and kept for 7 days.",
  Privacy: "Private balances in pools: deposits, transfers, swaps, withdrawals.",
  "Address book": "Names for addresses.",
  Webhooks: "Endpoints that get the project's events, and the events themselves.",
  Callbacks: "Called by providers, not by users of the API.",
  System: "Health, metrics and this description.",
  Development: "Local chains and mail; answers 404 in production.",
};

const HEADERS = [
  {
    parameter: "WebhookId",
    name: "webhook-id",
    description:
      "Id of the event; the same for each attempt, resend and replay. Ignore ids that were handled before.",
    schema: { type: "string", examples: ["evt_01980000-0000-7000-8000-000000000000"] },
  },
  {
    parameter: "WebhookTimestamp",
    name: "webhook-timestamp",
    description:
      "When the request was signed, in seconds since 1970. Refuse times that are more than five minutes away from your clock.",
    schema: { type: "string", pattern: "^[0-9]+$", examples: ["1767225600"] },
  },
  {
    parameter: "WebhookSignature",
    name: "webhook-signature",
    description:
      "Signatures separated by spaces, each `v1,` and the base64 of the HMAC-SHA256 over `webhook-id.webhook-timestamp.body` (Standard Webhooks). The key is what follows `whsec_` in the endpoint's secret, decoded from base64. One right signature is enough.",
    schema: {
      type: "string",
      pattern: "^v1,",
      examples: ["v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4="],
    },
  },
] as const;

/** Header parameters of each outbound webhook (Standard Webhooks 1.0). */
const webhookParameters: Json = Object.fromEntries(
  HEADERS.map(({ parameter, ...header }): [string, Json] => [
    parameter,
    { ...header, in: "header", required: true },
  ]),
);

const camel = (type: string): string =>
  type.replaceAll(/[._](\w)/g, (_all, letter: string) => letter.toUpperCase());

const webhooksOf = (toSchema: ToSchema, examples: Examples): Json =>
  Object.fromEntries(
    [...WEBHOOK_PAYLOADS].map(([type, payload]) => [
      type,
      {
        post: {
          operationId: `on${camel(`.${type}`)}`,
          summary: `Sent for ${type}`,
          description:
            "Sent to each endpoint whose `events` name the type. Verify the signature over the bytes of the body, answer with a 2xx status within 15 seconds, and do slow work afterwards. Other answers are tried again for about three days; 410 disables the endpoint.",
          tags: ["Webhooks"],
          security: [],
          parameters: HEADERS.map(({ parameter }) => ({
            $ref: `#/components/parameters/${parameter}`,
          })),
          requestBody: {
            required: true,
            description: `The event ${type}`,
            content: {
              "application/json": {
                schema: toSchema(payload, "answer"),
                ...exampleOf(examples, type, "request"),
              },
            },
          },
          responses: {
            "2XX": { description: "The receiver has taken the event." },
            "4XX": {
              description:
                "The receiver has not taken the event; it is sent again. 410 disables the endpoint.",
            },
          },
        },
      },
    ]),
  );

const securitySchemes: Json = {
  apiKey: {
    type: "apiKey",
    in: "header",
    name: "x-api-key",
    description: "A key of the project (POST /auth/api-keys). Its scopes say what it may do.",
  },
  bearer: {
    type: "http",
    scheme: "bearer",
    bearerFormat: "JWT",
    description:
      "The access token of a signed-in person (POST /auth/token), valid for one hour.",
  },
};

const parameters: Json = {
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
      "1–255 printable characters. The same key and JSON value within 24 h get the first answer again, with `Idempotent-Replayed: true`. A refusal is not kept: the same key is decided anew.",
    schema: { type: "string", minLength: 1, maxLength: 255 },
  },
  IfNoneMatch: {
    name: "If-None-Match",
    in: "header",
    required: false,
    description:
      "The `ETag` of the answer that you have; 304 without a body says that it is still the same.",
    schema: { type: "string" },
  },
  Freshness: {
    name: FRESHNESS_HEADER,
    in: "header",
    required: false,
    description:
      "The header of that name from the answer to your last change: this answer is then not older than the change.",
    schema: { type: "string" },
  },
  LastEventId: {
    name: "Last-Event-ID",
    in: "header",
    required: false,
    description: "The `seq` of the last event that you have; the stream goes on after it.",
    schema: { type: "string" },
  },
  ...webhookParameters,
};

const sorted = (entries: ReadonlyMap<string, Json>): Json =>
  Object.fromEntries([...entries].sort(([a], [b]) => a.localeCompare(b)));

interface Named {
  readonly schemas: ReadonlyMap<string, Json>;
  readonly responses: ReadonlyMap<string, Json>;
  readonly examples: ReadonlyMap<string, Json>;
}

const componentsOf = ({ schemas, responses, examples }: Named): Json => ({
  securitySchemes,
  responses: sorted(responses),
  schemas: sorted(schemas),
  parameters,
  headers: HEADER_COMPONENTS,
  examples: sorted(examples),
});

/** Version of the interface description and of the service. */
export const VERSION = "1.0.0";

const SECURITY = {
  public: [],
  user: [{ bearer: [] }],
  member: [{ apiKey: [] }, { bearer: [] }],
} as const satisfies Record<Contract["auth"], unknown>;

const rolesOf = ({ permission }: Contract): readonly Role[] =>
  permission === undefined ? ROLES : PERMISSIONS[permission];

type Schemas = ReturnType<typeof createSchemas>;

interface Parts {
  readonly schemas: Schemas;
  readonly examples: Examples;
  readonly errors: ReturnType<typeof createErrorResponses>;
}

/**
 * A parameter's own description, or the description of the named schema to which the parameter
 * refers.
 */
const descriptionOf = ({ named }: Schemas, property: Json): unknown => {
  if (property.description !== undefined || typeof property.$ref !== "string")
    return property.description;
  return named.get(property.$ref.split("/").at(-1) ?? "")?.description;
};

const parametersOf = (
  schemas: Schemas,
  place: "path" | "query",
  schema: z.ZodType | undefined,
): Json[] => {
  if (schema === undefined) return [];
  const { properties = {}, required = [] } = schemas.toSchema(schema, "parameters") as {
    properties?: Record<string, Json>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, property]) => ({
    name,
    in: place,
    required: place === "path" || required.includes(name),
    description: descriptionOf(schemas, property),
    // The parameter has the description, so its schema does not repeat it.
    schema: Object.fromEntries(
      Object.entries(property).filter(([key]) => key !== "description"),
    ),
  }));
};

const headerParameters = (contract: Contract): Json[] => [
  ...(contract.auth === "public" ? [] : [{ $ref: "#/components/parameters/ProjectId" }]),
  ...(isIdempotent(contract) ? [{ $ref: "#/components/parameters/IdempotencyKey" }] : []),
  ...(isTagged(contract) ? [{ $ref: "#/components/parameters/IfNoneMatch" }] : []),
  ...(contract.mayBeOld === true ? [{ $ref: "#/components/parameters/Freshness" }] : []),
  ...(contract.mediaType === "text/event-stream"
    ? [{ $ref: "#/components/parameters/LastEventId" }]
    : []),
];

const nameOf = (operationId: string, suffix: "Request" | "Response"): string =>
  `${operationId.charAt(0).toUpperCase()}${operationId.slice(1)}${suffix}`;

const requestOf = (
  { operationId, contract }: NamedContract,
  { schemas, examples }: Parts,
): Json => {
  if (contract.body === undefined) return {};
  const schema = schemas.nameSchema(
    nameOf(operationId, "Request"),
    schemas.toSchema(strict(contract.body), "body"),
  );
  const content = {
    "application/json": { schema, ...exampleOf(examples, operationId, "request") },
  };
  return { requestBody: { required: true, content } };
};

/**
 * Describes the success of an operation. For a stream, the text shows its first lines: OpenAPI 3.1
 * has no schema for streams, so the document gives only the schema of each event's data.
 */
const successText = ({ operationId, contract }: NamedContract, examples: Examples): string => {
  const lines = examples[operationId]?.lines;
  if (lines === undefined) return contract.summary;
  return `${contract.summary}. The schema is that of each event's \`data\`; the stream begins like this:\n\n\`\`\`\n${lines.trimEnd()}\n\`\`\``;
};

const successOf = (one: NamedContract, { schemas, examples }: Parts): Json => {
  const { operationId, contract } = one;
  const schema = schemas.nameSchema(
    nameOf(operationId, "Response"),
    schemas.toSchema(contract.response, "answer"),
  );
  return {
    description: successText(one, examples),
    headers: successHeaders(contract),
    content: {
      [contract.mediaType ?? "application/json"]: {
        schema,
        ...exampleOf(examples, operationId, "response"),
      },
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
    responses: {
      [String(contract.status)]: successOf(one, parts),
      ...(isTagged(contract) ? NOT_MODIFIED : {}),
      ...errors.of(one),
    },
    "x-error-codes": [...errorCodes(contract)].sort(),
  };
};

const NOT_MODIFIED: Json = {
  "304": {
    description:
      "The answer has the entity tag that `If-None-Match` names: the caller has it already. No body.",
    headers: NOT_MODIFIED_HEADERS,
  },
};

const INFO = {
  title: "Causeway",
  version: VERSION,
  description:
    "Wallets on many chains and one way to move money over them. Amounts are decimal strings in units of the token. A field or query parameter that an operation does not name is refused with 400 `unknown_parameter`, and so is a cursor of another list or of other filters with 400 `invalid_cursor`. The API answers its own origin alone: no CORS headers are sent, so browsers call it from the dashboard and other programs from anywhere.",
  license: { name: "Apache-2.0", identifier: "Apache-2.0" },
};

export const openApiDocument = (
  contracts: readonly NamedContract[],
  examples: Examples = EXAMPLES,
): Json => {
  const schemas = createSchemas();
  schemas.toSchema(errorBody, "answer");
  for (const { contract } of contracts) schemas.toSchema(contract.response, "answer");
  const webhooks = webhooksOf(schemas.toSchema, examples);
  const errors = createErrorResponses();
  const paths: Record<string, Json> = {};
  for (const one of contracts) {
    const { path, method } = one.contract;
    paths[path] = {
      ...paths[path],
      [method.toLowerCase()]: operationOf(one, { schemas, errors, examples }),
    };
  }
  return {
    openapi: "3.1.0",
    info: INFO,
    servers: [{ url: "/api", description: "This installation" }],
    tags: Object.entries(TAG_DESCRIPTIONS).map(([name, description]) => ({
      name,
      description,
    })),
    paths,
    webhooks,
    components: componentsOf({
      schemas: schemas.named,
      responses: errors.shared,
      examples: errors.examples,
    }),
  };
};
