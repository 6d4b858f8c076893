import { actorName, type Actor } from "@/lib/core/actor";
import { addSeconds } from "@/lib/core/clock";
import { invalidRequest } from "@/lib/core/errors";
import { newId } from "@/lib/core/ids";
import { bpsOfCeil, formatAmount, parseAmount } from "@/lib/core/money";
import { grossForAddress, grossForNote } from "@/lib/core/privacy-fees";
import { toBigInt, toDecimal } from "@/lib/db/decimal";
import { doneBy } from "@/lib/modules/audit/service";
import type { PrivacyPool } from "@/lib/ports/privacy";
import type { EvmAddress } from "@/lib/ports/routing";
import { storedToken, toStored } from "@/lib/ports/routing-json";
import { planSpends, type PlannedSpend } from "./amounts";
import { digestOf, type PrivacyContext } from "./context";
import {
  belowMinimum,
  insufficientPrivate,
  noPrivateRoute,
  noProcessor,
  noteInUse,
  priceMoved,
  smallSet,
} from "./errors";
import type { Once } from "./once";
import { QUEUE, TakenError, type NewStep, type NewTransfer, type TransferRow } from "./repository";
import type { PrivacyWalletRow } from "./wallet-repository";

const APPROVAL_SECONDS = 24 * 3600;
const TRIES_MAX = 5;

export type SpendKind = "unshield" | "private_transfer" | "private_swap";

interface UsedQuote {
  readonly id: string;
  readonly walletId: string;
  readonly codeId: string | null;
}

/** What a private operation does, checked. */
export interface SpendAsked {
  readonly kind: SpendKind;
  readonly wallet: PrivacyWalletRow;
  readonly pool: PrivacyPool;
  readonly poolOut: PrivacyPool;
  /** What arrives; of a swap what leaves. */
  readonly amountBase: bigint;
  readonly toAddress: EvmAddress | null;
  readonly toWallet: PrivacyWalletRow | null;
  readonly swap: { readonly path: string; readonly minimumBase: bigint; readonly outBase: bigint } | null;
}

export interface SpendInput {
  readonly chainId: number;
  readonly token: string;
  readonly amount: string;
  readonly toAddress?: EvmAddress | undefined;
  readonly toPrivacyWalletId?: string | undefined;
  readonly privacyWalletId?: string | undefined;
  readonly acceptSmallSet?: boolean | undefined;
}

/** What the failed steps of an operation were to take out of notes, and to bring. */
export interface Missing {
  readonly withdrawBase: bigint;
  readonly outBase: bigint;
}

const stored = (id: string | null): string => {
  if (id === null) throw new Error("A private operation was not stored.");
  return id;
};

const needed = (
  gross: (net: bigint) => bigint,
  amountBase: bigint,
  notes: readonly { valueBase: bigint }[],
): bigint => {
  const missing = gross(amountBase) - notes.reduce((sum, { valueBase }) => sum + valueBase, 0n);
  return missing > 0n ? missing : 1n;
};

/** Takes notes out of pools: to addresses, to other private wallets, through a swap. */
export const createSpending = (context: PrivacyContext) => {
  const { repository, privateWallets, clock } = context;

  const grossOf = ({ kind, pool, toWallet }: SpendAsked) => {
    if (kind === "private_swap") return (net: bigint): bigint => net;
    return toWallet === null
      ? (net: bigint): bigint => grossForAddress(net, pool.relayFeeBps)
      : (net: bigint): bigint => grossForNote(net, pool);
  };

  /** Which notes are spent. @throws DomainError `insufficient_balance`, `small_anonymity_set` */
  const planOf = async (asked: SpendAsked): Promise<PlannedSpend[]> => {
    const { wallet, pool, amountBase, toWallet, kind } = asked;
    const held = await context.holdings(privateWallets.keyOf(wallet), pool.chainId);
    const used = await repository.notesInUse(wallet.projectId, pool.chainId);
    const notes = held.notes.filter(
      ({ state, token, id }) => state === "approved" && token.address === pool.token.address && !used.has(id),
    );
    const gross = grossOf(asked);
    const needsMinimum = toWallet !== null || kind === "private_swap";
    const plan = planSpends(notes, amountBase, { grossOf: gross, minimumBase: needsMinimum ? pool.minimumBase : 1n });
    if (plan === null) throw insufficientPrivate(pool.token, needed(gross, amountBase, notes));
    return plan;
  };

  const stepsOf = async (asked: SpendAsked): Promise<NewStep[]> => {
    const plan = await planOf(asked);
    const { toWallet, poolOut, swap, amountBase } = asked;
    const numbers =
      toWallet === null
        ? []
        : await context.freeNumbers(
            { projectId: toWallet.projectId, key: privateWallets.keyOf(toWallet), pool: poolOut },
            plan.length,
          );
    return plan.map(({ noteId, withdrawBase, outBase }, index) => ({
      noteId,
      withdrawBase,
      // A swap's minimum is shared out over its notes, rounded up: all together bring what was promised.
      outBase: swap === null ? outBase : (swap.minimumBase * outBase + amountBase - 1n) / amountBase,
      slot: toWallet === null ? null : { walletId: toWallet.id, pool: poolOut.address, number: numbers[index] ?? 0 },
    }));
  };

  /** With other notes or numbers where somebody was quicker. @throws DomainError `note_spent` */
  const again = async <T>(work: () => Promise<T>): Promise<T> => {
    for (let tries = 1; ; tries += 1) {
      try {
        return await work();
      } catch (error) {
        if (!(error instanceof TakenError)) throw error;
        if (tries === TRIES_MAX) throw noteInUse();
      }
    }
  };

  const operationOf = (
    actor: Actor,
    asked: SpendAsked,
    own: { id: string; operationId: string; grossBase: bigint; codeId: string | null; retryOf: string | null },
  ) => {
    const { pool, poolOut, amountBase, swap, toAddress, kind } = asked;
    return (runs: boolean) => ({
      id: own.operationId,
      projectId: actor.projectId,
      kind,
      queue: QUEUE,
      request: {
        sources: [{ owner: pool.address, token: pool.token, amountBase: own.grossBase }],
        destination: { token: poolOut.token, recipient: toAddress ?? poolOut.address },
        slippageBps: 0,
      },
      expectedBase: swap === null ? amountBase : swap.outBase,
      minimumBase: swap === null ? amountBase : swap.minimumBase,
      // Not the recipient: a search for an address finds no private operation.
      searchTerms: [`chain:${String(pool.chainId)}`, `token:${pool.token.symbol.toLowerCase()}`, own.id],
      createdBy: actorName(actor),
      approvalUntil: runs ? null : addSeconds(clock.now(), APPROVAL_SECONDS),
      retryOf: own.retryOf,
      audit: {
        ...doneBy(actor),
        action: runs ? "operation.executed" : "operation.requested",
        data: { kind, ...(runs ? { means: own.codeId === null ? "policy" : "code", codeId: own.codeId } : {}) },
      },
    });
  };

  const transferOf = (
    actor: Actor,
    asked: SpendAsked,
    own: { id: string; operationId: string },
    once: Once | null,
  ): NewTransfer => {
    const { kind, wallet, pool, poolOut, amountBase, toAddress, toWallet, swap } = asked;
    return {
      projectId: actor.projectId,
      ...own,
      kind,
      walletId: wallet.id,
      toWalletId: toWallet?.id ?? null,
      toAddress,
      chainId: pool.chainId,
      token: toStored(pool.token),
      tokenOut: toStored(poolOut.token),
      amountBase: toDecimal(amountBase),
      path: swap?.path ?? null,
      minimumBase: swap === null ? null : toDecimal(swap.minimumBase),
      digest: digestOf([
        kind,
        actor.projectId,
        wallet.id,
        pool.chainId,
        pool.address,
        poolOut.address,
        amountBase,
        toAddress,
        toWallet?.id,
        swap,
      ]),
      ...(once === null ? {} : { idempotencyKey: once.key, requestDigest: once.digest }),
      createdBy: actorName(actor),
      createdAt: clock.now(),
    };
  };

  /**
   * Stores the operation, which runs at once where the actor's policy allows it, or a code approved it before.
   * @returns the transfer's id; null when the quote was used already
   */
  const start = (
    actor: Actor,
    asked: SpendAsked,
    own: { once: Once | null; quote: UsedQuote | null; retryOf: string | null },
  ): Promise<string | null> =>
    again(async () => {
      const steps = await stepsOf(asked);
      const ids = { id: newId("transfer"), operationId: newId("operation") };
      const codeId = own.quote?.codeId ?? null;
      const grossBase = steps.reduce((sum, { withdrawBase }) => sum + withdrawBase, 0n);
      const admit =
        codeId === null ? await context.admission(actor, asked.pool.token, grossBase) : () => Promise.resolve(true);
      const input = {
        operation: operationOf(actor, asked, { ...ids, grossBase, codeId, retryOf: own.retryOf }),
        transfer: transferOf(actor, asked, ids, own.once),
        steps,
        quote: own.quote,
      };
      return (await repository.insert(input, admit, clock.now())) ? ids.id : null;
    });

  const requireSet = async (pool: PrivacyPool, wallet: PrivacyWalletRow, accepts: boolean): Promise<void> => {
    if (accepts || context.anonymitySetMin === 0) return;
    const { anonymitySet } = await context.holdings(privateWallets.keyOf(wallet), pool.chainId);
    const size = anonymitySet.get(pool.address) ?? 0;
    if (size < context.anonymitySetMin) throw smallSet(size, context.anonymitySetMin);
  };

  const resolve = async (actor: Actor, input: SpendInput, kind: SpendKind): Promise<SpendAsked> => {
    const pool = await context.poolOf(input.chainId, input.token, "token");
    const amountBase = parseAmount(input.amount, pool.token.decimals);
    if (kind !== "unshield" && amountBase < pool.minimumBase) throw belowMinimum(pool.token, pool.minimumBase);
    const wallet = await privateWallets.choose(actor, input.privacyWalletId);
    const { toPrivacyWalletId } = input;
    const toWallet =
      toPrivacyWalletId === undefined
        ? null
        : await privateWallets.find(actor.projectId, toPrivacyWalletId, "toPrivacyWalletId");
    if (toWallet !== null && !pool.mayProcess) throw noProcessor();
    if (toWallet?.id === wallet.id) {
      const message = "must be another private wallet than the one that pays";
      throw invalidRequest([{ path: "toPrivacyWalletId", message }]);
    }
    return { kind, wallet, pool, poolOut: pool, amountBase, toAddress: input.toAddress ?? null, toWallet, swap: null };
  };

  /** What was asked for, with the pools and wallets of now. */
  const askedOf = async (transfer: TransferRow): Promise<SpendAsked> => {
    const tokenOf = (json: unknown) => storedToken.parse(json).address;
    const [pool, poolOut] = await Promise.all([
      context.poolOf(transfer.chainId, tokenOf(transfer.token), "token"),
      context.poolOf(transfer.chainId, tokenOf(transfer.tokenOut), "token"),
    ]);
    const walletOf = (id: string) => privateWallets.find(transfer.projectId, id, "privacyWalletId");
    const { path, toWalletId } = transfer;
    const minimumBase = transfer.minimumBase === null ? null : toBigInt(transfer.minimumBase);
    return {
      kind: transfer.kind as SpendKind,
      wallet: await walletOf(transfer.walletId),
      pool,
      poolOut,
      amountBase: toBigInt(transfer.amountBase),
      toAddress: transfer.toAddress as EvmAddress | null,
      toWallet: toWalletId === null ? null : await walletOf(toWalletId),
      swap: path === null || minimumBase === null ? null : { path, minimumBase, outBase: minimumBase },
    };
  };

  /** The way of now, with the minimum that was promised. @throws DomainError `no_route`, `quote_price_moved` */
  const priced = async ({ pool, poolOut }: SpendAsked, missing: Missing): Promise<NonNullable<SpendAsked["swap"]>> => {
    const amountBase = missing.withdrawBase - bpsOfCeil(missing.withdrawBase, pool.relayFeeBps);
    const price = await context.engine.priceSwap({ from: pool.token, to: poolOut.token, amountBase });
    if (price === null) throw noPrivateRoute(pool.token, poolOut.token);
    if (price.outBase < missing.outBase) throw priceMoved();
    return { path: price.path, minimumBase: missing.outBase, outBase: price.outBase };
  };

  return {
    start,
    /** @throws DomainError `small_anonymity_set`, `insufficient_balance`, `unknown_pool`, `below_pool_minimum`, … */
    create: async (
      actor: Actor,
      kind: "unshield" | "private_transfer",
      input: SpendInput,
      once: Once | null,
    ): Promise<string> => {
      const asked = await resolve(actor, input, kind);
      if (kind === "private_transfer") await requireSet(asked.pool, asked.wallet, input.acceptSmallSet === true);
      const id = await start(actor, asked, { once, quote: null, retryOf: null });
      return stored(id);
    },

    /**
     * Pays what did not arrive, out of the notes of now; below a pool's minimum too, because the whole was not.
     * @param missing what its failed steps were to bring, and of a swap what they were to sell
     */
    retry: async (actor: Actor, transfer: TransferRow, missing: Missing): Promise<string> => {
      const asked = await askedOf(transfer);
      const swap = asked.swap === null ? null : await priced(asked, missing);
      const amountBase = swap === null ? missing.outBase : missing.withdrawBase;
      return stored(
        await start(actor, { ...asked, amountBase, swap }, { once: null, quote: null, retryOf: transfer.operationId }),
      );
    },

    /** Lets an operation run that awaited approval, with the notes of now. False when it awaits approval no more. */
    approve: (actor: Actor, transfer: TransferRow, codeId: string): Promise<boolean> =>
      again(async () => {
        const asked = await askedOf(transfer);
        const steps = await stepsOf(asked);
        const audit = {
          ...doneBy(actor),
          action: "operation.approved",
          data: { kind: transfer.kind, means: "code", codeId },
        };
        return repository.approve(transfer, steps, audit, clock.now());
      }),

    lines: (transfer: TransferRow): string[] => {
      const [token, tokenOut] = [storedToken.parse(transfer.token), storedToken.parse(transfer.tokenOut)];
      const amount = `${formatAmount(toBigInt(transfer.amountBase), token.decimals)} ${token.symbol}`;
      const chain = context.registry.get(transfer.chainId).name;
      if (transfer.minimumBase !== null)
        return [
          `You swap privately: ${amount} on ${chain}`,
          `You receive at least: ${formatAmount(toBigInt(transfer.minimumBase), tokenOut.decimals)} ${tokenOut.symbol}`,
        ];
      return [`You send privately: ${amount} on ${chain}`, `To: ${transfer.toAddress ?? transfer.toWalletId ?? ""}`];
    },
  };
};

export type Spending = ReturnType<typeof createSpending>;
