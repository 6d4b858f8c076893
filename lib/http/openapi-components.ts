import type { Json } from "./openapi-schemas";
import { webhookParameters } from "./openapi-webhooks";

const header = (description: string, example: string): Json => ({
  description,
  schema: { type: "string", examples: [example] },
});

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
    description: "The access token of a signed-in person (POST /auth/token), valid for one hour.",
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
      "1–255 printable characters. The same key and body within 24 h get the first answer again, with `Idempotent-Replayed: true`.",
    schema: { type: "string", minLength: 1, maxLength: 255 },
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

const headers: Json = {
  RequestId: header("Names the request in the service's logs", "req_01980000-0000-7000-8000-000000000000"),
  RateLimitPolicy: header("Limits in force (draft-ietf-httpapi-ratelimit-headers)", '"key";q=600;w=60'),
  RateLimit: header("What is left of the limits", '"key";r=599;t=60'),
};

const sorted = (entries: ReadonlyMap<string, Json>): Json =>
  Object.fromEntries([...entries].sort(([a], [b]) => a.localeCompare(b)));

interface Named {
  readonly schemas: ReadonlyMap<string, Json>;
  readonly responses: ReadonlyMap<string, Json>;
  readonly examples: ReadonlyMap<string, Json>;
}

/** The components that all operations share, and those that were named while the operations were described. */
export const componentsOf = ({ schemas, responses, examples }: Named): Json => ({
  securitySchemes,
  responses: sorted(responses),
  schemas: sorted(schemas),
  parameters,
  headers,
  examples: sorted(examples),
});
