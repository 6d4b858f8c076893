import { WEBHOOK_PAYLOADS } from "@/lib/contracts/webhook-payloads";
import { exampleOf, type Examples } from "./openapi-examples";
import type { Json, ToSchema } from "./openapi-schemas";

const HEADERS = [
  {
    parameter: "WebhookId",
    name: "webhook-id",
    description: "Id of the event; the same for each attempt, resend and replay. Ignore ids that were handled before.",
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
    schema: { type: "string", pattern: "^v1,", examples: ["v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4="] },
  },
] as const;

/** Header parameters that each outbound webhook has (Standard Webhooks 1.0). */
export const webhookParameters: Json = Object.fromEntries(
  HEADERS.map(({ parameter, ...header }): [string, Json] => [parameter, { ...header, in: "header", required: true }]),
);

const camel = (type: string): string => type.replaceAll(/[._](\w)/g, (_all, letter: string) => letter.toUpperCase());

/** The `webhooks` section of OpenAPI 3.1: one entry for each type of event. */
export const webhooksOf = (toSchema: ToSchema, examples: Examples): Json =>
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
          parameters: HEADERS.map(({ parameter }) => ({ $ref: `#/components/parameters/${parameter}` })),
          requestBody: {
            required: true,
            description: `The event ${type}`,
            content: {
              "application/json": { schema: toSchema(payload, "output"), ...exampleOf(examples, type, "request") },
            },
          },
          responses: {
            "2XX": { description: "The receiver has taken the event." },
            "4XX": {
              description: "The receiver has not taken the event; it is sent again. 410 disables the endpoint.",
            },
          },
        },
      },
    ]),
  );
