import { permissionGuard } from "@/lib/core/permissions";
import { tracedService } from "@/lib/core/tracing";
import { sqlOn } from "@/lib/platform/db/sql";
import { createAccountChanges } from "@/lib/books/global-accounts/account-changes";
import { createGlobalAccountsService } from "@/lib/books/global-accounts/service";
import { inTransitOf, openPayoutTotals } from "@/lib/money/payouts/service";
import * as rights from "./caller-rights";
import type { Identity } from "./identity";
import type { Money } from "./money";
import type { Platform } from "./platform";

export const buildGlobalAccounts = (
  { database, clock }: Pick<Platform, "database" | "clock">,
  money: Money,
  { approvals }: Pick<Identity, "approvals">,
) => {
  const { ledger } = money;
  const accounts = createGlobalAccountsService({
    ...money,
    openPayouts: (projectId, accountId) =>
      openPayoutTotals(sqlOn(database.pool), projectId, accountId),
    clock,
  });
  const changes = createAccountChanges({
    database,
    ledger,
    accounts,
    approvals,
    inTransit: inTransitOf,
    clock,
  });
  return {
    globalAccounts: tracedService(
      "globalAccounts",
      permissionGuard(accounts, rights.GLOBAL_ACCOUNTS),
    ),
    accountChanges: tracedService(
      "accountChanges",
      permissionGuard(changes, rights.ACCOUNT_CHANGES),
    ),
  };
};
