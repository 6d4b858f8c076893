/** The movement that the policies decide on when an operation is accepted. */
import type { Actor } from "@/lib/core/actor";
import { routeIntent, type Intent, type Outflow } from "@/lib/modules/policies/service";
import type { Quote, SourceWallet } from "@/lib/modules/quotes/service";
import type { RouteRequest } from "@/lib/ports/routing";

interface Accepted {
  readonly quote: Pick<Quote, "kind" | "createdBy">;
  readonly request: RouteRequest;
  readonly wallets: readonly SourceWallet[];
  readonly isCovered?: boolean;
}

/** The fields of POST /payouts/bulk/wallets, for money that is brought from other chains. */
const FUNDING_FIELDS: Intent["fields"] = {
  amount: "transfers",
  recipient: "transfers",
  chain: "fundFrom",
  token: "fundFrom",
};

/**
 * The amounts of an operation that a payout covers count with that payout, except in the policies of the other wallets that it takes money
 * from.
 */
export const intentOf = (actor: Actor, { quote, request, wallets, isCovered = false }: Accepted): Intent => {
  const intent = routeIntent(actor, { kind: quote.kind, request, wallets, createdBy: quote.createdBy });
  if (!isCovered) return intent;
  const payer = request.destination.recipient.toLowerCase();
  const outflows = intent.outflows.map((outflow, index): Outflow => {
    const isPayer = request.sources[index]?.owner.toLowerCase() === payer;
    return { ...outflow, countsIn: isPayer ? "none" : "wallet" };
  });
  return { ...intent, kind: "payout_funding", outflows, fields: FUNDING_FIELDS };
};
