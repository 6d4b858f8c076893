import { z } from "zod";
import { address, amount, chainId, hex, timestamp, tokenRef } from "./common";
import { defineContract } from "./contract";

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
