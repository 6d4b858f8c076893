import { z } from "zod";
import { amountOut, chainId, timestamp } from "./common";
import { defineContract } from "./contract";

export const INBOX_KINDS = [
  "decision",
  "operation",
  "payout",
  "schedule",
  "deposit",
  "contact",
  "refund",
  "doubt",
  "stopped_work",
  "failure",
] as const;

const movement = z
  .object({
    kind: z.string().meta({ description: "What it does, in words" }),
    amounts: z
      .array(
        z.object({
          amount: amountOut,
          symbol: z.string().meta({ description: "Symbol of the asset" }),
        }),
      )
      .meta({ description: "What leaves or arrived, one for each asset" }),
    chainId: chainId
      .nullable()
      .meta({ description: "Chain of the recipient; null where it is on none" }),
    recipient: z.string().nullable().meta({
      description: "Address that is paid; null where it is private, or where there are several",
    }),
    reference: z
      .string()
      .nullable()
      .meta({ description: "The name that the maker gave it; null without one" }),
  })
  .meta({ id: "InboxMovement" });

const inboxItem = z
  .object({
    kind: z.enum(INBOX_KINDS).meta({
      description:
        "`decision` needs votes; `operation`, `payout` and `schedule` need one person's code; `deposit` is in quarantine and waits for a release; `contact` waits for an approval, because a policy looks at approved contacts; `refund` is an operation whose refund the chains do not show for certain; `doubt` is a payout of which it is not known whether another operation paid it; `stopped_work` and `failure` need a look",
    }),
    id: z.string().meta({
      description: "Id of the request, operation, payout, schedule, deposit or contact",
    }),
    title: z.string().meta({ description: "What it is, in one line" }),
    toDo: z.string().meta({ description: "What the caller can do, in one sentence" }),
    mine: z.boolean().meta({ description: "Whether the caller may do it" }),
    by: z
      .string()
      .nullable()
      .meta({ description: "The person or API key that asked; null: the service" }),
    byName: z.string().nullable().meta({
      description:
        "Name for people: display name and verified e-mail address of the person, or else the wallet, or name of the key; null: the service",
    }),
    movement: movement.nullable().meta({
      description: "The movement that it is about; null where it is about something else",
    }),
    votes: z
      .object({
        approvals: z.int().meta({ description: "How many approvals count so far" }),
        required: z.int().meta({ description: "How many it needs" }),
      })
      .nullable()
      .meta({ description: "The votes so far; null where nobody votes on it" }),
    since: timestamp.meta({ description: "Since when it waits" }),
    until: timestamp.nullable().meta({ description: "When it ends by itself; null: it stays" }),
    path: z.string().meta({ description: "Its page in the dashboard" }),
  })
  .meta({ id: "InboxItem" });

export const readProjectInbox = defineContract({
  method: "GET",
  path: "/inbox",
  summary: "Everything of the project that waits for a person",
  description:
    "Payments that wait for votes or a code, deposits in quarantine, contacts that a policy wants approved, refunds and payments in doubt that need a decision, work that the service stopped, and payments that failed in the last seven days. What the caller may do stands first, then the newest. Changes nothing.",
  tag: "Approvals",
  auth: "user",
  status: 200,
  response: z.object({
    data: z.array(inboxItem).meta({ description: "The newest hundred of each kind at most" }),
  }),
});
