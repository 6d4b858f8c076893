import type { Actor, UserActor } from "@/lib/core/actor";
import { DomainError, notFound } from "@/lib/core/errors";
import { isId } from "@/lib/core/ids";
import { requireScope } from "@/lib/core/actor";
import { doneBy } from "@/lib/modules/audit/service";
import type { OtpSent } from "@/lib/modules/otp/service";
import type { OperationWithLegs } from "@/lib/modules/operations/service";
import type { PrivacyPool, PrivateHoldings } from "@/lib/ports/privacy";
import type { EvmAddress } from "@/lib/ports/routing";
import { storedToken } from "@/lib/ports/routing-json";
import { createExiting, type ExitInput, type PossibleExit } from "./exiting";
import { createPrivacyContext, type PrivacyDeps } from "./context";
import { madeBefore, onceOf } from "./once";
import type { StepRow, TransferRow } from "./repository";
import { createRetrying } from "./retrying";
import { createShielding, type ShieldInput } from "./shielding";
import { createSpending, type SpendInput } from "./spending";
import { createSwapping } from "./swapping";

export { encryptedPrivacyWallets } from "./wallet-repository";
export { withShields, type ExitCalls } from "./shield-routing";

export interface TransferView {
  readonly transfer: TransferRow;
  readonly operation: OperationWithLegs;
  readonly steps: readonly StepRow[];
  readonly expectedProofMs: number;
  readonly engine: string;
  readonly anonymitySet: number | null;
}

export interface WalletBalance {
  readonly privacyWalletId: string;
  readonly pool: PrivacyPool;
  readonly spendableBase: bigint;
  readonly pendingBase: bigint;
  readonly inProofBase: bigint;
  readonly declinedBase: bigint;
  readonly anonymitySet: number;
}

const notAwaiting = (): DomainError =>
  new DomainError("invalid_state", "This operation does not await approval: it was approved, cancelled or has ended.");

const sum = (values: readonly bigint[]): bigint => values.reduce((total, value) => total + value, 0n);

/** Private wallets, and money that moves into, inside of and out of privacy pools. */
export const createPrivacyService = (deps: PrivacyDeps) => {
  const context = createPrivacyContext(deps);
  const { repository, privateWallets, engine, operations, otp, policies, clock } = context;
  const shielding = createShielding(context);
  const exiting = createExiting(context);
  const spending = createSpending(context);
  const swapping = createSwapping(context, spending);
  const retrying = createRetrying(context, { shielding, exiting, spending });

  const anonymitySetOf = async ({ projectId, walletId, chainId, token }: TransferRow): Promise<number | null> => {
    try {
      const wallet = await privateWallets.find(projectId, walletId, "privacyWalletId");
      const pool = await context.poolOf(chainId, storedToken.parse(token).address, "token");
      return await context.anonymitySetOf(wallet, pool);
    } catch {
      return null;
    }
  };

  const view = async (transfer: TransferRow): Promise<TransferView> => {
    const { projectId, operationId } = transfer;
    const [operation, steps, anonymitySet] = await Promise.all([
      operations.get(projectId, operationId),
      repository.steps(projectId, operationId),
      anonymitySetOf(transfer),
    ]);
    return { transfer, operation, steps, expectedProofMs: engine.expectedProofMs(), engine: engine.name, anonymitySet };
  };

  /** The size of the set is one of the pool, so that each pool of a page is asked for it once. */
  const viewsOf = async (projectId: string, transfers: readonly TransferRow[]): Promise<TransferView[]> => {
    const operationIds = transfers.map(({ operationId }) => operationId);
    const sets = new Map<string, Promise<number | null>>();
    const setOf = (transfer: TransferRow): Promise<number | null> => {
      const pool = `${String(transfer.chainId)}:${storedToken.parse(transfer.token).address}`;
      const known = sets.get(pool) ?? anonymitySetOf(transfer);
      sets.set(pool, known);
      return known;
    };
    const [found, steps, sizes] = await Promise.all([
      operations.getMany(projectId, operationIds),
      repository.stepsOfMany(projectId, operationIds),
      Promise.all(transfers.map(setOf)),
    ]);
    return transfers.flatMap((transfer, index) => {
      const operation = found.get(transfer.operationId);
      if (operation === undefined) return [];
      const own = { transfer, operation, steps: steps.get(transfer.operationId) ?? [] };
      return [
        { ...own, expectedProofMs: engine.expectedProofMs(), engine: engine.name, anonymitySet: sizes[index] ?? null },
      ];
    });
  };

  const get = async (projectId: string, id: string): Promise<TransferView> => {
    const transfer = isId("transfer", id) ? await repository.findTransfer(projectId, id) : null;
    if (transfer === null) throw notFound();
    return view(transfer);
  };

  /** Makes it once for a key, also where the HTTP layer has forgotten it. */
  const once = async (
    actor: Actor,
    call: { key: string | null; kind: string; input: object },
    make: (once: ReturnType<typeof onceOf>) => Promise<string>,
  ): Promise<TransferView> => {
    const own = onceOf(call.key, call.kind, call.input);
    const before = await madeBefore(repository, actor, own);
    if (before !== null) return view(before);
    try {
      return await get(actor.projectId, await make(own));
    } catch (error) {
      const meanwhile = await madeBefore(repository, actor, own);
      if (meanwhile === null) throw error;
      return view(meanwhile);
    }
  };

  const balancesOf = (
    held: PrivateHoldings,
    pools: readonly PrivacyPool[],
    own: { walletId: string; used: ReadonlyMap<string, bigint> },
  ): WalletBalance[] =>
    pools.map((pool) => {
      const notes = held.notes.filter(({ token }) => token.address === pool.token.address);
      const total = (wanted: (note: (typeof notes)[number]) => boolean) =>
        sum(notes.filter(wanted).map(({ valueBase }) => valueBase));
      return {
        privacyWalletId: own.walletId,
        pool,
        spendableBase: total(({ id, state }) => state === "approved" && !own.used.has(id)),
        pendingBase: total(({ state }) => state === "pending"),
        // The whole note: what is left of it comes back with its proof's transaction.
        inProofBase: total(({ id, state }) => state === "approved" && own.used.has(id)),
        declinedBase: total(({ state }) => state === "declined"),
        anonymitySet: held.anonymitySet.get(pool.address) ?? 0,
      };
    });

  const ofOperation = async (actor: Actor, operationId: string): Promise<TransferRow | null> =>
    isId("operation", operationId) ? repository.findByOperation(actor.projectId, operationId) : null;

  const waysOf = ({ kind }: TransferRow) =>
    kind === "shield" ? shielding : kind === "public_exit" ? exiting : spending;

  const awaiting = async (actor: Actor, transfer: TransferRow): Promise<OperationWithLegs> => {
    const operation = await operations.get(actor.projectId, transfer.operationId);
    if (operation.expiresAt !== null && operation.expiresAt <= clock.now())
      throw new DomainError("quote_expired", "Nobody approved this in time. Nothing was sent; start it anew.");
    if (operation.status !== "pending" || operation.subStatus !== "awaiting_approval") throw notAwaiting();
    return operation;
  };

  /** A key that may pay certain addresses alone makes no notes for others. */
  const checkRecipient = (
    actor: Actor,
    input: { toAddress?: EvmAddress | undefined; toPrivacyWalletId?: string | undefined },
  ): void => {
    if (input.toAddress !== undefined) policies.checkRecipient(actor, input.toAddress, "toAddress");
    else if (input.toPrivacyWalletId !== undefined) policies.checkAccountRecipients(actor, "toPrivacyWalletId");
  };

  /**
   * Whether the operation is a private one. A shield makes a note of the project's own, and a public exit pays its treasury: of the
   * others it is asked whether the actor may still pay whom they pay.
   * @throws DomainError `insufficient_scope`, `recipient_not_allowed`
   */
  const checkRetry = async (actor: Actor, operationId: string): Promise<boolean> => {
    const transfer = await ofOperation(actor, operationId);
    if (transfer === null) return false;
    requireScope(actor, "privacy:write");
    if (transfer.kind === "unshield" || transfer.kind === "private_transfer")
      checkRecipient(actor, {
        toAddress: (transfer.toAddress as EvmAddress | null) ?? undefined,
        toPrivacyWalletId: transfer.toWalletId ?? undefined,
      });
    return true;
  };

  return {
    engineName: engine.name,
    anonymitySetMin: context.anonymitySetMin,
    wallets: privateWallets,
    get,
    checkRecipient,
    swap: swapping,

    shield: (actor: Actor, input: ShieldInput, key: string | null): Promise<TransferView> =>
      once(actor, { key, kind: "shield", input }, (own) => shielding.create(actor, input, own)),

    /** To the treasury, or to an address that the caller names. */
    unshield: (actor: Actor, input: SpendInput, key: string | null): Promise<TransferView> =>
      once(actor, { key, kind: "unshield", input }, async (own) => {
        const toAddress = input.toAddress ?? (await context.wallets.treasury(actor.projectId))?.address;
        if (toAddress === undefined) throw new DomainError("unknown_wallet", "The project has no treasury yet.");
        return spending.create(actor, "unshield", { ...input, toAddress, toPrivacyWalletId: undefined }, own);
      }),

    transfer: (actor: Actor, input: SpendInput, key: string | null): Promise<TransferView> =>
      once(actor, { key, kind: "private_transfer", input }, (own) =>
        spending.create(actor, "private_transfer", input, own),
      ),

    /** Private operations, newest first. @throws DomainError `unknown_privacy_wallet` */
    list: async (
      projectId: string,
      query: { privacyWalletId?: string | undefined; cursor?: string | undefined; limit: number },
    ): Promise<{ data: TransferView[]; nextCursor: string | null }> => {
      const { privacyWalletId, cursor, limit } = query;
      const wallet =
        privacyWalletId === undefined ? null : await privateWallets.find(projectId, privacyWalletId, "privacyWalletId");
      const own = { projectId, walletId: wallet?.id, before: cursor };
      const rows = await repository.listTransfers({ ...own, limit: limit + 1 });
      const shown = rows.slice(0, limit);
      return {
        data: await viewsOf(projectId, shown),
        nextCursor: rows.length > limit ? (shown.at(-1)?.id ?? null) : null,
      };
    },

    /** What a leg of a public exit sends. */
    exitCalls: exiting.callsOf,

    /** Notes that can leave by the public exit. */
    exits: (actor: Actor, walletId: string | undefined): Promise<PossibleExit[]> => exiting.list(actor, walletId),

    exit: (actor: Actor, input: ExitInput, key: string | null): Promise<TransferView> =>
      once(actor, { key, kind: "public_exit", input }, (own) => exiting.create(actor, input, own)),

    executeSwap: (actor: Actor, quoteId: string, key: string | null): Promise<TransferView> =>
      once(actor, { key, kind: "private_swap", input: { quoteId } }, (own) => swapping.execute(actor, quoteId, own)),

    /** Of every private wallet of the project, or one, in every pool. @throws DomainError `chain_unavailable`, `provider_error` */
    balances: async (actor: Actor, walletId: string | undefined): Promise<WalletBalance[]> => {
      const chosen = await privateWallets.choose(actor, walletId);
      const wallets = walletId === undefined ? await privateWallets.list(actor.projectId) : [chosen];
      const found: WalletBalance[] = [];
      for (const { id: chainId } of context.registry.list()) {
        const pools = await engine.pools(chainId);
        if (pools.length === 0) continue;
        const used = await repository.notesInUse(actor.projectId, chainId);
        for (const wallet of wallets) {
          const held = await context.holdings(privateWallets.keyOf(wallet), chainId);
          found.push(...balancesOf(held, pools, { walletId: wallet.id, used }));
        }
      }
      return found;
    },

    /** The code that approves a waiting private operation; null where the operation is none. */
    requestCode: async (actor: Actor, operationId: string): Promise<OtpSent | null> => {
      const transfer = await ofOperation(actor, operationId);
      if (transfer === null) return null;
      requireScope(actor, "privacy:write");
      await awaiting(actor, transfer);
      return otp.request({
        actor,
        subjectId: operationId,
        digest: new Uint8Array(transfer.digest),
        subject: "Your code to approve a private operation",
        lines: waysOf(transfer).lines(transfer),
      });
    },

    /** The code that approves a private quote; null where the quote is none. */
    requestQuoteCode: async (actor: Actor, quoteId: string): Promise<OtpSent | null> => {
      if (!(await swapping.has(actor.projectId, quoteId))) return null;
      requireScope(actor, "privacy:write");
      return swapping.requestCode(actor, quoteId);
    },

    /** Lets a waiting private operation run; null where the operation is none. @throws DomainError `otp_*`, `invalid_state`, … */
    approve: async (actor: UserActor, operationId: string, code: string): Promise<OperationWithLegs | null> => {
      const transfer = await ofOperation(actor, operationId);
      if (transfer === null) return null;
      await awaiting(actor, transfer);
      const digest = new Uint8Array(transfer.digest);
      const { otpId } = await otp.consume({ actor, subjectId: operationId, digest, code });
      if (!(await waysOf(transfer).approve(actor, transfer, otpId))) throw notAwaiting();
      return operations.get(actor.projectId, operationId);
    },

    checkRetry,

    /** Does once more what failed of a private operation; null where the operation is none. @throws DomainError `invalid_state`, … */
    retry: async (actor: Actor, operationId: string): Promise<TransferView | null> => {
      const transfer = await ofOperation(actor, operationId);
      if (transfer === null) return null;
      await checkRetry(actor, operationId);
      return get(actor.projectId, await retrying(actor, transfer));
    },

    /** Ends a private operation that spends notes, before its first proof is kept; null where the operation is none. */
    cancel: async (actor: Actor, operationId: string): Promise<OperationWithLegs | null> => {
      const transfer = await ofOperation(actor, operationId);
      // What the treasury does is a leg as others are.
      if (transfer === null || transfer.kind === "shield" || transfer.kind === "public_exit") return null;
      requireScope(actor, "privacy:write");
      const now = clock.now();
      const audit = { ...doneBy(actor), action: "operation.cancelled", subject: operationId, at: now };
      if (!(await repository.cancel(transfer, audit, now)))
        throw new DomainError("invalid_state", "This operation has begun or has ended and can no longer be cancelled.");
      return operations.get(actor.projectId, operationId);
    },
  };
};
