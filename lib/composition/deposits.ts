import { createDepositsService } from "@/lib/money/deposits/service";
import type { Identity } from "./identity";
import type { Money } from "./money";
import type { Platform } from "./platform";

export const buildDeposits = (
  { database, registry, listener, ticker, clock }: Platform,
  { approvals }: Pick<Identity, "approvals">,
  { screening, prices }: Pick<Money, "screening" | "prices">,
) =>
  createDepositsService({
    database,
    registry,
    listener,
    ticker,
    clock,
    approvals,
    screening,
    prices,
  });
