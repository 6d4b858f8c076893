import { type Actor, actorName } from "@/lib/core/actor";
import type { Asset } from "@/lib/chain/assets";
import { DomainError } from "@/lib/core/errors";
import { formatAmount } from "@/lib/core/money";
import type { Token } from "@/lib/core/token";
import { doneBy, recordAuditOn } from "@/lib/news/audit/service";
import { recordEventsOn } from "@/lib/news/events/service";
import {
  LEDGER_DECIMALS,
  toDomainError,
  type LedgerService,
  type Outcome,
  type Posted,
  type Rejection,
} from "@/lib/books/ledger/service";
import type { ReservePosition, ReservesService } from "@/lib/books/reserves/service";

/** Sums for the asset in ledger units, at the time of the funding. */
export interface FundingReserves {
  readonly onChainBase: bigint;
  readonly liabilitiesMaxBase: bigint;
  readonly liabilitiesBase: bigint;
}

interface FundingDeps {
  readonly ledger: Pick<LedgerService, "together" | "liabilities">;
  readonly reserves: Pick<
    ReservesService,
    "backs" | "positionsOf" | "owedMeanwhile" | "liabilitiesMax"
  >;
}

/**
 * The wait in seconds that the error recommends when a chain did not answer (header Retry-After).
 */
const UNSEEN_RETRY_SECONDS = 5;

const units = (base: bigint): string => formatAmount(base, LEDGER_DECIMALS);

const chainsOf = (tokens: readonly Token[]): string =>
  [...new Set(tokens.map(({ chainId }) => chainId))].join(", ");

const shortOf = (
  deps: FundingDeps,
  asset: Asset,
  positions: readonly ReservePosition[],
): string => {
  const away = chainsOf(
    positions.filter(({ finalBase }) => finalBase === null).map(({ token }) => token),
  );
  const burnt = chainsOf(asset.tokens.filter((token) => !deps.reserves.backs(token)));
  return [
    ...(away === ""
      ? []
      : [`Nothing on the chains ${away} backs more accounts now, because they do not answer.`]),
    ...(burnt === ""
      ? []
      : [
          `Nothing on the chains ${burnt} counts: the treasury pays its network fees there with it.`,
        ]),
    "Fund the treasury first.",
  ].join(" ");
};

/**
 * Whether the funding was refused although the money on chains that do not answer would have been
 * enough.
 */
const isUnseen = (outcome: Outcome, unseenBase: bigint): boolean => {
  if (outcome.posted || outcome.rejection.code !== "insufficient_reserves") return false;
  const { missingBase } = outcome.rejection;
  return missingBase !== undefined && BigInt(missingBase) <= unseenBase;
};

const unseen = (positions: readonly ReservePosition[]): DomainError => {
  const chains = chainsOf(
    positions.filter(({ finalBase }) => finalBase === null).map(({ token }) => token),
  );
  const message = `Nothing on the chains ${chains} backs more accounts now, because they do not answer, and the other chains hold too little. Nothing was posted. Try again with the same key, or fund the treasury on another chain.`;
  return new DomainError("chain_unavailable", message, {
    retryAfterSeconds: UNSEEN_RETRY_SECONDS,
  });
};

const refused = (
  deps: FundingDeps,
  asset: Asset,
  positions: readonly ReservePosition[],
  rejection: Rejection,
): DomainError => {
  const error = toDomainError(rejection);
  return error.code === "insufficient_reserves"
    ? new DomainError(error.code, `${error.message} ${shortOf(deps, asset, positions)}`)
    : error;
};

/**
 * Posts the funding, with its audit row and event, if the reserves back it.
 * @throws DomainError `insufficient_reserves`; `chain_unavailable` when money on chains that do not
 * answer would have been enough
 */
export const postFunding = async (
  deps: FundingDeps,
  actor: Actor,
  funding: { accountId: string; asset: Asset; base: bigint; key: string },
): Promise<{ posted: Posted; reserves: FundingReserves }> => {
  const { projectId } = actor;
  const { asset } = funding;
  const positions = await deps.reserves.positionsOf(projectId, asset.tokens);
  const owedBase = await deps.reserves.owedMeanwhile(projectId, asset.assetId, positions);
  let reserved = { maxBase: 0n, onChainBase: 0n, unseenBase: 0n };
  const [outcome] = await deps.ledger.together({
    prepare: async (sql) => {
      reserved = await deps.reserves.liabilitiesMax(sql, positions, owedBase);
      return [
        {
          kind: "fund",
          projectId,
          to: funding.accountId,
          amountBase: funding.base,
          currency: asset.assetId,
          liabilitiesMaxBase: reserved.maxBase,
          key: funding.key,
          // Includes the caller, so that two callers may use the same idempotency key.
          scope: `fund:${funding.accountId}:${actorName(actor)}`,
          by: actorName(actor),
        },
      ];
    },
    also: async (sql, [decided]) => {
      if (decided === undefined) return;
      // Throws inside the ledger's transaction, so that no outcome is stored and a later request
      // with the same key is decided again.
      if (isUnseen(decided, reserved.unseenBase)) throw unseen(positions);
      if (!decided.posted) throw refused(deps, asset, positions, decided.rejection);
      const { accountId, base } = funding;
      const { transactionId, at } = decided;
      const data = { amount: units(base), currency: asset.assetId, transactionId };
      await recordAuditOn(sql, {
        ...doneBy(actor),
        action: "global_account.funded",
        subject: accountId,
        data,
        at,
      });
      const event = { accountId, ...data, currency: asset.symbol, assetId: asset.assetId };
      await recordEventsOn(sql, [
        { projectId, type: "global_account.funded", objectId: accountId, data: event, at },
      ]);
    },
  });
  if (outcome === undefined) throw new Error("The ledger did not answer.");
  if (!outcome.posted) throw refused(deps, asset, positions, outcome.rejection);
  const liabilitiesBase = (await deps.ledger.liabilities(projectId)).get(asset.assetId) ?? 0n;
  const { onChainBase, maxBase: liabilitiesMaxBase } = reserved;
  return { posted: outcome, reserves: { onChainBase, liabilitiesMaxBase, liabilitiesBase } };
};
