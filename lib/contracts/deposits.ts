import { z } from "zod";
import { APPROVAL_ERRORS, givenApproval } from "./approvals";
import {
  address,
  chainId,
  chainIds,
  id,
  idsOf,
  listOf,
  page,
  pageQuery,
  timestamp,
  tokenAmount,
} from "./common";
import { defineContract } from "./contract";
import { depositRecord, depositStates } from "./deposit-records";

const tag = "Deposits";
const params = z.object({ id: id("op").meta({ description: "Id in the path" }) });

export const listDeposits = defineContract({
  method: "GET",
  path: "/deposits",
  summary: "Deposits of the project, newest first",
  description:
    "Money that came into the project's wallets from outside. Filter by state, chain, wallet and time; read further pages with `cursor`. Deposits below the floor of their token are summed at GET /deposits/dust. Changes nothing.",
  tag,
  auth: "member",
  scope: "operations:read",
  query: pageQuery.extend({
    state: listOf(depositStates)
      .optional()
      .meta({ description: "Only these states, separated by commas" }),
    chainId: chainIds
      .optional()
      .meta({ description: "Only on these chains, separated by commas" }),
    walletId: idsOf("wal")
      .optional()
      .meta({ description: "Only into these wallets, separated by commas" }),
    from: timestamp.optional().meta({ description: "Seen at or after" }),
    to: timestamp.optional().meta({ description: "Seen before" }),
  }),
  status: 200,
  response: page(depositRecord),
});

export const getDeposit = defineContract({
  method: "GET",
  path: "/deposits/{id}",
  summary: "One deposit: who sent it, its confirmations, its screening and how it stands",
  description:
    "Money that came into a wallet from outside. Its id is that of its operation, so GET /operations/{id} shows it too. Changes nothing.",
  tag,
  auth: "member",
  scope: "operations:read",
  params,
  status: 200,
  response: depositRecord,
  errors: ["not_found"],
});

export const listDust = defineContract({
  method: "GET",
  path: "/deposits/dust",
  summary:
    "Deposits that are too small to be listed one by one: their number and sum for each wallet, chain and token",
  description:
    "A transfer below the floor of its token (`dustFloor` of the chain's file; by default 0.01 US dollars) has no operation, no event and no mail: it is counted here. The money is in the wallet and in its balances all the same. The newest first, 1,000 lines at most.",
  tag,
  auth: "member",
  scope: "operations:read",
  status: 200,
  response: z.object({
    data: z
      .array(
        z
          .object({
            walletId: id("wal").meta({ description: "The wallet that they came into" }),
            walletAddress: address.meta({ description: "Address of that wallet" }),
            chainId,
            count: z.int().meta({ description: "How many came" }),
            total: tokenAmount.meta({ description: "How much came in all" }),
            lastAt: timestamp.meta({ description: "When the last one was seen" }),
          })
          .meta({ id: "DepositDust" }),
      )
      .meta({ description: "A line for each wallet, chain and token" }),
  }),
});

export const streamDeposits = defineContract({
  method: "GET",
  path: "/deposits/events",
  summary:
    "Deposits of the project as they are seen and change, as a stream (server-sent events). At most 50 streams at once for each caller and 200 for each network address",
  description:
    "A stream of server-sent events, each with a whole deposit: those that are not final yet first, then each change and each new confirmation. It does not end by itself; reconnect when it stops. GET /deposits lists those that the stream missed.",
  tag,
  auth: "member",
  scope: "operations:read",
  status: 200,
  response: depositRecord,
  mediaType: "text/event-stream",
  errors: ["rate_limited"],
});

export const releaseDeposit = defineContract({
  method: "POST",
  path: "/deposits/{id}/release",
  summary: "Releases a quarantined deposit; needs an approval (409 approval_required)",
  description:
    "Lets the money of a quarantined deposit be moved and count as reserves, for owners and admins. Answers 409 `approval_required` first; send it again with `approval`. The reason and the person are recorded. To return the money, release it and transfer it to the sender. Moves nothing itself.",
  tag,
  auth: "user",
  permission: "deposits:release",
  params,
  body: z.object({
    reason: z
      .string()
      .trim()
      .min(1)
      .max(500)
      .meta({ description: "Why it is released, for the audit log" }),
    approval: givenApproval.optional(),
  }),
  status: 200,
  response: depositRecord,
  errors: ["not_found", "forbidden", ...APPROVAL_ERRORS],
});
