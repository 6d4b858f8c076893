import { chainCall, type ChainRegistry } from "@/lib/chain/registry";
import { suggestFees } from "@/lib/chain/fees";
import type { Clock } from "@/lib/core/clock";
import type { Database } from "@/lib/platform/db/client";
import { sqlOn } from "@/lib/platform/db/sql";
import type { EvmAddress } from "@/lib/core/evm";
import type { SentTransaction, TransactionSender } from "@/lib/chain/ports/transactions";
import { type AnchoredSeal, decodeAnchor, encodeAnchor } from "./rules";
import { ANCHORED, insertAnchor, newestAnchor } from "./anchor-repository";
import { newestSeal } from "./chain-repository";
import type { Anchor } from "./rows";
import { recordAudit } from "./service";

export interface AuditAnchoring {
  /**
   * Sends the newest seal of the day to the chain, once a day over all instances, and stores
   * earlier anchors that are now final. Safe to call at any time.
   * @throws DomainError `chain_unavailable`, `provider_error` when the executor cannot pay; the
   * next call tries again
   */
  anchorWhenDue(): Promise<void>;
}

export interface AuditAnchoringDeps {
  readonly database: Pick<Database, "pool" | "transaction">;
  readonly transactions: Pick<TransactionSender, "chooseKey" | "send" | "find">;
  readonly registry: ChainRegistry;
  readonly clock: Clock;
  readonly chainId: number;
  /**
   * The service's first executor. Anchors are sent to its address, so that a block explorer lists
   * them together.
   */
  readonly executorAddress: EvmAddress;
}

const DAY_MS = 24 * 60 * 60_000;
/**
 * Maximum age in days of an anchor that is not final yet. Older ones are no longer searched for.
 */
const DAYS_MAX = 30;
/**
 * The gas limit as a percentage of the estimate. The estimate is exact for a transfer, but a chain
 * may price the data slightly higher in the next block.
 */
const GAS_PERCENT = 130n;

const dayOf = (at: Date): string => at.toISOString().slice(0, "2026-11-29".length);

/**
 * The purpose of the transaction that anchors a day's seal. Purposes are unique on a chain, so each
 * day has at most one anchor.
 */
const purposeOf = (day: string): string => `audit-anchor:${day}`;

/**
 * The UTC days after `last`, up to the day of `now`, oldest first; at most the newest `DAYS_MAX`.
 */
const daysAfter = (last: string | null, now: Date): readonly string[] =>
  Array.from({ length: DAYS_MAX }, (_, index) =>
    dayOf(new Date(now.getTime() - index * DAY_MS)),
  )
    .filter((day) => last === null || day > last)
    .reverse();

export const createAuditAnchoring = (deps: AuditAnchoringDeps): AuditAnchoring => {
  const { database, transactions, registry, clock, chainId, executorAddress } = deps;
  const sql = sqlOn(database.pool);

  const send = async (day: string, seal: AnchoredSeal): Promise<void> => {
    const data = encodeAnchor(seal);
    const client = registry.client(chainId);
    const call = { account: executorAddress, to: executorAddress, data, value: 0n };
    const [estimate, { maxFeePerGas, maxPriorityFeePerGas }] = await chainCall(chainId, () =>
      Promise.all([client.estimateGas(call), suggestFees(client)]),
    );
    const gas = (estimate * GAS_PERCENT) / 100n;
    const { keyId } = await transactions.chooseKey({
      chainId,
      to: executorAddress,
      costWei: gas * maxFeePerGas,
    });
    const fees = { maxFeePerGas, maxPriorityFeePerGas };
    await transactions.send({
      chainId,
      keyId,
      purpose: purposeOf(day),
      to: executorAddress,
      data,
      value: 0n,
      gas,
      fees,
    });
  };

  const read = async (day: string, hash: `0x${string}`): Promise<Anchor> => {
    const client = registry.client(chainId);
    const { input, blockNumber } = await chainCall(chainId, () =>
      client.getTransaction({ hash }),
    );
    const seal = decodeAnchor(input);
    if (seal === null) throw new Error(`The transaction ${hash} is no anchor.`);
    const { timestamp } = await chainCall(chainId, () => client.getBlock({ blockNumber }));
    const blockAt = new Date(Number(timestamp) * 1000);
    return { chainId, day, sealNumber: seal.number, txHash: hash, blockNumber, blockAt };
  };

  /**
   * Stores the anchor with an entry of the audit log, so that the removal of either is detected.
   */
  const store = (anchor: Anchor): Promise<void> =>
    database.transaction(async (tx) => {
      const at = clock.now();
      if (!(await insertAnchor(tx, anchor, at))) return;
      await recordAudit(tx, {
        projectId: null,
        actor: "system",
        action: ANCHORED,
        subject: anchor.txHash,
        data: {
          day: anchor.day,
          chainId,
          seal: anchor.sealNumber,
          block: anchor.blockNumber.toString(),
        },
        request: null,
        at,
      });
    });

  const storeFinal = async (
    day: string,
    { status, minedHash }: SentTransaction,
  ): Promise<void> => {
    if (status === "final" && minedHash !== null) await store(await read(day, minedHash));
  };

  return {
    anchorWhenDue: async () => {
      const now = clock.now();
      const last = await newestAnchor(sql, chainId);
      let isSentToday = last !== null && last.day >= dayOf(now);
      for (const day of daysAfter(last?.day ?? null, now)) {
        const sent = await transactions.find(chainId, purposeOf(day));
        if (sent === null) continue;
        await storeFinal(day, sent);
        isSentToday ||= day === dayOf(now);
      }
      if (isSentToday) return;
      const seal = await newestSeal(sql);
      if (seal !== null) await send(dayOf(now), seal);
    },
  };
};
