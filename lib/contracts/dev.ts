import { z } from "zod";
import { address, amount, chainId, hex, timestamp, tokenRef } from "./common";
import { BODY_BYTES_MAX, defineContract } from "./contract";

const tag = "Development";

export const useFaucet = defineContract({
  method: "POST",
  path: "/dev/faucet",
  summary: "Gives tokens on a local chain",
  tag,
  auth: "member",
  body: z.object({ address, chainId, token: tokenRef, amount }),
  status: 201,
  response: z.object({ txHash: hex }),
  errors: ["not_found", "unsupported_chain", "unsupported_token", "amount_precision"],
});

export const readInbox = defineContract({
  method: "GET",
  path: "/dev/inbox",
  summary: "Mail that the development mailer caught, newest first",
  tag,
  auth: "public",
  query: z.object({ to: z.string().max(254).optional(), limit: z.coerce.number().int().min(1).max(100).default(20) }),
  status: 200,
  response: z.object({
    data: z.array(
      z.object({
        id: z.string(),
        to: z.string(),
        subject: z.string(),
        text: z.string(),
        code: z.string().optional(),
        createdAt: timestamp,
      }),
    ),
  }),
  errors: ["not_found"],
});

const SIGNATURE_STATES = ["valid", "invalid", "too_old", "missing"] as const;

export const receiveWebhook = defineContract({
  method: "POST",
  path: "/dev/webhook-receiver/{token}",
  summary: "Takes webhooks that were sent to the project's receiver, and shows them on the page /dev/webhooks",
  tag,
  auth: "public",
  params: z.object({ token: z.string().max(200) }),
  body: z.record(z.string(), z.unknown()),
  bodyLimit: BODY_BYTES_MAX.webhook,
  status: 200,
  response: z.object({ received: z.literal(true) }),
  errors: ["not_found"],
});

export const readWebhookReceiver = defineContract({
  method: "GET",
  path: "/dev/webhook-receiver",
  summary:
    "The project's receiver of webhooks: its URL, the endpoints that send there, and the last 50 requests, newest first",
  tag,
  // Bodies may be of private movements, which people of the project see and API keys not always.
  auth: "user",
  status: 200,
  response: z.object({
    url: z.string(),
    endpointIds: z.array(z.string()),
    data: z.array(
      z.object({
        id: z.int(),
        receivedAt: timestamp,
        headers: z.record(z.string(), z.string()),
        body: z.string(),
        signature: z
          .enum(SIGNATURE_STATES)
          .meta({ description: "Checked with the secrets of the endpoints that send there now" }),
      }),
    ),
  }),
  errors: ["not_found"],
});
