import { z } from "zod";
import { address, amount, chainId, hex, jsonObject, timestamp, tokenRef } from "./common";
import { BODY_BYTES_MAX, defineContract } from "./contract";

const tag = "Development";

export const useFaucet = defineContract({
  method: "POST",
  path: "/dev/faucet",
  summary: "Gives tokens on a local chain",
  description:
    "Development only: gives coins or tokens of a local chain to any address. They have no value. Each call gives again.",
  tag,
  auth: "member",
  permission: "records:write",
  body: z.object({
    address,
    chainId,
    token: tokenRef.meta({ description: "The token to give" }),
    amount,
  }),
  status: 201,
  response: z.object({ txHash: hex.meta({ description: "Transaction that gave the tokens" }) }),
  errors: [
    "not_found",
    "unsupported_chain",
    "unsupported_token",
    "amount_precision",
    "chain_unavailable",
  ],
});

export const readInbox = defineContract({
  method: "GET",
  path: "/dev/inbox",
  summary: "Mail that the development mailer caught, newest first",
  description:
    "Development only: the mails that the service would send, with one-time codes. Answers 404 in production.",
  tag,
  auth: "public",
  query: z.object({
    to: z.string().max(254).optional().meta({ description: "Only mail to this address" }),
    limit: z.coerce
      .number()
      .int()
      .min(1)
      .max(100)
      .default(20)
      .meta({ description: "Mails at most, 1–100" }),
  }),
  status: 200,
  response: z.object({
    data: z
      .array(
        z.object({
          id: z.string().meta({ description: "Id of the mail" }),
          to: z.string().meta({ description: "Recipient" }),
          subject: z.string().meta({ description: "Subject line" }),
          text: z.string().meta({ description: "Plain text" }),
          code: z
            .string()
            .optional()
            .meta({ description: "The one-time code in the text, where it has one" }),
          createdAt: timestamp.meta({ description: "When it was sent" }),
        }),
      )
      .meta({ description: "Mails, newest first" }),
  }),
  errors: ["forbidden", "not_found"],
});

const SIGNATURE_STATES = ["valid", "invalid", "too_old", "missing"] as const;

export const receiveWebhook = defineContract({
  method: "POST",
  path: "/dev/webhook-receiver/{token}",
  summary:
    "Takes webhooks that were sent to the project's receiver, and shows them on the page /dev/webhooks",
  description:
    "Development only: an endpoint that accepts webhooks for testing. The token in the path names the project. Answers 404 in production.",
  tag,
  auth: "public",
  params: z.object({
    token: z
      .string()
      .max(200)
      .meta({ description: "Names the project; it is a part of the receiver's URL" }),
  }),
  query: z.looseObject({}),
  body: jsonObject,
  bodyLimit: BODY_BYTES_MAX.webhook,
  status: 200,
  response: z.object({ received: z.literal(true).meta({ description: "Always true" }) }),
  errors: ["forbidden", "not_found"],
});

export const readWebhookReceiver = defineContract({
  method: "GET",
  path: "/dev/webhook-receiver",
  summary:
    "The project's receiver of webhooks: its URL, the endpoints that send there, and the last 50 requests, newest first",
  description:
    "Development only: shows what was delivered to the project's receiver and whether its signature is right. Answers 404 in production.",
  tag,
  // Bodies may contain private movements, which people of the project may see. API keys would need
  // a scope.
  auth: "user",
  status: 200,
  response: z.object({
    url: z.string().meta({ description: "Where to send webhooks to" }),
    endpointIds: z
      .array(z.string())
      .meta({ description: "Endpoints of the project that send there" }),
    data: z
      .array(
        z.object({
          id: z.int().meta({ description: "Counts up with each request" }),
          receivedAt: timestamp.meta({ description: "When it came" }),
          headers: z
            .record(z.string(), z.string())
            .meta({ description: "Headers of the request" }),
          body: z.string().meta({ description: "The body as it came" }),
          signature: z.enum(SIGNATURE_STATES).meta({
            description: "Checked with the secrets of the endpoints that send there now",
          }),
        }),
      )
      .meta({ description: "Requests that came, newest first, 50 at most" }),
  }),
  errors: ["not_found"],
});
